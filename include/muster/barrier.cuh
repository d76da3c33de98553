// barrier.cuh: barriers over groups of blocks, on any GPU that can keep the group resident.
//
//   mu_group g = mu_group_x();                       who takes part (group.cuh)
//   mu_barrier b;
//   if (mu_barrier_open(&b, workspace, &g)) return;  once a launch
//   ... mu_barrier_sync(&b) ...                      as often as you like
//
// The time of a barrier goes into the release fence, the way of the arrivals to the second-level cache, and
// the way back. So: nothing is returned to an arrival; the block's first thread looks with relaxed loads, and
// acquires once at the end; and it waits a little before its first look, since looks that come too early hold
// up the arrivals. Counts of many blocks are spread over several lines (tuning.def).
//
// What holds for every function below unless it says otherwise:
//
// Callers     all threads of the block, converged (mu_barrier_part: all threads of the part). Every block of
//             the group, equally often, in the same order.
// Order       what any thread of the group did before it arrived is visible to every thread of the group that
//             has waited: release and acquire at device scope, system scope for a group over several GPUs;
//             shared memory within the block as well.
// Storage     a workspace in global memory (types.h): MU_SLOT_BYTES(blocks of the largest group) for each
//             group, aligned to 128 bytes, zeroed by the host once, and again after an error.
// Progress    all blocks of the group must be resident at once: a cooperative launch, or a launch that the
//             host has proven to fit. No wait lasts longer than the deadline.
// Returns     MU_OK, or why not (types.h), the same in all threads of the block. After anything but MU_OK the
//             group is of no use in this launch: leave.
// Undefined   if two launches use one workspace at the same time (noticed in most cases: MU_FOREIGN).
// Cost        one atomic a block; a release fence, the way to the second-level cache and back.
//             bench/README.md has the times.
// Checked     barrier-uneven, deadlock-spin, deadlock-residency
#ifndef MUSTER_BARRIER_CUH
#define MUSTER_BARRIER_CUH

#include "group.cuh"

#if MU_DEVICE

// MU_TIMEOUT_NS: ten seconds, far above any honest wait, far below a person's patience.
#define MU_TIMEOUT_NS 10000000000ull

// A block's hold on its group's barrier. Its fields are not for users, but timeout_ns, which may be set at
// any time between barriers. What barriers that are soon complete do not touch takes no registers: it lies in
// the workspace (mu_member).
typedef struct {
  mu_slot *slot;
  mu_member *me;
  mu_u64 *arrive; // my word in each copy: lanes below `copies`
  mu_u64 *look;   // the word I look at: lanes below `shards`
  mu_u64 target;  // what it shows when the epoch is complete
  mu_u64 epoch;   // how often this block has arrived in this launch
  mu_u64 nonce;   // of this launch
  mu_u64 timeout_ns;
  mu_u64 sum, last_sum; // what the two words of `sums` showed before this one: the next to be used, the other
  mu_u64 sums;          // how many of the epochs were sums: those do not count in `counts`
  mu_u32 step;          // arrivals an epoch at the word I look at
  mu_u32 staying;       // blocks less those known to have left
  mu_u32 lane;          // in the part of the block that takes part
  mu_u32 rank, blocks, shards, copies, pause;
  mu_u32 role;               // what this thread has to do (MU_ARRIVES, ...), and behind it its lane
  mu_u32 eager;              // so many of the next arrivals do not pause before their first look
  mu_u32 turn;               // of the collectives
  mu_u32 part, part_threads; // named barrier and threads of a part; part 0: the whole block
  mu_u32 system, hardware;
} mu_barrier;

typedef mu_u64 mu_token; // an epoch

enum {
  MU_ARRIVES = 1,
  MU_LOOKS = 2,
  MU_PLAIN = 4, // does one of both, in a group on one device whose blocks look at one word each
  MU_MOVES = 8, // after the first barrier, to the line that rank 0 chose; then it has MU_PLAIN instead
  MU_ROLES = 16,
};

enum {
  MU_LOOKS_BRIEF = 4,   // a wait of so many looks is short: the blocks arrive together
  MU_EAGER = 2,         // after a longer one so many arrivals do not pause before their first look
  MU_LOOKS_TRUST = 64,  // looks between two doubts
  MU_LINES_APART = 2,   // lines often lie in pairs: a choice looks at every second one,
  MU_LOOKS_MEASURE = 3, // so many times
};

// How to arrange the words; the default comes from tuning.def. All blocks of a group arrange them alike, but
// `near`; a workspace that served another number of shards has to be zeroed first (else MU_STALE).
typedef struct {
  mu_u32 shards;                  // 1 to MU_SHARDS_MAX, a power of two
  mu_u32 copies;                  // 1 to MU_COPIES_MAX
  mu_u32 near;                    // which copy this block looks at
  mu_u32 pause;                   // cycles between arrival and first look
  mu_u32 first_line, second_line; // each copy's first line in the slot; the shards follow
  mu_u32 choose;                  // 1: after its first barrier a group with one word moves to a near line
} mu_tuning;

// The row of tuning.def for a group of so many blocks in a grid of so many.
MU_FN mu_tuning mu_tuning_for(mu_u32 blocks, mu_u32 grid) {
  mu_tuning t;
  t.near = mu_block() & 1;
  t.shards = t.copies = 1;
  t.pause = t.choose = 0;
  t.first_line = 0;
  t.second_line = MU_SHARDS_MAX;
#define MU_TUNE(most_blocks, most_grid, shards_, copies_, pause_, choose_) \
  if (blocks <= most_blocks && grid <= most_grid) {                        \
    t.shards = shards_;                                                    \
    t.copies = copies_;                                                    \
    t.pause = pause_;                                                      \
    t.choose = choose_;                                                    \
    return t;                                                              \
  }
#include "tuning.def"
  return t;
}

