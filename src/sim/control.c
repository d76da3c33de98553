/* control.c: branches, calls, returns, ends, and the ops that hold other ops together: guards and joins.
 *
 * Invariant: an op that parts lanes, or ends them, returns NULL after it has put every lane that lives into a
 * unit.
 */
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ branches */

static const sim_op *go_full(sim_run *r, const sim_op *o) {
  sim_counted(r, o, o->target);
  if (o->b && r->budget <= 0) {
    sim_unit_at(r->unit, o->target, o->x);
    r->quantum = true;
    return NULL;
  }
  return o->target + o->c;
}

static const sim_op *go_masked(sim_run *r, const sim_op *o) {
  sim_counted(r, o, o->target);
  if (o->b ? r->budget <= 0 : r->depth_key + o->x >= r->other_key) {
    sim_unit_at(r->unit, o->target, o->x);
    r->quantum = o->b;
    return NULL;
  }
  return o->target;
}

static const sim_op *go_slow(sim_run *r, const sim_op *o) {
  sim_counted(r, o, o->target);
  if (o->b && r->probe && o->target == r->probe->head) {
    sim_unit_at(r->unit, o->target, o->x);
    sim_probe_end(r);
    return NULL;
  }
  if (o->b ? r->budget <= 0 || r->unit->polled : r->depth_key + o->x >= r->other_key) {
    sim_unit_at(r->unit, o->target, o->x);
    r->quantum = o->b;
    return NULL;
  }
  return o->target;
}

static void say_branch(sim_run *r, const sim_op *o, uint32_t lanes, uint32_t taken, uint32_t target) {
  sim_say_own(r, &(sim_event){.kind = SIM_EVENT_BRANCH, .branch = {.taken = taken, .target = target}}, lanes,
              o);
}

/* Lanes part: `taken` go to the target. */
static const sim_op *part(sim_run *r, const sim_op *o, uint32_t taken) {
  sim_unit *u = r->unit;
  sim_counted(r, o, o->target);
  sim_unit_at(u, o + 1, o->y);
  sim_unit *v = sim_unit_split(r->warp, u, taken);
  sim_unit_at(v, o->target, o->x);
  r->stats.fragments_split++;
  if (sim_watches(r, SIM_WATCH_FLOW))
    say_branch(r, o, taken | u->mask, taken, o->target->insn);
  return NULL;
}

/* A branch around a few instructions that neither wait nor part lanes (o->d of them): lanes `on` carry them
 * out while the others stand still, without becoming a unit of their own. False: a fault. */
static bool masked_body(sim_run *r, const sim_op *o, uint32_t on) {
  sim_ctx *c = &r->ctx;
  sim_mask_set(r, on);
  for (const sim_op *p = o + 1; p != o->target;) {
    p = p->fn[SIM_MASKED](p, c);
    if (!p)
      return false;
  }
  r->warp_insns += o->d;
  r->thread_insns += o->d * r->lanes;
  return true;
}

static const sim_op *around_full(sim_run *r, const sim_op *o, uint32_t taken) {
  sim_ctx *c = &r->ctx;
  uint32_t mask = c->mask;
  sim_counted(r, o, o->target);
  r->budget -= o->d;
  if (!masked_body(r, o, mask & ~taken))
    return NULL;
  c->mask = mask;
  r->lanes = sim_count(mask);
  return o->target + o->c;
}

static const sim_op *around_masked(sim_run *r, const sim_op *o, uint32_t taken) {
  uint32_t mask = r->ctx.mask;
  sim_counted(r, o, o->target);
  r->budget -= o->d;
  if (!masked_body(r, o, mask & ~taken))
    return NULL;
  sim_mask_set(r, mask);
  if (r->depth_key + o->x < r->other_key)
    return o->target;
  sim_unit_at(r->unit, o->target, o->x);
  return NULL;
}

static const sim_op *always_full(const sim_op *o, sim_ctx *c) {
  return go_full(sim_run_of(c), o);
}
static const sim_op *always_masked(const sim_op *o, sim_ctx *c) {
  return go_masked(sim_run_of(c), o);
}
static const sim_op *always_slow(const sim_op *o, sim_ctx *c) {
  return go_slow(sim_run_of(c), o);
}
static const sim_op *branch_full(const sim_op *o, sim_ctx *c) {
  uint32_t taken = sim_pred(c, o->a) & c->mask;
  if (!taken)
    return o + 1;
  sim_run *r = sim_run_of(c);
  return taken == c->mask ? go_full(r, o) : o->d ? around_full(r, o, taken) : part(r, o, taken);
}
static const sim_op *branch_masked(const sim_op *o, sim_ctx *c) {
  uint32_t taken = sim_pred(c, o->a) & c->mask;
  if (!taken)
    return o + 1;
  sim_run *r = sim_run_of(c);
  return taken == c->mask ? go_masked(r, o) : o->d ? around_masked(r, o, taken) : part(r, o, taken);
}
static const sim_op *branch_slow(const sim_op *o, sim_ctx *c) {
  uint32_t taken = sim_pred(c, o->a) & c->mask;
  if ((!taken || taken == c->mask) && sim_watches(sim_run_of(c), SIM_WATCH_BRANCHES))
    say_branch(sim_run_of(c), o, c->mask, taken, o->target->insn);
  if (!taken)
    return o + 1;
  return taken == c->mask ? go_slow(sim_run_of(c), o) : part(sim_run_of(c), o, taken);
}

