/* collective.c: what the named lanes of a warp do together: shfl, vote, match, redux, elect, bar.warp.sync;
 * and the older forms, and activemask, which take whoever is here. A lane waits until every lane that it
 * names, and that lives, has come to the same kind of instruction with the same mask; where that instruction
 * stands does not matter.
 *
 * Invariant: a waiting unit stands at its op; when a group has met, each of its lanes gets its result through
 * its own unit's op.
 */
#include <string.h>

#include "sim/machine.h"

typedef struct together {
  uint16_t op;  /* ptx_op */
  uint8_t what; /* PTX_LANES_..., PTX_VOTE_..., PTX_ROP_..., match: PTX_VOTE_ANY or ALL */
  uint8_t type;
  uint8_t lane_bytes; /* of a; 0: a predicate */
  bool is_signed, abs, nan;
  bool result_is_pred;
  uint32_t d, e;          /* e: the predicate behind the bar */
  uint32_t a, b, c, mask; /* mask: SIM_NOWHERE: who is here */
} together;

/* Inputs and outputs of lanes, gathered over units. */
typedef struct table {
  uint64_t a[SIM_LANES], d[SIM_LANES];
  uint32_t b[SIM_LANES], c[SIM_LANES], source[SIM_LANES];
  uint32_t pred;           /* inputs that are true */
  uint32_t d_bits, e_bits; /* outputs that are predicates */
} table;

/* ------------------------------------------------------------------ computing */

static void shuffle(const together *t, uint32_t lanes, table *x) {
  SIM_EACH(i, lanes) {
    uint32_t b = x->b[i] & 31, clamp = x->c[i] & 31, segment = x->c[i] >> 8 & 31;
    uint32_t low = i & segment, high = low | (clamp & ~segment);
    int j;
    bool p;
    if (t->what == PTX_LANES_UP) {
      j = (int)i - (int)b;
      p = j >= (int)high;
    } else {
      j = t->what == PTX_LANES_DOWN   ? (int)(i + b)
          : t->what == PTX_LANES_BFLY ? (int)(i ^ b)
                                      : (int)(low | (b & ~segment));
      p = j <= (int)high;
    }
    if (!p)
      j = (int)i;
    x->source[i] = (uint32_t)j;
    x->d[i] =
        lanes >> j & 1 ? x->a[j] : 0; /* PTX leaves it open; an H200 gives 0 for a lane that takes no part */
    x->e_bits |= (uint32_t)p << i;
  }
}

static void vote(const together *t, uint32_t lanes, table *x) {
  uint32_t yes = x->pred & lanes;
  bool r = t->what == PTX_VOTE_ALL   ? yes == lanes
           : t->what == PTX_VOTE_ANY ? yes != 0
                                     : yes == lanes || yes == 0;
  x->d_bits = r ? lanes : 0;
  SIM_EACH(i, lanes)
  x->d[i] = yes;
}

static void match(const together *t, uint32_t lanes, table *x) {
  uint32_t first = sim_first(lanes), all = 0;
  SIM_EACH(i, lanes)
  all |= x->a[i] == x->a[first] ? UINT32_C(1) << i : 0;
  SIM_EACH(i, lanes) {
    uint32_t same = 0;
    SIM_EACH(j, lanes)
    same |= x->a[j] == x->a[i] ? UINT32_C(1) << j : 0;
    x->d[i] = t->what == PTX_VOTE_ANY ? same : all == lanes ? lanes : 0;
  }
  x->e_bits = all == lanes ? lanes : 0;
}

static float as_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static uint32_t float_pick(const together *t, uint32_t a, uint32_t b) {
  float x = as_float(a), y = as_float(b);
  if (x != x || y != y)
    return t->nan || (x != x && y != y) ? 0x7fffffff : x != x ? b : a;
  bool less = x < y || (x == y && a >> 31 > b >> 31);
  return (t->what == PTX_ROP_MIN) == less ? a : b;
}

