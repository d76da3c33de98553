// validate.cu: every row of insn.def and atomic.def, by the places its operations take in the word's history.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude test/prim/atomic/validate.cu -o /tmp/atomic_validate
//
// Many threads change few words. Each operation made one old value into one new value, so the old values and
// the last one are together the same as the new values and the first one, whatever the order was. The
// operations on values themselves (value.cuh) are compared with the host's own arithmetic.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../bench/check.h"
#include "muster/warp.cuh"

enum { CELLS = 8, THREADS = 128, BLOCKS = 8, ALL = THREADS * BLOCKS };

#define HASHED x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16
static __device__ unsigned hashed(unsigned x) {
  HASHED;
  return x;
}

// Operands: integers all over their range, floats small and whole, so that sums and products repeat.
#define OPERAND_INTEGER(elem)                                        \
  static __device__ mu_##elem operand_##elem(unsigned i) {           \
    return (mu_##elem)((mu_u64)hashed(i) << 32 | hashed(i + 77777)); \
  }
OPERAND_INTEGER(u8)
OPERAND_INTEGER(s8)
OPERAND_INTEGER(u16)
OPERAND_INTEGER(s16)
OPERAND_INTEGER(u32)
OPERAND_INTEGER(s32)
OPERAND_INTEGER(u64)
OPERAND_INTEGER(s64)
static __device__ mu_f32 operand_f32(unsigned i) {
  return (float)(int)(hashed(i) % 17) - 8;
}
static __device__ mu_f64 operand_f64(unsigned i) {
  return operand_f32(i) * 1.25;
}
static __device__ mu_f16 operand_f16(unsigned i) {
  return mu_f16_of_f32(operand_f32(i));
}
static __device__ mu_bf16 operand_bf16(unsigned i) {
  return mu_bf16_of_f32(operand_f32(i));
}
static __device__ mu_f16x2 operand_f16x2(unsigned i) {
  return mu_f16x2_of(operand_f16(i), operand_f16(i + 5));
}
static __device__ mu_bf16x2 operand_bf16x2(unsigned i) {
  return mu_bf16x2_of(operand_bf16(i), operand_bf16(i + 5));
}
static __device__ mu_ptr operand_ptr(unsigned i) {
  return (mu_ptr)(size_t)hashed(i);
}

// What value.cuh does not define because nothing else needs it.
#define PURE_EXCHANGE(elem)                                                     \
  static __device__ mu_##elem mu_pure_exchange_##elem(mu_##elem, mu_##elem b) { \
    return b;                                                                   \
  }
PURE_EXCHANGE(f16x2)
PURE_EXCHANGE(bf16x2)
PURE_EXCHANGE(ptr)
static __device__ mu_f16x2 mu_pure_sub_f16x2(mu_f16x2 a, mu_f16x2 b) {
  return mu_pure_add_f16x2(a, mu_f16x2_of_bits(b.bits ^ 0x80008000u));
}
static __device__ mu_bf16x2 mu_pure_sub_bf16x2(mu_bf16x2 a, mu_bf16x2 b) {
  return mu_pure_add_bf16x2(a, mu_bf16x2_of_bits(b.bits ^ 0x80008000u));
}
#define MU_PACK_ptr(x) ((mu_u64)(x))

struct history {
  mu_u64 first[CELLS], last[CELLS], olds[ALL], news[ALL];
};