/* ---- of a gang: its warps part as the lanes of a warp do ---- */

static const sim_op *stop_gang(sim_run *r, const sim_op *pc, uint32_t order, bool quantum) {
  sim_gang_at(r, r->ctx.gang, pc, order);
  r->quantum = quantum;
  return NULL;
}

/* All that are left in the gang go to the target; they are counted up to there. */
static const sim_op *arrive_gang(sim_run *r, const sim_op *o) {
  if (o->b ? r->budget <= 0 : r->depth_key + o->x >= r->other_key)
    return stop_gang(r, o->target, o->x, o->b);
  return o->target;
}

static const sim_op *go_gang(sim_run *r, const sim_op *o) {
  sim_counted(r, o, o->target);
  return arrive_gang(r, o);
}

/* Some warps stay, some are gone, some have parted lanes: these stop, as do those who will be ahead of the
 * others, who remain the gang. */
static const sim_op *part_gang(sim_run *r, const sim_op *o, uint32_t stay, uint32_t gone) {
  sim_ctx *c = &r->ctx;
  sim_counted(r, o, o + 1);
  SIM_EACH(w, c->gang & ~stay & ~gone) {
    sim_gang_one(r, w);
    uint32_t taken = sim_pred(c, o->a) & c->mask;
    sim_unit_at(r->unit, o + 1, o->y);
    sim_unit_at(sim_unit_split(r->warp, r->unit, taken), o->target, o->x);
    r->stats.fragments_split++;
    if (sim_watches(r, SIM_WATCH_FLOW))
      say_branch(r, o, c->mask, taken, o->target->insn);
  }
  bool goes = gone && (o->b || !stay);
  uint64_t other_key = r->depth_key + (goes ? o->y : o->x);
  if (stay && gone && other_key < r->other_key)
    r->other_key = other_key;
  if (goes)
    sim_gang_at(r, stay, o + 1, o->y);
  else
    sim_gang_at(r, gone, o->target, o->x);
  sim_gang_set(r, goes ? gone : stay);
  if (!c->gang)
    return NULL;
  sim_gang_all(r);
  if (!goes)
    return o + 1;
  r->from = o->target->insn;
  return arrive_gang(r, o);
}

/* One warp of a gang that is told carries out the ops from `from` to the branch's target, lanes `on` of it.
 * False: a fault. */
static bool told_body(sim_run *r, const sim_op *o, const sim_op *from, uint32_t on) {
  uint64_t warp_insns = r->warp_insns, thread_insns = r->thread_insns;
  int64_t budget = r->budget;
  uint32_t at = r->from;
  sim_mask_set(r, on);
  for (const sim_op *p = from; p != o->target;) {
    if (r->warp->undefined)
      sim_define_step(r, p);
    const sim_op *next = p->fn[SIM_SLOW](p, &r->ctx);
    if (r->fault.kind)
      return false;
    p = next ? next : p + 1; /* a watcher asked it to stop, which the gang does behind the target */
  }
  r->warp_insns = warp_insns, r->thread_insns = thread_insns, r->budget = budget, r->from = at;
  r->parts |= r->warp->undefined;
  return true;
}

/* The same for a warp whose lanes part at the branch and are together again at its target. */
static bool told_around(sim_run *r, const sim_op *o) {
  uint32_t all = r->ctx.mask, on = all & ~sim_pred(&r->ctx, o->a);
  if (sim_watches(r, SIM_WATCH_FLOW))
    say_branch(r, o, all, all & ~on, o->target->insn);
  if (!told_body(r, o, o + 1, on))
    return false;
  r->warp_insns += o->d;
  r->thread_insns += o->d * sim_count(on);
  sim_mask_set(r, all);
  if (sim_watches(r, SIM_WATCH_FLOW))
    sim_say_own(r, &(sim_event){.kind = SIM_EVENT_BRANCH, .branch = {.taken = on, .joins = true}}, all,
                o->target);
  return true;
}

