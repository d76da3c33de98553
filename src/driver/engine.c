/* engine.c: the lock, and the device's own threads. One thread takes operations from the streams in their
 * turn and runs the machines of all devices in slices, so that the order of things is the same in every run;
 * another one calls the program's host functions back, since those may take their time or wait for a running
 * kernel.
 *
 * A hang is proven when nothing can move: no operation has its turn, no host function runs, every machine
 * says that it is stuck, and every host thread that uses the device is inside a wait here. Where kernels wait
 * for words that the host can write, that is no proof while the process has a thread besides those. A host
 * that asks again and again whether the work is over is not inside a wait: it may do something yet. The
 * inspection says what it has found of such a hang, and the program goes on.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "driver/drv.h"

enum {
  SLICE = 1 << 16,           /* warp instructions between looks at the queues */
  POLL_LEAST_NS = 20 * 1000, /* how often to look at words that the host may write */
  POLL_MOST_NS = 2000 * 1000,
  STILL_NS = 1500 * 1000 * 1000, /* nothing moved and the host only asks: a hang */
  LOOK_NS = 100 * 1000 * 1000,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t to_engine = PTHREAD_COND_INITIALIZER;
static pthread_cond_t to_caller = PTHREAD_COND_INITIALIZER;
static atomic_uint wanting; /* host threads that want the lock now */
static bool started;
static bool engine_waits;

/* A host thread inside a wait. Who finishes something looks whether it is over, and wakes only those for whom
 * it is. */
typedef struct waiter {
  struct waiter *next;
  drv_device *device;
  bool (*done)(void *user);
  void *user;
  bool over;
  pthread_cond_t wake;
} waiter;
static waiter *waiters;

static bool ended;      /* the process is */
static drv_op *to_call; /* for the calling thread */
static drv_op abandoned;
static bool calling;
static unsigned own_threads;

/* ------------------------------------------------------------------ the lock */

void drv_lock(void) {
  atomic_fetch_add(&wanting, 1);
  pthread_mutex_lock(&lock);
  atomic_fetch_sub(&wanting, 1);
}

void drv_unlock(void) {
  pthread_mutex_unlock(&lock);
}

void drv_lock_reset(void) {
  pthread_mutex_init(&lock, NULL);
  atomic_store(&wanting, 0);
}

/* Between slices: lets those in who wait for the lock. A mutex alone would let the engine take it back at
 * once. */
static void give_way(bool told_somebody) {
  if (!told_somebody && atomic_load(&wanting) == 0)
    return;
  pthread_mutex_unlock(&lock);
  if (told_somebody) /* who was woken does not count as wanting it yet */
    nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
  while (atomic_load(&wanting) > 0)
    sched_yield();
  pthread_mutex_lock(&lock);
}

/* True if somebody was woken. */
static bool tell_hosts(void) {
  bool told = false;
  for (waiter *w = waiters; w; w = w->next)
    if (!w->over && (ended || w->device->sticky || w->done(w->user))) {
      w->over = told = true;
      drv_blocked--; /* from now on, not when it gets to run: what it does next may be what others wait for */
      pthread_cond_signal(&w->wake);
    }
  return told;
}

void drv_wake(void) {
  for (int i = 0; i < drv_device_count; i++)
    drv_devices[i].poked = true;
  if (engine_waits)
    pthread_cond_signal(&to_engine);
  tell_hosts();
}

CUresult drv_wait(drv_device *d, bool (*done)(void *user), void *user) {
  if (d->sticky || done(user))
    return d->sticky;
  /* One thread more is blocked: perhaps that proves a hang. But what it wrote before has to be looked at
   * first. */
  waiter self = {.next = waiters, .device = d, .done = done, .user = user, .wake = PTHREAD_COND_INITIALIZER};
  waiters = &self;
  drv_blocked++;
  drv_wake();
  while (!self.over)
    pthread_cond_wait(&self.wake, &lock);
  waiter **at = &waiters;
  while (*at != &self)
    at = &(*at)->next;
  *at = self.next;
  pthread_cond_destroy(&self.wake);
  return ended ? CUDA_ERROR_DEINITIALIZED : d->sticky;
}

/* ------------------------------------------------------------------ calling back */

