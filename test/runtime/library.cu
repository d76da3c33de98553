// Kernels that a program loads as text at run time.
#include "check.h"

static const char text[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                           ".visible .global .align 4 .u32 step = 3;\n"
                           ".visible .entry advance(.param .u64 p)\n{\n"
                           "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n"
                           "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd2, %rd1;\n"
                           "  ld.global.u32 %r1, [%rd2];\n  ld.global.u32 %r2, [step];\n"
                           "  add.u32 %r3, %r1, %r2;\n  st.global.u32 [%rd2], %r3;\n  ret;\n}\n";

int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  int *d, h = 40;
  void *step = NULL;
  size_t bytes = 0;
  unsigned count = 0;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice));
  OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT(count, 1);
  FAILS(cudaLibraryGetKernel(&kernel, library, "absent"), cudaErrorSymbolNotFound);
  OK(cudaLibraryGetKernel(&kernel, library, "advance"));
  void *arguments[] = {&d};
  OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), arguments, 0, 0));
  OK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
  EXPECT(bytes, 4);
  int ten = 10;
  OK(cudaMemcpy(step, &ten, 4, cudaMemcpyHostToDevice));
  OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), arguments, 0, 0));
  OK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h, 53);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, (const void *)kernel));
  EXPECT(attributes.maxThreadsPerBlock, 1024);
  OK(cudaLibraryUnload(library));
  FAILS(cudaLibraryLoadData(&library, ".version 6.4\n.target sm_50\nnonsense", NULL, NULL, 0, NULL, NULL, 0),
        cudaErrorInvalidPtx);
  FAILS(cudaLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0),
        cudaErrorFileNotFound);
  return check_end();
}
