/* ptx.h: the door of the PTX front end. Text in; a checked, read-only program out.
 *
 * ptx_module_new reads a whole module's declarations: variables with their initial values, kernels and
 * functions with their parameters. Bodies are only measured; ptx_body_of reads one when somebody first asks
 * for it (libcudadevrt brings 780 KB of PTX of which a program runs almost nothing). After that both are
 * const: running a program never writes to it. What a body may contain is one table, opcodes.def; every other
 * closed vocabulary is words.def. Nothing downstream needs to check legality again: an instruction that came
 * out of here has a form of the table, and exactly the operands which that form names, in that order, of
 * fitting types.
 *
 * Instructions that are not modelled are rows too (ptx_op_info.refused says why). A body that contains one is
 * read all the same, so that a program can start; whoever would run the instruction refuses it by name.
 *
 * All indices are dense. PTX_NONE stands for "no such thing".
 */
#ifndef MUSTER_PTX_H
#define MUSTER_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct base_arena;
struct base_diags;
struct base_text;

#define PTX_VERSION_NEWEST 95 /* newest PTX ISA that the tables know, times ten; a newer one is a warning */
#define PTX_NONE UINT32_MAX
#define PTX_MAX_DIMS 4 /* of an array */

/* ------------------------------------------------------------------ vocabularies (words.def) */

typedef enum ptx_type {
  PTX_TYPE_NONE,
#define TYPE(id, text, bits, base, lanes) PTX_##id,
#include "ptx/words.def"
  PTX_TYPES
} ptx_type;

/* What a type is to a register: integer instructions take BITS, UINT and SINT, float ones BITS and FLOAT. */
typedef enum ptx_base {
  PTX_BASE_NONE,
  PTX_BASE_PRED,
  PTX_BASE_BITS,
  PTX_BASE_UINT,
  PTX_BASE_SINT,
  PTX_BASE_FLOAT,
  PTX_BASE_ALT,
  PTX_BASE_OPAQUE
} ptx_base;

/* Values of modifiers, unique over all groups: PTX_SPACE_GLOBAL, PTX_ORDER_ACQUIRE, PTX_ROUND_RN ... */
typedef enum ptx_mod {
  PTX_MOD_NONE,
#define WORD(group, id, text, isa, sm) PTX_##id,
#include "ptx/words.def"
  PTX_MODS
} ptx_mod;

#define PTX_SPACE_GENERIC PTX_MOD_NONE /* mods.space of an access that names no space */

/* One byte per group: its value, PTX_MOD_NONE where the instruction does not say. */
typedef struct ptx_mods {
#define GROUP(name) uint8_t name;
#include "ptx/words.def"
} ptx_mods;

typedef enum ptx_sreg {
#define SREG(id, text, type, parts, isa, sm) PTX_SREG_##id,
#include "ptx/words.def"
  PTX_SREGS
} ptx_sreg;

unsigned ptx_type_bits(ptx_type t); /* 1 for PRED */
unsigned ptx_type_bytes(ptx_type t);
unsigned ptx_type_lanes(ptx_type t); /* 2 or 4 for packed types */
ptx_base ptx_type_base(ptx_type t);
const char *ptx_type_name(ptx_type t); /* without the dot */
const char *ptx_mod_name(ptx_mod m);
const char *ptx_sreg_name(ptx_sreg s);

/* ------------------------------------------------------------------ the instruction table (opcodes.def) */

/* What a watcher of synchronisation sees in an instruction. */
typedef enum ptx_sync {
  PTX_SYNC_NONE,
  PTX_SYNC_LOAD,
  PTX_SYNC_STORE,
  PTX_SYNC_RMW,      /* atom, red */
  PTX_SYNC_COPY,     /* an asynchronous copy or store, and what completes it */
  PTX_SYNC_FENCE,    /* fence, membar */
  PTX_SYNC_BARRIER,  /* of the block: bar, barrier */
  PTX_SYNC_CLUSTER,  /* barrier.cluster */
  PTX_SYNC_MBARRIER, /* an operation on a barrier object in memory */
  PTX_SYNC_WARP,     /* named lanes meet: shfl, vote, match, redux, elect, bar.warp */
  PTX_SYNC_GRID,     /* waits for or lets go another grid: griddepcontrol */
  PTX_SYNC_TIME,     /* gives up its turn: nanosleep */
  PTX_SYNC_BRANCH,   /* bra, brx */
  PTX_SYNC_CALL,
  PTX_SYNC_EXIT /* ret, exit, trap */
} ptx_sync;

