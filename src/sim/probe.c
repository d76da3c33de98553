/* probe.c: loops that do nothing but wait. When a unit has spent several quanta in one loop, it goes round
 * once more the slow way, and is looked at: which words it reads, whether a byte changes, whether it asks for
 * the time, and whether the registers that its way depends on are the same at the head as before. If they are
 * and nothing changed, every further round would be the same until one of the words differs: the unit sleeps
 * and costs nothing. That makes "nobody can move" exact. A loop that only looks at the clock besides is put
 * last instead.
 *
 * The registers that count are those which decide about branches, addresses, stored values or who takes part,
 * directly or through others in the loop. A counter of rounds that decides nothing does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ which registers count */

typedef struct sim_slice {
  struct sim_slice *next;
  uint32_t head; /* instruction */
  uint32_t n;
  uint32_t regs[]; /* live at the head, and relevant */
} sim_slice;

typedef struct closure {
  const sim_func *f;
  uint64_t *relevant;
  bool any, changed, all_reads;
} closure;

static void ask_written(void *user, uint32_t reg, bool written) {
  closure *k = user;
  if (written && SIM_BIT(k->relevant, reg))
    k->any = true;
}

static void add_read(void *user, uint32_t reg, bool written) {
  closure *k = user;
  if (!written && !SIM_BIT(k->relevant, reg)) {
    SIM_BIT_SET(k->relevant, reg);
    k->changed = true;
  }
}

/* Its operands decide what happens, whatever comes of its result. */
static bool decides(const ptx_insn *i) {
  switch (ptx_op_get((ptx_op)i->op)->sync) {
  case PTX_SYNC_NONE:
  case PTX_SYNC_FENCE:
  case PTX_SYNC_TIME:
    return false;
  default:
    return true;
  }
}

static void mark_loop(const sim_func *f, uint32_t head, uint8_t *in) {
  const ptx_body *b = f->body;
  uint32_t block = f->block_of[head];
  in[block] = 1;
  for (uint32_t k = 0; k < b->n_blocks; k++) /* where its back edges come from */
    for (uint32_t s = 0; s < b->blocks[k].n_succ; s++)
      if (b->edges[b->blocks[k].succ + s] == block && b->blocks[k].first >= b->blocks[block].first)
        in[k] = 1;
  for (bool changed = true; changed;) { /* and what leads there without passing the head */
    changed = false;
    for (uint32_t k = 0; k < b->n_blocks; k++)
      for (uint32_t s = 0; s < b->blocks[k].n_succ && !in[k]; s++) {
        uint32_t to = b->edges[b->blocks[k].succ + s];
        if (to != block && in[to])
          in[k] = 1, changed = true;
      }
  }
}

static sim_slice *make_slice(sim_func *f, uint32_t head) {
  const ptx_body *b = f->body;
  uint8_t *in = calloc(b->n_blocks + 1, 1);
  uint64_t *relevant = calloc(f->live_words + 1, sizeof *relevant);
  sim_slice *s = NULL;
  if (!in || !relevant)
    goto out;
  mark_loop(f, head, in);
  closure k = {.f = f, .relevant = relevant, .changed = true};
  bool calls = false;
  while (k.changed) {
    k.changed = false;
    for (uint32_t n = 0; n < b->n_blocks; n++)
      for (uint32_t i = b->blocks[n].first; in[n] && i < b->blocks[n].end; i++) {
        k.any = decides(&b->insns[i]);
        calls |= b->insns[i].op == PTX_OP_call_ctl;
        sim_each_reg(f, &b->insns[i], ask_written, &k);
        if (k.any)
          sim_each_reg(f, &b->insns[i], add_read, &k);
      }
  }
  const uint64_t *live = f->live + (size_t)f->block_of[head] * f->live_words;
  uint32_t n = 0;
  for (uint32_t w = 0; w < f->live_words; w++) {
    relevant[w] = live[w] & (calls ? UINT64_MAX : relevant[w]);
    n += (uint32_t)__builtin_popcountll(relevant[w]);
  }
  s = malloc(sizeof *s + n * sizeof s->regs[0]);
  if (!s)
    goto out;
  *s = (sim_slice){.next = f->slices, .head = head};
  for (uint32_t r = 0; r < b->n_regs; r++)
    if (SIM_BIT(relevant, r) && (f->reg[r] & 3) == SIM_IN_FRAME)
      s->regs[s->n++] = r;
  f->slices = s;
out:
  free(in);
  free(relevant);
  return s;
}

static const sim_slice *slice_of(const sim_func *f, uint32_t head) {
  mtx_t *lock = &f->module->device->lock;
  mtx_lock(lock);
  const sim_slice *s = f->slices;
  while (s && s->head != head)
    s = s->next;
  if (!s)
    s = make_slice((sim_func *)f, head); /* a cache: the code itself does not change */
  mtx_unlock(lock);
  return s;
}

void sim_slices_free(sim_func *f) {
  while (f->slices) {
    sim_slice *s = f->slices;
    f->slices = s->next;
    free(s);
  }
}

static uint32_t reg_bytes(const sim_func *f, uint32_t reg) {
  unsigned bits = ptx_type_bits((ptx_type)f->body->regs[reg].type);
  return bits == 1 ? 4 : bits <= 32 ? 4 * SIM_LANES : bits / 8 * SIM_LANES;
}

/* ------------------------------------------------------------------ looking */

