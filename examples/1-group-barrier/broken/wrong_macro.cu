// broken: the architecture macro is misspelt, so the ordered arrival is never compiled; rule: none
// The published header (seed 000) asks for __CUDA__ARCH__ where __CUDA_ARCH__ is meant. The preprocessor
// takes an unknown name for 0 and says nothing: the arrival falls back to a fence and a plain atomic. The
// result is still right; the instruction that was meant is not used. The right form: ../sync_ctas.cuh.
#include "../../common/tour.h"

// What the preprocessor chose: 1 for the ordered atomic, 0 for the fall-back.
__global__ void chosen(unsigned *by_published_name, unsigned *by_right_name) {
#if __CUDA__ARCH__ >= 700
  *by_published_name = 1;
#else
  *by_published_name = 0;
#endif
#if __CUDA_ARCH__ >= 700
  *by_right_name = 1;
#else
  *by_right_name = 0;
#endif
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned host[2], *device = (unsigned *)tour_alloc(sizeof host);
  chosen<<<1, 1>>>(device, device + 1);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(host, device, sizeof host);
  return tour_end_broken(host[0] != host[1], 1, "choices");
}
#endif