static void *caller(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  drv_thread *self = drv_self();
  if (self) {
    self->is_device = true;
    drv_threads--;
  }
  for (;;) {
    while (!to_call)
      pthread_cond_wait(&to_caller, &lock);
    drv_op *op = to_call;
    CUresult status = op->stream->context->device->sticky;
    CUstream stream = op->stream;
    CUhostFn host = op->call.host;
    CUstreamCallback callback = op->call.callback;
    void *user = op->call.user;
    pthread_mutex_unlock(&lock);
    if (host)
      host(user);
    else
      callback(stream, status, user);
    pthread_mutex_lock(&lock);
    if (to_call == op)
      drv_op_done(op);
    else /* its stream was ended meanwhile */
      drv_op_free(op);
    to_call = NULL;
    calling = false;
    drv_wake();
  }
  return NULL;
}

static bool start_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int error = pthread_create(&thread, &attributes, run, NULL);
  pthread_attr_destroy(&attributes);
  if (error)
    muster_session_say(MUSTER_MESSAGE_FAILURE, "the device's thread cannot be made: %s", strerror(error));
  own_threads += error == 0;
  return error == 0;
}

static bool start_call(drv_op *op) {
  static bool has_caller;
  if (calling)
    return false;
  if (!has_caller && !(has_caller = start_thread(caller)))
    return false;
  calling = op->running = true;
  to_call = op;
  pthread_cond_signal(&to_caller);
  return true;
}

/* ------------------------------------------------------------------ operations */

static bool word_reached(const drv_op *op) {
  uint64_t now = 0;
  if (op->word.bytes == 4)
    now = __atomic_load_n((uint32_t *)(uintptr_t)op->word.address, __ATOMIC_ACQUIRE);
  else
    now = __atomic_load_n((uint64_t *)(uintptr_t)op->word.address, __ATOMIC_ACQUIRE);
  switch (op->word.flags & 3) {
  case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic */
    return op->word.bytes == 4 ? (int32_t)((uint32_t)now - (uint32_t)op->word.value) >= 0
                               : (int64_t)(now - op->word.value) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ:
    return now == op->word.value;
  case CU_STREAM_WAIT_VALUE_AND:
    return (now & op->word.value) != 0;
  default: {
    uint64_t mask = op->word.bytes == 4 ? UINT32_MAX : UINT64_MAX;
    return (~(now | op->word.value) & mask) != 0;
  }
  }
}

static void start_launch(drv_device *d, drv_op *op) {
  const drv_launch *l = &op->launch;
  sim_launch launch = {
      .kernel = l->function->kernel,
      .dynamic_shared = l->shared_bytes,
      .params = l->params,
      .cooperative = l->cooperative,
      .stream = op->stream->id,
      .order = op->number,
      .priority = (uint32_t)-l->priority,
      .user = op,
  };
  memcpy(launch.grid, l->grid, sizeof launch.grid);
  memcpy(launch.block, l->block, sizeof launch.block);
  memcpy(launch.cluster, l->cluster, sizeof launch.cluster);
  char *error = NULL;
  drv_rerun_add(d, &launch);
  op->launch_id = sim_launch_start(d->sim, &launch, &error);
  if (op->launch_id == 0) {
    muster_session_say(MUSTER_MESSAGE_ERROR, "%s cannot be launched: %s", l->function->plain,
                       error ? error : "out of memory");
    free(error);
    d->sticky = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return;
  }
  op->running = true;
  drv_inspect_launched(d, op);
  if (muster_session_get()->stats) {
    sim_stats now;
    sim_device_stats(d->sim, &now);
    op->thread_insns = now.thread_insns;
    op->warp_insns = now.warp_insns;
  }
  d->running++;
  d->state = SIM_BUDGET;
  d->extra_ns += 2000;
}

/* Runs or starts the first operation of a stream, which has its turn. False: it has to wait for something
 * else. */
