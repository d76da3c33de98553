/* exec.h: what an operation is to the code that carries it out.
 *
 * A kernel is decoded into an array of sim_op. Each op holds a handler for each way to run:
 *   SIM_FULL    all lanes of the warp that still live are in the unit: no masking. Lanes that ended hold
 *               garbage, and a handler may write garbage to them; what may not touch them (memory) looks at
 *               c->mask.
 *   SIM_MASKED  some lanes stand elsewhere: only lanes of c->mask may be written. All lanes are computed and
 *               blended.
 *   SIM_SLOW    as masked, and every access, branch and wait is also told: for watchers and for the probing
 *               of loops. Arithmetic has nothing to tell and leaves this NULL: the decoder puts the masked
 *               one there.
 *   SIM_GANG    as full, for every warp of c->gang, one after the other (gang.c). Left NULL by whoever does
 *               not care: then the full one is called for each.
 *   SIM_TOLD    as a gang, and told, for watchers that choose nothing. Left NULL: as a gang where nothing is
 *               told, else the slow one for each.
 * A handler does its work and returns the op to go on with, o + 1 as a rule. Returning NULL hands over to the
 * scheduler (exec.h users never do that, but see sim_raise).
 *
 * Places. d, e (written) and a, b, c (read) of an op are places: byte offsets whose two lowest bits tell from
 * where (SIM_IN_*). A place of 1 to 32 bits holds 32 lanes of 4 bytes, one of 64 bits 32 lanes of 8, one of
 * 128 bits 32 of 16; always aligned to 64 bytes. THE INVARIANT: of a register narrower than 32 bits the upper
 * bits of the lane are zero, also for signed types; whoever writes an 8- or 16-bit register keeps that. A
 * place that is written overlaps a place that is read only if it is the same place, so lane loops need no
 * order. A predicate's place holds one word of 32 bits, bit i being lane i; bit 31 of the place asks for the
 * opposite (sim_pred does all that).
 *
 * Files in exec/ are compiled once for each vector level (SIM_LEVEL is v2, v3, v4 or base) and must define
 * nothing with external linkage except through SIM_LEVELED. They are compiled with -O3 -fno-strict-aliasing
 * -ffp-contract=off, without -frounding-math: a handler that changes the rounding mode sees to its own
 * barriers, and restores the mode before it returns.
 */
#ifndef MUSTER_SIM_EXEC_H
#define MUSTER_SIM_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "sim/hooks.h"

#define SIM_LANES 32

enum { SIM_IN_FRAME, SIM_IN_CONST, SIM_IN_BLOCK, SIM_IN_WARP }; /* the two lowest bits of a place */
enum { SIM_FULL, SIM_MASKED, SIM_SLOW, SIM_GANG, SIM_TOLD, SIM_WAYS };
#define SIM_NOT 0x80000000u    /* in the place of a predicate: the opposite is meant */
#define SIM_NOWHERE UINT32_MAX /* no such operand */
/* The place of the condition code (add.cc and the like), one bit a lane as a predicate. */
#define SIM_CC 0u

typedef struct sim_op sim_op;
typedef struct sim_ctx sim_ctx;
typedef const sim_op *sim_fn(const sim_op *o, sim_ctx *c);

struct sim_op {
  sim_fn *fn[SIM_WAYS];
  uint32_t d, e;    /* written */
  uint32_t a, b, c; /* read */
  uint32_t insn;    /* of the body */
  union {
    uint64_t imm; /* the handler's own */
    int64_t offset;
    const sim_op *target;
    const uint32_t *list; /* places: sim_list */
    const void *more;
  };
  uint32_t x, y; /* the handler's own */
};

/* What the running unit is, as far as arithmetic needs it; the rest of the context is machine.h's. */
struct sim_ctx {
  char *base[4];  /* by the two lowest bits of a place; already less by those bits. Of a gang: in warp 0 */
  size_t step[4]; /* from one warp of the block to the next: of a gang */
  uint32_t mask;  /* lanes of the unit */
  uint32_t gang;  /* warps of the block, a bit each */
  uint32_t way;
  uint32_t lane[SIM_LANES] __attribute__((aligned(64))); /* all ones or 0; holds unless the way is SIM_FULL */
  struct sim_run *run;
};

