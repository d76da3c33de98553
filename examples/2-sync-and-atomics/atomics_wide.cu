// atomics_wide: seed 001, section 5.2, the atomics that its table leaves out because they came later: add of
// half and bfloat16, alone and in pairs; from compute capability 9.0 on add of float2 and float4 and
// exchange and CAS of 16 bytes. Vectors are atomic per element, not as a whole; 16 bytes are one whole.
// What the device, or the code compiled for it, lacks is named, not passed over.
// Not plain C: it needs cuda_fp16.h and cuda_bf16.h, and CUDA's 16-byte forms are templates.
// usage: atomics_wide [N]  N threads
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "../common/tour.h"

typedef unsigned long long u64;

enum { BLOCK = 96, ADDS_A_CELL = 100 }; // bfloat16 counts to 256: sums of 100 ones stay below in any order

struct __align__(16) pair {
  u64 low, high;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define FROM_90(...) __VA_ARGS__
#else
#define FROM_90(...)
#endif

#define ADD(type, STATEMENT)                                                                      \
  TOUR_C __global__ void add_##type(type *cell, const type *value, type *old, int n, int cells) { \
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                         \
    if (i < n) {                                                                                  \
      STATEMENT(old[i] = atomicAdd(&cell[i % cells], value[i]);)                                  \
    }                                                                                             \
  }
#define ALWAYS(...) __VA_ARGS__
ADD(__half, ALWAYS)
ADD(__half2, ALWAYS)
ADD(__nv_bfloat16, ALWAYS) // below 9.0 the header makes the bfloat16 ones from CAS
ADD(__nv_bfloat162, ALWAYS)
ADD(float2, FROM_90)
ADD(float4, FROM_90)

TOUR_C __global__ void exchange(struct pair *cell, const struct pair *value, struct pair *old, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    FROM_90(old[i] = atomicExch(cell, value[i]);)
  }
}

// One 16-byte word {how many, their sum}: both halves change together or not at all.
TOUR_C __global__ void count_and_add(struct pair *cell, const struct pair *value, struct pair *old, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  struct pair assumed, found = {0, 0}; // a guess: the first CAS brings the truth
  do {
    assumed = found;
    FROM_90(struct pair next = {assumed.low + 1, assumed.high + value[i].high};
            found = atomicCAS(cell, assumed, next);)
  } while (found.low != assumed.low || found.high != assumed.high);
  old[i] = found;
}

// The architecture this code was compiled for, times ten.
TOUR_C __global__ void compiled_for(int *architecture) {
#ifdef __CUDA_ARCH__
  *architecture = __CUDA_ARCH__;
#endif
}

#ifdef TOUR_HOST
static float from_half(const void *p) {
  return __half2float(*(const __half *)p);
}
static float from_bf16(const void *p) {
  return __bfloat162float(*(const __nv_bfloat16 *)p);
}
static float from_float(const void *p) {
  return *(const float *)p;
}
static void to_half(void *p, float x) {
  *(__half *)p = __float2half(x);
}
static void to_bf16(void *p, float x) {
  *(__nv_bfloat16 *)p = __float2bfloat16(x);
}
static void to_float(void *p, float x) {
  *(float *)p = x;
}

static const struct row {
  const char *name;
  const void *kernel;
  int elements, size, architecture; // elements of so many bytes, from this architecture on
  float (*from)(const void *);
  void (*to)(void *, float);
} rows[] = {
    {"half", (const void *)add___half, 1, 2, 0, from_half, to_half},
    {"half2", (const void *)add___half2, 2, 2, 0, from_half, to_half},
    {"bfloat16", (const void *)add___nv_bfloat16, 1, 2, 0, from_bf16, to_bf16},
    {"bfloat162", (const void *)add___nv_bfloat162, 2, 2, 0, from_bf16, to_bf16},
    {"float2", (const void *)add_float2, 2, 4, 900, from_float, to_float},
    {"float4", (const void *)add_float4, 4, 4, 900, from_float, to_float},
};

// Adds -1, 0 or 1. Each element of a cell by itself: its last value against a serial sum, and the values
// found, with the last one, against the values left, with the first one.
static void verify_add(const struct row *row, int n) {
  int cells = (n + ADDS_A_CELL - 1) / ADDS_A_CELL, width = row->elements;
  size_t size = (size_t)row->size, bytes = (size_t)n * width * size,
         cell_bytes = (size_t)cells * width * size;
  char *value = (char *)tour_host_alloc(bytes), *old = (char *)tour_host_alloc(bytes);
  char *cell = (char *)tour_host_alloc(cell_bytes);
  for (int i = 0; i < n * width; i++)
    row->to(value + i * size, (float)(tour_hash((unsigned)i) % 3) - 1);
  for (int i = 0; i < cells * width; i++)
    row->to(cell + i * size, (float)(i % 5));

  void *cell_d = tour_upload(cell, cell_bytes), *value_d = tour_upload(value, bytes),
       *old_d = tour_alloc(bytes);
  void *args[] = {&cell_d, &value_d, &old_d, &n, &cells};
  CHECK(cudaLaunchKernel(row->kernel, dim3((unsigned)(n + BLOCK - 1) / BLOCK), dim3(BLOCK), args, 0, 0));
  tour_sync();
  tour_download(cell, cell_d, cell_bytes);
  tour_download(old, old_d, bytes);

  for (int k = 0; k < cells * width; k++) {
    u64 found[ADDS_A_CELL + 1], left[ADDS_A_CELL + 1];
    float first = (float)(k % 5), serial = first, last = row->from(cell + k * size);
    long count = 0;
    for (int i = k / width; i < n; i += cells, count++) {
      size_t at = ((size_t)i * width + k % width) * size;
      float add = row->from(value + at), was = row->from(old + at);
      serial += add;
      found[count] = (u64)(long long)was;
      left[count] = (u64)(long long)(was + add);
    }
    found[count] = (u64)(long long)last;
    left[count] = (u64)(long long)first;
    tour_expect(last == serial, "add of %s: element %d is %g, should be %g", row->name, k, last, serial);
    tour_expect_same_set(row->name, found, left, count + 1);
  }
  free(value);
  free(old);
  free(cell);
}

