// broken: two blocks talk with fences that hold within one block only; rule: race-scope
//
// Seed 001, section 4.2. One word carries every message, so the receiver's SM has it in its L1 cache from the
// second message on, and a block fence lets it read that copy again. The waits are bounded.
// Right: __threadfence, as in ../fences.cu.
#include "../../common/tour.h"

enum { ROUNDS = 100, POLLS_MAX = 1 << 22 };

__global__ void between_blocks(unsigned *data, volatile unsigned *sent, volatile unsigned *taken,
                               const unsigned *from, unsigned *to) {
  for (unsigned r = 0; r < ROUNDS; r++) {
    volatile unsigned *counter = blockIdx.x == 0 ? taken : sent;
    unsigned value = blockIdx.x == 0 ? r : r + 1;
    for (int polls = 0; *counter != value; polls++)
      if (polls == POLLS_MAX)
        return;
    __threadfence_block();
    if (blockIdx.x == 0)
      *data = from[r];
    else
      to[r] = *data;
    __threadfence_block();
    *(blockIdx.x == 0 ? sent : taken) = r + 1;
  }
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned from[ROUNDS], to[ROUNDS];
  for (int r = 0; r < ROUNDS; r++)
    from[r] = tour_hash(r);
  unsigned *device_from = (unsigned *)tour_upload(from, sizeof from);
  unsigned *device_to = (unsigned *)tour_alloc(sizeof to), *data = (unsigned *)tour_alloc(sizeof *data);
  unsigned *sent = (unsigned *)tour_zeroed(sizeof *sent), *taken = (unsigned *)tour_zeroed(sizeof *taken);

  between_blocks<<<2, 1>>>(data, sent, taken, device_from, device_to);
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
  CHECK(cudaFree(taken));
  return tour_end_broken(wrong, ROUNDS, "messages");
}
#endif
