/* arith.c: a small stand-in for the decoder, so that the handlers can be tried alone: registers at fixed
 * places, constants in a pool, one instruction, no scheduler and no memory. */
#include "arith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* ------------------------------------------------------------------ levels */

#if defined(__x86_64__)
#define EACH_LEVEL(X) X(v2) X(v3) X(v4)
#else
#define EACH_LEVEL(X) X(base)
#endif

#define ARITHMETIC(name) sim_select name##_v2, name##_v3, name##_v4, name##_base;
#include "sim/exec/arithmetic.def"

#if defined(__x86_64__)
static arith_select *const select_v2[] = {
#define ARITHMETIC(name) name##_v2,
#include "sim/exec/arithmetic.def"
    NULL};
static arith_select *const select_v3[] = {
#define ARITHMETIC(name) name##_v3,
#include "sim/exec/arithmetic.def"
    NULL};
static arith_select *const select_v4[] = {
#define ARITHMETIC(name) name##_v4,
#include "sim/exec/arithmetic.def"
    NULL};
static arith_level levels[] = {
    {"x86-64-v2", false, select_v2}, {"x86-64-v3", false, select_v3}, {"x86-64-v4", false, select_v4}};
unsigned arith_levels(const arith_level **out) {
  levels[0].usable = __builtin_cpu_supports("x86-64-v2");
  levels[1].usable = __builtin_cpu_supports("x86-64-v3");
  levels[2].usable = __builtin_cpu_supports("x86-64-v4");
  *out = levels;
  return 3;
}
#else
static arith_select *const select_base[] = {
#define ARITHMETIC(name) name##_base,
#include "sim/exec/arithmetic.def"
    NULL};
static arith_level levels[] = {{"base", true, select_base}};
unsigned arith_levels(const arith_level **out) {
  *out = levels;
  return 1;
}
#endif

/* ------------------------------------------------------------------ what selectors ask the decoder for */

static uint32_t place_of_reg(uint32_t reg) {
  return 64 + reg * ARITH_REG_BYTES;
}

uint32_t sim_constant(sim_build *w, uint64_t bits, uint32_t bytes) {
  arith *a = (arith *)w;
  uint32_t at = a->const_bytes;
  a->const_bytes += ARITH_REG_BYTES;
  for (int i = 0; i < SIM_LANES; i++)
    memcpy(a->consts + at + (size_t)i * bytes, &bits, bytes);
  return at | SIM_IN_CONST;
}
uint32_t sim_place_at(sim_build *w, const ptx_body *body, const ptx_operand *o) {
  (void)body;
  switch (o->kind) {
  case PTX_REG:
    return place_of_reg(o->index) | (o->negated ? SIM_NOT : 0);
  case PTX_IMM:
    return sim_constant(w, o->bits, ptx_type_bits((ptx_type)o->type) == 64 ? 8 : 4);
  case PTX_SINK:
    return place_of_reg(((arith *)w)->body->n_regs);
  default:
    return SIM_NOWHERE;
  }
}
const uint32_t *sim_list(sim_build *w, const ptx_body *body, const ptx_operand *v, uint32_t *n) {
  static uint32_t list[16];
  *n = (uint32_t)v->count;
  for (uint32_t k = 0; k < *n && k < 16; k++)
    list[k] = sim_place_at(w, body, &body->operands[v->index + k]);
  return list;
}
uint32_t sim_operand_bits(const ptx_body *body, const ptx_operand *o) {
  return ptx_type_bits((ptx_type)(o->kind == PTX_REG ? body->regs[o->index].type : o->type));
}

/* ------------------------------------------------------------------ one instruction */

