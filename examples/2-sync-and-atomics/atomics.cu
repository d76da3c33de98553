// atomics: seed 001, section 5.2. The eleven atomic operations, over every type of the seed's table and the
// ones it leaves out (64-bit minimum, maximum and bits, 64-bit add, 16-bit CAS), at the scopes device, block
// and system, in global and in shared memory. What CUDA has no overload for but another type of the same
// size can do (sub of 64 bits, exchange of a double) stands here by its bits, marked * in the list printed.
// Every thread applies the operation to one cell. That is checked twice: the final value, where the order
// does not matter, against a serial run; and all values that the threads got back (expect_chain).
// usage: atomics [N]  N threads on each cell
#include "../common/tour.h"

typedef long long s64;
typedef unsigned long long u64;

// One way to call them all. SCOPE is empty (device), _block or _system. CAS claims a free cell: 0 is free.
#define NATIVE(op, scope, cell, value) atomic##op##scope(cell, value)
#define CLAIM(op, scope, cell, value) atomicCAS##scope(cell, 0, value)
#define CLAIM_16(op, scope, cell, value) atomicCAS(cell, 0, value) // device scope is all that CUDA has
// By the bits of another type.
#define BITS_S64(op, scope, cell, value) ((s64)atomic##op##scope((u64 *)(cell), (u64)(value)))
#define BITS_SUB_U64(op, scope, cell, value) atomicAdd##scope(cell, 0 - (value))
#define BITS_SUB_S64(op, scope, cell, value) ((s64)atomicAdd##scope((u64 *)(cell), 0 - (u64)(value)))
#define BITS_F64(op, scope, cell, value) \
  __longlong_as_double((s64)atomic##op##scope((u64 *)(cell), (u64)__double_as_longlong(value)))
#define BITS_CAS_S64(op, scope, cell, value) ((s64)atomicCAS##scope((u64 *)(cell), 0, (u64)(value)))
#define BITS_CAS_F32(op, scope, cell, value) \
  __uint_as_float(atomicCAS##scope((unsigned *)(cell), 0, __float_as_uint(value)))
#define BITS_CAS_F64(op, scope, cell, value) \
  __longlong_as_double((s64)atomicCAS##scope((u64 *)(cell), 0, (u64)__double_as_longlong(value)))

// ROW(operation, type's tag, type, how it is called)
#define INTEGERS(ROW, op)        \
  ROW(op, s32, int, NATIVE)      \
  ROW(op, u32, unsigned, NATIVE) \
  ROW(op, s64, s64, NATIVE)      \
  ROW(op, u64, u64, NATIVE)
#define ATOMICS(ROW)                      \
  ROW(Add, s32, int, NATIVE)              \
  ROW(Add, u32, unsigned, NATIVE)         \
  ROW(Add, s64, s64, BITS_S64)            \
  ROW(Add, u64, u64, NATIVE)              \
  ROW(Add, f32, float, NATIVE)            \
  ROW(Add, f64, double, NATIVE)           \
  ROW(Sub, s32, int, NATIVE)              \
  ROW(Sub, u32, unsigned, NATIVE)         \
  ROW(Sub, s64, s64, BITS_SUB_S64)        \
  ROW(Sub, u64, u64, BITS_SUB_U64)        \
  INTEGERS(ROW, Min)                      \
  INTEGERS(ROW, Max)                      \
  ROW(Exch, s32, int, NATIVE)             \
  ROW(Exch, u32, unsigned, NATIVE)        \
  ROW(Exch, s64, s64, BITS_S64)           \
  ROW(Exch, u64, u64, NATIVE)             \
  ROW(Exch, f32, float, NATIVE)           \
  ROW(Exch, f64, double, BITS_F64)        \
  ROW(CAS, u16, unsigned short, CLAIM_16) \
  ROW(CAS, s32, int, CLAIM)               \
  ROW(CAS, u32, unsigned, CLAIM)          \
  ROW(CAS, s64, s64, BITS_CAS_S64)        \
  ROW(CAS, u64, u64, CLAIM)               \
  ROW(CAS, f32, float, BITS_CAS_F32)      \
  ROW(CAS, f64, double, BITS_CAS_F64)     \
  INTEGERS(ROW, And)                      \
  INTEGERS(ROW, Or)                       \
  INTEGERS(ROW, Xor)                      \
  ROW(Inc, u32, unsigned, NATIVE)         \
  ROW(Dec, u32, unsigned, NATIVE)

// cell[0] of all threads, its old values unused (a reduction without an answer); cell[1] of all; cell[2] of
// all at system scope; then two of each block: one at block scope, one in shared memory while the kernel
// runs.
enum { BLOCK = 96, GRID_CELLS = 3, BLOCK_CELLS = 2 };

#define KERNEL(op, tag, type, DO)                                                               \
  TOUR_C __global__ void atomic_##op##_##tag(type *cell, const type *value, type *old, int n) { \
    __shared__ type mine;                                                                       \
    type *of_block = cell + GRID_CELLS + BLOCK_CELLS * blockIdx.x;                              \
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                       \
    if (threadIdx.x == 0)                                                                       \
      mine = of_block[1];                                                                       \
    __syncthreads();                                                                            \
    if (i < n) {                                                                                \
      (void)DO(op, , &cell[0], value[i]);                                                       \
      old[i] = DO(op, , &cell[1], value[i]);                                                    \
      old[n + i] = DO(op, _system, &cell[2], value[i]);                                         \
      old[2 * n + i] = DO(op, _block, &of_block[0], value[i]);                                  \
      old[3 * n + i] = DO(op, , &mine, value[i]);                                               \
    }                                                                                           \
    __syncthreads();                                                                            \
    if (threadIdx.x == 0)                                                                       \
      of_block[1] = mine;                                                                       \
  }
ATOMICS(KERNEL)

#ifdef TOUR_HOST
enum op { Add, Sub, Min, Max, Exch, CAS, And, Or, Xor, Inc, Dec };
enum { LIMIT = 6 }; // of Inc and Dec

// What one operation leaves in a cell.
#define LEAVES_Add(old, value) (old + value)
#define LEAVES_Sub(old, value) (old - value)
#define LEAVES_Min(old, value) (value < old ? value : old)
#define LEAVES_Max(old, value) (value > old ? value : old)
#define LEAVES_Exch(old, value) ((void)old, value)
#define LEAVES_CAS(old, value) (old == 0 ? value : old)
#define LEAVES_And(old, value) (old & value)
#define LEAVES_Or(old, value) (old | value)
#define LEAVES_Xor(old, value) (old ^ value)
#define LEAVES_Inc(old, value) (old >= value ? 0 : old + 1)
#define LEAVES_Dec(old, value) (old == 0 || old > value ? value : old - 1)

// The bits of a value of SIZE bytes.
static u64 bits_of(const void *value, size_t size) {
  u64 bits = 0;
  memcpy(&bits, value, size);
  return bits;
}

#define HOST(op, tag, type, DO)                                                                \
  static void launch_##op##_##tag(int blocks, void *cell, void *value, void *old, int n) {     \
    atomic_##op##_##tag<<<blocks, BLOCK>>>((type *)cell, (const type *)value, (type *)old, n); \
  }                                                                                            \
  static u64 leaves_##op##_##tag(u64 old_bits, u64 value_bits) {                               \
    type old, value;                                                                           \
    memcpy(&old, &old_bits, sizeof old);                                                       \
    memcpy(&value, &value_bits, sizeof value);                                                 \
    type left = (type)LEAVES_##op(old, value);                                                 \
    return bits_of(&left, sizeof left);                                                        \
  }                                                                                            \
  static u64 convert_##op##_##tag(s64 number) {                                                \
    type value = (type)number;                                                                 \
    return bits_of(&value, sizeof value);                                                      \
  }
