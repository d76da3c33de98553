// broken: the flag is raised with no fence between it and the data that it announces; rule: missing-release
//
// Seed 001, section 4.1. The two writes may arrive in either order, so the receiver, though it fences, can
// see the number without the data. The wait is bounded. Right: ../fences.cu.
#include "../../common/tour.h"

enum { ROUNDS = 100, POLLS_MAX = 1 << 22 };

__global__ void between_blocks(unsigned *data, volatile unsigned *sent, const unsigned *from, unsigned *to) {
  for (unsigned r = 0; r < ROUNDS; r++) {
    if (blockIdx.x == 0) {
      data[r] = from[r];
      // here the fence is missing
      *sent = r + 1;
    } else {
      for (int polls = 0; *sent <= r; polls++)
        if (polls == POLLS_MAX)
          return;
      __threadfence();
      to[r] = data[r];
    }
  }
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned from[ROUNDS], to[ROUNDS];
  for (int r = 0; r < ROUNDS; r++)
    from[r] = tour_hash(r);
  unsigned *device_from = (unsigned *)tour_upload(from, sizeof from);
  unsigned *device_to = (unsigned *)tour_alloc(sizeof to), *data = (unsigned *)tour_alloc(sizeof from);
  unsigned *sent = (unsigned *)tour_zeroed(sizeof *sent);

  between_blocks<<<2, 1>>>(data, sent, device_from, device_to);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(to, device_to, sizeof to);

  unsigned long wrong = 0;
  for (int r = 0; r < ROUNDS; r++)
    wrong += to[r] != from[r];
  CHECK(cudaFree(device_from));
  CHECK(cudaFree(device_to));
  CHECK(cudaFree(data));
  CHECK(cudaFree(sent));
  return tour_end_broken(wrong, ROUNDS, "messages");
}
#endif
