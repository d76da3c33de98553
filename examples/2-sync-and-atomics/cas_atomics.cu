// cas_atomics: seed 001, section 5.4: atomicCAS makes every other atomic operation. Here it makes the ten of
// the seed's table, two that no GPU has (multiply, saturating add), the maximum of floats, the addition of
// doubles and of single bytes. The printed loop reads the word first with a plain load, a race
// (broken/cas_plain_read.cu); it compares bits, which is right: by values a NaN never ends
// (broken/cas_compare_values.cu). --time: what the loop costs against the native atomic.
// usage: cas_atomics [N]  N threads on each word
#include "../common/tour.h"

typedef unsigned long long u64;

// ROW(name, what is left of old and value)
#define NATIVE(ROW)                    \
  ROW(Add, old + value)                \
  ROW(Sub, old - value)                \
  ROW(Min, value < old ? value : old)  \
  ROW(Max, value > old ? value : old)  \
  ROW(Exch, value)                     \
  ROW(And, old &value)                 \
  ROW(Or, old | value)                 \
  ROW(Xor, old ^ value)                \
  ROW(Inc, old >= value ? 0 : old + 1) \
  ROW(Dec, old == 0 || old > value ? value : old - 1)
#define NEW(ROW)            \
  ROW(Multiply, old *value) \
  ROW(AddSaturated, old + value < old ? ~0u : old + value)

// The one loop: what I read last is what I assume; if it is still there, my result replaces it.
#define MAKE(name, result)                                                  \
  static __device__ unsigned cas##name(unsigned *address, unsigned value) { \
    unsigned old, seen = *(volatile unsigned *)address;                     \
    do {                                                                    \
      old = seen;                                                           \
      seen = atomicCAS(address, old, (result));                             \
    } while (seen != old);                                                  \
    return old;                                                             \
  }
NATIVE(MAKE)
NEW(MAKE)

// Bits are compared, so a NaN ends as any number does. TRIES counts the exchanges.
static __device__ double cas_add_f64(double *address, double value, unsigned *tries) {
  u64 *bits = (u64 *)address, old, seen = *(volatile u64 *)bits;
  do {
    old = seen;
    double sum = __longlong_as_double((long long)old) + value;
    seen = atomicCAS(bits, old, (u64)__double_as_longlong(sum));
    ++*tries;
  } while (seen != old);
  return __longlong_as_double((long long)old);
}

// No exchange when nothing would change: most calls of a maximum end at the first read.
static __device__ void cas_max_f32(float *address, float value) {
  unsigned *bits = (unsigned *)address, old, seen = *(volatile unsigned *)bits;
  do {
    old = seen;
    if (!(value > __uint_as_float(old)))
      return;
    seen = atomicCAS(bits, old, __float_as_uint(value));
  } while (seen != old);
}

// A byte by the word around it; the neighbours keep their values since the whole word is compared.
static __device__ void cas_add_u8(unsigned char *address, unsigned value) {
  unsigned *word = (unsigned *)((size_t)address & ~(size_t)3), shift = 8 * ((size_t)address & 3);
  unsigned old, seen = *(volatile unsigned *)word;
  do {
    old = seen;
    unsigned byte = ((old >> shift) + value) & 0xff;
    seen = atomicCAS(word, old, (old & ~(0xffu << shift)) | byte << shift);
  } while (seen != old);
}

#define NAME(name, result) name,
enum { NATIVE(NAME) NEW(NAME) COUNT, NATIVE_COUNT = Multiply };
enum { LIMIT = 6, BLOCK = 96, BYTES = 8 };

// What thread I gives to operation OP: one limit for Inc and Dec, whose order would matter, odd factors,
// whose product never becomes 0.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline unsigned
    operand(int op, unsigned i) {
  unsigned hash = tour_hash(i);
  switch (op) {
  case Inc:
  case Dec:
    return LIMIT;
  case And:
    return hash | 0xa53c96e1u;
  case Or:
    return hash & 0xa53c96e1u;
  case Multiply:
    return hash | 1u;
  case AddSaturated:
    return hash >> 6;
  default:
    return hash;
  }
}

