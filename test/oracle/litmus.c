/* litmus.c: litmus tests as text, as PTX, and made at random. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

static const char *const orders[] = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc"};
static const char *const scopes[] = {"cta", "gpu", "sys"};

/* ------------------------------------------------------------------ for people */

static void print_op(const lit_op *o, FILE *to) {
  static const char *const kinds[] = {"ld", "st", "exch", "add", "cas", "red", "fence", "bar", "bar.warp"};
  if (o->when)
    fprintf(to, "if %d==1: ", o->when - 1);
  fprintf(to, "%s", kinds[o->kind]);
  if (o->kind == LIT_BAR || o->kind == LIT_BAR_WARP)
    return;
  fprintf(to, ".%s", orders[o->order]);
  if (o->order != LIT_WEAK && o->order != LIT_VOLATILE)
    fprintf(to, ".%s", scopes[o->scope]);
  if (o->kind == LIT_FENCE)
    return;
  fprintf(to, " %c", 'x' + o->location % 3);
  if (o->kind == LIT_CAS)
    fprintf(to, " %u ->", o->compare);
  if (o->from)
    fprintf(to, " what %d read", o->from - 1);
  else if (lit_writes(o->kind))
    fprintf(to, " %u", o->value);
}

void lit_print(const lit_test *t, FILE *to) {
  fprintf(to, "%s%s\n", t->name, t->shared ? ", in shared memory" : "");
  for (uint32_t i = 0; i < t->n_threads; i++) {
    fprintf(to, "  block %u warp %u:", t->block[i], t->warp[i]);
    for (uint32_t k = 0; k < t->n_ops[i]; k++) {
      fprintf(to, k ? "; " : " ");
      print_op(&t->ops[i][k], to);
    }
    fprintf(to, "\n");
  }
}

void lit_print_outcome(const lit_test *t, const lit_outcome *o, FILE *to) {
  for (uint32_t i = 0; i < t->n_threads; i++)
    for (uint32_t k = 0; k < t->n_ops[i]; k++)
      if (lit_returns(t->ops[i][k].kind))
        fprintf(to, " %u:%u=%d", i, k, (int)o->slots[i * LIT_OPS + k]);
  for (uint32_t l = 0; l < t->n_locations; l++)
    fprintf(to, " %c=%d", 'x' + (int)l % 3, (int)o->slots[LIT_THREADS * LIT_OPS + l]);
}

/* ------------------------------------------------------------------ as PTX */

typedef struct text {
  char *at;
  size_t left;
} text;

static void put(text *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, w->left, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= w->left)
    abort();
  w->at += n, w->left -= (size_t)n;
}

static uint32_t lane_of(const lit_test *t, uint32_t thread) {
  uint32_t lane = 0;
  for (uint32_t i = 0; i < thread; i++)
    lane += t->block[i] == t->block[thread] && t->warp[i] == t->warp[thread];
  return lane;
}

static void put_op(text *w, const lit_test *t, uint32_t thread, uint32_t k) {
  const lit_op *o = &t->ops[thread][k];
  uint32_t at = 64u * o->location, lanes = 0;
  const char *space = t->shared ? "shared" : "global", *base = t->shared ? "s" : "a";
  char how[32] = "", guard[16] = "", value[16];
  if (o->order == LIT_WEAK || o->order == LIT_VOLATILE)
    snprintf(how, sizeof how, "%s", orders[o->order]);
  else
    snprintf(how, sizeof how, "%s.%s", orders[o->order], scopes[o->scope]);
  if (o->when) {
    put(w, "setp.eq.u32 p, r%d, 1;\n", o->when - 1);
    snprintf(guard, sizeof guard, "@p ");
  }
  if (o->from)
    snprintf(value, sizeof value, "r%d", o->from - 1);
  else
    snprintf(value, sizeof value, "%u", o->value);
  switch (o->kind) {
  case LIT_LD:
    put(w, "%sld.%s.%s.u32 r%u, [%s+%u];\n", guard, how, space, k, base, at);
    break;
  case LIT_ST:
    put(w, "%sst.%s.%s.u32 [%s+%u], %s;\n", guard, how, space, base, at, value);
    break;
  case LIT_EXCH:
    put(w, "%satom.%s.%s.exch.b32 r%u, [%s+%u], %s;\n", guard, how, space, k, base, at, value);
    break;
  case LIT_ADD:
    put(w, "%satom.%s.%s.add.u32 r%u, [%s+%u], %s;\n", guard, how, space, k, base, at, value);
    break;
  case LIT_CAS:
    put(w, "%satom.%s.%s.cas.b32 r%u, [%s+%u], %u, %u;\n", guard, how, space, k, base, at, o->compare,
        o->value);
    break;
  case LIT_RED:
    put(w, "%sred.%s.%s.add.u32 [%s+%u], %s;\n", guard, how, space, base, at, value);
    break;
  case LIT_FENCE:
    put(w, "fence.%s;\n", how);
    break;
  case LIT_BAR:
    put(w, "bar.sync 0;\n");
    break;
  case LIT_BAR_WARP:
    for (uint32_t i = 0; i < t->n_threads; i++)
      if (t->block[i] == t->block[thread] && t->warp[i] == t->warp[thread])
        lanes |= 1u << lane_of(t, i);
    put(w, "bar.warp.sync 0x%x;\n", lanes);
    break;
  }
}

