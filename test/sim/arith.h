/* arith.h: one spelled instruction, decoded as the machine decodes it, and run over cases of operands. */
#ifndef MUSTER_TEST_ARITH_H
#define MUSTER_TEST_ARITH_H

#include "oracle.h"
#include "sim/exec.h"
#include "spell.h"

#define ARITH_REG_BYTES (16 * SIM_LANES)
#define ARITH_GANG 3 /* warps in arith_run_gang */

typedef struct arith {
  spell s;
  base_text text;
  ptx_module *module;
  const ptx_body *body;
  const ptx_insn *insn;
  sim_op op;
  uint32_t read[SPELL_IN], written[SPELL_OUT]; /* registers */
  unsigned n_read, n_written;
  char *frame, *loaded, *warps, *consts;
  uint32_t frame_bytes, const_bytes;
} arith;

typedef bool arith_select(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op);
typedef struct arith_level {
  const char *name;
  bool usable;
  arith_select *const *select;
} arith_level;
unsigned arith_levels(const arith_level **levels);

/* Reads the kernel of s; false with a message on stderr if the front end refuses it. */
bool arith_open(arith *a, const spell *s);
void arith_close(arith *a);
bool arith_choose(arith *a, const arith_level *level); /* false: no selector took it */

/* Cases n to n + 31: operands into the frame and 0xa5... into the results, the op run one way, results out of
 * it; and once more the frame as it was loaded. */
void arith_load(arith *a, uint64_t n);
void arith_again(arith *a);
void arith_put(arith *a, uint32_t reg, unsigned lane, uint64_t v); /* a register's lane */
void arith_run(arith *a, unsigned way, uint32_t mask);
/* As the first of three warps, of which the first and the last go together; false: the others are not as they
 * should be. */
bool arith_run_gang(arith *a);
uint64_t arith_result(const arith *a, unsigned k,
                      unsigned lane); /* word k of the case, as the kernel writes it */
void arith_expect(const arith *a, uint64_t n, oracle_case *c); /* operands of case n */

#endif