static const sim_op *around_gang(sim_run *r, const sim_op *o, uint32_t stay, uint32_t gone) {
  sim_ctx *c = &r->ctx;
  bool told = c->way == SIM_TOLD;
  uint32_t gang = c->gang, warps = r->warps;
  uint64_t lanes = r->lanes;
  sim_counted(r, o, o->target);
  r->budget -= o->d;
  SIM_EACH(w, gang & ~stay & ~gone) {
    sim_gang_one(r, w);
    if (!(told ? told_around(r, o) : masked_body(r, o, c->mask & ~sim_pred(c, o->a))))
      return NULL;
  }
  sim_gang_all(r);
  if (stay) {
    sim_gang_set(r, stay);
    const sim_op *p = o + 1;
    while (p != o->target && !(told && r->parts)) {
      p = p->fn[c->way](p, c);
      if (!p)
        return NULL;
    }
    SIM_EACH(w, p != o->target ? stay : 0) { /* one of them has a register that nobody wrote */
      sim_gang_one(r, w);
      if (!told_body(r, o, p, c->mask))
        return NULL;
    }
    sim_gang_all(r);
    r->warp_insns += (uint64_t)o->d * r->warps;
    r->thread_insns += o->d * r->lanes;
  }
  c->gang = gang, r->warps = warps, r->lanes = lanes;
  return arrive_gang(r, o);
}

static const sim_op *always_gang(const sim_op *o, sim_ctx *c) {
  return go_gang(sim_run_of(c), o);
}
static const sim_op *branch_gang(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t stay = 0, gone = 0, gang = c->gang, any = 0, all = UINT32_MAX;
  uint32_t not = (uint32_t)((int32_t)o->a >> 31);
  sim_row pred = sim_row_of(c, o->a & ~SIM_NOT);
  for (uint32_t left = gang, w = 0; left; left >>= 1, w++) {
    uint32_t taken = *(const uint32_t *)(pred.at + pred.step * w) ^ not;
    any |= left & 1 ? taken : 0;
    all &= left & 1 ? taken : UINT32_MAX;
  }
  if (!any)
    return o + 1;
  if (all == UINT32_MAX)
    return go_gang(r, o);
  SIM_EACH(w, gang) {
    uint32_t live = r->block->warps[w].live, taken = sim_pred_in(c, o->a, w) & live;
    stay |= (uint32_t)!taken << w;
    gone |= (uint32_t)(taken == live) << w;
  }
  if (stay == gang)
    return o + 1;
  if (gone == gang)
    return go_gang(r, o);
  return o->d ? around_gang(r, o, stay, gone) : part_gang(r, o, stay, gone);
}
static const sim_op *branch_told(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (sim_watches(r, SIM_WATCH_BRANCHES)) {
    SIM_EACH(w, c->gang) {
      sim_gang_one(r, w);
      uint32_t taken = sim_pred(c, o->a) & c->mask;
      if (!taken || taken == c->mask)
        say_branch(r, o, c->mask, taken, o->target->insn);
    }
    sim_gang_all(r);
  }
  return branch_gang(o, c);
}

void sim_make_branch(sim_op *op, uint32_t pred) {
  op->a = pred;
  bool always = pred == SIM_NOWHERE;
  op->fn[SIM_FULL] = always ? always_full : branch_full;
  op->fn[SIM_MASKED] = always ? always_masked : branch_masked;
  op->fn[SIM_SLOW] = always ? always_slow : branch_slow;
  op->fn[SIM_GANG] = always ? always_gang : branch_gang;
  op->fn[SIM_TOLD] = always ? always_gang : branch_told;
}

/* To one of a table: each lane by its own index. */
static const sim_op *brx(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_table *t = o->more;
  const uint32_t *index = sim_at(c, o->a);
  sim_unit *u = r->unit;
  uint32_t left = c->mask;
  SIM_EACH(i, left)
  if (index[i] >= t->n)
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, i, 0, 0, "index %u of a brx with %u targets",
                           index[i], t->n);
  sim_counted(r, o, o);
  for (bool first = true; left; first = false) {
    uint32_t k = index[sim_first(left)], lanes = 0;
    SIM_EACH(i, left)
    lanes |= index[i] == k ? UINT32_C(1) << i : 0;
    left &= ~lanes;
    sim_unit *v = first && !left ? u : left ? sim_unit_split(r->warp, u, lanes) : u;
    sim_unit_at(v, t->to[k].op, t->to[k].order);
    if (sim_watches(r, SIM_WATCH_FLOW) && (lanes != c->mask || sim_watches(r, SIM_WATCH_BRANCHES)))
      say_branch(r, o, lanes, lanes, t->to[k].insn);
  }
  r->quantum = r->budget <= 0;
  return NULL;
}

/* ------------------------------------------------------------------ guards and joins */