static inline void *sim_at(const sim_ctx *c, uint32_t place) {
  return c->base[place & 3] + place;
}

static inline uint32_t sim_pred(const sim_ctx *c, uint32_t place) {
  uint32_t at = place & ~SIM_NOT, v;
  __builtin_memcpy(&v, c->base[at & 3] + at, 4);
  return v ^ (uint32_t)((int32_t)place >> 31);
}

/* Writes a predicate; `full` as the way says. A place SIM_NOWHERE is passed over. */
static inline void sim_pred_set(const sim_ctx *c, uint32_t place, uint32_t value, int full) {
  if (place == SIM_NOWHERE)
    return;
  uint32_t *p = (uint32_t *)(c->base[place & 3] + place);
  *p = full ? value : (*p & ~c->mask) | (value & c->mask);
}

/* For each bit of a mask: lanes of a warp, warps of a block. */
#define SIM_EACH(i, mask)                                                                        \
  for (uint32_t each_##i = (mask), i; each_##i && (i = (uint32_t)__builtin_ctz(each_##i), true); \
       each_##i &= each_##i - 1)

/* What an operand is in a warp of a gang, and how far it is to the next warp of the block. */
typedef struct sim_row {
  char *at;
  size_t step;
} sim_row;
static inline sim_row sim_row_of(const sim_ctx *c, uint32_t place) {
  return (sim_row){c->base[place & 3] + place, c->step[place & 3]};
}

/* A predicate in a warp of a gang. */
static inline uint32_t sim_pred_in(const sim_ctx *c, uint32_t place, uint32_t warp) {
  sim_row r = sim_row_of(c, place & ~SIM_NOT);
  uint32_t v;
  __builtin_memcpy(&v, r.at + r.step * warp, 4);
  return v ^ (uint32_t)((int32_t)place >> 31);
}

/* ---- handlers from expressions ----
 * Each defines name_full, name_masked and name_gang. D, A, B, C, E are the types of a lane in memory:
 * uint32_t, int32_t, float for 4-byte places, uint64_t, int64_t, double for 8-byte ones. The expression sees
 * a, b, c, e (the fourth operand, whose place is in o->x) as values of those types, and the op as o.
 * SIM_LANES1..4 have statements before and after the loop over the lanes as well. */
#if defined(__clang__)
/* whether a loop becomes vector code is a matter of speed, not of right and wrong */
#pragma clang diagnostic ignored "-Wpass-failed"
#define SIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIM_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* on_: lanes that may be written, or NULL: all. */
#define SIM_LANES_(n, name, D, pointers, values, before, after, expr)                                  \
  static inline __attribute__((always_inline)) void name##_lanes(const sim_op *o, const uint32_t *on_, \
                                                                 D *d_ pointers) {                     \
    (void)o;                                                                                           \
    before;                                                                                            \
    SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) {                                              \
      values D r_ = (D)(expr);                                                                         \
      d_[i] = !on_ || on_[i] ? r_ : d_[i];                                                             \
    }                                                                                                  \
    after;                                                                                             \
  }                                                                                                    \
  static const sim_op *name##_full(const sim_op *o, sim_ctx *ctx) {                                    \
    name##_lanes(o, NULL, sim_at(ctx, o->d) SIM_AT##n);                                                \
    return o + 1;                                                                                      \
  }                                                                                                    \
  static const sim_op *name##_masked(const sim_op *o, sim_ctx *ctx) {                                  \
    name##_lanes(o, ctx->lane, sim_at(ctx, o->d) SIM_AT##n);                                           \
    return o + 1;                                                                                      \
  }                                                                                                    \
  static const sim_op *name##_gang(const sim_op *o, sim_ctx *ctx) {                                    \
    sim_row d = sim_row_of(ctx, o->d) SIM_ROW##n;                                                      \
    for (uint32_t left = ctx->gang; left; left >>= 1) {                                                \
      if (left & 1)                                                                                    \
        name##_lanes(o, NULL, (D *)d.at SIM_ROW_AT##n);                                                \
      d.at += d.step SIM_ROW_ON##n;                                                                    \
    }                                                                                                  \
    return o + 1;                                                                                      \
  }
