/* run_ptx.c: runs .ptx files whose first comment lines say how, and what must come out:
 *
 *   // machine: sms=2 blocks=1 threads=2048 warps=64 registers=65536 shared=102400 lockstep seed=N
 * reserved=1024 host
 *   // launch: KERNEL GRID BLOCK [shared=BYTES] [cluster=X,Y,Z] [cooperative] [launches=N]
 *   // arg: SPEC                  as for `muster run --kernel`; one line for each parameter
 *   // out: I TYPE[@BYTES] V V*N V ...    the first elements (from an offset on) of the buffer of argument I
 *   // print: TEXT                a line that the kernel prints, in order
 *   // trace: TEXT   // no-trace: TEXT    a line of the trace has this in it, or none has (sim/trace.c)
 *   // fault: TEXT   // stuck: TEXT   // refuse: TEXT     how it ends instead, and a part of what is said
 *
 * A value is an integer, a float (also 0fXXXXXXXX, 0dX..., nan, inf), or `*` for anything. Usage: run_ptx
 * [--trace]
 * [--stats] [--decode] [--gpu] [--workers N] [--level NAME] FILE...; prints "ok" or what differs, ends with 1
 * if any did. */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/text.h"
#include "ptx/ptx.h"
#include "sim/hooks.h"
#include "sim/sim.h"
#include "gpu.h"

enum { MAX_ARGS = 32, MAX_EXPECT = 64 };

typedef struct arg {
  uint64_t address, bytes; /* of its buffer; 0: a value */
  uint8_t *host;           /* where its bytes can be read and written here */
  uint8_t value[4096];
  uint32_t value_bytes;
} arg;

typedef struct test {
  const char *file;
  char *text;
  size_t bytes;
  sim_options options;
  char kernel[256];
  sim_launch launch;
  uint32_t launches;
  char *args[MAX_ARGS], *outs[MAX_EXPECT], *traces[MAX_EXPECT], *ends[4]; /* fault, stuck, refuse */
  base_text print_want, print_have;
  uint32_t n_args, n_outs, n_traces;
  bool host;
  bool failed;
} test;

static bool trace, stats, decode, gpu;
static uint32_t workers;

