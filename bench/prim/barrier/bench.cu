// bench.cu: barriers over groups of blocks, timed against cg::grid_group::sync() in the same run.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude bench/prim/barrier/bench.cu -o /tmp/barrier_bench
//   /tmp/barrier_bench FILE.tsv [tiny] [probe] [sweep] [bare] [skew] [blocks=N] [seconds]
//
// A figure is nanoseconds per barrier: the slope between two numbers of rounds (2,000 and 10,000; a sweep
// 1,000 and 4,000), median over placements of the barrier's words (8; a sweep 3). FILE.tsv gets a row a
// figure, standard output a short table. `sweep` tries every arrangement of the library's barrier with
// many pauses, `bare` the designs of variants.def too. `skew`
// lets the blocks arrive at random times within 10 us.
#include <cooperative_groups.h>
#include <stddef.h>
#include <time.h>
#include "../../bench.h"
#include "designs.cuh"

enum {
  MEMORY_BYTES = 8 << 20,
  CANDIDATES = 2048,
  FIRST_CANDIDATE = 32768,
  SMS_MAX = 256,
  SHAPES_MAX = 64,
  FIGURES_MAX = 400
};

static __global__ void grid_sync(struct setup s) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (unsigned round = 1; round <= s.rounds; round++) {
    if (s.skew_ns)
      skewed_arrival(s.skew_ns, round);
    grid.sync();
  }
}

static __device__ __forceinline__ mu_status open_library(mu_barrier *b, const struct setup &s) {
  mu_group g = mu_group_chunk(s.blocks);
  mu_tuning t = mu_tuning_for(g.blocks, mu_grid_blocks());
  if (s.tuned) {
    t.shards = s.shards;
    t.copies = s.copies;
    t.pause = s.pause;
    t.choose = s.choose;
    if (s.near) {
      t.first_line = s.lines[g.index * LINES_MAX];
      t.second_line = s.lines[g.index * LINES_MAX + 1];
      t.near = s.side[smid()];
    }
  }
  return mu_barrier_open_as(b, s.workspace, &g, &t, mu_grid_nonce() | MU_POISON, 0, 0, mu_thread());
}

static __device__ __forceinline__ void sync_often(const struct setup &s) {
  mu_barrier b;
  mu_status status = open_library(&b, s);
  b.timeout_ns = 1000000000;
  for (unsigned round = 1; !status && round <= s.rounds; round++) {
    if (s.skew_ns)
      skewed_arrival(s.skew_ns, round);
    (void)mu_barrier_sync(&b); // after an error the rest returns at once
  }
  if (status || mu_barrier_status(&b))
    *s.failed = 1;
}
static __global__ void __launch_bounds__(1024) library(struct setup s) {
  sync_often(s);
}
// In as many registers as it likes.
static __global__ void library_wide(struct setup s) {
  sync_often(s);
}
// In 32 registers: on an H200 two blocks of 1,024 threads fit.
static __global__ void __maxnreg__(32) library_lean(struct setup s) {
  sync_often(s);
}

// The same by a caller who looks at what every barrier returns.
static __global__ void __launch_bounds__(1024) library_checked(struct setup s) {
  mu_barrier b;
  mu_status status = open_library(&b, s);
  b.timeout_ns = 1000000000;
  for (unsigned round = 1; !status && round <= s.rounds; round++)
    status = mu_barrier_sync(&b);
  if (status)
    *s.failed = status;
}

static __device__ __forceinline__ void meet_often(const struct setup &s) {
  mu_group g = mu_group_chunk(s.blocks);
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, s.workspace, &g);
  b.timeout_ns = 1000000000;
  for (unsigned round = 1; !status && round <= s.rounds; round++)
    status = mu_barrier_sync_relaxed(&b);
  if (status)
    *s.failed = status;
}
static __global__ void __launch_bounds__(1024) library_relaxed(struct setup s) {
  meet_often(s);
}
static __global__ void __maxnreg__(32) library_relaxed_lean(struct setup s) {
  meet_often(s);
}

#define VARIANT(name, shards, copies, look, order, close, most)               \
  static __global__ void __launch_bounds__(1024) raw_##name(struct setup s) { \
    design(s, shards, copies, look, order, close);                            \
  }