ATOMICS(HOST)

static const struct row {
  enum op op;
  const char *name, *tag, *how;
  size_t size;
  void (*launch)(int blocks, void *cell, void *value, void *old, int n);
  u64 (*leaves)(u64 old, u64 value);
  u64 (*convert)(s64 number);
} rows[] = {
#define ENTRY(op, tag, type, DO) \
  {op, #op, #tag, #DO, sizeof(type), launch_##op##_##tag, leaves_##op##_##tag, convert_##op##_##tag},
    ATOMICS(ENTRY)};
enum { ROWS = sizeof rows / sizeof *rows };

// Inputs of every bit where the operation looks at bits or order; small and odd (so never 0, and every
// floating-point sum exact) where it adds or exchanges; one limit for Inc and Dec, whose order would matter.
static s64 input(enum op op, unsigned i) {
  u64 wide = (u64)tour_hash(2 * i) << 32 | tour_hash(2 * i + 1);
  switch (op) {
  case Min:
  case Max:
  case Xor:
    return (s64)wide;
  case And:
    return (s64)(wide | 0xa53c96e1a53c96e1);
  case Or:
    return (s64)(wide & 0xa53c96e1a53c96e1);
  case Inc:
  case Dec:
    return LIMIT;
  default:
    return (s64)(tour_hash(i) % 1000) * 2 - 999;
  }
}

static s64 first(enum op op) {
  switch (op) {
  case And:
    return -1;
  case Or:
  case CAS:
    return 0;
  case Inc:
  case Dec:
    return LIMIT + 3; // above the limit: the wrap rule has a case of its own for that
  default:
    return input(op, 1u << 20);
  }
}

// COUNT threads applied row's operation to one cell with these values and got these old values back (none
// if NULL). In whatever order they came, each found what the one before had left: the values found,
// with the last one, are the values left, with the first one.
static void expect_chain(const struct row *row, const char *where, const char *old, const char *value,
                         int count, u64 first, u64 last) {
  u64 *found = (u64 *)tour_host_alloc((size_t)(count + 1) * sizeof *found), serial = first;
  u64 *left = (u64 *)tour_host_alloc((size_t)(count + 1) * sizeof *left);
  int known = 0; // last is one of the values
  for (int i = 0; i < count; i++) {
    u64 bits = bits_of(value + (size_t)i * row->size, row->size);
    serial = row->leaves(serial, bits);
    known |= bits == last;
    found[i] = old ? bits_of(old + (size_t)i * row->size, row->size) : 0;
    left[i] = row->leaves(found[i], bits);
  }
  char what[64];
  snprintf(what, sizeof what, "%s %s %s", row->name, row->tag, where);
  if (row->op == Exch || row->op == CAS)
    tour_expect(known, "%s: %#llx was left, and nobody put it there", what, last);
  else
    tour_expect(last == serial, "%s: %#llx was left, should be %#llx", what, last, serial);
  found[count] = last;
  left[count] = first;
  if (old)
    tour_expect_same_set(what, found, left, count + 1);
  free(found);
  free(left);
}

static void verify(const struct row *row, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK, cells = GRID_CELLS + BLOCK_CELLS * blocks;
  size_t size = row->size, bytes = (size_t)n * size;
  u64 start = row->convert(first(row->op));
  char *value = (char *)tour_host_alloc(bytes), *old = (char *)tour_host_alloc(4 * bytes);
  char *cell = (char *)tour_host_alloc((size_t)cells * size);
  for (int i = 0; i < n; i++) {
    u64 bits = row->convert(input(row->op, (unsigned)i));
    memcpy(value + (size_t)i * size, &bits, size);
  }
  for (int i = 0; i < cells; i++)
    memcpy(cell + (size_t)i * size, &start, size);

  void *on_device[] = {tour_upload(cell, (size_t)cells * size), tour_upload(value, bytes),
                       tour_alloc(4 * bytes)};
  row->launch(blocks, on_device[0], on_device[1], on_device[2], n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(cell, on_device[0], (size_t)cells * size);
  tour_download(old, on_device[2], 4 * bytes);

#define LAST(index) bits_of(cell + (size_t)(index) * size, size)
  expect_chain(row, "without result", NULL, value, n, start, LAST(0));
  expect_chain(row, "device", old, value, n, start, LAST(1));
  expect_chain(row, "system", old + bytes, value, n, start, LAST(2));
  for (int block = 0; block < blocks; block++) {
    int from = block * BLOCK, count = n - from < BLOCK ? n - from : BLOCK;
    int its = GRID_CELLS + BLOCK_CELLS * block;
    const char *of = old + (size_t)from * size, *with = value + (size_t)from * size;
    expect_chain(row, "block", of + 2 * bytes, with, count, start, LAST(its));
    expect_chain(row, "shared", of + 3 * bytes, with, count, start, LAST(its + 1));
  }
  for (int i = 0; i < 3; i++)
    CHECK(cudaFree(on_device[i]));
  free(value);
  free(old);
  free(cell);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 300, 1, 16000);
  for (int i = 0; i < ROWS; i++) {
    verify(&rows[i], n);
    if (i == 0 || rows[i].op != rows[i - 1].op)
      printf("%satomic%-5s", i ? "\n" : "", rows[i].name);
    printf(" %s%s", rows[i].tag, strncmp(rows[i].how, "BITS", 4) ? "" : "*");
  }
  printf("\n* CUDA has no such overload; made of another one by its bits\n"
         "made from CAS (cas_atomics): minimum and maximum of floats, everything else of 8 bits\n"
         "half, bfloat16, vectors and 128 bits: atomics_wide\n");
  return tour_end("%d atomics by %d threads, at three scopes, in global and shared memory", ROWS, n);
}
#endif