static void complain(test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(test *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("%s: ", t->file);
  vprintf(format, args);
  printf("\n");
  va_end(args);
  t->failed = true;
}

/* ------------------------------------------------------------------ values */

typedef struct type {
  const char *name;
  uint32_t bytes;
  char kind; /* u, s, f */
} type;

static const type types[] = {
    {"u8", 1, 'u'},  {"s8", 1, 's'},  {"b8", 1, 'u'},  {"u16", 2, 'u'}, {"s16", 2, 's'}, {"b16", 2, 'u'},
    {"u32", 4, 'u'}, {"s32", 4, 's'}, {"b32", 4, 'u'}, {"i32", 4, 's'}, {"u64", 8, 'u'}, {"s64", 8, 's'},
    {"b64", 8, 'u'}, {"f32", 4, 'f'}, {"f64", 8, 'f'}, {"f16", 2, 'u'}, {"bf16", 2, 'u'}};

static const type *find_type(const char *name, size_t n) {
  for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
    if (strlen(types[k].name) == n && !strncmp(types[k].name, name, n))
      return &types[k];
  return NULL;
}

static uint64_t parse_value(const type *t, const char *s) {
  uint64_t bits = 0;
  if (t->kind != 'f')
    return s[0] == '-' ? (uint64_t)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
  if ((s[0] == '0' && s[1] == 'f') || (s[0] == '0' && s[1] == 'd' && t->bytes == 8))
    return strtoull(s + 2, NULL, 16);
  double d = strtod(s, NULL);
  float f = (float)d;
  if (t->bytes == 8)
    memcpy(&bits, &d, 8);
  else
    memcpy(&bits, &f, 4);
  return bits;
}

static bool make_buffer(sim_device *d, test *t, arg *a, uint64_t bytes, bool defined) {
  a->bytes = bytes;
  if (t->host) {
    void *p = aligned_alloc(512, (bytes + 511) / 512 * 512);
    memset(p, 0, bytes);
    sim_host_register(d, p, bytes, true);
    a->address = (uint64_t)(uintptr_t)p;
  } else {
    a->address = gpu ? gpu_new(bytes) : sim_memory_new(d, bytes);
  }
  a->host = gpu ? calloc(1, bytes) : (uint8_t *)(uintptr_t)a->address;
  if (!gpu)
    sim_memory_define(d, a->address, bytes, defined);
  memcpy(a->value, &a->address, 8);
  a->value_bytes = 8;
  return a->address != 0;
}

static bool make_arg(sim_device *d, test *t, arg *all, arg *a, const char *spec) {
  char what[32] = "", *end;
  const char *colon = strchr(spec, ':');
  snprintf(what, sizeof what, "%.*s", (int)(colon ? colon - spec : (long)strlen(spec)), spec);
  const char *rest = colon ? colon + 1 : "";
  const type *y = find_type(what, strlen(what));
  if (y) {
    uint64_t v = parse_value(y, rest);
    memcpy(a->value, &v, y->bytes);
    a->value_bytes = y->bytes;
    return true;
  }
  if (!strcmp(what, "null")) {
    a->value_bytes = 8;
    return true;
  }
  if (!strcmp(what, "ref")) {
    unsigned long k = strtoul(rest, &end, 0);
    uint64_t v = all[k].address + (*end == '+' ? strtoull(end + 1, NULL, 0) : 0);
    memcpy(a->value, &v, 8);
    a->value_bytes = 8;
    return true;
  }
  if (!strcmp(what, "bytes")) {
    for (; isxdigit((unsigned char)rest[0]) && isxdigit((unsigned char)rest[1]); rest += 2) {
      char hex[3] = {rest[0], rest[1], 0};
      a->value[a->value_bytes++] = (uint8_t)strtoul(hex, NULL, 16);
    }
    return true;
  }
  if (!strcmp(what, "zero") || !strcmp(what, "uninit"))
    return make_buffer(d, t, a, strtoull(rest, NULL, 0), what[0] == 'z');
  bool fill = !strcmp(what, "fill"), iota = !strcmp(what, "iota"), random = !strcmp(what, "random");
  colon = strchr(rest, ':');
  y = colon ? find_type(rest, (size_t)(colon - rest)) : NULL;
  if (!y || !(fill || iota || random))
    return false;
  uint64_t n = strtoull(colon + 1, &end, 0), state = random && *end == ':' ? strtoull(end + 1, NULL, 0) : 1;
  uint64_t value = fill && *end == ':' ? parse_value(y, end + 1) : 0;
  if (!make_buffer(d, t, a, n * y->bytes, true))
    return false;
  for (uint64_t k = 0; k < n; k++) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, k);
    if (iota)
      value = parse_value(y, text);
    if (random) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      value = state >> (64 - 8 * y->bytes);
      float f = (float)(state >> 40) * 0x1p-24f;
      double g = (double)(state >> 11) * 0x1p-53;
      if (y->kind == 'f')
        memcpy(&value, y->bytes == 8 ? (void *)&g : (void *)&f, y->bytes);
    }
    memcpy(a->host + k * y->bytes, &value, y->bytes);
  }
  return true;
}

static void check_out(test *t, const arg *args, const char *line) {
  char *copy = strdup(line), *save, *word = strtok_r(copy, " ", &save);
  unsigned long index = strtoul(word, NULL, 0);
  char *name = strtok_r(NULL, " ", &save), *at = strchr(name, '@');
  const type *y = find_type(name, at ? (size_t)(at - name) : strlen(name));
  const uint8_t *p = args[index].host + (at ? strtoull(at + 1, NULL, 0) : 0);
  uint64_t element = 0;
  if (!y || index >= t->n_args || !args[index].address)
    complain(t, "bad line: out: %s", line);
  while (!t->failed && (word = strtok_r(NULL, " ", &save))) {
    char *star = strchr(word, '*');
    uint64_t times = star && star[1] ? strtoull(star + 1, NULL, 0) : 1;
    const char *tilde = strchr(word, '~');
    uint64_t about = tilde ? strtoull(tilde + 1, NULL, 0) : 0; /* steps of the last place */
    bool any = word[0] == '*', nan = !strncmp(word, "nan", 3);
    for (; times && !t->failed; times--, element++, p += y->bytes) {
      uint64_t have = 0, want = any ? 0 : parse_value(y, word),
               mask = y->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * y->bytes) - 1;
      if (p + y->bytes > args[index].host + args[index].bytes) {
        complain(t, "out: %s: more values than the buffer has", line);
        break;
      }
      memcpy(&have, p, y->bytes);
      float f;
      double d;
      memcpy(&f, &have, 4), memcpy(&d, &have, 8);
      if (nan ? (y->bytes == 8 ? isnan(d) : isnan(f))
              : any || (have > (want & mask) ? have - (want & mask) : (want & mask) - have) <= about)
        continue;
      if (y->kind == 'f')
        complain(t, "buffer %lu, element %" PRIu64 ": %.9g (0x%" PRIx64 "), expected %s", index, element,
                 y->bytes == 8 ? d : (double)f, have, word);
      else
        complain(t, "buffer %lu, element %" PRIu64 ": %" PRIu64 " (0x%" PRIx64 "), expected %s", index,
                 element, have, have, word);
    }
  }
  free(copy);
}

