/* t_gang.c: warps of a block that go together under a watcher tell it what each of them would tell alone: the
 * events of each warp are compared, of warps that go one by one, of gangs that tell each access, and of gangs
 * that tell the accesses of several warps, and barriers, at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ptx/ptx.h"
#include "sim/hooks.h"
#include "four_sms.h"

/* Loops of equal and of unequal length, guards, a short branch that some lanes take, words side by side,
 * apart, all the same, narrower than their registers, vectors, atomics, shuffles, barriers, a call, and words
 * that nobody wrote. */
static const char text[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".func (.reg .b32 out) twice(.reg .b32 in)\n{\nadd.u32 out, in, in;\nret;\n}\n"
    ".visible .entry k(.param .u64 at)\n{\n"
    ".shared .align 16 .b32 own[512];\n.reg .b64 a, b, d, o;\n.reg .b32 t, n, i, v, s, u, w<4>;\n"
    ".reg .pred p, q;\n"
    "ld.param.u64 a, [at];\nmov.u32 t, %tid.x;\nmov.u32 n, %ntid.x;\nmov.u32 i, %ctaid.x;\n"
    "mad.lo.u32 i, i, n, t;\nmul.wide.u32 d, i, 4;\nadd.u64 b, a, d;\n"
    "st.global.u32 [b], t;\n" /* side by side */
    "ld.global.u32 v, [b];\n"
    "cvt.u64.u32 d, i;\nadd.u64 d, a, d;\nld.global.u8 s, [d];\n" /* bytes into words */
    "ld.global.u32 u, [a];\nadd.u32 v, v, u;\n"                   /* all the same */
    "shl.b32 w0, t, 2;\nmov.u32 w1, own;\nadd.u32 w1, w1, w0;\n"
    "st.shared.u32 [w1], v;\n"
    "bar.sync 0;\n"
    "and.b32 w2, t, 103;\nshl.b32 w2, w2, 2;\nmov.u32 w3, own;\nadd.u32 w3, w3, w2;\n"
    "red.shared.add.u32 [w3], 1;\n" /* scattered */
    "mov.u32 w2, %ctaid.x;\nshl.b32 w2, w2, 7;\nadd.u32 w2, w2, t;\nand.b32 w2, w2, -32;\nmul.wide.u32 o, "
    "w2, 1;\nadd.u64 o, a, o;\natom.global.add.u32 u, [o+8192], 1;\n"
    "bar.sync 0;\n"
    "setp.lt.u32 p, t, 40;\n@!p bra $short;\n" /* a whole warp, and a part of the next */
    "ld.shared.u32 u, [w1];\nadd.u32 u, u, s;\nst.shared.u32 [w1], u;\n"
    "$short:\nbar.sync 0;\n"
    "setp.gt.u32 q, t, 20;\n@q ld.shared.u32 s, [w3];\n@q st.global.u32 [b+4096], s;\n"
    "shfl.sync.bfly.b32 v, v, 1, 31, -1;\n"
    "{.reg .b32 x;\ncall (x), twice, (v);\nmov.b32 v, x;\n}\n"
    "and.b32 w2, t, 3;\n"
    "$loop:\nadd.u32 v, v, 1;\nst.global.u32 [b], v;\nsub.u32 w2, w2, 1;\nsetp.ge.s32 p, w2, 0;\n@p bra "
    "$loop;\n"
    "bar.sync 0;\nmul.wide.u32 o, t, 16;\nadd.u64 o, a, o;\n"
    "ld.global.v4.u32 {w0, w1, w2, w3}, [o+16384];\n" /* nobody wrote them */
    "add.u32 w0, w0, w1;\nst.global.u32 [b+4096], w0;\n"
    "setp.eq.u32 p, w2, 7;\n@p bra $end;\nst.global.u32 [b+4096], v;\n"
    "$end:\nfence.acq_rel.gpu;\nret;\n}\n";

enum { THREADS = 96 + 4, BLOCKS = 3 };

/* ------------------------------------------------------------------ watchers */

static const sim_watcher *tracer; /* which writes what it is told */

static sim_answer event(void *user, const sim_event *e) {
  (void)user;
  return tracer->event(tracer->user, e);
}

static unsigned n_several, n_met;
static void several(void *user, const sim_access *a, const sim_part *parts, uint32_t n) {
  sim_access one = *a;
  sim_event e = {.kind = SIM_EVENT_ACCESS, .who = *a->who, .access = &one};
  one.who = &e.who;
  n_several++;
  for (uint32_t i = 0; i < n; i++) {
    e.who.warp = parts[i].warp;
    one.base = parts[i].base;
    one.lanes_read = a->reads ? parts[i].lanes : NULL;
    one.lanes_written = a->writes ? parts[i].lanes : NULL;
    event(user, &e);
  }
}

static void met(void *user, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  sim_event one = *e;
  n_met++;
  for (int k = 0; k < 2; k++)
    for (uint32_t w = 0; w < n_warps; w++) {
      one.kind = k ? SIM_EVENT_LEAVE : SIM_EVENT_ARRIVE;
      one.who.warp = w, one.who.lanes = lanes[w];
      if (lanes[w])
        event(user, &one);
    }
}

/* ------------------------------------------------------------------ what they were told */

typedef struct line {
  unsigned block, warp, number;
  char *text;
} line;

static int order(const void *x, const void *y) {
  const line *a = x, *b = y;
  if (a->block != b->block)
    return a->block < b->block ? -1 : 1;
  if (a->warp != b->warp)
    return a->warp < b->warp ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* The events of each warp, warp by warp, without what others have to do with them. */
static char *by_warp(char *all) {
  line *lines = malloc((strlen(all) / 8 + 1) * sizeof *lines);
  unsigned n = 0;
  for (char *at = strtok(all, "\n"); at; at = strtok(NULL, "\n")) {
    const char *block = strstr(at, " block "), *warp = strstr(at, " warp ");
    char *have = strstr(at, " have ");
    if (!block || !warp)
      continue;
    if (have)
      *have = 0;
    lines[n] = (line){(unsigned)atoi(block + 7), (unsigned)atoi(warp + 6), n, at};
    n++;
  }
  qsort(lines, n, sizeof *lines, order);
  base_text t = {0};
  for (unsigned i = 0; i < n; i++)
    base_putf(&t, "%s\n", lines[i].text);
  free(lines);
  return t.bytes;
}

static char *run(bool alone, bool at_once) {
  const uint32_t watch =
      SIM_WATCH_ACCESS | SIM_WATCH_SYNC | SIM_WATCH_FLOW | SIM_WATCH_BRANCHES | SIM_WATCH_DEFINED;
  base_text out = {0};
  char *error = NULL;
  sim_device *d = sim_device_new(&four_sms);
  ptx_module *p = ptx_module_new("t_gang", text, sizeof text - 1);
  sim_module *m = d ? sim_module_new(d, p, NULL, 0, &error) : NULL;
  sim_kernel *k = m ? sim_module_kernel(m, "k", &error) : NULL;
  sim_watcher *t = sim_trace_new(&out, watch);
  if (!k || !t) {
    printf("%s\n", error ? error : "no device");
    exit(1);
  }
  tracer = t;
  sim_watcher w = {.watch = watch | (alone ? SIM_WATCH_STEPS : 0),
                   .event = event,
                   .several = at_once ? several : NULL,
                   .met = at_once ? met : NULL};
  sim_device_watch(d, &w);
  uint64_t at = sim_memory_new(d, 32768);
  memset((void *)(uintptr_t)at, 0, 32768);
  sim_memory_define(d, at, 16384, true);
  sim_launch l = {.kernel = k, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .params = &at};
  sim_status s = {0};
  if (!sim_launch_start(d, &l, &error) || (sim_device_run(d, 1u << 30, &s), s.state != SIM_DONE)) {
    printf("the launch ends with %d: %s\n", s.state, error ? error : "");
    exit(1);
  }
  sim_device_watch(d, NULL);
  sim_module_free(m);
  sim_device_free(d);
  ptx_module_free(p);
  sim_trace_free(t);
  char *lines = by_warp(out.bytes);
  free(out.bytes);
  return lines;
}

static int differ(const char *what, const char *a, const char *b) {
  const char *x = a, *y = b;
  while (*x && *x == *y)
    x++, y++;
  if (*x == *y)
    return 0;
  while (x > a && x[-1] != '\n')
    x--, y--;
  printf("failed: %s: alone\n%.*s\nin a gang\n%.*s\n", what, (int)strcspn(x, "\n"), x, (int)strcspn(y, "\n"),
         y);
  return 1;
}

int main(void) {
  char *alone = run(true, false), *each = run(false, false), *at_once = run(false, true);
  int failed = differ("told one by one", alone, each) + differ("told at once", alone, at_once);
  if (!n_several || !n_met) {
    printf("failed: accesses told at once: %u; barriers: %u\n", n_several, n_met);
    failed++;
  }
  for (const char *const *what =
           (const char *const[]){"undefined", "collective", "branch", "fence", "exit", "call", NULL};
       *what; what++)
    if (!strstr(alone, *what)) {
      printf("failed: no event %s\n", *what);
      failed++;
    }
  printf("%zu bytes of events, %d failed\n", strlen(alone), failed);
  free(alone);
  free(each);
  free(at_once);
  return failed != 0;
}