/* PTX_OP_add_int ... : one per row, mnemonic and class. */
typedef enum ptx_op {
#define OP(name, class, sync, meaning) PTX_OP_##name##_##class,
#define OP_NO(name, class, reason) PTX_OP_##name##_##class,
#include "ptx/opcodes.def"
  PTX_OPS
} ptx_op;

typedef struct ptx_op_info {
  const char *name;    /* "add" */
  const char *class;   /* "int" */
  const char *row;     /* "add_int" */
  const char *meaning; /* "d = a + b" */
  const char *refused; /* why it is not modelled; NULL: it is */
  ptx_sync sync;
  uint16_t first_form, n_forms;
} ptx_op_info;

typedef struct ptx_form_info {
  ptx_op op;
  const char *words;    /* its modifiers and types, as opcodes.def writes them */
  const char *operands; /* likewise */
  uint16_t isa, sm;     /* where it was introduced: ISA times ten, 75 for sm_75 */
  bool arch_specific;   /* only for targets with the suffix 'a' or 'f' */
} ptx_form_info;

const ptx_op_info *ptx_op_get(ptx_op op);
unsigned ptx_form_count(void);
const ptx_form_info *ptx_form_get(unsigned form);

/* ------------------------------------------------------------------ the program */

/* Where something stands in the PTX text; both from 1, 0: nowhere. */
typedef struct ptx_place {
  uint32_t line, column;
} ptx_place;

typedef enum ptx_linkage {
  PTX_LINK_NONE,
  PTX_LINK_EXTERN,
  PTX_LINK_VISIBLE,
  PTX_LINK_WEAK,
  PTX_LINK_COMMON
} ptx_linkage;

/* The address of a symbol within an initial value: at `offset`, `bytes` wide, the value of
 * (address + addend) >> shift. `generic`: of the generic address, else of the one in its own space. */
typedef struct ptx_reloc {
  uint64_t offset;
  int64_t addend;
  uint32_t index; /* of the variable or function in the module */
  uint8_t bytes, shift;
  bool is_func, generic;
} ptx_reloc;

typedef struct ptx_var {
  const char *name;
  uint8_t space; /* PTX_SPACE_..., never generic */
  uint8_t type;  /* of an element; a vector's component */
  uint8_t vec;   /* 1, 2 or 4 components to an element */
  uint8_t linkage;
  uint8_t n_dims;
  bool unsized; /* [] without an initial value: extern, or a kernel's dynamic shared memory */
  bool managed; /* .attribute(.managed) */
  bool is_ptr;  /* a .ptr parameter; ptr_space and ptr_align hold what it says of its target */
  uint8_t ptr_space;
  uint32_t align, ptr_align;
  uint32_t dims[PTX_MAX_DIMS]; /* 0 where unsized */
  uint64_t bytes;              /* of the whole; 0 if unsized */
  uint64_t offset;             /* of a parameter: in its parameter block */
  const uint8_t *init;         /* init_bytes initial bytes, zeros behind; NULL: none given */
  uint64_t init_bytes;
  const ptx_reloc *relocs;
  uint32_t n_relocs;
  uint64_t unified[2]; /* .attribute(.unified(a, b)) */
  bool has_unified;
  ptx_place place, defined; /* its first declaration, and the one that counts */
} ptx_var;

typedef struct ptx_reg {
  const char *name; /* its declaration's name; with `number` behind it where that is not PTX_NONE */
  uint32_t number;
  uint8_t type;
  char part; /* 'x', 'y', 'z', 'w' of a vector register; 0 */
} ptx_reg;

