// cuda_c.h: the CUDA names that the tour's kernels use, for clang as plain C on nvptx64: no CUDA header, no
// toolkit. Only what has no plain-C spelling stands here. Memory operations are inline PTX, since clang's
// own builtins drop order and scope.
#ifndef TOUR_CUDA_C_H
#define TOUR_CUDA_C_H

#define __global__ __attribute__((nvptx_kernel))
#define __device__
#define __host__
#define __constant__ __attribute__((address_space(4)))
#define __shared__ static __attribute__((address_space(3)))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __restrict__ restrict
#define warpSize 32
#define INFINITY __builtin_inff()

typedef __SIZE_TYPE__ size_t;
typedef _Bool bool;
#define true 1
#define false 0
typedef struct {
  unsigned x, y, z;
} tour_uint3;

#define TOUR_SREG3(name)                                                              \
  ((tour_uint3){__nvvm_read_ptx_sreg_##name##_x(), __nvvm_read_ptx_sreg_##name##_y(), \
                __nvvm_read_ptx_sreg_##name##_z()})
#define threadIdx TOUR_SREG3(tid)
#define blockIdx TOUR_SREG3(ctaid)
#define blockDim TOUR_SREG3(ntid)
#define gridDim TOUR_SREG3(nctaid)

#define TOUR_FN static inline __attribute__((always_inline))

// Barriers and fences.
#define __syncthreads() __asm__ volatile("bar.sync 0;" ::: "memory")
#define __barrier_sync(id) __asm__ volatile("barrier.sync %0;" ::"r"(id) : "memory")
TOUR_FN void tour_syncwarp(unsigned mask) {
  __asm__ volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
#define TOUR_MASK_OF(unused, mask, ...) (mask)
#define __syncwarp(...) tour_syncwarp(TOUR_MASK_OF(0, ##__VA_ARGS__, 0xffffffffu))
#if __CUDA_ARCH__ >= 700
#define __threadfence_block() __asm__ volatile("fence.acq_rel.cta;" ::: "memory")
#define __threadfence() __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#define __threadfence_system() __asm__ volatile("fence.acq_rel.sys;" ::: "memory")
#else // there is no other fence
#define __threadfence_block() __asm__ volatile("membar.cta;" ::: "memory")
#define __threadfence() __asm__ volatile("membar.gl;" ::: "memory")
#define __threadfence_system() __asm__ volatile("membar.sys;" ::: "memory")
#endif

TOUR_FN int __syncthreads_count(int predicate) {
  int count;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
                   : "=r"(count)
                   : "r"(predicate)
                   : "memory");
  return count;
}

// Warp.
TOUR_FN unsigned __activemask(void) {
  unsigned mask;
  __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

TOUR_FN unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned result;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                   : "=r"(result)
                   : "r"(predicate), "r"(mask)
                   : "memory");
  return result;
}
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0)
#define __all_sync(mask, predicate) (__ballot_sync(mask, !(predicate)) == 0)

TOUR_FN unsigned __match_any_sync(unsigned mask, unsigned value) {
  unsigned result;
  __asm__ volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask) : "memory");
  return result;
}

#define TOUR_SHUFFLE(mode, clamp)                                                         \
  TOUR_FN unsigned tour_shfl_##mode##_u32(unsigned mask, unsigned value, unsigned lane) { \
    unsigned result;                                                                      \
    __asm__ volatile("shfl.sync." #mode ".b32 %0, %1, %2, " #clamp ", %3;"                \
                     : "=r"(result)                                                       \
                     : "r"(value), "r"(lane), "r"(mask)                                   \
                     : "memory");                                                         \
    return result;                                                                        \
  }                                                                                       \
  TOUR_FN int tour_shfl_##mode##_s32(unsigned mask, int value, unsigned lane) {           \
    return (int)tour_shfl_##mode##_u32(mask, (unsigned)value, lane);                      \
  }                                                                                       \
  TOUR_FN float tour_shfl_##mode##_f32(unsigned mask, float value, unsigned lane) {       \
    union {                                                                               \
      float f;                                                                            \
      unsigned u;                                                                         \
    } bits = {value};                                                                     \
    bits.u = tour_shfl_##mode##_u32(mask, bits.u, lane);                                  \
    return bits.f;                                                                        \
  }
