/* t_litmus.c: the explorer of weak behaviours (src/check/weak.h) against the enumerator of the model: litmus
 * tests run as PTX on the machine, and what is reached is compared with what is allowed.
 *
 *   t_litmus classics          each named outcome is reached if it is allowed, and nothing else than the
 * model allows t_litmus exact FROM N      N random tests of up to 8 accesses: the sets are equal t_litmus
 * random FROM N M   N tests of 4 threads with 4 accesses each, M random executions: all are allowed t_litmus
 * show SEED         one of `exact`, printed */
#include <stdlib.h>
#include <string.h>

#include "check/weak.h"
#include "litmus.h"
#include "ptx/ptx.h"

typedef struct machine {
  sim_device *device;
  uint64_t memory;
  uint64_t runs;
} machine;

enum { BYTES = 4096 };

static bool machine_new(machine *m) {
  sim_options options = {.limits = {.sm = 80,
                                    .sms = 4,
                                    .threads_per_block = 1024,
                                    .threads_per_sm = 2048,
                                    .warps_per_sm = 64,
                                    .blocks_per_sm = 4,
                                    .registers_per_sm = 65536,
                                    .register_unit = 256,
                                    .warp_unit = 4,
                                    .shared_per_sm = 102400,
                                    .shared_unit = 128},
                         .memory_bytes = 1u << 20};
  m->device = sim_device_new(&options);
  m->memory = m->device ? sim_memory_new(m->device, BYTES) : 0;
  return m->memory != 0;
}

typedef struct trial {
  const lit_test *test;
  uint32_t decisions; /* of random ones */
  bool stale;
  weak *explorer;
  lit_set reached;
  uint64_t seed; /* of random ones: one of the last values of each location; 0: all */
  uint64_t base;
} trial;

static sim_answer event(void *user, const sim_event *e) {
  weak_event(((trial *)user)->explorer, e);
  return SIM_GO_ON;
}

static uint32_t source(void *user, const sim_access *a) {
  return weak_source(((trial *)user)->explorer, a);
}

/* Each combination of last values; of random executions one. */
static void combine(trial *t, const weak_execution *x, lit_outcome *o, uint32_t location) {
  uint64_t values[64][2];
  if (location == t->test->n_locations) {
    lit_set_add(&t->reached, o);
    return;
  }
  weak_place p = {.space = PTX_SPACE_GLOBAL, .address = t->base + 64 * location, .bytes = 4};
  if (t->test->shared)
    p = (weak_place){
        .space = PTX_SPACE_SHARED, .block = t->test->block[0], .address = 64 * location, .bytes = 4};
  uint32_t n = weak_values(x, &p, values, 64), first = 0;
  if (!n) /* nobody used it */
    values[n++][0] = 0;
  if (t->seed) {
    t->seed = t->seed * UINT64_C(6364136223846793005) + 1;
    first = (uint32_t)(t->seed >> 33) % n, n = first + 1;
  }
  for (uint32_t i = first; i < n; i++) {
    o->slots[LIT_THREADS * LIT_OPS + location] = (uint32_t)values[i][0];
    combine(t, x, o, location + 1);
  }
}

static void execution(void *user, const weak_execution *x) {
  trial *t = user;
  lit_outcome o;
  memset(&o, 0xff, sizeof o);
  for (uint32_t i = 0; i < t->test->n_threads; i++)
    for (uint32_t k = 0; k < t->test->n_ops[i]; k++) {
      uint64_t value[1][2];
      weak_place p = {
          .space = PTX_SPACE_GLOBAL, .address = t->base + 1024 + 4 * (i * LIT_OPS + k), .bytes = 4};
      if (lit_returns(t->test->ops[i][k].kind) && weak_values(x, &p, value, 1))
        o.slots[i * LIT_OPS + k] = (uint32_t)value[0][0];
    }
  combine(t, x, &o, 0);
}

/* Runs until everything is explored, or so many executions were seen. False, and a line: it cannot be run. */
static bool explore(machine *m, trial *t, uint64_t executions) {
  char *text = lit_ptx(t->test), *error = NULL;
  ptx_module *p = ptx_module_new("litmus", text, strlen(text));
  sim_module *module = sim_module_new(m->device, p, NULL, 0, &error);
  sim_kernel *k = module ? sim_module_kernel(module, "litmus", &error) : NULL;
  weak_options o = {.exhaustive = !executions,
                    .decisions = t->decisions,
                    .stale = t->stale,
                    .seed = t->seed,
                    .user = t,
                    .execution = execution};
  sim_watcher w = {.user = t, .watch = SIM_WATCH_ACCESS | SIM_WATCH_SYNC, .event = event, .source = source};
  sim_launch l = {.kernel = k, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &m->memory};
  bool ok = k != NULL;
  if (!k)
    printf("%s: %s\n%s", t->test->name, error ? error : "the PTX is refused", text);
  for (uint32_t i = 0; i < t->test->n_threads; i++) {
    if (l.grid[0] <= t->test->block[i])
      l.grid[0] = t->test->block[i] + 1;
    if (l.block[0] <= t->test->warp[i] * 32)
      l.block[0] = 32 * (t->test->warp[i] + 1);
  }
  t->base = m->memory;
  t->explorer = weak_new(&o);
  sim_device_watch(m->device, &w);
  while (ok && weak_next(t->explorer)) {
    sim_status s = {0};
    memset((void *)(uintptr_t)m->memory, 0, BYTES);
    sim_launch_start(m->device, &l, &error);
    sim_device_run(m->device, 1u << 20, &s);
    m->runs++;
    weak_ran(t->explorer, s.state == SIM_DONE);
    if (s.state != SIM_DONE) {
      printf("%s: the launch does not end: %s\n", t->test->name, s.fault.text);
      sim_device_stop(m->device);
      ok = false;
    }
    if (executions && weak_executions(t->explorer) >= executions)
      break;
  }
  if (weak_unjudged(t->explorer)) {
    printf("%s: not explored: %s\n", t->test->name, weak_unjudged(t->explorer));
    ok = false;
  }
  sim_device_watch(m->device, NULL);
  weak_free(t->explorer);
  sim_module_free(module);
  ptx_module_free(p);
  free(text);
  free(error);
  lit_set_sort(&t->reached);
  return ok;
}

