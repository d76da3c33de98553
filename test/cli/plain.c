/* plain.c: a kernel as plain C for clang, without a CUDA header. */
#define GLOBAL __attribute__((address_space(1)))
__attribute__((nvptx_kernel)) void twice(GLOBAL int *p, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i < n)
    p[i] *= 2;
}