bool arith_open(arith *a, const spell *s) {
  memset(a, 0, sizeof *a);
  a->s = *s;
  const ptx_form_info *f = ptx_form_get(s->form);
  spell_header(&a->text, PTX_VERSION_NEWEST, f->sm > 90 ? f->sm : 90, f->arch_specific || f->sm > 90);
  if (!spell_kernel(&a->s, "k", &a->text))
    return false;
  a->module = ptx_module_new(s->name, a->text.bytes, a->text.length);
  a->body = ptx_failed(a->module) ? NULL : ptx_body_of(a->module, 0);
  if (!a->body) {
    base_text t = {0};
    base_diags_print(a->module->diags, &t);
    if (!t.bytes || !strstr(t.bytes, "'.sat' changes nothing")) /* a form allows it, the verifier does not */
      fprintf(stderr, "%s: the front end refuses it:\n%s", s->name, t.bytes ? t.bytes : "");
    base_text_free(&t);
    return false;
  }
  for (uint32_t i = 0; i < a->body->n_insns; i++)
    if (a->body->insns[i].place.line == a->s.line)
      a->insn = &a->body->insns[i];
  if (!a->insn) {
    fprintf(stderr, "%s: no instruction in line %u\n", s->name, a->s.line);
    return false;
  }
  for (unsigned n = 0; n < a->insn->n_operands; n++) {
    const ptx_operand *o = sim_operand(a->body, a->insn, n);
    if (o->kind != PTX_REG)
      continue;
    if (o->written)
      a->written[a->n_written++] = o->index;
    else
      a->read[a->n_read++] = o->index;
  }
  a->frame_bytes = place_of_reg(a->body->n_regs + 1); /* the last is for what is thrown away */
  a->frame = aligned_alloc(64, a->frame_bytes);
  a->loaded = aligned_alloc(64, a->frame_bytes);
  a->warps = aligned_alloc(64, ARITH_GANG * a->frame_bytes);
  a->consts = aligned_alloc(64, 16 * ARITH_REG_BYTES);
  if (!a->frame || !a->loaded || !a->warps || !a->consts)
    return false;
  memset(a->frame, 0, a->frame_bytes);
  return true;
}

void arith_close(arith *a) {
  ptx_module_free(a->module);
  base_text_free(&a->text);
  free(a->frame);
  free(a->loaded);
  free(a->warps);
  free(a->consts);
}

bool arith_choose(arith *a, const arith_level *level) {
  sim_build *w = (sim_build *)a;
  sim_op op = {.insn = (uint32_t)(a->insn - a->body->insns)};
  uint32_t *written[] = {&op.d, &op.e}, *read[] = {&op.a, &op.b, &op.c};
  unsigned n_written = 0, n_read = 0;
  a->const_bytes = 0;
  op.d = op.e = op.a = op.b = op.c = SIM_NOWHERE;
  for (unsigned n = 0; n < a->insn->n_operands; n++) {
    const ptx_operand *o = sim_operand(a->body, a->insn, n);
    if (o->kind == PTX_ABSENT)
      continue;
    if (o->written && n_written < 2)
      *written[n_written++] = sim_place_at(w, a->body, o);
    else if (!o->written && n_read < 3)
      *read[n_read++] = sim_place_at(w, a->body, o);
  }
  for (unsigned k = 0; level->select[k]; k++)
    if (level->select[k](w, a->body, a->insn, &op)) {
      a->op = op;
      return true;
    }
  return false;
}

