/* info.c: muster info: devices and profiles, or one of the tables, as text or JSON. Prints; decides nothing.
 */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "muster.h"

bool tool_profile_check(const char *name) {
  enum { MOST = 32 };
  const char *names[MOST];
  muster_profile p = MUSTER_PROFILE_INIT;
  size_t n = 0;
  for (; n < MOST && n < muster_profile_count(); n++) {
    muster_profile_get(n, &p);
    if (strcmp(p.name, name) == 0)
      return true;
    names[n] = p.name;
  }
  if (strcmp(name, "auto") == 0)
    return true;
  const char *near = tool_nearest(name, names, n);
  tool_error("--gpu %s: no such profile; %s%s%s", name, near ? "did you mean " : "muster info lists them",
             near ? near : "", near ? "?" : "");
  return false;
}

unsigned tool_profile_sm(const char *name) {
  muster_profile p = MUSTER_PROFILE_INIT;
  for (size_t i = 0; muster_profile_get(i, &p) == MUSTER_OK; i++)
    if (strcmp(p.name, name) == 0)
      return p.compute_capability;
  return 0;
}

/* A string as JSON writes it. */
static void quoted(const char *text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      putchar('\\');
    if ((unsigned char)*text < 0x20)
      printf("\\u%04x", (unsigned char)*text);
    else
      putchar(*text);
  }
  putchar('"');
}

static void member(const char *name, const char *text, const char *behind) {
  printf("\"%s\": ", name);
  if (text)
    quoted(text);
  else
    printf("null");
  printf("%s", behind);
}

static void devices(bool json) {
  muster_device *gpu = NULL;
  muster_device_info d = MUSTER_DEVICE_INFO_INIT;
  bool has_gpu = muster_open("gpu", &gpu) == MUSTER_OK && muster_device_get(gpu, &d) == MUSTER_OK;
  if (json) {
    printf("{\"version\": \"%s\",\n \"gpu\": ", MUSTER_VERSION);
    if (has_gpu) {
      member("name", d.name, ", ");
      printf("\"compute_capability\": %u, \"multiprocessors\": %u, \"memory_bytes\": %llu}",
             d.compute_capability, d.multiprocessors, (unsigned long long)d.memory_bytes);
    } else {
      printf("null");
    }
    printf(",\n \"profiles\": [");
  } else {
    printf("muster %s\n\n", MUSTER_VERSION);
    if (has_gpu)
      printf("GPU  %s, compute capability %u.%u, %u multiprocessors, %.1f GiB\n", d.name,
             d.compute_capability / 10, d.compute_capability % 10, d.multiprocessors,
             (double)d.memory_bytes / (1 << 30));
    else
      printf("GPU  none: %s\n", muster_message());
    printf(
        "CPU  models one of these (--gpu; auto is rtx4090, or the smallest that runs the program's PTX):\n\n"
        "     %-9s %-26s %4s %4s %11s %10s %13s %15s %7s\n",
        "profile", "GPU", "cc", "SMs", "threads/SM", "blocks/SM", "shared/SM KiB", "shared/block KiB", "GiB");
  }
  muster_close(gpu);
  muster_profile p = MUSTER_PROFILE_INIT;
  for (size_t i = 0; muster_profile_get(i, &p) == MUSTER_OK; i++) {
    if (json) {
      printf("%s\n  {", i ? "," : "");
      member("name", p.name, ", ");
      member("gpu", p.gpu, ", ");
      printf("\"compute_capability\": %u, \"multiprocessors\": %u, \"threads_per_sm\": %u, "
             "\"blocks_per_sm\": %u, "
             "\"shared_per_sm_bytes\": %u, \"shared_per_block_bytes\": %u, \"memory_bytes\": %llu}",
             p.compute_capability, p.multiprocessors, p.threads_per_sm, p.blocks_per_sm,
             p.shared_per_sm_bytes, p.shared_per_block_bytes, (unsigned long long)p.memory_bytes);
    } else {
      printf("     %-9s %-26s %2u.%u %4u %11u %10u %13u %15u %7.1f\n", p.name, p.gpu,
             p.compute_capability / 10, p.compute_capability % 10, p.multiprocessors, p.threads_per_sm,
             p.blocks_per_sm, p.shared_per_sm_bytes / 1024, p.shared_per_block_bytes / 1024,
             (double)p.memory_bytes / (1 << 30));
    }
  }
  if (json)
    printf("]}\n");
}

