// broken: missing-proxy-fence
// nvcc: -arch=sm_90
// options: --gpu h200
// Threads fill a tile, meet, and one of them has it copied out in bulk. The copy reads through the
// asynchronous proxy, for which the block barrier is not enough. (deepseek-ai/DeepEP#642,
// sgl-project/sglang#39124, NVIDIA/TransformerEngine#2695)
#include "../check.h"

enum { THREADS = 128, BYTES = THREADS * 4 };

template <bool fixed> __global__ void store(const unsigned *in, unsigned *out) {
  __shared__ alignas(128) unsigned tile[THREADS];
  unsigned t = threadIdx.x;
  tile[t] = in[t];
  if (fixed)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    unsigned from = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;\n\t"
                 "cp.async.bulk.wait_group 0;" ::"l"(out),
                 "r"(from), "r"(BYTES)
                 : "memory");
  }
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? store<true> : store<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 100) == 101);
}
