/* arith_speed.c: nanoseconds that a handler takes for a warp, with all lanes and masked, by vector level. For
 * whoever changes a handler; nothing is judged.
 *
 *   arith_speed [ROW-PREFIX [NAME...]]      names as "add.f32"; without, a few that programs live on
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arith.h"

static const char *usual[] = {
    "add.f32",        "fma.rn.f32",     "fma.rn.ftz.f32", "mul.ftz.f32",   "add.f64",        "fma.rn.f64",
    "div.rn.f32",     "add.u32",        "mul.lo.s32",     "mad.lo.s32",    "mul.wide.u32",   "add.s64",
    "setp.lt.s32",    "setp.lt.f32",    "setp.eq.u64",    "selp.b32",      "shl.b32",        "and.b32",
    "cvt.u64.u32",    "cvt.rn.f32.s32", "cvt.u16.u32",    "cvt.f64.f32",   "ex2.approx.f32", "sin.approx.f32",
    "div.u32",        "lg2.approx.f32", "fma.rn.f16x2",   "fma.rn.bf16x2", "popc.b32",       "add.rz.f32",
    "cvt.rn.f16.f32", "cvt.rz.f16.f32", "min.s32",        "max.f32",       "prmt.b32"};
static char **names;
static int n_names;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measured(arith *a, unsigned way, uint32_t mask) {
  double best = 1e30;
  sim_ctx c = {.mask = mask, .way = way};
  c.base[SIM_IN_FRAME] = a->frame;
  c.base[SIM_IN_CONST] = a->consts - SIM_IN_CONST;
  for (int i = 0; i < SIM_LANES; i++)
    c.lane[i] = mask >> i & 1 ? UINT32_MAX : 0;
  arith_load(a, 4096 + 4 * SIM_LANES);
  for (int round = 0; round < 7; round++) {
    double t = now();
    for (int k = 0; k < 20000; k++) {
      a->op.fn[way](&a->op, &c);
      __asm__ volatile("" : : : "memory");
    }
    t = (now() - t) / 20000;
    best = t < best ? t : best;
  }
  return best;
}

static void each(const spell *s, void *data) {
  (void)data;
  bool wanted = n_names == 0;
  for (int k = 0; k < n_names; k++)
    wanted |= strcmp(names[k], s->name) == 0;
  if (!wanted || s->variant)
    return;
  arith a;
  const arith_level *levels;
  unsigned n = arith_levels(&levels);
  if (arith_open(&a, s)) {
    printf("%-24s", s->name);
    for (unsigned l = 0; l < n; l++)
      if (levels[l].usable && arith_choose(&a, &levels[l]))
        printf("  %s %6.1f %6.1f", levels[l].name, measured(&a, SIM_FULL, UINT32_MAX),
               measured(&a, SIM_MASKED, 0x5a5aff0f));
    printf("\n");
  }
  arith_close(&a);
}

int main(int argc, char **argv) {
  names = argc > 1 ? argv + 2 : (char **)usual;
  n_names = argc > 1 ? argc - 2 : (int)(sizeof usual / sizeof *usual);
  spell_all(argc > 1 ? argv[1] : "", each, NULL);
  return 0;
}
