/* grid.c: barriers of several blocks: the rules barrier-uneven and not-cooperative. Two kinds are known: that
 * of the grid, by the workspace that the driver gives a cooperative launch, and those of muster's groups, by
 * the magic number with which a block opens a slot of their workspace (muster/types.h). An arrival is an
 * atomic at the barrier's words; who takes part is known from the launch, or from the opening.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "muster/types.h"

typedef struct member {
  uint64_t launch, words, block; /* words: address of the workspace, or of the slot */
  uint64_t arrivals;
  uint32_t next; /* of the same hash */
  bool ended, dropped;
  check_spot last;
} member;

typedef struct grid_launch {
  uint64_t id, workspace;
  bool uses_workspace, cooperative;
} grid_launch;

enum { HEADS = 1 << 12 };

typedef struct grid {
  check *check;
  member *members; /* [1, n_members) */
  uint32_t n_members, cap_members, heads[HEADS];
  grid_launch *launches; /* that run */
  uint32_t n_launches, cap_launches;
} grid;

static void *new(check *c) {
  grid *p = check_part_new(c, sizeof *p);
  if (p)
    p->n_members = 1;
  return p;
}

static void drop(void *part) {
  grid *p = part;
  if (!p)
    return;
  free(p->members);
  free(p->launches);
  free(p);
}

static void no_memory(grid *p) {
  check_unjudged(p->check, "out of memory: barriers of several blocks were not watched");
}

static grid_launch *launch_of(grid *p, uint64_t id) {
  for (uint32_t i = 0; i < p->n_launches; i++)
    if (p->launches[i].id == id)
      return &p->launches[i];
  return NULL;
}

static uint32_t *head_of(grid *p, uint64_t launch, uint64_t block) {
  return &p->heads[(launch * 31 + block) % HEADS];
}

static member *member_of(grid *p, uint64_t launch, uint64_t words, uint64_t block, bool make) {
  uint32_t *head = head_of(p, launch, block);
  for (uint32_t m = *head; m; m = p->members[m].next)
    if (p->members[m].block == block && p->members[m].words == words && p->members[m].launch == launch)
      return &p->members[m];
  if (!make)
    return NULL;
  if (!BASE_ROOM(p->members, p->n_members, p->cap_members)) {
    no_memory(p);
    return NULL;
  }
  p->members[p->n_members] = (member){.launch = launch, .words = words, .block = block, .next = *head};
  *head = p->n_members++;
  return &p->members[p->n_members - 1];
}

/* ------------------------------------------------------------------ arrivals */

static void arrive(grid *p, member *m, const sim_access *a, uint32_t lane) {
  if (m)
    m->arrivals++, m->last = check_spot_of(p->check, a->who, lane);
}

/* Of muster's groups; a slot is known once this block has opened it. */
static bool at_slot(grid *p, const sim_access *a, uint32_t lane) {
  uint64_t address = sim_address_of(a, lane), read = sim_value_read(a, lane),
           written = sim_value_written(a, lane);
  if (a->bytes != 8)
    return false;
  if ((uint32_t)read == MU_SLOT_MAGIC || (a->stored >> lane & 1 && (uint32_t)written == MU_SLOT_MAGIC)) {
    member_of(p, a->who->launch, address, a->who->block, true);
    return true;
  }
  for (uint32_t m = *head_of(p, a->who->launch, a->who->block); m; m = p->members[m].next) {
    member *k = &p->members[m];
    uint64_t at = address - k->words;
    if (k->launch != a->who->launch || k->block != a->who->block || at >= sizeof(mu_slot))
      continue;
    if (at == offsetof(mu_slot, drops))
      k->dropped = true;
    else if (at >= offsetof(mu_slot, counts) && at < offsetof(mu_slot, sums) && written - read == 1)
      arrive(p, k, a, lane);
    return true;
  }
  return false;
}

static void access(grid *p, const sim_access *a) {
  if (!a->reads || !a->writes || a->space != PTX_SPACE_GLOBAL || !a->who->lanes)
    return;
  uint32_t lane = (uint32_t)__builtin_ctz(a->who->lanes);
  const grid_launch *l = launch_of(p, a->who->launch);
  if (l && l->workspace && sim_address_of(a, lane) - l->workspace < 16)
    arrive(p, member_of(p, l->id, l->workspace, a->who->block, true), a, lane);
  else
    at_slot(p, a, lane);
}

/* ------------------------------------------------------------------ findings */

static void put_block(const check *c, const member *m, char *out, size_t bytes) {
  muster_access a = {0};
  check_place_fill(c, &(check_spot){.launch = m->launch, .block = m->block}, &a);
  snprintf(out, bytes, "block (%u,%u,%u)", a.block[0], a.block[1], a.block[2]);
}

static int by_words(const void *a, const void *b) {
  const member *x = *(member *const *)a, *y = *(member *const *)b;
  if (x->words != y->words)
    return x->words < y->words ? -1 : 1;
  return x->block < y->block ? -1 : x->block > y->block;
}

static void uneven(const grid *p, const member *most, const member *least, bool ended, check_found *f,
                   char *message, size_t bytes) {
  char names[2][64];
  put_block(p->check, most, names[0], sizeof names[0]);
  put_block(p->check, least, names[1], sizeof names[1]);
  bool whole = false;
  for (uint32_t i = 0; i < p->n_launches; i++)
    whole |= p->launches[i].id == most->launch && p->launches[i].workspace == most->words;
  snprintf(message, bytes,
           "%s came to the barrier of %s %" PRIu64 " time%s, %s %" PRIu64
           " time%s%s: every block has to come equally often",
           names[0], whole ? "the grid" : "its group", most->arrivals, most->arrivals == 1 ? "" : "s",
           names[1], least->arrivals, least->arrivals == 1 ? "" : "s",
           ended ? " and left the kernel, so that nobody can move any more" : "");
  *f = (check_found){
      .rule = MUSTER_RULE_BARRIER_UNEVEN,
      .relation = "launch",
      .launch = most->launch,
      .message = message,
      .missing = "grid-barrier",
      .missing_text =
          "the same number of calls in every block: no early return and no loop of its own length "
          "around the barrier",
      .sides = {{.kind = "barrier", .spot = most->last}}};
  if (least->arrivals)
    f->sides[1] = (check_side){.kind = "barrier", .spot = least->last};
}