static const sim_op *guard(const sim_op *o, sim_ctx *c, uint32_t way) {
  uint32_t mask = c->mask, on = sim_pred(c, o->a) & mask;
  if (!on)
    return o + 2;
  if (on == mask)
    return o[1].fn[way](o + 1, c);
  sim_run *r = sim_run_of(c);
  sim_mask_set(r, on);
  const sim_op *next = o[1].fn[way == SIM_FULL ? SIM_MASKED : way](o + 1, c);
  if (way == SIM_FULL) {
    c->mask = mask;
    r->lanes = sim_count(mask);
  } else {
    sim_mask_set(r, mask);
  }
  return next;
}
static const sim_op *guard_full(const sim_op *o, sim_ctx *c) {
  return guard(o, c, SIM_FULL);
}
static const sim_op *guard_masked(const sim_op *o, sim_ctx *c) {
  return guard(o, c, SIM_MASKED);
}
static const sim_op *guard_slow(const sim_op *o, sim_ctx *c) {
  return guard(o, c, SIM_SLOW);
}
static inline const sim_op *guard_all(const sim_op *o, sim_ctx *c, uint32_t all, uint32_t one) {
  sim_run *r = sim_run_of(c);
  uint32_t gang = c->gang, whole = 0, parts = 0;
  uint64_t lanes = r->lanes;
  SIM_EACH(w, gang) {
    uint32_t live = r->block->warps[w].live, on = sim_pred_in(c, o->a, w) & live;
    whole |= (uint32_t)(on == live) << w;
    parts |= (uint32_t)(on && on != live) << w;
  }
  c->gang = whole;
  if (whole && !o[1].fn[all](o + 1, c))
    return NULL;
  c->gang = gang;
  SIM_EACH(w, parts) {
    sim_gang_one(r, w);
    if (!guard(o, c, one))
      return NULL;
  }
  if (parts)
    sim_gang_all(r);
  r->lanes = lanes;
  return o + 2;
}
static const sim_op *guard_gang(const sim_op *o, sim_ctx *c) {
  return guard_all(o, c, SIM_GANG, SIM_FULL);
}
static const sim_op *guard_told(const sim_op *o, sim_ctx *c) {
  return guard_all(o, c, SIM_TOLD, SIM_SLOW);
}
void sim_make_guard(sim_op *op, uint32_t pred) {
  op->a = pred;
  op->fn[SIM_FULL] = guard_full;
  op->fn[SIM_MASKED] = guard_masked;
  op->fn[SIM_SLOW] = guard_slow;
  op->fn[SIM_GANG] = guard_gang;
  op->fn[SIM_TOLD] = guard_told;
}

static const sim_op *join_full(const sim_op *o, sim_ctx *c) {
  (void)c;
  return o + 1;
}
static const sim_op *join_masked(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (r->depth_key + o->x < r->other_key)
    return o + 1;
  sim_counted_before(r, o);
  sim_unit_at(r->unit, o, o->x);
  return NULL;
}
static const sim_op *join_gang(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (r->depth_key + o->x < r->other_key)
    return o + 1;
  sim_counted_before(r, o);
  return stop_gang(r, o, o->x, false);
}
void sim_make_join(sim_op *op) {
  op->fn[SIM_FULL] = join_full;
  op->fn[SIM_MASKED] = op->fn[SIM_SLOW] = join_masked;
  op->fn[SIM_GANG] = join_gang;
}
bool sim_is_join(const sim_op *op) {
  return op->fn[SIM_FULL] == join_full;
}

bool sim_is_guard(const sim_op *op) {
  return op->fn[SIM_FULL] == guard_full;
}
bool sim_is_branch(const sim_op *op) {
  return op->fn[SIM_FULL] == branch_full || op->fn[SIM_FULL] == always_full;
}

static const sim_op *stop(const sim_op *o, sim_ctx *c) {
  (void)o, (void)c;
  return NULL;
}
void sim_make_stop(sim_op *op) {
  sim_use_one(op, stop);
}

/* ------------------------------------------------------------------ calls */

typedef enum pass_kind { PASS_MEMORY, PASS_TO_REG, PASS_FROM_REG, PASS_REGS } pass_kind;

/* How one argument or result goes over: between the caller's local memory or register and the callee's. */
typedef struct pass {
  uint8_t kind;
  uint8_t lane_bytes;   /* of the register(s) */
  uint8_t moved;        /* bytes of memory, if a register is involved */
  uint32_t bytes;       /* PASS_MEMORY */
  uint32_t mine, other; /* place, or offset in local memory; other: the callee's */
} pass;

typedef struct call_info {
  const sim_func *caller, *callee; /* callee NULL: by address or built in */
  sim_builtin *builtin;
  const char *name;
  pass *args, *rets;
  uint32_t n_args, n_rets;
  bool noreturn;
} call_info;

static uint32_t local_base(const sim_func *f, const sim_ctx *c, uint32_t lane) {
  return f->link == SIM_NOWHERE ? 0 : ((const sim_link *)sim_at(c, f->link))->local[lane];
}

static uint32_t local_end(const sim_func *f, const sim_ctx *c, uint32_t lane) {
  if (f->stack_top != SIM_NOWHERE)
    return ((const uint32_t *)sim_at(c, f->stack_top))[lane];
  return local_base(f, c, lane) + f->local_bytes;
}

static uint8_t *local_of(const sim_warp *w, uint32_t lane, uint32_t offset) {
  return w->local + (size_t)lane * w->local_bytes + offset;
}

