/* progress.c: nobody can move any more: the rules deadlock-*, needs-fairness, and warp-mask where a named
 * lane never comes. The machine has proven the hang and says who waits at what; here the cause is told from
 * what only follows from it.
 *
 * A thread at a barrier or in a collective is the cause if whoever it waits for is stuck at another one; if
 * they look at a word that does not change, or are in turn held up by such, the word is. Words of memory are
 * the cause only where no barrier is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "check/state.h"

typedef struct progress {
  check *check;
} progress;

static void *new(check *c) {
  return check_part_new(c, sizeof(progress));
}

const check_part check_part_progress = {
    .name = "progress", .watch = 0, .takes = 0, .new = new, .free = free, .event = NULL};

/* ------------------------------------------------------------------ who waits */

/* Threads that wait alike: for all but their count, the first of them speaks. */
typedef struct party {
  sim_wait wait; /* its words are gone */
  sim_word word; /* the first; bytes 0: it looks at none */
  check_spot spot;
  uint64_t block;
  const ptx_insn *insn;
  uint64_t n_threads, n_blocks;
  bool cause;
} party;

enum { PARTIES = 48, UNITS = 1024, LOOKERS = 4096, ROOMS = 8 };

typedef struct stuck {
  check *check;
  party parties[PARTIES];
  uint32_t n_parties;
  party units[UNITS]; /* of the block at work */
  uint32_t n_units;
  struct looker {
    uint64_t launch, block;
    uint32_t warp, lanes;
  } lookers[LOOKERS]; /* at words: what they write there themselves lets nobody go */
  uint32_t n_lookers;
  struct room {
    uint64_t launch, blocks;
    const char *kernel;
  } rooms[ROOMS]; /* blocks that are not resident */
  uint32_t n_rooms;
} stuck;

static bool is_mbarrier_wait(const party *p) {
  return p->insn && ptx_op_get((ptx_op)p->insn->op)->sync == PTX_SYNC_MBARRIER;
}

/* A collective that can never take place, whatever becomes of memory. */
static bool dead_collective(const stuck *s, const party *p) {
  if (p->wait.kind != SIM_WAIT_WARP)
    return false;
  if (!p->wait.awaited) /* all are at some collective, and do not agree */
    return true;
  for (uint32_t i = 0; i < s->n_units; i++) {
    const party *q = &s->units[i];
    if (q->wait.warp == p->wait.warp && q->wait.lanes & p->wait.awaited && q->wait.kind != SIM_WAIT_BARRIER)
      return false;
  }
  return true;
}

static void keep(stuck *s, const party *p) {
  for (uint32_t i = 0; i < s->n_parties; i++) {
    party *q = &s->parties[i];
    if (q->wait.kind == p->wait.kind && q->spot.launch == p->spot.launch && q->spot.site == p->spot.site &&
        q->wait.number == p->wait.number && q->cause == p->cause) {
      q->n_threads += p->n_threads;
      q->n_blocks += q->block != p->block;
      q->block = p->block;
      if (p->spot.block < q->spot.block) { /* the first block speaks */
        q->wait = p->wait, q->word = p->word;
        q->spot = p->spot, q->insn = p->insn;
      }
      return;
    }
  }
  if (s->n_parties < PARTIES)
    s->parties[s->n_parties++] = *p;
}

static void settle_block(stuck *s) {
  bool only_barriers = true;
  for (uint32_t i = 0; i < s->n_units; i++)
    only_barriers &= s->units[i].wait.kind == SIM_WAIT_BARRIER;
  for (uint32_t i = 0; i < s->n_units; i++) {
    party *p = &s->units[i];
    p->cause = dead_collective(s, p) || (only_barriers && p->wait.kind == SIM_WAIT_BARRIER);
    keep(s, p);
  }
  s->n_units = 0;
}

