/* define.c: what nobody wrote and somebody uses: the rules uninit-*. The machine keeps book and tells uses
 * (src/sim/define.c); here they are put into words.
 *
 * Where accesses to shared memory race, a value may be missing only because its write came too late: the race
 * says so, and says it better. So what is found of shared memory waits for the end of the launch.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

typedef struct held {
  struct held *next;
  check_found found; /* its message is `text` */
  char text[];
} held;

typedef struct define {
  check *check;
  held *held, **end;
} define;

static void *new(check *c) {
  define *p = check_part_new(c, sizeof *p);
  if (p)
    p->end = &p->held;
  return p;
}

static void drop(void *part) {
  define *p = part;
  if (!p)
    return;
  for (held *h = p->held, *next; h; h = next) {
    next = h->next;
    free(h);
  }
  free(p);
}

static void hold(define *p, const check_found *f) {
  for (held *h = p->held; h; h = h->next)
    if (h->found.sides[0].spot.site == f->sides[0].spot.site &&
        h->found.sides[1].spot.site == f->sides[1].spot.site &&
        h->found.sides[0].spot.launch == f->sides[0].spot.launch) {
      h->found.count++;
      return;
    }
  held *h = malloc(sizeof *h + strlen(f->message) + 1);
  if (!h) {
    check_report(p->check, f);
    return;
  }
  strcpy(h->text, f->message);
  h->next = NULL;
  h->found = *f;
  h->found.message = h->text, h->found.count = 1;
  *p->end = h;
  p->end = &h->next;
}

void check_define_flush(check *c) {
  define *p = c->parts[CHECK_PART_define];
  if (!p->held)
    return;
  check_race_flush(c);
  for (held *h = p->held, *next; h; h = next) {
    const check_launch *l = check_launch_of(c, h->found.sides[0].spot.launch);
    next = h->next;
    if (!l || !check_was_found(c, MUSTER_RULE_RACE_SHARED, l->kernel))
      check_report(c, &h->found);
    free(h);
  }
  p->held = NULL, p->end = &p->held;
}

static const char *const uses[] = {
    [SIM_USE_BRANCH] = "decides a branch",
    [SIM_USE_ADDRESS] = "is used as an address",
    [SIM_USE_ATOMIC] = "goes into an atomic operation",
    [SIM_USE_STORE] = "is stored to global memory",
    [SIM_USE_BARRIER] = "says which barrier, or how many threads",
    [SIM_USE_CALL] = "decides which function is called",
};
static const char *const kinds[] = {
    [SIM_USE_BRANCH] = "read", [SIM_USE_ADDRESS] = "read",    [SIM_USE_ATOMIC] = "atomic",
    [SIM_USE_STORE] = "write", [SIM_USE_BARRIER] = "barrier", [SIM_USE_CALL] = "read",
};

static muster_rule rule_of(uint8_t space) {
  return space == PTX_SPACE_SHARED   ? MUSTER_RULE_UNINIT_SHARED
         : space == PTX_SPACE_GLOBAL ? MUSTER_RULE_UNINIT_GLOBAL
                                     : MUSTER_RULE_UNINIT_LOCAL;
}

static void put_value(const check *c, const sim_event *e, uint64_t launch, base_text *t) {
  check_buffer b;
  if (!e->undefined.read)
    base_puts(t, "a variable that was never set");
  else if (e->undefined.known && check_buffer_of(c, launch, e->undefined.space, e->undefined.address, &b))
    base_putf(t, "a value of %s that nobody wrote", b.name);
  else
    base_putf(t, "a value of %s memory that nobody wrote",
              e->undefined.space == PTX_SPACE_SHARED   ? "shared"
              : e->undefined.space == PTX_SPACE_GLOBAL ? "global"
                                                       : "local");
  base_putf(t, " %s", uses[e->undefined.use]);
}

static sim_answer event(void *user, const sim_event *e) {
  define *p = user;
  check *c = p->check;
  if (e->kind == SIM_EVENT_LAUNCH_END || e->kind == SIM_EVENT_FAULT)
    check_define_flush(c);
  if (e->kind != SIM_EVENT_UNDEFINED)
    return SIM_GO_ON;
  uint32_t lane = (uint32_t)__builtin_ctz(e->who.lanes);
  base_text t = {0};
  put_value(c, e, e->who.launch, &t);
  check_found f = {.rule = rule_of(e->undefined.space),
                   .message = t.bytes ? t.bytes : "a value that nobody wrote is used",
                   .sides = {{.kind = kinds[e->undefined.use], .spot = check_spot_of(c, &e->who, lane)}}};
  if (e->undefined.read) {
    sim_who read = *e->undefined.read;
    read.launch = e->who.launch, read.block = e->who.block, read.warp = e->who.warp;
    f.sides[1] = (check_side){.kind = "read", .spot = check_spot_of(c, &read, lane)};
    if (e->undefined.known) {
      f.sides[1].space = e->undefined.space;
      f.sides[1].address = e->undefined.address;
      f.sides[1].bytes = e->undefined.bytes;
    }
  }
  if (e->undefined.space == PTX_SPACE_SHARED)
    hold(p, &f);
  else
    check_report(c, &f);
  base_text_free(&t);
  return SIM_GO_ON;
}

const check_part check_part_define = {.name = "define",
                                      .watch = SIM_WATCH_DEFINED,
                                      .takes = CHECK_TAKES(LAUNCH_END) | CHECK_TAKES(FAULT) |
                                               CHECK_TAKES(UNDEFINED),
                                      .new = new,
                                      .free = drop,
                                      .event = event};