// made[op] by atomicCAS, native[op] by the atomic itself: the same in the end.
TOUR_C __global__ void integers(unsigned *made, unsigned *native, unsigned *old, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
#define CALL_MADE(name, result) old[name * n + i] = cas##name(&made[name], operand(name, (unsigned)i));
#define CALL_NATIVE(name, result) atomic##name(&native[name], operand(name, (unsigned)i));
  NATIVE(CALL_MADE)
  NEW(CALL_MADE)
  NATIVE(CALL_NATIVE)
}

// sum[0] is a number, sum[1] a NaN from the beginning.
TOUR_C __global__ void others(double *sum, double *old, float *max, unsigned char *byte, const int *value,
                              int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  unsigned tries = 0;
  old[i] = cas_add_f64(&sum[0], value[i], &tries);
  cas_add_f64(&sum[1], value[i], &tries);
  cas_max_f32(max, (float)value[i]);
  cas_add_u8(&byte[i % BYTES], (unsigned)value[i]);
}

// For --time: KEEP chooses the word: ~0 a word for each thread, 0 one word for all.
TOUR_C __global__ void add_made(double *cell, unsigned keep, int rounds, unsigned *tries) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (int round = 0; round < rounds; round++)
    cas_add_f64(&cell[i & keep], 1 + (i & 3), &mine);
  tries[i] = mine;
}

TOUR_C __global__ void add_native(double *cell, unsigned keep, int rounds) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; round++)
    atomicAdd(&cell[i & keep], (double)(1 + (i & 3)));
}

#ifdef TOUR_HOST
static unsigned serially(int op, unsigned old, unsigned value) {
#define CASE(name, result) \
  case name:               \
    return (result);
  switch (op) {
    NATIVE(CASE)
    NEW(CASE)
  }
  return 0;
}

