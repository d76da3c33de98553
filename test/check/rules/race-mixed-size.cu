// Two strong accesses are only safe from each other if they are to exactly the same bytes. Flags that are set
// one by one and polled as one word are not.
__device__ void set(int *flag) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__global__ void broken(int *m) {
  if (blockIdx.x < 2) {
    set(&m[blockIdx.x]);
  } else {
    long long both;
    do
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(m) : "memory");
    while (both != 0x100000001);
  }
}
__global__ void fixed(int *m) {
  if (blockIdx.x < 2) {
    set(&m[blockIdx.x]);
  } else {
    int one;
    for (int i = 0; i < 2; i++)
      do
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(one) : "l"(&m[i]) : "memory");
      while (one != 1);
  }
}
LAUNCH(3, 1)
