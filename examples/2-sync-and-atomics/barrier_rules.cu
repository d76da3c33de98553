// barrier_rules.cu: the two rules of __syncthreads (seed 001, section 2.3).
//
// Rule one: the barrier stands behind the branch, where every thread passes. Rule two: in a loop every thread
// makes the same number of rounds, also where the work per thread differs; here the block finds its maximum
// first. (The printed good form takes a constant, which must bound every list, and leaves the other barrier,
// before the tile is written again, to the reader.) Broken: barrier_in_branch.cu, barrier_in_loop.cu.
// Arguments: [N], the number of lists.
#include "../common/tour.h"

enum { BLOCK_MAX = 256 };

// Half of the threads work in the branch; all of them meet behind it.
TOUR_C __global__ void work_in_branch(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned pairs[(BLOCK_MAX + 1) / 2];
  int t = threadIdx.x, last = blockDim.x - 1, half = (blockDim.x + 1) / 2;
  const unsigned *mine = in + blockIdx.x * blockDim.x;
  unsigned sum = 0;

  for (int r = 0; r < rounds; r++) {
    if (t < half)
      pairs[t] = mine[t] * (r + 1) ^ mine[last - t];
    __syncthreads();
    sum = sum * 31 + pairs[half - 1 - t % half];
    __syncthreads(); // all have read before the next round writes
  }
  out[blockIdx.x * blockDim.x + t] = sum;
}

// Thread i walks list i, data[start[i]] to data[start[i + 1] - 1], and adds up what its neighbour holds.
TOUR_C __global__ void unequal_lists(const int *start, const unsigned *data, unsigned *out, int n) {
  __shared__ unsigned tile[BLOCK_MAX];
  __shared__ int longest;
  int t = threadIdx.x, threads = blockDim.x, i = blockIdx.x * blockDim.x + t;
  int first = i < n ? start[i] : 0;
  int length = i < n ? start[i + 1] - first : 0;

  tile[t] = 0;
  if (t == 0)
    longest = 0;
  __syncthreads();
  atomicMax(&longest, length);
  __syncthreads();

  int rounds = longest; // one number for the whole block
  unsigned sum = 0;
  for (int r = 0; r < rounds; r++) {
    if (r < length)
      tile[t] = data[first + r];
    __syncthreads();
    sum = sum * 31 + tile[(t + 1) % threads];
    __syncthreads();
  }
  if (i < n)
    out[i] = sum;
}

#ifdef TOUR_HOST

static void run_branch(int blocks, int block, int rounds) {
  int n = blocks * block, half = (block + 1) / 2;
  unsigned *in = (unsigned *)tour_host_alloc(n * sizeof *in);
  unsigned *out = (unsigned *)tour_host_alloc(n * sizeof *out);
  for (int i = 0; i < n; i++)
    in[i] = tour_hash(i);

  unsigned *device_in = (unsigned *)tour_upload(in, n * sizeof *in);
  unsigned *device_out = (unsigned *)tour_alloc(n * sizeof *out);
  work_in_branch<<<blocks, block>>>(device_in, device_out, rounds);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, n * sizeof *out);

  for (int i = 0; i < n; i++) {
    const unsigned *mine = in + i / block * block;
    int p = half - 1 - i % block % half;
    unsigned want = 0;
    for (int r = 0; r < rounds; r++)
      want = want * 31 + (mine[p] * (r + 1) ^ mine[block - 1 - p]);
    tour_expect_int("branch", i, out[i], want);
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  free(in);
  free(out);
}

// Lists of 0 to LONGEST elements.
static void run_lists(int n, int block, int longest) {
  int *start = (int *)tour_host_alloc((n + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < n; i++)
    start[i + 1] = start[i] + (int)(tour_hash(i) % (unsigned)(longest + 1));
  unsigned *data = (unsigned *)tour_host_alloc((start[n] + 1) * sizeof *data);
  for (int k = 0; k < start[n]; k++)
    data[k] = tour_hash(n + k);
  unsigned *out = (unsigned *)tour_host_alloc(n * sizeof *out);

  int *device_start = (int *)tour_upload(start, (n + 1) * sizeof *start);
  unsigned *device_data = (unsigned *)tour_upload(data, start[n] * sizeof *data);
  unsigned *device_out = (unsigned *)tour_alloc(n * sizeof *out);
  unequal_lists<<<(n + block - 1) / block, block>>>(device_start, device_data, device_out, n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, n * sizeof *out);

  for (int i = 0; i < n; i++) {
    int base = i / block * block, rounds = 0;
    for (int j = base; j < base + block && j < n; j++)
      if (start[j + 1] - start[j] > rounds)
        rounds = start[j + 1] - start[j];
    int next = base + (i - base + 1) % block;
    int length = next < n ? start[next + 1] - start[next] : 0;
    unsigned held = 0, want = 0;
    for (int r = 0; r < rounds; r++) {
      if (r < length)
        held = data[start[next] + r];
      want = want * 31 + held;
    }
    tour_expect_int("lists", i, out[i], want);
  }
  CHECK(cudaFree(device_start));
  CHECK(cudaFree(device_data));
  CHECK(cudaFree(device_out));
  free(start);
  free(data);
  free(out);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 2000, 1, 1000000);

  const int blocks[] = {1, 33, 97, BLOCK_MAX};
  for (int b = 0; b < 4; b++) {
    run_branch(3, blocks[b], 9);
    run_lists(1, blocks[b], 9);
    run_lists(2 * blocks[b] + 1, blocks[b], 9);
  }
  run_lists(BLOCK_MAX, BLOCK_MAX, 0); // nothing but empty lists: no round at all
  run_lists(n, BLOCK_MAX, 16);
  return tour_end("a branch before the barrier, and %d lists of unequal length", n);
}
#endif
