/* mutate.c: weakens the synchronisation of a built CUDA program, one place at a time, in the PTX that it
 * carries.
 *
 *   mutate list PROGRAM ROOT             the mutants, a line each: MUTANT, a tab, the kernel
 *   mutate show PROGRAM ROOT MUTANT      its PTX
 *   mutate write PROGRAM ROOT MUTANT OUT the program with that one weakness
 *   mutate trap PROGRAM ROOT MUTANT OUT  the program with a trap in its place: shows whether a run gets there
 *
 * A MUTANT is "PLACE INSTRUCTION WEAKNESS", e.g. "levels.cu:35>28 bar.sync drop". The place is the source
 * line of the kernel and, where functions were inlined, the lines in them, as far as they lie below the
 * folder ROOT. All instructions that came from one place (an unrolled loop, the instances of a template)
 * change together.
 *
 * Nothing is compiled anew: the PTX is packed again into the room that it had in the fat binary. So the host
 * side, and the registers that the cubin beside it tells of, are those of the program itself.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/diag.h"
#include "base/name.h"
#include "base/text.h"
#include "driver/fatbin.h"
#include "ptx/ptx.h"

enum { FAT_ALIGNMENT = 8, PLACES_MAX = 64, FILLER_LEAST = 8 };

static _Noreturn void die(const char *what, const char *why) {
  fprintf(stderr, "mutate: %s: %s\n", what, why);
  exit(2);
}

static void *room_for(void *old, size_t count, size_t bytes) {
  void *items = realloc(old, count * bytes);
  if (!items)
    die("memory", "there is none left");
  return items;
}

/* ------------------------------------------------------------------ weaknesses */

typedef struct insn_at {
  const ptx_module *module;
  const ptx_body *body;
  const ptx_insn *insn;
} insn_at;

static ptx_sync sync_of(const ptx_insn *i) {
  return ptx_op_get((ptx_op)i->op)->sync;
}

static bool has_result(const insn_at *at) {
  for (unsigned o = 0; o < at->insn->n_operands; o++)
    if (at->body->operands[at->insn->operands + o].written)
      return true;
  return false;
}

/* Whether the instruction orders or joins threads and yields nothing: it can be left out. */
static bool drop(const insn_at *at, ptx_insn *to) {
  (void)to;
  switch (sync_of(at->insn)) {
  case PTX_SYNC_FENCE:
  case PTX_SYNC_BARRIER:
  case PTX_SYNC_CLUSTER:
  case PTX_SYNC_WARP:
    return !has_result(at);
  default:
    return false;
  }
}

/* The order and scope that an instruction has, defaults filled in; false: none, or of shared memory alone,
 * where only a block can look. */
static bool strength(const insn_at *at, uint8_t *order, uint8_t *scope) {
  ptx_access access[2];
  ptx_fence fence;
  if (ptx_fence_of(at->insn, &fence)) {
    *order = fence.order;
    *scope = fence.scope;
    return sync_of(at->insn) == PTX_SYNC_FENCE && fence.order != PTX_MOD_NONE;
  }
  if (!ptx_accesses(at->body, at->insn, access))
    return false;
  *order = access[0].order;
  *scope = access[0].scope;
  return access[0].space == PTX_SPACE_GENERIC || access[0].space == PTX_SPACE_GLOBAL;
}

static bool narrow(const insn_at *at, ptx_insn *to) {
  uint8_t order, scope;
  if (!strength(at, &order, &scope) || order == PTX_ORDER_VOLATILE)
    return false;
  to->mods.scope = scope == PTX_SCOPE_SYS ? PTX_SCOPE_GPU : PTX_SCOPE_CTA;
  return scope == PTX_SCOPE_SYS || scope == PTX_SCOPE_GPU || scope == PTX_SCOPE_CLUSTER;
}

/* One half of an access's order less. */
static bool lose(const insn_at *at, ptx_insn *to, uint8_t half, uint8_t other) {
  ptx_access access[2];
  if (!ptx_accesses(at->body, at->insn, access))
    return false;
  to->mods.order = access[0].order == PTX_ORDER_ACQ_REL ? other : PTX_ORDER_RELAXED;
  return access[0].order == PTX_ORDER_ACQ_REL || access[0].order == half;
}