/* `to_callee`: an argument, else a result. */
static void pass_lane(const sim_run *r, const pass *p, uint32_t lane, uint32_t my_local, char *my_frame,
                      uint32_t its_local, char *its_frame, bool to_callee) {
  uint8_t *mine =
      p->kind == PASS_MEMORY || p->kind == PASS_TO_REG ? local_of(r->warp, lane, my_local + p->mine) : NULL;
  uint8_t *other = p->kind == PASS_MEMORY || p->kind == PASS_FROM_REG
                       ? local_of(r->warp, lane, its_local + p->other)
                       : NULL;
  uint32_t bytes = p->kind == PASS_MEMORY ? p->bytes : p->moved, clear = 0;
  if (!mine) {
    uint32_t at = p->mine;
    mine = (uint8_t *)((at & 3) == SIM_IN_FRAME ? my_frame + at : r->ctx.base[at & 3] + at) +
           lane * p->lane_bytes;
    clear = to_callee ? 0 : p->lane_bytes;
  }
  if (!other) {
    other = (uint8_t *)its_frame + p->other + lane * p->lane_bytes;
    clear = to_callee ? p->lane_bytes : 0;
  }
  uint8_t *to = to_callee ? other : mine, *from = to_callee ? mine : other;
  uint8_t value[16];
  if (clear) { /* a register: what the value does not fill is zero */
    memcpy(value, from, bytes <= 16 ? bytes : 16);
    memset(to, 0, clear);
    memcpy(to, value, bytes < clear ? bytes : clear);
  } else {
    memcpy(to, from, bytes);
  }
}

/* The two sides of a call: function, frame, and where each lane's local memory begins. */
typedef struct call_side {
  const sim_func *func;
  uint32_t frame;
  const uint32_t *local;
} call_side;

/* The same for definedness, for all lanes that go over. */
static void pass_defined(sim_run *r, const pass *p, uint32_t lanes, const call_side *my, const call_side *its,
                         bool to_callee) {
  const call_side *source = to_callee ? my : its, *target = to_callee ? its : my;
  uint32_t from = to_callee ? p->mine : p->other, to = to_callee ? p->other : p->mine;
  if (p->kind == PASS_REGS) {
    sim_define_pass(r->warp, source->func, source->frame, from, target->func, target->frame, to, lanes);
    return;
  }
  bool reg_is_source = (p->kind == PASS_FROM_REG) == to_callee;
  SIM_EACH(i, lanes) {
    sim_found a = {.space = PTX_SPACE_LOCAL, .offset = source->local[i] + from},
              b = {.space = PTX_SPACE_LOCAL, .offset = target->local[i] + to};
    if (p->kind == PASS_MEMORY)
      sim_define_copied(r, &b, &a, i, p->bytes);
    else if (reg_is_source)
      sim_define_to_memory(r, source->func, source->frame, from, &b, i, p->moved);
    else
      sim_define_from_memory(r, target->func, target->frame, to, &a, i, p->moved);
  }
}

/* Room for another frame; the registers may move. */
static bool frame_room(sim_run *r, uint32_t end) {
  sim_warp *w = r->warp;
  if (end <= w->regs_bytes)
    return true;
  uint32_t more = w->regs_bytes * 2 > end ? w->regs_bytes * 2 : end;
  if (more > SIM_FRAMES_MAX || !sim_warp_grow(w, (more + 63) / 64 * 64))
    return false;
  r->ctx.base[SIM_IN_FRAME] = sim_biased(w->regs + r->unit->frame, SIM_IN_FRAME);
  return true;
}

static const sim_op *enter_func(sim_run *r, const sim_op *o, const call_info *info, const sim_func *f) {
  sim_unit *u = r->unit;
  sim_ctx *c = &r->ctx;
  const sim_func *from = info->caller;
  uint32_t frame = u->frame + (from->frame_bytes + 63) / 64 * 64, first = sim_first(u->mask);
  if (!frame_room(r, frame + f->frame_bytes))
    return sim_fault_raise(r, o, SIM_FAULT_STACK, first, 0, 0, "the call of %s goes too deep", f->decl->name);
  char *mine = r->warp->regs + u->frame, *its = r->warp->regs + frame;
  sim_link *link = (sim_link *)(its + f->link);
  uint32_t mine_at[SIM_LANES], its_at[SIM_LANES];
  SIM_EACH(i, u->mask) {
    uint32_t my_local = local_base(from, c, i), its_local = local_end(from, c, i);
    mine_at[i] = my_local, its_at[i] = its_local;
    if ((uint64_t)its_local + f->local_bytes > r->warp->local_bytes)
      return sim_fault_raise(r, o, SIM_FAULT_STACK, i, 0, 0,
                             "the call of %s goes too deep: the stack is full", f->decl->name);
    link->call[i] = o, link->frame[i] = u->frame, link->local[i] = its_local;
    for (uint32_t k = 0; k < info->n_args; k++)
      pass_lane(r, &info->args[k], i, my_local, mine, its_local, its, true);
    if (f->stack_top != SIM_NOWHERE)
      ((uint32_t *)(its + f->stack_top))[i] = its_local + f->local_bytes;
  }
  if (r->defines) {
    sim_define_frame(r->warp, f, frame, u->mask);
    const call_side my_side = {from, u->frame, mine_at}, its_side = {f, frame, its_at};
    for (uint32_t k = 0; k < info->n_args; k++)
      pass_defined(r, &info->args[k], u->mask, &my_side, &its_side, true);
  }
  if (sim_watches(r, SIM_WATCH_FLOW))
    sim_say(r, &(sim_event){.kind = SIM_EVENT_CALL}, u->mask, o);
  sim_counted(r, o, f->ops);
  u->func = f, u->frame = frame, u->depth++;
  sim_unit_at(u, f->ops, f->order[0]);
  r->depth_key = sim_depth_key(u->depth);
  if (r->only_told)
    sim_who_of(r, 0, f->ops, &r->told.who);
  c->base[SIM_IN_FRAME] = sim_biased(its, SIM_IN_FRAME);
  if (r->other_key != UINT64_MAX || r->budget <= 0) /* who was behind may be ahead now: ask */
    return NULL;
  return f->ops;
}