// The block's own barriers, whole or a part of it.
MU_OWN void mu_barrier_converge(const mu_barrier *b) {
  if (b->part)
    mu_bar_sync_part(b->part, b->part_threads);
  else
    mu_bar_sync();
}
MU_OWN mu_u32 mu_barrier_converge_or(const mu_barrier *b, mu_u32 predicate) {
  return b->part ? mu_bar_or_part(predicate, b->part, b->part_threads) : mu_bar_or(predicate);
}
// The part's last error, in shared memory, so that its threads learn of it without a vote, which costs 20 ns,
// and for nothing where the caller does not ask: the load of a result that nobody uses is not made.
MU_OWN mu_u32 *mu_barrier_errors(void) {
  MU_SHARED mu_u32 errors[16]; // by number of the part
  return (mu_u32 *)errors;
}
MU_OWN void mu_barrier_tell(const mu_barrier *b, mu_status status) {
  if (status)
    mu_barrier_errors()[b->part] = status;
}
// STATUS of whichever thread has one, in all of them; converges.
MU_OWN mu_status mu_barrier_finish(const mu_barrier *b, mu_status status) {
  mu_barrier_tell(b, status);
  mu_barrier_converge(b);
  return mu_barrier_errors()[b->part];
}

MU_OWN mu_u64 mu_barrier_load(const mu_barrier *b, const mu_u64 *word) {
  return b->system ? mu_global_load_relaxed_system_u64(word) : mu_global_load_relaxed_device_u64(word);
}
MU_OWN mu_u64 mu_barrier_load_acquire(const mu_barrier *b, const mu_u64 *word) {
  return b->system ? mu_global_load_acquire_system_u64(word) : mu_global_load_acquire_device_u64(word);
}
MU_OWN void mu_barrier_add_release(const mu_barrier *b, mu_u64 *word, mu_u64 value) {
  if (b->system)
    mu_global_red_add_release_system_u64(word, value);
  else
    mu_global_red_add_release_device_u64(word, value);
}
MU_OWN mu_u64 *mu_slot_signs(mu_slot *slot) {
  return (mu_u64 *)(slot + 1);
}
// The cells of a turn: low halves of all members, then high halves.
MU_OWN mu_u64 *mu_slot_cells(mu_slot *slot, mu_u32 blocks, mu_u32 turn) {
  return (mu_u64 *)(slot + 1) + (1 + turn % 2 * 2) * (mu_u64)blocks;
}
MU_OWN mu_member *mu_slot_members(mu_slot *slot, mu_u32 blocks) {
  return (mu_member *)((mu_u64 *)(slot + 1) + 5 * (mu_u64)blocks);
}

// Division of 64 bits takes a hundred instructions, so that it is only done where a shift is not enough.
MU_COLD mu_u64 mu_barrier_quotient(mu_u64 count, mu_u32 step) {
  return count / step;
}
// What COUNT is beyond a whole number of epochs of STEP arrivals.
MU_OWN mu_u64 mu_barrier_beyond(mu_u64 count, mu_u32 step) {
  return step & (step - 1) ? count - mu_barrier_quotient(count, step) * step : count & (step - 1);
}

// Marks the group as lost, for everybody: in every word that anybody may look at.
MU_OWN void mu_barrier_mark(mu_slot *slot) {
  MU_ROLLED for (mu_u32 line = 0; line < MU_LINES; line++)
      mu_global_red_or_relaxed_system_u64(&slot->counts[line].word, MU_POISON);
}

// What COUNT was before the epoch that is under way. Nobody can complete an epoch without this block, so what
// is beyond a whole number of them are arrivals at the next one. Each line has its own past: arrangements may
// change.
MU_OWN mu_u64 mu_barrier_base(mu_u64 count, mu_u32 step) {
  return count - mu_barrier_beyond(count, step);
}

// Which line the word lies in matters: each is nearer to one half of the multiprocessors, and a few blocks
// are often all in one half. So rank 0, when it opens, looks which line is nearer to itself, and says so; the
// others learn it from the first barrier, which is still on the first line. Nobody waits for a choice. It is
// right whichever it is, and good for as long as rank 0 runs on that multiprocessor; else it is made again,
// which takes a look at a few lines: two whose times differ by a sixteenth are near to different halves, and
// the search is over. Only rank 0 can tell whether a line is at rest: nobody arrives there before it has
// arrived. A launch that opens again keeps its choice, since somebody may still be reading it.
MU_COLD mu_status mu_barrier_choose(mu_slot *slot, mu_u64 nonce, mu_u32 blocks, mu_u32 first_line) {
  mu_u32 here = mu_multiprocessor() + 1, nearest = ~0u, farthest = 0;
  mu_u64 choice = mu_global_load_relaxed_system_u64(&slot->line), count, uneven = 0;
  mu_u32 before = (mu_u32)choice, line = before;
  if (mu_global_load_relaxed_system_u64(&slot->line_nonce) == nonce)
    return MU_OK;
  if (choice >> 32 != here)
    MU_ROLLED for (mu_u32 i = 0; i < MU_LINES && farthest <= nearest + farthest / 16; i += MU_LINES_APART) {
      mu_u32 least = ~0u;
      MU_ROLLED for (mu_u32 again = 0; again < MU_LOOKS_MEASURE; again++) {
        mu_u32 start = mu_cycles();
        if (mu_global_load_relaxed_device_u64(&slot->counts[i].word) & MU_POISON)
          return MU_POISONED; // (the clock below waits for the value)
        mu_u32 took = mu_cycles() - start;
        least = took < least ? took : least;
      }
      if (least < nearest) {
        nearest = least;
        line = i;
      }
      farthest = least > farthest ? least : farthest;
    }
  count = mu_global_load_relaxed_system_u64(&slot->counts[line].word);
  if (line != first_line)
    uneven = mu_barrier_beyond(count, blocks);
  count = mu_global_load_relaxed_system_u64(&slot->counts[before].word);
  if (before != first_line)
    uneven |= mu_barrier_beyond(count, blocks);
  if (uneven) {
    mu_barrier_mark(slot);
    return MU_STALE;
  }
  mu_global_store_relaxed_system_u64(&slot->line, (mu_u64)here << 32 | line);
  mu_global_store_relaxed_system_u64(&slot->line_nonce, nonce);
  return MU_OK;
}