static bool step(drv_stream *s) {
  drv_op *op = s->first;
  drv_device *d = s->context->device;
  switch (op->kind) {
  case DRV_OP_LAUNCH:
    start_launch(d, op);
    return true;
  case DRV_OP_CALL:
    return start_call(op);
  case DRV_OP_WAIT:
    if (!op->record->done)
      return false;
    break;
  case DRV_OP_WAIT_VALUE:
    if (!word_reached(op))
      return false;
    break;
  case DRV_OP_WRITE_VALUE:
    if (op->word.bytes == 4)
      __atomic_store_n((uint32_t *)(uintptr_t)op->word.address, (uint32_t)op->word.value, __ATOMIC_RELEASE);
    else
      __atomic_store_n((uint64_t *)(uintptr_t)op->word.address, op->word.value, __ATOMIC_RELEASE);
    break;
  case DRV_OP_RECORD:
    d->extra_ns += 500; /* two recordings with nothing between are not at the same time */
    op->record->ns = drv_clock(d);
    op->record->done = true;
    break;
  case DRV_OP_COPY:
    drv_do_copy(d, op);
    break;
  case DRV_OP_FILL:
    drv_do_fill(d, op);
    break;
  case DRV_OP_FREE:
    drv_memory_release(op->address);
    break;
  case DRV_OP_NONE:
    break;
  }
  drv_op_done(op);
  return true;
}

typedef enum pass { LAUNCHES = 1, OTHERS = 2 } pass;

static bool step_streams(drv_device *d, unsigned what) {
  bool moved = false;
  for (drv_context *c = d->contexts; c; c = c->next)
    for (drv_stream *s = c->streams, *next; s; s = next) {
      next = s->next;
      while (s->first && !s->first->running && what & (s->first->kind == DRV_OP_LAUNCH ? LAUNCHES : OTHERS) &&
             d->sticky == CUDA_SUCCESS && drv_op_turn(s) && step(s))
        moved = true;
      if (s->destroyed && !s->first && !s->waiters)
        drv_stream_free(s);
    }
  return moved;
}

/* Something that has its turn and has not begun. */
static bool waits_to_begin(const drv_device *d, bool launches_only) {
  for (const drv_context *c = d->contexts; c; c = c->next)
    for (const drv_stream *s = c->streams; s; s = s->next)
      if (s->first && !s->first->running && drv_op_turn(s) &&
          (!launches_only || s->first->kind == DRV_OP_LAUNCH))
        return true;
  return false;
}

/* Launches that will run again begin together, and nothing else until they are done. */
static bool step_set(drv_device *d) {
  if (d->set_open)
    return d->set_released && step_streams(d, LAUNCHES | OTHERS);
  bool moved = step_streams(d, OTHERS);
  if (d->running || d->sticky || !waits_to_begin(d, true))
    d->gate_ns = 0;
  else if (drv_rerun_gate(d)) {
    drv_rerun_begin(d);
    moved |= step_streams(d, LAUNCHES);
    if (!d->running)
      drv_rerun_drop(d);
  }
  return moved;
}

static bool step_all(void) {
  bool moved = false;
  for (int i = 0; i < drv_device_count; i++) {
    drv_device *d = &drv_devices[i];
    moved |= drv_rerun_wanted(d) ? step_set(d) : step_streams(d, LAUNCHES | OTHERS);
    if (d->sticky && d->running == 0)
      drv_drop_work(d);
  }
  return moved;
}

/* Nobody moves: perhaps a set waits for what stands behind it. */
static bool release_sets(void) {
  bool released = false;
  for (int i = 0; i < drv_device_count; i++) {
    drv_device *d = &drv_devices[i];
    if (d->set_open && (d->n_ended || waits_to_begin(d, false)))
      released |= drv_rerun_release(d);
  }
  return released;
}

/* Everything of a stream is over, as far as anybody can tell who waits for it. */
static void drop_stream(drv_stream *s) {
  while (s->first) {
    drv_op *op = s->first;
    if (op->kind == DRV_OP_RECORD)
      op->record->done = true;
    if (op->kind == DRV_OP_CALL && to_call == op) {
      s->first = op->next; /* the calling thread has it in its hands, and frees it */
      to_call = &abandoned;
      continue;
    }
    drv_op_done(op);
  }
  s->end = &s->first;
}

void drv_drop_context_work(drv_context *c) {
  for (drv_stream *s = c->streams; s; s = s->next)
    drop_stream(s);
}

void drv_drop_work(drv_device *d) {
  for (drv_context *c = d->contexts; c; c = c->next)
    drv_drop_context_work(c);
}

/* ------------------------------------------------------------------ the machines */

