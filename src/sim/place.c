/* place.c: where operands are. A register has its place from flow.c; a constant becomes a vector of the
 * kernel's pool; what is the same in a whole block (grid numbers, parameters, addresses of shared variables)
 * gets a place in the block's pool and a recipe that fills it when a block starts; what differs by lane alone
 * is a constant vector.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ constants */

typedef struct sim_constant {
  uint64_t bits;
  uint32_t lane_bytes, place;
} sim_constant_entry;

static uint32_t pool_room(sim_code *c, uint32_t bytes) {
  if (c->const_bytes + bytes > c->const_capacity) {
    uint32_t more = (c->const_capacity ? c->const_capacity * 2 : 8192) + bytes;
    more = (more + 63) / 64 * 64;
    char *p = aligned_alloc(64, more);
    if (!p)
      longjmp(*c->arena.out_of_memory, 1);
    memset(p, 0, more);
    if (c->consts)
      memcpy(p, c->consts, c->const_bytes);
    free(c->consts);
    c->consts = p;
    c->const_capacity = more;
  }
  uint32_t at = c->const_bytes;
  c->const_bytes += (bytes + 63) / 64 * 64;
  return at;
}

uint32_t sim_const_lanes(sim_build *w, const void *lanes, uint32_t lane_bytes) {
  uint32_t at = pool_room(w->code, lane_bytes * SIM_LANES);
  memcpy(w->code->consts + at, lanes, lane_bytes * SIM_LANES);
  return at | SIM_IN_CONST;
}

static uint32_t constant_wide(sim_build *w, const uint64_t bits[2], uint32_t lane_bytes) {
  uint64_t lanes[SIM_LANES][2];
  for (int i = 0; i < SIM_LANES; i++)
    memcpy((char *)lanes + (size_t)i * lane_bytes, bits, lane_bytes);
  return sim_const_lanes(w, lanes, lane_bytes);
}

/* Predicates (lane_bytes 0) are words: all ones or none. */
uint32_t sim_constant(sim_build *w, uint64_t bits, uint32_t lane_bytes) {
  for (uint32_t k = 0; k < w->n_constants; k++)
    if (w->constants[k].bits == bits && w->constants[k].lane_bytes == lane_bytes)
      return w->constants[k].place;
  uint32_t place;
  if (lane_bytes == 0) {
    uint32_t at = pool_room(w->code, 4), word = bits ? UINT32_MAX : 0;
    memcpy(w->code->consts + at, &word, 4);
    place = at | SIM_IN_CONST;
  } else {
    place = constant_wide(w, (uint64_t[]){bits, 0}, lane_bytes);
  }
  sim_constant_entry *e = BASE_PUSH(&w->code->arena, w->constants, w->n_constants, w->cap_constants);
  *e = (sim_constant_entry){bits, lane_bytes, place};
  return place;
}

/* ------------------------------------------------------------------ the block's pool */

uint32_t sim_pool_place(sim_code *c, uint32_t lane_bytes) {
  uint32_t at = c->pool_bytes;
  c->pool_bytes += lane_bytes ? lane_bytes * SIM_LANES : 64;
  return at | SIM_IN_BLOCK;
}

static uint32_t recipe(sim_build *w, sim_recipe r) {
  sim_code *c = w->code;
  for (uint32_t k = 0; k < c->n_recipes; k++) {
    const sim_recipe *have = &c->recipes[k];
    if (have->kind == r.kind && have->part == r.part && have->bytes == r.bytes &&
        have->lane_bytes == r.lane_bytes && have->what == r.what && have->is_signed == r.is_signed)
      return have->place;
  }
  r.place = sim_pool_place(c, r.lane_bytes);
  *BASE_PUSH(&c->arena, c->recipes, c->n_recipes, c->cap_recipes) = r;
  return r.place;
}

static uint32_t lane_bytes_of(ptx_type t) {
  unsigned bits = ptx_type_bits(t);
  return bits == 1 ? 0 : bits <= 32 ? 4 : bits / 8;
}

static ptx_type sreg_type(uint32_t sreg) {
  static const uint8_t types[] = {
#define SREG(id, text, type, parts, isa, sm) PTX_##type,
#include "ptx/words.def"
  };
  return (ptx_type)types[sreg];
}