// The same from global memory at two orders and scopes, and in shared memory. The last cell is left to
// operations that return nothing: it ends as if they had returned something, where the order does not matter.
#define KERNELS(op, elem)                                                                      \
  static __global__ void global_##op##_##elem(mu_##elem *cells, struct history *h) {           \
    unsigned i = blockIdx.x * THREADS + threadIdx.x;                                           \
    mu_##elem operand = operand_##elem(i), old;                                                \
    if (i < CELLS)                                                                             \
      h->first[i] = (mu_u64)MU_PACK_##elem(cells[i + CELLS]); /* a copy that nobody changes */ \
    if (i / CELLS % 2)                                                                         \
      old = mu_##op##_relaxed_device_##elem(cells + i % CELLS, operand);                       \
    else                                                                                       \
      old = mu_##op##_acq_rel_system_##elem(cells + i % CELLS, operand);                       \
    h->olds[i] = (mu_u64)MU_PACK_##elem(old);                                                  \
    h->news[i] = (mu_u64)MU_PACK_##elem(mu_pure_##op##_##elem(old, operand));                  \
  }                                                                                            \
  static __global__ void finish_##op##_##elem(mu_##elem *cells, struct history *h) {           \
    h->last[threadIdx.x] = (mu_u64)MU_PACK_##elem(cells[threadIdx.x]);                         \
  }                                                                                            \
  static __global__ void shared_##op##_##elem(mu_##elem *, struct history *h) {                \
    __shared__ mu_##elem cells[CELLS];                                                         \
    unsigned i = threadIdx.x;                                                                  \
    mu_##elem operand = operand_##elem(i + 1000), old;                                         \
    if (i < CELLS) {                                                                           \
      cells[i] = operand_##elem(i + 5000);                                                     \
      h->first[i] = (mu_u64)MU_PACK_##elem(cells[i]);                                          \
    }                                                                                          \
    __syncthreads();                                                                           \
    old = i / CELLS % 2 ? mu_##op##_acquire_block_##elem(cells + i % CELLS, operand)           \
                        : mu_##op##_release_block_##elem(cells + i % CELLS, operand);          \
    h->olds[i] = (mu_u64)MU_PACK_##elem(old);                                                  \
    h->news[i] = (mu_u64)MU_PACK_##elem(mu_pure_##op##_##elem(old, operand));                  \
    __syncthreads();                                                                           \
    if (i < CELLS)                                                                             \
      h->last[i] = (mu_u64)MU_PACK_##elem(cells[i]);                                           \
  }                                                                                            \
  static __global__ void fill_##op##_##elem(mu_##elem *cells) {                                \
    cells[threadIdx.x] = cells[threadIdx.x + CELLS] = operand_##elem(threadIdx.x + 3000);      \
  }
#define MU_RMW(op, elem, reg, letter, ptx, get, make, arch) KERNELS(op, elem)
#define MU_EXCHANGE(elem, reg, letter, ptx, get, make, arch) KERNELS(exchange, elem)
#include "muster/insn.def"
#define MU_EMULATED(op, elem, how, native) KERNELS(op, elem)
#include "muster/atomic.def"

struct row {
  const char *name;
  const void *fill, *global, *finish, *shared;
};
#define ROW(op, elem)                                                                   \
  {#op " " #elem, (const void *)fill_##op##_##elem, (const void *)global_##op##_##elem, \
   (const void *)finish_##op##_##elem, (const void *)shared_##op##_##elem},
static const struct row rows[] = {
#define MU_RMW(op, elem, reg, letter, ptx, get, make, arch) ROW(op, elem)
#define MU_EXCHANGE(elem, reg, letter, ptx, get, make, arch) ROW(exchange, elem)
#include "muster/insn.def"
#define MU_EMULATED(op, elem, how, native) ROW(op, elem)
#include "muster/atomic.def"
};

// Integers through the host's arithmetic; floats through fmin, fmax and the signs of zeros.
enum { PAIRS = 4096 };
static __global__ void values(float *f, mu_u64 *u) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = __uint_as_float(hashed(i)), b = i % 3 ? __uint_as_float(hashed(i + 9999)) : i % 2 ? -a : a;
  if (i % 64 == 0)
    a = 0.0f, b = -0.0f;
  if (i % 64 == 1)
    a = __uint_as_float(0x7fc00000u);
  f[i * 4] = a, f[i * 4 + 1] = b;
  f[i * 4 + 2] = mu_pure_min_f32(a, b);
  f[i * 4 + 3] = mu_pure_max_f32(a, b);
  mu_s8 p = (mu_s8)hashed(i), q = (mu_s8)hashed(i + 1);
  u[i * 4] = (mu_u64)(mu_u8)mu_pure_add_s8(p, q) | (mu_u64)(mu_u8)mu_pure_mul_s8(p, q) << 8 |
             (mu_u64)(mu_u8)mu_pure_min_s8(p, q) << 16 | (mu_u64)(mu_u8)mu_pure_max_s8(p, q) << 24;
  u[i * 4 + 1] = (mu_u64)(mu_u8)p | (mu_u64)(mu_u8)q << 8;
  u[i * 4 + 2] = mu_bf16_of_f32(a).bits | (mu_u64)mu_f16_of_f32(f[i * 4]).bits << 16 |
                 (mu_u64)mu_pure_inc_u8((mu_u8)p, (mu_u8)q) << 32 |
                 (mu_u64)mu_pure_dec_u8((mu_u8)p, (mu_u8)q) << 40;
}