static void fail(drv_device *d, CUresult r) {
  d->sticky = r;
  d->running = 0;
  drv_rerun_drop(d);
  d->state = SIM_IDLE;
  drv_drop_work(d);
}

/* One slice. True if somebody may have to be told. */
static bool run_machine(drv_device *d, bool *moved) {
  sim_status status;
  d->poked = false;
  sim_device_run(d->sim, SLICE, &status);
  d->state = status.state;
  *moved |= status.used > 0;
  switch (status.state) {
  case SIM_DONE:
    d->running--;
    drv_say_stats(d, status.user);
    if (!drv_rerun_ended(d, status.user))
      drv_op_done(status.user);
    *moved = true;
    return true;
  case SIM_FAULTED:
    drv_say_fault(d, &status.fault);
    fail(d, drv_fault_result(&status.fault));
    *moved = true;
    return true;
  case SIM_IDLE: /* its launches are gone without a word */
    muster_session_say(MUSTER_MESSAGE_FAILURE, "device %d lost %u launches", d->ordinal, d->running);
    fail(d, CUDA_ERROR_UNKNOWN);
    *moved = true;
    return true;
  case SIM_BUDGET:
    *moved = true;
    return false;
  case SIM_ASLEEP:
  case SIM_STUCK:
    return false;
  }
  return false;
}

static bool can_run(const drv_device *d) {
  if (d->running == 0 || d->sticky)
    return false;
  return d->poked || (d->state != SIM_STUCK && d->state != SIM_ASLEEP);
}

static bool any_can_run(void) {
  for (int i = 0; i < drv_device_count; i++)
    if (can_run(&drv_devices[i]))
      return true;
  return false;
}

/* ------------------------------------------------------------------ proving a hang */

/* Threads of this process; 0 if that cannot be told. */
static unsigned process_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  unsigned n = 0;
  if (!tasks)
    return 0;
  for (const struct dirent *e; (e = readdir(tasks)) != NULL;)
    n += e->d_name[0] != '.';
  closedir(tasks);
  return n;
}

/* What the device waits for, once nothing moves: a stream for a word, or a machine. */
static bool waits_for_host_word(void) {
  for (int i = 0; i < drv_device_count; i++) {
    const drv_device *d = &drv_devices[i];
    if (d->running && d->state == SIM_ASLEEP)
      return true;
    for (const drv_context *c = d->contexts; c; c = c->next)
      for (const drv_stream *s = c->streams; s; s = s->next)
        if (s->first && s->first->kind == DRV_OP_WAIT_VALUE)
          return true;
  }
  return false;
}

static bool has_work(void) {
  for (int i = 0; i < drv_device_count; i++)
    for (const drv_context *c = drv_devices[i].contexts; c; c = c->next)
      for (const drv_stream *s = c->streams; s; s = s->next)
        if (s->first)
          return true;
  return false;
}

static const uint64_t LAST_LAUNCHES_NS = UINT64_C(10000000000);
static uint64_t ending_until; /* the program is leaving, and what it launched is still judged; 0: not yet */

static bool hang_proven(void) {
  if (ending_until || calling || drv_threads == 0 || drv_blocked < drv_threads || !has_work())
    return false;
  if (!waits_for_host_word())
    return true;
  const muster_session *session = muster_session_get();
  bool works = session->threads > 1 && !session->check; /* what is watched runs on one */
  unsigned workers = works ? session->threads * (unsigned)drv_device_count : 0;
  unsigned all = process_threads();
  return all > 0 && all <= drv_threads + own_threads + workers;
}

static bool hang_told;
static bool is_stuck(const drv_device *d) {
  return d->check && d->running && d->state == SIM_STUCK && !d->sticky;
}

