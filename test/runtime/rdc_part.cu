// The other object of rdc_main.cu.
__device__ int shared_variable = 1;
__constant__ int shared_constant[4];
static __device__ int same_name = 200;
__device__ int back_call(int n);

__device__ __noinline__ int twice(int n) {
  return 2 * n;
}
__global__ void other(int *out) {
  out[0] = back_call(5);
  out[1] = same_name;
}