char *lit_ptx(const lit_test *t) {
  size_t size = 1 << 14;
  char *out = malloc(size);
  if (!out)
    abort();
  text w = {out, size};
  put(&w,
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry litmus(.param .u64 at)\n{\n"
      ".reg .b64 a;\n.shared .align 64 .b8 s[256];\n.reg .b32 r<%d>, c, i;\n.reg .pred p;\nld.param.u64 a, "
      "[at];\nmov.u32 i, %%tid.x;\n"
      "mov.u32 c, %%ctaid.x;\nmad.lo.u32 i, c, 1024, i;\n",
      LIT_OPS);
  for (uint32_t k = 0; k < LIT_OPS; k++)
    put(&w, "mov.b32 r%u, -1;\n", k);
  for (uint32_t i = 0; i < t->n_threads; i++)
    put(&w, "setp.eq.u32 p, i, %u;\n@p bra $T%u;\n", t->block[i] * 1024 + t->warp[i] * 32 + lane_of(t, i), i);
  put(&w, "ret;\n");
  for (uint32_t i = 0; i < t->n_threads; i++) {
    put(&w, "$T%u:\n", i);
    for (uint32_t k = 0; k < t->n_ops[i]; k++)
      put_op(&w, t, i, k);
    for (uint32_t k = 0; k < t->n_ops[i]; k++)
      if (lit_returns(t->ops[i][k].kind))
        put(&w, "st.global.u32 [a+%u], r%u;\n", 1024 + 4 * (i * LIT_OPS + k), k);
    put(&w, "ret;\n");
  }
  put(&w, "}\n");
  return out;
}

/* ------------------------------------------------------------------ at random */

typedef struct dice {
  uint64_t state;
} dice;

static uint32_t below(dice *d, uint32_t n) {
  d->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = d->state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ z >> 31) % n);
}

static bool chance(dice *d, uint32_t percent) {
  return below(d, 100) < percent;
}

static void place(lit_test *t, dice *d) {
  uint32_t how = below(d, 4), blocks = 0, warps[LIT_THREADS] = {0};
  for (uint32_t i = 0; i < t->n_threads; i++) {
    uint32_t far = how == 0 ? 0 : how == 1 ? 1 : how == 2 ? 2 : below(d, 3); /* warp, block, grid */
    uint32_t near = i ? below(d, i) : 0;
    if (!i)
      continue;
    t->block[i] = far == 2 ? ++blocks : t->block[near];
    t->warp[i] = far == 2 ? 0 : far == 1 ? ++warps[t->block[near]] : t->warp[near];
  }
}

static void order_of(lit_op *o, dice *d, uint32_t weak_percent) {
  static const lit_order loads[] = {LIT_VOLATILE, LIT_RELAXED, LIT_ACQUIRE, LIT_ACQUIRE},
                         stores[] = {LIT_VOLATILE, LIT_RELAXED, LIT_RELEASE, LIT_RELEASE},
                         atoms[] = {LIT_RELAXED, LIT_ACQUIRE, LIT_RELEASE, LIT_ACQ_REL},
                         reds[] = {LIT_RELAXED, LIT_RELEASE, LIT_RELAXED, LIT_RELEASE};
  uint32_t k = below(d, 4);
  o->scope = (lit_scope)(chance(d, 40) ? LIT_GPU : below(d, 3));
  o->order = o->kind == LIT_LD    ? loads[k]
             : o->kind == LIT_ST  ? stores[k]
             : o->kind == LIT_RED ? reds[k]
                                  : atoms[k];
  if ((o->kind == LIT_LD || o->kind == LIT_ST) && chance(d, weak_percent))
    o->order = LIT_WEAK;
}

static void fence(lit_test *t, uint32_t i, dice *d) {
  lit_op *o = &t->ops[i][t->n_ops[i]++];
  *o = (lit_op){.kind = LIT_FENCE, .order = chance(d, 50) ? LIT_SC : LIT_ACQ_REL};
  o->scope = (lit_scope)(chance(d, 50) ? LIT_GPU : below(d, 3));
}

