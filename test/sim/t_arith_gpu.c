/* t_arith_gpu.c: the spellings of t_arith on a real GPU, through the driver API, against the handlers here.
 * It answers what PTX leaves open and the oracle had to be told: NaN payloads, division by zero, flushing.
 *
 *   t_arith_gpu [-t] [-n CASES] [-s I/N] [-m SHOW] [ROW-PREFIX]
 * Prints each spelling that differs with the first SHOW cases, and a count. Approximations are counted apart:
 * differences are expected there. Ends with 77 where there is no GPU. -t prints the first module of kernels
 * instead.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"

#define CHUNK 64

typedef int cu_result;
static cu_result (*cu_init)(unsigned);
static cu_result (*cu_retain)(void **, int);
static cu_result (*cu_current)(void *);
static cu_result (*cu_load)(void **, const void *, unsigned, int *, void **);
static cu_result (*cu_unload)(void *);
static cu_result (*cu_function)(void **, void *, const char *);
static cu_result (*cu_alloc)(uint64_t *, size_t);
static cu_result (*cu_to)(uint64_t, const void *, size_t);
static cu_result (*cu_from)(void *, uint64_t, size_t);
static cu_result (*cu_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              void *, void **, void **);

static uint64_t n_cases = 2048;
static unsigned shard_i, shard_n = 1, seen, show = 2;
static bool text_only;
static unsigned long same, different, close_by, not_loaded;
static uint64_t from, to, *words_in, *words_out;
static const arith_level *level;

static spell chunk[CHUNK];
static unsigned n_chunk;

static bool find(void *library, const char *name, void *function) {
  void *p = dlsym(library, name);
  memcpy(function, &p, sizeof p);
  return p != NULL;
}
static void check(cu_result r, const char *what) {
  if (r) {
    fprintf(stderr, "%s: error %d\n", what, r);
    exit(2);
  }
}

static void compare(arith *a, void *function) {
  uint64_t count = n_cases;
  for (uint64_t n = 0; n < count; n++)
    for (unsigned k = 0; k < a->s.n_in; k++)
      words_in[n * a->s.n_in + k] = spell_value(&a->s, n, k);
  check(cu_to(from, words_in, count * a->s.n_in * 8), "copy");
  uint32_t n32 = (uint32_t)count;
  void *args[] = {&from, &to, &n32};
  check(cu_launch(function, (n32 + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL), "launch");
  check(cu_from(words_out, to, count * a->s.n_out * 8), a->s.name);
  unsigned long wrong = 0;
  bool bound = false;
  for (uint64_t n = 0; n < count; n += SIM_LANES) {
    arith_load(a, n);
    arith_run(a, SIM_FULL, UINT32_MAX);
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      for (unsigned k = 0; k < a->s.n_out; k++) {
        uint64_t have = arith_result(a, k, lane), want = words_out[(n + lane) * a->s.n_out + k];
        if (have == want)
          continue;
        oracle_case c;
        arith_expect(a, n + lane, &c);
        bound = oracle_eval(&c) == ORACLE_BOUND;
        if (wrong++ < show) {
          printf("DIFF %s (variant %u) case %" PRIu64 ":", a->s.name, a->s.variant, n + lane);
          for (unsigned m = 0; m < a->s.n_in; m++)
            printf(" %" PRIx64, c.in[m]);
          printf(" -> word %u: here %" PRIx64 ", GPU %" PRIx64 "\n", k, have, want);
        }
      }
  }
  if (wrong)
    printf("%s %s (variant %u): %lu of %" PRIu64 "\n", bound ? "APPROX" : "DIFFERS", a->s.name, a->s.variant,
           wrong, count);
  same += !wrong;
  close_by += wrong && bound;
  different += wrong && !bound;
}

static void run_some(spell *some, unsigned n) {
  base_text t = {0};
  const ptx_form_info *f = ptx_form_get(some[0].form);
  spell_header(&t, f->isa > 78 ? f->isa : 78, 90, false);
  char name[16];
  for (unsigned k = 0; k < n; k++) {
    snprintf(name, sizeof name, "k%u", k);
    spell_kernel(&some[k], name, &t);
  }
  if (text_only) {
    fwrite(t.bytes, 1, t.length, stdout);
    exit(0);
  }
  void *module, *function;
  char log[4096] = "";
  int options[] = {5, 6}; /* the error log and its size */
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  if (cu_load(&module, t.bytes, 2, options, values)) {
    if (n > 1) {
      for (unsigned k = 0; k < n; k++)
        run_some(some + k, 1);
    } else {
      printf("NOT LOADED %s (variant %u): %.200s\n", some->name, some->variant, log);
      not_loaded++;
    }
    base_text_free(&t);
    return;
  }
  for (unsigned k = 0; k < n; k++) {
    arith a;
    snprintf(name, sizeof name, "k%u", k);
    check(cu_function(&function, module, name), name);
    if (arith_open(&a, &some[k]) && arith_choose(&a, level))
      compare(&a, function);
    arith_close(&a);
  }
  cu_unload(module);
  base_text_free(&t);
}