static const sim_op *call(const sim_op *o, sim_ctx *c) {
  const call_info *info = o->more;
  return enter_func(sim_run_of(c), o, info, info->callee);
}

static const sim_op *call_builtin(const sim_op *o, sim_ctx *c) {
  const call_info *info = o->more;
  sim_run *r = sim_run_of(c);
  uint64_t regs[8];
  if (r->probe)
    r->probe->wrote = true;
  SIM_EACH(i, c->mask) {
    uint8_t *args[8] = {0}, *result = NULL;
    uint32_t base = local_base(info->caller, c, i);
    for (uint32_t k = 0; k < info->n_args && k < 8; k++) {
      const pass *p = &info->args[k];
      regs[k] = 0;
      if (p->kind == PASS_MEMORY)
        args[k] = local_of(r->warp, i, base + p->mine);
      else
        args[k] = memcpy(&regs[k], (char *)sim_at(c, p->mine) + i * p->lane_bytes, p->lane_bytes);
    }
    uint64_t value = 0;
    result = (uint8_t *)&value;
    if (!info->builtin(r, o, i, args, result))
      return NULL;
    if (info->n_rets && info->rets[0].kind == PASS_MEMORY)
      memcpy(local_of(r->warp, i, base + info->rets[0].mine), &value,
             info->rets[0].bytes < 8 ? info->rets[0].bytes : 8);
    else if (info->n_rets)
      memcpy((char *)sim_at(c, info->rets[0].mine) + i * info->rets[0].lane_bytes, &value,
             info->rets[0].lane_bytes);
    if (r->defines && info->n_rets && info->rets[0].kind == PASS_MEMORY)
      sim_define_memory(r, &(sim_found){.space = PTX_SPACE_LOCAL, .offset = base + info->rets[0].mine}, i,
                        info->rets[0].bytes, true);
    else if (r->defines && info->n_rets)
      sim_define_at(r, info->rets[0].mine, UINT32_C(1) << i, 0, 0);
  }
  return o + 1;
}

/* Through a register: lanes may go to different functions. */
static const sim_op *call_indirect(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const uint64_t *to = sim_at(c, o->a);
  uint32_t first = sim_first(c->mask), same = 0;
  const sim_func *f = sim_func_at(r->grid->code, to[first]);
  const call_info *info = o->more;
  if (!f)
    return sim_fault_raise(r, o, SIM_FAULT_ADDRESS, first, to[first], 0,
                           "call of 0x%llx, which is no function", (unsigned long long)to[first]);
  if (f->decl->n_params != info->n_args || f->decl->n_rets < info->n_rets)
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, first, to[first], 0, "call of %s with %u arguments",
                           f->decl->name, info->n_args);
  SIM_EACH(i, c->mask)
  same |= to[i] == to[first] ? UINT32_C(1) << i : 0;
  if (same != c->mask) { /* one function after the other: the rest stays at the call */
    sim_unit *u = r->unit;
    sim_unit *v = sim_unit_split(r->warp, u, u->mask & ~same);
    sim_unit_at(v, o, sim_order_of(u->func, o->insn));
    sim_mask_set(r, same);
    r->other_key = 0;
  }
  call_info own = *info;
  pass args[32];
  if (info->n_args > BASE_COUNT(args))
    return sim_fault_raise(r, o, SIM_FAULT_UNMODELLED, first, 0, 0,
                           "call: more than 32 arguments through a register");
  for (uint32_t k = 0; k < info->n_args; k++) {
    args[k] = info->args[k];
    const ptx_var *v = &f->body->vars[f->decl->n_rets + k];
    args[k].other = v->space == PTX_SPACE_GENERIC ? f->reg[v->offset] : f->vars[f->decl->n_rets + k];
  }
  own.args = args;
  return enter_func(r, o, &own, f);
}

