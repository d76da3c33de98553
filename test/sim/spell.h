/* spell.h: every spelling of the arithmetic instructions, from the forms of opcodes.def, and for each a
 * kernel of PTX that applies it to its operands: case number n of a launch reads 64-bit words in[n * n_in
 * ...] and writes out[n * n_out ...]. The same text is decoded here and runs on a GPU.
 */
#ifndef MUSTER_TEST_SPELL_H
#define MUSTER_TEST_SPELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "ptx/ptx.h"

#define SPELL_IN 5
#define SPELL_OUT 3

typedef struct spell {
  unsigned form;
  char name[120]; /* "add.rn.ftz.f32" */
  ptx_type types[4];
  uint8_t n_types;
  unsigned variant; /* which optional operands, wide registers, selectors, constants */
  /* the operands of the kernel's case: */
  unsigned n_in, n_out;
  ptx_type in[SPELL_IN]; /* as whose values operands are chosen; PRED for a predicate or a carry */
  unsigned line;         /* of the instruction, in the text */
  bool carry;            /* the last in and out are the condition code */
} spell;

/* Calls `each` for every spelling of rows of arithmetic whose name begins with `prefix`. */
void spell_all(const char *prefix, void (*each)(const spell *s, void *data), void *data);

/* The instruction with its operands loaded from [%in ...] and its results stored to [%out ...], in a scope of
 * its own, with these registers around it. */
#define SPELL_REGISTERS "  .reg .b64 %in, %out, %t;\n  .reg .b32 %i, %n, %k, %cc, %ct;\n  .reg .pred %z;\n"
bool spell_scope(spell *s, base_text *out);
/* A kernel `name`; fills n_in, n_out, in, line (within the kernel's own text). False: no such variant. */
bool spell_kernel(spell *s, const char *name, base_text *out);
void spell_header(base_text *out, unsigned isa, unsigned sm, bool suffix); /* SPELL_HEADER_LINES lines */
#define SPELL_HEADER_LINES 3

/* Set: the cases of spellings with two operands of 16 bits are all their 2^32 pairs, scattered. */
extern bool spell_pairs;
/* Word k of the n-th case. */
uint64_t spell_value(const spell *s, uint64_t n, unsigned k);
uint64_t spell_random(uint64_t seed);

#endif
