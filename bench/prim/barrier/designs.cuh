// designs.cuh: barrier designs, bare: no deadline, no group, only the words. What wins goes into barrier.cuh.
// Every wait ends after LOOKS_MAX looks and then fails the run, so that a wrong design costs no device.
#ifndef DESIGNS_CUH
#define DESIGNS_CUH

#include "muster/barrier.cuh"

enum { RELAXED, ACQUIRE, BYTES, WORDS, WARPS, ATOM, GLOBAL, APART };
enum { SYNC, OR };
enum { LOOKS_MAX = 1 << 20, LINES_MAX = 16, PLACES_MAX = 640 };

// A measurement's arrangement, the same for every design.
struct setup {
  char *memory;              // zeroed before each launch
  const unsigned *lines;     // [group][copy * shards + shard]: which line of memory
  const unsigned char *side; // [smid]: which copy is nearer
  unsigned blocks;           // of a group: consecutive blocks
  unsigned rounds, pause, skew_ns;
  unsigned *failed;
  char *workspace;               // for the library's barrier
  unsigned tuned;                // 0: as the library chooses
  unsigned shards, copies, near; // else so; near 1: lines and side say which lines, and which is nearer
  unsigned choose;               // the library chooses the line
};

static __device__ inline unsigned smid(void) {
  unsigned id;
  asm("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

static __device__ inline void rest(unsigned cycles) {
  if (cycles) {
    unsigned start = mu_cycles();
    while (mu_cycles() - start < cycles) {
    }
  }
}

// Arrivals at different times: a pause of 0 to skew_ns, a hash of round and block.
static __device__ inline void skewed_arrival(unsigned skew_ns, unsigned round) {
  unsigned x = round * 0x9e3779b9u + blockIdx.x * 0x85ebca6bu;
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
  unsigned cycles = (unsigned)((unsigned long long)x * (skew_ns * 2) >> 32),
           start = mu_cycles(); // about 2 GHz
  while (mu_cycles() - start < cycles) {
  }
}

static __device__ __forceinline__ void design(const struct setup &s, const unsigned shards,
                                              const unsigned copies, const int look, const int order,
                                              const int close) {
  const unsigned group = blockIdx.x / s.blocks, rank = blockIdx.x % s.blocks, lane = threadIdx.x;
  const unsigned width = shards * copies;
  const unsigned near = copies > 1 ? s.side[smid()] : 0;
#define LINE(i) (s.memory + (size_t)s.lines[group * LINES_MAX + (i)] * 128)
  mu_u64 *arrive = (mu_u64 *)LINE(lane < copies ? lane * shards + rank % shards : 0);
  mu_u64 *watch = (mu_u64 *)LINE(near * shards + (lane < shards ? lane : 0));
  const unsigned step = (s.blocks - (lane < shards ? lane : 0) + shards - 1) / shards;
  char *flags = LINE(0);
  mu_u64 target = 0;
  unsigned failed = 0;
  (void)width;
  for (unsigned round = 1; round <= s.rounds; round++) {
    unsigned looks = 0;
    if (s.skew_ns)
      skewed_arrival(s.skew_ns, round);
    target += step;
    mu_bar_sync();
    if (look == BYTES || look == WORDS) {
      if (lane < 32) {
        if (lane == 0) {
          if (look == BYTES)
            mu_global_store_release_device_u8((mu_u8 *)flags + rank, (mu_u8)round);
          else
            mu_global_store_release_device_u32((mu_u32 *)flags + rank, round);
        }
        rest(s.pause);
        for (unsigned from = lane * 4; from < s.blocks + lane * 4; from += 128) { // the warp stays together
          unsigned late;
          do {
            unsigned a, b, c, d;
            if (look == BYTES)
              asm volatile("ld.relaxed.gpu.v4.u8 {%0, %1, %2, %3}, [%4];"
                           : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                           : "l"(flags + from)
                           : "memory");
            else
              asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                           : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                           : "l"(flags + 4 * from)
                           : "memory");
            if (look == BYTES) {
              late = (from < s.blocks && (signed char)(a - round) < 0) ||
                     (from + 1 < s.blocks && (signed char)(b - round) < 0) ||
                     (from + 2 < s.blocks && (signed char)(c - round) < 0) ||
                     (from + 3 < s.blocks && (signed char)(d - round) < 0);
            } else {
              late = (from < s.blocks && (int)(a - round) < 0) ||
                     (from + 1 < s.blocks && (int)(b - round) < 0) ||
                     (from + 2 < s.blocks && (int)(c - round) < 0) ||
                     (from + 3 < s.blocks && (int)(d - round) < 0);
            }
            late = __any_sync(~0u, late);
          } while (late && ++looks < LOOKS_MAX);
        }
        if (order != 2) // one acquire of every flag; nobody waits for the values
          for (unsigned i = lane; i < s.blocks; i += 32)
            look == BYTES ? (void)mu_global_load_acquire_device_u8((mu_u8 *)flags + i)
                          : (void)mu_global_load_acquire_device_u32((mu_u32 *)flags + i);
        failed = looks >= LOOKS_MAX;
      }
    } else if (look == GLOBAL) {
      if (lane == 0) {
        unsigned seen;
        size_t word;
        asm("cvta.to.global.u64 %0, %1;" : "=l"(word) : "l"(arrive));
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
        rest(s.pause);
        do
          asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
        while ((int)(seen - (unsigned)target) < 0 && ++looks < LOOKS_MAX);
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
        failed = looks >= LOOKS_MAX;
      }
    } else {
      mu_u64 seen = 0;
      if (lane < copies) {
        if (look == ATOM)
          seen = mu_global_add_release_device_u64(arrive, 1) + 1;
        else if (order == 0)
          mu_global_red_add_relaxed_device_u64(arrive, 1);
        else
          mu_global_red_add_release_device_u64(arrive, 1);
      }
      if (look == WARPS ? lane % 32 == 0 : look == APART ? lane == 32 : lane < shards) {
        if (!(look == ATOM && seen >= target)) {
          rest(s.pause);
          unsigned late;
          do {
            seen = look == ACQUIRE ? mu_global_load_acquire_device_u64(watch)
                                   : mu_global_load_relaxed_device_u64(watch);
            late = seen < target;
            if (shards > 1)
              late = __any_sync((1u << shards) - 1, late);
          } while (late && ++looks < LOOKS_MAX);
        }
        if (look != ACQUIRE && order != 2)
          (void)mu_global_load_acquire_device_u64(watch);
        failed = looks >= LOOKS_MAX;
      }
    }
    if (close == OR) {
      if (mu_bar_or(failed))
        break;
    } else if (look != WARPS) {
      mu_bar_sync();
    }
    if (failed) // the others of the block are caught at their next block barrier, which counts the exited out
      break;
  }
  if (failed)
    *s.failed = 1;
}

#endif