static bool lose_release(const insn_at *at, ptx_insn *to) {
  if (sync_of(at->insn) ==
      PTX_SYNC_CLUSTER) { /* of a cluster's barrier the arrival may be relaxed, the wait not */
    to->mods.order = PTX_ORDER_RELAXED;
    return at->insn->mods.verb == PTX_VERB_ARRIVE && at->insn->mods.order == PTX_ORDER_RELEASE;
  }
  return lose(at, to, PTX_ORDER_RELEASE, PTX_ORDER_ACQUIRE);
}

static bool lose_acquire(const insn_at *at, ptx_insn *to) {
  return lose(at, to, PTX_ORDER_ACQUIRE, PTX_ORDER_RELEASE);
}

/* A load or store that only has to be strong is no longer. */
static bool weaken(const insn_at *at, ptx_insn *to) {
  ptx_sync sync = sync_of(at->insn);
  to->mods.order = to->mods.scope = PTX_MOD_NONE;
  return (sync == PTX_SYNC_LOAD || sync == PTX_SYNC_STORE) &&
         (at->insn->mods.order == PTX_ORDER_VOLATILE || at->insn->mods.order == PTX_ORDER_RELAXED);
}

/* Whether it names the lanes that take part; its text is then put with the lowest of them left out. */
static bool unname(const insn_at *at, ptx_insn *to) {
  (void)to;
  return sync_of(at->insn) == PTX_SYNC_WARP && at->insn->op != PTX_OP_shfl_old &&
         at->insn->op != PTX_OP_vote_old && at->insn->op != PTX_OP_activemask_warp;
}

/* Each fills in what changes in a copy of the instruction; false: it has not got that. */
static const struct weakness {
  const char *name;
  bool (*apply)(const insn_at *at, ptx_insn *to);
} weaknesses[] = {
    {"drop", drop},   {"scope", narrow}, {"no-release", lose_release}, {"no-acquire", lose_acquire},
    {"weak", weaken}, {"mask", unname}};
enum { WEAKNESSES = sizeof weaknesses / sizeof weaknesses[0] };

/* The mask is the last operand. It loses its lowest lane: m & (m - 1). */
static void put_unnamed(const insn_at *at, base_text *out) {
  const ptx_operand *mask = &at->body->operands[at->insn->operands + at->insn->n_operands - 1];
  base_text whole = {0};
  ptx_print_insn(at->module, at->body, at->insn, &whole);
  char *text = whole.bytes, *comma = strrchr(text, ',');
  int head = (int)((comma ? comma : strrchr(text, ' ')) + 1 - text);
  if (mask->kind == PTX_IMM) {
    uint32_t lanes = (uint32_t)mask->bits;
    base_putf(out, "%.*s%#x;", head, text, lanes & (lanes - 1));
  } else {
    int operand = (int)strcspn(text + head, ";");
    base_putf(out, "{.reg .b32 %%fewer;add.u32 %%fewer,%.*s,-1;and.b32 %%fewer,%%fewer,%.*s;%.*s%%fewer;}",
              operand, text + head, operand, text + head, head, text);
  }
  base_text_free(&whole);
}

/* The form of an instruction that leaves its scope to PTX's default has no word for it: it goes behind the
 * opcode. */
static void put_narrowed(const insn_at *at, const ptx_insn *to, base_text *out) {
  base_text whole = {0};
  ptx_print_insn(at->module, at->body, at->insn, &whole);
  size_t head = at->insn->guard == PTX_NONE ? 0 : strcspn(whole.bytes, " ") + 1;
  head += strlen(ptx_op_get((ptx_op)at->insn->op)->name);
  base_putf(out, "%.*s.%s%s", (int)head, whole.bytes, ptx_mod_name((ptx_mod)to->mods.scope),
            whole.bytes + head);
  base_text_free(&whole);
}

static void put_mutated(const insn_at *at, const struct weakness *w, base_text *out) {
  ptx_insn changed = *at->insn;
  w->apply(at, &changed);
  if (w->apply == unname)
    put_unnamed(at, out);
  else if (w->apply == narrow && at->insn->mods.scope == PTX_MOD_NONE)
    put_narrowed(at, &changed, out);
  else if (w->apply != drop)
    ptx_print_insn(at->module, at->body, &changed, out);
}

/* ------------------------------------------------------------------ the mutants of a module */

