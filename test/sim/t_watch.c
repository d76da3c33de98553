/* t_watch.c: what a watcher decides: which unit goes next, which accesses are done, which value a read takes.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"
#include "sim/hooks.h"
#include "four_sms.h"

/* Each of 8 blocks of 64 threads takes a ticket, and thread 0 writes its block's number there; then all add
 * the word in `flag` to `sum`, and store behind the end of `at`. */
static const char text[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 at)\n{\n.reg .b64 d<8>;\n.reg .b32 r<8>;\n.reg .pred p;\n"
    "ld.param.u64 d1, [at];\nmov.u32 r1, %tid.x;\nmov.u32 r2, %ctaid.x;\n"
    "setp.ne.u32 p, r1, 0;\n@p bra $n;\n"
    "atom.global.add.u32 r3, [d1], 1;\nmul.wide.u32 d2, r3, 4;\nadd.u64 d3, d1, d2;\n"
    "st.global.u32 [d3+64], r2;\n"
    "$n:\nld.relaxed.gpu.global.u32 r4, [d1+4];\nred.global.add.u32 [d1+8], r4;\n"
    "st.global.u32 [d1+4096], r1;\nret;\n}\n";

typedef struct chooser {
  uint64_t ticket; /* what each atomic reads instead of what memory holds; 0: that */
  uint64_t end;    /* of what may be written */
  uint32_t asked[3], dropped, accesses, branches;
  uint64_t ranks[64]; /* of each warp of the launch, once it was asked for */
  bool by_rank;
  uint32_t n_asked, n_wrong, n_twice;
} chooser;

static sim_answer event(void *user, const sim_event *e) {
  chooser *c = user;
  c->branches += e->kind == SIM_EVENT_BRANCH && !e->branch.joins;
  if (e->kind != SIM_EVENT_ACCESS)
    return SIM_GO_ON;
  c->accesses++;
  if (e->access->reads && !e->access->writes && e->access->order == PTX_ORDER_RELAXED)
    for (int i = 0; i < SIM_WARP; i++)
      e->access->read[i][0] = 3; /* as if another write had been read */
  return SIM_YIELD;
}

static uint32_t allow(void *user, const sim_access *a, uint32_t legal) {
  chooser *c = user;
  uint32_t ok = legal;
  for (uint32_t i = 0; i < SIM_WARP; i++)
    if (a->writes && a->space == PTX_SPACE_GLOBAL && a->who->lanes >> i & 1 &&
        a->address[i] + a->bytes > c->end)
      ok &= ~(UINT32_C(1) << i), c->dropped++;
  return ok;
}

static uint32_t source(void *user, const sim_access *a) {
  chooser *c = user;
  if (!c->ticket || !a->writes || !a->returns)
    return 0;
  for (uint32_t i = 0; i < SIM_WARP; i++)
    a->read[i][0] = c->ticket;
  return a->who->lanes;
}

/* Drawn from the warp, and another after each of its turns. */
static uint64_t rank(void *user, const sim_turn *who) {
  chooser *c = user;
  c->n_asked++;
  return c->ranks[who->block * 2 + who->warp] = 1 + (who->block * 37 + who->warp * 11 + c->n_asked * 5) % 101;
}

/* Of all that can move, each named once, that with the highest rank. */
static uint32_t choose_highest(chooser *c, const sim_choice *k) {
  uint32_t best = sim_turn_highest(k, rank, c);
  bool named[64] = {false};
  const sim_turn first = sim_turn_at(k, best);
  for (uint32_t i = 0; i < k->n; i++) {
    const sim_turn who = sim_turn_at(k, i);
    uint32_t at = (uint32_t)who.block * 2 + who.warp;
    c->n_twice += named[at];
    named[at] = true;
    c->n_wrong += !c->ranks[at] || c->ranks[at] > c->ranks[first.block * 2 + first.warp];
  }
  c->ranks[first.block * 2 + first.warp] = 0; /* to be asked for anew */
  return best;
}

static uint32_t choose(void *user, const sim_choice *c) {
  chooser *x = user;
  x->asked[c->kind]++;
  if (x->by_rank && c->kind == SIM_CHOOSE_TURN)
    return choose_highest(x, c);
  return c->n - 1; /* always the last */
}

static int failed;
static void expect(bool ok, const char *what) {
  if (!ok)
    printf("failed: %s\n", what), failed++;
}

int main(void) {
  sim_device *d = sim_device_new(&four_sms);
  ptx_module *p = ptx_module_new("t_watch", text, sizeof text - 1);
  char *error = NULL;
  sim_module *m = d ? sim_module_new(d, p, NULL, 0, &error) : NULL;
  sim_kernel *k = m ? sim_module_kernel(m, "k", &error) : NULL;
  if (!k)
    return printf("%s\n", error ? error : "no device"), 1;
  uint64_t at = sim_memory_new(d, 4096);
  memset((void *)(uintptr_t)at, 0, 4096);
  chooser c = {.end = at + 4096};
  sim_watcher w = {.user = &c,
                   .watch = SIM_WATCH_ACCESS | SIM_WATCH_CHOICES | SIM_WATCH_FLOW | SIM_WATCH_BRANCHES,
                   .event = event,
                   .allow = allow,
                   .source = source,
                   .choose = choose};
  sim_device_watch(d, &w);
  sim_launch l = {.kernel = k, .grid = {8, 1, 1}, .block = {64, 1, 1}, .params = &at};
  sim_status s = {0};
  expect(sim_launch_start(d, &l, &error) != 0, "the launch starts");
  sim_device_run(d, 1u << 30, &s);
  const uint32_t *out = (const uint32_t *)(uintptr_t)at;
  expect(s.state == SIM_DONE, "and ends, though every thread writes behind the end");
  expect(out[0] == 8, "eight tickets");
  uint32_t seen = 0;
  for (int i = 0; i < 8; i++)
    seen |= 1u << out[16 + i];
  expect(seen == 0xff, "each block has one");
  expect(out[16] == 4, "blocks 7, 6, 5, 4 became resident, and the last of them went first");
  expect(out[2] == 8 * 64 * 3, "the watcher's value was read");
  expect(c.dropped == 8 * 64, "all writes behind the end were dropped");
  expect(c.branches == 8 * 2, "each warp tells of its branch, the one that parts and the one that does not");
  expect(c.asked[SIM_CHOOSE_START] > 0 && c.asked[SIM_CHOOSE_TURN] > 0 && c.asked[SIM_CHOOSE_UNIT] > 0,
         "every kind of choice was asked for");
  c.ticket = 100;
  expect(sim_launch_start(d, &l, &error) != 0, "it starts once more");
  sim_device_run(d, 1u << 30, &s);
  expect(s.state == SIM_DONE && out[0] == 101 && out[16 + 100] < 8, "atomics go on from the watcher's value");
  expect(out[2] == 2 * 8 * 64 * 3, "but those that return nothing from what memory holds");
  c.by_rank = true, c.asked[SIM_CHOOSE_TURN] = 0;
  expect(sim_launch_start(d, &l, &error) != 0, "and once more");
  sim_device_run(d, 1u << 30, &s);
  expect(s.state == SIM_DONE && c.asked[SIM_CHOOSE_TURN] > 16, "turns by rank");
  expect(c.n_twice == 0, "who can move is named once");
  expect(c.n_wrong == 0, "nobody who can move ranks above the one that is said to be the highest");
  expect(c.n_asked >= 16 && c.n_asked < c.asked[SIM_CHOOSE_TURN] + 17, "ranks are kept until the next turn");
  sim_device_watch(d, NULL);
  sim_module_free(m);
  sim_device_free(d);
  ptx_module_free(p);
  printf("%d failed\n", failed);
  return failed != 0;
}
