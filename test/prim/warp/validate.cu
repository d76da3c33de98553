// validate.cu: tiles, votes, shuffles, reductions, scans and aggregated atomics against serial loops on the
// host.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude test/prim/warp/validate.cu -o /tmp/warp_validate
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../bench/check.h"
#include "muster/warp.cuh"

static __host__ __device__ unsigned hashed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

enum { THREADS = 1024, BINS = 16 };

// One thread's results. `mask` says which lanes its tile had; everything else follows from that.
struct results {
  unsigned mask, rank, size, any, all, count, match, from, xor_, up, down, one;
  unsigned sum, low, incl, excl;
  signed char least;
  short most;
  unsigned short ors;
  unsigned long long wide, wide_excl;
  double real;
  float half;
};

// kind: a tile size, 33: whoever is here (odd hashes), 34: a mask with holes (all but each fifth lane)
static __global__ void tiles(int kind, unsigned salt, struct results *out) {
  unsigned thread = mu_thread(), value = hashed(thread + salt), lane = mu_lane();
  mu_tile t;
  if (kind == 33) {
    if (value % 2 == 0)
      return;
    t = mu_tile_here();
  } else if (kind == 34) {
    if (lane % 5 == 4)
      return;
    t = mu_tile_warp();
    t = mu_tile_mask(t.mask & 0x5ef7bdefu & ~(1u << 4 | 1u << 9 | 1u << 14 | 1u << 19 | 1u << 24 | 1u << 29));
    if (!(t.mask >> lane & 1))
      return;
  } else {
    t = mu_tile_of((unsigned)kind);
  }
  struct results r;
  r.mask = t.mask, r.rank = t.rank, r.size = t.size;
  mu_tile_sync(&t);
  r.any = mu_tile_any(&t, value % 7 == 0);
  r.all = mu_tile_all(&t, value % 7 != 0);
  r.count = mu_tile_count(&t, value % 3 == 0);
  r.match = value % 2 ? mu_tile_match_u32(&t, value % 5) : mu_tile_match_u32(&t, value % 5);
  r.match ^=
      mu_tile_match_u64(&t, (unsigned long long)(value % 5) << 40) ^ r.match; // both must agree: it is kept
  r.from = mu_tile_shuffle_u32(&t, value, t.rank * 3 + 1);
  r.xor_ = mu_tile_shuffle_xor_u32(&t, value, 2);
  r.up = mu_tile_shuffle_up_u32(&t, value, 3);
  r.down = mu_tile_shuffle_down_u32(&t, value, 3);
  r.one = mu_tile_broadcast_u32(&t, value, t.size - 1);
  r.sum = mu_tile_reduce_add_u32(&t, value);
  r.low = (unsigned)mu_tile_reduce_min_s32(&t, (int)value);
  r.incl = mu_tile_scan_incl_add_u32(&t, value);
  r.excl = mu_tile_scan_excl_max_u32(&t, value, 7);
  r.least = mu_tile_reduce_min_s8(&t, (signed char)value);
  r.most = mu_tile_reduce_max_s16(&t, (short)value);
  r.ors = mu_tile_reduce_or_u16(&t, (unsigned short)(1u << value % 16));
  r.wide = mu_tile_reduce_add_u64(&t, (unsigned long long)value << 20);
  r.wide_excl = mu_tile_scan_excl_add_u64(&t, (unsigned long long)value << 20, 5);
  r.real = mu_tile_reduce_add_f64(&t, (double)(value % 1000));
  r.half = mu_f32_of_f16(mu_tile_reduce_max_f16(&t, mu_f16_of_f32((float)(value % 2000))));
  out[thread] = r;
}

struct sums {
  unsigned tickets, each[BINS];
  float real, reals[BINS];
  double wide;
  unsigned long long big;
};
static __global__ void aggregates(struct sums *s, unsigned *tickets, unsigned salt) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, value = hashed(i + salt), bin = value >> 8 & (BINS - 1);
  bin = value >> 16 & 1 ? 0 : bin; // half of them into one
  if (value % 3)
    tickets[i] = mu_aggregate_add_device_u32(&s->tickets, value % 4 + 1);
  mu_aggregate_each_red_add_device_u32(&s->each[bin], value % 8);
  if (value % 5) {
    mu_aggregate_red_add_device_f32(&s->real, (float)(value % 16));
    mu_aggregate_each_red_add_device_f32(&s->reals[bin], (float)(value % 16));
  }
  mu_aggregate_red_add_device_f64(&s->wide, (double)value);
  mu_aggregate_red_add_system_u64(&s->big, (unsigned long long)value << 16);
}

static int cases, bad;
static void must(int good, const char *what, int kind, unsigned thread) {
  cases++;
  if (!good && bad++ < 30)
    printf("WRONG: %s, tile %d, thread %u\n", what, kind, thread);
}