typedef struct mutant {
  char *key;  /* the whole place, with columns and what lies outside of ROOT */
  char *name; /* as it is listed */
  char kernel[128];
  const struct weakness *weakness;
  insn_at *at;
  size_t n_at;
} mutant;

typedef struct mutants {
  mutant *all;
  size_t n;
} mutants;

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Source places from the kernel inwards. */
static unsigned places_of(const insn_at *at, const ptx_loc *out[PLACES_MAX]) {
  unsigned n = 0;
  const ptx_loc *inner[PLACES_MAX];
  for (uint32_t l = at->insn->loc; l != PTX_NONE && n < PLACES_MAX; l = at->body->locs[l].inlined_at)
    inner[n++] = &at->body->locs[l];
  for (unsigned i = 0; i < n; i++)
    out[i] = inner[n - 1 - i];
  return n;
}

/* The mnemonic and its words, without guard and operands. */
static void put_words(const insn_at *at, base_text *out) {
  base_text whole = {0};
  ptx_print_insn(at->module, at->body, at->insn, &whole);
  const char *text = whole.bytes;
  if (at->insn->guard != PTX_NONE)
    text = strchr(text, ' ') + 1;
  base_put(out, text, strcspn(text, " ;"));
  base_text_free(&whole);
}

static void put_key(const insn_at *at, const struct weakness *w, const ptx_func *f, base_text *out) {
  const ptx_loc *place[PLACES_MAX];
  unsigned n = places_of(at, place);
  if (!n)
    base_putf(out, "%s:%u ", f->name, at->insn->place.line);
  for (unsigned i = 0; i < n; i++)
    base_putf(out, "%u:%u:%u>", place[i]->file_index, place[i]->line, place[i]->column);
  put_words(at, out);
  base_putf(out, " %s", w->name);
}

static void put_name(const insn_at *at, const struct weakness *w, const char *root, base_text *out) {
  const ptx_loc *place[PLACES_MAX];
  unsigned n = places_of(at, place);
  const char *file = NULL;
  for (unsigned i = 0; i < n && place[i]->file && strncmp(place[i]->file, root, strlen(root)) == 0; i++) {
    if (i)
      base_puts(out, ">");
    if (!file || strcmp(file, place[i]->file) != 0)
      base_putf(out, "%s:", base_name(place[i]->file));
    file = place[i]->file;
    base_putf(out, "%u", place[i]->line);
  }
  base_puts(out, file ? " " : "? ");
  put_words(at, out);
  base_putf(out, " %s", w->name);
}

static mutant *find_mutant(const mutants *m, const char *key) {
  for (size_t i = 0; i < m->n; i++)
    if (strcmp(m->all[i].key, key) == 0)
      return &m->all[i];
  return NULL;
}

/* Different places may have one name: calls in one line, lines of a library's function. They are numbered. */
static char *numbered(const mutants *m, const char *name) {
  size_t same = 0, length = strlen(name);
  for (size_t i = 0; i < m->n; i++)
    same += strncmp(m->all[i].name, name, length) == 0 && strchr(" ", m->all[i].name[length]) != NULL;
  return same ? base_format("%s #%zu", name, same + 1) : base_format("%s", name);
}

static void add(mutants *m, const insn_at *at, const struct weakness *w, const ptx_func *f,
                const char *root) {
  base_text key = {0}, name = {0};
  put_key(at, w, f, &key);
  mutant *of = find_mutant(m, key.bytes);
  if (of) {
    base_text_free(&key);
  } else {
    put_name(at, w, root, &name);
    m->all = room_for(m->all, m->n + 1, sizeof *m->all);
    of = &m->all[m->n];
    *of = (mutant){.key = key.bytes, .name = numbered(m, name.bytes), .weakness = w};
    if (!base_plain_name(f->name, of->kernel, sizeof of->kernel))
      snprintf(of->kernel, sizeof of->kernel, "%s", f->name);
    m->n++;
    base_text_free(&name);
  }
  of->at = room_for(of->at, of->n_at + 1, sizeof *of->at);
  of->at[of->n_at++] = *at;
}

