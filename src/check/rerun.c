/* rerun.c: sets of launches, run again from where they began, each time by another schedule.
 *
 * Invariant: outside of check_set_end the device is as the plain run left it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/schedule.h"
#include "check/share.h"

enum {
  SLICE = 1 << 16,        /* warp instructions */
  LONGER = 64,            /* a further schedule may take so many times as long as the plain run did, */
  LONGER_LEAST = 1 << 20, /* and at least so many warp instructions */
  SMALL = 16,             /* steps of a set all of whose executions may be tried, */
  SMALL_ORDERS = 64,      /* or all of whose orders, */
  SHORT = 1 << 18         /* with so many warp instructions */
};

typedef struct launch {
  sim_launch what;
  void *params;
} launch;

typedef struct check_set {
  bool open, once;
  launch *launches;
  uint32_t n, capacity;
  uint64_t first; /* id of its first launch */
  bool sited;     /* all instructions of its kernels have a site */
  sim_saved *before;
  uint64_t began, took; /* warp instructions: until then, and by the plain run */
  check_record *record;
  check_player *player; /* of the schedule under way; NULL: the plain run */
  uint64_t schedule;
  uint64_t run; /* the most of a set so far */
  bool some_left;
  bool fixed; /* nothing in it depends on more than input and order (fixed.c), and all of it is resident */
  bool replays, replayed; /* replayed: its launch has begun */
  bool other;             /* but runs another PTX: nothing is told */
  muster_replay replay;
} check_set;

/* ------------------------------------------------------------------ replays */

bool check_replay_of(const check *c, uint64_t id, char text[MUSTER_REPLAY_BYTES]) {
  const check_set *s = c->set;
  const check_launch *l = check_launch_of(c, id);
  uint64_t about = s->player ? s->first : id;
  text[0] = 0;
  if (s->replays && (s->other || about != s->replay.launch || s->schedule != s->replay.schedule))
    return false;
  if (!l)
    return true;
  muster_replay r = {.ptx = l->ptx, .launch = about, .schedule = s->schedule, .seed = c->options.seed};
  snprintf(r.gpu, sizeof r.gpu, "%s", c->options.gpu ? c->options.gpu : "");
  muster_replay_id(&r, text);
  return true;
}

static bool give_site(void *user, const sim_who *at) {
  return !at->insn || check_site_of(user, at) != 0;
}

static void take_launch(check *c, const sim_event *e) {
  check_set *s = c->set;
  uint64_t id = e->who.launch;
  const check_launch *l = check_launch_of(c, id);
  if (s->open && !s->player) {
    s->first = !s->first || id < s->first ? id : s->first;
    if (c->options.threads > 1) /* the same numbers in all processes that run schedules */
      s->sited &= check_each_insn(&e->who, give_site, c);
    s->fixed &= check_is_fixed(&e->who) && l && l->n_blocks <= e->launch.fit.blocks && !l->cluster[0];
  }
  if (!s->replays || id != s->replay.launch || !l)
    return;
  s->replayed = true;
  s->other = l->ptx != s->replay.ptx;
  if (s->other)
    check_unjudged(c, "--replay %s: launch %" PRIu64 " runs another PTX than it did then", c->options.replay,
                   id);
}

void check_set_over(check *c) {
  if (c->set->replays && !c->set->replayed)
    check_unjudged(c, "--replay %s: the program has no launch %" PRIu64, c->options.replay,
                   c->set->replay.launch);
}

/* ------------------------------------------------------------------ the part: events and choices */

static void *new(check *c) {
  return c;
}

static void end(void *part) {
  (void)part;
}

/* In a further schedule nobody else tells of a trap or an assertion. */
static void report_fault(check *c, const sim_event *e) {
  char text[sizeof e->fault->text + 64];
  const char *what = strstr(e->fault->text, ": ");
  if (!e->who.lanes || (e->fault->kind != SIM_FAULT_TRAP && e->fault->kind != SIM_FAULT_ASSERT &&
                        e->fault->kind != SIM_FAULT_INSTRUCTION && e->fault->kind != SIM_FAULT_STACK))
    return;
  snprintf(text, sizeof text, "under another schedule than the plain run's the launch fails: %s",
           what ? what + 2 : e->fault->text);
  check_spot at = check_spot_of(c, &e->who, (uint32_t)__builtin_ctz(e->who.lanes));
  check_report(c, &(check_found){.rule = MUSTER_RULE_LAUNCH_FAILED,
                                 .message = text,
                                 .sides = {{.kind = "exit", .spot = at}}});
}

