// fences.cu: the three fences, each between the partners its scope is for (seed 001, sections 4.1 and 4.2):
// two warps of a block; two blocks; GPU and CPU, and a second GPU if there is one that reaches the first.
//
// A fence is half of a bargain: the sender writes, fences and raises a number; the receiver sees the number,
// fences and reads. The printed text has the sender's fence only; without the receiver's the reading may
// still come first. One slot carries every message, so the receiver answers in the same way. Waits are
// bounded: a message that never comes leaves poison in the output.
// Arguments: [ROUNDS].
#include "../common/tour.h"

enum { WORDS = 4, WARP = 32, POLLS_MAX = 1 << 22 };
enum scope { BLOCK_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE };

// Payload and counters lie on lines of their own: only the fences tie them together.
typedef struct {
  unsigned words[32];     // plain data
  volatile unsigned sent; // messages written so far
  unsigned pad1[31];
  volatile unsigned taken; // messages read so far
  unsigned pad2[31];
} channel;

static __device__ __forceinline__ void fence(enum scope scope) {
  if (scope == BLOCK_SCOPE)
    __threadfence_block();
  else if (scope == DEVICE_SCOPE)
    __threadfence();
  else
    __threadfence_system();
}

static __device__ __forceinline__ bool reaches(const volatile unsigned *counter, unsigned value) {
  for (int polls = 0; polls < POLLS_MAX; polls++)
    if (*counter == value)
      return true;
  return false;
}

static __device__ __forceinline__ void send(channel *c, const unsigned *from, int rounds, enum scope scope) {
  for (int r = 0; r < rounds; r++) {
    if (!reaches(&c->taken, r))
      return;
    fence(scope); // the last message was read before this one is written
    for (int w = 0; w < WORDS; w++)
      c->words[w] = from[r * WORDS + w];
    fence(scope); // the words come before the number
    c->sent = r + 1;
  }
}

static __device__ __forceinline__ void receive(channel *c, unsigned *to, int rounds, enum scope scope) {
  for (int r = 0; r < rounds; r++) {
    if (!reaches(&c->sent, r + 1))
      return;
    fence(scope); // the number comes before the words
    for (int w = 0; w < WORDS; w++)
      to[r * WORDS + w] = c->words[w];
    fence(scope); // the words were read before the slot is free
    c->taken = r + 1;
  }
}

TOUR_C __global__ void between_warps(channel *c, const unsigned *from, unsigned *to, int rounds) {
  if (threadIdx.x == 0)
    send(c, from, rounds, BLOCK_SCOPE);
  if (threadIdx.x == WARP)
    receive(c, to, rounds, BLOCK_SCOPE);
}

TOUR_C __global__ void between_blocks(channel *c, const unsigned *from, unsigned *to, int rounds) {
  if (blockIdx.x == 0)
    send(c, from, rounds, DEVICE_SCOPE);
  else
    receive(c, to, rounds, DEVICE_SCOPE);
}

TOUR_C __global__ void send_outside(channel *c, const unsigned *from, int rounds) {
  send(c, from, rounds, SYSTEM_SCOPE);
}

TOUR_C __global__ void receive_outside(channel *c, unsigned *to, int rounds) {
  receive(c, to, rounds, SYSTEM_SCOPE);
}

// What a fence costs: one thread, one step after the other. The loop's end hangs on the value, which stays 0,
// so that a load is over before the next step begins; stores go to the word beside it.
#define TIMED(name, step)                                                  \
  TOUR_C __global__ void name(unsigned *word, unsigned *out, int rounds) { \
    unsigned value = *word;                                                \
    for (int r = 0; r < rounds && value == 0; r++) {                       \
      step;                                                                \
    }                                                                      \
    *out = value;                                                          \
  }
TIMED(store_alone, *(volatile unsigned *)(word + 1) = r)
TIMED(store_block, word[1] = r; __threadfence_block())
TIMED(store_device, word[1] = r; __threadfence())
TIMED(store_system, word[1] = r; __threadfence_system())
TIMED(block_alone, __threadfence_block())
TIMED(device_alone, __threadfence())
TIMED(block_load, __threadfence_block(); value = *word)
TIMED(device_load, __threadfence(); value = *word)

#ifdef TOUR_HOST

// The CPU's half of the bargain.
static int host_reaches(const volatile unsigned *counter, unsigned value) {
  double start = tour_seconds(), waited;
  while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) != value) {
    waited = tour_seconds() - start;
    if (waited > tour_deadline())
      return 0;
    tour_wait(waited);
  }
  return 1;
}

static void host_send(channel *c, const unsigned *from, int rounds) {
  for (int r = 0; r < rounds; r++) {
    if (!host_reaches(&c->taken, r))
      return;
    memcpy(c->words, from + r * WORDS, WORDS * sizeof *from);
    __atomic_store_n(&c->sent, (unsigned)r + 1, __ATOMIC_RELEASE);
  }
}

static void host_receive(channel *c, unsigned *to, int rounds) {
  for (int r = 0; r < rounds; r++) {
    if (!host_reaches(&c->sent, r + 1))
      return;
    memcpy(to + r * WORDS, c->words, WORDS * sizeof *to);
    __atomic_store_n(&c->taken, (unsigned)r + 1, __ATOMIC_RELEASE);
  }
}

static void verify(const char *what, const unsigned *got, const unsigned *want, int rounds) {
  for (int i = 0; i < rounds * WORDS; i++)
    tour_expect_int(what, i, got[i], want[i]);
}