uint32_t sim_sreg_place(sim_build *w, uint32_t sreg, uint32_t part) {
  uint32_t lanes[SIM_LANES];
  sim_code *c = w->code;
  switch (sreg) {
  case PTX_SREG_TID:
    return part == 3 ? sim_constant(w, 0, 4) : part * 4 * SIM_LANES | SIM_IN_WARP;
  case PTX_SREG_WARPID:
    return SIM_SPECIAL_WARPID * 4 * SIM_LANES | SIM_IN_WARP;
  case PTX_SREG_LANEID:
  case PTX_SREG_LANEMASK_EQ:
  case PTX_SREG_LANEMASK_LE:
  case PTX_SREG_LANEMASK_LT:
  case PTX_SREG_LANEMASK_GE:
  case PTX_SREG_LANEMASK_GT: {
    uint32_t *made = &c->sreg_places[sreg == PTX_SREG_LANEID ? 0 : 1 + sreg - PTX_SREG_LANEMASK_EQ];
    for (uint32_t i = 0; i < SIM_LANES; i++) {
      uint32_t eq = UINT32_C(1) << i, lt = eq - 1;
      lanes[i] = sreg == PTX_SREG_LANEID        ? i
                 : sreg == PTX_SREG_LANEMASK_EQ ? eq
                 : sreg == PTX_SREG_LANEMASK_LE ? lt | eq
                 : sreg == PTX_SREG_LANEMASK_LT ? lt
                 : sreg == PTX_SREG_LANEMASK_GE ? ~lt
                                                : ~(lt | eq);
    }
    if (!*made)
      *made = sim_const_lanes(w, lanes, 4);
    return *made;
  }
  default:
    c->uses_reserved |=
        sreg >= PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN && sreg <= PTX_SREG_RESERVED_SMEM_OFFSET_1;
    c->uses_grid_workspace |= sreg == PTX_SREG_ENVREG1 || sreg == PTX_SREG_ENVREG2;
    return recipe(w, (sim_recipe){.kind = SIM_RECIPE_SREG,
                                  .part = (uint8_t)part,
                                  .lane_bytes = (uint8_t)lane_bytes_of(sreg_type(sreg)),
                                  .what = sreg});
  }
}

/* ------------------------------------------------------------------ variables */

static const ptx_var *var_of(const sim_func *f, const ptx_operand *o) {
  return o->in_body ? &f->body->vars[o->index] : &f->ptx->vars[o->index];
}

static bool is_kernel_param(const sim_func *f, const ptx_operand *o) {
  return f->decl->entry && o->in_body && o->index < f->decl->n_params;
}

/* Shared variables of a kernel lie one behind the other, in the order in which its code names them. */
static uint32_t shared_offset(sim_build *w, const ptx_var *v) {
  sim_code *c = w->code;
  if (v->align > c->shared_align)
    c->shared_align = v->align;
  for (uint32_t k = 0; k < c->n_shared; k++)
    if (c->shared[k].var == v)
      return c->shared[k].offset;
  uint32_t at = (c->shared_bytes + v->align - 1) / v->align * v->align;
  if (v->bytes > 1u << 20 || at + v->bytes > SIM_OFFSET_MASK)
    sim_decode_fail(w, NULL, "%llu bytes of shared memory", (unsigned long long)v->bytes);
  *BASE_PUSH(&c->arena, c->shared, c->n_shared, c->cap_shared) = (struct sim_shared_var){v, at};
  c->shared_bytes = at + (uint32_t)v->bytes;
  return at;
}

/* The definition of a shared variable that is .extern with a size lies in another module. */
static const ptx_var *defined_shared(const sim_func *f, const ptx_var *v) {
  if (v->linkage != PTX_LINK_EXTERN || v->unsized)
    return v;
  for (const sim_module *m = f->module->device->modules; m; m = m->next) {
    uint32_t k = ptx_find_var(m->ptx, v->name);
    if (k != PTX_NONE && m->ptx->vars[k].space == PTX_SPACE_SHARED &&
        m->ptx->vars[k].linkage != PTX_LINK_EXTERN)
      return &m->ptx->vars[k];
  }
  return v;
}

/* The address of variable `o`, plus an offset, in its own space. */
static uint32_t var_place(sim_build *w, const ptx_operand *o, int64_t offset, uint32_t lane_bytes) {
  const sim_func *f = w->f;
  const ptx_var *v = var_of(f, o);
  if (v->space == PTX_SPACE_SHARED) {
    v = defined_shared(f, v);
    sim_recipe r = {.kind = v->unsized ? SIM_RECIPE_DYNAMIC : SIM_RECIPE_SHARED,
                    .lane_bytes = (uint8_t)lane_bytes};
    if (v->unsized && v->align > w->code->shared_align)
      w->code->shared_align = v->align;
    r.what = (v->unsized ? 0 : shared_offset(w, v)) + (uint32_t)offset;
    return recipe(w, r);
  }
  if (is_kernel_param(f, o))
    return recipe(w, (sim_recipe){.kind = SIM_RECIPE_PARAM_ADDRESS,
                                  .lane_bytes = (uint8_t)lane_bytes,
                                  .what = (uint32_t)((int64_t)v->offset + offset)});
  if (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM) {
    if (!o->in_body)
      sim_decode_fail(w, NULL, "variable %s of the module lies in .local, which is not modelled", v->name);
    uint64_t at = f->vars[o->index] + (uint64_t)offset;
    if (f->decl->entry)
      return sim_constant(w, at, lane_bytes);
    uint32_t place = sim_temporary(w, lane_bytes);
    sim_op op = {.d = place, .y = lane_bytes == 8, .insn = w->at};
    sim_make_local_address(&op, f->link + (uint32_t)offsetof(sim_link, local), at);
    sim_emit(w, &op);
    return place;
  }
  uint64_t address;
  if (o->in_body)
    sim_decode_fail(w, NULL, "variable %s of a function's body lies in .%s, which is not modelled", v->name,
                    ptx_mod_name((ptx_mod)v->space));
  if (!sim_symbol_address(f->module, o->index, &address))
    sim_decode_fail(w, NULL, "variable %s is not defined in any module", v->name);
  return sim_constant(w, address + (uint64_t)offset, lane_bytes);
}

