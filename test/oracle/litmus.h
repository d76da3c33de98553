/* litmus.h: litmus tests of the PTX memory consistency model, and what the model allows them.
 *
 * The oracle shares no code with src/: it writes the axioms down as relations (PTX ISA, "Memory Consistency
 * Model"; generic proxy only) and tries every candidate execution.
 */
#ifndef MUSTER_TEST_LITMUS_H
#define MUSTER_TEST_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LIT_THREADS = 4, LIT_OPS = 16, LIT_LOCATIONS = 4, LIT_SLOTS = LIT_THREADS * LIT_OPS + LIT_LOCATIONS };

typedef enum lit_kind {
  LIT_LD,
  LIT_ST,
  LIT_EXCH,
  LIT_ADD,
  LIT_CAS,
  LIT_RED, /* adds */
  LIT_FENCE,
  LIT_BAR,     /* of the block */
  LIT_BAR_WARP /* of those threads of the test that share a warp */
} lit_kind;

typedef enum lit_order {
  LIT_WEAK,
  LIT_VOLATILE,
  LIT_RELAXED,
  LIT_ACQUIRE,
  LIT_RELEASE,
  LIT_ACQ_REL,
  LIT_SC
} lit_order;

typedef enum lit_scope { LIT_CTA, LIT_GPU, LIT_SYS } lit_scope;

typedef struct lit_op {
  lit_kind kind;
  lit_order order;
  lit_scope scope;
  uint8_t location;
  uint32_t value, compare;
  int8_t from; /* store what operation from - 1 of this thread read; 0: value */
  int8_t when; /* only if operation when - 1 of this thread read 1; 0: always */
} lit_op;

typedef struct lit_test {
  char name[96];
  uint32_t n_threads, n_locations;
  bool shared; /* the locations lie in shared memory: all threads are of one block */
  uint32_t block[LIT_THREADS], warp[LIT_THREADS]; /* warp: in the block */
  uint32_t n_ops[LIT_THREADS];
  lit_op ops[LIT_THREADS][LIT_OPS];
} lit_test;

/* What a run shows: what each operation read (slot thread * LIT_OPS + operation), LIT_NOTHING where nothing
 * was read, and then the last value of each location. */
#define LIT_NOTHING 0xffffffffu
typedef struct lit_outcome {
  uint32_t slots[LIT_SLOTS];
} lit_outcome;

typedef struct lit_set {
  lit_outcome *items; /* sorted, each once, after lit_set_sort */
  size_t n, capacity;
} lit_set;

void lit_set_add(lit_set *s, const lit_outcome *o);
void lit_set_sort(lit_set *s);
bool lit_set_has(const lit_set *s, const lit_outcome *o); /* sorted */
void lit_set_free(lit_set *s);

static inline bool lit_reads(lit_kind k) {
  return k == LIT_LD || k == LIT_EXCH || k == LIT_ADD || k == LIT_CAS || k == LIT_RED;
}
static inline bool lit_writes(lit_kind k) {
  return k == LIT_ST || k == LIT_EXCH || k == LIT_ADD || k == LIT_CAS || k == LIT_RED;
}
/* What it read goes to a register. */
static inline bool lit_returns(lit_kind k) {
  return lit_reads(k) && k != LIT_RED;
}

/* All outcomes that the model allows. */
void lit_allowed(const lit_test *t, lit_set *out);
/* Whether it allows this one: the search is narrowed to executions that read these values. */
bool lit_allows(const lit_test *t, const lit_outcome *o);

/* Text for people: "st.relaxed.gpu [x], 1", and "0:1=1 x=2". */
void lit_print(const lit_test *t, FILE *to);
void lit_print_outcome(const lit_test *t, const lit_outcome *o, FILE *to);
/* The test as a kernel `litmus(at)`: location i at at + 64 i, or at 64 i in shared memory; slots of reads
 * from at + 1024 on. */
char *lit_ptx(const lit_test *t);

/* Tests made from a seed: 1 to 4 threads with 2 to 8 accesses in all; no two writes store the same constant.
 */
void lit_nth(lit_test *t, uint64_t seed);
/* The same, without what makes executions many: 4 threads of 4 accesses each. */
void lit_random_wide(lit_test *t, uint64_t seed);

/* Tests that the literature and the PTX ISA give a verdict for. */
typedef struct lit_classic {
  lit_test test;
  bool allowed;
  bool final[LIT_LOCATIONS];        /* which last values the outcome names */
  bool named[LIT_THREADS][LIT_OPS]; /* which reads */
  lit_outcome outcome;
} lit_classic;
uint32_t lit_n_classics(void);
/* False: the line of classics.def cannot be read. */
bool lit_classic_get(uint32_t index, lit_classic *out);
bool lit_classic_is(const lit_classic *c, const lit_outcome *o);

#endif