// The first thread's part of opening: is the slot ours, whole, and at rest? Whether it is at rest only the
// first block of a launch can say, the one that writes the nonce; and it says so of counts it read before,
// when no other could have arrived. (A branch on what was read stands between.) So nobody waits for anybody
// here.
MU_OWN mu_status mu_barrier_claim(mu_barrier *b, const mu_tuning *t) {
  mu_slot *slot = b->slot;
  mu_u64 mine = MU_SLOT_MAGIC | (mu_u64)b->blocks << 32, poison = 0;
  mu_u64 owner = mu_global_load_relaxed_system_u64(&slot->owner);
  mu_u64 seen = mu_global_load_relaxed_system_u64(&slot->nonce);
  mu_u64 uneven = mu_global_load_relaxed_system_u64(&slot->drops);
  MU_ROLLED for (mu_u32 copy = 0; copy < b->copies; copy++)
      MU_ROLLED for (mu_u32 shard = 0; shard < b->shards; shard++) {
    mu_u64 count = mu_global_load_relaxed_system_u64(
        &slot->counts[(copy ? t->second_line : t->first_line) + shard].word);
    poison |= count & MU_POISON;
    uneven |= mu_barrier_beyond(count, (b->blocks - shard + b->shards - 1) / b->shards);
  }
  if (!owner)
    owner = mu_global_cas_relaxed_system_u64(&slot->owner, 0, mine);
  if (owner && owner != mine)
    return MU_MISMATCH;
  if (poison)
    return MU_POISONED;
  while (seen != b->nonce) {
    mu_u64 now = mu_global_cas_relaxed_system_u64(&slot->nonce, seen, b->nonce);
    if (now == seen && uneven) {
      mu_barrier_mark(slot);
      return MU_STALE;
    }
    seen = now == seen ? b->nonce : now;
  }
  return b->rank == 0 && b->role & MU_MOVES ? mu_barrier_choose(slot, b->nonce, b->blocks, t->first_line)
                                            : MU_OK;
}

// What long waits will have to know. The block meets before anybody reads it.
MU_OWN void mu_barrier_note(mu_barrier *b) {
  mu_member *me = b->me = mu_slot_members(b->slot, b->blocks) + b->rank;
  if (b->lane == 0) {
    me->slot = b->slot;
    me->nonce = b->nonce;
    me->rank = b->rank;
    me->blocks = b->blocks;
    me->shards = b->shards;
    me->part = b->part;
    me->system = b->system;
    me->moving = (b->role & MU_MOVES) != 0;
  }
  if (b->lane < b->shards)
    me->offset[b->lane] = b->target;
}

// Takes hold of the group's slot of the workspace; the group's blocks may open at different times.
// `nonce` tells launches apart: any number but 0 that no launch uses at the same time or used just before.
MU_FN mu_status mu_barrier_open_as(mu_barrier *b, void *workspace, const mu_group *g, const mu_tuning *t,
                                   mu_u64 nonce, mu_u32 part, mu_u32 part_threads, mu_u32 lane) {
  b->lane = lane;
  b->part = part;
  b->part_threads = part_threads;
  b->rank = g->rank;
  b->blocks = b->staying = g->blocks;
  b->timeout_ns = MU_TIMEOUT_NS;
  b->epoch = b->sums = b->sum = b->last_sum = 0;
  b->role = b->eager = 0;
  b->hardware = g->hardware && !part;
  b->nonce = nonce;
  mu_barrier_converge(b); // somebody may still look at the last error, of a barrier opened before
  if (lane == 0)
    mu_barrier_errors()[part] = MU_OK;
  if (g->rank == MU_NOBODY)
    return MU_NOT_MEMBER;
  if (b->hardware)
    return mu_barrier_finish(b, MU_OK);
  mu_u32 threads = part ? part_threads : mu_block_threads();
  b->shards = t->shards;
  while (b->shards > threads || b->shards > b->blocks)
    b->shards /= 2;
  b->copies = threads < t->copies ? 1 : t->copies;
  b->pause = t->pause;
  b->system = g->devices > 1;
  if (lane < b->copies)
    b->role |= MU_ARRIVES;
  if (lane < b->shards)
    b->role |= MU_LOOKS;
  if (b->role && b->shards == 1 && !b->system)
    b->role |= t->choose && b->copies == 1 ? MU_MOVES : MU_PLAIN;
  if (b->role)
    b->role |= lane * MU_ROLES;
  mu_slot *slot = (mu_slot *)((char *)workspace + g->index * MU_SLOT_BYTES(g->largest));
  b->slot = slot;
  mu_u32 my_shard = g->rank % b->shards, shard = lane < b->shards ? lane : my_shard;
  mu_u32 near = t->near && b->copies > 1 ? t->second_line : t->first_line;
  b->arrive = &slot->counts[(lane && lane < b->copies ? t->second_line : t->first_line) + my_shard].word;
  b->look = &slot->counts[near + shard].word;
  b->step = (b->blocks - shard + b->shards - 1) / b->shards;
  mu_u32 my_step = (b->blocks - my_shard + b->shards - 1) / b->shards;
  mu_u64 count = mu_global_load_relaxed_system_u64(&slot->counts[near + my_shard].word) & ~MU_POISON;
  b->target =
      b->shards == 1 ? mu_barrier_base(count, my_step) : mu_barrier_quotient(count, my_step) * b->step;
  // The turn this block wrote last stands in its own cells, in the newer of the two.
  mu_u32 even = (mu_u32)mu_global_load_relaxed_system_u64(mu_slot_cells(slot, b->blocks, 0) + g->rank);
  mu_u32 odd = (mu_u32)mu_global_load_relaxed_system_u64(mu_slot_cells(slot, b->blocks, 1) + g->rank);
  b->turn = (mu_s32)(even - odd) > 0 ? even : odd;
  mu_status status = mu_barrier_finish(b, lane == 0 ? mu_barrier_claim(b, t) : MU_OK);
  if (!status) // and the slot is ours to write
    mu_barrier_note(b);
  return status;
}