/* The inspection tells once who waits for whom, until something moves again. */
static void tell_hang(void) {
  for (int i = 0; i < drv_device_count && !hang_told; i++)
    if (is_stuck(&drv_devices[i]))
      check_stuck(drv_devices[i].check);
  hang_told = true;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nothing moves, and that is no proof. True: look again soon. */
static bool suspect_hang(bool moved) {
  static uint64_t since, polls;
  bool stuck = false;
  if (moved)
    since = 0, hang_told = false;
  for (int i = 0; i < drv_device_count; i++)
    stuck |= is_stuck(&drv_devices[i]);
  if (moved || hang_told || !stuck || calling)
    return false;
  if (!since)
    since = now_ns(), polls = drv_polls;
  else if (now_ns() - since > STILL_NS && drv_polls != polls)
    tell_hang();
  return true;
}

static void end_hang(void) {
  tell_hang();
  for (int i = 0; i < drv_device_count; i++)
    if (!drv_devices[i].check && drv_devices[i].contexts)
      drv_say_hang(&drv_devices[i]);
  if (muster_session_get()->exit_on_hang) {
    for (int i = 0; i < drv_device_count; i++)
      drv_print(&drv_devices[i]);
    if (ftrylockfile(stdout) == 0) {
      fflush(stdout);
      funlockfile(stdout);
    }
    _exit(124);
  }
  for (int i = 0; i < drv_device_count; i++) {
    drv_device *d = &drv_devices[i];
    if (!d->sim)
      continue;
    sim_device_stop(d->sim);
    fail(d, CUDA_ERROR_LAUNCH_TIMEOUT);
  }
  drv_wake();
}

/* ------------------------------------------------------------------ the engine */

/* Launches wait to see what the host does next. */
static bool gate_shut(void) {
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].gate_ns)
      return true;
  return false;
}

static void wait_for_more(long *poll_ns) {
  struct timespec until;
  bool look = suspect_hang(false);
  engine_waits = true;
  if (!waits_for_host_word() && !look && !gate_shut()) {
    pthread_cond_wait(&to_engine, &lock);
  } else {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += waits_for_host_word() ? *poll_ns : LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    if (pthread_cond_timedwait(&to_engine, &lock, &until) == ETIMEDOUT && waits_for_host_word()) {
      for (int i = 0; i < drv_device_count; i++)
        drv_devices[i].poked = true;
      *poll_ns = *poll_ns * 2 < POLL_MOST_NS ? *poll_ns * 2 : POLL_MOST_NS;
    }
  }
  engine_waits = false;
}

static void *engine(void *unused) {
  (void)unused;
  long poll_ns = POLL_LEAST_NS;
  pthread_mutex_lock(&lock);
  drv_thread *self = drv_self();
  if (self) {
    self->is_device = true;
    drv_threads--;
  }
  while (!ended) {
    bool moved = false, tell = step_all();
    for (int i = 0; i < drv_device_count; i++)
      if (can_run(&drv_devices[i]))
        tell |= run_machine(&drv_devices[i], &moved);
    moved |= tell;
    if (moved) { /* one device's writes may be what another one waits for */
      poll_ns = POLL_LEAST_NS;
      for (int i = 0; drv_device_count > 1 && i < drv_device_count; i++)
        drv_devices[i].poked = true;
    }
    bool told = (tell || ending_until) && tell_hosts();
    if (moved)
      suspect_hang(true);
    if (moved)
      give_way(told && any_can_run());
    else if (release_sets())
      continue;
    else if (hang_proven())
      end_hang();
    else
      wait_for_more(&poll_ns);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

bool drv_ended(void) {
  return ended;
}

static bool is_over(void *device) {
  return !has_work() || is_stuck(device) || now_ns() > ending_until;
}

/* A program that leaves without waiting for its launches: a GPU has begun them by then, so they are
 * inspected, as far as they come to an end soon. */
static void let_end(void) {
  for (int i = 0; i < drv_device_count; i++) {
    drv_device *d = &drv_devices[i];
    if (!d->check || !has_work())
      continue;
    ending_until = now_ns() + LAST_LAUNCHES_NS;
    drv_wait(d, is_over, d);
    if (now_ns() > ending_until)
      muster_session_say(MUSTER_MESSAGE_UNJUDGED, "the program ended before what it had launched");
  }
}

/* Runs before what the program registered before cuInit: handlers that free device memory or unload its code
 * find a driver that is gone, and do not wait for kernels that still run. */
static void end(void) {
  drv_lock();
  let_end();
  tell_hang(); /* if there is one: nobody will wait for it */
  for (int i = 0; i < drv_device_count; i++)
    drv_inspect_ending(&drv_devices[i]);
  ended = true;
  drv_wake();
  drv_unlock();
}

void drv_engine_start(void) {
  if (!started && (started = start_thread(engine)))
    atexit(end);
}