static void flush(void) {
  if (n_chunk)
    run_some(chunk, n_chunk);
  n_chunk = 0;
  fflush(stdout);
}

static void gather(const spell *s, void *data) {
  (void)data;
  const ptx_form_info *f = ptx_form_get(s->form);
  if (f->sm > 90 || f->arch_specific || strstr(s->name, ".or.") || strstr(s->name, ".xor."))
    return;
  arith a;
  bool good = arith_open(&a, s);
  arith_close(&a);
  if (!good || seen++ % shard_n != shard_i)
    return;
  if (n_chunk == CHUNK || (n_chunk && ptx_form_get(chunk[0].form)->isa != f->isa))
    flush();
  chunk[n_chunk++] = *s;
}

int main(int argc, char **argv) {
  const char *prefix = "";
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "-n") == 0 && k + 1 < argc)
      n_cases = strtoull(argv[++k], NULL, 0) / SIM_LANES * SIM_LANES;
    else if (strcmp(argv[k], "-t") == 0)
      text_only = true;
    else if (strcmp(argv[k], "-m") == 0 && k + 1 < argc)
      show = (unsigned)atoi(argv[++k]);
    else if (strcmp(argv[k], "-s") == 0 && k + 1 < argc &&
             sscanf(argv[k + 1], "%u/%u", &shard_i, &shard_n) == 2 && shard_n)
      k++;
    else
      prefix = argv[k];
  }
  if (text_only) {
    spell_all(prefix, gather, NULL);
    flush();
    return 0;
  }
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
  if (!cuda || !find(cuda, "cuInit", &cu_init) || !find(cuda, "cuDevicePrimaryCtxRetain", &cu_retain) ||
      !find(cuda, "cuCtxSetCurrent", &cu_current) || !find(cuda, "cuModuleLoadDataEx", &cu_load) ||
      !find(cuda, "cuModuleUnload", &cu_unload) || !find(cuda, "cuModuleGetFunction", &cu_function) ||
      !find(cuda, "cuMemAlloc_v2", &cu_alloc) || !find(cuda, "cuMemcpyHtoD_v2", &cu_to) ||
      !find(cuda, "cuMemcpyDtoH_v2", &cu_from) || !find(cuda, "cuLaunchKernel", &cu_launch) || cu_init(0)) {
    printf("no GPU\n");
    return 77;
  }
  check(cu_retain(&context, 0), "context");
  check(cu_current(context), "context");
  check(cu_alloc(&from, n_cases * SPELL_IN * 8), "memory");
  check(cu_alloc(&to, n_cases * SPELL_OUT * 8), "memory");
  words_in = malloc(n_cases * SPELL_IN * 8);
  words_out = malloc(n_cases * SPELL_OUT * 8);
  const arith_level *levels;
  for (unsigned l = 0, n = arith_levels(&levels); l < n; l++)
    if (levels[l].usable)
      level = &levels[l];
  spell_all(prefix, gather, NULL);
  flush();
  printf("%lu spellings the same, %lu different, %lu approximations that differ, %lu not loaded\n", same,
         different, close_by, not_loaded);
  return different || not_loaded;
}