/* ------------------------------------------------------------------ reading */

static void read_dim(const char *s, uint32_t d[3]) {
  d[0] = d[1] = d[2] = 1;
  sscanf(s, "%u,%u,%u", &d[0], &d[1], &d[2]);
}

static void read_machine(test *t, char *line) {
  sim_limits *l = &t->options.limits;
  struct {
    const char *name;
    uint32_t *to;
  } numbers[] = {{"sms=", &l->sms},
                 {"blocks=", &l->blocks_per_sm},
                 {"threads=", &l->threads_per_sm},
                 {"warps=", &l->warps_per_sm},
                 {"registers=", &l->registers_per_sm},
                 {"shared=", &l->shared_per_sm},
                 {"reserved=", &l->shared_reserved},
                 {"sm=", &l->sm}};
  char *save;
  for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    bool found = false;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
      if (!strncmp(w, numbers[k].name, strlen(numbers[k].name))) {
        *numbers[k].to = (uint32_t)strtoul(w + strlen(numbers[k].name), NULL, 0);
        found = true;
      }
    if (!strcmp(w, "lockstep"))
      t->options.lockstep = found = true;
    if (!strcmp(w, "host"))
      t->host = found = true;
    if (!strncmp(w, "seed=", 5))
      t->options.seed = strtoull(w + 5, NULL, 0), found = true;
    if (!found)
      complain(t, "machine: what is '%s'?", w);
  }
}

static void read_launch(test *t, char *line) {
  char *save, *w = strtok_r(line, " ", &save);
  snprintf(t->kernel, sizeof t->kernel, "%s", w ? w : "");
  if ((w = strtok_r(NULL, " ", &save)))
    read_dim(w, t->launch.grid);
  if ((w = strtok_r(NULL, " ", &save)))
    read_dim(w, t->launch.block);
  while ((w = strtok_r(NULL, " ", &save))) {
    if (!strncmp(w, "shared=", 7))
      t->launch.dynamic_shared = (uint32_t)strtoul(w + 7, NULL, 0);
    else if (!strncmp(w, "cluster=", 8))
      read_dim(w + 8, t->launch.cluster);
    else if (!strncmp(w, "launches=", 9))
      t->launches = (uint32_t)strtoul(w + 9, NULL, 0);
    else if (!strcmp(w, "cooperative"))
      t->launch.cooperative = true;
    else
      complain(t, "launch: what is '%s'?", w);
  }
}

static void read_head(test *t) {
  char *copy = strdup(t->text), *save, *line;
  static const char *const ends[] = {"fault: ", "stuck: ", "refuse: "};
  for (line = strtok_r(copy, "\n", &save); line && !strncmp(line, "//", 2);
       line = strtok_r(NULL, "\n", &save)) {
    char *s = line + 2 + (line[2] == ' ');
    if (!strncmp(s, "machine: ", 9))
      read_machine(t, s + 9);
    else if (!strncmp(s, "launch: ", 8))
      read_launch(t, s + 8);
    else if (!strncmp(s, "arg: ", 5) && t->n_args < MAX_ARGS)
      t->args[t->n_args++] = strdup(s + 5);
    else if (!strncmp(s, "out: ", 5) && t->n_outs < MAX_EXPECT)
      t->outs[t->n_outs++] = strdup(s + 5);
    else if (!strncmp(s, "print:", 6))
      base_putf(&t->print_want, "%s\n", s + 6 + (s[6] == ' '));
    if ((!strncmp(s, "trace: ", 7) || !strncmp(s, "no-trace: ", 10)) && t->n_traces < MAX_EXPECT)
      t->traces[t->n_traces++] = strdup(s);
    for (int k = 0; k < 3; k++)
      if (!strncmp(s, ends[k], strlen(ends[k])))
        t->ends[k] = strdup(s + strlen(ends[k]));
  }
  free(copy);
}

