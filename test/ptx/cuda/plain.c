/* C without any toolkit, for clang's nvptx64 target. */
typedef unsigned u32;
typedef __SIZE_TYPE__ size;
#define SHARED __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
static SHARED float tile[256];
__attribute__((address_space(4))) const float weights[4] = {1, 2, 3, 4};
GLOBAL int table[3][2] = {{1, 2}, {3}};
struct pair {
  int a;
  double b;
  char c[5];
};
int elsewhere(struct pair p, const char *s);
__attribute__((noinline)) static struct pair twice(struct pair p, int n) {
  p.a += n, p.b *= 2, p.c[n & 3] = 1;
  return p;
}
__attribute__((nvptx_kernel)) void sum(const float *in, float *out, u32 n, struct pair by_value) {
  u32 i = __nvvm_read_ptx_sreg_tid_x();
  float s = 0;
  for (u32 k = i; k < n; k += __nvvm_read_ptx_sreg_ntid_x())
    s += in[k] * weights[k & 3];
  tile[i] = s;
  __nvvm_bar_sync(0);
  for (u32 half = 128; half; half /= 2) {
    if (i < half)
      tile[i] += tile[i + half];
    __nvvm_bar_sync(0);
  }
  struct pair p = twice(by_value, (int)n);
  if (i == 0)
    out[__nvvm_read_ptx_sreg_ctaid_x()] = tile[0] + p.b + p.c[2] + table[n & 1][1] + elsewhere(p, "text");
}
__attribute__((nvptx_kernel)) void flag(u32 *word, u32 *data) {
  if (__nvvm_read_ptx_sreg_ctaid_x() == 0) {
    *data = 42;
    __atomic_store_n(word, 1, __ATOMIC_RELAXED);
  } else {
    while (!__atomic_load_n(word, __ATOMIC_RELAXED))
      ;
    *data = *data + 1;
  }
  __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  u32 ticket;
  __asm__ volatile(
      "{ .reg .pred p; setp.ne.u32 p, %1, 0; @p bra DONE; atom.add.gpu.global.u32 %0, [%2], 1; DONE: }"
      : "=r"(ticket)
      : "r"(*data), "l"(word)
      : "memory");
  switch (ticket) {
  case 1:
    *data = 5;
    break;
  case 2:
    *data ^= 9;
    break;
  case 3:
    *data /= 7;
    break;
  case 4:
    *data = table[1][0];
    break;
  case 6:
    *data = 77;
    break;
  case 7:
    *data = ~*data;
    break;
  }
}
