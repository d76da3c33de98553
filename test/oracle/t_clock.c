/* t_clock.c FIRST COUNT: the clocks of the race rule against tables. Random clocks are added to and joined
 * with one another; after each of these, what some of them say of random threads has to be what a table of
 * all times says, also of those that were made long before: clocks share their parts, and none may change
 * another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check/race.h"

/* 24 blocks, some close together and some far apart; the last is one of asynchronous copies. */
static const uint32_t numbers[] = {
    1,   2,   3,   4,    5,    15,   16,    17,    18,       31,       32,         33,
    255, 256, 257, 4095, 4096, 4097, 65535, 65536, 1u << 20, 1u << 28, 0x7fffffff, RACE_ASYNC_BLOCK | 3};
enum { BLOCKS = sizeof numbers / sizeof *numbers, WARPS = 3, LANES = 2, CLOCKS = 12, ROUNDS = 400 };

/* The times that were said of each node; of a whole block or warp at [0]. */
typedef struct table {
  uint32_t time[BLOCKS][WARPS + 1][LANES + 1];
} table;

static int failed;

static uint32_t known(const table *t, uint32_t b, uint32_t warp, uint32_t lane) {
  uint32_t best = t->time[b][0][0], of_warp = warp == RACE_WHOLE ? 0 : t->time[b][warp + 1][0];
  uint32_t of_lane = warp == RACE_WHOLE || lane == RACE_WHOLE ? 0 : t->time[b][warp + 1][lane + 1];
  best = of_warp > best ? of_warp : best;
  return of_lane > best ? of_lane : best;
}

/* Nodes that say more than those above them: a clock keeps no others. */
static uint32_t steps(const table *t) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < BLOCKS; b++)
    for (uint32_t w = 0; w <= WARPS; w++)
      for (uint32_t l = 0; l <= (w ? LANES : 0); l++) {
        uint32_t above = w ? t->time[b][0][0] : 0, of_warp = w && l ? t->time[b][w][0] : 0;
        n += t->time[b][w][l] > above && t->time[b][w][l] > of_warp;
      }
  return n;
}

static void compare(const race_clock *c, const table *t, uint64_t seed) {
  if ((c ? c->n : 0) != steps(t)) {
    printf("seed %llu: %u steps, should be %u\n", (unsigned long long)seed, c ? c->n : 0, steps(t));
    failed = 1;
  }
  for (uint32_t b = 0; b < BLOCKS && !failed; b++)
    for (uint32_t w = 0; w <= WARPS; w++)
      for (uint32_t l = 0; l <= (w < WARPS ? LANES : 0); l++) {
        uint32_t warp = w < WARPS ? w : RACE_WHOLE, lane = w < WARPS && l < LANES ? l : RACE_WHOLE;
        const race_step *by = NULL;
        uint32_t time = race_clock_time(c, numbers[b], warp, lane, &by), should = known(t, b, warp, lane);
        if (time == should && (!time || (by && by->time == time && by->node >> 12 == numbers[b])))
          continue;
        printf("seed %llu: block %u, warp %d, lane %d: %u, should be %u\n", (unsigned long long)seed,
               numbers[b], (int)warp, (int)lane, time, should);
        failed = 1;
      }
}

static void add(race_clock **c, table *t, base_rng *r, race_joins *j) {
  uint32_t b = base_rng_below(r, BLOCKS), w = base_rng_below(r, WARPS + 1), l = base_rng_below(r, LANES + 1);
  uint32_t time = 1 + base_rng_below(r, 40), *at = &t->time[b][w][w ? l : 0];
  race_step s = {.node = race_node_of(numbers[b], w ? w - 1 : RACE_WHOLE, w && l ? l - 1 : RACE_WHOLE),
                 .time = time};
  *c = race_clock_add(*c, s, j);
  *at = time > *at ? time : *at;
}

static void join(race_clock **c, table *t, const race_clock *other, const table *u, race_joins *j) {
  *c = race_clock_join(*c, other, j);
  uint32_t *to = &t->time[0][0][0];
  const uint32_t *from = &u->time[0][0][0];
  for (size_t i = 0; i < sizeof *t / sizeof *to; i++)
    to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void run(uint64_t seed) {
  static table tables[CLOCKS];
  race_clock *clocks[CLOCKS] = {0};
  race_joins j = {0};
  base_rng r;
  base_rng_seed(&r, seed);
  memset(tables, 0, sizeof tables);
  for (uint32_t round = 0; round < ROUNDS && !failed; round++) {
    uint32_t k = base_rng_below(&r, CLOCKS), o = base_rng_below(&r, CLOCKS);
    switch (base_rng_below(&r, 8)) {
    case 0: /* a copy, which shares everything */
      race_clock_keep(clocks[o]);
      race_clock_drop(clocks[k]);
      clocks[k] = clocks[o], tables[k] = tables[o];
      break;
    case 1:
    case 2:
    case 3:
      join(&clocks[k], &tables[k], clocks[o], &tables[o], &j);
      break;
    default:
      add(&clocks[k], &tables[k], &r, &j);
      break;
    }
    for (uint32_t i = round % 16 ? k : 0; i < (round % 16 ? k + 1 : CLOCKS); i++)
      compare(clocks[i], &tables[i], seed);
  }
  failed |= j.failed;
  /* Two that say the same are the same, where one came out of the other. */
  race_clock *more = race_clock_join(race_clock_keep(clocks[0]), clocks[1], &j),
             *again = race_clock_keep(more);
  again = race_clock_join(again, clocks[1], &j);
  again = race_clock_join(again, clocks[0], &j);
  if (again != more) {
    printf("seed %llu: what is known makes a new clock\n", (unsigned long long)seed);
    failed = 1;
  }
  race_clock_drop(again);
  race_clock_drop(more);
  for (uint32_t i = 0; i < CLOCKS; i++)
    race_clock_drop(clocks[i]);
  race_joins_free(&j);
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (uint64_t k = 0; k < n && !failed; k++)
    run(first + k);
  printf("%s\n", failed ? "failed" : "all agree");
  return failed;
}
