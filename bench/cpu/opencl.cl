// opencl.cl: kernels.cu's three memory-bound kernels for PoCL, work for work.
__kernel void vector_add(__global float *sum, __global const float *a, __global const float *b, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum[i] = a[i] + b[i];
}

__kernel void dot_product(__global float *parts, __global const float *a, __global const float *b, int n) {
  __local float cache[256];
  int me = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum += a[i] * b[i];
  cache[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step; step /= 2) {
    if (me < step)
      cache[me] += cache[me + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0)
    parts[get_group_id(0)] = cache[0];
}

__kernel void histogram(__global uint *bins, __global const uchar *items, int n) {
  __local uint own[256];
  int me = get_local_id(0);
  own[me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_add(&own[items[i]], 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[me], own[me]);
}
