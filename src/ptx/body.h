/* body.h: a function's body while it is read. Private to src/ptx. */
#ifndef MUSTER_PTX_BODY_H
#define MUSTER_PTX_BODY_H

#include "ptx/front.h"

/* What a name means in a scope. An inner declaration hides an outer one until its scope ends. */
typedef enum ptx_decl_kind {
  PTX_D_REG,
  PTX_D_RANGE,
  PTX_D_VAR,
  PTX_D_LABEL,
  PTX_D_LABELS,
  PTX_D_PROTO
} ptx_decl_kind;

typedef struct ptx_decl {
  uint8_t kind;
  uint8_t parts;          /* of a vector register: 2 or 4 registers from index on */
  uint32_t index, count;  /* count: of a range %r<count> */
  uint32_t depth, hidden; /* scope; the declaration that this one hides, or PTX_NONE */
  const char *key;
} ptx_decl;

/* A use of a label, resolved when its scope ends, since labels are declared behind their uses. */
typedef struct ptx_use {
  const char *key;
  ptx_token at;
  uint32_t operand; /* PTX_NONE: entry `index` of label_list */
  uint32_t index;
} ptx_use;

/* A .branchtargets list while label_list still moves. */
typedef struct ptx_list {
  const char *name;
  uint32_t first, n; /* in label_list */
} ptx_list;

typedef enum ptx_raw_kind {
  PTX_RAW_NAME,
  PTX_RAW_MEM,
  PTX_RAW_VEC,
  PTX_RAW_CONST,
  PTX_RAW_SINK
} ptx_raw_kind;

enum { PTX_MAX_ELEMENTS = 8, PTX_MAX_RAW = 12, PTX_MAX_REGS = 1 << 20 };

/* An operand as written, before its instruction says what it must be. */
typedef struct ptx_raw {
  uint8_t kind;
  bool bar;                 /* joined to the one before by '|' */
  bool negated;             /* !p */
  bool indexed;             /* name[offset] */
  ptx_token at, name, part; /* kind PTX_T_END: none */
  ptx_token behind;         /* [a].unified */
  int64_t offset;
  ptx_const value;
  struct ptx_raw *elements;
  uint32_t n;
} ptx_raw;

typedef struct ptx_builder {
  ptx_reader r;
  uint32_t func;
  base_arena scratch; /* of this reading; what stays is copied out at the end */
  base_strings names;
  base_map symbols, ranges, labels; /* interned name -> decls */
  base_map places;                  /* a hash of file, line, column -> the last of locs that has it */
  ptx_decl *decls;
  ptx_use *uses;
  uint32_t *scope_uses, *scope_decls; /* where each open scope began */
  ptx_insn *insns;
  ptx_operand *operands;
  ptx_reg *regs;
  ptx_var *vars;
  ptx_label *label;
  ptx_list *targets;
  ptx_proto *protos;
  ptx_loc *locs;
  const char **pragmas;
  uint32_t *label_list;
  uint32_t n_decls, n_uses, n_scope_uses, n_scope_decls, n_insns, n_operands, n_regs, n_vars, n_labels,
      n_targets, n_protos, n_locs, n_pragmas, n_label_list;
  uint32_t cap_decls, cap_uses, cap_scope_uses, cap_scope_decls, cap_insns, cap_operands, cap_regs, cap_vars,
      cap_labels, cap_targets, cap_protos, cap_locs, cap_pragmas, cap_label_list;
  uint32_t depth, loc, unmodelled;
  bool wrong; /* an error was found in this body */
} ptx_builder;

/* Appends to one of the builder's arrays: PUSH(b, insns). */
#define PTX_PUSH(b, what) BASE_PUSH(&(b)->scratch, (b)->what, (b)->n_##what, (b)->cap_##what)

/* body.c */
const ptx_body *ptx_body_read(ptx_unit *u, uint32_t func, bool *read);
const ptx_decl *ptx_body_symbol(ptx_builder *b, const char *name, size_t bytes, uint32_t *number);

/* operand.c */
ptx_raw ptx_read_operand(ptx_builder *b);
/* Turns raw operands into those of the instruction's form; appends them to b->operands and completes *i. */
void ptx_bind_operands(ptx_builder *b, ptx_insn *i, const ptx_token *mnemonic, const ptx_raw *raw,
                       unsigned n);
void ptx_read_call(ptx_builder *b, ptx_insn *i);
uint32_t ptx_read_guard(ptx_builder *b, bool *negated); /* behind '@' */

/* form.c: finds the row and form, fills in op, form, mods and types, or fails at the word that is wrong. */
void ptx_match(ptx_builder *b, ptx_insn *i, const ptx_token *mnemonic, const ptx_token *words, unsigned n);
/* An instruction of the table in words, for messages: "ld.global.u32". */
void ptx_put_name(const ptx_insn *i, struct base_text *out);
void ptx_need(ptx_builder *b, const ptx_token *at, unsigned isa, unsigned sm, bool arch_specific);

/* verify.c: what the forms cannot say. */
void ptx_verify(ptx_builder *b, const ptx_insn *i, const ptx_token *mnemonic);

/* flow.c: blocks, edges, orders; all from `arena`. */
void ptx_flow(ptx_body *body, const ptx_func *funcs, base_arena *arena, base_arena *scratch);

#endif