typedef enum ptx_kind {
  PTX_ABSENT,  /* an optional operand that was not written */
  PTX_SINK,    /* _ */
  PTX_REG,     /* index: a register of the body. negated: !p */
  PTX_SPECIAL, /* index: ptx_sreg; part: 0 to 3 for .x to .w */
  PTX_IMM,     /* bits: an integer, sign- or zero-extended to 64 bits, or the pattern of a float of `type` */
  PTX_VAR,     /* the address of variable `index`, plus offset */
  PTX_FUNC,    /* a function of the module: callee, or its address */
  PTX_MEM_REG, /* [register index + offset] */
  PTX_MEM_VAR, /* [variable index + offset] */
  PTX_MEM_IMM, /* [offset] */
  PTX_VEC,     /* `count` operands from operand `index` of the body on */
  PTX_LABEL,   /* index: a label of the body */
  PTX_LABELS,  /* index: a .branchtargets list of the body */
  PTX_PROTO,   /* index: a .callprototype or .calltargets of the body */
  PTX_RAW /* index: nothing; the text of what is not modelled: bits is its offset in the module's text, index
             its length */
} ptx_kind;

typedef struct ptx_operand {
  uint8_t kind; /* ptx_kind */
  uint8_t
      type; /* ptx_type: how the instruction reads or writes it, which can be narrower than the register */
  uint8_t part; /* SPECIAL: .x to .w are 0 to 3. REG of a video instruction: 0 whole, .b0 to .b3 1 to 4, .h0
                   .h1 5, 6 */
  bool negated : 1;
  bool written : 1; /* a destination */
  bool in_body : 1; /* a variable of the body (parameters are), not of the module: ptx_var_of knows */
  uint32_t index;
  union {
    uint64_t bits;
    int64_t offset;
    uint64_t count;
  };
} ptx_operand;

typedef struct ptx_insn {
  ptx_mods mods;
  uint8_t type[4]; /* in the order written; the first is "the" type; 0 behind the last */
  uint8_t n_operands;
  bool guard_negated; /* @!p */
  uint16_t op, form;  /* ptx_op; ptx_form_get */
  uint32_t operands;  /* its first in ptx_body.operands; absent ones have their place too */
  uint32_t guard;     /* predicate register or PTX_NONE */
  uint32_t loc;       /* ptx_body.locs or PTX_NONE */
  ptx_place place;
} ptx_insn;

/* A .loc: where in the source the following instructions come from. */
typedef struct ptx_loc {
  const char *file; /* NULL: a file number that .file never named */
  const char *func; /* name of the inlined function, NULL if not given */
  uint32_t line, column;
  uint32_t inlined_at; /* ptx_body.locs or PTX_NONE */
  uint32_t file_index;
} ptx_loc;

typedef struct ptx_label {
  const char *name;
  uint32_t insn; /* the one behind it; n_insns at the very end */
} ptx_label;

typedef struct ptx_labels {
  const char *name;
  const uint32_t *label;
  uint32_t n;
} ptx_labels;

/* What an indirect call may reach: a prototype's shape, or the functions of a .calltargets. */
typedef struct ptx_proto {
  const char *name;
  const ptx_var *rets, *params;
  uint32_t n_rets, n_params;
  const uint32_t *funcs; /* .calltargets: functions of the module */
  uint32_t n_funcs;
  bool noreturn;
} ptx_proto;

typedef struct ptx_block {
  uint32_t first, end;   /* instructions [first, end) */
  uint32_t succ, n_succ; /* ptx_body.edges[succ .. succ + n_succ): block numbers, fall-through first */
  uint32_t rpo;          /* reverse post-order number; PTX_NONE: not reachable */
  uint32_t ipdom; /* immediate post-dominator: where threads that part here meet; PTX_NONE: at the exit */
  bool loop_head; /* target of an edge that does not go forward in rpo */
} ptx_block;

typedef struct ptx_body {
  const ptx_insn *insns;
  const ptx_operand *operands;
  const ptx_reg *regs;
  const ptx_var *vars; /* results, then parameters, then what the body declares */
  const ptx_label *labels;
  const ptx_labels *targets;
  const ptx_proto *protos;
  const ptx_loc *locs;
  const ptx_block *blocks;
  const uint32_t *edges;
  const uint32_t *order; /* the reachable blocks in reverse post-order */
  const char *const *pragmas;
  uint32_t n_insns, n_operands, n_regs, n_vars, n_labels, n_targets, n_protos, n_locs, n_blocks, n_edges,
      n_order, n_pragmas;
  uint32_t unmodelled; /* first instruction that is not modelled, or PTX_NONE */
} ptx_body;