// The same as everybody needs it: the arrangement of tuning.def, the hardware's number of the launch, all
// threads of the block.
MU_FN mu_status mu_barrier_open(mu_barrier *b, void *workspace, const mu_group *g) {
  mu_tuning t = mu_tuning_for(g->blocks, mu_grid_blocks());
  mu_u64 nonce = g->devices > 1 ? 1 : mu_grid_nonce() | MU_POISON;
  return mu_barrier_open_as(b, workspace, g, &t, nonce, 0, 0, mu_thread());
}

// For some warps of the block only, `threads` of them, a multiple of 32: named barrier `id` (1 to 15)
// converges them; `lane` is the thread's number among them. The block's other warps go on with other work.
MU_FN mu_status mu_barrier_open_part(mu_barrier *b, void *workspace, const mu_group *g, mu_u32 id,
                                     mu_u32 threads, mu_u32 lane) {
  mu_tuning t = mu_tuning_for(g->blocks, mu_grid_blocks());
  mu_u64 nonce = g->devices > 1 ? 1 : mu_grid_nonce() | MU_POISON;
  return mu_barrier_open_as(b, workspace, g, &t, nonce, id, threads, lane);
}

// The threads that look, lanes 0 to shards - 1, decide together.
MU_OWN mu_u32 mu_barrier_all(const mu_barrier *b, mu_u32 predicate) {
  mu_u32 all;
  if (b->shards == 1)
    return predicate;
  MU_ASM volatile(
      "{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.u32 %0, 1, 0, q;}" : "=r"(
          all) : "r"(predicate),
      "r"((1u << b->shards) - 1) : "memory");
  return all;
}

// A member's word: launch and epoch, so that a word of an earlier launch is no sign of life.
MU_OWN mu_u64 mu_barrier_sign(const mu_barrier *b) {
  return (b->nonce & 0x7fff) << 48 | b->epoch;
}
// Writes it. Not at every arrival, where it would make the next release slower, but when
// waiting gets long, when leaving with an error, and when an arrival is followed by other work.
MU_OWN void mu_barrier_show(const mu_barrier *b) {
  if (b->lane == 0)
    mu_global_store_relaxed_system_u64(mu_slot_signs(b->slot) + b->rank, mu_barrier_sign(b));
}

// Marks, finds out who is missing, and says so in the slot.
MU_OWN void mu_barrier_poison(mu_barrier *b, mu_status why) {
  mu_slot *slot = b->slot;
  mu_u32 missing = 0, first = MU_NOBODY;
  mu_barrier_mark(slot);
  mu_u64 start_ns = mu_time_ns();
  while (mu_time_ns() - start_ns < 50000) { // all who wait find the mark and show themselves
  }
  MU_ROLLED for (mu_u32 i = b->blocks; i-- > 0;) {
    mu_u64 word = mu_global_load_relaxed_system_u64(mu_slot_signs(slot) + i);
    if (!(word & MU_DROPPED) && (word >> 48 != mu_barrier_sign(b) >> 48 || word < mu_barrier_sign(b))) {
      missing++;
      first = i;
    }
  }
  mu_global_store_relaxed_system_u32(&slot->error_rank, b->rank);
  mu_global_store_relaxed_system_u32(&slot->missing_count, missing);
  mu_global_store_relaxed_system_u32(&slot->missing_rank, first);
  mu_global_store_relaxed_system_u64(&slot->error_epoch, b->epoch);
  mu_global_store_release_system_u32(&slot->error, why);
}

// The word of a member that dropped says how often it has arrived in `counts`; it never will again.
MU_OWN void mu_barrier_recount(mu_barrier *b) {
  mu_u64 gone = 0, arrived = 0;
  b->staying = b->blocks;
  MU_ROLLED for (mu_u32 i = 0; i < b->blocks; i++) {
    mu_u64 word = mu_global_load_relaxed_system_u64(mu_slot_signs(b->slot) + i);
    if (word & MU_DROPPED) {
      b->staying--;
      if (i % b->shards == b->lane) {
        gone++;
        arrived += b->me->moving ? 1 : word & 0xffffffffffffull; // its second arrival would be elsewhere
      }
    }
  }
  b->step = (mu_u32)((b->blocks - b->lane + b->shards - 1) / b->shards - gone);
  b->target = b->me->offset[b->lane] + (b->epoch - b->sums) * b->step + arrived;
}