#define SIM_AT1 , sim_at(ctx, o->a)
#define SIM_AT2 SIM_AT1, sim_at(ctx, o->b)
#define SIM_AT3 SIM_AT2, sim_at(ctx, o->c)
#define SIM_AT4 SIM_AT3, sim_at(ctx, o->x)
#define SIM_ROW1 , a = sim_row_of(ctx, o->a)
#define SIM_ROW2 SIM_ROW1, b = sim_row_of(ctx, o->b)
#define SIM_ROW3 SIM_ROW2, c = sim_row_of(ctx, o->c)
#define SIM_ROW4 SIM_ROW3, e = sim_row_of(ctx, o->x)
#define SIM_ROW_AT1 , (const void *)a.at
#define SIM_ROW_AT2 SIM_ROW_AT1, (const void *)b.at
#define SIM_ROW_AT3 SIM_ROW_AT2, (const void *)c.at
#define SIM_ROW_AT4 SIM_ROW_AT3, (const void *)e.at
#define SIM_ROW_ON1 , a.at += a.step
#define SIM_ROW_ON2 SIM_ROW_ON1, b.at += b.step
#define SIM_ROW_ON3 SIM_ROW_ON2, c.at += c.step
#define SIM_ROW_ON4 SIM_ROW_ON3, e.at += e.step
#define SIM_COMMA ,
#define SIM_LANES1(name, D, A, before, after, expr) \
  SIM_LANES_(1, name, D, SIM_COMMA const A *a_, A a = a_[i];, before, after, expr)
#define SIM_LANES2(name, D, A, B, before, after, expr)                                          \
  SIM_LANES_(2, name, D, SIM_COMMA const A *a_ SIM_COMMA const B *b_, A a = a_[i]; B b = b_[i]; \
             , before, after, expr)
#define SIM_LANES3(name, D, A, B, C, before, after, expr)                                                \
  SIM_LANES_(3, name, D, SIM_COMMA const A *a_ SIM_COMMA const B *b_ SIM_COMMA const C *c_, A a = a_[i]; \
             B b = b_[i]; C c = c_[i];, before, after, expr)
#define SIM_LANES4(name, D, A, B, C, E, before, after, expr)                                          \
  SIM_LANES_(4, name, D,                                                                              \
             SIM_COMMA const A *a_ SIM_COMMA const B *b_ SIM_COMMA const C *c_ SIM_COMMA const E *e_, \
             A a = a_[i];                                                                             \
             B b = b_[i]; C c = c_[i]; E e = e_[i];, before, after, expr)
#define SIM_NOTHING
#define SIM_HANDLER1(name, D, A, expr) SIM_LANES1(name, D, A, SIM_NOTHING, SIM_NOTHING, expr)
#define SIM_HANDLER2(name, D, A, B, expr) SIM_LANES2(name, D, A, B, SIM_NOTHING, SIM_NOTHING, expr)
#define SIM_HANDLER3(name, D, A, B, C, expr) SIM_LANES3(name, D, A, B, C, SIM_NOTHING, SIM_NOTHING, expr)

/* The same three from a statement that does the work for one warp and sees o, ctx, and whether it is `full`.
 */