/* A barrier at the same place of each thread that takes part. */
static void add_barrier(lit_test *t, dice *d) {
  uint32_t leader = below(d, t->n_threads);
  lit_kind kind = chance(d, 50) ? LIT_BAR : LIT_BAR_WARP;
  for (uint32_t i = 0; i < t->n_threads; i++) {
    if (t->block[i] != t->block[leader] || (kind == LIT_BAR_WARP && t->warp[i] != t->warp[leader]) ||
        t->n_ops[i] == LIT_OPS)
      continue;
    uint32_t at = below(d, t->n_ops[i] + 1);
    memmove(&t->ops[i][at + 1], &t->ops[i][at], (t->n_ops[i] - at) * sizeof t->ops[i][0]);
    t->ops[i][at] = (lit_op){.kind = kind};
    t->n_ops[i]++;
    for (uint32_t k = at + 1; k < t->n_ops[i]; k++) { /* operations moved */
      t->ops[i][k].from += t->ops[i][k].from > (int8_t)at;
      t->ops[i][k].when += t->ops[i][k].when > (int8_t)at;
    }
  }
}

static bool is_one_block(const lit_test *t) {
  for (uint32_t i = 1; i < t->n_threads; i++)
    if (t->block[i] != t->block[0])
      return false;
  return true;
}

static bool room_for_barrier(const lit_test *t) {
  for (uint32_t i = 0; i < t->n_threads; i++)
    if (t->n_ops[i] == LIT_OPS)
      return false;
  return true;
}

/* How many ways there are to choose a source for each read. */
static uint64_t candidates(const lit_test *t) {
  uint64_t n = 1, writes[LIT_LOCATIONS] = {0};
  for (int reads = 0; reads < 2; reads++)
    for (uint32_t i = 0; i < t->n_threads; i++)
      for (uint32_t k = 0; k < t->n_ops[i]; k++) {
        const lit_op *o = &t->ops[i][k];
        if (o->kind >= LIT_FENCE)
          continue;
        if (!reads)
          writes[o->location] += lit_writes(o->kind);
        else if (lit_reads(o->kind))
          n *= 1 + writes[o->location] - lit_writes(o->kind);
      }
  return n;
}

static void make(lit_test *t, dice *d, uint32_t threads, uint32_t accesses, bool wide) {
  memset(t, 0, sizeof *t);
  t->n_threads = threads;
  t->n_locations = wide ? 3 : threads == 1 ? 1 : 1 + below(d, 3);
  place(t, d);
  t->shared = is_one_block(t) && chance(d, 30);
  uint32_t weak = below(d, 3) * 35, fences = below(d, 3) * 25, atoms = below(d, 3) * 25,
           depends = wide ? 0 : below(d, 3) * 15;
  for (uint32_t n = 0; n < accesses; n++) {
    uint32_t i = n % threads;
    if (t->n_ops[i] && t->n_ops[i] < LIT_OPS - 2 && chance(d, fences))
      fence(t, i, d);
    lit_op *o = &t->ops[i][t->n_ops[i]];
    *o = (lit_op){.location = (uint8_t)below(d, t->n_locations), .value = 1u << n};
    o->kind = !chance(d, atoms) ? (chance(d, 50) ? LIT_LD : LIT_ST)
              : wide            ? LIT_EXCH
                                : (lit_kind)(LIT_EXCH + below(d, 4));
    if (o->kind == LIT_CAS)
      o->compare = chance(d, 50) ? 0 : 1u << below(d, accesses);
    order_of(o, d, weak);
    for (uint32_t k = t->n_ops[i]; k-- > 0;)
      if (lit_returns(t->ops[i][k].kind) && chance(d, depends)) {
        /* not of a read that may not happen: whether what is stored then depends on why it did not happen is
         * a matter of how much a compiler knows */
        if (o->kind == LIT_ST && !t->ops[i][k].when && chance(d, 60))
          o->from = (int8_t)(k + 1);
        else
          o->when = (int8_t)(k + 1);
        break;
      }
    t->n_ops[i]++;
  }
  if (chance(d, 15) && room_for_barrier(t))
    add_barrier(t, d);
}

void lit_nth(lit_test *t, uint64_t seed) {
  dice d = {seed};
  uint32_t threads = 1 + (uint32_t)(seed % 4), accesses = 2 + (uint32_t)(seed / 4 % 7);
  do
    make(t, &d, threads, accesses, false);
  while (candidates(t) > 3000);
  snprintf(t->name, sizeof t->name, "random %llu: %u threads, %u accesses", (unsigned long long)seed, threads,
           accesses);
}

static uint32_t most_writes(const lit_test *t) {
  uint32_t writes[LIT_LOCATIONS] = {0}, most = 0;
  for (uint32_t i = 0; i < t->n_threads; i++)
    for (uint32_t k = 0; k < t->n_ops[i]; k++)
      if (t->ops[i][k].kind < LIT_FENCE && lit_writes(t->ops[i][k].kind) &&
          ++writes[t->ops[i][k].location] > most)
        most = writes[t->ops[i][k].location];
  return most;
}

void lit_random_wide(lit_test *t, uint64_t seed) {
  dice d = {seed};
  do
    make(t, &d, LIT_THREADS, 4 * LIT_THREADS, true);
  while (most_writes(t) > 5);
  snprintf(t->name, sizeof t->name, "wide %llu", (unsigned long long)seed);
}