// What a waiting lane does now and then: rest a little (a wait that has lasted 20 us can spare half of one;
// others of the multiprocessor go first, and a CPU device lets those run for whom we wait), show itself,
// learn who has left, whether the slot is still ours, and whether its time is up. Returns why to stop, or
// MU_OK to look again.
MU_OWN mu_status mu_barrier_doubt(mu_barrier *b, mu_u64 start_ns) {
  mu_rest_ns(500);
  mu_barrier_show(b);
  mu_u64 drops = mu_global_load_acquire_system_u64(&b->slot->drops);
  if (!mu_barrier_all(b, drops == b->blocks - b->staying))
    mu_barrier_recount(b);
  mu_u32 foreign = mu_global_load_relaxed_system_u64(&b->slot->nonce) != b->nonce;
  if (mu_barrier_all(b, !foreign && mu_time_ns() - start_ns < b->timeout_ns))
    return MU_OK;
  return foreign ? MU_FOREIGN : MU_TIMEOUT;
}

// The wait for `counts` has to stop, unless the last arrival comes just now: then it finds no poison, or the
// poison finds it.
MU_OWN mu_status mu_barrier_give_up(mu_barrier *b, mu_status why) {
  mu_u32 lost = 0;
  mu_u64 seen = mu_barrier_load(b, b->look);
  while (seen < b->target && !lost) {
    mu_u64 now = mu_global_cas_relaxed_system_u64(b->look, seen, seen | MU_POISON);
    lost = now == seen;
    seen = now;
  }
  if (mu_barrier_all(b, !lost))
    return MU_OK; // complete, or poisoned by somebody else: the next look tells
  if (b->lane == 0)
    mu_barrier_poison(b, why);
  return why;
}

// A little rest before the first look, unless a wait was long just now: then the others do not come at the
// same time, and this block may be the last. How long is found out before the arrival, since after it every
// cycle counts.
MU_OWN mu_u32 mu_barrier_patience(mu_barrier *b) {
  mu_u32 cycles = b->eager ? 0 : b->pause;
  b->eager -= b->eager != 0;
  return cycles;
}
MU_OWN void mu_barrier_pause(mu_u32 cycles) {
  if (cycles) { // an empty loop would be dropped, so it is the clock that is read
    mu_u32 start = mu_cycles();
    while (mu_cycles() - start < cycles) {
    }
  }
}
MU_OWN void mu_barrier_learn(mu_barrier *b, mu_u32 looks) {
  if (looks > MU_LOOKS_BRIEF)
    b->eager = MU_EAGER;
}

// The hold while a long wait is called. All that lives in registers is parked here, on the stack of the
// called, and taken from here again: a call preserves only 16 registers, and what a kernel of 32 would have
// to keep across it is spilled for every barrier, not for the call alone.
typedef struct {
  mu_member *me;
  mu_u64 *arrive, *look;
  mu_u64 target, epoch;
  mu_u64 sums, timeout_ns; // not taken back: often constants
  mu_u32 step, staying, role, eager;
} mu_wait;

MU_OWN mu_wait mu_barrier_park(const mu_barrier *b) {
  mu_wait wait = {b->me,         b->arrive, b->look,    b->target, b->epoch, b->sums,
                  b->timeout_ns, b->step,   b->staying, b->role,   b->eager};
  return wait;
}
MU_OWN void mu_barrier_resume(mu_barrier *b, const mu_wait *wait) {
  b->me = wait->me;
  b->arrive = wait->arrive;
  b->look = wait->look;
  b->target = wait->target;
  b->epoch = wait->epoch;
  b->step = wait->step;
  b->staying = wait->staying;
  b->role = wait->role;
  b->eager = wait->eager;
}
// The hold again, as far as long waits need it.
MU_OWN mu_barrier mu_barrier_recall(const mu_wait *wait) {
  mu_barrier b;
  mu_barrier_resume(&b, wait);
  b.sums = wait->sums;
  b.timeout_ns = wait->timeout_ns;
  b.lane = wait->role / MU_ROLES;
  b.slot = b.me->slot;
  b.nonce = b.me->nonce;
  b.rank = b.me->rank;
  b.blocks = b.me->blocks;
  b.shards = b.me->shards;
  b.part = b.me->part;
  b.system = b.me->system;
  return b;
}

// The rest of a wait that is not over after MU_LOOKS_TRUST looks, or has found poison. Called, and told no
// more than it needs, so that barriers that are soon complete pay nothing for it.
MU_COLD void mu_barrier_watch_on(mu_wait *wait, mu_u32 acquire) {
  mu_barrier b = mu_barrier_recall(wait);
  mu_status status = MU_OK;
  mu_u64 start_ns = mu_time_ns(), seen;
  for (mu_u32 looks = 1;; looks++) {
    seen = mu_barrier_load(&b, b.look);
    if (mu_barrier_all(&b, seen >= b.target)) {
      if (acquire)
        (void)mu_barrier_load_acquire(&b, b.look);
      if (seen & MU_POISON) {
        mu_barrier_show(&b);
        status = MU_POISONED;
      }
      break;
    }
    if (looks % MU_LOOKS_TRUST == 1 && (status = mu_barrier_doubt(&b, start_ns)) &&
        (status = mu_barrier_give_up(&b, status)))
      break;
  }
  mu_barrier_tell(&b, status);
  *wait = mu_barrier_park(&b);
}