static int cases, bad;
static void must(int good, const char *what, const char *which) {
  cases++;
  if (!good) {
    bad++;
    printf("WRONG: %s %s\n", what, which);
  }
}

static int by_u64(const void *a, const void *b) {
  mu_u64 x = *(const mu_u64 *)a, y = *(const mu_u64 *)b;
  return (x > y) - (x < y);
}

static void check_history(const struct history *h, unsigned threads, const char *name, const char *where) {
  static mu_u64 before[ALL + 1], after[ALL + 1];
  for (unsigned cell = 0; cell < CELLS; cell++) {
    unsigned n = 0;
    for (unsigned i = cell; i < threads; i += CELLS) {
      before[n] = h->olds[i];
      after[n++] = h->news[i];
    }
    before[n] = h->last[cell];
    after[n++] = h->first[cell];
    qsort(before, n, 8, by_u64);
    qsort(after, n, 8, by_u64);
    must(!memcmp(before, after, n * 8), name, where);
  }
}

static void run(const struct row *row, void *cells, struct history *device) {
  static struct history h;
  void *fill[] = {&cells}, *args[] = {&cells, &device};
  CHECK(cudaLaunchKernel(row->fill, dim3(1), dim3(CELLS), fill, 0, 0));
  CHECK(cudaLaunchKernel(row->global, dim3(BLOCKS), dim3(THREADS), args, 0, 0));
  CHECK(cudaLaunchKernel(row->finish, dim3(1), dim3(CELLS), args, 0, 0));
  CHECK(cudaMemcpy(&h, device, sizeof h, cudaMemcpyDeviceToHost));
  check_history(&h, ALL, row->name, "in global memory");
  CHECK(cudaLaunchKernel(row->shared, dim3(1), dim3(THREADS), args, 0, 0));
  CHECK(cudaMemcpy(&h, device, sizeof h, cudaMemcpyDeviceToHost));
  check_history(&h, THREADS, row->name, "in shared memory");
}

static unsigned bits_of(float x) {
  unsigned bits;
  memcpy(&bits, &x, 4);
  return bits;
}