/* ------------------------------------------------------------------ running */

static void print(void *user, const char *text, size_t bytes) {
  base_put(&((test *)user)->print_have, text, bytes);
}

static void tell(void *user, const sim_wait *w) {
  static const char *const kinds[] = {"barrier", "cluster", "warp", "memory", "grid", "room", "lanes behind"};
  base_putf(user, "%s: block (%u,%u,%u) thread (%u,%u,%u) line %u lanes %08x waits for %s", w->place.kernel,
            w->place.block[0], w->place.block[1], w->place.block[2], w->place.thread[0], w->place.thread[1],
            w->place.thread[2], w->place.ptx_line, w->lanes, kinds[w->kind]);
  if (w->kind == SIM_WAIT_BARRIER)
    base_putf(user, " %u: %u of %u", w->number, w->have, w->want);
  if (w->kind == SIM_WAIT_WARP)
    base_putf(user, " lanes %08x", w->awaited);
  if (w->kind == SIM_WAIT_ROOM)
    base_putf(user, ": %" PRIu64 " blocks", w->n_blocks);
  base_puts(user, "\n");
}

static void expect_end(test *t, int which, const char *have) {
  static const char *const names[] = {"fault", "stuck", "refused"};
  if (!t->ends[which])
    complain(t, "%s: %s", names[which], have);
  else if (!strstr(have, t->ends[which]))
    complain(t, "%s: %s\n  expected: %s", names[which], have, t->ends[which]);
  free(t->ends[which]);
  t->ends[which] = NULL;
}

static bool run_launch(sim_device *d, test *t) {
  char *error;
  if (!sim_launch_start(d, &t->launch, &error)) {
    expect_end(t, 2, error);
    free(error);
    return false;
  }
  for (uint64_t asleep = 0;;) {
    sim_status s;
    sim_device_run(d, UINT64_C(1) << 40, &s);
    switch (s.state) {
    case SIM_DONE:
      return true;
    case SIM_FAULTED:
      expect_end(t, 0, s.fault.text);
      return false;
    case SIM_STUCK: {
      base_text who = {0};
      sim_waiting(d, tell, &who);
      expect_end(t, 1, who.bytes ? who.bytes : "");
      base_text_free(&who);
      sim_device_stop(d);
      return false;
    }
    case SIM_ASLEEP: /* the host's turn: it adds one to the first word of the first buffer */
      if (asleep++ < 1000) {
        ++*(volatile uint32_t *)(uintptr_t)*(const uint64_t *)t->launch.params;
        break;
      }
      expect_end(t, 1, "asleep");
      sim_device_stop(d);
      return false;
    case SIM_IDLE:
    default:
      complain(t, "state %d", s.state);
      return false;
    }
  }
}