static uint32_t combine(const together *t, uint32_t a, uint32_t b) {
  if (t->type == PTX_F32)
    return float_pick(t, a, b);
  bool less = t->is_signed ? (int32_t)a < (int32_t)b : a < b;
  switch (t->what) {
  case PTX_ROP_ADD:
    return a + b;
  case PTX_ROP_MIN:
    return less ? a : b;
  case PTX_ROP_MAX:
    return less ? b : a;
  case PTX_ROP_AND:
    return a & b;
  case PTX_ROP_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

static void reduce(const together *t, uint32_t lanes, table *x) {
  uint32_t first = sim_first(lanes), r = 0;
  SIM_EACH(i, lanes) {
    uint32_t v = (uint32_t)x->a[i] & (t->abs ? 0x7fffffff : UINT32_MAX);
    r = i == first ? v : combine(t, r, v);
  }
  if (t->type == PTX_F32 && (r & 0x7fffffff) > 0x7f800000)
    r = 0x7fffffff;
  SIM_EACH(i, lanes)
  x->d[i] = r;
}

static void compute(const together *t, uint32_t lanes, table *x) {
  x->d_bits = x->e_bits = 0;
  switch (t->op) {
  case PTX_OP_shfl_sync:
  case PTX_OP_shfl_old:
    shuffle(t, lanes, x);
    break;
  case PTX_OP_vote_sync:
  case PTX_OP_vote_old:
    vote(t, lanes, x);
    break;
  case PTX_OP_match_sync:
    match(t, lanes, x);
    break;
  case PTX_OP_redux_sync:
    reduce(t, lanes, x);
    break;
  case PTX_OP_elect_sync:
    x->e_bits = lanes & -lanes;
    SIM_EACH(i, lanes)
    x->d[i] = sim_first(lanes);
    break;
  default: /* bar.warp.sync: they have met, that is all */
    break;
  }
}

/* ------------------------------------------------------------------ moving */

static char *at(const sim_run *r, const char *frame, uint32_t place) {
  return (place & 3) == SIM_IN_FRAME ? (char *)frame + place : r->ctx.base[place & 3] + place;
}

static void gather(const sim_run *r, const together *t, const char *frame, uint32_t lanes, table *x) {
  if (t->a != SIM_NOWHERE && t->lane_bytes == 0) {
    uint32_t p = t->a & ~SIM_NOT;
    uint32_t v = *(const uint32_t *)at(r, frame, p) ^ (uint32_t)((int32_t)t->a >> 31);
    x->pred = (x->pred & ~lanes) | (v & lanes);
  } else if (t->a != SIM_NOWHERE) {
    const char *a = at(r, frame, t->a);
    for (uint32_t i = 0; i < SIM_LANES; i++)
      x->a[i] = t->lane_bytes == 8 ? ((const uint64_t *)a)[i] : ((const uint32_t *)a)[i];
  }
  if (t->b != SIM_NOWHERE)
    memcpy(x->b, at(r, frame, t->b), sizeof x->b);
  if (t->c != SIM_NOWHERE)
    memcpy(x->c, at(r, frame, t->c), sizeof x->c);
}

static void scatter(const sim_run *r, const together *t, char *frame, uint32_t lanes, const table *x) {
  if (t->d != SIM_NOWHERE && t->result_is_pred) {
    uint32_t *d = (uint32_t *)at(r, frame, t->d);
    *d = (*d & ~lanes) | (x->d_bits & lanes);
  } else if (t->d != SIM_NOWHERE) {
    uint32_t *d = (uint32_t *)at(r, frame, t->d);
    SIM_EACH(i, lanes)
    d[i] = (uint32_t)x->d[i];
  }
  if (t->e != SIM_NOWHERE) {
    uint32_t *e = (uint32_t *)at(r, frame, t->e);
    *e = (*e & ~lanes) | (x->e_bits & lanes);
  }
}

/* Definedness: of a shuffle, the source's; of all else, every lane's counts. */
static void define(sim_run *r, const together *t, uint32_t lanes, const table *x) {
  if (!r->defines || !r->warp->undefined)
    return;
  uint32_t in = t->a == SIM_NOWHERE ? 0 : sim_undefined_at(r, t->a), out = 0;
  uint32_t origin = sim_origin_at(r, t->a, in);
  if (t->op == PTX_OP_shfl_sync || t->op == PTX_OP_shfl_old) {
    SIM_EACH(i, lanes)
    out |= (in >> x->source[i] & 1) << i;
  } else {
    out = in & lanes ? lanes : 0;
  }
  sim_define_at(r, t->d, lanes, out, origin);
  sim_define_at(r, t->e, lanes, t->op == PTX_OP_match_sync ? out : 0, origin);
}

static const sim_op *here(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const together *t = o->more;
  table x;
  x.pred = 0;
  char *frame = r->warp->regs + r->unit->frame;
  gather(r, t, frame, c->mask, &x);
  compute(t, c->mask, &x);
  define(r, t, c->mask, &x);
  scatter(r, t, frame, c->mask, &x);
  return o + 1;
}

/* What lanes of the running unit do at a collective. */
static void say_own(sim_run *r, sim_event_kind kind, const sim_op *o, const uint32_t *masks,
                    const uint32_t *source) {
  if (sim_watches(r, SIM_WATCH_SYNC))
    sim_say_own(
        r, &(sim_event){.kind = kind, .collective = {.masks = masks, .met = r->ctx.mask, .source = source}},
        r->ctx.mask, o);
}

static bool is_shuffle(const together *t) {
  return t->op == PTX_OP_shfl_sync;
}

static const sim_op *collective(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const together *t = o->more;
  sim_warp *w = r->warp;
  const uint32_t *masks = sim_at(c, t->mask);
  uint32_t first = masks[sim_first(c->mask)], differs = c->mask ^ (first & w->live);
  SIM_EACH(i, c->mask)
  differs |= masks[i] ^ first;
  if (!differs) { /* the usual case: all that are named are here, and agree */
    table x;
    x.pred = 0;
    char *frame = w->regs + r->unit->frame;
    gather(r, t, frame, c->mask, &x);
    compute(t, c->mask, &x);
    if (r->watcher)
      say_own(r, SIM_EVENT_COLLECTIVE, o, masks, is_shuffle(t) ? x.source : NULL);
    define(r, t, c->mask, &x);
    scatter(r, t, frame, c->mask, &x);
    return r->yield ? sim_stop(r, o, o + 1) : o + 1;
  }
  sim_unit *u = r->unit;
  sim_counted(r, o, o);
  sim_unit_at(u, o, sim_order_of(u->func, o->insn));
  if (r->probe)
    sim_probe_spoil(r->probe);
  sim_unit_state_set(w, u, SIM_AT_WARP);
  if (r->watcher)
    say_own(r, SIM_EVENT_COLLECTIVE_WAIT, o, masks, NULL);
  sim_warp_meet(r, w);
  return NULL;
}

static bool alike(const together *a, const together *b) {
  return a->op == b->op && a->what == b->what && a->type == b->type;
}

/* Group by group; lanes that met leave their units, which are told apart only afterwards. */
void sim_warp_meet(sim_run *r, sim_warp *w) {
  uint32_t waiting = 0, unit_of[SIM_LANES], masks[SIM_LANES] = {0}, free_to_go = 0;
  sim_unit *before = r->unit;
  SIM_EACH(k, w->at_warp) {
    const sim_unit *u = &w->units[k];
    const together *t = u->pc->more;
    const uint32_t *m = (const uint32_t *)at(r, w->regs + u->frame, t->mask);
    waiting |= u->mask;
    SIM_EACH(i, u->mask)
    unit_of[i] = k, masks[i] = m[i];
  }
  for (uint32_t left = waiting; left;) {
    uint32_t i = sim_first(left), group = (masks[i] | UINT32_C(1) << i) & w->live;
    const together *t = w->units[unit_of[i]].pc->more;
    bool met = (group & ~waiting) == 0;
    sim_unit *elsewhere = NULL;
    left &= left - 1;
    SIM_EACH(j, met ? group : 0) {
      met = met && masks[j] == masks[i] && alike(t, w->units[unit_of[j]].pc->more);
      if (w->units[unit_of[j]].pc != w->units[unit_of[i]].pc)
        elsewhere = &w->units[unit_of[j]];
    }
    if (!met)
      continue;
    left &= ~group;
    free_to_go |= group;
    table x = {.pred = 0};
    uint32_t units = 0;
    SIM_EACH(j, group)
    units |= UINT32_C(1) << unit_of[j];
    SIM_EACH(k, units) {
      const sim_unit *u = &w->units[k];
      table own = {.pred = 0};
      uint32_t mine = u->mask & group;
      gather(r, u->pc->more, w->regs + u->frame, mine, &own);
      SIM_EACH(j, mine)
      x.a[j] = own.a[j], x.b[j] = own.b[j], x.c[j] = own.c[j];
      x.pred = (x.pred & ~mine) | (own.pred & mine);
    }
    compute(t, group, &x);
    sim_who other;
    if (r->watcher && elsewhere) {
      r->unit = elsewhere;
      sim_who_of(r, elsewhere->mask & group, NULL, &other);
    }
    r->unit = &w->units[unit_of[i]];
    if (sim_watches(r, SIM_WATCH_SYNC))
      sim_say(r,
              &(sim_event){.kind = SIM_EVENT_COLLECTIVE,
                           .collective = {.masks = masks,
                                          .met = group,
                                          .source = is_shuffle(t) ? x.source : NULL,
                                          .other = elsewhere ? &other : NULL}},
              group, r->unit->pc);
    SIM_EACH(k, r->defines ? units : 0) {
      r->unit = &w->units[k];
      define(r, r->unit->pc->more, r->unit->mask & group, &x);
    }
    SIM_EACH(k, units)
    scatter(r, w->units[k].pc->more, w->regs + w->units[k].frame, w->units[k].mask & group, &x);
  }
  r->unit = before;
  SIM_EACH(k, w->at_warp) {
    sim_unit *u = &w->units[k];
    const sim_op *o = u->pc;
    uint32_t go = u->mask & free_to_go;
    if (!go)
      continue;
    if (go != u->mask) {
      sim_unit *rest = sim_unit_split(w, u, u->mask & ~go);
      sim_unit_state_set(w, rest, SIM_AT_WARP);
    }
    sim_unit_at(u, o + 1, sim_order_of(u->func, o->insn + 1));
    sim_unit_state_set(w, u, SIM_READY);
  }
}

uint32_t sim_awaited(const sim_warp *w, const sim_unit *u, uint32_t *named) {
  const together *t = u->pc->more;
  const uint32_t *masks = (const uint32_t *)(w->regs + u->frame + t->mask);
  uint32_t here = 0;
  *named = 0;
  if ((t->mask & 3) != SIM_IN_FRAME) /* a constant: of any block alike */
    masks = (const uint32_t *)((t->mask & 3) == SIM_IN_CONST
                                   ? w->block->grid->code->consts + t->mask - SIM_IN_CONST
                                   : w->block->pool + t->mask - SIM_IN_BLOCK);
  SIM_EACH(i, u->mask)
  *named |= masks[i];
  SIM_EACH(k, w->at_warp)
  here |= w->units[k].mask;
  return *named & w->live & ~here;
}

static const sim_op *activemask(const sim_op *o, sim_ctx *c) {
  uint32_t *d = sim_at(c, o->d);
  SIM_EACH(i, c->mask)
  d[i] = c->mask;
  return o + 1;
}

/* ------------------------------------------------------------------ decoding */

static uint32_t optional(sim_build *w, const ptx_body *b, const ptx_operand *o) {
  return o->kind == PTX_ABSENT || o->kind == PTX_SINK ? SIM_NOWHERE : sim_place_at(w, b, o);
}

bool sim_select_collective(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  together t = {.op = i->op,
                .d = SIM_NOWHERE,
                .e = SIM_NOWHERE,
                .a = SIM_NOWHERE,
                .b = SIM_NOWHERE,
                .c = SIM_NOWHERE,
                .mask = SIM_NOWHERE,
                .lane_bytes = 4};
  unsigned a = 0, mask = UINT32_MAX;
  switch (i->op) {
  case PTX_OP_activemask_warp:
    return sim_use_one(op, activemask);
  case PTX_OP_shfl_sync:
  case PTX_OP_shfl_old:
    t.e = optional(w, b, sim_operand(b, i, 1));
    t.b = sim_place_at(w, b, sim_operand(b, i, 3));
    t.c = sim_place_at(w, b, sim_operand(b, i, 4));
    a = 2, t.what = i->mods.lanes;
    if (i->op == PTX_OP_shfl_sync)
      mask = 5;
    break;
  case PTX_OP_vote_sync:
  case PTX_OP_vote_old:
    t.what = i->mods.vote;
    t.result_is_pred = t.what != PTX_VOTE_BALLOT;
    a = 1, t.lane_bytes = 0;
    if (i->op == PTX_OP_vote_sync)
      mask = 2;
    break;
  case PTX_OP_match_sync: {
    bool all = i->mods.vote == PTX_VOTE_ALL;
    t.what = i->mods.vote;
    if (all)
      t.e = optional(w, b, sim_operand(b, i, 1));
    a = all ? 2 : 1, mask = a + 1;
    break;
  }
  case PTX_OP_redux_sync:
    t.what = i->mods.rop, t.abs = i->mods.abs, t.nan = i->mods.nan;
    t.is_signed = ptx_type_base((ptx_type)i->type[0]) == PTX_BASE_SINT;
    a = 1, mask = 2;
    break;
  case PTX_OP_elect_sync:
    t.e = optional(w, b, sim_operand(b, i, 1));
    mask = 2;
    break;
  case PTX_OP_bar_warp:
    mask = 0;
    break;
  default:
    return false;
  }
  t.type = i->type[0];
  if (i->op != PTX_OP_bar_warp)
    t.d = optional(w, b, sim_operand(b, i, 0));
  if (a) {
    t.a = sim_place_at(w, b, sim_operand(b, i, a));
    if (t.lane_bytes && ptx_type_bits((ptx_type)i->type[0]) == 64)
      t.lane_bytes = 8;
  }
  if (mask != UINT32_MAX)
    t.mask = sim_place_at(w, b, sim_operand(b, i, mask));
  w->blocks = mask != UINT32_MAX;
  together *kept = base_alloc(&w->code->arena, sizeof *kept);
  *kept = t;
  op->more = kept;
  return sim_use_one(op, t.mask == SIM_NOWHERE ? here : collective);
}