#define SIM_HANDLER(name, work)                                            \
  static const sim_op *name##_full(const sim_op *o, sim_ctx *ctx) {        \
    enum { full = 1 };                                                     \
    work;                                                                  \
    return o + 1;                                                          \
  }                                                                        \
  static const sim_op *name##_masked(const sim_op *o, sim_ctx *ctx) {      \
    enum { full = 0 };                                                     \
    work;                                                                  \
    return o + 1;                                                          \
  }                                                                        \
  static const sim_op *name##_gang(const sim_op *o, sim_ctx *ctx) {        \
    enum { full = 1 };                                                     \
    char *frame = ctx->base[SIM_IN_FRAME], *warp = ctx->base[SIM_IN_WARP]; \
    SIM_EACH(w, ctx->gang) {                                               \
      ctx->base[SIM_IN_FRAME] = frame + w * ctx->step[SIM_IN_FRAME];       \
      ctx->base[SIM_IN_WARP] = warp + w * ctx->step[SIM_IN_WARP];          \
      work;                                                                \
    }                                                                      \
    ctx->base[SIM_IN_FRAME] = frame, ctx->base[SIM_IN_WARP] = warp;        \
    return o + 1;                                                          \
  }

#define SIM_USE(op, name)                                                                                    \
  ((op)->fn[SIM_FULL] = name##_full, (op)->fn[SIM_MASKED] = name##_masked, (op)->fn[SIM_GANG] = name##_gang, \
   true)

/* ---- choosing handlers ----
 * For each instruction the decoder fills an op: d and e with the places of the first and second operand that
 * is written (SIM_NOWHERE: sink or absent; a sink where a register is needed has a place nobody reads, see
 * sim_place), a, b, c with the first three that are read, predicates included, absent ones not counted;
 * operands that are vectors, addresses, labels, functions and the like are counted but not filled
 * (SIM_NOWHERE). Then it asks the selectors in turn. A selector returns false if the instruction is none of
 * its own; else it sets fn[] (SIM_USE) and whatever it likes of the rest, and returns true. Guards are the
 * decoder's business. */
typedef struct sim_build sim_build; /* the decoder at work */
typedef bool sim_select(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op);

static inline const ptx_operand *sim_operand(const ptx_body *body, const ptx_insn *i, unsigned n) {
  return &body->operands[i->operands + n];
}
/* The place of a register, predicate, constant, special register, or of a symbol's address; of a written
 * sink, a place to throw away. SIM_NOWHERE: absent. */
uint32_t sim_place_at(sim_build *w, const ptx_body *body, const ptx_operand *operand);
/* The places of the operands of a vector ("{a, b}"), *n of them. They live as long as the program. */
const uint32_t *sim_list(sim_build *w, const ptx_body *body, const ptx_operand *vector, uint32_t *n);
/* A constant in all lanes. bytes: 4 or 8 a lane. */
uint32_t sim_constant(sim_build *w, uint64_t bits, uint32_t bytes);
/* Bits of the register (or constant) behind an operand: 1, 8, 16, 32, 64, 128; can be wider than the
 * instruction's type for operands that opcodes.def marks "~". */
uint32_t sim_operand_bits(const ptx_body *body, const ptx_operand *operand);

/* A handler that cannot go on ("return sim_raise(...)"): ends the launch. */
const sim_op *sim_raise(const sim_op *o, sim_ctx *c, int fault, uint32_t lanes);

/* ---- levels ---- */
#ifndef SIM_LEVEL
#define SIM_LEVEL base
#endif
#define SIM_PASTE2(a, b) a##_##b
#define SIM_PASTE(a, b) SIM_PASTE2(a, b)
#define SIM_LEVELED(name) SIM_PASTE(name, SIM_LEVEL)

/* What one level exports: exec/level.c, the only thing that machine.h's files see of exec/. */
typedef struct sim_level {
  const char *name;
  sim_select *const *select;                               /* NULL at the end */
  void (*spread)(uint32_t mask, uint32_t lane[SIM_LANES]); /* mask to all ones or 0 */
  /* every lane + offset is in [begin, begin + room], and none has a bit of `low` */
  bool (*within)(const uint32_t lane[SIM_LANES], uint32_t offset, uint32_t begin, uint32_t room,
                 uint32_t low);
  sim_fn *atom_told;
} sim_level;

#endif
