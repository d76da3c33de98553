// broken: deadlock-spin
// options: --schedules 64
// Each block moves an amount between two accounts and locks the one that it takes from first. Two blocks that
// move in opposite directions can each hold what the other waits for. The repaired form locks in the order of
// the accounts.
#include "../check.h"

struct account {
  unsigned lock, amount;
};

__device__ void take(unsigned *lock) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  __threadfence();
}

__device__ void leave(unsigned *lock) {
  __threadfence();
  atomicExch(lock, 0);
}

template <bool fixed> __global__ void move_one(struct account *accounts) {
  unsigned from = blockIdx.x, to = 1 - from;
  unsigned first = fixed ? 0 : from, second = 1 - first;
  take(&accounts[first].lock);
  take(&accounts[second].lock);
  accounts[from].amount--;
  accounts[to].amount++;
  leave(&accounts[second].lock);
  leave(&accounts[first].lock);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  struct account *accounts = device_zeros<struct account>(2);
  (fixed ? move_one<true> : move_one<false>)<<<2, 1>>>(accounts);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(accounts).amount == 0);
}