uint32_t sim_temporary(sim_build *w, uint32_t lane_bytes) {
  uint32_t at = (w->f->frame_bytes + 63) / 64 * 64;
  w->f->frame_bytes = at + (lane_bytes ? lane_bytes : 4) * SIM_LANES;
  return at;
}

/* ------------------------------------------------------------------ operands */

static uint64_t truncated(uint64_t bits, ptx_type t) {
  unsigned n = ptx_type_bits(t);
  return n >= 64 ? bits : bits & ((UINT64_C(1) << n) - 1);
}

uint32_t sim_place_at(sim_build *w, const ptx_body *b, const ptx_operand *o) {
  switch (o->kind) {
  case PTX_REG: {
    uint32_t place = w->f->reg[o->index];
    if (place == SIM_NOWHERE) /* never written where the kernel can go */
      place = w->f->reg[o->index] = sim_temporary(w, lane_bytes_of((ptx_type)b->regs[o->index].type));
    return place | (o->negated ? SIM_NOT : 0);
  }
  case PTX_SINK:
    return o->type == PTX_PRED ? SIM_NOWHERE : w->f->trash;
  case PTX_IMM: {
    ptx_type t = (ptx_type)o->type;
    bool extend = ptx_type_base(t) == PTX_BASE_SINT && (int64_t)o->bits < 0;
    if (ptx_type_bits(t) == 128)
      return constant_wide(w, (uint64_t[]){o->bits, extend ? ~UINT64_C(0) : 0}, 16);
    return sim_constant(w, truncated(o->bits, t), lane_bytes_of(t));
  }
  case PTX_SPECIAL:
    if (sim_is_time(o->index))
      return SIM_NOWHERE;
    return sim_sreg_place(w, o->index, o->part) | (o->negated ? SIM_NOT : 0);
  case PTX_VAR:
    return var_place(w, o, o->offset, lane_bytes_of((ptx_type)o->type));
  case PTX_FUNC: {
    sim_module *m = w->f->module;
    uint32_t index = o->index;
    sim_resolve_func(&m, &index);
    return sim_constant(w, sim_func_address(m, index), lane_bytes_of((ptx_type)o->type));
  }
  default:
    return SIM_NOWHERE;
  }
}

const uint32_t *sim_list(sim_build *w, const ptx_body *b, const ptx_operand *v, uint32_t *n) {
  uint32_t *list = base_alloc_array(&w->code->arena, v->count + 1, sizeof *list);
  *n = (uint32_t)v->count;
  for (uint32_t k = 0; k < *n; k++)
    list[k] = sim_place_at(w, b, &b->operands[v->index + k]);
  return list;
}

uint32_t sim_operand_bits(const ptx_body *b, const ptx_operand *o) {
  if (o->kind == PTX_REG || o->kind == PTX_MEM_REG)
    return ptx_type_bits((ptx_type)b->regs[o->index].type);
  return ptx_type_bits((ptx_type)o->type);
}

uint32_t sim_address_place(sim_build *w, const ptx_body *b, const ptx_operand *o, int64_t *offset,
                           bool *wide) {
  *offset = 0, *wide = true;
  if (o->kind == PTX_MEM_IMM)
    return sim_constant(w, (uint64_t)o->offset, 8);
  *offset = o->offset;
  if (o->kind == PTX_MEM_REG) {
    *wide = ptx_type_bits((ptx_type)b->regs[o->index].type) == 64;
    return sim_place_at(w, b, &(ptx_operand){.kind = PTX_REG, .index = o->index});
  }
  const ptx_var *v = var_of(w->f, o);
  if ((v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM) && o->in_body &&
      !is_kernel_param(w->f, o)) {
    *wide = false;
    *offset += w->f->vars[o->index];
    return w->f->decl->entry ? sim_constant(w, 0, 4) : w->f->link + (uint32_t)offsetof(sim_link, local);
  }
  *wide = v->space != PTX_SPACE_SHARED;
  return var_place(w, o, 0, *wide ? 8 : 4);
}
