// Arithmetic of every kind, libdevice with its tables and slow paths, packed integers.
__global__ void floats(float *o, float a, float b, float c) {
  int k = 0;
  o[k++] = sinf(a) + cosf(b) + tanf(c) + expf(a) + logf(b) + powf(a, b) + sqrtf(a) + rsqrtf(b) + cbrtf(c) +
           erff(a) + lgammaf(b);
  o[k++] = __sinf(a) + __cosf(b) + __expf(c) + __logf(a) + __fdividef(a, b) + __powf(a, c) + __saturatef(a);
  o[k++] =
      __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, c) + __fdiv_rn(a, b) + __frcp_rz(c) + __fsqrt_ru(a);
  o[k++] = fminf(a, b) + fmaxf(a, c) + fabsf(a) + copysignf(a, b) + floorf(a) + ceilf(b) + truncf(c) +
           rintf(a) + fmodf(a, b) + remainderf(a, c);
  o[k++] = __int2float_rz((int)a) + __float2int_rd(b) + __uint_as_float(__float_as_uint(a) ^ 1u) +
           (float)(isnan(a) + isinf(b) + signbit(c));
  o[k++] = tanhf(a) + asinf(b) + atan2f(a, c) + hypotf(a, b) + exp2f(a) + log2f(b) + sinpif(c);
}

__global__ void doubles(double *o, double a, double b, double c) {
  o[0] = sin(a) + exp(b) + log(c) + pow(a, b) + sqrt(a) + rsqrt(b) + a / b + fma(a, b, c) + fmod(a, b) +
         tgamma(c);
  o[1] = __dadd_rd(a, b) + __dmul_ru(a, b) + __ddiv_rz(a, c) + __fma_rz(a, b, c) + floor(a) + rint(b) +
         (double)(long long)c;
  o[2] = __hiloint2double(__double2hiint(a), __double2loint(b)) + (double)(float)c + fmin(a, b) + fabs(c);
}

__global__ void integers(long long *o, int a, unsigned b, long long c, unsigned long long d, short s,
                         signed char t) {
  o[0] = a / 3 + b / 7 + c / a + d / b + a % 5 + c % 9 + d % b + __mulhi(a, (int)b) + __umul64hi(d, d) +
         __mul24(a, a);
  o[1] = __sad(a, a + 1, b) + __usad(b, b, b) + __byte_perm(b, b + 1, 0x3210) + __funnelshift_l(b, b + 1, a) +
         __funnelshift_rc(b, b, 5);
  o[2] = __popcll(d) + __clzll(c) + __ffsll(c) + __brevll(d) + (c >> a) + (d << a) + (s >> 2) + (t * s) +
         abs(a) + llabs(c);
  o[3] = min(a, 4) + max(b, 5u) + min(c, 6ll) + max(d, 7ull) + __vadd4(b, b) + __vabsdiffu4(b, b) +
         __vmaxs2(b, b) + __vcmpeq4(b, b);
#if __CUDA_ARCH__ >= 610
  o[4] = __dp4a(a, a, a) + __dp2a_lo(a, a, a) + __dp4a(b, b, b);
#endif
  unsigned lo, hi;
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, %5;" : "=r"(lo), "=r"(hi) : "r"(b), "r"(b), "r"(b), "r"(b));
  asm("{\n\t.reg .u32 t;\n\tmul.lo.u32 t, %1, %1;\n\tmad.lo.cc.u32 %0, t, %1, %0;\n\tmadc.hi.u32 %0, t, %1, "
      "0;\n\t}"
      : "+r"(lo)
      : "r"(b));
  o[5] = lo + hi;
}