typedef struct ptx_func {
  const char *name;
  bool entry, defined, noreturn;
  uint8_t linkage;
  const ptx_var *rets, *params;
  uint32_t n_rets, n_params;
  uint32_t param_bytes, param_align; /* of a kernel's parameter block */
  uint32_t maxntid[3], reqntid[3];   /* 0: not said */
  uint32_t minnctapersm, maxnctapersm, maxnreg;
  uint32_t reqnctapercluster[3], maxclusterrank;
  bool explicitcluster, blocksareclusters;
  uint32_t alias_of; /* a function of the module, or PTX_NONE */
  const char *const *pragmas;
  uint32_t n_pragmas;
  ptx_place place, body; /* its first declaration, and the one with the body */
} ptx_func;

typedef struct ptx_file {
  const char *name;
  uint32_t index;
} ptx_file;

typedef struct ptx_module {
  const char *name; /* for messages */
  const char *text;
  size_t text_bytes;
  uint32_t version;      /* 8.8 is 88, 8.10 would be 90 */
  uint32_t sm;           /* 75, 80, ... */
  char sm_suffix;        /* 0, 'a' or 'f' */
  uint32_t address_bits; /* 32 or 64 */
  bool debug, map_f64_to_f32, texmode_independent;
  const ptx_var *vars;
  const ptx_func *funcs;
  const ptx_file *files;
  const char *const *pragmas;
  uint32_t n_vars, n_funcs, n_files, n_pragmas;
  struct base_diags
      *diags; /* everything said so far, by whichever call; read it while no call is under way */
} ptx_module;

/* Reads `bytes` bytes of PTX (a NUL ends them); the text is copied. NULL only if memory ran out. Look at
 * ptx_failed before anything else. */
ptx_module *ptx_module_new(const char *name, const char *text, size_t bytes);
void ptx_module_free(ptx_module *m); /* NULL is fine */
/* An error was found in the declarations, or in a body read so far. */
bool ptx_failed(const ptx_module *m);

/* The body of function `func`, read on the first call; NULL if it has none or has an error (see diags) or
 * memory ran out. Several threads may call it at once; the body lives as long as the module. */
const ptx_body *ptx_body_of(ptx_module *m, uint32_t func);
/* Reads every body: true if there is no error in the whole module. */
bool ptx_check(ptx_module *m);

uint32_t ptx_find_func(const ptx_module *m, const char *name); /* PTX_NONE: no such */
uint32_t ptx_find_var(const ptx_module *m, const char *name);
const ptx_func *ptx_func_get(const ptx_module *m, uint32_t func); /* an alias's target */

const ptx_var *ptx_var_of(const ptx_module *m, const ptx_body *b, const ptx_operand *o);

/* One access to memory, as a checker needs it: defaults filled in. */
typedef struct ptx_access {
  bool reads, writes;
  uint8_t space;   /* PTX_SPACE_GENERIC: by address */
  uint8_t order;   /* PTX_ORDER_WEAK, ... ; PTX_ORDER_VOLATILE stays itself */
  uint8_t scope;   /* PTX_SCOPE_...; PTX_MOD_NONE where the order is weak */
  uint8_t proxy;   /* PTX_MOD_NONE: generic; PTX_PROXY_ASYNC */
  uint8_t operand; /* which operand holds the address */
  uint32_t bytes;  /* per thread; of one element */
  uint32_t count;  /* elements: vectors are as many accesses as elements; 0: `bytes` is given by an operand */
} ptx_access;
unsigned ptx_accesses(const ptx_body *b, const ptx_insn *i, ptx_access out[2]);

/* The order that an instruction without an access of its own brings: fence, membar, barrier.cluster; false:
 * another one. membar is fence.sc; a barrier of a cluster releases or acquires unless it says `relaxed`. */
typedef struct ptx_fence {
  uint8_t order, scope; /* PTX_ORDER_..., PTX_SCOPE_...; both PTX_MOD_NONE: of proxies only */
  uint8_t proxy;        /* PTX_PROXY_...: between which ways to memory; PTX_MOD_NONE: the generic one alone */
  uint8_t space;        /* of a proxy fence that names one */
} ptx_fence;
bool ptx_fence_of(const ptx_insn *i, ptx_fence *out);

/* The program as PTX text, which parses to the same program. The body form prints one function. */
void ptx_print(ptx_module *m, struct base_text *out);
void ptx_print_insn(const ptx_module *m, const ptx_body *b, const ptx_insn *i, struct base_text *out);

#endif