// The high half belongs to the low one: half of one value and half of another would show.
static u64 high_of(u64 low) {
  return (u64)tour_hash((unsigned)low) << 32 | tour_hash((unsigned)low + 1);
}

static void verify_exchange(int n) {
  size_t bytes = (size_t)n * sizeof(struct pair);
  struct pair first = {(u64)n, high_of((u64)n)}, last;
  struct pair *value = (struct pair *)tour_host_alloc(bytes), *old = (struct pair *)tour_host_alloc(bytes);
  u64 *found = (u64 *)tour_host_alloc(((size_t)n + 1) * sizeof *found);
  u64 *left = (u64 *)tour_host_alloc(((size_t)n + 1) * sizeof *left);
  for (int i = 0; i < n; i++) {
    struct pair it = {(u64)i, high_of((u64)i)};
    value[i] = it;
  }
  struct pair *cell_d = (struct pair *)tour_upload(&first, sizeof first),
              *old_d = (struct pair *)tour_alloc(bytes);
  exchange<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(cell_d, (struct pair *)tour_upload(value, bytes), old_d, n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&last, cell_d, sizeof last);
  tour_download(old, old_d, bytes);
  for (int i = 0; i <= n; i++) {
    struct pair was = i < n ? old[i] : last;
    tour_expect(was.high == high_of(was.low), "exchange of 16 bytes: the halves of %d do not belong together",
                i);
    found[i] = was.low;
    left[i] = (u64)i; // every value, and the first
  }
  tour_expect_same_set("exchange of 16 bytes", found, left, n + 1);
}

static void verify_cas(int n) {
  size_t bytes = (size_t)n * sizeof(struct pair);
  struct pair first = {0, high_of(0)}, last;
  struct pair *value = (struct pair *)tour_host_alloc(bytes), *old = (struct pair *)tour_host_alloc(bytes);
  int *turn = (int *)tour_host_alloc((size_t)n * sizeof *turn);
  for (int i = 0; i < n; i++) {
    struct pair it = {0, high_of((u64)i)};
    value[i] = it;
    turn[i] = -1;
  }
  struct pair *cell_d = (struct pair *)tour_upload(&first, sizeof first),
              *old_d = (struct pair *)tour_alloc(bytes);
  count_and_add<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(cell_d, (struct pair *)tour_upload(value, bytes), old_d,
                                                    n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&last, cell_d, sizeof last);
  tour_download(old, old_d, bytes);
  for (int i = 0; i < n; i++) // who came when: the count it found
    if (tour_expect(old[i].low < (u64)n && turn[old[i].low] < 0, "thread %d found count %llu", i, old[i].low))
      turn[old[i].low] = i;
  u64 sum = first.high;
  for (int k = 0; k < n; k++)
    if (turn[k] >= 0) {
      tour_expect(old[turn[k]].high == sum, "CAS of 16 bytes: turn %d found another sum", k);
      sum += value[turn[k]].high;
    }
  tour_expect(last.low == (u64)n && last.high == sum, "CAS of 16 bytes: the end is %llu, %#llx", last.low,
              last.high);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 1000, 1, 20000), architecture = 0, done = 0;
  int *architecture_d = (int *)tour_alloc(sizeof *architecture_d);
  compiled_for<<<1, 1>>>(architecture_d);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&architecture, architecture_d, sizeof architecture);

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (architecture >= rows[i].architecture) {
      verify_add(&rows[i], n);
      printf("add of %s: verified\n", rows[i].name);
      done++;
    } else
      printf("add of %s: needs code for compute capability %.1f, this is for %.1f\n", rows[i].name,
             rows[i].architecture / 100.0, architecture / 100.0);
  if (architecture >= 900) {
    verify_exchange(n);
    verify_cas(n);
    printf("exchange and CAS of 16 bytes: verified\n");
    done += 2;
  } else
    printf("exchange and CAS of 16 bytes: need code for compute capability 9.0, this is for %.1f\n",
           architecture / 100.0);
  return tour_end("%d of 8 wide atomics by %d threads", done, n);
}
#endif