static const sim_op *leave(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_unit *u = r->unit;
  sim_warp *w = r->warp;
  const sim_func *f = u->func;
  const sim_link *link = sim_at(c, f->link);
  uint32_t first = sim_first(u->mask), same = 0;
  SIM_EACH(i, u->mask)
  same |= link->call[i] == link->call[first] && link->frame[i] == link->frame[first] ? UINT32_C(1) << i : 0;
  if (sim_watches(r, SIM_WATCH_FLOW))
    sim_say(r, &(sim_event){.kind = SIM_EVENT_RETURN}, u->mask, o);
  const sim_op *at = link->call[first];
  const call_info *info = at->more;
  sim_counted(r, o, at + 1);
  if (same != u->mask) { /* they were called from different places: the rest returns next */
    sim_unit *v = sim_unit_split(w, u, u->mask & ~same);
    sim_unit_at(v, o, sim_order_of(f, o->insn));
  }
  char *mine = w->regs + link->frame[first], *its = w->regs + u->frame;
  uint32_t mine_at[SIM_LANES], its_at[SIM_LANES];
  SIM_EACH(i, same) {
    const sim_func *to = info->caller;
    uint32_t my_local = to->link == SIM_NOWHERE ? 0 : ((const sim_link *)(mine + to->link))->local[i];
    mine_at[i] = my_local, its_at[i] = link->local[i];
    for (uint32_t k = 0; k < info->n_rets; k++) {
      pass p = info->rets[k];
      const ptx_var *v = &f->body->vars[k];
      p.other = v->space == PTX_SPACE_GENERIC ? f->reg[v->offset] : f->vars[k];
      pass_lane(r, &p, i, my_local, mine, link->local[i], its, false);
      if (r->defines)
        pass_defined(r, &p, UINT32_C(1) << i, &(call_side){to, link->frame[first], mine_at},
                     &(call_side){f, u->frame, its_at}, false);
    }
  }
  u->func = info->caller;
  u->frame = link->frame[first];
  u->depth--;
  sim_unit_at(u, at + 1, sim_order_of(u->func, at->insn + 1));
  return NULL;
}

static const sim_op *end(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_counted(r, o, o);
  sim_lanes_exit(r, o, c->mask);
  return NULL;
}

/* Of a gang: the whole block ends at once, as a rule. */
static const sim_op *end_gang(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_block *b = r->block;
  if (r->lanes != b->live || r->watcher)
    return sim_gang_apart(o, c);
  sim_counted(r, o, o);
  SIM_EACH(w, c->gang) {
    sim_warp *v = &b->warps[w];
    sim_unit *u = &v->units[sim_first(v->used)];
    if (u->probe)
      sim_probe_spoil(u->probe);
    v->live = v->used = v->ready = 0;
  }
  b->live = b->ready = 0;
  if (b->cluster)
    sim_cluster_exit(r, b, (uint32_t)r->lanes);
  return NULL;
}

void sim_make_return(sim_op *op, const sim_func *f) {
  sim_use_one(op, f->decl->entry ? end : leave);
  op->fn[SIM_GANG] = f->decl->entry ? end_gang : sim_gang_apart;
}

static pass make_pass(sim_build *w, const ptx_body *b, const ptx_operand *o, const ptx_var *formal) {
  pass p = {.bytes = (uint32_t)formal->bytes};
  bool mine_reg = o->kind != PTX_VAR, its_reg = formal->space == PTX_SPACE_GENERIC;
  p.kind = mine_reg ? its_reg ? PASS_REGS : PASS_FROM_REG : its_reg ? PASS_TO_REG : PASS_MEMORY;
  if (formal->unsized)
    p.bytes = (uint32_t)b->vars[o->index].bytes;
  p.mine = mine_reg ? sim_place_at(w, b, o) : w->f->vars[o->index];
  if (o->kind == PTX_SINK)
    p.mine = w->f->trash;
  uint32_t bits = mine_reg ? sim_operand_bits(b, o) : ptx_type_bits((ptx_type)formal->type);
  p.lane_bytes = (uint8_t)(bits <= 32 ? 4 : bits / 8);
  p.moved = (uint8_t)ptx_type_bytes((ptx_type)formal->type);
  if (p.kind == PASS_REGS)
    p.moved = p.lane_bytes;
  return p;
}

