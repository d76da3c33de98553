// atomics.cu: the atomics of atomic.def, `rounds` of them by every thread. `spread` says which thread hits
// which word: 0 all the same, 1 those of a warp the same, 2 each its own. The words begin as zeros.
#include "muster/collect.cuh"

// In shared memory every block has its own words, and adds them to the first of `words` in the end.
#define WORDS_global(elem) \
  mu_##elem *at = words + (spread == 0 ? 0 : mu_grid_thread() / (spread == 1 ? 32 : 1))
#define END_global(elem)
#define WORDS_shared(elem)         \
  MU_SHARED mu_u64 own[256];       \
  MU_FOR_BLOCK(w, 256) own[w] = 0; \
  mu_block_sync();                 \
  mu_##elem *at = (mu_##elem *)own + (spread == 0 ? 0 : mu_thread() / (spread == 1 ? 32 : 1))
#define END_shared(elem) \
  mu_block_sync();       \
  MU_FOR_BLOCK(w, 256) mu_red_add_relaxed_device_##elem(words + w, ((mu_##elem *)own)[w])

#define ATOMIC(space, op, scope, elem, adds, perform)                                         \
  MU_KERNEL space##_##op##_##scope##_##elem(mu_##elem *words, mu_u32 spread, mu_u32 rounds) { \
    WORDS_##space(elem);                                                                      \
    MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) perform;                                    \
    END_##space(elem);                                                                        \
  }
#include "../atomic.def"

// One thread's, each of which needs the one before: the way there and back.
MU_KERNEL global_latency(mu_u32 *words, mu_u32 spread, mu_u32 rounds) {
  mu_u32 *at = words;
  (void)spread;
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) at = words + mu_global_add_relaxed_device_u32(at, 0);
  *at = 0;
}
MU_KERNEL shared_latency(mu_u32 *words, mu_u32 spread, mu_u32 rounds) {
  MU_SHARED mu_u32 own[1];
  mu_u32 at = 0;
  (void)spread;
  own[0] = 0;
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) at = mu_shared_add_relaxed_block_u32(own + at, 0);
  words[0] = at;
}
