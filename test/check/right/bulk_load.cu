// nvcc: -arch=sm_90
// options: --gpu h200
// A bulk copy into shared memory that ends at a barrier object: whoever has seen its phase end may read. A
// bulk copy out again, behind the proxy fence of those who wrote.
#include "../check.h"

enum { THREADS = 64, BYTES = THREADS * 4 };

__device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void through(const unsigned *in, unsigned *out) {
  __shared__ alignas(128) unsigned tile[THREADS];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned t = threadIdx.x, bar = shared_address(&barrier), to = shared_address(tile), done;
  if (t == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                 "fence.proxy.async.shared::cta;" ::"r"(bar)
                 : "memory");
  __syncthreads();
  if (t == 0)
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n\t"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%2], [%3], %1, [%0];" ::"r"(bar),
        "r"(BYTES), "r"(to), "l"(in)
        : "memory");
  do
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(bar)
                 : "memory");
  while (!done);
  unsigned value = tile[THREADS - 1 - t];
  __syncthreads();
  tile[t] = 2 * value;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;\n\t"
                 "cp.async.bulk.wait_group 0;" ::"l"(out),
                 "r"(to), "r"(BYTES)
                 : "memory");
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  through<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 2 * THREADS);
}
