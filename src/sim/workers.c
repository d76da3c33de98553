/* workers.c: several host threads run one device's blocks. It goes in rounds: the resident clusters are a
 * list, each worker takes the next ones and gives them a turn, and when the list is done the caller alone
 * looks at what ended, lets others in, and judges whether anybody moved. A cluster is run by one thread at a
 * time, so shared memory, barriers and warps need no locks; global atomics are host atomics then (atom.c),
 * and what belongs to the device (its heap, its output, its spare memory) is under one lock. Which order
 * things happen in is up to the host: no determinism.
 *
 * A round waits for nobody to come: a worker that the host has not let run before the list is done misses the
 * round. So a machine that others use too is at worst as fast as one thread alone. Rounds follow each other
 * closely as a rule, and sleeping costs as much as a short round does: who waits looks for a moment before
 * it sleeps.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "sim/machine.h"

struct sim_workers {
  sim_device *device;
  uint32_t n;     /* with the caller */
  sim_run **runs; /* [0]: the device's own */
  thrd_t *threads;
  uint32_t n_threads;
  mtx_t lock;
  cnd_t go, done;
  _Atomic uint64_t round; /* changed under the lock */
  atomic_uint busy;       /* workers that are in the round; likewise */
  uint32_t asleep;        /* workers that wait for `go` */
  bool open;              /* there may still be something on the list */
  bool quit;
  sim_cluster **list;
  uint32_t n_list, cap_list;
  atomic_uint next;
};

typedef struct start {
  sim_workers *w;
  uint32_t index;
} start;

/* ------------------------------------------------------------------ a worker */

static void run_cluster(sim_run *r, sim_cluster *k) {
  uint64_t end = r->warp_insns + SIM_BLOCK_QUANTUM;
  if (!sim_cluster_begin(r, k->blocks[0])) {
    sim_no_memory(r);
    return;
  }
  for (bool moved = true; moved && !r->fault.kind && r->warp_insns < end;) {
    moved = false;
    for (uint32_t n = 0; n < k->n_blocks && !r->fault.kind; n++) {
      sim_block *b = k->blocks[n];
      if (!b->live)
        continue;
      bool before = r->progress;
      r->progress = false;
      sim_block_run(r, b, SIM_BLOCK_QUANTUM);
      moved |= r->progress && b->live;
      r->progress |= before;
    }
    if (k->n_blocks == 1)
      break;
  }
  for (uint32_t n = 0; n < k->n_blocks; n++)
    if (!k->blocks[n]->live)
      sim_block_release(r->device, k->blocks[n]);
}

/* Neighbours on the list are neighbours in memory as a rule, and the processor has fetched what comes next:
 * so a worker takes a run of them, the shorter the fewer are left. */
static bool take(sim_workers *w, uint32_t *first, uint32_t *end) {
  *first = atomic_load(&w->next);
  do {
    if (*first >= w->n_list)
      return false;
    *end = *first + 1 + (w->n_list - *first) / (4 * w->n);
  } while (!atomic_compare_exchange_weak(&w->next, first, *end));
  return true;
}