static void instructions(bool json) {
  muster_instruction in = MUSTER_INSTRUCTION_INIT;
  unsigned modelled = 0, all = 0;
  if (json)
    printf("[");
  for (size_t i = 0; muster_instruction_get(i, &in) == MUSTER_OK; i++, all++) {
    modelled += !in.refused;
    if (json) {
      printf("%s\n {", i ? "," : "");
      member("name", in.name, ", ");
      member("class", in.kind, ", ");
      member("meaning", in.meaning, ", ");
      member("not_modelled", in.refused, ", ");
      printf("\"forms\": %u, \"ptx\": %u, \"sm\": %u}", in.forms, in.ptx_version, in.sm);
    } else if (in.refused) {
      printf("%-16s %-10s not modelled: %s\n", in.name, in.kind, in.refused);
    } else {
      printf("%-16s %-10s %3u form%s PTX %u.%u sm_%-4u %s\n", in.name, in.kind, in.forms,
             in.forms == 1 ? "  " : "s ", in.ptx_version / 10, in.ptx_version % 10, in.sm,
             in.meaning ? in.meaning : "");
    }
  }
  if (json)
    printf("\n]\n");
  else
    printf("%u of %u rows are modelled\n", modelled, all);
}

typedef enum severity { ERROR, WARNING, NOTE } severity;

static void rules(bool json) {
  static const char *const words[] = {"error", "warning", "note"};
  static const struct {
    const char *id;
    severity severity;
    const char *what;
  } rows[] = {
#define RULE(name, id, severity, what) {id, severity, what},
#include "muster/rules.def"
  };
  if (json)
    printf("[");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (json) {
      printf("%s\n {", i ? "," : "");
      member("id", rows[i].id, ", ");
      member("severity", words[rows[i].severity], ", ");
      member("what", rows[i].what, "}");
    } else {
      printf("%-20s %-8s %s\n", rows[i].id, words[rows[i].severity], rows[i].what);
    }
  }
  if (json)
    printf("\n]\n");
}

static void atomics(bool json) {
  static const struct {
    const char *operation, *type;
    unsigned sm;
    const char *otherwise;
  } rows[] = {
#define ATOMIC(operation, elem, sm, otherwise) {#operation, #elem, sm, otherwise},
#include "muster/atomics.def"
  };
  if (json)
    printf("[");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (json) {
      printf("%s\n {", i ? "," : "");
      member("operation", rows[i].operation, ", ");
      member("type", rows[i].type, ", ");
      printf("\"native_from_sm\": ");
      printf(rows[i].sm ? "%u, " : "null, ", rows[i].sm);
      member("otherwise", *rows[i].otherwise ? rows[i].otherwise : NULL, "}");
      continue;
    }
    printf("%-5s %-5s ", rows[i].operation, rows[i].type);
    if (rows[i].sm > 60)
      printf("native from sm_%u, below it %s\n", rows[i].sm, rows[i].otherwise);
    else
      printf("%s\n", rows[i].sm ? "native" : rows[i].otherwise);
  }
  if (json)
    printf("\n]\n");
}

int tool_info(const tool_options *o) {
  if (o->n_rest > 0) {
    tool_error("muster info takes no %s", o->rest[0]);
    return TOOL_USAGE;
  }
  if (o->atomics + o->ptx + o->rules > 1) {
    tool_error("one of --atomics, --ptx and --rules at a time");
    return TOOL_USAGE;
  }
  if (o->atomics)
    atomics(o->json);
  else if (o->ptx)
    instructions(o->json);
  else if (o->rules)
    rules(o->json);
  else
    devices(o->json);
  if (fflush(stdout) != 0) {
    tool_error("cannot write to standard output");
    return TOOL_OURS;
  }
  return TOOL_OK;
}