bool check_grid_uneven(check *c, uint64_t launch, bool ended, check_found *f, char *message, size_t bytes) {
  const grid *p = c->parts[CHECK_PART_grid];
  uint32_t n = 0;
  member **all = p->n_members > 1 ? malloc(p->n_members * sizeof *all) : NULL;
  for (uint32_t m = 1; all && m < p->n_members; m++)
    if (p->members[m].launch == launch && !p->members[m].dropped)
      all[n++] = &p->members[m];
  if (n)
    qsort(all, n, sizeof *all, by_words);
  bool found = false;
  for (uint32_t m = 0, end; m < n && !found; m = end) {
    const member *most = NULL, *least = NULL;
    for (end = m; end < n && all[end]->words == all[m]->words; end++) {
      if (!most || all[end]->arrivals > most->arrivals)
        most = all[end];
      if ((all[end]->ended || !ended) && (!least || all[end]->arrivals < least->arrivals))
        least = all[end];
    }
    found = least && least->arrivals < most->arrivals;
    if (found)
      uneven(p, most, least, ended, f, message, bytes);
  }
  free(all);
  return found;
}

static void not_cooperative(grid *p, const sim_event *e) {
  const grid_launch *l = launch_of(p, e->who.launch);
  if (!l || !l->uses_workspace || l->cooperative || e->fault->kind != SIM_FAULT_TRAP)
    return;
  uint32_t lane = e->who.lanes ? (uint32_t)__builtin_ctz(e->who.lanes) : 0;
  check_report(
      p->check,
      &(check_found){
          .rule = MUSTER_RULE_NOT_COOPERATIVE,
          .relation = "launch",
          .message = "a barrier of the whole grid in a launch that is not cooperative: the grid has no "
                     "workspace for it, and the barrier traps",
          .missing = "cooperative-launch",
          .missing_text = "cudaLaunchCooperativeKernel in place of <<<...>>>, which also makes sure that "
                          "all blocks are resident",
          .sides = {{.kind = "barrier", .spot = check_spot_of(p->check, &e->who, lane)}}});
}

/* ------------------------------------------------------------------ events */

static void begin(grid *p, const sim_event *e) {
  sim_kernel_info info;
  if (!BASE_ROOM(p->launches, p->n_launches, p->cap_launches)) {
    no_memory(p);
    return;
  }
  sim_kernel_get(e->launch.launch->kernel, &info);
  p->launches[p->n_launches++] =
      (grid_launch){.id = e->who.launch,
                    .workspace = info.uses_grid_workspace ? e->launch.workspace : 0,
                    .uses_workspace = info.uses_grid_workspace,
                    .cooperative = e->launch.launch->cooperative};
}

/* Takes a launch's members out. */
static void forget(grid *p, uint64_t launch) {
  uint32_t kept = 1;
  memset(p->heads, 0, sizeof p->heads);
  for (uint32_t m = 1; m < p->n_members; m++) {
    if (p->members[m].launch == launch)
      continue;
    member *k = &p->members[kept];
    *k = p->members[m];
    uint32_t *head = head_of(p, k->launch, k->block);
    k->next = *head;
    *head = kept++;
  }
  p->n_members = kept;
  for (uint32_t i = 0; i < p->n_launches; i++)
    if (p->launches[i].id == launch) {
      p->launches[i] = p->launches[--p->n_launches];
      return;
    }
}

static sim_answer event(void *part, const sim_event *e) {
  grid *p = part;
  check_found f;
  char message[512];
  switch (e->kind) {
  case SIM_EVENT_LAUNCH:
    begin(p, e);
    break;
  case SIM_EVENT_BLOCK: { /* every block of the grid takes part in its barrier */
    const grid_launch *l = launch_of(p, e->who.launch);
    if (l && l->workspace)
      member_of(p, l->id, l->workspace, e->who.block, true);
    break;
  }
  case SIM_EVENT_BLOCK_END:
    for (uint32_t m = *head_of(p, e->who.launch, e->who.block); m; m = p->members[m].next)
      if (p->members[m].launch == e->who.launch && p->members[m].block == e->who.block)
        p->members[m].ended = true;
    break;
  case SIM_EVENT_LAUNCH_END:
    if (check_grid_uneven(p->check, e->who.launch, false, &f, message, sizeof message))
      check_report(p->check, &f);
    forget(p, e->who.launch);
    break;
  case SIM_EVENT_FAULT:
    not_cooperative(p, e);
    break;
  case SIM_EVENT_ACCESS:
    access(p, e->access);
    break;
  default:
    break;
  }
  return SIM_GO_ON;
}

const check_part check_part_grid = {.name = "grid",
                                    .watch = SIM_WATCH_ACCESS | SIM_WATCH_SYNC,
                                    .takes = CHECK_TAKES(LAUNCH) | CHECK_TAKES(LAUNCH_END) |
                                             CHECK_TAKES(BLOCK) | CHECK_TAKES(BLOCK_END) |
                                             CHECK_TAKES(FAULT) | CHECK_TAKES(ACCESS),
                                    .new = new,
                                    .free = drop,
                                    .event = event};