static void take(void *user, const sim_wait *w) {
  stuck *s = user;
  if (w->kind == SIM_WAIT_ROOM) {
    if (s->n_rooms < ROOMS)
      s->rooms[s->n_rooms++] = (struct room){w->launch, w->n_blocks, w->place.kernel};
    return;
  }
  if (s->n_units && (s->units[0].spot.launch != w->launch || s->units[0].block != w->who->block))
    settle_block(s);
  if (s->n_units == UNITS)
    return;
  party *p = &s->units[s->n_units++];
  *p = (party){.wait = *w,
               .spot = check_spot_of(s->check, w->who, (uint32_t)__builtin_ctz(w->lanes)),
               .block = w->who->block,
               .insn = w->who->insn,
               .n_threads = (uint64_t)__builtin_popcount(w->lanes),
               .n_blocks = 1};
  if (w->kind == SIM_WAIT_MEMORY && w->n_words)
    p->word = w->words[0];
  if (w->kind == SIM_WAIT_MEMORY && s->n_lookers < LOOKERS)
    s->lookers[s->n_lookers++] = (struct looker){w->launch, w->who->block, w->warp, w->lanes};
}

/* ------------------------------------------------------------------ in words */

typedef char text[256];
typedef char sentence[1600];

/* "allocation 2, offset 4", "shared array flag, offset 0". */
static void put_word(const check *c, const party *p, text out) {
  const sim_word *w = &p->word;
  sim_allocation a;
  check_buffer b;
  uint64_t offset = w->address & 0xffffff;
  if (!w->bytes)
    snprintf(out, sizeof(text), "nothing that could change");
  else if (sim_memory_find(c->device, w->address, &a) && a.name)
    snprintf(out, sizeof(text), "%s, offset %" PRIu64, a.name, w->address - a.address);
  else if (sim_memory_find(c->device, w->address, &a))
    snprintf(out, sizeof(text), "allocation %" PRIu64 ", offset %" PRIu64, a.number, w->address - a.address);
  else if (check_buffer_of(c, p->spot.launch, PTX_SPACE_SHARED, offset, &b))
    snprintf(out, sizeof(text), "%.200s, offset %" PRId64, b.name, b.offset);
  else
    snprintf(out, sizeof(text), "shared memory, offset %" PRIu64, offset);
}

static void put_value(const check *c, const sim_word *w, text out) {
  sim_allocation a;
  uint64_t value = 0;
  out[0] = 0;
  if (!w->bytes || w->bytes > 8 || !sim_memory_find(c->device, w->address, &a))
    return;
  memcpy(&value, (const void *)(uintptr_t)w->address, w->bytes);
  snprintf(out, sizeof(text), " (it is %" PRIu64 ")", value);
}

static void put_lanes(uint32_t lanes, text out) {
  if (lanes && !(lanes & (lanes - 1)))
    snprintf(out, sizeof(text), "lane %d", __builtin_ctz(lanes));
  else
    snprintf(out, sizeof(text), "lanes 0x%08x", lanes);
}

static void put_on(const check *c, const party *p, text out) {
  switch (p->wait.kind) {
  case SIM_WAIT_BARRIER:
    snprintf(out, sizeof(text), "barrier %u of the block", p->wait.number);
    break;
  case SIM_WAIT_CLUSTER:
    snprintf(out, sizeof(text), "the barrier of the cluster");
    break;
  case SIM_WAIT_WARP:
    snprintf(out, sizeof(text), "%s", check_collective_name(p->insn));
    break;
  case SIM_WAIT_BEHIND:
    snprintf(out, sizeof(text), "the end of the loop, as lanes did before Volta");
    break;
  case SIM_WAIT_GRID:
    snprintf(out, sizeof(text), "the launch before it");
    break;
  default:
    put_word(c, p, out);
    break;
  }
}