static sim_answer event(void *part, const sim_event *e) {
  check *c = part;
  check_set *s = c->set;
  check_step step;
  if (e->kind == SIM_EVENT_LAUNCH)
    take_launch(c, e);
  if (s->player) {
    if (e->kind == SIM_EVENT_FAULT)
      report_fault(c, e);
    return check_player_event(s->player, e);
  }
  if (!s->open || s->once)
    return SIM_GO_ON;
  if (e->kind == SIM_EVENT_SLEEP)
    for (uint32_t i = 0; i < e->sleep.n_words; i++)
      if (e->sleep.words[i].host) {
        check_set_once(c, "it waits for memory that the host can write");
        return SIM_GO_ON;
      }
  check_record_step(s->record, c, e, &step);
  return SIM_GO_ON;
}

/* Of accesses only while a set is open. */
static const uint32_t steps = CHECK_TAKES_PLAIN | CHECK_TAKES(ACCESS) | CHECK_TAKES(ARRIVE) |
                              CHECK_TAKES(COMPLETE) | CHECK_TAKES(SLEEP) | CHECK_TAKES(WAKE);
const check_part check_part_schedule = {.name = "schedule",
                                        .watch = SIM_WATCH_ACCESS | SIM_WATCH_SYNC,
                                        .takes = CHECK_TAKES(LAUNCH) | CHECK_TAKES(FAULT),
                                        .new = new,
                                        .free = end,
                                        .event = event};

static uint32_t choose(void *user, const sim_choice *k) {
  check *c = user;
  return check_player_choose(c->set->player, k);
}

/* ------------------------------------------------------------------ sets */

struct check_set *check_set_new(check *c) {
  check_set *s = calloc(1, sizeof *s);
  if (s && c->options.replay && (s->replays = muster_replay_parse(c->options.replay, &s->replay)))
    c->options.seed = s->replay.seed;
  return s;
}

static void close(check_set *s) {
  for (uint32_t i = 0; i < s->n; i++)
    free(s->launches[i].params);
  sim_saved_free(s->before);
  check_record_free(s->record);
  s->n = 0, s->before = NULL, s->record = NULL;
  s->open = s->once = false;
}

void check_set_free(struct check_set *s) {
  if (!s)
    return;
  close(s);
  free(s->launches);
  free(s);
}

bool check_schedules_wanted(const check *c) {
  return c->options.schedules > 1 || c->set->replay.schedule;
}

void check_schedules_run(const check *c, uint64_t *run, bool *exhaustive) {
  *run = c->set->run ? c->set->run : 1;
  *exhaustive = c->set->run && !c->set->some_left;
}

void check_set_begin(check *c) {
  check_set *s = c->set;
  sim_stats now;
  sim_device_stats(c->device, &now);
  s->open = s->fixed = s->sited = true;
  check_takes(c, CHECK_PART_schedule, steps, true);
  c->weak_hopeless = NULL;
  s->began = now.warp_insns;
  s->before = sim_memory_save(c->device);
  s->record = check_record_new(true);
  s->first = 0;
  if (!s->before || !s->record)
    check_set_once(c, "memory ran out");
}

void check_set_add(check *c, const sim_launch *l) {
  check_set *s = c->set;
  sim_kernel_info info;
  if (!s->open || s->once)
    return;
  sim_kernel_get(l->kernel, &info);
  if (!BASE_ROOM(s->launches, s->n, s->capacity)) {
    check_set_once(c, "memory ran out");
    return;
  }
  void *params = malloc(info.param_bytes + 1);
  if (!params) {
    check_set_once(c, "memory ran out");
    return;
  }
  memcpy(params, l->params, info.param_bytes);
  s->launches[s->n] = (launch){*l, params};
  s->launches[s->n++].what.params = params;
}

void check_set_once(check *c, const char *why) {
  check_set *s = c->set;
  char text[256];
  if (!s->open || s->once)
    return;
  s->once = true;
  snprintf(text, sizeof text, "a launch ran under one schedule only: %s", why);
  check_note(c, text);
}

void check_set_drop(check *c) {
  if (c->set->open)
    c->set->some_left = true;
  close(c->set);
  check_takes(c, CHECK_PART_schedule, steps, false);
}

/* ------------------------------------------------------------------ further schedules */

static check_outcome run_launches(check *c, uint64_t most) {
  check_set *s = c->set;
  sim_status status = {0};
  uint32_t left = s->n;
  for (uint32_t i = 0; i < s->n; i++) {
    char *error = NULL;
    uint64_t id = sim_launch_start(c->device, &s->launches[i].what, &error);
    free(error);
    if (!id)
      return CHECK_FAILED;
  }
  for (uint64_t used = 0; left; used += status.used) {
    sim_device_run(c->device, SLICE, &status);
    switch (status.state) {
    case SIM_DONE:
      left--;
      break;
    case SIM_BUDGET:
      if (used > most)
        return CHECK_ENDLESS;
      break;
    case SIM_FAULTED:
      return CHECK_FAULTED;
    case SIM_STUCK:
      return CHECK_HUNG;
    default:
      return CHECK_FAILED;
    }
  }
  return CHECK_ENDED;
}