#include "variants.def"

struct variant {
  const char *name;
  const void *kernel;
  unsigned shards, copies, most, look_threads, choose;
};
static const struct variant raw[] = {
#define VARIANT(name, shards, copies, look, order, close, most) \
  {#name, (const void *)raw_##name, shards, copies, most, look == APART ? 64 : 1, 0},
#include "variants.def"
};
enum { RAW = sizeof(raw) / sizeof(raw[0]) };
// The library's, in the registers that a multiprocessor has for full blocks, and in as many as it likes.
static const struct variant libraries[] = {
    {"library", (const void *)library, 1, 1, 2000, 1, 0},
    {"library chosen", (const void *)library, 1, 1, 2000, 1, 1},
    {"library_wide", (const void *)library_wide, 1, 1, 400, 1, 0},
    {"library_checked", (const void *)library_checked, 1, 1, 400, 1, 0},
    {"library near2", (const void *)library, 1, 2, 2000, 1, 0},
    {"library s4c2", (const void *)library, 4, 2, 2000, 1, 0},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

// Latency of CANDIDATES lines as each multiprocessor sees them: least of some chains of relaxed loads, in
// cycles a load. Each load's address needs the value before it, which is 0.
static __global__ void latencies(char *memory, unsigned short *cycles) {
  if (threadIdx.x)
    return;
  for (unsigned turn = 0; turn < CANDIDATES; turn++) {
    unsigned i = (turn + blockIdx.x * 37) % CANDIDATES; // not all at one line
    mu_u64 *word = (mu_u64 *)(memory + (size_t)i * 128), *at = word;
    unsigned least = 60000;
    for (int again = 0; again < 3; again++) {
      unsigned start = mu_cycles();
      for (int link = 0; link < 5; link++) {
        at = word + mu_global_load_relaxed_device_u64(at);
        asm volatile("" : "+l"(at)::"memory");
      }
      if (at != word) // never: but the clock below waits for the last value
        return;
      unsigned took = (mu_cycles() - start) / 5;
      least = took < least ? took : least;
    }
    cycles[smid() * CANDIDATES + i] = (unsigned short)least;
  }
}

static struct {
  char *memory;
  unsigned *lines, *failed;
  unsigned char *side;
  unsigned char line_side[CANDIDATES]; // to which side each line is nearer
  unsigned short *cycles;              // [multiprocessor][candidate]
  unsigned *where;                     // [block]: on which multiprocessor
  int pick;                            // which of the candidates the words lie in
  unsigned near_of[CANDIDATES / 2],
      far_of[CANDIDATES / 2]; // lines sorted by how much nearer they are to side 0
  struct timespec began;
} rig;

static double elapsed(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - rig.began.tv_sec) + 1e-9 * (double)(now.tv_nsec - rig.began.tv_nsec);
}

struct scored {
  double score;
  unsigned line;
};
static int by_score(const void *a, const void *b) {
  double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
  return (x > y) - (x < y);
}

// Which multiprocessors are near to which lines: two sides, found from one line's latencies, then refined.
static void find_sides(void) {
  unsigned short *cycles, *host = rig.cycles = (unsigned short *)calloc(SMS_MAX * CANDIDATES, 2);
  unsigned char side[SMS_MAX] = {0};
  static struct scored lines[CANDIDATES];
  CHECK(cudaMalloc(&cycles, SMS_MAX * CANDIDATES * 2));
  CHECK(cudaMemset(cycles, 0, SMS_MAX * CANDIDATES * 2));
  CHECK(cudaMemset(rig.memory, 0, MEMORY_BYTES));
  for (int i = 0; i < 2; i++)
    latencies<<<bench.sms, 1024, 32768>>>(rig.memory + FIRST_CANDIDATE * 128,
                                          cycles); // big blocks: one a multiprocessor
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host, cycles, SMS_MAX * CANDIDATES * 2, cudaMemcpyDeviceToHost));
  static double weight[CANDIDATES];
  weight[0] = 1;
  for (int turn = 0; turn < 4; turn++) {
    double place[SMS_MAX], sorted[SMS_MAX];
    int known = 0;
    for (int sm = 0; sm < bench.sms; sm++) {
      place[sm] = 0;
      for (int i = 0; i < CANDIDATES; i++)
        place[sm] += weight[i] * host[sm * CANDIDATES + i];
      if (host[sm * CANDIDATES])
        sorted[known++] = place[sm];
    }
    double middle = bench_median(sorted, known);
    double count[2] = {0};
    for (int sm = 0; sm < bench.sms; sm++) {
      side[sm] = place[sm] > middle;
      count[side[sm]] += host[sm * CANDIDATES] != 0;
    }
    for (int i = 0; i < CANDIDATES; i++) {
      double sum[2] = {0};
      for (int sm = 0; sm < bench.sms; sm++)
        sum[side[sm]] += host[sm * CANDIDATES + i];
      lines[i].score = sum[0] / count[0] - sum[1] / count[1]; // below 0: nearer to side 0
      lines[i].line = (unsigned)i;
      weight[i] = lines[i].score < 0 ? 1 : -1;
      rig.line_side[i] = lines[i].score > 0;
    }
  }
  int ones = 0, changes = 0;
  for (int i = 0; i < CANDIDATES; i++) {
    fprintf(bench.tsv, "line\t%d\t%.1f\n", i, lines[i].score);
    changes += i && rig.line_side[i] != rig.line_side[i - 1];
  }
  for (int sm = 0; sm < bench.sms; sm++) {
    fprintf(bench.tsv, "sm\t%d\t%d\t%u\t%u\t%u\t%u\n", sm, side[sm], host[sm * CANDIDATES],
            host[sm * CANDIDATES + 1], host[sm * CANDIDATES + 64], host[sm * CANDIDATES + 65]);
    ones += side[sm];
  }
  printf("sides: %d and %d multiprocessors; the side changes %d times in %d lines; the first 64: ",
         bench.sms - ones, ones, changes, CANDIDATES);
  for (int i = 0; i < 64; i++)
    putchar('0' + rig.line_side[i]);
  printf("; of the multiprocessors: ");
  for (int sm = 0; sm < bench.sms; sm++)
    putchar('0' + side[sm]);
  putchar('\n');
  qsort(lines, CANDIDATES, sizeof lines[0], by_score);
  for (int i = 0; i < CANDIDATES / 2; i++) {
    rig.near_of[i] = FIRST_CANDIDATE + lines[i].line;
    rig.far_of[i] = FIRST_CANDIDATE + lines[CANDIDATES - 1 - i].line;
  }
  printf("lines: %.0f, %.0f ... %.0f, %.0f cycles nearer to one side than to the other\n", lines[0].score,
         lines[CANDIDATES / 4].score, lines[CANDIDATES * 3 / 4].score, lines[CANDIDATES - 1].score);
  CHECK(cudaMemcpy(rig.side, side, sizeof side, cudaMemcpyHostToDevice));
  CHECK(cudaFree(cycles));
}