static void put_awaits(const check *c, const party *p, text out) {
  text value;
  int n = 0;
  switch (p->wait.kind) {
  case SIM_WAIT_BARRIER:
  case SIM_WAIT_CLUSTER:
    n = snprintf(out, sizeof(text), "%u of %u threads", p->wait.want - p->wait.have, p->wait.want);
    break;
  case SIM_WAIT_WARP:
    put_lanes(p->wait.awaited ? p->wait.awaited : p->wait.named & ~p->wait.lanes, value);
    n = snprintf(out, sizeof(text), "%s", value);
    break;
  case SIM_WAIT_BEHIND:
    n = snprintf(out, sizeof(text), "the lanes of its warp that are behind");
    break;
  case SIM_WAIT_GRID:
    n = snprintf(out, sizeof(text), "its end");
    break;
  default:
    put_value(c, &p->word, value);
    n = snprintf(out, sizeof(text), "a change%s", value);
    break;
  }
  if (p->n_blocks > 1)
    snprintf(out + n, sizeof(text) - (size_t)n, "; %" PRIu64 " threads of %" PRIu64 " blocks wait so",
             p->n_threads, p->n_blocks);
  else if (p->n_threads > 1)
    snprintf(out + n, sizeof(text) - (size_t)n, "; %" PRIu64 " threads wait so", p->n_threads);
}

static check_side side_of(const check *c, const party *p) {
  sim_allocation a;
  check_side s = {.kind = p->wait.kind == SIM_WAIT_WARP || p->wait.kind == SIM_WAIT_BEHIND ? "mask"
                          : p->wait.kind == SIM_WAIT_MEMORY                                ? "read"
                                                                                           : "barrier",
                  .spot = p->spot};
  if (p->wait.kind != SIM_WAIT_MEMORY || !p->word.bytes)
    return s;
  bool global = sim_memory_find(c->device, p->word.address, &a);
  s.space = global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
  s.address = global ? p->word.address : p->word.address & 0xffffff;
  s.bytes = p->word.bytes;
  return s;
}

/* The hang as a finding: `main` first, then whoever else waits. */
static void report(const stuck *s, const party *main, const party *second, check_found *f) {
  const check *c = s->check;
  text on[MUSTER_WAITING], awaits[MUSTER_WAITING];
  f->launch = main->spot.launch;
  if (!f->sides[0].kind)
    f->sides[0] = side_of(c, main);
  if (second && !f->sides[1].kind)
    f->sides[1] = side_of(c, second);
  for (uint32_t pass = 0; pass < 3; pass++)
    for (uint32_t i = 0; i < s->n_parties && f->n_waiting < MUSTER_WAITING; i++) {
      const party *p = &s->parties[i];
      bool same =
          p->spot.site == main->spot.site && p->spot.launch == main->spot.launch && p->cause == main->cause;
      if (pass != (same ? 0 : p->spot.launch == main->spot.launch ? 1 : 2))
        continue;
      muster_waiting *w = &f->waiting[f->n_waiting];
      put_on(c, p, on[f->n_waiting]);
      put_awaits(c, p, awaits[f->n_waiting]);
      muster_access place = {0};
      check_place_fill(c, &p->spot, &place);
      *w = (muster_waiting){.on = on[f->n_waiting],
                            .awaits = awaits[f->n_waiting],
                            .file = place.file,
                            .line = place.line,
                            .ptx_line = place.ptx_line};
      memcpy(w->block, p->wait.place.block, sizeof w->block);
      memcpy(w->thread, p->wait.place.thread, sizeof w->thread);
      f->n_waiting++;
    }
  check_report(s->check, f);
}

/* ------------------------------------------------------------------ barriers and masks */

static const party *another(const stuck *s, const party *p) {
  for (uint32_t i = 0; i < s->n_parties; i++)
    if (s->parties[i].spot.launch == p->spot.launch && s->parties[i].spot.site != p->spot.site)
      return &s->parties[i];
  return NULL;
}

static void report_collective(const stuck *s, const party *p) {
  check_found f = {.rule = MUSTER_RULE_WARP_MASK, .relation = "warp"};
  const party *q = another(s, p);
  text lanes, missing, where;
  sentence message;
  if (!check_is_on(s->check, f.rule))
    f.rule = MUSTER_RULE_DEADLOCK_BARRIER;
  put_lanes(p->wait.lanes, lanes);
  put_lanes(p->wait.awaited ? p->wait.awaited : p->wait.named & ~p->wait.lanes, missing);
  snprintf(where, sizeof where, "the same call with another mask");
  if (q)
    put_on(s->check, q, where);
  snprintf(message, sizeof message, "nobody can move any more: %s of a warp wait%s in %s for %s, stuck at %s",
           lanes, p->n_threads == 1 ? "s" : "", check_collective_name(p->insn), missing, where);
  f.message = message;
  f.missing = "mask";
  f.missing_text =
      "a mask of the lanes that do come here (a __ballot_sync before the branch gives it), or the call where "
      "all that the mask names come by";
  report(s, p, q, &f);
}