static void check_values(void) {
  static float f[PAIRS * 4];
  static mu_u64 u[PAIRS * 4];
  float *df;
  mu_u64 *du;
  CHECK(cudaMalloc(&df, sizeof f));
  CHECK(cudaMalloc(&du, sizeof u));
  values<<<PAIRS / 128, 128>>>(df, du);
  CHECK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(u, du, sizeof u, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < PAIRS; i++) {
    float a = f[i * 4], b = f[i * 4 + 1], low = f[i * 4 + 2], high = f[i * 4 + 3];
    if (a == b && signbit(a) != signbit(b))
      must(signbit(low) && !signbit(high), "zeros", "ordered by sign");
    else if (!(isnan(a) && isnan(b)))
      must(low == (isnan(a)            ? b
                   : isnan(b) || a < b ? a
                                       : b) &&
               high == (isnan(a)            ? b
                        : isnan(b) || a > b ? a
                                            : b),
           "f32", "min, max");
    signed char p = (signed char)u[i * 4 + 1], q = (signed char)(u[i * 4 + 1] >> 8);
    mu_u64 want = (mu_u64)(unsigned char)(p + q) | (mu_u64)(unsigned char)(p * q) << 8 |
                  (mu_u64)(unsigned char)(p < q ? p : q) << 16 | (mu_u64)(unsigned char)(p > q ? p : q) << 24;
    must(u[i * 4] == want, "s8", "add mul min max");
    unsigned char x = (unsigned char)p, y = (unsigned char)q;
    must((unsigned char)(u[i * 4 + 2] >> 32) == (x >= y ? 0 : x + 1), "u8", "inc");
    must((unsigned char)(u[i * 4 + 2] >> 40) == (x == 0 || x > y ? y : x - 1), "u8", "dec");
    if (!isnan(a)) { // to nearest even, by comparing the two neighbours
      unsigned bits = bits_of(a), down = bits & 0xffff0000u, rest = bits & 0xffff;
      unsigned up = rest > 0x8000 || (rest == 0x8000 && (bits >> 16 & 1));
      must((unsigned short)u[i * 4 + 2] == (unsigned short)((down >> 16) + up), "bf16", "rounding");
    }
  }
}

// Sums in shared memory by a loop whose counter is the same in all lanes of a warp. What the hardware does
// not do at once there becomes a loop of its own, which parts the lanes: ptxas 13.0 lets such a counter run
// ahead.
enum { ROUNDS = 100 };
#define LOOPED(elem)                                                                                       \
  static __global__ void looped_##elem(mu_u64 *counted, unsigned rounds) {                                 \
    __shared__ mu_##elem sums[2];                                                                          \
    if (threadIdx.x < 2)                                                                                   \
      sums[threadIdx.x] = 0;                                                                               \
    __syncthreads();                                                                                       \
    MU_ROLLED for (unsigned i = 0; i < rounds; i++) mu_shared_red_add_relaxed_block_##elem(&sums[0], 1);   \
    MU_ROLLED for (unsigned i = 0; i < rounds; i++)(void) mu_shared_add_relaxed_block_##elem(&sums[1], 1); \
    __syncthreads();                                                                                       \
    if (threadIdx.x < 2)                                                                                   \
      counted[threadIdx.x] = (mu_u64)sums[threadIdx.x];                                                    \
  }
#define EACH_LOOPED(make) make(u32) make(s32) make(u64) make(s64) make(f32) make(f64)
EACH_LOOPED(LOOPED)

static void check_loops(void) {
  mu_u64 *counted, found[2];
  CHECK(cudaMalloc(&counted, sizeof found));
#define RUN_LOOPED(elem)                                                               \
  looped_##elem<<<1, THREADS>>>(counted, ROUNDS);                                      \
  CHECK(cudaMemcpy(found, counted, sizeof found, cudaMemcpyDeviceToHost));             \
  must(found[0] == ROUNDS * THREADS, #elem, "reductions in a loop, in shared memory"); \
  must(found[1] == ROUNDS * THREADS, #elem, "additions in a loop, in shared memory");
  EACH_LOOPED(RUN_LOOPED)
  CHECK(cudaFree(counted));
}

int main(void) {
  int count = 0;
  void *cells;
  struct history *device;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaMalloc(&cells, CELLS * 16 * 2));
  CHECK(cudaMalloc(&device, sizeof *device));
  check_values();
  check_loops();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run(&rows[i], cells, device);
  printf("%zu operations, %d cases, %d wrong\n", sizeof rows / sizeof *rows, cases, bad);
  return bad != 0;
}