static unsigned reg_bits(const arith *a, uint32_t reg) {
  return ptx_type_bits((ptx_type)a->body->regs[reg].type);
}
static uint64_t cut(uint64_t v, unsigned bits) {
  return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

void arith_put(arith *a, uint32_t reg, unsigned lane, uint64_t v) {
  char *p = a->frame + place_of_reg(reg);
  unsigned bits = reg_bits(a, reg);
  uint32_t word;
  if (bits == 1) {
    memcpy(&word, p, 4);
    word = (word & ~(UINT32_C(1) << lane)) | (uint32_t)(v & 1) << lane;
    memcpy(p, &word, 4);
  } else if (bits == 64) {
    memcpy(p + 8 * lane, &v, 8);
  } else {
    word = (uint32_t)cut(v, bits);
    memcpy(p + 4 * lane, &word, 4);
  }
}
static uint64_t get(const arith *a, uint32_t reg, unsigned lane) {
  const char *p = a->frame + place_of_reg(reg);
  unsigned bits = reg_bits(a, reg);
  uint64_t v;
  uint32_t word;
  if (bits == 64) {
    memcpy(&v, p + 8 * lane, 8);
    return v;
  }
  memcpy(&word, bits == 1 ? p : p + 4 * lane, 4);
  return bits == 1 ? word >> lane & 1 : word;
}

static void spoil(arith *a) {
  for (unsigned k = 0; k < a->n_written; k++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      arith_put(a, a->written[k], lane, 0xa5a5a5a5a5a5a5a5);
}
void arith_load(arith *a, uint64_t n) {
  uint32_t cc = 0;
  for (unsigned lane = 0; lane < SIM_LANES; lane++) {
    for (unsigned k = 0; k < a->n_read; k++)
      arith_put(a, a->read[k], lane, spell_value(&a->s, n + lane, k));
    if (a->s.carry)
      cc |= (uint32_t)(spell_value(&a->s, n + lane, a->s.n_in - 1) & 1) << lane;
  }
  memcpy(a->frame, &cc, 4);
  spoil(a);
  memcpy(a->loaded, a->frame, a->frame_bytes);
}
void arith_again(arith *a) {
  memcpy(a->frame, a->loaded, a->frame_bytes);
}
void arith_run(arith *a, unsigned way, uint32_t mask) {
  sim_ctx c = {.mask = mask, .way = way};
  c.base[SIM_IN_FRAME] = a->frame;
  c.base[SIM_IN_CONST] = a->consts - SIM_IN_CONST;
  for (int i = 0; i < SIM_LANES; i++)
    c.lane[i] = mask >> i & 1 ? UINT32_MAX : 0;
  a->op.fn[way](&a->op, &c);
}
bool arith_run_gang(arith *a) {
  size_t bytes = a->frame_bytes;
  for (int w = 0; w < ARITH_GANG; w++)
    memcpy(a->warps + w * bytes, a->frame, bytes);
  sim_ctx c = {.mask = UINT32_MAX, .way = SIM_GANG, .gang = 5};
  c.base[SIM_IN_FRAME] = a->warps;
  c.step[SIM_IN_FRAME] = (uint32_t)bytes;
  c.base[SIM_IN_CONST] = a->consts - SIM_IN_CONST;
  a->op.fn[SIM_GANG](&a->op, &c);
  bool ok = !memcmp(a->warps + bytes, a->frame, bytes) && !memcmp(a->warps, a->warps + 2 * bytes, bytes) &&
            c.base[SIM_IN_FRAME] == a->warps;
  memcpy(a->frame, a->warps, bytes);
  return ok;
}
uint64_t arith_result(const arith *a, unsigned k, unsigned lane) {
  if (k < a->n_written)
    return get(a, a->written[k], lane);
  uint32_t cc;
  memcpy(&cc, a->frame, 4);
  return cc >> lane & 1;
}
void arith_expect(const arith *a, uint64_t n, oracle_case *c) {
  memset(c, 0, sizeof *c);
  c->body = a->body;
  c->insn = a->insn;
  unsigned at = 0, k = 0;
  for (unsigned m = 0; m < a->insn->n_operands; m++) {
    const ptx_operand *o = sim_operand(a->body, a->insn, m);
    if (o->written || o->kind == PTX_ABSENT)
      continue;
    c->in[at++] = o->kind == PTX_REG ? cut(spell_value(&a->s, n, k), reg_bits(a, o->index)) : o->bits;
    k += o->kind == PTX_REG;
  }
  if (a->s.carry)
    c->cc_in = spell_value(&a->s, n, a->s.n_in - 1) & 1;
}
