// run:
// stdout: d 7 -7 [   42] [42   ] [00042] [+42] [ 42] [   -3]
// stdout: u 4294967295 o 17 x ff X FF # 0xff 010 0XFF
// stdout: ld -9223372036854775808 lld 9223372036854775807 llu 18446744073709551615 lx ffffffffffffffff
// stdout: hd -1 hu 65535
// stdout: c A [  A] s text [  text] [text  ] [te]
// stdout: f 3.141593 -0.500000 [   3.14] [3.14   ] [+3.1] [0003.1] [3] [3.]
// stdout: e 1.234560e+05 E 1.235E-05 g 0.0001 1e-05 123456 1.23457e+06 G 1E+20 #g 1.00000
// stdout: a 0x1.8p+1 A 0X1P-3
// stdout: inf inf -inf INF nan [  inf]
// stdout: * [     5] [5     ] [ 1.50]
// stdout: p 0x1234 (nil) percent 100%
// stdout: 32 arguments: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// stdout: literal
// stdout: returned 0 2 3
// stdout: 4 threads: 0 1 4 9
// stdout: host after device
// printf on the device: every conversion that CUDA documents, in the order of the launches.
#include "run.h"

__global__ void conversions(void) {
  printf("d %d %i [%5d] [%-5d] [%05d] [%+d] [% d] [%5d]\n", 7, -7, 42, 42, 42, 42, 42, -3);
  printf("u %u o %o x %x X %X # %#x %#o %#X\n", 4294967295u, 15, 255, 255, 255, 8, 255);
  printf("ld %ld lld %lld llu %llu lx %lx\nhd %hd hu %hu\n", (long)1 << 63, 0x7fffffffffffffffll, ~0ull, ~0ul,
         (short)-1, (unsigned short)-1);
  printf("c %c [%3c] s %s [%6s] [%-6s] [%.2s]\n", 'A', 'A', "text", "text", "text", "text");
  printf("f %f %f [%7.2f] [%-7.2f] [%+.1f] [%06.1f] [%.0f] [%#.0f]\n", 3.14159265358979, -0.5f, 3.14159,
         3.14159, 3.14159, 3.14159, 3.14159, 3.14159);
  printf("e %e E %.3E g %g %g %g %g G %G #g %#g\n", 123456.0, 0.0000123456, 0.0001, 0.00001, 123456.0,
         1234567.0, 1e20, 1.0);
  printf("a %a A %A\n", 3.0, 0.125);
  double huge = 1e308;
  printf("inf %f %f %F %f [%5f]\n", huge * 10, -huge * 10, huge * 10,
         __longlong_as_double(0x7ff8000000000000ll), huge * 10);
  printf("* [%*d] [%-*d] [%*.2f]\n", 6, 5, 6, 5, 5, 1.5);
  printf("p %p %p percent %d%%\n", (void *)0x1234, (void *)0, 100);
  printf("32 arguments: %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
         "%d %d "
         "%d %d\n",
         0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
         28, 29, 30, 31);
  int none = printf("literal\n"), two = printf("%d%d\n", 1, 2), three = printf("%d%d%d\n", 1, 2, 3);
  printf("returned %d %d %d\n", none, two, three);
}

__global__ void squares(int *out) {
  out[threadIdx.x] = threadIdx.x * threadIdx.x;
}

__global__ void show(const int *in) {
  if (threadIdx.x == 0)
    printf("4 threads: %d %d %d %d\n", in[0], in[1], in[2], in[3]);
}

int main(void) {
  int *words = device_zeros<int>(4);
  conversions<<<1, 1>>>();
  squares<<<1, 4>>>(words);
  show<<<2, 4>>>(words);
  CHECK(cudaDeviceSynchronize());
  puts("host after device");
}