static void show(const lit_test *t, const lit_set *s, const char *what) {
  printf("%s\n", what);
  for (size_t i = 0; i < s->n; i++) {
    lit_print_outcome(t, &s->items[i], stdout);
    printf("\n");
  }
}

/* Prints what is in one set only. */
static bool differ(const lit_test *t, const lit_set *reached, const lit_set *allowed) {
  bool differs = false;
  for (int way = 0; way < 2; way++) {
    const lit_set *a = way ? allowed : reached, *b = way ? reached : allowed;
    for (size_t i = 0; i < a->n; i++)
      if (!lit_set_has(b, &a->items[i])) {
        if (!differs)
          lit_print(t, stdout);
        differs = true;
        printf("  %s:", way ? "allowed, but not reached" : "reached, but forbidden");
        lit_print_outcome(t, &a->items[i], stdout);
        printf("\n");
      }
  }
  return differs;
}

static int run_classics(machine *m) {
  int failed = 0;
  for (uint32_t i = 0; i < lit_n_classics(); i++) {
    lit_classic c;
    lit_set allowed = {0};
    if (!lit_classic_get(i, &c)) {
      failed++;
      continue;
    }
    trial t = {.test = &c.test};
    bool bad = !explore(m, &t, 0), seen = false;
    lit_allowed(&c.test, &allowed);
    bad |= differ(&c.test, &t.reached, &allowed);
    for (size_t k = 0; k < t.reached.n; k++)
      seen |= lit_classic_is(&c, &t.reached.items[k]);
    if (seen != c.allowed) {
      printf("%s: %s\n", c.test.name, seen ? "is reached" : "is not reached");
      bad = true;
    }
    failed += bad;
    lit_set_free(&allowed);
    lit_set_free(&t.reached);
  }
  printf("%u classics, %d failed\n", lit_n_classics(), failed);
  return failed;
}

static int run_exact(machine *m, uint64_t from, uint64_t n, bool print) {
  int failed = 0;
  uint64_t outcomes = 0;
  for (uint64_t seed = from; seed < from + n; seed++) {
    lit_test test;
    lit_set allowed = {0};
    lit_nth(&test, seed);
    trial t = {.test = &test};
    bool bad = !explore(m, &t, 0);
    lit_allowed(&test, &allowed);
    bad |= differ(&test, &t.reached, &allowed);
    outcomes += allowed.n;
    failed += bad;
    if (print) {
      lit_print(&test, stdout);
      show(&test, &t.reached, "reached:");
    }
    lit_set_free(&allowed);
    lit_set_free(&t.reached);
  }
  printf("%llu tests, %llu outcomes, %llu runs, %d failed\n", (unsigned long long)n,
         (unsigned long long)outcomes, (unsigned long long)m->runs, failed);
  return failed;
}

static int run_random(machine *m, uint64_t from, uint64_t n, uint64_t executions, uint32_t decisions,
                      bool stale) {
  int failed = 0;
  uint64_t outcomes = 0;
  for (uint64_t seed = from; seed < from + n; seed++) {
    lit_test test;
    lit_random_wide(&test, seed);
    trial t = {.test = &test, .seed = seed + 1, .decisions = decisions, .stale = stale};
    bool bad = !explore(m, &t, executions);
    for (size_t i = 0; i < t.reached.n; i++)
      if (!lit_allows(&test, &t.reached.items[i])) {
        lit_print(&test, stdout);
        printf("  reached, but forbidden:");
        lit_print_outcome(&test, &t.reached.items[i], stdout);
        printf("\n");
        bad = true;
      }
    outcomes += t.reached.n;
    failed += bad;
    lit_set_free(&t.reached);
  }
  printf("%llu tests, %llu executions each, %llu outcomes, %llu runs, %d failed\n", (unsigned long long)n,
         (unsigned long long)executions, (unsigned long long)outcomes, (unsigned long long)m->runs, failed);
  return failed;
}

int main(int argc, char **argv) {
  machine m = {0};
  uint64_t numbers[3] = {0};
  for (int i = 2; i < argc && i < 5; i++)
    numbers[i - 2] = strtoull(argv[i], NULL, 0);
  int failed = 1;
  if (argc < 2 || !machine_new(&m))
    printf("usage: t_litmus classics | exact FROM N | random|stray FROM N EXECUTIONS | show SEED\n");
  else if (!strcmp(argv[1], "classics"))
    failed = run_classics(&m);
  else if (!strcmp(argv[1], "exact"))
    failed = run_exact(&m, numbers[0], numbers[1], false);
  else if (!strcmp(argv[1], "random"))
    failed = run_random(&m, numbers[0], numbers[1], numbers[2], 0, false);
  else if (!strcmp(argv[1], "stray"))
    failed = run_random(&m, numbers[0], numbers[1], numbers[2], 2, false) +
             run_random(&m, numbers[0], numbers[1], numbers[2], 3, true);
  else if (!strcmp(argv[1], "show"))
    failed = run_exact(&m, numbers[0], 1, true);
  sim_device_free(m.device);
  return failed != 0;
}