static void report_barrier(const stuck *s, const party *p) {
  check_found f = {.rule = MUSTER_RULE_DEADLOCK_BARRIER, .relation = "block"};
  const party *q = another(s, p);
  text where;
  sentence message;
  snprintf(where, sizeof where, "nobody is left who could");
  if (q && (q->wait.kind != p->wait.kind || q->wait.number != p->wait.number)) {
    text on;
    put_on(s->check, q, on);
    snprintf(where, sizeof where, "the others wait at %.200s", on);
  }
  if (p->wait.kind == SIM_WAIT_CLUSTER)
    snprintf(message, sizeof message,
             "nobody can move any more: %u of %u threads have come to the barrier of the cluster, and %.100s",
             p->wait.have, p->wait.want, where);
  else
    snprintf(message, sizeof message,
             "nobody can move any more: %u of %u threads have come to barrier %u of the block, and %.100s",
             p->wait.have, p->wait.want, p->wait.number, where);
  f.message = message;
  f.missing = "arrival";
  f.missing_text = "as many threads at the barrier as it waits for, each time";
  report(s, p, q, &f);
}

/* ------------------------------------------------------------------ residency */

static uint64_t fitting(const sim_limits *l, sim_need need) {
  return sim_occupancy(l, &need).blocks;
}

/* What to launch instead: fewer blocks, or blocks that need less of what binds. */
static void put_launch(const sim_limits *l, const sim_residency *r, text out) {
  sim_need need = r->need;
  uint32_t per_sm = (uint32_t)((r->blocks + l->sms - 1) / l->sms);
  int n = snprintf(out, sizeof(text), "at most %u blocks of %u threads", r->fit.blocks, r->need.threads);
  switch (r->fit.limit) {
  case SIM_LIMIT_SHARED:
    while (need.shared >= 128 && fitting(l, need) < r->blocks)
      need.shared -= 128;
    if (fitting(l, need) >= r->blocks)
      snprintf(out + n, sizeof(text) - (size_t)n, ", or at most %u bytes of shared memory a block",
               need.shared);
    break;
  case SIM_LIMIT_REGISTERS:
    while (need.registers > 16 && fitting(l, need) < r->blocks)
      need.registers--;
    if (fitting(l, need) >= r->blocks)
      snprintf(out + n, sizeof(text) - (size_t)n,
               ", or at most %u registers a thread: __launch_bounds__(%u, %u)", need.registers, need.threads,
               per_sm);
    break;
  default:
    while (need.threads > 32 && fitting(l, need) < r->blocks)
      need.threads = (need.threads / 2 + 31) / 32 * 32;
    if (fitting(l, need) >= r->blocks)
      snprintf(out + n, sizeof(text) - (size_t)n, ", or blocks of at most %u threads", need.threads);
    break;
  }
}

/* Other launches hold the room that the blocks of `room` need. */
static void report_crowded(const stuck *s, const party *p, const struct room *room) {
  sim_residency mine, r;
  text word, launch;
  char plain[256];
  sentence message;
  const sim_device *d = s->check->device;
  if (!sim_residency_of(d, p->spot.launch, &mine) || !sim_residency_of(d, room->launch, &r))
    return;
  const char *kernel = base_plain_name(room->kernel, plain, sizeof plain) ? plain : room->kernel;
  put_word(s->check, p, word);
  snprintf(launch, sizeof launch, "fewer than the %" PRIu64 " blocks of %u threads that wait", mine.resident,
           mine.need.threads);
  snprintf(message, sizeof message,
           "nobody can move any more: %" PRIu64 " threads wait for %s, and %" PRIu64
           " block%s of %s cannot become resident to "
           "write it: launches that wait hold the room",
           p->n_threads, word, room->blocks, room->blocks == 1 ? "" : "s", kernel);
  report(s, p, NULL,
         &(check_found){
             .rule = MUSTER_RULE_DEADLOCK_RESIDENCY,
             .relation = "launch",
             .message = message,
             .missing = "residency",
             .missing_text =
                 "launches small enough to be resident together, or stream order in place of the wait",
             .needed = mine.resident + room->blocks,
             .fits = mine.resident,
             .limit = sim_limit_name(mine.fit.limit),
             .launch_that_fits = launch});
}