static void work(sim_workers *w, sim_run *r) {
  uint32_t k, end;
  while (!r->fault.kind && take(w, &k, &end))
    for (; k < end && !r->fault.kind; k++)
      run_cluster(r, w->list[k]);
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Some tens of microseconds at most, and not while somebody else wants the core. */
enum { LOOKS = 32, LOOK_LENGTH = 64 };

static void look_for_round(sim_workers *w, uint64_t seen) {
  for (unsigned k = 0; k < LOOKS; k++) {
    for (unsigned n = 0; n < LOOK_LENGTH; n++) {
      if (atomic_load_explicit(&w->round, memory_order_relaxed) != seen)
        return;
      relax();
    }
    thrd_yield();
  }
}

static void look_for_end(sim_workers *w) {
  for (unsigned k = 0; k < LOOKS; k++) {
    for (unsigned n = 0; n < LOOK_LENGTH; n++) {
      if (!atomic_load_explicit(&w->busy, memory_order_relaxed))
        return;
      relax();
    }
    thrd_yield();
  }
}

static int worker(void *user) {
  start s = *(start *)user;
  sim_workers *w = s.w;
  free(user);
  sim_float_default();
  mtx_lock(&w->lock);
  for (uint64_t seen = 0;;) {
    if (w->round == seen && !w->quit) {
      mtx_unlock(&w->lock);
      look_for_round(w, seen);
      mtx_lock(&w->lock);
    }
    w->asleep++;
    while (w->round == seen && !w->quit)
      cnd_wait(&w->go, &w->lock);
    w->asleep--;
    if (w->quit)
      break;
    seen = w->round;
    if (!w->open)
      continue;
    w->busy++;
    mtx_unlock(&w->lock);
    work(w, w->runs[s.index]);
    mtx_lock(&w->lock);
    w->open = false; /* nothing left to take, or a fault */
    if (--w->busy == 0)
      cnd_signal(&w->done);
  }
  mtx_unlock(&w->lock);
  return 0;
}

/* ------------------------------------------------------------------ the pool */

void sim_workers_free(sim_workers *w) {
  if (!w)
    return;
  mtx_lock(&w->lock);
  w->quit = true;
  cnd_broadcast(&w->go);
  mtx_unlock(&w->lock);
  for (uint32_t k = 0; k < w->n_threads; k++)
    thrd_join(w->threads[k], NULL);
  for (uint32_t k = 1; w->runs && k < w->n; k++)
    free(w->runs[k]);
  cnd_destroy(&w->go);
  cnd_destroy(&w->done);
  mtx_destroy(&w->lock);
  free(w->threads);
  free(w->runs);
  free(w->list);
  free(w);
}

sim_workers *sim_workers_new(sim_device *d, uint32_t n) {
  sim_workers *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->device = d, w->n = n;
  mtx_init(&w->lock, mtx_plain);
  cnd_init(&w->go);
  cnd_init(&w->done);
  w->runs = calloc(n, sizeof *w->runs);
  w->threads = calloc(n, sizeof *w->threads);
  bool ok = w->runs && w->threads;
  for (uint32_t k = 0; k < n && ok; k++)
    ok = (w->runs[k] = k ? sim_run_new(d) : d->run) != NULL;
  for (uint32_t k = 1; k < n && ok; k++) {
    start *s = malloc(sizeof *s);
    if (s)
      *s = (start){w, k};
    ok = s && thrd_create(&w->threads[w->n_threads], worker, s) == thrd_success;
    if (ok)
      w->n_threads++;
    else
      free(s);
  }
  if (!ok) {
    sim_workers_free(w);
    return NULL;
  }
  return w;
}

/* Blocks of the same cluster follow each other in no order: a cluster is listed with its first block that
 * runs. */
static bool make_list(sim_workers *w) {
  const sim_device *d = w->device;
  sim_block *b = d->current;
  w->n_list = 0;
  do {
    bool first = true;
    for (uint32_t n = 0; n < b->rank && first; n++)
      first = b->cluster->blocks[n]->ended;
    if (first) {
      if (w->n_list == w->cap_list) {
        uint32_t more = w->cap_list ? w->cap_list * 2 : 256;
        sim_cluster **p = realloc(w->list, more * sizeof *p);
        if (!p)
          return false;
        w->list = p, w->cap_list = more;
      }
      w->list[w->n_list++] = b->cluster;
    }
    b = b->next;
  } while (b != d->current);
  return true;
}

void sim_workers_sum(const sim_workers *w, sim_stats *out) {
  for (uint32_t k = 1; k < w->n; k++)
    sim_stats_add(w->runs[k], out);
}

/* One round. Returns the run that met a fault, or NULL; *progress: somebody moved. */
sim_run *sim_workers_round(sim_workers *w, bool *progress, uint64_t *used) {
  if (!make_list(w)) {
    sim_no_memory(w->device->run);
    return w->device->run;
  }
  uint64_t now = sim_now(w->device->run);
  *used = 0;
  for (uint32_t k = 0; k < w->n; k++) {
    sim_run *r = w->runs[k];
    r->progress = r->yield = false;
    r->ticks += now - sim_now(r); /* all see one clock at the round's begin */
    *used -= r->warp_insns;
  }
  atomic_store(&w->next, 0);
  if (w->n_list > 1) {
    mtx_lock(&w->lock);
    w->open = true;
    w->round++;
    if (w->asleep)
      cnd_broadcast(&w->go);
    mtx_unlock(&w->lock);
  }
  work(w, w->runs[0]);
  if (w->n_list > 1) {
    mtx_lock(&w->lock);
    w->open = false;
    if (w->busy) {
      mtx_unlock(&w->lock);
      look_for_end(w);
      mtx_lock(&w->lock);
    }
    while (w->busy)
      cnd_wait(&w->done, &w->lock);
    mtx_unlock(&w->lock);
  }
  sim_run *fault = NULL;
  uint64_t latest = 0;
  *progress = false;
  for (uint32_t k = 0; k < w->n; k++) {
    sim_run *r = w->runs[k];
    *progress |= r->progress;
    *used += r->warp_insns;
    if (r->fault.kind && !fault)
      fault = r;
    latest = sim_now(r) > latest ? sim_now(r) : latest;
  }
  w->device->run->ticks += latest - sim_now(w->device->run);
  return fault;
}