static void check_tiles(int kind, unsigned threads, unsigned salt, const struct results *out) {
  for (unsigned i = 0; i < threads; i++) {
    const struct results *r = &out[i];
    unsigned base = i & ~31u, lane = i & 31, lanes[32], n = 0, me = 99, value = hashed(i + salt), mask = 0;
    for (unsigned l = 0; l < 32 && base + l < threads; l++) {
      unsigned in = kind == 33   ? hashed(base + l + salt) % 2
                    : kind == 34 ? l % 5 != 4 && 0x5ef7bdefu >> l & 1
                                 : l / (unsigned)kind == lane / (unsigned)kind;
      if (kind == 33) // who is here together is not promised: believe the mask, which must hold the caller
        in = in && r->mask >> l & 1;
      if (in) {
        mask |= 1u << l;
        if (l == lane)
          me = n;
        lanes[n++] = l;
      }
    }
    if (me == 99)
      continue;
    must(r->mask == mask && r->rank == me && r->size == n, "mask, rank, size", kind, i);
    unsigned sum = 0, any = 0, count = 0, match = 0, incl = 0, excl = 7, ors = 0;
    unsigned long long wide = 0, wide_excl = 5;
    int low = 0x7fffffff, least = 127, most = -32768;
    double real = 0, half = 0;
    for (unsigned k = 0; k < n; k++) {
      unsigned v = hashed(base + lanes[k] + salt);
      sum += v;
      any |= v % 7 == 0;
      count += v % 3 == 0;
      match |= (unsigned)(v % 5 == value % 5) << lanes[k];
      if (k <= me)
        incl += v;
      if (k < me) {
        excl = v > excl ? v : excl;
        wide_excl += (unsigned long long)v << 20;
      }
      low = (int)v < low ? (int)v : low;
      least = (signed char)v < least ? (signed char)v : least;
      most = (short)v > most ? (short)v : most;
      ors |= 1u << v % 16;
      wide += (unsigned long long)v << 20;
      real += v % 1000;
      half = v % 2000 > half ? v % 2000 : half;
    }
#define OF(rank) hashed(base + lanes[rank] + salt)
    must(r->any == any && r->all == !any && r->count == count, "votes", kind, i);
    must(r->match == match, "match", kind, i);
    must(r->from == OF((me * 3 + 1) % n), "shuffle", kind, i);
    must(r->xor_ == OF((me ^ 2) < n ? me ^ 2 : me), "shuffle xor", kind, i);
    must(r->up == OF(me >= 3 ? me - 3 : me) && r->down == OF(me + 3 < n ? me + 3 : me), "shuffle up, down",
         kind, i);
    must(r->one == OF(n - 1), "broadcast", kind, i);
    must(r->sum == sum && (int)r->low == low, "reduce 32 bits", kind, i);
    must(r->incl == incl && r->excl == excl, "scan", kind, i);
    must(r->least == least && r->most == most && r->ors == ors, "reduce 8 and 16 bits", kind, i);
    must(r->wide == wide && r->wide_excl == wide_excl && r->real == real, "64 bits", kind, i);
    must(r->half == half, "f16", kind, i);
  }
}

static void check_aggregates(void) {
  enum { N = 40 * 96 };
  static unsigned tickets[N], taken[N * 8];
  struct sums *ds, s, want;
  unsigned *dt;
  CHECK(cudaMalloc(&ds, sizeof s));
  CHECK(cudaMemset(ds, 0, sizeof s));
  CHECK(cudaMalloc(&dt, sizeof tickets));
  aggregates<<<40, 96>>>(ds, dt, 3);
  CHECK(cudaMemcpy(&s, ds, sizeof s, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(tickets, dt, sizeof tickets, cudaMemcpyDeviceToHost));
  memset(&want, 0, sizeof want);
  for (unsigned i = 0; i < N; i++) {
    unsigned value = hashed(i + 3), bin = value >> 8 & (BINS - 1);
    bin = value >> 16 & 1 ? 0 : bin;
    if (value % 3) {
      want.tickets += value % 4 + 1;
      for (unsigned k = 0; k < value % 4 + 1; k++) // every ticket once
        must(tickets[i] + k < N * 8 && taken[tickets[i] + k]++ == 0, "ticket given once", 0, i);
    }
    want.each[bin] += value % 8;
    if (value % 5) {
      want.real += (float)(value % 16);
      want.reals[bin] += (float)(value % 16);
    }
    want.wide += value;
    want.big += (unsigned long long)value << 16;
  }
  must(!memcmp(&s.each, &want.each, sizeof s.each), "each u32", 0, 0);
  must(!memcmp(&s.reals, &want.reals, sizeof s.reals), "each f32", 0, 0);
  must(s.tickets == want.tickets && s.real == want.real && s.wide == want.wide && s.big == want.big, "sums",
       0, 0);
}

int main(void) {
  static struct results host[THREADS];
  struct results *out;
  int count = 0;
  static const int kinds[] = {1, 2, 4, 8, 16, 32, 33, 34};
  static const unsigned sizes[] = {1, 7, 32, 48, 77, 256};
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaMalloc(&out, sizeof host));
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      CHECK(cudaMemset(out, 0xa5, sizeof host));
      tiles<<<1, sizes[i]>>>(kinds[k], i, out);
      CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
      check_tiles(kinds[k], sizes[i], i, host);
    }
  check_aggregates();
  printf("%d cases, %d wrong\n", cases, bad);
  return bad != 0;
}