static void report_residency(const stuck *s, const party *p) {
  sim_residency r;
  check_found f = {.rule = MUSTER_RULE_DEADLOCK_RESIDENCY, .relation = "block"};
  const struct room *room = &s->rooms[0];
  sentence message;
  text launch, word, registers = "";
  for (uint32_t i = 0; i < s->n_rooms; i++)
    if (s->rooms[i].launch == p->spot.launch)
      room = &s->rooms[i];
  if (!sim_residency_of(s->check->device, room->launch, &r))
    return;
  if (room->launch != p->spot.launch || r.blocks <= r.fit.blocks) {
    report_crowded(s, p, room);
    return;
  }
  const sim_limits *l = sim_device_limits(s->check->device);
  put_word(s->check, p, word);
  f.needed = r.blocks, f.fits = r.fit.blocks;
  f.limit = sim_limit_name(r.fit.limit);
  put_launch(l, &r, launch);
  f.launch_that_fits = launch;
  if (r.fit.limit == SIM_LIMIT_REGISTERS) {
    sim_need leaner = r.need;
    leaner.registers = leaner.registers > 8 ? leaner.registers - 8 : 1;
    f.milder = !r.registers_known && fitting(l, leaner) >= r.blocks;
    snprintf(registers, sizeof registers, " (%u registers a thread%s%s)", r.need.registers,
             r.registers_known ? "" : ", estimated", f.milder ? "; with 8 fewer all would fit" : "");
  }
  if (s->check->start_order_chosen) { /* in the order of their index they would have ended */
    f.rule = MUSTER_RULE_NEEDS_FAIRNESS;
    snprintf(message, sizeof message,
             "ends only if blocks start in the order of their index: when others start first, %" PRIu64
             " threads wait for %s, which blocks write that never become resident: %" PRIu64
             " are needed, %u fit",
             p->n_threads, word, r.blocks, r.fit.blocks);
    f.missing = "ticket";
    f.missing_text = "block numbers drawn with an atomic when a block begins to run, in place of blockIdx";
  } else {
    snprintf(message, sizeof message,
             "nobody can move any more: %" PRIu64
             " threads wait for %s, and the blocks that could write it never become "
             "resident: %" PRIu64 " blocks are needed at once, %u fit; the limit is %s%s",
             p->n_threads, word, r.blocks, r.fit.blocks, f.limit, registers);
    f.missing = "residency";
    f.missing_text =
        "a launch of which all blocks are resident: ask cudaOccupancyMaxActiveBlocksPerMultiprocessor, or "
        "launch cooperatively, which fails where they are not";
  }
  f.message = message;
  report(s, p, NULL, &f);
}

/* ------------------------------------------------------------------ words */

static bool does_not_look(void *user, const check_spot *w) {
  const stuck *s = user;
  for (uint32_t i = 0; i < s->n_lookers; i++)
    if (s->lookers[i].launch == w->launch && s->lookers[i].block == w->block &&
        s->lookers[i].warp == w->thread / SIM_WARP && s->lookers[i].lanes >> w->thread % SIM_WARP & 1)
      return false;
  return true;
}

/* Who wrote the word that p waits for last becomes the second side. */
static void put_writer(const stuck *s, const party *p, check_found *f, text out) {
  check *c = s->check;
  sim_allocation a;
  check_spot spot = {0};
  muster_access place = {0};
  bool atomic, global = p->word.bytes && sim_memory_find(c->device, p->word.address, &a);
  uint64_t address = global ? p->word.address : p->word.address & 0xffffff;
  out[0] = 0;
  if (!p->word.bytes || !check_last_write(c, global ? NULL : &p->spot, address, does_not_look,
                                          (stuck *)(uintptr_t)s, &atomic, &spot))
    return;
  check_place_fill(c, &spot, &place);
  f->sides[1] = (check_side){.kind = atomic ? "atomic" : "write",
                             .spot = spot,
                             .space = global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED,
                             .address = address,
                             .bytes = p->word.bytes};
  if (place.has_thread)
    snprintf(out, sizeof(text), ", written last by thread (%u,%u,%u) of block (%u,%u,%u)", place.thread[0],
             place.thread[1], place.thread[2], place.block[0], place.block[1], place.block[2]);
}