static void verify_device(const char *what, unsigned *device_to, const unsigned *want, int rounds) {
  size_t bytes = (size_t)rounds * WORDS * sizeof *want;
  unsigned *got = (unsigned *)tour_host_alloc(bytes);
  tour_download(got, device_to, bytes);
  verify(what, got, want, rounds);
  CHECK(cudaMemset(device_to, 0xA5, bytes));
  free(got);
}

// Pinned memory that both sides see.
static void with_cpu(const unsigned *from, unsigned *device_from, unsigned *device_to, int rounds) {
  size_t bytes = (size_t)rounds * WORDS * sizeof *from;
  unsigned *to = (unsigned *)tour_host_alloc(bytes);
  channel *c, *device_c;
  CHECK(cudaHostAlloc((void **)&c, sizeof *c, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void **)&device_c, c, 0));

  memset((void *)c, 0, sizeof *c);
  memset(to, 0xA5, bytes);
  send_outside<<<1, 1>>>(device_c, device_from, rounds);
  CHECK(cudaGetLastError());
  host_receive(c, to, rounds);
  tour_sync();
  verify("GPU to CPU", to, from, rounds);

  memset((void *)c, 0, sizeof *c);
  receive_outside<<<1, 1>>>(device_c, device_to, rounds);
  CHECK(cudaGetLastError());
  host_send(c, from, rounds);
  tour_sync();
  verify_device("CPU to GPU", device_to, from, rounds);

  CHECK(cudaFreeHost(c));
  free(to);
}

// The channel and both arrays lie on GPU 0; GPU 1 receives. Both kernels are loaded before either waits.
static int with_second_gpu(const unsigned *from, unsigned *device_from, unsigned *device_to, int rounds) {
  int count, reaches_first = 0;
  CHECK(cudaGetDeviceCount(&count));
  if (count > 1)
    CHECK(cudaDeviceCanAccessPeer(&reaches_first, 1, 0));
  if (!reaches_first)
    return 0;

  struct cudaFuncAttributes loaded;
  channel *c = (channel *)tour_zeroed(sizeof *c);
  CHECK(cudaFuncGetAttributes(&loaded, (const void *)send_outside));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaFuncGetAttributes(&loaded, (const void *)receive_outside));
  receive_outside<<<1, 1>>>(c, device_to, rounds);
  CHECK(cudaGetLastError());
  CHECK(cudaSetDevice(0));
  send_outside<<<1, 1>>>(c, device_from, rounds);
  CHECK(cudaGetLastError());
  tour_sync();
  CHECK(cudaSetDevice(1));
  tour_sync();
  CHECK(cudaSetDevice(0));
  verify_device("GPU to GPU", device_to, from, rounds);
  CHECK(cudaFree(c));
  return 1;
}

typedef void timed_kernel(unsigned *, unsigned *, int);
struct timed {
  timed_kernel *kernel;
  unsigned *word, *out;
  int rounds;
};

static void launch_timed(void *context) {
  const struct timed *t = (const struct timed *)context;
  t->kernel<<<1, 1>>>(t->word, t->out, t->rounds);
}

// Nanoseconds for one more step: the slope between two counts.
static double step_ns(timed_kernel *kernel) {
  struct timed few = {kernel, (unsigned *)tour_zeroed(256), (unsigned *)tour_zeroed(256), 2000};
  struct timed many = few;
  many.rounds = 10000;
  double us = tour_time_us(launch_timed, &many, 15) - tour_time_us(launch_timed, &few, 15);
  CHECK(cudaFree(few.word));
  CHECK(cudaFree(few.out));
  return 1e3 * us / (many.rounds - few.rounds);
}

static void measure(void) {
  tour_figure("fence.store_ns", step_ns(store_alone), "ns");
  tour_figure("fence.block_ns", step_ns(store_block), "ns");
  tour_figure("fence.device_ns", step_ns(store_device), "ns");
  tour_figure("fence.system_ns", step_ns(store_system), "ns");
  tour_figure("fence.load_after_block_ns", step_ns(block_load) - step_ns(block_alone), "ns");
  tour_figure("fence.load_after_device_ns", step_ns(device_load) - step_ns(device_alone), "ns");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  int rounds = (int)tour_arg(0, 200, 1, 10000);
  size_t bytes = (size_t)rounds * WORDS * sizeof(unsigned);
  unsigned *from = (unsigned *)tour_host_alloc(bytes);
  for (int i = 0; i < rounds * WORDS; i++)
    from[i] = tour_hash(i);
  unsigned *device_from = (unsigned *)tour_upload(from, bytes), *device_to = (unsigned *)tour_alloc(bytes);
  channel *c = (channel *)tour_zeroed(2 * sizeof *c), *second = c + 1;

  between_warps<<<1, 2 * WARP>>>(c, device_from, device_to, rounds);
  CHECK(cudaGetLastError());
  tour_sync();
  verify_device("warp to warp", device_to, from, rounds);

  // A cooperative launch: the two blocks wait for each other, so both must be resident.
  void *arguments[] = {&second, &device_from, &device_to, &rounds};
  CHECK(cudaLaunchCooperativeKernel((const void *)between_blocks, dim3(2), dim3(1), arguments, 0, 0));
  tour_sync();
  verify_device("block to block", device_to, from, rounds);

  with_cpu(from, device_from, device_to, rounds);
  int two = with_second_gpu(from, device_from, device_to, rounds);

  if (tour.timing)
    measure();
  CHECK(cudaFree(device_from));
  CHECK(cudaFree(device_to));
  CHECK(cudaFree(c));
  free(from);
  return tour_end("%d messages each: warp to warp, block to block, GPU and CPU both ways, %s", rounds,
                  two ? "GPU to GPU" : "one GPU: skipped GPU to GPU");
}
#endif
