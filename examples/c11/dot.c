/* dot.c: the kernel, plain C. clang compiles it to PTX without a CUDA header:
 *   clang -x c --target=nvptx64-nvidia-cuda -march=sm_75 -O2 -S dot.c -o dot.ptx */
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
enum { THREADS = 128 };

static SHARED float box[THREADS];

__attribute__((nvptx_kernel)) void dot(const GLOBAL float *a, const GLOBAL float *b, unsigned n,
                                       GLOBAL float *sum) {
  unsigned me = __nvvm_read_ptx_sreg_tid_x();
  float mine = 0;
  for (unsigned i = __nvvm_read_ptx_sreg_ctaid_x() * THREADS + me; i < n;
       i += __nvvm_read_ptx_sreg_nctaid_x() * THREADS)
    mine += a[i] * b[i];
  box[me] = mine;
  __nvvm_barrier_sync(0); /* everybody's part is in the box */
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    if (me < half)
      box[me] += box[me + half];
    __nvvm_barrier_sync(0);
  }
  if (me == 0)
    __nvvm_atom_add_gen_f((float *)sum, box[0]);
}