/* One schedule from the beginning of the set. The device is left as that leaves it. */
check_outcome check_play(check *c, const check_plan *plan, check_unfair unfair) {
  check_set *s = c->set;
  if (!sim_memory_restore(c->device, s->before) || !check_parts_fresh(c))
    return CHECK_FAILED;
  s->player = check_player_new(c, plan);
  if (!s->player) {
    check_parts_back(c);
    return CHECK_FAILED;
  }
  c->further = true;
  c->start_order_chosen = plan->shuffles;
  c->unfair = unfair;
  c->watcher.choose = choose;
  c->watcher.watch |= SIM_WATCH_CHOICES;
  sim_device_mute(c->device, true);
  check_outcome o = run_launches(c, s->took * LONGER + LONGER_LEAST);
  if (o == CHECK_HUNG)
    check_stuck(c);
  else if (o != CHECK_ENDED)
    check_race_flush(c);
  sim_device_stop(c->device);
  sim_device_mute(c->device, false);
  c->watcher.watch &= ~(uint32_t)SIM_WATCH_CHOICES;
  c->watcher.choose = NULL;
  c->further = c->start_order_chosen = false;
  c->unfair = CHECK_FAIR;
  check_parts_back(c);
  check_player_free(s->player);
  s->player = NULL;
  if (o == CHECK_ENDLESS)
    check_unjudged(c,
                   "launch %" PRIu64 ": schedule %" PRIu64 " does not end in %d times the plain run's time",
                   s->first, s->schedule, LONGER);
  return o;
}

static bool cooperative(const check_set *s) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->launches[i].what.cooperative)
      return true;
  return false;
}

/* Blocks one at a time, the last first: whoever then waits for ever needs the others to start in order, or
 * needs them all at once. Which of the two, the same in order says. */
static check_outcome play_lonely(check *c, check_plan *plan) {
  check_outcome o = check_play(c, plan, CHECK_UNFAIR_QUIET);
  if (o != CHECK_HUNG)
    return o;
  plan->kind = CHECK_FIRST;
  o = check_play(c, plan, CHECK_UNFAIR_TURNS);
  plan->kind = CHECK_LONELY;
  return o == CHECK_ENDED ? check_play(c, plan, CHECK_UNFAIR_ORDER) : o;
}

bool check_unfair_found(const check *c, check_found *f) {
  f->rule = MUSTER_RULE_NEEDS_FAIRNESS;
  f->milder = f->note = false;
  f->needed = 0;
  if (c->unfair == CHECK_UNFAIR_ORDER) {
    f->message =
        "ends only if blocks start in the order of their index: one at a time and the last first, they wait "
        "for blocks that have not started";
    f->missing = "ticket";
    f->missing_text = "block numbers drawn with an atomic when a block begins to run, in place of blockIdx";
  } else {
    f->message =
        "ends only if blocks that are not resident get a turn: with one resident at a time, in the order of "
        "their index, it waits for one that cannot start";
    f->missing = "cooperative-launch";
    f->missing_text = "a cooperative launch, which is refused where not all blocks can be resident at once";
  }
  return c->unfair != CHECK_UNFAIR_QUIET;
}

/* Threads meet in no word, but as barriers order them. */
static bool only_schedule(const check *c) {
  const check_set *s = c->set;
  return s->fixed && check_record_contended(s->record) == 0 && !check_record_failed(s->record) &&
         !check_found_race(c, s->first) && !check_race_forgot(c);
}

/* False: memory ran out. */
static bool play(check *c, uint64_t index) {
  check_set *s = c->set;
  check_plan plan;
  s->schedule = index;
  check_plan_of(s->record, c->options.seed, index, &plan);
  if (plan.kind == CHECK_LONELY && cooperative(s))
    plan.kind = CHECK_WALK;
  check_outcome o = plan.kind == CHECK_LONELY ? play_lonely(c, &plan)
                    : plan.kind == CHECK_WEAK ? check_play_weak(c, &plan)
                                              : check_play(c, &plan, CHECK_FAIR);
  if (o == CHECK_FAILED)
    check_unjudged(c, "launch %" PRIu64 ": memory ran out in schedule %" PRIu64, s->first, index);
  return o != CHECK_FAILED;
}

static bool may_be_searched(const check *c) {
  const check_set *s = c->set;
  return s->fixed && s->n == 1 && s->took <= SHORT && !check_record_failed(s->record) &&
         check_record_total(s->record) <= SMALL_ORDERS && !check_found_race(c, s->first) &&
         !check_race_forgot(c);
}