struct shape {
  unsigned blocks, groups, threads;
};

static __global__ void whereabouts(unsigned *where) {
  if (threadIdx.x == 0)
    where[blockIdx.x] = smid();
}

// The candidate that is nearest to (PICK_BEST) or farthest from (PICK_WORST) the multiprocessors of a group,
// of those that no group before it has.
enum { PICK_PLACE, PICK_BEST, PICK_WORST };
static unsigned pick_line(struct shape h, unsigned group) {
  static unsigned where[2112];
  static unsigned char taken[CANDIDATES];
  if (group == 0) {
    memset(taken, 0, sizeof taken);
    void *args[] = {&rig.where};
    CHECK(cudaLaunchCooperativeKernel((const void *)whereabouts, dim3(h.blocks * h.groups), dim3(h.threads),
                                      args, 0, 0));
    CHECK(cudaMemcpy(where, rig.where, h.blocks * h.groups * 4, cudaMemcpyDeviceToHost));
  }
  unsigned least = ~0u, best = 0;
  for (unsigned line = 0; line < CANDIDATES; line++) {
    unsigned sum = 0;
    for (unsigned i = 0; i < h.blocks; i++)
      sum += rig.cycles[where[group * h.blocks + i] * CANDIDATES + line];
    if (rig.pick == PICK_WORST)
      sum = ~sum;
    if (!taken[line] && sum < least)
      least = sum, best = line;
  }
  taken[best] = 1;
  return FIRST_CANDIDATE + best;
}