// The looking lanes' wait; PLAIN (a constant): the role has MU_PLAIN. The acquire comes once, after the look
// that succeeds; its value is not waited for. What stands between that look and the block's closing barrier
// is waited for by all blocks in every barrier: so one comparison asks whether the epoch is complete and the
// group whole (poison is the top bit), errors are told where they are found, and nothing is returned.
MU_OWN void mu_barrier_watch(mu_barrier *b, mu_u32 acquire, mu_u32 plain) {
  mu_u32 looks = 0;
  MU_ROLLED for (; looks < MU_LOOKS_TRUST; looks++) {
    mu_u64 seen = plain ? mu_global_load_relaxed_device_u64(b->look) : mu_barrier_load(b, b->look);
    mu_u32 complete = (mu_u32)((seen - b->target) >> 32) < (mu_u32)(MU_POISON >> 33);
    if (plain ? complete : mu_barrier_all(b, complete)) {
      if (acquire)
        (void)(plain ? mu_global_load_acquire_device_u64(b->look) : mu_barrier_load_acquire(b, b->look));
      mu_barrier_learn(b, looks);
      return;
    }
  }
  b->eager = MU_EAGER;
  mu_wait wait = mu_barrier_park(b);
  mu_barrier_watch_on(&wait, acquire);
  mu_barrier_resume(b, &wait);
}

// The first barrier is over: moves to the line that rank 0 chose. Those who left for good arrived there once
// less than they say, each of them: like everybody else once on the first line, so the offset has that.
MU_COLD void mu_barrier_move_on(mu_wait *wait) {
  mu_member *me = wait->me;
  mu_u32 line = (mu_u32)mu_global_load_relaxed_system_u64(&me->slot->line);
  mu_u64 *word = &me->slot->counts[line].word;
  if (word != wait->look) {
    mu_u64 count = mu_global_load_relaxed_system_u64(word) & ~MU_POISON;
    wait->target = mu_barrier_base(count, me->blocks);
    wait->arrive = wait->look = word;
    me->offset[0] = wait->target - me->blocks;
  }
  me->moving = 0;
  wait->role ^= MU_PLAIN | MU_MOVES;
}
MU_OWN void mu_barrier_move(mu_barrier *b) {
  mu_wait wait = mu_barrier_park(b);
  mu_barrier_move_on(&wait);
  mu_barrier_resume(b, &wait);
}

// Converges, then says in every copy that this block has come.
MU_OWN void mu_barrier_announce(mu_barrier *b) {
  b->epoch++;
  b->target += b->step;
  mu_barrier_converge(b);
  if (b->lane < b->copies)
    mu_barrier_add_release(b, b->arrive, 1);
}

// Says that this block has come, and does not wait: work that needs nothing of the others may follow. One
// wait has to follow before the next arrival.
MU_FN mu_token mu_barrier_arrive(mu_barrier *b) {
#if MU_HAS_CLUSTER
  if (b->hardware) {
    mu_cluster_arrive();
    return ++b->epoch;
  }
#endif
  mu_barrier_announce(b);
  mu_barrier_show(b);
  return b->epoch;
}

// Waits until the whole group has arrived, at most timeout_ns.
MU_FN mu_status mu_barrier_wait(mu_barrier *b, mu_token token) {
  if (token != b->epoch)
    return MU_OK; // of an earlier epoch, which was complete before this block arrived again
#if MU_HAS_CLUSTER
  if (b->hardware) {
    mu_cluster_wait();
    return MU_OK;
  }
#endif
  if (b->lane < b->shards)
    mu_barrier_watch(b, 1, 0);
  if (MU_SELDOM(b->role & MU_MOVES))
    mu_barrier_move(b);
  return mu_barrier_finish(b, MU_OK);
}

// The whole meeting. A plain group's lanes take a way of their own: the release is the first thing after the
// block has come together.
MU_OWN mu_status mu_barrier_meet(mu_barrier *b, mu_u32 ordered) {
  b->epoch++;
  b->target += b->step;
  mu_u32 patience = mu_barrier_patience(b);
  mu_barrier_converge(b);
  if (b->role & MU_PLAIN) {
    if (ordered)
      mu_global_red_add_release_device_u64(b->arrive, 1);
    else
      mu_global_red_add_relaxed_device_u64(b->arrive, 1);
    if (b->role & MU_LOOKS) {
      mu_barrier_pause(patience);
      mu_barrier_watch(b, ordered, 1);
    }
  } else if (MU_SELDOM(b->role)) {
    ordered |= b->role & MU_MOVES; // rank 0's choice has to be visible
    if (b->role & MU_ARRIVES) {
      if (ordered)
        mu_barrier_add_release(b, b->arrive, 1);
      else if (b->system)
        mu_global_red_add_relaxed_system_u64(b->arrive, 1);
      else
        mu_global_red_add_relaxed_device_u64(b->arrive, 1);
    }
    if (b->role & MU_LOOKS) {
      mu_barrier_pause(patience);
      mu_barrier_watch(b, ordered, 0);
    }
    if (b->role & MU_MOVES)
      mu_barrier_move(b);
  }
  return mu_barrier_finish(b, MU_OK);
}

// Both at once.
MU_FN mu_status mu_barrier_sync(mu_barrier *b) {
#if MU_HAS_CLUSTER
  if (b->hardware) {
    mu_cluster_arrive();
    mu_cluster_wait();
    return MU_OK;
  }
#endif
  return mu_barrier_meet(b, 1);
}

// Only a meeting: orders nothing between blocks, within the block as a block barrier does.
MU_FN mu_status mu_barrier_sync_relaxed(mu_barrier *b) {
#if MU_HAS_CLUSTER
  if (b->hardware) {
    b->epoch++;
    mu_cluster_arrive_relaxed();
    mu_cluster_wait();
    return MU_OK;
  }
#endif
  return mu_barrier_meet(b, 0);
}

