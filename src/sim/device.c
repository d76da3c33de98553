/* device.c: a device's life, and its loop: whose turn it is among the resident blocks, whom the clock wakes,
 * and what it means when nobody can move.
 *
 * Invariant: SIM_STUCK is said only after every resident block had a turn in which nothing ran and no watched
 * word differed, with no unit that time alone would wake and no word that the host may write.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ vector levels */

#if defined(__x86_64__)
extern const sim_level sim_level_v2, sim_level_v3, sim_level_v4;
static const sim_level *const levels[] = {&sim_level_v4, &sim_level_v3, &sim_level_v2};
#else
extern const sim_level sim_level_base;
static const sim_level *const levels[] = {&sim_level_base};
#endif
static const sim_level *chosen;

static bool has_level(const sim_level *l) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (l == &sim_level_v4)
    return __builtin_cpu_supports("x86-64-v4");
  if (l == &sim_level_v3)
    return __builtin_cpu_supports("x86-64-v3");
  return __builtin_cpu_supports("x86-64-v2");
#else
  (void)l;
  return true;
#endif
}

static const sim_level *level(void) {
  for (unsigned k = 0; !chosen && k < BASE_COUNT(levels); k++)
    if (has_level(levels[k]))
      chosen = levels[k];
  return chosen;
}

const char *sim_vector_level(void) {
  return level() ? level()->name : "none";
}

bool sim_vector_level_set(const char *name) {
  for (unsigned k = 0; k < BASE_COUNT(levels); k++)
    if (!strcmp(levels[k]->name, name) && has_level(levels[k])) {
      chosen = levels[k];
      return true;
    }
  return false;
}

/* ------------------------------------------------------------------ life */

sim_run *sim_run_new(sim_device *d) {
  sim_run *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
  if (!r)
    return NULL;
  memset(r, 0, sizeof *r);
  r->device = d;
  r->memory = &d->memory;
  r->ctx.run = r;
  return r;
}

sim_device *sim_device_new(const sim_options *options) {
  sim_device *d = calloc(1, sizeof *d);
  if (!d)
    return NULL;
  d->options = *options;
  sim_limits *l = &d->options.limits;
  if (!l->sms)
    l->sms = 1;
  d->grids_end = &d->grids;
  d->level = level();
  d->random = options->seed;
  d->clock_step = 1000;
  if (l->gpc_sms) {
    uint8_t *copy = malloc(l->n_gpcs + 1);
    if (copy)
      memcpy(copy, l->gpc_sms, l->n_gpcs);
    l->gpc_sms = copy;
  }
  d->sms = calloc(l->sms + 1, sizeof *d->sms);
  mtx_init(&d->lock, mtx_plain);
  d->run = sim_run_new(d);
  bool ok = d->level && d->sms && d->run && (!options->limits.gpc_sms || l->gpc_sms) &&
            sim_memory_init(&d->memory, options->memory_bytes, options->device_index);
  if (!ok) {
    free(d->sms);
    free(d->run);
    free((void *)l->gpc_sms);
    free(d);
    return NULL;
  }
  sim_sms_fill(d);
  if (options->workers > 1)
    d->workers = sim_workers_new(d, options->workers); /* without: it goes on alone */
  return d;
}

void sim_device_free(sim_device *d) {
  if (!d)
    return;
  sim_drop_all(d);
  sim_workers_free(d->workers);
  sim_memory_end(&d->memory);
  free(d->origins);
  mtx_destroy(&d->lock);
  free(d->sms);
  sim_seats_free(&d->seats);
  free(d->run);
  free((void *)d->options.limits.gpc_sms);
  free(d);
}

void sim_device_watch(sim_device *d, const sim_watcher *w) {
  d->watcher = w;
  d->memory.exact = w && w->allow;
  if (w && w->watch & SIM_WATCH_DEFINED && !sim_define_begin(d))
    d->watcher = NULL; /* no memory to watch with */
}

void sim_tell(sim_device *d, const sim_event *e) {
  if (d->watcher && d->watcher->event)
    d->watcher->event(d->watcher->user, e);
}

void sim_device_mute(sim_device *d, bool muted) {
  d->muted = muted;
}

void sim_device_stop(sim_device *d) {
  sim_drop_all(d);
  sim_sms_fill(d);
}

void sim_device_stats(const sim_device *d, sim_stats *out) {
  *out = d->stats;
  sim_stats_add(d->run, out);
  if (d->workers)
    sim_workers_sum(d->workers, out);
  out->clock = sim_now(d->run);
}

void sim_stats_add(const sim_run *r, sim_stats *to) {
  to->warp_insns += r->warp_insns;
  to->thread_insns += r->thread_insns;
  to->blocks += r->stats.blocks;
  to->loops_slept += r->stats.loops_slept;
  to->fragments_split += r->stats.fragments_split;
}

