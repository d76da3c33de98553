// tour.c: the readers of tour.def. It writes doc/tour.md and doc/tour.zh.md, lists the rows for the runner
// (mk/tour.sh), prints the table of the last results, and tests a row. Figures come from a results file
// that the runner wrote on a GPU; no figure stands in the table itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { CHAPTER_ROW, SECTION_ROW, SHOW_ROW, BROKEN_ROW, CLAIM_ROW, NOTE_ROW, ASK_ROW };
enum when { RUNS, BUILDS };
enum verdict { HOLDS, HOLDS_IF, FAILS };
enum language { EN, ZH };

struct row {
  enum kind kind;
  const char *program; // below examples/; a chapter's folder
  const char *args;    // of the test run; a chapter's seed, a section's number
  const char *text[2]; // what it shows, the fault, the claim, the question
  const char *says[2]; // what the GPU says, the answer
  const char *key, *rule;
  double low, high;
  enum when when;
  enum verdict verdict;
};

static const struct row rows[] = {
#define CHAPTER(folder, seed, en, zh) {CHAPTER_ROW, folder, seed, {en, zh}, {0}, 0, 0, 0, 0, RUNS, HOLDS},
#define SECTION(number, en, zh) {SECTION_ROW, "", number, {en, zh}, {0}, 0, 0, 0, 0, RUNS, HOLDS},
#define SHOW(program, args, en, zh) {SHOW_ROW, program, args, {en, zh}, {0}, 0, 0, 0, 0, RUNS, HOLDS},
#define BROKEN(program, args, when, rule, en, zh) \
  {BROKEN_ROW, program, args, {en, zh}, {0}, 0, rule, 0, 0, when, HOLDS},
#define CLAIM(program, key, low, high, verdict, en, zh, says_en, says_zh) \
  {CLAIM_ROW, program, "--time", {en, zh}, {says_en, says_zh}, key, 0, low, high, RUNS, verdict},
#define NOTE(en, zh) {NOTE_ROW, "", "", {en, zh}, {0}, 0, 0, 0, 0, RUNS, HOLDS},
#define ASK(en, zh, says_en, says_zh) \
  {ASK_ROW, "", "", {en, zh}, {says_en, says_zh}, 0, 0, 0, 0, RUNS, HOLDS},
#include "tour.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

// One line of a results file, fields parted by tabs: `meta NAME VALUE`, `run PROGRAM ARGS STATUS TEXT`,
// `figure KEY VALUE UNIT PROGRAM`.
struct result {
  const char *field[5];
};
static struct result *results;
static size_t result_count;

static void die(const char *what, const char *which) {
  fprintf(stderr, "tour: %s%s%s\n", what, *which ? ": " : "", which);
  exit(2);
}

static char *read_whole(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  size_t used = 0, room = 1 << 16;
  char *text = malloc(room);
  while (text) {
    used += fread(text + used, 1, room - used - 1, file);
    if (used + 1 < room)
      break;
    room *= 2;
    char *larger = realloc(text, room);
    if (!larger)
      free(text);
    text = larger;
  }
  fclose(file);
  if (!text)
    die("out of memory", path);
  text[used] = 0;
  return text;
}

static void load_results(const char *path) {
  char *text = read_whole(path); // kept: the results point into it
  if (!text)
    die("no such results file", path);
  for (char *line = text, *next; *line; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    line[length] = 0;
    struct result *larger = realloc(results, (result_count + 1) * sizeof *results);
    if (!larger)
      die("out of memory", path);
    results = larger;
    struct result *result = &results[result_count++];
    for (int i = 0; i < 5; i++) {
      result->field[i] = line;
      line += strcspn(line, "\t");
      if (*line)
        *line++ = 0;
    }
  }
}

static const struct result *find(const char *kind, const char *name, const char *args) {
  for (size_t i = 0; i < result_count; i++)
    if (!strcmp(results[i].field[0], kind) && !strcmp(results[i].field[1], name) &&
        (!args || !strcmp(results[i].field[2], args)))
      return &results[i];
  return NULL;
}

static const char *meta(const char *name) {
  const struct result *result = find("meta", name, NULL);
  return result ? result->field[2] : "";
}

static int is_run(const struct row *row) {
  return row->kind == SHOW_ROW || row->kind == BROKEN_ROW || row->kind == CLAIM_ROW;
}

// Three digits, or all before the point; a ratio's unit stands close.
static void put_figure(double value, const char *unit) {
  printf(value >= 100 ? "%.0f" : "%.3g", value);
  if (strcmp(unit, "x") && strcmp(unit, "%"))
    putchar(' ');
  fputs(unit, stdout);
}

static int markdown; // else for a terminal

// Text with {key} replaced by the figure and its unit; in a table of a document `|` is escaped.
static void put_text(const char *text) {
  while (*text) {
    size_t length = strcspn(text, "{|");
    fwrite(text, 1, length, stdout);
    text += length;
    if (*text == '|')
      fputs(markdown ? "\\|" : "|", stdout);
    if (*text == '{') {
      char key[80];
      size_t size = strcspn(text, "}");
      if (!text[size] || size - 1 >= sizeof key)
        die("unclosed { in a row", text);
      memcpy(key, text + 1, size - 1);
      key[size - 1] = 0;
      const struct result *figure = find("figure", key, NULL);
      if (figure) {
        put_figure(atof(figure->field[2]), figure->field[3]);
      } else {
        fputs("?", stdout);
        fprintf(stderr, "tour: no figure %s in the results\n", key);
      }
      text += size;
    }
    if (*text)
      text++;
  }
}

static int exists(const char *folder, const char *program, const char *ending) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s%s", folder, program, ending);
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

static const char *base_name(const char *program) {
  const char *slash = strrchr(program, '/');
  return slash ? slash + 1 : program;
}

static const char *const verdicts[2][3] = {{"holds", "holds only when", "does not hold"},
                                           {"成立", "仅在此条件下成立", "不成立"}};

static const char *source_folder;

static void put_program(const struct row *row) {
  const char *ending = exists(source_folder, row->program, ".c") ? "c" : "cu";
  printf("[`%s%s%s`](../examples/%s.%s)", base_name(row->program), *row->args ? " " : "", row->args,
         row->program, ending);
}

static void put_row(const struct row *row, enum language language) {
  const struct result *run = find("run", row->program, row->args);
  fputs("| ", stdout);
  switch (row->kind) {
  case SHOW_ROW:
    put_text(row->text[language]);
    fputs(" | ", stdout);
    put_program(row);
    fputs(" | ", stdout);
    put_text(run ? run->field[4] : "?");
    break;
  case BROKEN_ROW:
    fputs(language == EN ? "**broken:** " : "**错误示例：**", stdout);
    put_text(row->text[language]);
    fputs(" | ", stdout);
    put_program(row);
    fputs(" | ", stdout);
    printf(language == EN ? "rule `%s`; " : "规则 `%s`；", row->rule);
    if (row->when == BUILDS)
      fputs(language == EN ? "compiled only: it could hang the device" : "仅编译：可能使设备挂起", stdout);
    else
      put_text(run ? run->field[4] : "?");
    break;
  case CLAIM_ROW:
    put_text(row->text[language]);
    printf(" | **%s**%s", verdicts[language][row->verdict], language == EN ? ": " : "：");
    put_text(row->says[language]);
    fputs(" | ", stdout);
    put_program(row);
    break;
  default:
    break;
  }
  fputs(" |\n", stdout);
}

// Prints the rows from FIRST to the next section that are of one of the two kinds, under HEADING.
static void put_table(size_t first, int claims, enum language language, const char *heading) {
  int any = 0;
  for (size_t i = first; i < ROW_COUNT && rows[i].kind > SECTION_ROW; i++) {
    if (!is_run(&rows[i]) || (rows[i].kind == CLAIM_ROW) != claims)
      continue;
    if (!any++)
      printf("%s\n|---|---|---|\n", heading);
    put_row(&rows[i], language);
  }
  if (any)
    putchar('\n');
}

static void put_section(size_t first, enum language language) {
  const struct row *section = &rows[first];
  printf("### %s%s%s\n\n", section->args, *section->args ? " " : "", section->text[language]);
  put_table(first + 1, 0, language,
            language == EN ? "| shows | program | on the GPU |" : "| 展示内容 | 程序 | GPU 上的结果 |");
  put_table(first + 1, 1, language,
            language == EN ? "| the seed says | the GPU says | measured by |"
                           : "| 原文的说法 | GPU 的回答 | 测量程序 |");
  for (size_t i = first + 1; i < ROW_COUNT && rows[i].kind > SECTION_ROW; i++)
    if (rows[i].kind == NOTE_ROW) {
      put_text(rows[i].text[language]);
      fputs("\n\n", stdout);
    } else if (rows[i].kind == ASK_ROW) {
      fputs("- **", stdout);
      put_text(rows[i].text[language]);
      fputs("** ", stdout);
      put_text(rows[i].says[language]);
      fputs(i + 1 < ROW_COUNT && rows[i + 1].kind == ASK_ROW ? "\n" : "\n\n", stdout);
    }
}

static void put_markdown(enum language language) {
  markdown = 1;
  if (language == EN) {
    puts("<!-- Generated from examples/tour.def by ./dev docs. -->\n# The tour\n\n[中文](tour.zh.md)\n");
    puts("Three articles are where muster began. Here is every system they show, as a small program that\n"
         "verifies its result against a serial reference, beside the broken forms that the articles warn of\n"
         "or contain themselves; and what a GPU says to every figure they claim. `./dev demo` builds all of\n"
         "it; on a machine with a GPU `./dev gpu-test` runs and verifies it, `./dev gpu-bench` measures.\n");
    printf("Results below: %s, driver %s, CUDA %s, %s MHz, commit %s, %s.\n\n", meta("gpu"), meta("driver"),
           meta("cuda"), meta("clock_mhz"), meta("commit"), meta("date"));
  } else {
    puts("<!-- 由 ./dev docs 根据 examples/tour.def 生成。 -->\n# 导览\n\n[English](tour.md)\n");
    puts("muster 源于三篇文章。这里把文中出现的每一个系统都写成小程序，结果与串行参考逐一核对；旁边附上\n"
         "原文提醒的、或原文自身包含的错误写法；并对文中每一个定量说法给出 GPU 的实测回答。`./dev demo`\n"
         "构建全部程序；在有 GPU 的机器上，`./dev gpu-test` 运行并验证，`./dev gpu-bench` 测量。\n");
    printf("以下结果：%s，驱动 %s，CUDA %s，%s MHz，提交 %s，%s。\n\n", meta("gpu"), meta("driver"),
           meta("cuda"), meta("clock_mhz"), meta("commit"), meta("date"));
  }
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (rows[i].kind == CHAPTER_ROW)
      printf(language == EN ? "## %s\n\nSeed %s; [`examples/%s`](../examples/%s).\n\n"
                            : "## %s\n\n原文 %s；[`examples/%s`](../examples/%s)。\n\n",
             rows[i].text[language], rows[i].args, rows[i].program, rows[i].program);
    else if (rows[i].kind == SECTION_ROW)
      put_section(i, language);
}

// The runner's list: kind, when, program, arguments; a program with claims stands once with --time.
static void put_list(void) {
  static const char *const kinds[] = {"", "", "show", "broken", "claim", "", ""};
  for (size_t i = 0; i < ROW_COUNT; i++) {
    int repeated = 0;
    if (!is_run(&rows[i]))
      continue;
    for (size_t j = 0; j < i; j++)
      repeated |= is_run(&rows[j]) && !strcmp(rows[j].program, rows[i].program) &&
                  !strcmp(rows[j].args, rows[i].args);
    if (!repeated)
      printf("%s\t%s\t%s\t%s\n", kinds[rows[i].kind], rows[i].when == RUNS ? "runs" : "builds",
             rows[i].program, rows[i].args);
  }
}

// The results as a table for a terminal, in the table's order; ends with 1 if a run failed or is absent.
static int put_results(void) {
  int passed = 0, failed = 0;
  for (const struct row *row = rows; row < rows + ROW_COUNT; row++) {
    if (row->kind == CHAPTER_ROW)
      printf("\n%s\n", row->text[EN]);
    if (!is_run(row))
      continue;
    char name[120];
    snprintf(name, sizeof name, "%s%s%s", strchr(row->program, '/') + 1, *row->args ? " " : "", row->args);
    if (row->when == BUILDS) {
      printf("  --    %-40s compiled only: it could hang the device\n", name);
    } else if (row->kind == CLAIM_ROW) {
      printf("        \"%s\" %s: ", row->text[EN], verdicts[EN][row->verdict]);
      put_text(row->says[EN]);
      putchar('\n');
    } else {
      const struct result *run = find("run", row->program, row->args);
      int ok = run && !strcmp(run->field[3], "ok");
      printf("  %-5s %-40s %s\n", ok ? "ok" : "WRONG", name, run ? run->field[4] : "no result");
      passed += ok;
      failed += !ok;
    }
  }
  printf("\n%s, driver %s, CUDA %s, commit %s, %s\n", meta("gpu"), meta("driver"), meta("cuda"),
         meta("commit"), meta("date"));
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

// The first line of a broken program says what is wrong and which rule finds it; the row names the same rule.
static int first_line_names(const char *source, const char *program, const char *rule) {
  char path[512], line[512] = "";
  snprintf(path, sizeof path, "%s/%s.cu", source, program);
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  int read = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  line[strcspn(line, "\n")] = 0;
  const char *named = strstr(line, "; rule: ");
  return read && !strncmp(line, "// broken: ", 11) && named && !strcmp(named + 8, rule);
}

// Tests runnable row NUMBER (from 0): its program exists and was built, and its last GPU result is recorded.
static int test_row(int number, const char *program, const char *source, const char *built) {
  const struct row *row = rows;
  for (;; row++) {
    if (row == rows + ROW_COUNT)
      die("no such row", program);
    if (is_run(row) && number-- == 0)
      break;
  }
  const char *wrong = NULL;
  if (strcmp(row->program, program))
    wrong = "is not the row of that number: does every row begin a line?";
  else if (!exists(source, program, ".cu") && !exists(source, program, ".c"))
    wrong = "has no source";
  else if (!exists(built, program, ""))
    wrong = "was not built";
  else if (row->kind == BROKEN_ROW && !first_line_names(source, program, row->rule))
    wrong = "does not name the row's rule in its first line";
  else if (row->when == RUNS && strcmp(meta("date"), "") == 0)
    wrong = "results without a date";
  else if (row->when == RUNS) {
    const struct result *run = find("run", program, row->args);
    if (!run)
      wrong = "has no recorded GPU result";
    else if (strcmp(run->field[3], "ok"))
      wrong = "failed in its recorded GPU run";
  }
  if (!wrong && row->kind == CLAIM_ROW) {
    const struct result *figure = find("figure", row->key, NULL);
    if (!figure)
      wrong = "has no recorded figure for its claim";
    else if (atof(figure->field[2]) < row->low || atof(figure->field[2]) > row->high)
      wrong = "has a figure outside the bounds of its verdict: look again";
  }
  if (wrong)
    fprintf(stderr, "%s %s%s%s: %s\n", program, row->args, row->key ? " " : "", row->key ? row->key : "",
            wrong);
  return wrong != NULL;
}

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (argc == 2 && !strcmp(command, "list")) {
    put_list();
    return 0;
  }
  if (argc == 3 && !strcmp(command, "table")) {
    load_results(argv[2]);
    return put_results();
  }
  if (argc == 5 && !strcmp(command, "markdown")) {
    load_results(argv[2]);
    source_folder = argv[4];
    put_markdown(strcmp(argv[3], "zh") ? EN : ZH);
    return 0;
  }
  if (argc == 7 && !strcmp(command, "test")) {
    load_results(argv[2]);
    return test_row(atoi(argv[3]), argv[4], argv[5], argv[6]);
  }
  fputs("usage: tour list\n       tour table RESULTS\n       tour markdown RESULTS en|zh SOURCE_FOLDER\n"
        "       tour test RESULTS NUMBER PROGRAM SOURCE_FOLDER BUILT_FOLDER\n",
        stderr);
  return 2;
}