TOUR_SHUFFLE(idx, 31)
TOUR_SHUFFLE(up, 0)
TOUR_SHUFFLE(down, 31)
TOUR_SHUFFLE(bfly, 31)
#undef TOUR_SHUFFLE
#define TOUR_SHFL(mode, mask, value, lane) \
  _Generic((value),                        \
      int: tour_shfl_##mode##_s32,         \
      unsigned: tour_shfl_##mode##_u32,    \
      float: tour_shfl_##mode##_f32)(mask, value, lane)
#define __shfl_sync(mask, value, lane) TOUR_SHFL(idx, mask, value, lane)
#define __shfl_up_sync(mask, value, delta) TOUR_SHFL(up, mask, value, delta)
#define __shfl_down_sync(mask, value, delta) TOUR_SHFL(down, mask, value, delta)
#define __shfl_xor_sync(mask, value, bits) TOUR_SHFL(bfly, mask, value, bits)

#define __popc(x) __builtin_popcount(x)
#define __popcll(x) __builtin_popcountll(x)
#define __ffs(x) __builtin_ffs((int)(x))
#define __clz(x) ((x) ? __builtin_clz((unsigned)(x)) : 32)

// Atomics: relaxed, generic address, as CUDA's own. Three scopes: device (no suffix), _block, _system.
#define TOUR_ATOM_SCOPED(op, ptx, suffix, type, letter, scope, ptx_scope) \
  TOUR_FN type tour_##op##_##suffix##scope(type *address, type value) {   \
    type old;                                                             \
    __asm__ volatile("atom" ptx_scope "." ptx " %0, [%1], %2;"            \
                     : "=" letter(old)                                    \
                     : "l"(address), letter(value)                        \
                     : "memory");                                         \
    return old;                                                           \
  }
#define TOUR_ATOM(op, ptx, suffix, type, letter)                  \
  TOUR_ATOM_SCOPED(op, ptx, suffix, type, letter, , "")           \
  TOUR_ATOM_SCOPED(op, ptx, suffix, type, letter, _block, ".cta") \
  TOUR_ATOM_SCOPED(op, ptx, suffix, type, letter, _system, ".sys")