// Nanoseconds a barrier, or a negative number: it failed (-1), or it does not fit (-2).
static double measure(const void *kernel, struct shape shape, struct setup s, unsigned places, unsigned few,
                      unsigned many, unsigned shards, unsigned copies) {
  static unsigned lines[PLACES_MAX * LINES_MAX];
  double slopes[16];
  if (bench.tiny)
    places = 1;
  for (unsigned place = 0; place < places; place++) {
    double us[2];
    size_t slot = MU_SLOT_BYTES(shape.blocks) / 128, start = place * 37;
    for (unsigned group = 0; group < shape.groups; group++)
      for (unsigned i = 0; i < LINES_MAX; i++) {
        unsigned turn = group * shards + place * 11 + i % shards, *line = &lines[group * LINES_MAX + i];
        size_t base = start + group * slot + offsetof(mu_slot, counts) / 128, at = 0;
        if (rig.pick && copies == 1) {
          *line = (i ? *(line - 1) : pick_line(shape, group) - (s.near ? (unsigned)base : 0));
        } else if (s.near &&
                   i < 2) { // the group-th candidate that is nearer to side i, from the slot's counts
          for (unsigned left = group + 1; at < CANDIDATES; at++)
            if (rig.line_side[at] == i && --left == 0)
              break;
          *line = (unsigned)(FIRST_CANDIDATE + at - base);
        } else if (copies == 1) {
          *line = (unsigned)start * 4 + group * LINES_MAX + i;
        } else {
          *line = i < shards ? rig.near_of[turn % (CANDIDATES / 4)] : rig.far_of[turn % (CANDIDATES / 4)];
        }
      }
    CHECK(cudaMemcpy(rig.lines, lines, sizeof lines, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) {
      float ms;
      unsigned failed;
      s.rounds = (i ? many : few) / (bench.tiny ? 100 : 1);
      s.blocks = shape.blocks;
      s.memory = rig.memory;
      s.lines = rig.lines;
      s.side = rig.side;
      s.failed = rig.failed;
      s.workspace = rig.memory + start * 128;
      void *args[] = {&s};
      CHECK(cudaMemset(rig.memory, 0, MEMORY_BYTES));
      CHECK(cudaMemset(rig.failed, 0, 4));
      CHECK(cudaEventRecord(bench.start));
      cudaError_t error = cudaLaunchCooperativeKernel(kernel, dim3(shape.blocks * shape.groups),
                                                      dim3(shape.threads), args, 0, 0);
      if (error == cudaErrorCooperativeLaunchTooLarge) {
        (void)cudaGetLastError();
        return -2;
      }
      CHECK(error);
      CHECK(cudaEventRecord(bench.stop));
      CHECK(cudaEventSynchronize(bench.stop));
      CHECK(cudaEventElapsedTime(&ms, bench.start, bench.stop));
      CHECK(cudaMemcpy(&failed, rig.failed, 4, cudaMemcpyDeviceToHost));
      if (failed) {
        bench_must(0, "barriers", "a design", shape.blocks);
        return -1;
      }
      us[i] = 1e3 * ms;
    }
    slopes[place] = 1e3 * (us[1] - us[0]) / (many - few);
  }
  return bench_median(slopes, (int)places);
}

struct figure {
  double ns;
  char what[64];
};
static struct figure figures[FIGURES_MAX];

static int by_ns(const void *a, const void *b) {
  double x = ((const struct figure *)a)->ns, y = ((const struct figure *)b)->ns;
  return (x > y) - (x < y);
}

static double row(struct shape h, const char *what, unsigned pause, double ns, double grid) {
  fprintf(bench.tsv, "barrier\t%u\t%u\t%u\t%s\t%u\t%.1f\t%.3f\n", h.blocks, h.groups, h.threads, what, pause,
          ns, ns > 0 ? grid / ns : 0);
  return ns;
}

// How the library can be arranged.
static const struct arrangement {
  const char *name;
  unsigned shards, copies, near, choose;
} arrangements[] = {{"s1", 1, 1, 0, 0}, {"chosen", 1, 1, 0, 1}, {"near", 1, 2, 1, 0},  {"c2", 1, 2, 0, 0},
                    {"s2", 2, 1, 0, 0}, {"s2 c2", 2, 2, 0, 0},  {"s4 c2", 4, 2, 0, 0}, {"s4", 4, 1, 0, 0}};
enum { ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

static struct setup arranged(const struct arrangement *a, unsigned pause) {
  struct setup s = {};
  s.tuned = 1;
  s.shards = a->shards;
  s.copies = a->copies;
  s.near = a->near;
  s.choose = a->choose;
  s.pause = pause;
  return s;
}

// Two blocks of 1,024 threads a multiprocessor.
static int crowded(struct shape h) {
  return h.threads == 1024 && h.blocks * h.groups > (unsigned)bench.sms;
}
static const void *library_for(struct shape h) {
  return crowded(h) ? (const void *)library_lean : (const void *)library;
}

// Every design and arrangement with many pauses; prints the best, and measures the library's best as the
// others were.
static void sweep(struct shape h, double grid, unsigned pause_high, int seconds, int bare) {
  static const unsigned pauses[] = {0, 50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 800, 1000};
  int count = 0;
  const struct arrangement *best_arrangement = arrangements;
  unsigned best_pause = 0;
  double best_ns = 1e9;
  for (int v = bare ? 0 : RAW; v < RAW + ARRANGEMENTS; v++) {
    const struct variant *variant = v < RAW ? &raw[v] : NULL;
    const struct arrangement *a = variant ? NULL : &arrangements[v - RAW];
    unsigned shards = variant ? variant->shards : a->shards, copies = variant ? variant->copies : a->copies;
    char name[48];
    snprintf(name, sizeof name, "%s%s", variant ? "" : "library ", variant ? variant->name : a->name);
    if (shards > h.blocks || (variant && h.blocks > variant->most) ||
        (variant && copies > 1 && h.groups * shards > CANDIDATES / 4))
      continue;
    double best = 1e9;
    for (unsigned p = 0; p < sizeof pauses / sizeof *pauses && count < FIGURES_MAX; p++) {
      struct setup s = {};
      if (pauses[p] > pause_high || elapsed() > seconds)
        break;
      if (variant)
        s.pause = pauses[p];
      else
        s = arranged(a, pauses[p]);
      double ns = measure(variant ? variant->kernel : library_for(h), h, s, variant ? 2 : 4, 500, 2500,
                          shards, copies);
      row(h, name, pauses[p], ns, grid);
      if (ns < 0) {
        if (ns > -2)
          printf("  %s %u FAILED\n", name, pauses[p]);
        break;
      }
      figures[count].ns = ns;
      snprintf(figures[count++].what, sizeof figures[0].what, "%s %u", name, pauses[p]);
      if (!variant && !a->near && ns < best_ns) {
        best_ns = ns;
        best_arrangement = a;
        best_pause = pauses[p];
      }
      if (ns > best * 1.12)
        break; // pauses only get worse from here
      best = ns < best ? ns : best;
    }
  }
  qsort(figures, (size_t)count, sizeof figures[0], by_ns);
  printf("    ");
  for (int i = 0; i < count && i < 8; i++)
    printf(" %s %.0f (%.2f);", figures[i].what, figures[i].ns, grid / figures[i].ns);
  struct setup s = arranged(best_arrangement, best_pause);
  double again = row(h, "grid.sync again", 0, measure((const void *)grid_sync, h, s, 3, 2000, 6000, 1, 1), 0);
  double ours = measure(library_for(h), h, s, 8, 2000, 10000, s.shards, s.copies);
  double checked = measure((const void *)library_checked, h, s, 8, 2000, 10000, s.shards, s.copies);
  char name[64];
  snprintf(name, sizeof name, "best %s", best_arrangement->name);
  row(h, name, best_pause, ours, again);
  row(h, "best, checked", best_pause, checked, again);
  printf("\n     BEST %s %u: %.0f (%.2f), checked %.0f (%.2f), grid.sync %.0f\n", best_arrangement->name,
         best_pause, ours, again / ours, checked, again / checked, again);
}

// Few designs at many pauses, side by side: what each idea gains. Words where they happen to lie (median of
// three), and in the best and the worst line for the group.
static void probe(struct shape h) {
  static const unsigned pauses[] = {0, 50, 100, 150, 200, 300, 400};
  enum { PAUSES = sizeof pauses / sizeof *pauses };
  struct setup none = {};
  double grid = measure((const void *)grid_sync, h, none, 3, 500, 2500, 1, 1);
  rig.pick = PICK_BEST;
  pick_line(h, 0);
  unsigned where[16] = {0};
  CHECK(cudaMemcpy(where, rig.where, (h.blocks < 16 ? h.blocks : 16) * 4, cudaMemcpyDeviceToHost));
  printf("%u x %u / %u: grid.sync %.0f; multiprocessors", h.blocks, h.groups, h.threads, grid);
  for (unsigned i = 0; i < h.blocks && i < 16; i++)
    printf(" %u", where[i]);
  printf("\n%24s", "pause");
  for (unsigned p = 0; p < PAUSES; p++)
    printf(" %11u", pauses[p]);
  printf("\n");
  for (rig.pick = PICK_PLACE; rig.pick <= PICK_WORST; rig.pick++)
    for (unsigned v = 0; v < RAW + LIBRARIES; v++) {
      const struct variant *variant = v < RAW ? &raw[v] : &libraries[v - RAW];
      double best = 1e9;
      if (h.blocks > variant->most || variant->shards > h.blocks || variant->look_threads > h.threads ||
          (rig.pick && (variant->choose || variant->copies * variant->shards > 1)))
        continue;
      printf("%-16s %7s", variant->name,
             rig.pick == PICK_BEST    ? "best"
             : rig.pick == PICK_WORST ? "worst"
                                      : "");
      for (unsigned p = 0; p < PAUSES; p++) {
        struct setup s = {};
        s.pause = pauses[p];
        if (v >= RAW) {
          s.tuned = 1;
          s.shards = variant->shards;
          s.copies = variant->copies;
          s.near = rig.pick || variant->copies > 1;
          s.choose = variant->choose;
        }
        double ns =
            measure(variant->kernel, h, s, rig.pick ? 1 : 3, 500, 2500, variant->shards, variant->copies);
        row(h, variant->name, pauses[p] + 10000 * (unsigned)rig.pick, ns, grid);
        if (ns <= -2)
          break;
        printf(" %5.0f (%.2f)", ns, grid / ns);
        if (ns > best * 1.12)
          break; // longer pauses only get worse
        best = ns < best ? ns : best;
      }
      printf("\n");
    }
  rig.pick = PICK_PLACE;
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const struct shape shapes[] = {
      {2, 1, 128},   {4, 1, 128},   {8, 1, 128},    {16, 1, 128},  {32, 1, 128},  {64, 1, 128}, {132, 1, 128},
      {264, 1, 128}, {528, 1, 128}, {1056, 1, 128}, {2, 66, 128},  {4, 32, 128},  {8, 16, 128}, {16, 8, 128},
      {33, 4, 128},  {66, 2, 128},  {8, 33, 128},   {16, 33, 128}, {32, 33, 128}, {2, 1, 1024}, {8, 1, 1024},
      {16, 1, 1024}, {64, 1, 1024}, {132, 1, 1024}, {264, 1, 1024}};
  int sweeping = 0, skewing = 0, bare = 0, probing = 0, seconds = 150;
  unsigned only = 0;
  int ends = bench_open(argc, argv);
  if (ends)
    return ends;
  for (int i = 2; i < argc; i++) {
    sweeping |= !strcmp(argv[i], "sweep");
    probing |= !strcmp(argv[i], "probe");
    skewing |= !strcmp(argv[i], "skew");
    bare |= !strcmp(argv[i], "bare");
    if (!strncmp(argv[i], "blocks=", 7))
      only = (unsigned)atoi(argv[i] + 7);
    else if (atoi(argv[i]))
      seconds = atoi(argv[i]);
  }
  clock_gettime(CLOCK_MONOTONIC, &rig.began);
  fprintf(bench.tsv, "barrier\tblocks\tgroups\tthreads\twhat\tpause\tns\tratio\n");
  CHECK(cudaMalloc(&rig.memory, MEMORY_BYTES));
  CHECK(cudaMalloc(&rig.lines, PLACES_MAX * LINES_MAX * 4));
  CHECK(cudaMalloc(&rig.failed, 4));
  CHECK(cudaMalloc(&rig.side, SMS_MAX));
  CHECK(cudaMalloc(&rig.where, 2112 * 4));
  if (sweeping || probing)
    find_sides();
  if (probing) {
    static const struct shape probed[] = {
        {2, 1, 128},  {3, 1, 128},  {4, 1, 128},   {8, 1, 128},   {9, 1, 128},   {12, 1, 128},
        {16, 1, 128}, {64, 1, 128}, {132, 1, 128}, {264, 1, 128}, {528, 1, 128}, {2, 66, 128},
        {4, 32, 128}, {8, 16, 128}, {33, 4, 128},  {32, 33, 128}, {2, 1, 1024},  {8, 1, 1024}};
    for (const struct shape *h = probed; h < probed + sizeof probed / sizeof *probed && elapsed() < seconds;
         h++)
      if ((!only || h->blocks == only) && (!bench.tiny || h->blocks * h->groups * h->threads <= 5000))
        probe(*h);
    printf("%.0f s\n", elapsed());
    return bench_close();
  }

  unsigned n = sizeof shapes / sizeof *shapes;
  double grids[SHAPES_MAX];
  printf("%-15s %8s %8s %6s %8s\n", "blocks x groups", "grid.sync", "library", "ratio", "relaxed");
  for (unsigned i = 0; i < n; i++) {
    struct setup s = {};
    struct shape h = shapes[i];
    if ((only && h.blocks != only) || (bench.tiny && h.blocks * h.groups * h.threads > 5000))
      continue;
    double grid = grids[i] =
        row(h, "grid.sync", 0, measure((const void *)grid_sync, h, s, 5, 2000, 10000, 1, 1), 0);
    double ours = row(h, "library", 0, measure(library_for(h), h, s, 8, 2000, 10000, 1, 1), grid);
    const void *meets = crowded(h) ? (const void *)library_relaxed_lean : (const void *)library_relaxed;
    double relaxed = row(h, "library_relaxed", 0, measure(meets, h, s, 3, 2000, 6000, 1, 1), grid);
    printf("%4u x%3u /%4u %8.0f %8.0f %6.2f %8.0f\n", h.blocks, h.groups, h.threads, grid, ours, grid / ours,
           relaxed);
    fflush(stdout);
  }
  if (skewing)
    for (unsigned i = 0; i < n; i++) {
      struct shape h = shapes[i];
      if (h.threads != 128 || (only && h.blocks != only))
        continue;
      struct setup s = {};
      s.skew_ns = 10000;
      double grid =
          row(h, "skew grid.sync", 0, measure((const void *)grid_sync, h, s, 1, 200, 1000, 1, 1), 0);
      double ours = row(h, "skew library", 0, measure((const void *)library, h, s, 3, 200, 1000, 1, 1), grid);
      s.tuned = 1;
      s.shards = h.blocks > 400 ? 2 : 1;
      s.copies = 1;
      double bare =
          row(h, "skew no pause", 0, measure((const void *)library, h, s, 3, 200, 1000, 1, 1), grid);
      printf("skew %4u x%3u: grid.sync %.0f, library %.0f, without pause %.0f (%+.0f)\n", h.blocks, h.groups,
             grid, ours, bare, ours - bare);
      fflush(stdout);
    }
  if (sweeping)
    for (unsigned i = 0; i < n; i++) {
      struct shape h = shapes[i];
      if (only && h.blocks != only)
        continue;
      printf("%4u x%3u /%4u: grid.sync %.0f\n", h.blocks, h.groups, h.threads, grids[i]);
      sweep(h, grids[i], h.blocks * h.groups > 264 ? 1000 : 500, seconds, bare);
      fflush(stdout);
    }
  fprintf(bench.tsv, "seconds\t%.1f\n", elapsed());
  printf("%.0f s\n", elapsed());
  return bench_close();
}