static void report_spin(const stuck *s, const party *p) {
  bool mbarrier = is_mbarrier_wait(p);
  check_found f = {.rule = mbarrier ? MUSTER_RULE_DEADLOCK_BARRIER : MUSTER_RULE_DEADLOCK_SPIN};
  const party *q = another(s, p);
  text word, value, writer, others = "";
  sentence message;
  put_word(s->check, p, word);
  put_value(s->check, &p->word, value);
  put_writer(s, p, &f, writer);
  if (q) {
    text on;
    put_on(s->check, q, on);
    snprintf(others, sizeof others, "; %" PRIu64 " thread%s wait%s at %.180s", q->n_threads,
             q->n_threads == 1 ? "" : "s", q->n_threads == 1 ? "s" : "", on);
  }
  const char *plural = p->n_threads == 1 ? "" : "s", *verb = p->n_threads == 1 ? "s" : "";
  if (!p->word.bytes)
    snprintf(message, sizeof message,
             "nobody can move any more: %" PRIu64 " thread%s loop%s for ever, looking at %s%s", p->n_threads,
             plural, verb, word, others);
  else if (mbarrier)
    snprintf(message, sizeof message,
             "nobody can move any more: %" PRIu64
             " thread%s wait%s for a phase of the mbarrier in %s, and nobody is left to "
             "arrive%s",
             p->n_threads, plural, verb, word, others);
  else
    snprintf(message, sizeof message,
             "nobody can move any more: %" PRIu64
             " thread%s wait%s for a change of %s%s%s, and nobody is left to write it%s",
             p->n_threads, plural, verb, word, value, writer, others);
  f.message = message;
  report(s, p, q, &f);
}

static void report_launch(const stuck *s, uint64_t launch) {
  const party *word = NULL, *other = NULL;
  bool told = false;
  for (uint32_t i = 0; i < s->n_parties; i++) {
    const party *p = &s->parties[i];
    if (p->spot.launch != launch)
      continue;
    if (p->cause && !told) {
      if (p->wait.kind == SIM_WAIT_WARP)
        report_collective(s, p);
      else
        report_barrier(s, p);
      told = true;
    }
    if (p->wait.kind == SIM_WAIT_MEMORY && (!word || (!word->word.bytes && p->word.bytes)))
      word = p;
    else if (p->wait.kind != SIM_WAIT_GRID && !other)
      other = p;
  }
  if (told)
    return;
  check_found uneven;
  sentence message;
  if (word && check_is_on(s->check, MUSTER_RULE_BARRIER_UNEVEN) &&
      check_grid_uneven(s->check, launch, true, &uneven, message, sizeof message))
    report(s, word, NULL, &uneven);
  else if (word && s->n_rooms)
    report_residency(s, word);
  else if (word)
    report_spin(s, word);
  else if (other)
    report_barrier(s, other);
}

void check_stuck(check *c) {
  check_race_flush(c);
  check_define_flush(c);
  stuck *s = calloc(1, sizeof *s);
  if (!s) {
    check_unjudged(c, "a hang: nobody can move any more; out of memory for who waits for whom");
    return;
  }
  check_barriers_flush(c);
  s->check = c;
  sim_waiting(c->device, take, s);
  if (s->n_units)
    settle_block(s);
  for (uint32_t i = 0; i < s->n_parties; i++) {
    bool first = true;
    for (uint32_t k = 0; k < i; k++)
      first &= s->parties[k].spot.launch != s->parties[i].spot.launch;
    if (first)
      report_launch(s, s->parties[i].spot.launch);
  }
  free(s);
}
