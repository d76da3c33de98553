// validate.cu: reductions, scans, broadcast, votes and partial barriers of a block, of any shape, against
// serial loops.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude test/prim/block/validate.cu -o /tmp/block_validate
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../../bench/check.h"
#include "muster/block.cuh"

static __host__ __device__ unsigned hashed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

struct results {
  unsigned sum, most, bits, incl, excl, one, any, all, count;
  int least;
  long long wide, wide_excl;
  float real, real_incl;
  double product;
};

// Twice, with nothing between: the second use of the shared words must not meet the first.
static __global__ void everything(struct results *out, unsigned salt) {
  unsigned me = mu_thread(), v = hashed(me + salt);
  struct results r;
  for (int again = 0; again < 2; again++) {
    r.sum = mu_block_reduce_add_u32(v);
    r.most = mu_block_reduce_max_u32(v);
    r.bits = mu_block_reduce_xor_u32(v);
    r.least = mu_block_reduce_min_s32((int)v);
    r.incl = mu_block_scan_incl_add_u32(v);
    r.excl = mu_block_scan_excl_max_u32(v, 3);
    r.one = mu_block_broadcast_u32(v, mu_block_threads() / 2);
    r.wide = mu_block_reduce_add_s64(-(long long)v << 15);
    r.wide_excl = mu_block_scan_excl_add_s64((long long)v, -7);
    r.real = mu_block_reduce_add_f32((float)(v % 64));
    r.real_incl = mu_block_scan_incl_add_f32((float)(v % 64));
    r.product = mu_block_reduce_mul_f64(v % 97 == 0 ? 2.0 : 1.0);
    r.any = mu_block_sync_or(v % 301 == 0);
    r.all = mu_block_sync_and(v % 301 != 0);
    r.count = mu_block_sync_count(v % 3 == 0);
  }
  out[me] = r;
}

// Warp 0 makes numbers, warps 1 to 3 use them: a barrier says full, another empty. Other warps have no part
// in it.
static __global__ void pipeline(unsigned *out, unsigned rounds) {
  __shared__ unsigned box[32];
  unsigned me = mu_thread(), sum = 0;
  if (me / 32 == 0) {
    for (unsigned i = 0; i < rounds; i++) {
      box[me] = hashed(i * 32 + me);
      mu_block_arrive_part(1, 128);
      mu_block_sync_part(2, 128);
    }
  } else if (me / 32 < 4) {
    for (unsigned i = 0; i < rounds; i++) {
      mu_block_sync_part(1, 128);
      sum += box[(me + i) % 32];
      mu_block_arrive_part(2, 128);
    }
    out[me] = sum;
  }
}

static int cases, bad;
static void must(int good, const char *what, unsigned threads, unsigned thread) {
  cases++;
  if (!good && bad++ < 30)
    printf("WRONG: %s, %u threads, thread %u\n", what, threads, thread);
}

static void check(dim3 shape, unsigned salt, struct results *out) {
  static struct results host[1024];
  unsigned n = shape.x * shape.y * shape.z;
  CHECK(cudaMemset(out, 0xa5, sizeof host));
  everything<<<1, shape>>>(out, salt);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  unsigned sum = 0, most = 0, bits = 0, any = 0, count = 0;
  int least = 0x7fffffff;
  long long wide = 0;
  float real = 0;
  double product = 1;
  for (unsigned i = 0; i < n; i++) {
    unsigned v = hashed(i + salt);
    sum += v, bits ^= v, wide -= (long long)v << 15, real += (float)(v % 64);
    most = v > most ? v : most;
    least = (int)v < least ? (int)v : least;
    any |= v % 301 == 0, count += v % 3 == 0;
    product *= v % 97 == 0 ? 2 : 1;
  }
  unsigned incl = 0, excl = 3;
  long long before = -7;
  float real_incl = 0;
  for (unsigned i = 0; i < n; i++) {
    const struct results *r = &host[i];
    unsigned v = hashed(i + salt);
    incl += v, real_incl += (float)(v % 64);
    must(r->sum == sum && r->most == most && r->bits == bits && r->least == least, "reduce", n, i);
    must(r->wide == wide && r->real == real && r->product == product, "reduce wide", n, i);
    must(r->incl == incl && r->excl == excl && r->wide_excl == before && r->real_incl == real_incl, "scan", n,
         i);
    must(r->one == hashed(n / 2 + salt), "broadcast", n, i);
    must(r->any == any && r->all == !any && r->count == count, "votes", n, i);
    excl = v > excl ? v : excl;
    before += v;
  }
}

int main(void) {
  int count = 0;
  struct results *out;
  unsigned *sums, host[128];
  static const dim3 shapes[] = {dim3(1),        dim3(5),    dim3(32),      dim3(33),
                                dim3(64),       dim3(100),  dim3(8, 8, 4), dim3(3, 7, 11),
                                dim3(1, 1, 64), dim3(1000), dim3(1024),    dim3(32, 32)};
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaMalloc(&out, 1024 * sizeof *out));
  for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
    check(shapes[i], i * 1000, out);
  CHECK(cudaMalloc(&sums, sizeof host));
  pipeline<<<1, 160>>>(sums, 500);
  CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
  for (unsigned me = 32; me < 128; me++) {
    unsigned want = 0;
    for (unsigned i = 0; i < 500; i++)
      want += hashed(i * 32 + (me + i) % 32);
    must(host[me] == want, "producer and consumers", 160, me);
  }
  printf("%d cases, %d wrong\n", cases, bad);
  return bad != 0;
}
