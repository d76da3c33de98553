// options: --schedules 4
// A kernel and the host talk through mapped memory while the kernel runs, with fences of the system.
#include "../check.h"

enum { ROUNDS = 3 };

struct mailbox {
  unsigned question, answer, asked, answered;
};

__global__ void serve(struct mailbox *box) {
  volatile struct mailbox *flags = box;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    while (flags->asked != round)
      ;
    __threadfence_system();
    box->answer = 2 * box->question;
    __threadfence_system();
    flags->answered = round;
  }
}

int main(void) {
  struct mailbox *box;
  CHECK(cudaHostAlloc(&box, sizeof *box, cudaHostAllocMapped));
  memset(box, 0, sizeof *box);
  serve<<<1, 1>>>(box);
  CHECK(cudaGetLastError());
  for (unsigned round = 1; round <= ROUNDS; round++) {
    box->question = round;
    __atomic_store_n(&box->asked, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&box->answered, __ATOMIC_ACQUIRE) != round)
      ;
    EXPECT(box->answer == 2 * round);
  }
  CHECK(cudaDeviceSynchronize());
}
