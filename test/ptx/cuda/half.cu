// Half precision, bfloat16, their pairs, 8-bit floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T, class T2> __device__ void arithmetic(T *o, T a, T b, T2 *o2, T2 c, T2 d) {
  o[0] = __hadd(a, b), o[1] = __hsub(a, b), o[2] = __hmul(a, b), o[3] = __hfma(a, b, a), o[4] = __hdiv(a, b),
  o[5] = __hneg(a);
  o[6] = __habs(b), o[7] = __hmin(a, b), o[8] = __hmax(a, b), o[9] = hsqrt(a), o[10] = hexp(b),
  o[11] = hlog2(a), o[12] = htanh(a);
  o[13] = __hlt(a, b) ? a : b, o[14] = __hisnan(a) ? b : a, o[15] = hrint(a), o[16] = hrcp(b),
  o[17] = __hfma_relu(a, b, a);
  o2[0] = __hadd2(c, d), o2[1] = __hfma2(c, d, c), o2[2] = __hmul2(c, d), o2[3] = __hmax2(c, d),
  o2[4] = __heq2(c, d), o2[5] = h2exp2(c);
  o2[6] = __hbeq2(c, d) ? c : d, o2[7] = __hneg2(c), o2[8] = __hfma2_relu(c, d, c), o2[9] = __hmin2_nan(c, d);
}
__global__ void halves(__half *o, __half2 *o2, float f, double d, int i) {
  arithmetic(o, __float2half(f), __double2half(d), o2, __floats2half2_rn(f, f),
             __half2half2(__int2half_rn(i)));
  o[20] = __ushort_as_half((unsigned short)i), o[21] = __uint2half_rz((unsigned)i), o[22] = __ll2half_rn(i);
  *(int *)&o2[22] = __half2int_rz(o[1]) + __half2ll_rd(o[2]) + (int)__half2float(o[3]) +
                    __half2short_rn(o[4]) + (signed char)__half2char_rz(o[5]);
  atomicAdd(&o[30], o[0]);
  atomicAdd(&o2[30], o2[0]);
  o2[31] = __shfl_xor_sync(~0u, o2[0], 1);
}
__global__ void bfloats(__nv_bfloat16 *o, __nv_bfloat162 *o2, float f, int i) {
  arithmetic(o, __float2bfloat16(f), __int2bfloat16_rn(i), o2, __floats2bfloat162_rn(f, f),
             __bfloat162bfloat162(__float2bfloat16_rz(f)));
  *(int *)&o2[22] = __bfloat162int_rz(o[1]) + (int)__bfloat162float(o[3]) + __bfloat162ushort_rn(o[4]);
  atomicAdd(&o[30], o[0]);
  atomicAdd(&o2[30], o2[0]);
}
__global__ void eighths(__nv_fp8_e4m3 *o, __nv_fp8x2_e5m2 *o2, float f, float2 g) {
  o[0] = __nv_fp8_e4m3(f);
  o2[0] = __nv_fp8x2_e5m2(g);
  *(float *)&o[4] = (float)o[1] + ((float2)o2[1]).x;
}