// One look. Returns 1 if a wait would end at once (with an error too), else 0. A hardware cluster cannot be
// asked: 0.
MU_FN mu_u32 mu_barrier_test_wait(mu_barrier *b, mu_token token) {
  mu_u32 open = 0;
  if (token != b->epoch)
    return 1;
  if (b->hardware)
    return 0;
  if (b->lane < b->shards)
    open = mu_barrier_load(b, b->look) < b->target;
  return !mu_barrier_converge_or(b, open);
}

// The last error of this block (of this part of it), MU_OK if there was none. For callers that do not look at
// what every single barrier returns: after an error all later ones return at once.
MU_FN mu_status mu_barrier_status(const mu_barrier *b) {
  return mu_barrier_errors()[b->part];
}

// Who was missing when a deadline passed.
typedef struct {
  mu_u32 count, first; // how many, and the lowest rank of them
} mu_missing;

// As mu_barrier_wait, with a deadline of its own. If it passes the group is poisoned: this block gets
// MU_TIMEOUT and *missing, every other one MU_POISONED at its next look. timeout_ns is kept to about 20 us,
// and finding out who is missing takes 50 us more.
MU_FN mu_status mu_barrier_try_wait(mu_barrier *b, mu_token token, mu_u64 timeout_ns, mu_missing *missing) {
  mu_u64 usual = b->timeout_ns;
  b->timeout_ns = timeout_ns;
  mu_status status = mu_barrier_wait(b, token);
  b->timeout_ns = usual;
  missing->count = 0;
  missing->first = MU_NOBODY;
  if (status == MU_TIMEOUT) {
    missing->count = mu_global_load_relaxed_system_u32(&b->slot->missing_count);
    missing->first = mu_global_load_relaxed_system_u32(&b->slot->missing_rank);
  }
  return status;
}

// Arrives for the last time: from the next epoch on the others wait for one block less. They notice within
// some 20 us of waiting, once. The workspace has to be zeroed before the next launch uses it. In a hardware
// cluster the block has to leave the kernel after this.
MU_FN void mu_barrier_arrive_and_drop(mu_barrier *b) {
  b->epoch++;
#if MU_HAS_CLUSTER
  if (b->hardware) {
    mu_cluster_arrive();
    return;
  }
#endif
  mu_barrier_converge(b);
  if (b->lane == 0)
    mu_global_store_relaxed_system_u64(mu_slot_signs(b->slot) + b->rank,
                                       (mu_barrier_sign(b) - b->sums) | MU_DROPPED);
  if (b->lane < b->copies)
    mu_barrier_add_release(b, b->arrive, 1);
  if (b->lane == 0)
    mu_global_red_add_release_system_u64(&b->slot->drops, 1);
}

// What is left of a long wait for a sum: as mu_barrier_watch_on, but these words have no room for poison, so
// a look at `counts` has to tell of it.
MU_COLD mu_u64 mu_barrier_watch_sum_on(mu_wait *wait, const mu_u64 *word, mu_u64 sum, mu_u32 acquire) {
  mu_barrier b = mu_barrier_recall(wait);
  mu_status status = MU_OK, why = MU_OK;
  mu_u64 start_ns = mu_time_ns(), seen = sum;
  for (mu_u32 looks = 0;; looks++) {
    if (looks % MU_LOOKS_TRUST == 0) {
      why = mu_barrier_doubt(&b, start_ns);
      if (!mu_barrier_all(&b, !(mu_barrier_load(&b, b.look) & MU_POISON))) {
        mu_barrier_show(&b);
        status = MU_POISONED;
        break;
      }
    }
    seen = mu_barrier_load(&b, word);
    if (mu_barrier_all(&b, (mu_u32)(seen - sum) >= b.staying)) {
      if (acquire)
        (void)mu_barrier_load_acquire(&b, word);
      break;
    }
    if (why) {
      status = why;
      if (b.lane == 0)
        mu_barrier_poison(&b, why);
      break;
    }
  }
  mu_barrier_tell(&b, status);
  *wait = mu_barrier_park(&b);
  return seen;
}

// The looking lanes' part of a sum: arrive, wait, and leave what the word shows in b->last_sum. PLAIN as in
// mu_barrier_watch.
MU_OWN void mu_barrier_add(mu_barrier *b, mu_u64 *word, mu_u32 value, mu_u32 ordered, mu_u32 plain) {
  mu_u64 mine = (mu_u64)value << 32 | 1, seen;
  mu_u32 looks = 0, patience = mu_barrier_patience(b);
  if (plain || b->lane == 0) {
    if (ordered)
      plain ? mu_global_red_add_release_device_u64(word, mine) : mu_barrier_add_release(b, word, mine);
    else if (plain || !b->system)
      mu_global_red_add_relaxed_device_u64(word, mine);
    else
      mu_global_red_add_relaxed_system_u64(word, mine);
  }
  mu_barrier_pause(patience);
  MU_ROLLED for (; looks < MU_LOOKS_TRUST; looks++) {
    seen = plain ? mu_global_load_relaxed_device_u64(word) : mu_barrier_load(b, word);
    mu_u32 open = (mu_u32)(seen - b->sum) < b->staying;
    if (plain ? !open : mu_barrier_all(b, !open)) {
      if (ordered)
        (void)(plain ? mu_global_load_acquire_device_u64(word) : mu_barrier_load_acquire(b, word));
      mu_barrier_learn(b, looks);
      b->last_sum = seen;
      return;
    }
  }
  b->eager = MU_EAGER;
  mu_wait wait = mu_barrier_park(b);
  b->last_sum = mu_barrier_watch_sum_on(&wait, word, b->sum, ordered);
  mu_barrier_resume(b, &wait);
}