static void run_kernel(test *t, sim_device *d, sim_module *m) {
  static arg args[MAX_ARGS];
  uint8_t params[32768] = {0};
  char *error;
  memset(args, 0, sizeof args);
  t->launch.kernel = sim_module_kernel(m, t->kernel, &error);
  if (!t->launch.kernel) {
    expect_end(t, 2, error);
    free(error);
    return;
  }
  sim_kernel_info info;
  sim_kernel_get(t->launch.kernel, &info);
  if (info.n_params != t->n_args)
    complain(t, "%u parameters, %u arguments", info.n_params, t->n_args);
  for (uint32_t k = 0; k < t->n_args && !t->failed; k++) {
    uint32_t offset, bytes, type;
    sim_kernel_param(t->launch.kernel, k, &offset, &bytes, &type);
    if (!make_arg(d, t, args, &args[k], t->args[k]) || args[k].value_bytes != bytes)
      complain(t, "argument %u: %s does not fit the parameter of %u bytes", k, t->args[k], bytes);
    else
      memcpy(params + offset, args[k].value, bytes);
  }
  t->launch.params = params;
  struct timespec a, b;
  sim_stats before, after;
  sim_device_stats(d, &before);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  bool ok = !t->failed;
  for (uint32_t k = 0; k < t->launches && ok; k++)
    ok = run_launch(d, t);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  sim_device_stats(d, &after);
  if (stats) {
    double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    double insns = (double)(after.thread_insns - before.thread_insns),
           warps = (double)(after.warp_insns - before.warp_insns);
    printf("%s: %.3f ms, %.4g thread insns (%.3f G/s), %.4g warp insns (%.1f ns each), %u registers, %" PRIu64
           " splits, %" PRIu64 " sleeps\n",
           t->file, s * 1e3, insns, insns / s * 1e-9, warps, s / warps * 1e9, info.registers,
           after.fragments_split, after.loops_slept);
  }
  for (uint32_t k = 0; k < t->n_outs && ok && !t->failed; k++)
    check_out(t, args, t->outs[k]);
  if (ok)
    for (int k = 0; k < 3; k++)
      if (t->ends[k])
        complain(t, "ended well; expected: %s", t->ends[k]);
  const char *want = t->print_want.bytes ? t->print_want.bytes : "",
             *have = t->print_have.bytes ? t->print_have.bytes : "";
  if (strcmp(want, have))
    complain(t, "printed:\n%s--- expected:\n%s---", have, want);
  for (uint32_t k = 0; k < t->n_args; k++)
    if (t->host && args[k].bytes) {
      sim_host_unregister(d, (void *)(uintptr_t)args[k].address);
      free((void *)(uintptr_t)args[k].address);
    }
}

/* Every kernel of the file is decoded: what the machine would refuse is printed. */
static void decode_all(test *t, const ptx_module *p, sim_module *m) {
  for (uint32_t k = 0; k < p->n_funcs; k++) {
    char *error;
    sim_kernel_info info;
    if (!p->funcs[k].entry || !p->funcs[k].defined)
      continue;
    sim_kernel *kernel = sim_module_kernel(m, p->funcs[k].name, &error);
    if (!kernel) {
      complain(t, "%s", error);
      free(error);
      continue;
    }
    sim_kernel_get(kernel, &info);
    if (info.refused)
      printf("%s:%u: %s: %s\n", t->file, info.refused_line, info.name, info.refused);
    if (stats)
      printf("%s: %s: %u registers, %u shared, %u local\n", t->file, info.name, info.registers,
             info.shared_bytes, info.local_bytes);
  }
}

/* The same case on a real GPU. How a fault is worded, and what would hang, is not for it. */
static void run_gpu(test *t) {
  static arg args[MAX_ARGS];
  char why[4096] = "";
  memset(args, 0, sizeof args);
  if (t->ends[0] || t->ends[1] || t->ends[2] || t->host || t->options.lockstep)
    return;
  void *kernel = gpu_load(t->text, t->kernel, why, sizeof why);
  if (!kernel) {
    complain(t, "%s", why);
    return;
  }
  void *values[MAX_ARGS];
  for (uint32_t k = 0; k < t->n_args; k++) {
    if (!make_arg(NULL, t, args, &args[k], t->args[k]))
      complain(t, "argument %u: %s", k, t->args[k]);
    values[k] = args[k].value;
    if (args[k].bytes)
      gpu_copy(args[k].address, args[k].host, args[k].bytes, true);
  }
  bool ok = !t->failed;
  for (uint32_t k = 0; k < t->launches && ok; k++)
    ok = gpu_launch(kernel, t->launch.grid, t->launch.block, t->launch.cluster, t->launch.dynamic_shared,
                    t->launch.cooperative, values, why, sizeof why);
  if (!ok && !t->failed)
    complain(t, "%s", why);
  for (uint32_t k = 0; k < t->n_args && ok; k++)
    if (args[k].bytes)
      gpu_copy(args[k].address, args[k].host, args[k].bytes, false);
  for (uint32_t k = 0; k < t->n_outs && ok && !t->failed; k++)
    check_out(t, args, t->outs[k]);
  for (uint32_t k = 0; k < t->n_args; k++)
    if (args[k].bytes)
      free(args[k].host);
}