/* Every order of a small set, if that takes no more than `most` runs. Returns how many there are; 0: that is
 * not known, or not all that may differ. */
static uint64_t play_orders(check *c, uint64_t most) {
  check_set *s = c->set;
  search *x = may_be_searched(c) ? search_new() : NULL;
  bool goes_on = x != NULL;
  for (uint64_t k = 1; goes_on && search_next(x) && k <= most; k++) {
    s->schedule = CHECK_ORDERS + k;
    c->muted = s->replays && s->schedule != s->replay.schedule;
    check_outcome o = check_play(c, &(check_plan){.kind = CHECK_ORDER, .orders = x}, CHECK_FAIR);
    c->muted = false;
    search_ran(x, o == CHECK_ENDED || o == CHECK_HUNG);
    goes_on = o != CHECK_FAILED && o != CHECK_ENDLESS && !check_found_race(c, s->first);
  }
  uint64_t orders = goes_on && search_is_complete(x) && search_one_word(x) ? search_orders(x) : 0;
  search_free(x);
  return orders;
}

/* The i-th further schedule that is asked for, from 0; false: there are no more. */
static bool nth_asked(void *user, uint64_t i, uint64_t *schedule) {
  const check *c = user;
  const check_options *o = &c->options;
  if (c->set->replays)
    *schedule = c->set->replay.schedule + i;
  else if (o->shards > 1)
    *schedule = i * o->shards + (o->shard ? o->shard : o->shards); /* 0 is the plain run */
  else
    *schedule = i + 1;
  return *schedule < (c->set->replays ? c->set->replay.schedule + 1 : o->schedules);
}

static void no_such_schedule(check *c) {
  check_unjudged(c, "--replay %s: launch %" PRIu64 " has no such schedule", c->options.replay, c->set->first);
}

/* Runs the further schedules; returns how many there were. *all: there are no others. */
static uint64_t explore(check *c, bool *all) {
  check_set *s = c->set;
  const check_options *o = &c->options;
  uint64_t run = 1, k;
  if (s->replay.schedule > CHECK_ORDERS) {
    play_orders(c, s->replay.schedule - CHECK_ORDERS);
    if (s->schedule != s->replay.schedule)
      no_such_schedule(c);
    return 2;
  }
  uint64_t orders = s->replays || o->shard ? 0 : play_orders(c, o->schedules);
  if (orders && o->shards <= 1) {
    *all = true;
    if (o->schedules > 2 && check_record_crosses(s->record)) /* it asks for fairness, which no order does */
      play(c, 2);
    return orders;
  }
  if (o->threads > 1 && s->sited && nth_asked(c, 1, &k)) {
    const check_shares what = {.user = c, .nth = nth_asked, .play = play};
    if (!check_share_out(c, &what, o->threads, &run))
      check_unjudged(c, "launch %" PRIu64 ": a process that ran schedules of it ended early", s->first);
  } else {
    for (uint64_t i = 0; nth_asked(c, i, &k) && play(c, k); i++)
      run++;
  }
  *all = !s->replays && o->shards <= 1 && s->fixed && check_record_total(s->record) <= SMALL &&
         !check_found_race(c, s->first) && check_weak_exhausts(c);
  return run;
}

/* Whether findings of one of its launches are told: else further schedules are for nothing. */
static bool is_told(const check *c) {
  const check_set *s = c->set;
  for (uint32_t i = 0; i < s->n; i++) {
    const check_launch *l = check_launch_of(c, s->first + i);
    if (!l || l->selected)
      return true;
  }
  return false;
}

void check_set_end(check *c, bool host_waits) {
  check_set *s = c->set;
  sim_stats now;
  if (!s->open)
    return;
  if (!host_waits && s->before && sim_saved_host(s->before))
    check_set_once(c, "it writes memory that the host can use meanwhile");
  sim_device_stats(c->device, &now);
  s->took = now.warp_insns - s->began;
  bool all = !s->once && only_schedule(c), skip = s->replays && (s->other || s->replay.launch != s->first);
  skip |= !is_told(c);
  uint64_t run = 1;
  if (s->replay.schedule && !skip && (s->once || all))
    no_such_schedule(c);
  if (!s->once && !all && !skip) {
    sim_saved *after = sim_memory_save(c->device);
    if (after)
      run = explore(c, &all);
    s->schedule = 0;
    if (!after || !sim_memory_restore(c->device, after))
      check_unjudged(c, "launch %" PRIu64 ": memory ran out between schedules", s->first);
    sim_saved_free(after);
    check_findings_counts(c);
  }
  s->some_left |= !all;
  s->run = run > s->run ? run : s->run;
  close(s);
  check_takes(c, CHECK_PART_schedule, steps, false);
}
