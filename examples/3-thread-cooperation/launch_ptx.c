// Seed 002, section 5.2: the dot product once more, in a program that holds no device code at all: it loads
// dot.ptx, which lies beside it, asks for the kernel by its name and launches that. Any compiler that writes
// PTX may have made the file; nvcc and clang (as plain C) both can make it out of dot.cu.
// Arguments: N, BLOCKS, THREADS a block, as of dot.
#include "dot.h"

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [BLOCKS [THREADS]]]");
  unsigned n = (unsigned)tour_arg(0, DOT_N, 1, 1 << 28);
  unsigned blocks = (unsigned)tour_arg(1, DOT_BLOCKS, 1, 65535);
  unsigned threads = (unsigned)tour_arg(2, DOT_THREADS, 1, 1024);

  char path[4096];
  const char *slash = strrchr(argv[0], '/');
  int folder = slash ? (int)(slash + 1 - argv[0]) : 0;
  if (snprintf(path, sizeof path, "%.*sdot.ptx", folder, argv[0]) >= (int)sizeof path)
    tour_fail("the path of dot.ptx is too long");

  cudaLibrary_t library;
  cudaKernel_t kernel;
  CHECK(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "dot_kernel"));

  double ones = dot_verify((const void *)kernel, n, blocks, threads, 1);
  printf("the dot product of %u ones with themselves is %.0f\n", n, ones);
  dot_verify((const void *)kernel, n, blocks, threads, 0);
  CHECK(cudaLibraryUnload(library));
  return tour_end("dot products of %u elements by a kernel out of a PTX file, %u blocks of %u threads", n,
                  blocks, threads);
}
