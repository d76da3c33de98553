// What C++ makes of control flow, memory and calls.
#include <cassert>
#include <cstdio>
#include <new>

struct big {
  int a[7];
  double d;
  char c;
};
struct shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  float s;
  __device__ square(float s) : s(s) {}
  __device__ float area() const override {
    return s * s;
  }
};
struct disc : shape {
  float r;
  __device__ disc(float r) : r(r) {}
  __device__ float area() const override {
    return 3.14f * r * r;
  }
};

__device__ int table[5] = {1, 2, 3, 4, 5};
__device__ int *inside = &table[2];
__constant__ float weights[4] = {.25f, .5f, .75f, 1.f};
__device__ const char *const names[2] = {"one", "two"};
__device__ __managed__ int managed = 7;
__device__ int (*chosen)(int);
extern __shared__ float dynamic[];

__device__ __noinline__ int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__device__ __noinline__ int triple(int n) {
  return 3 * n;
}
__device__ __noinline__ big change(big b, int i) {
  b.a[i % 7] += i;
  b.d *= 2;
  return b;
}
__device__ int pick(int n) {
  switch (n) {
  case 0:
    return 9;
  case 1:
    return table[n];
  case 2:
    return fib(n);
  case 3:
    return -n;
  case 5:
    return n << 3;
  case 9:
    return n * n;
  case 12:
    return *inside;
  default:
    return managed;
  }
}

__global__ void __launch_bounds__(128, 2)
    program(big b, int *out, int n, short s, unsigned char c, float4 v) {
  int local[32];
  for (int i = 0; i < 32; i++)
    local[i] = pick(i ^ n);
  big r = change(b, n);
  int (*f)(int) = n & 1 ? fib : triple;
  chosen = f;
  out[threadIdx.x] = local[n & 31] + r.a[n % 7] + f(n) + chosen(n) + s + c + (int)v.z + (int)weights[n & 3] +
                     names[n & 1][0];
  dynamic[threadIdx.x] = v.x;
  __syncthreads();
  if (n == 42)
    printf("%d %f %s\n", n, dynamic[0], names[1]);
  assert(n != 43);
  shape *p = n > 3 ? (shape *)new square(v.x) : (shape *)new disc(v.y);
  out[1] = (int)p->area();
  delete p;
  int *heap = (int *)malloc(64);
  if (heap)
    heap[n & 15] = n, out[2] = heap[3], free(heap);
  if (n == 44)
    __trap();
  int *stack = (int *)alloca(n * 4);
  stack[n - 1] = n;
  out[3] = stack[0] + __isGlobal(out) + __isShared(stack) + __isLocal(stack);
}
__global__ void child(int *o) {
  *o = 1;
}
