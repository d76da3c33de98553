/* oracle.h: what an instruction of arithmetic does, said slowly and plainly, to compare the machine with.
 *
 * oracle_float.c knows floating point as integers alone: no float of C takes part, but for the
 * approximations, which are judged by a bound instead. oracle.c evaluates whole instructions. Neither shares
 * a line with src/sim.
 */
#ifndef MUSTER_TEST_ORACLE_H
#define MUSTER_TEST_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* ---- floats as integers ---- */
typedef struct of_format {
  int width, mantissa, bias;
  bool inf, nan; /* has them */
  uint64_t max;  /* largest finite code */
  uint64_t the_nan;
} of_format;

typedef enum of_class { OF_ZERO, OF_FINITE, OF_INF, OF_NAN } of_class;
/* (-1)^sign * sig * 2^exp */
typedef struct of_number {
  of_class class;
  bool sign, sticky; /* sticky: and a little more than sig */
  int exp;
  u128 sig;
  uint64_t payload; /* of a NaN of f32 or f64: its code */
} of_number;

typedef enum of_mode { OF_RN, OF_RZ, OF_RM, OF_RP, OF_RNA } of_mode;

const of_format *of_format_of(ptx_type t); /* of one part of a packed type; NULL: no float */
of_number of_unpack(const of_format *f, uint64_t bits);
/* finite: never infinity (satfinite) */
uint64_t of_pack(const of_format *f, of_number n, of_mode mode, bool finite);
of_number of_flush(const of_format *f, of_number n); /* subnormal of f to zero */
of_number of_add(of_number a, of_number b, of_mode mode);
of_number of_mul(of_number a, of_number b);
of_number of_div(of_number a, of_number b);
of_number of_sqrt(of_number a);
of_number of_integral(of_number a, of_mode mode);
of_number of_from_int(s128 x);
/* a against b: -1, 0, 1; neither may be a NaN */
int of_compare(of_number a, of_number b);

/* ---- instructions ---- */
typedef struct oracle_case {
  const ptx_body *body;
  const ptx_insn *insn;
  uint64_t in[8];  /* by operand read, as registers; predicates 0 or 1 */
  uint64_t out[4]; /* by operand written */
  bool cc_in, cc_out, cc_written;
  unsigned n_out;
} oracle_case;

typedef enum oracle_verdict {
  ORACLE_EXACT,  /* out is what must come */
  ORACLE_BOUND,  /* the result is right if oracle_within says so */
  ORACLE_UNKNOWN /* no opinion: counted as a failure of the test */
} oracle_verdict;

oracle_verdict oracle_eval(oracle_case *c);
bool oracle_within(const oracle_case *c, uint64_t got);

#endif