// How many of the ten are what the native atomic is.
static int verify_integers(int n) {
#define STRING(name, result) #name,
  static const char *names[] = {NATIVE(STRING) NEW(STRING)};
  unsigned first[COUNT], made[COUNT], native[COUNT];
  for (int op = 0; op < COUNT; op++)
    first[op] = op == And ? ~0u : op == Or ? 0 : op == Inc || op == Dec ? LIMIT + 3 : 12345;
  unsigned *made_d = (unsigned *)tour_upload(first, sizeof first);
  unsigned *native_d = (unsigned *)tour_upload(first, sizeof first);
  size_t bytes = COUNT * (size_t)n * sizeof(unsigned);
  unsigned *old_d = (unsigned *)tour_alloc(bytes), *old = (unsigned *)tour_host_alloc(bytes);
  integers<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(made_d, native_d, old_d, n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(made, made_d, sizeof made);
  tour_download(native, native_d, sizeof native);
  tour_download(old, old_d, bytes);

  // The end against a serial run and the native atomic; and whoever came found what another had left: the
  // values found, with the last one, are the values left, with the first one.
  u64 *found = (u64 *)tour_host_alloc(((size_t)n + 1) * sizeof *found);
  u64 *left = (u64 *)tour_host_alloc(((size_t)n + 1) * sizeof *left);
  int same = 0;
  for (int op = 0; op < COUNT; op++) {
    unsigned serial = first[op];
    for (int i = 0; i < n; i++) {
      unsigned value = operand(op, (unsigned)i);
      serial = serially(op, serial, value);
      found[i] = old[op * n + i];
      left[i] = serially(op, old[op * n + i], value);
    }
    found[n] = made[op];
    left[n] = first[op];
    int right = tour_expect_same_set(names[op], found, left, n + 1);
    if (op != Exch) // which of the values stays last is nobody's decision
      right &= tour_expect_int(names[op], 0, made[op], serial);
    if (op != Exch && op < NATIVE_COUNT)
      right &= tour_expect_int(names[op], 1, native[op], serial);
    same += right && op < NATIVE_COUNT;
  }
  free(found);
  free(left);
  free(old);
  return same;
}

static void verify_others(int n) {
  size_t count = (size_t)n;
  int *value = (int *)tour_host_alloc(count * sizeof *value);
  double sum[2] = {0.5, nan("")}, want = sum[0];
  float max = -5000, want_max = max;
  unsigned char byte[BYTES], want_byte[BYTES];
  for (int i = 0; i < BYTES; i++)
    byte[i] = want_byte[i] = (unsigned char)(200 + i);
  for (int i = 0; i < n; i++) {
    value[i] = (int)(tour_hash((unsigned)i) % 2001) - 1000;
    want += value[i];
    want_max = (float)value[i] > want_max ? (float)value[i] : want_max;
    want_byte[i % BYTES] = (unsigned char)(want_byte[i % BYTES] + value[i]);
  }
  double *sum_d = (double *)tour_upload(sum, sizeof sum), first = sum[0];
  float *max_d = (float *)tour_upload(&max, sizeof max);
  unsigned char *byte_d = (unsigned char *)tour_upload(byte, sizeof byte);
  double *old_d = (double *)tour_alloc(count * sizeof *old_d);
  others<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(sum_d, old_d, max_d, byte_d,
                                             (int *)tour_upload(value, count * sizeof *value), n);
  CHECK(cudaGetLastError());
  tour_sync();
  double *old = (double *)tour_host_alloc(count * sizeof *old);
  tour_download(sum, sum_d, sizeof sum);
  tour_download(&max, max_d, sizeof max);
  tour_download(byte, byte_d, sizeof byte);
  tour_download(old, old_d, count * sizeof *old);

  u64 *found = (u64 *)tour_host_alloc((count + 1) * sizeof *found);
  u64 *left = (u64 *)tour_host_alloc((count + 1) * sizeof *left);
  for (int i = 0; i <= n; i++) {
    double was = i < n ? old[i] : sum[0], leaves = i < n ? old[i] + value[i] : first;
    memcpy(&found[i], &was, sizeof was);
    memcpy(&left[i], &leaves, sizeof leaves);
  }
  tour_expect_same_set("double add", found, left, n + 1);
  tour_expect_near("double add", 0, sum[0], want, 0);
  tour_expect(sum[1] != sum[1], "the NaN became %g", sum[1]);
  tour_expect_near("float maximum", 0, max, want_max, 0);
  for (int i = 0; i < BYTES; i++)
    tour_expect_int("byte add", i, byte[i], want_byte[i]);
}

struct run {
  int native, threads, rounds;
  unsigned keep, *tries;
  double *cell;
};

static void launch(void *context) {
  struct run *run = (struct run *)context;
  if (run->native)
    add_native<<<run->threads / 128, 128>>>(run->cell, run->keep, run->rounds);
  else
    add_made<<<run->threads / 128, 128>>>(run->cell, run->keep, run->rounds, run->tries);
}

// Microseconds for one addition by each of the threads: slope between two numbers of rounds.
static double round_us(int native, int threads, unsigned keep, int rounds, struct run run) {
  run.native = native, run.threads = threads, run.keep = keep, run.rounds = rounds;
  double few = tour_time_us(launch, &run, 15);
  run.rounds = 3 * rounds;
  return (tour_time_us(launch, &run, 15) - few) / (2 * rounds);
}

static void measure(void) {
  enum { CONTENDERS = 4096 };
  int all = tour.device.multiProcessorCount * 2048;
  struct run run = {0,
                    CONTENDERS,
                    1,
                    0,
                    (unsigned *)tour_alloc((size_t)all * sizeof(unsigned)),
                    (double *)tour_zeroed((size_t)all * sizeof(double))};
  double made = round_us(0, CONTENDERS, 0, 1, run), native = round_us(1, CONTENDERS, 0, 16, run);
  tour_figure("cas.add_f64_us", made, "us");
  tour_figure("cas.native_f64_us", native, "us");
  tour_figure("cas.contended_ratio", made / native, "x");

  static unsigned tries[CONTENDERS];
  double sum = 0;
  launch(&run);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(tries, run.tries, sizeof tries);
  for (int i = 0; i < CONTENDERS; i++)
    sum += tries[i];
  tour_figure("cas.tries", sum / CONTENDERS, "exchanges");

  made = round_us(0, all, ~0u, 32, run);
  native = round_us(1, all, ~0u, 64, run);
  tour_figure("cas.spread_add_f64_us", made, "us");
  tour_figure("cas.spread_native_f64_us", native, "us");
  tour_figure("cas.spread_ratio", made / native, "x");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 300, 1, 5000);
  int same = verify_integers(n);
  verify_others(n);
  if (tour.timing) {
    tour_figure("cas.others_made", same, "operations");
    measure();
  }
  return tour_end("%d operations made of atomicCAS, %d of them against the native ones, %d threads",
                  COUNT + 3, NATIVE_COUNT, n);
}
#endif
