// memory.cu: accesses to memory that is none, values that nobody wrote, errors and allocations that nobody
// asked for again; and what looks like it and is right. memory.txt says what is to be found of each.
#include <cstring>

#include "../../run/run.h"

struct padded {
  char letter;
  int number;
};
struct fields {
  unsigned low : 4, middle : 12, high : 16;
};

__device__ int sink;
__constant__ int table[4] = {1, 2, 3, 4};

__global__ void read_at(const int *p, long i) {
  sink = p[i];
}
__global__ void write_at(int *p, long i) {
  p[i] = 1;
}
__global__ void add_at(int *p, long i) {
  atomicAdd(p + i, 1);
}
__global__ void wide_at(const char *p, long i) {
  sink = (int)*(const volatile double *)(p + i);
}
__global__ void shared_at(long i) {
  __shared__ int first[4], second[4];
  first[threadIdx.x] = second[threadIdx.x] = 1;
  sink = ((volatile int *)second)[i] + first[0];
}
__global__ void constant_at(long i) {
  sink = ((const volatile int *)table)[i];
}
__global__ void branch_on(const int *p) {
  if (p[threadIdx.x] == 7)
    sink = 1;
}
__global__ void index_by(const int *p, int *q) {
  q[p[threadIdx.x] & 31] = 1;
}
__global__ void pass_on(const int *p, int *q) {
  q[threadIdx.x] = p[threadIdx.x] + 1;
}
__global__ void local_value(int *q, int n) {
  int own[8];
  for (int i = 0; i < n; i++)
    own[i] = i;
  q[threadIdx.x] = own[threadIdx.x & 7];
}
__global__ void copy_padded(padded *q) {
  __shared__ padded s[32];
  s[threadIdx.x].letter = 'a';
  s[threadIdx.x].number = 7;
  __syncthreads();
  q[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void set_fields(fields *q) {
  q[threadIdx.x].low = 5;
  q[threadIdx.x].high = 3;
  if (q[threadIdx.x].low == 5 && q[threadIdx.x].high == 3)
    sink = 1;
}
__global__ void halo(const float *p, float *q, int n) {
  __shared__ float s[34];
  int i = threadIdx.x;
  s[i + 1] = p[i];
  __syncthreads();
  float left = s[i], right = s[i + 2];
  q[i] = (i > 0 ? left : 0) + (i < n - 1 ? right : 0);
}
__global__ void heap_block(int late) {
  int *p = (int *)malloc(40);
  if (!late)
    p[10] = 1;
  free(p);
  if (late)
    p[1] = 1;
}
__global__ void nothing() {}
__global__ void stop() {
  __trap();
}

template <typename type> static type *fresh(size_t count) {
  type *p;
  CHECK(cudaMalloc(&p, count * sizeof *p));
  return p;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  auto is = [&](const char *name) { return !strcmp(what, name); };
  int *p = fresh<int>(1000), *q = fresh<int>(64), *host = (int *)calloc(1000, sizeof *host);
  CHECK(cudaMemset(q, 0, 64 * sizeof *q));
  bool leaks = false;

  if (is("behind"))
    write_at<<<1, 1>>>(p, 1000);
  else if (is("far_behind"))
    write_at<<<1, 1>>>(p, 1063);
  else if (is("before"))
    read_at<<<1, 1>>>(p, -2);
  else if (is("across"))
    wide_at<<<1, 1>>>((char *)p, 4000);
  else if (is("half_across")) {
    char *odd = fresh<char>(12);
    CHECK(cudaMemset(odd, 0, 12));
    wide_at<<<1, 1>>>(odd, 8);
    CHECK(cudaFree(odd));
  } else if (is("atomic"))
    add_at<<<1, 1>>>(q, 64);
  else if (is("null"))
    read_at<<<1, 1>>>(nullptr, 10);
  else if (is("host_pointer"))
    read_at<<<1, 1>>>(host, 0);
  else if (is("freed")) {
    int *gone = fresh<int>(100);
    CHECK(cudaFree(gone));
    write_at<<<1, 1>>>(gone, 3);
  } else if (is("misaligned"))
    wide_at<<<1, 1>>>((char *)q, 4);
  else if (is("shared"))
    shared_at<<<1, 1>>>(100);
  else if (is("constant"))
    constant_at<<<1, 1>>>(4);
  else if (is("heap_behind"))
    heap_block<<<1, 1>>>(0);
  else if (is("heap_freed"))
    heap_block<<<1, 1>>>(1);
  else if (is("branch"))
    branch_on<<<1, 32>>>(p);
  else if (is("address"))
    index_by<<<1, 32>>>(p, q);
  else if (is("atomic_on"))
    add_at<<<1, 1>>>(p, 0);
  else if (is("passed_on")) { // through a kernel and a copy to the branch
    int *r = fresh<int>(32);
    pass_on<<<1, 32>>>(p, q);
    CHECK(cudaMemcpy(r, q, 32 * sizeof *r, cudaMemcpyDeviceToDevice));
    branch_on<<<1, 32>>>(r);
    CHECK(cudaFree(r));
  } else if (is("local"))
    local_value<<<1, 32>>>(q, 4);
  else if (is("leak"))
    leaks = true;
  else if (is("refused_launch")) {
    nothing<<<1, 4096>>>();
    CHECK(cudaMemcpy(host, q, 4, cudaMemcpyDeviceToHost));
  } else if (is("refused_at_end")) {
    nothing<<<1, 4096>>>();
  } else if (is("refused_and_seen")) {
    nothing<<<1, 4096>>>();
    EXPECT(cudaGetLastError() != cudaSuccess);
    CHECK(cudaMemcpy(host, q, 4, cudaMemcpyDeviceToHost));
  } else if (is("trap")) {
    stop<<<1, 1>>>();
    cudaDeviceSynchronize();
    nothing<<<1, 1>>>();
    return 0;
  } else if (is("trap_seen")) {
    stop<<<1, 1>>>();
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
    return 0;
  } else if (is("error")) {
    cudaMemcpy(host, q, 65 * sizeof *q, cudaMemcpyDeviceToHost);
  } else if (is("right")) {
    CHECK(cudaMemset(p, 0, 1000 * sizeof *p));
    branch_on<<<1, 32>>>(p + 968);
    pass_on<<<1, 32>>>(p, q);
    padded *r = fresh<padded>(32);
    copy_padded<<<1, 32>>>(r);
    padded back[32];
    CHECK(cudaMemcpy(back, r, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[3].number == 7);
    fields *f = fresh<fields>(32);
    set_fields<<<1, 32>>>(f);
    halo<<<1, 32>>>((float *)p, (float *)q, 32);
    int *managed;
    CHECK(cudaMallocManaged(&managed, 128));
    branch_on<<<1, 32>>>(managed);
    int *later;
    CHECK(cudaMallocAsync(&later, 128, 0));
    CHECK(cudaMemsetAsync(later, 1, 128, 0));
    branch_on<<<1, 32>>>(later);
    CHECK(cudaFreeAsync(later, 0));
    local_value<<<1, 32>>>(q, 8);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(r));
    CHECK(cudaFree(f));
    CHECK(cudaFree(managed));
  } else {
    printf("no case %s\n", what);
    return 2;
  }
  CHECK(cudaDeviceSynchronize());
  if (!leaks) {
    CHECK(cudaFree(p));
    CHECK(cudaFree(q));
  }
  printf("%s done\n", what);
}