uint64_t sim_clock(const sim_device *d) {
  return sim_now(d->run);
}

/* splitmix64: every number that is not determined comes from here. */
uint64_t sim_random(sim_device *d) {
  uint64_t z = d->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* ------------------------------------------------------------------ a block's turn */

static void wake_unit(sim_run *r, sim_warp *w, sim_unit *u) {
  if (u->state == SIM_RESTS) {
    if (sim_now(r) < u->wake)
      return;
    sim_unit_state_set(w, u, SIM_READY);
    return;
  }
  if (!u->polls && !sim_probe_wakes(r->device, u))
    return;
  sim_unit_state_set(w, u, SIM_READY);
  r->warp = w, r->unit = u;
  if (u->polls) { /* round once more, looked at: it may have seen what it waited for */
    bool changed = sim_probe_wakes(r->device, u);
    sim_probe_begin(r, u);
    u->polls = !changed;
  } else {
    u->loops = 0, u->next_probe = 2;
    if (sim_watches(r, SIM_WATCH_SYNC))
      sim_say(r, &(sim_event){.kind = SIM_EVENT_WAKE}, u->mask, u->pc);
  }
}

void sim_block_wake(sim_run *r, sim_block *b, uint32_t warps) {
  SIM_EACH(w, warps)
  SIM_EACH(k, b->warps[w].asleep)
  wake_unit(r, &b->warps[w], &b->warps[w].units[k]);
}

static uint32_t next_warp(const sim_block *b, uint32_t left) {
  return sim_first(b->turn < SIM_WARP && left >> b->turn ? left >> b->turn << b->turn : left);
}

/* Sets r->progress if it got anywhere. */
void sim_block_run(sim_run *r, sim_block *b, uint64_t quantum) {
  bool progress = false;
  uint64_t end = r->warp_insns + quantum;
  sim_block_enter(r, b);
  r->yield = false;
  do {
    progress |= r->progress;
    r->progress = false;
    if (b->asleep)
      sim_block_wake(r, b, b->asleep);
    if (!b->ready)
      break;
    uint32_t left = b->ready; /* each warp that is ready now gets one turn */
    while (left && !r->fault.kind && !r->yield) {
      uint32_t w = next_warp(b, left), gang = sim_gang_of(r, b, w, left);
      left &= ~(UINT32_C(1) << w) & ~gang;
      b->turn = w + 1;
      if (gang)
        sim_gang_run(r, b, gang);
      else
        sim_warp_run(r, &b->warps[w], SIM_WARP_QUANTUM);
      left &= b->ready;
    }
  } while (b->live && !r->fault.kind && !r->yield && r->progress && r->warp_insns < end);
  r->progress |= progress;
}

/* ------------------------------------------------------------------ nobody moved */

/* Earliest time at which a resting unit wakes; what else there is besides. */
typedef struct idle {
  uint64_t wake;
  bool rests, polls, host;
} idle;

static void look_idle(const sim_device *d, idle *out) {
  *out = (idle){.wake = UINT64_MAX};
  const sim_block *b = d->current;
  do {
    for (uint32_t w = 0; b->started && w < b->n_warps; w++)
      SIM_EACH(k, b->warps[w].asleep) {
        const sim_unit *u = &b->warps[w].units[k];
        if (u->state == SIM_RESTS) {
          out->rests = true;
          out->wake = u->wake < out->wake ? u->wake : out->wake;
        } else {
          out->polls |= u->polls;
          out->host |= u->probe->host;
        }
      }
    b = b->next;
  } while (b != d->current);
}

/* The clock jumps, ever farther while only the clock moves anybody. False: it would not help. */
static bool jump(sim_device *d, const idle *i) {
  uint64_t now = sim_now(d->run), to = now;
  if (!i->rests && !i->polls)
    return false;
  if (i->polls)
    to = now + d->clock_step;
  if (i->rests && (!i->polls || i->wake < to))
    to = i->wake > now ? i->wake : now;
  d->clock += to - now;
  if (i->polls && d->clock_step < UINT64_C(1) << 40)
    d->clock_step *= 2;
  return true;
}

/* ------------------------------------------------------------------ the loop */

void sim_end_grid(sim_device *d, sim_grid *g, sim_status *out) {
  sim_grid **at = &d->grids;
  while (*at != g)
    at = &(*at)->next;
  *at = g->next;
  if (!*at)
    d->grids_end = at;
  out->state = SIM_DONE;
  out->launch = g->id;
  out->user = g->launch.user;
  if (d->current)
    sim_grid_ended(d->run, g->id);
  if (d->watcher && d->watcher->event) {
    sim_event e = {.kind = SIM_EVENT_LAUNCH_END,
                   .who = {.launch = g->id},
                   .launch = {.launch = &g->launch, .fit = g->fit}};
    d->watcher->event(d->watcher->user, &e);
  }
  sim_grid_free(d, g);
}

void sim_end_all(sim_device *d, sim_run *r, sim_status *out) {
  out->state = SIM_FAULTED;
  out->fault = r->fault;
  if (r->grid) {
    out->launch = r->grid->id;
    out->user = r->grid->launch.user;
  }
  sim_drop_all(d);
  sim_sms_fill(d);
  sim_origins_forget(d->origins);
  sim_run *own = d->run;
  own->block = r->block = NULL, own->grid = r->grid = NULL, own->warp = r->warp = NULL,
  own->unit = r->unit = NULL;
  memset(&own->fault, 0, sizeof own->fault);
  memset(&r->fault, 0, sizeof r->fault);
}

void sim_no_memory(sim_run *r) {
  if (!r->fault.kind) {
    r->fault.kind = SIM_FAULT_MEMORY;
    strcpy(r->fault.text, "the machine that runs this device has run out of memory");
  }
}

/* Nobody moved: what now? False: *out says it. */
bool sim_wait_for_time(sim_device *d, sim_status *out) {
  idle i;
  look_idle(d, &i);
  if (i.host) { /* time passes with the host's, as well as can be: not faster */
    d->clock += 1000;
    out->state = SIM_ASLEEP;
    return false;
  }
  if (jump(d, &i))
    return true;
  out->state = SIM_STUCK;
  return false;
}

/* A block that ended, if there is one. */
static sim_block *find_ended(const sim_device *d) {
  sim_block *b = d->current;
  do {
    if (b && b->started && !b->live)
      return b;
    b = b ? b->next : NULL;
  } while (b != d->current);
  return NULL;
}

static void run_workers(sim_device *d, uint64_t budget, sim_status *out) {
  *out = (sim_status){.state = SIM_BUDGET};
  while (out->used < budget) {
    for (sim_block *b = find_ended(d); b; b = find_ended(d)) {
      sim_grid *g = b->grid;
      if (sim_block_end(d->run, b)) {
        sim_end_grid(d, g, out);
        return;
      }
    }
    if (!sim_admit(d))
      sim_no_memory(d->run);
    if (!d->current && !d->run->fault.kind) {
      out->state = SIM_IDLE;
      return;
    }
    bool progress = true;
    uint64_t used = 0;
    sim_run *fault = d->run->fault.kind ? d->run : sim_workers_round(d->workers, &progress, &used);
    out->used += used;
    if (fault) {
      sim_end_all(d, fault, out);
      return;
    }
    if (progress)
      d->clock_step = 1000;
    else if (!sim_wait_for_time(d, out))
      return;
  }
}

static void run(sim_device *d, uint64_t budget, sim_status *out) {
  sim_run *r = d->run;
  uint64_t begin = r->warp_insns, still = 0;
  *out = (sim_status){.state = SIM_BUDGET};
  while (r->warp_insns - begin < budget) {
    if (!sim_admit(d))
      sim_no_memory(r);
    if (!d->current && !r->fault.kind) {
      out->state = SIM_IDLE;
      break;
    }
    sim_block *b = d->current;
    r->progress = false;
    if (!r->fault.kind && !b->started && !sim_cluster_begin(r, b))
      sim_no_memory(r);
    if (!r->fault.kind)
      sim_block_run(r, b, SIM_BLOCK_QUANTUM);
    if (r->fault.kind) {
      sim_end_all(d, r, out);
      break;
    }
    if (!b->live) {
      sim_grid *g = b->grid;
      still = 0;
      if (sim_block_end(r, b)) {
        sim_end_grid(d, g, out);
        break;
      }
      continue;
    }
    d->current = b->next;
    if (r->progress) {
      still = 0;
      d->clock_step = 1000;
    } else if (++still >= d->n_resident) { /* everybody had a turn, and nobody moved */
      if (!sim_wait_for_time(d, out))
        break;
      still = 0;
    }
  }
  out->used = r->warp_insns - begin;
}

/* Programs may have changed how their threads compute (-ffast-math flushes subnormal numbers): handlers count
 * on the default. */
void sim_float_default(void) {
  fesetenv(FE_DFL_ENV);
}

void sim_device_run(sim_device *d, uint64_t budget, sim_status *out) {
  fenv_t before;
  fegetenv(&before);
  sim_float_default();
  if (d->watcher && d->watcher->watch & SIM_WATCH_CHOICES && d->watcher->choose)
    sim_run_chosen(d, budget, out);
  else if (d->workers && !d->watcher)
    run_workers(d, budget, out);
  else
    run(d, budget, out);
  fesetenv(&before);
}