static mutants mutants_of(ptx_module *module, const char *root) {
  mutants m = {0};
  for (uint32_t f = 0; f < module->n_funcs; f++) {
    const ptx_body *body = ptx_body_of(module, f);
    for (uint32_t i = 0; body && i < body->n_insns; i++)
      for (unsigned w = 0; w < WEAKNESSES; w++) {
        insn_at at = {module, body, &body->insns[i]};
        ptx_insn changed = *at.insn;
        if (weaknesses[w].apply(&at, &changed))
          add(&m, &at, &weaknesses[w], &module->funcs[f], root);
      }
  }
  return m;
}

static void free_mutants(mutants *m) {
  for (size_t i = 0; i < m->n; i++) {
    free(m->all[i].key);
    free(m->all[i].name);
    free(m->all[i].at);
  }
  free(m->all);
}

/* ------------------------------------------------------------------ its text */

/* The characters of an instruction, from its guard to its semicolon. */
static void span_of(const insn_at *at, const char **begin, const char **end) {
  const char *text = at->module->text;
  for (uint32_t line = 1; line < at->insn->place.line; line++)
    text = strchr(text, '\n') + 1;
  *begin = text + at->insn->place.column - 1;
  *end = strchr(*begin, ';') + 1;
  if (at->insn->guard != PTX_NONE)
    while (**begin != '@')
      --*begin;
}

static char *mutated(const mutant *m, bool trap) {
  base_text out = {0};
  const char *from = m->at[0].module->text;
  for (size_t i = 0; i < m->n_at; i++) { /* in the order of the text */
    const char *begin, *end;
    span_of(&m->at[i], &begin, &end);
    base_put(&out, from, (size_t)(begin - from));
    if (trap)
      base_puts(&out, "trap;");
    else
      put_mutated(&m->at[i], m->weakness, &out);
    from = end;
  }
  base_puts(&out, from);
  if (out.failed)
    die("memory", "there is none left");
  return out.bytes;
}

/* Makes room where a mutant needs it: leaves out comments, indentation and the names of inlined functions,
 * the content of .debug_str. Lines keep their numbers. */
static void squeeze(char *text) {
  char *to = text;
  bool names = false;
  for (const char *line = text; *line;) {
    const char *end = line + strcspn(line, "\n"), *from = line + strspn(line, " \t");
    const char *comment = memchr(from, '"', (size_t)(end - from)) ? NULL : strstr(from, "//");
    const char *stop = comment && comment < end ? comment : end;
    names = names && *from != '}';
    if (!names || *from == '{')
      to = (char *)memmove(to, from, (size_t)(stop - from)) + (stop - from);
    names = names || strncmp(from, ".section\t.debug_str", strlen(".section\t.debug_str")) == 0;
    line = end;
    if (*line)
      *to++ = *line++;
  }
  *to = 0;
}

/* ------------------------------------------------------------------ fat binaries in a file */

typedef struct file {
  uint8_t *bytes;
  size_t n;
  mode_t mode;
} file;

static file read_file(const char *name) {
  file f = {0};
  struct stat about;
  FILE *from = fopen(name, "rb");
  if (!from || fstat(fileno(from), &about))
    die(name, "cannot be read");
  f.n = (size_t)about.st_size;
  f.mode = about.st_mode;
  f.bytes = room_for(NULL, f.n + 1, 1);
  if (fread(f.bytes, 1, f.n, from) != f.n)
    die(name, "cannot be read");
  fclose(from);
  return f;
}

static void write_file(const char *name, const file *f) {
  FILE *to = fopen(name, "wb");
  if (!to || fwrite(f->bytes, 1, f->n, to) != f->n || fchmod(fileno(to), f->mode) || fclose(to))
    die(name, "cannot be written");
}

/* The PTX for the newest target of the fat binary at *at or behind; moves *at past it. */
static bool next_ptx(const file *f, size_t *at, fatbin_entry *newest) {
  bool found = false;
  for (; *at + FAT_ALIGNMENT <= f->n && !found; *at += FAT_ALIGNMENT) {
    if (fatbin_format_of(f->bytes + *at, f->n - *at) != FATBIN_FAT)
      continue;
    fatbin_entry e;
    const char *error;
    for (size_t entry = 0; fatbin_next(f->bytes + *at, f->n - *at, &entry, &e, &error);)
      if (e.kind == FATBIN_KIND_PTX && (!found || e.sm > newest->sm)) {
        *newest = e;
        found = true;
      }
  }
  return found;
}