// Before the first sum of a launch: what do the words of `sums` start from? The first block that comes here,
// and before any can arrive, notes it; the others wait for that. A launch with this nonce that has used sums
// before, and was not closed, leaves nobody who knows (of a sum that is under way this block's own arrival is
// missing).
MU_COLD mu_status mu_barrier_open_sums(mu_slot *slot, mu_u64 nonce, mu_u32 blocks, mu_u64 timeout_ns) {
  mu_u64 start_ns = 0, seen = mu_global_load_acquire_system_u64(&slot->sum_nonce);
  mu_u32 known = 1;
  while (seen != nonce) {
    if (!(seen & MU_OPENING)) {
      mu_u64 now = mu_global_cas_acquire_system_u64(&slot->sum_nonce, seen, nonce | MU_OPENING);
      if (now == seen) {
        for (int i = 0; i < 2; i++)
          mu_global_store_relaxed_system_u64(&slot->sum_after[i],
                                             mu_global_load_relaxed_system_u64(&slot->sums[i].word));
        mu_global_store_release_system_u64(&slot->sum_nonce, nonce);
        return MU_OK;
      }
    } else if (!start_ns) {
      start_ns = mu_time_ns();
    } else if (mu_time_ns() - start_ns > timeout_ns) {
      return MU_STALE; // a launch died while it noted
    }
    seen = mu_global_load_acquire_system_u64(&slot->sum_nonce);
  }
  for (int i = 0; i < 2; i++)
    known &= (mu_u32)(mu_global_load_relaxed_system_u64(&slot->sums[i].word) -
                      mu_global_load_relaxed_system_u64(&slot->sum_after[i])) < blocks;
  return known ? MU_OK : MU_STALE;
}

// A meeting that brings the sum of one number a block: the number is the high half of the arrival, so it
// costs nothing. Such arrivals have words of their own, which take turns, so that a block that is ahead
// cannot spoil the sum of one that still reads it.
MU_OWN mu_status mu_barrier_sum(mu_barrier *b, mu_u32 value, mu_u32 *sum, mu_u32 ordered) {
  MU_SHARED mu_u32 sums[16]; // by number of the part
  *sum = 0;
  if (b->hardware)
    return MU_MISMATCH;
  if (MU_SELDOM(b->sums == 0)) {
    mu_status status = MU_OK;
    mu_barrier_converge(b); // nobody looks at the last error any more
    if (b->lane == 0)
      status = mu_barrier_open_sums(b->slot, b->nonce, b->blocks, b->timeout_ns);
    if (mu_barrier_finish(b, status))
      return mu_barrier_status(b);
    b->sum = mu_global_load_relaxed_system_u64(&b->slot->sum_after[0]);
    b->last_sum = mu_global_load_relaxed_system_u64(&b->slot->sum_after[1]);
  }
  mu_u64 *word = &b->slot->sums[b->sums & 1].word, before = b->sum, next = b->last_sum;
  b->epoch++;
  b->sums++;
  mu_barrier_converge(b);
  if (b->lane < b->shards) {
    if (b->role & MU_PLAIN)
      mu_barrier_add(b, word, value, ordered, 1);
    else
      mu_barrier_add(b, word, value, ordered, 0);
    b->sum = next;
    if (b->lane == 0)
      sums[b->part] = (mu_u32)((b->last_sum - before) >> 32);
  }
  mu_status status = mu_barrier_finish(b, MU_OK);
  *sum = sums[b->part];
  return status;
}

// A barrier that brings the sum of one number a block, for no more time. Not for hardware clusters
// (MU_MISMATCH). `value` counts in the part's first thread.
MU_FN mu_status mu_barrier_sync_add_u32(mu_barrier *b, mu_u32 value, mu_u32 *sum) {
  return mu_barrier_sum(b, value, sum, 1);
}
// The same, as mu_barrier_sync_relaxed: orders nothing between blocks but the number itself.
MU_FN mu_status mu_barrier_sync_add_relaxed_u32(mu_barrier *b, mu_u32 value, mu_u32 *sum) {
  return mu_barrier_sum(b, value, sum, 0);
}

// For launches that the hardware's launch number (%gridid) may not tell apart: replays of one graph, and
// groups over several GPUs. If such a launch used sums (mu_barrier_sync_add_u32, the votes,
// mu_collect_reduce_add_u32 and _s32), call this after the last of them; else the next launch's first sum
// says MU_STALE. Harmless otherwise. Callers: all threads, like a barrier.
MU_FN void mu_barrier_close(const mu_barrier *b) {
  if (b->rank == 0 && b->lane == 0 && b->sums) {
    mu_global_store_relaxed_system_u64(&b->slot->sum_after[b->sums & 1], b->sum);
    mu_global_store_relaxed_system_u64(&b->slot->sum_after[~b->sums & 1], b->last_sum);
  }
}

// How many threads of the group have PREDICATE; does any; do all. Whole blocks only.
MU_FN mu_status mu_barrier_sync_count(mu_barrier *b, mu_u32 predicate, mu_u32 *count) {
  return mu_barrier_sync_add_u32(b, mu_bar_count(predicate), count);
}
MU_FN mu_status mu_barrier_sync_or(mu_barrier *b, mu_u32 predicate, mu_u32 *any) {
  mu_status status = mu_barrier_sync_add_u32(b, mu_barrier_converge_or(b, predicate), any);
  *any = *any != 0;
  return status;
}
MU_FN mu_status mu_barrier_sync_and(mu_barrier *b, mu_u32 predicate, mu_u32 *all) {
  mu_status status = mu_barrier_sync_or(b, !predicate, all);
  *all = !*all;
  return status;
}

#endif
#endif