static bool select_call(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  const ptx_operand *rets = sim_operand(b, i, 0), *callee = sim_operand(b, i, 1),
                    *args = sim_operand(b, i, 2), *proto = sim_operand(b, i, 3);
  call_info *info = base_alloc(&w->code->arena, sizeof *info);
  const ptx_var *formal_rets = NULL, *formal_args = NULL;
  w->blocks = true;
  info->caller = w->f;
  info->n_rets = rets->kind == PTX_VEC ? (uint32_t)rets->count : 0;
  info->n_args = args->kind == PTX_VEC ? (uint32_t)args->count : 0;
  if (callee->kind == PTX_FUNC) {
    const ptx_func *decl = &w->f->ptx->funcs[callee->index];
    formal_rets = decl->rets, formal_args = decl->params;
    info->name = decl->name;
    sim_module *owner = w->f->module;
    uint32_t func = callee->index;
    info->builtin = sim_resolve_func(&owner, &func) ? NULL : sim_builtin_find(decl->name);
    if (!info->builtin) {
      sim_func *f = sim_code_func(w, w->f->module, callee->index);
      info->callee = f;
      *BASE_PUSH(&w->code->arena, w->f->callees, w->f->n_callees, w->f->cap_callees) = f;
    }
  } else {
    const ptx_proto *p = &b->protos[proto->index];
    w->code->calls_indirectly = true;
    if (p->n_funcs) {
      formal_rets = w->f->ptx->funcs[p->funcs[0]].rets, formal_args = w->f->ptx->funcs[p->funcs[0]].params;
    } else {
      formal_rets = p->rets, formal_args = p->params;
    }
  }
  info->args = base_alloc_array(&w->code->arena, info->n_args + 1, sizeof *info->args);
  info->rets = base_alloc_array(&w->code->arena, info->n_rets + 1, sizeof *info->rets);
  for (uint32_t k = 0; k < info->n_args; k++)
    info->args[k] = make_pass(w, b, &b->operands[args->index + k], &formal_args[k]);
  for (uint32_t k = 0; k < info->n_rets; k++)
    info->rets[k] = make_pass(w, b, &b->operands[rets->index + k], &formal_rets[k]);
  op->more = info;
  if (callee->kind == PTX_REG) {
    op->a = sim_place_at(w, b, callee);
    if (sim_operand_bits(b, callee) != 64)
      return false;
  }
  sim_use_one(op, info->builtin ? call_builtin : info->callee ? call : call_indirect);
  return true;
}

/* Once all functions are decoded: where their parameters are. */
void sim_link_calls(sim_func *f) {
  for (uint32_t n = 0; n < f->n_ops; n++) {
    if (f->ops[n].fn[SIM_FULL] != call)
      continue;
    call_info *info = (call_info *)f->ops[n].more;
    const sim_func *to = info->callee;
    for (uint32_t k = 0; k < info->n_args; k++) {
      const ptx_var *v = &to->body->vars[to->decl->n_rets + k];
      info->args[k].other =
          v->space == PTX_SPACE_GENERIC ? to->reg[v->offset] : to->vars[to->decl->n_rets + k];
    }
  }
}

/* ------------------------------------------------------------------ the rest */

static const sim_op *trap(const sim_op *o, sim_ctx *c) {
  return sim_fault_raise(sim_run_of(c), o, SIM_FAULT_TRAP, sim_first(c->mask), 0, 0, "trap");
}
static const sim_op *brkpt(const sim_op *o, sim_ctx *c) {
  return sim_fault_raise(sim_run_of(c), o, SIM_FAULT_TRAP, sim_first(c->mask), 0, 0,
                         "brkpt, and no debugger");
}
static const sim_op *unmodelled(const sim_op *o, sim_ctx *c) {
  return sim_fault_raise(sim_run_of(c), o, SIM_FAULT_UNMODELLED, sim_first(c->mask), 0, 0, "%s",
                         (const char *)o->more);
}
void sim_make_unmodelled(sim_op *op) {
  sim_use_one(op, unmodelled);
}

static const sim_op *local_address(const sim_op *o, sim_ctx *c) {
  const uint32_t *base = sim_at(c, o->a);
  void *d = sim_at(c, o->d);
  SIM_EACH(i, c->mask) {
    if (o->y)
      ((uint64_t *)d)[i] = base[i] + o->imm;
    else
      ((uint32_t *)d)[i] = base[i] + (uint32_t)o->imm;
  }
  return o + 1;
}
void sim_make_local_address(sim_op *op, uint32_t base, uint64_t offset) {
  op->a = base;
  op->imm = offset;
  sim_use_one(op, local_address);
}

static void make_brx(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  const ptx_labels *list = &b->targets[sim_operand(b, i, 1)->index];
  sim_table *t = base_alloc(&w->code->arena, sizeof *t + list->n * sizeof t->to[0]);
  t->n = list->n;
  for (uint32_t k = 0; k < list->n; k++) {
    t->to[k].insn = b->labels[list->label[k]].insn;
    t->to[k].order = sim_order_of(w->f, t->to[k].insn);
  }
  *BASE_PUSH(&w->code->arena, w->f->tables, w->f->n_tables, w->f->cap_tables) = t;
  op->more = t;
  w->blocks = true;
  sim_use_one(op, brx);
}

bool sim_select_control(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  switch (i->op) {
  case PTX_OP_brx_ctl:
    make_brx(w, b, i, op);
    return true;
  case PTX_OP_call_ctl:
    return select_call(w, b, i, op);
  case PTX_OP_ret_ctl:
    sim_make_return(op, w->f);
    break;
  case PTX_OP_exit_ctl:
    sim_use_one(op, end);
    op->fn[SIM_GANG] = end_gang;
    break;
  case PTX_OP_trap_ctl:
    sim_use_one(op, trap);
    break;
  case PTX_OP_brkpt_ctl:
    sim_use_one(op, brkpt);
    break;
  case PTX_OP_pmevent_ctl: /* counts events for a profiler: hardware that a program cannot see */
    return true;
  default:
    return false;
  }
  w->blocks = true;
  return true;
}