static ptx_module *read_ptx(const char *program, const fatbin_entry *e) {
  size_t bytes;
  const char *error;
  char *text = (char *)fatbin_unpack(e, &bytes, &error);
  if (!text)
    die(program, error);
  ptx_module *module = ptx_module_new(program, text, strlen(text));
  free(text);
  if (!module || !ptx_check(module))
    die(program, "its PTX has an error");
  return module;
}

/* A frame that zstd passes over: fills what a better packing leaves. */
static void put_filler(uint8_t *to, size_t bytes) {
  uint32_t head[2] = {ZSTD_MAGIC_SKIPPABLE_START, (uint32_t)(bytes - sizeof head)};
  memset(to, 0, bytes);
  memcpy(to, head, sizeof head);
}

/* Packs the text into the entry, NULs behind it; false: it does not fit. */
static bool pack(const fatbin_entry *e, const char *text) {
  uint8_t *to = (uint8_t *)e->payload; /* in our copy of the file */
  size_t length = strlen(text), room = ZSTD_compressBound(e->plain_bytes);
  if (length > e->plain_bytes)
    return false;
  if (e->packing == FATBIN_LZ4)
    die("the fat binary", "its packing is lz4: not written here");
  uint8_t *plain = room_for(NULL, e->plain_bytes, 1), *packed = room_for(NULL, room, 1);
  memcpy(plain, text, length);
  memset(plain + length, 0, e->plain_bytes - length);
  bool fits = e->packing == FATBIN_PLAIN;
  if (fits)
    memcpy(to, plain, e->plain_bytes);
  for (int level = ZSTD_maxCLevel(); level > 0 && !fits; level--) {
    size_t n = ZSTD_compress(packed, room, plain, e->plain_bytes, level);
    fits = !ZSTD_isError(n) && (n == e->stored_bytes || n + FILLER_LEAST <= e->stored_bytes);
    if (!fits)
      continue;
    memcpy(to, packed, n);
    if (n < e->stored_bytes)
      put_filler(to + n, e->stored_bytes - n);
  }
  free(plain);
  free(packed);
  return fits;
}

static void replace_ptx(const fatbin_entry *e, char *text) {
  if (pack(e, text))
    return;
  squeeze(text);
  if (!pack(e, text))
    die("the fat binary", "the mutant does not fit");
}

/* ------------------------------------------------------------------ */

static void list(const mutants *m) {
  for (size_t i = 0; i < m->n; i++)
    printf("%s\t%s\n", m->all[i].name, m->all[i].kernel);
}

static const mutant *named(const mutants *m, const char *name) {
  for (size_t i = 0; i < m->n; i++)
    if (strcmp(m->all[i].name, name) == 0)
      return &m->all[i];
  return NULL;
}

int main(int argc, char **argv) {
  static const struct {
    const char *verb;
    int argc;
  } verbs[] = {{"list", 4}, {"show", 5}, {"write", 6}, {"trap", 6}};
  enum { LIST, SHOW, WRITE, TRAP, VERBS };
  int verb = LIST;
  while (verb < VERBS && (argc < 2 || strcmp(argv[1], verbs[verb].verb) != 0 || argc != verbs[verb].argc))
    verb++;
  if (verb == VERBS) {
    fputs("usage: mutate list PROGRAM ROOT | show PROGRAM ROOT MUTANT | write|trap PROGRAM ROOT MUTANT OUT\n",
          stderr);
    return 2;
  }
  const char *program = argv[2], *root = argv[3];
  file f = read_file(program);
  fatbin_entry e;
  bool found = verb == LIST;
  for (size_t at = 0; next_ptx(&f, &at, &e);) {
    ptx_module *module = read_ptx(program, &e);
    mutants m = mutants_of(module, root);
    const mutant *wanted = verb == LIST ? NULL : named(&m, argv[4]);
    if (verb == LIST)
      list(&m);
    if (wanted) {
      char *text = mutated(wanted, verb == TRAP);
      found = true;
      if (verb == SHOW)
        fputs(text, stdout);
      else
        replace_ptx(&e, text);
      free(text);
    }
    free_mutants(&m);
    ptx_module_free(module);
  }
  if (!found)
    die(argv[4], "no such mutant");
  if (verb == WRITE || verb == TRAP)
    write_file(argv[5], &f);
  free(f.bytes);
  return 0;
}