void sim_probe_free(sim_probe *p) {
  if (!p)
    return;
  free(p->before);
  free(p->watched);
  free(p);
}

void sim_probe_spoil(sim_probe *p) {
  p->spoiled = true;
  p->running = false;
}

static bool snapshot(const sim_warp *w, const sim_unit *u, sim_probe *p) {
  const sim_func *f = u->func;
  const sim_slice *s = slice_of(f, u->pc->insn);
  uint32_t bytes = 0;
  if (!s)
    return false;
  for (uint32_t k = 0; k < s->n; k++)
    bytes += reg_bytes(f, s->regs[k]);
  if (bytes > p->before_capacity) {
    uint8_t *more = realloc(p->before, bytes);
    if (!more)
      return false;
    p->before = more, p->before_capacity = bytes;
  }
  uint8_t *to = p->before;
  for (uint32_t k = 0; k < s->n; k++) {
    uint32_t n = reg_bytes(f, s->regs[k]);
    memcpy(to, w->regs + u->frame + f->reg[s->regs[k]], n);
    to += n;
  }
  return true;
}

static bool same_registers(const sim_warp *w, const sim_unit *u, const sim_probe *p) {
  const sim_func *f = u->func;
  const sim_slice *s = slice_of(f, u->pc->insn);
  const uint8_t *was = p->before;
  if (!s)
    return false;
  for (uint32_t k = 0; k < s->n; k++) {
    uint32_t n = reg_bytes(f, s->regs[k]), lane = n / SIM_LANES;
    const uint8_t *now = (const uint8_t *)w->regs + u->frame + f->reg[s->regs[k]];
    if (n == 4) {
      uint32_t a, b;
      memcpy(&a, now, 4), memcpy(&b, was, 4);
      if ((a ^ b) & u->mask)
        return false;
    } else {
      SIM_EACH(i, u->mask)
      if (memcmp(now + i * lane, was + i * lane, lane))
        return false;
    }
    was += n;
  }
  return true;
}

void sim_probe_begin(sim_run *r, sim_unit *u) {
  if (!u->probe)
    u->probe = calloc(1, sizeof *u->probe);
  sim_probe *p = u->probe;
  if (!p)
    return;
  p->head = u->pc, p->mask = u->mask, p->frame = u->frame;
  p->n_watched = 0;
  p->insns = 0;
  p->wrote = p->clock = p->spoiled = p->host = false;
  p->running = snapshot(r->warp, u, p);
}

void sim_probe_read(sim_run *r, const sim_op *o, uint64_t address, uint8_t *at, uint32_t bytes) {
  sim_probe *p = r->probe;
  for (uint32_t k = 0; k < p->n_watched; k++)
    if (p->watched[k].at == at && p->watched[k].word.bytes == bytes)
      return;
  if (p->n_watched == p->cap_watched) {
    uint32_t more = p->cap_watched ? p->cap_watched * 2 : 8;
    sim_watched *list = more > 8192 ? NULL : realloc(p->watched, more * sizeof *list);
    if (!list) {
      sim_probe_spoil(p);
      return;
    }
    p->watched = list, p->cap_watched = more;
  }
  sim_watched *w = &p->watched[p->n_watched++];
  *w = (sim_watched){.word = {address, bytes, false},
                     .at = at,
                     .func = r->unit->func,
                     .insn = o->insn,
                     .depth = r->unit->depth};
  memcpy(w->value, at, bytes);
  if (at < r->memory->base || at >= r->memory->end) {
    const sim_span *s = sim_span_at(r->memory->host, r->memory->n_host, (uint64_t)(uintptr_t)at);
    w->word.host = s && s->info.kind == SIM_MEMORY_HOST;
    p->host |= w->word.host;
  }
}

void sim_probe_end(sim_run *r) {
  sim_unit *u = r->unit;
  sim_probe *p = r->probe;
  bool same = !p->spoiled && !p->wrote && p->mask == u->mask && p->frame == u->frame && p->head == u->pc;
  for (uint32_t k = 0; k < p->n_watched && same; k++) /* others may have been at it meanwhile */
    same = !memcmp(p->watched[k].at, p->watched[k].value, p->watched[k].word.bytes);
  p->running = false;
  if (!same || (!p->clock && !same_registers(r->warp, u, p)))
    return;
  u->polls = p->clock;
  sim_unit_state_set(r->warp, u, SIM_SLEEPS);
  if (!p->clock)
    r->stats.loops_slept++;
  if (sim_watches(r, SIM_WATCH_SYNC)) {
    sim_word words[64];
    uint32_t n = p->n_watched < 64 ? p->n_watched : 64;
    for (uint32_t k = 0; k < n; k++)
      words[k] = p->watched[k].word;
    sim_say(r, &(sim_event){.kind = SIM_EVENT_SLEEP, .sleep = {words, n}}, u->mask, u->pc);
  }
}

bool sim_probe_wakes(const sim_device *d, const sim_unit *u) {
  const sim_probe *p = u->probe;
  for (uint32_t k = 0; k < p->n_watched; k++) {
    const sim_watched *w = &p->watched[k];
    if (w->word.host && !sim_memory_ok(&d->memory, w->word.address, w->word.bytes))
      return true; /* it is gone: let the unit find out */
    if (memcmp(w->at, w->value, w->word.bytes))
      return true;
  }
  return false;
}
