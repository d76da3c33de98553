/* table.h: opcodes.def and words.def, compiled once into arrays that parser, verifier and printer walk.
 * Private to src/ptx. */
#ifndef MUSTER_PTX_TABLE_H
#define MUSTER_PTX_TABLE_H

#include "ptx/ptx.h"

enum { PTX_MAX_WORDS = 24, PTX_MAX_OPERANDS = 8, PTX_NO_TEXT = 0xffff };

typedef enum ptx_group {
#define GROUP(name) PTX_GROUP_##name,
#include "ptx/words.def"
  PTX_GROUPS,
  PTX_GROUP_TYPE
} ptx_group;

/* A word that may stand in a place of a form: text is its spelling's number. */
typedef struct ptx_choice {
  uint16_t text;
  uint8_t group; /* ptx_group */
  uint8_t value; /* ptx_mod or ptx_type */
  uint16_t isa, sm;
} ptx_choice;

typedef struct ptx_item {
  uint16_t first, n; /* choices */
  bool optional, is_type;
  bool rest; /* "*": any words behind */
} ptx_item;

typedef struct ptx_slot {
  char letter;
  uint8_t type; /* fixed ptx_type, or PTX_TYPE_NONE: the instruction's type number `from` */
  uint8_t from;
  bool twice;                /* ... doubled */
  bool optional, wider, bar; /* bar: joined to the one before by '|' */
} ptx_slot;

typedef struct ptx_form {
  ptx_form_info info;
  uint16_t first_item, n_items, first_slot, n_slots;
} ptx_form;

typedef struct ptx_table {
  const ptx_form *forms;
  const ptx_item *items;
  const ptx_choice *choices;
  const ptx_slot *slots;
  uint16_t n_forms;
} ptx_table;

const ptx_table *ptx_table_get(void);

/* Number of a modifier's spelling, or PTX_NO_TEXT. */
uint16_t ptx_text_find(const char *text, size_t bytes);
const char *ptx_text_get(uint16_t text);
ptx_type ptx_type_find(const char *text, size_t bytes); /* PTX_TYPE_NONE: no type */
ptx_sreg ptx_sreg_find(const char *text, size_t bytes); /* PTX_SREGS: none */
/* The PTX ISA that brought a target; 0: unknown. `suffix`: 0, 'a' or 'f'. */
unsigned ptx_target_isa(uint32_t sm, char suffix);
uint32_t ptx_target_newest(void);
unsigned ptx_sreg_parts(ptx_sreg s);
ptx_type ptx_sreg_type(ptx_sreg s);
unsigned ptx_sreg_isa(ptx_sreg s);
unsigned ptx_sreg_sm(ptx_sreg s);
/* The first row of a mnemonic, PTX_OPS if there is none; and the one behind a row. */
ptx_op ptx_op_find(const char *name, size_t bytes);
ptx_op ptx_op_next(ptx_op op);

typedef enum ptx_directive {
  PTX_DIR_NONE,
#define DIRECTIVE(id, text) PTX_DIR_##id,
#include "ptx/words.def"
  PTX_DIRS
} ptx_directive;
ptx_directive ptx_directive_find(const char *text, size_t bytes);
const char *ptx_directive_name(ptx_directive d);

#endif