#define TOUR_ATOM_NUMBER(op)                     \
  TOUR_ATOM(op, #op ".s32", s32, int, "r")       \
  TOUR_ATOM(op, #op ".u32", u32, unsigned, "r")  \
  TOUR_ATOM(op, #op ".s64", s64, long long, "l") \
  TOUR_ATOM(op, #op ".u64", u64, unsigned long long, "l")
#define TOUR_ATOM_BITS(op)                       \
  TOUR_ATOM(op, #op ".b32", s32, int, "r")       \
  TOUR_ATOM(op, #op ".b32", u32, unsigned, "r")  \
  TOUR_ATOM(op, #op ".b64", s64, long long, "l") \
  TOUR_ATOM(op, #op ".b64", u64, unsigned long long, "l")
TOUR_ATOM_NUMBER(min)
TOUR_ATOM_NUMBER(max)
TOUR_ATOM_BITS(and)
TOUR_ATOM_BITS(or)
TOUR_ATOM_BITS(xor)
TOUR_ATOM(add, "add.s32", s32, int, "r")
TOUR_ATOM(add, "add.u32", u32, unsigned, "r")
TOUR_ATOM(add, "add.u64", u64, unsigned long long, "l")
TOUR_ATOM(add, "add.f32", f32, float, "f")
TOUR_ATOM(add, "add.f64", f64, double, "d")
TOUR_ATOM(exch, "exch.b32", s32, int, "r")
TOUR_ATOM(exch, "exch.b32", u32, unsigned, "r")
TOUR_ATOM(exch, "exch.b64", u64, unsigned long long, "l")
TOUR_ATOM(exch, "exch.b32", f32, float, "f")
TOUR_ATOM(inc, "inc.u32", u32, unsigned, "r")
TOUR_ATOM(dec, "dec.u32", u32, unsigned, "r")
#undef TOUR_ATOM_NUMBER
#undef TOUR_ATOM_BITS
#undef TOUR_ATOM
#undef TOUR_ATOM_SCOPED

#define TOUR_CAS_SCOPED(suffix, type, ptx, letter, scope, ptx_scope)               \
  TOUR_FN type tour_cas_##suffix##scope(type *address, type compare, type value) { \
    type old;                                                                      \
    __asm__ volatile("atom" ptx_scope ".cas." ptx " %0, [%1], %2, %3;"             \
                     : "=" letter(old)                                             \
                     : "l"(address), letter(compare), letter(value)                \
                     : "memory");                                                  \
    return old;                                                                    \
  }
#define TOUR_CAS(suffix, type, ptx, letter)                  \
  TOUR_CAS_SCOPED(suffix, type, ptx, letter, , "")           \
  TOUR_CAS_SCOPED(suffix, type, ptx, letter, _block, ".cta") \
  TOUR_CAS_SCOPED(suffix, type, ptx, letter, _system, ".sys")
TOUR_CAS(u16, unsigned short, "b16", "h")
TOUR_CAS(s32, int, "b32", "r")
TOUR_CAS(u32, unsigned, "b32", "r")
TOUR_CAS(u64, unsigned long long, "b64", "l")
#undef TOUR_CAS
#undef TOUR_CAS_SCOPED

// A shared array is a pointer to address space 3 here: the casts make it generic.
#define TOUR_GENERIC(address) ((void *)(address))
#define TOUR_ADD(scope, address, value)        \
  _Generic(*(address),                         \
      int: tour_add_s32##scope,                \
      unsigned: tour_add_u32##scope,           \
      unsigned long long: tour_add_u64##scope, \
      float: tour_add_f32##scope,              \
      double: tour_add_f64##scope)(TOUR_GENERIC(address), value)
#define TOUR_EXCH(scope, address, value)        \
  _Generic(*(address),                          \
      int: tour_exch_s32##scope,                \
      unsigned: tour_exch_u32##scope,           \
      unsigned long long: tour_exch_u64##scope, \
      float: tour_exch_f32##scope)(TOUR_GENERIC(address), value)
#define TOUR_CAS(scope, address, compare, value) \
  _Generic(*(address),                           \
      unsigned short: tour_cas_u16##scope,       \
      int: tour_cas_s32##scope,                  \
      unsigned: tour_cas_u32##scope,             \
      unsigned long long: tour_cas_u64##scope)(TOUR_GENERIC(address), compare, value)
#define TOUR_INTEGER(op, scope, address, value) \
  _Generic(*(address),                          \
      int: tour_##op##_s32##scope,              \
      unsigned: tour_##op##_u32##scope,         \
      long long: tour_##op##_s64##scope,        \
      unsigned long long: tour_##op##_u64##scope)(TOUR_GENERIC(address), value)

#define atomicAdd(address, value) TOUR_ADD(, address, value)
#define atomicSub(address, value) TOUR_ADD(, address, -(value))
#define atomicExch(address, value) TOUR_EXCH(, address, value)
#define atomicCAS(address, compare, value) TOUR_CAS(, address, compare, value)
#define atomicMin(address, value) TOUR_INTEGER(min, , address, value)
#define atomicMax(address, value) TOUR_INTEGER(max, , address, value)
#define atomicAnd(address, value) TOUR_INTEGER(and, , address, value)
#define atomicOr(address, value) TOUR_INTEGER(or, , address, value)
#define atomicXor(address, value) TOUR_INTEGER(xor, , address, value)
#define atomicInc(address, limit) tour_inc_u32(TOUR_GENERIC(address), limit)
#define atomicDec(address, limit) tour_dec_u32(TOUR_GENERIC(address), limit)

#define atomicAdd_block(address, value) TOUR_ADD(_block, address, value)
#define atomicSub_block(address, value) TOUR_ADD(_block, address, -(value))
#define atomicExch_block(address, value) TOUR_EXCH(_block, address, value)
#define atomicCAS_block(address, compare, value) TOUR_CAS(_block, address, compare, value)
#define atomicMin_block(address, value) TOUR_INTEGER(min, _block, address, value)
#define atomicMax_block(address, value) TOUR_INTEGER(max, _block, address, value)
#define atomicAnd_block(address, value) TOUR_INTEGER(and, _block, address, value)
#define atomicOr_block(address, value) TOUR_INTEGER(or, _block, address, value)
#define atomicXor_block(address, value) TOUR_INTEGER(xor, _block, address, value)
#define atomicInc_block(address, limit) tour_inc_u32_block(TOUR_GENERIC(address), limit)
#define atomicDec_block(address, limit) tour_dec_u32_block(TOUR_GENERIC(address), limit)

#define atomicAdd_system(address, value) TOUR_ADD(_system, address, value)
#define atomicSub_system(address, value) TOUR_ADD(_system, address, -(value))
#define atomicExch_system(address, value) TOUR_EXCH(_system, address, value)
#define atomicCAS_system(address, compare, value) TOUR_CAS(_system, address, compare, value)
#define atomicMin_system(address, value) TOUR_INTEGER(min, _system, address, value)
#define atomicMax_system(address, value) TOUR_INTEGER(max, _system, address, value)
#define atomicAnd_system(address, value) TOUR_INTEGER(and, _system, address, value)
#define atomicOr_system(address, value) TOUR_INTEGER(or, _system, address, value)
#define atomicXor_system(address, value) TOUR_INTEGER(xor, _system, address, value)
#define atomicInc_system(address, limit) tour_inc_u32_system(TOUR_GENERIC(address), limit)
#define atomicDec_system(address, limit) tour_dec_u32_system(TOUR_GENERIC(address), limit)

// Bits of a double, time, sleep.
#define TOUR_BITS(name, from, to) \
  TOUR_FN to name(from value) {   \
    union {                       \
      from f;                     \
      to t;                       \
    } bits = {value};             \
    return bits.t;                \
  }
TOUR_BITS(__double_as_longlong, double, long long)
TOUR_BITS(__longlong_as_double, long long, double)
TOUR_BITS(__float_as_uint, float, unsigned)
TOUR_BITS(__uint_as_float, unsigned, float)
TOUR_BITS(__float_as_int, float, int)
TOUR_BITS(__int_as_float, int, float)
#undef TOUR_BITS

TOUR_FN long long clock64(void) {
  long long cycles;
  __asm__ volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
TOUR_FN void __nanosleep(unsigned ns) {
  __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}

#endif