static bool run_test(const char *file) {
  test t = {.file = file, .launches = 1};
  t.options = (sim_options){.limits = {.sm = 90,
                                       .sms = 16,
                                       .threads_per_block = 1024,
                                       .threads_per_sm = 2048,
                                       .warps_per_sm = 64,
                                       .blocks_per_sm = 32,
                                       .registers_per_sm = 65536,
                                       .registers_per_block = 65536,
                                       .registers_per_thread = 255,
                                       .register_unit = 256,
                                       .warp_unit = 4,
                                       .shared_per_sm = 233472,
                                       .shared_per_block = 49152,
                                       .shared_per_block_max = 232448,
                                       .shared_reserved = 1024,
                                       .shared_unit = 128,
                                       .max_cluster_blocks = 16},
                            .memory_bytes = UINT64_C(4) << 30,
                            .print = print,
                            .print_user = &t};
  FILE *f = fopen(file, "rb");
  if (!f) {
    complain(&t, "cannot be read");
    return false;
  }
  t.text = malloc(16 << 20);
  t.bytes = fread(t.text, 1, (16 << 20) - 1, f);
  t.text[t.bytes] = 0;
  fclose(f);
  t.options.workers = workers;
  read_head(&t);
  if (gpu) {
    run_gpu(&t);
    return !t.failed;
  }
  ptx_module *p = ptx_module_new(file, t.text, t.bytes);
  sim_device *d = sim_device_new(&t.options);
  char *error = NULL;
  base_text out = {0};
  sim_watcher *w = trace || t.n_traces ? sim_trace_new(&out, UINT32_MAX & ~(SIM_WATCH_CHOICES)) : NULL;
  if (!d || !p || ptx_failed(p)) {
    if (p)
      base_diags_print(p->diags, &out);
    complain(&t, "%s", d ? out.bytes ? out.bytes : "out of memory" : "no device");
  } else {
    sim_device_watch(d, w);
    sim_module *m = sim_module_new(d, p, NULL, 0, &error);
    if (m && decode)
      decode_all(&t, p, m);
    else if (m)
      run_kernel(&t, d, m);
    else
      expect_end(&t, 2, error);
    if (trace)
      fputs(out.bytes ? out.bytes : "", stdout);
    sim_module_free(m);
  }
  for (uint32_t k = 0; k < t.n_traces; k++) {
    bool none = t.traces[k][0] == 'n';
    if (!strstr(out.bytes ? out.bytes : "", t.traces[k] + (none ? 10 : 7)) != none)
      complain(&t, "expected %s", t.traces[k]);
    free(t.traces[k]);
  }
  free(error);
  sim_trace_free(w);
  base_text_free(&out);
  base_text_free(&t.print_want);
  base_text_free(&t.print_have);
  sim_device_free(d);
  ptx_module_free(p);
  for (uint32_t k = 0; k < t.n_args; k++)
    free(t.args[k]);
  for (uint32_t k = 0; k < t.n_outs; k++)
    free(t.outs[k]);
  for (int k = 0; k < 3; k++)
    free(t.ends[k]);
  free(t.text);
  return !t.failed;
}

int main(int argc, char **argv) {
  int failed = 0, n = 0;
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--trace"))
      trace = true;
    else if (!strcmp(argv[k], "--stats"))
      stats = true;
    else if (!strcmp(argv[k], "--decode"))
      decode = true;
    else if (!strcmp(argv[k], "--workers") && k + 1 < argc)
      workers = (uint32_t)strtoul(argv[++k], NULL, 0);
    else if (!strcmp(argv[k], "--gpu"))
      gpu = true;
    else if (!strcmp(argv[k], "--level") && k + 1 < argc) {
      if (!sim_vector_level_set(argv[++k])) {
        printf("this CPU has no %s\n", argv[k]);
        return 77;
      }
    } else {
      n++;
      failed += !run_test(argv[k]);
    }
  }
  printf("%d passed, %d failed\n", n - failed, failed);
  return failed != 0;
}
