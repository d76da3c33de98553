/* finding.c: what was found, each thing once. A finding is one for its rule, kernel and pair of instructions;
 * the owner is told at its first occurrence, and later how often it was met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/share.h"

typedef struct found {
  check_key key; /* count: in all */
  const char *kernel;
  uint64_t told;
} found;

typedef struct reason {
  struct reason *next;
  char text[];
} reason;

struct check_findings {
  found *all;
  uint32_t n, capacity;
  reason *reasons;
  check_site *racy; /* instructions of races */
  uint32_t n_racy, cap_racy;
  uint64_t last_racy; /* launch */
};

struct check_findings *check_findings_new(void) {
  return calloc(1, sizeof(struct check_findings));
}

void check_findings_free(struct check_findings *f) {
  if (!f)
    return;
  for (reason *r = f->reasons, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  free(f->all);
  free(f->racy);
  free(f);
}

void check_findings_counts(check *c) {
  struct check_findings *f = c->findings;
  for (uint32_t i = 0; i < f->n; i++)
    if (f->all[i].key.count != f->all[i].told) {
      f->all[i].told = f->all[i].key.count;
      c->sink.count(c->sink.user, i + 1, f->all[i].told);
    }
}

/* ------------------------------------------------------------------ what schedules ask */

static bool is_hang(muster_rule r) {
  return r == MUSTER_RULE_DEADLOCK_BARRIER || r == MUSTER_RULE_DEADLOCK_SPIN ||
         r == MUSTER_RULE_DEADLOCK_RESIDENCY;
}

static bool is_race(muster_rule r) {
  const char *id = muster_rule_get(r)->id;
  return strncmp(id, "race-", 5) == 0 || strncmp(id, "missing-", 8) == 0 || r == MUSTER_RULE_SAME_VALUE_WRITE;
}

bool check_races_at(const check *c, check_site site) {
  const struct check_findings *f = c->findings;
  for (uint32_t i = 0; i < f->n_racy; i++)
    if (f->racy[i] == site)
      return true;
  return false;
}

bool check_found_race(const check *c, uint64_t launch) {
  return c->findings->last_racy >= launch;
}

void check_note_race(check *c, uint64_t launch) {
  struct check_findings *all = c->findings;
  all->last_racy = launch > all->last_racy ? launch : all->last_racy;
  if (c->share)
    check_share_race(c->share, launch);
}

/* Of plain runs only: what another schedule is must not depend on which were run before it. */
static void note_instructions(check *c, const check_found *f) {
  struct check_findings *all = c->findings;
  for (int i = 0; i < MUSTER_ACCESSES && !c->further; i++) {
    check_site site = f->sides[i].spot.site;
    bool known = !site;
    for (uint32_t k = 0; k < all->n_racy && !known; k++)
      known = all->racy[k] == site;
    if (known)
      continue;
    if (!BASE_ROOM(all->racy, all->n_racy, all->cap_racy))
      return;
    all->racy[all->n_racy++] = site;
  }
}

/* ------------------------------------------------------------------ sides in words */

static const char *space_name(uint8_t space) {
  switch (space) {
  case PTX_SPACE_GLOBAL:
    return "global";
  case PTX_SPACE_SHARED:
    return "shared";
  case PTX_SPACE_LOCAL:
    return "local";
  case PTX_SPACE_CONST:
    return "const";
  case PTX_SPACE_PARAM:
    return "param";
  default:
    return NULL;
  }
}

/* Reports hold no addresses: a buffer and an offset in it. */
static void put_address(const check *c, const check_side *s, muster_access *out, check_buffer *room) {
  out->offset = s->space == PTX_SPACE_GLOBAL || s->space == PTX_SPACE_CONST ? 0 : s->address;
  out->buffer = s->space ? space_name(s->space) : NULL;
  if (!check_buffer_of(c, s->spot.launch, s->space, s->address, room)) {
    out->buffer = s->space == PTX_SPACE_GLOBAL ? NULL : out->buffer;
    return;
  }
  if (room->offset >= 0)
    out->buffer = room->name, out->offset = (uint64_t)room->offset;
  else
    out->buffer = NULL; /* before its begin: the message says how far */
}

bool check_was_found(const check *c, muster_rule rule, const char *kernel) {
  for (uint32_t i = 0; i < c->findings->n; i++)
    if (c->findings->all[i].key.rule == rule && strcmp(c->findings->all[i].kernel, kernel) == 0)
      return true;
  return false;
}

bool check_was_wrong(const check *c, const char *kernel) {
  for (uint32_t i = 0; i < c->findings->n; i++)
    if (c->findings->all[i].key.severity != MUSTER_NOTE && strcmp(c->findings->all[i].kernel, kernel) == 0)
      return true;
  return false;
}

static muster_severity severity_of(const check_found *f) {
  return f->error    ? MUSTER_ERROR
         : f->note   ? MUSTER_NOTE
         : f->milder ? MUSTER_WARNING
                     : muster_rule_get(f->rule)->severity;
}

/* Whether it is known; then it is counted. */
static bool met_again(check *c, const check_key *key, const char *kernel) {
  struct check_findings *all = c->findings;
  for (uint32_t i = 0; i < all->n; i++) {
    found *k = &all->all[i];
    if (k->key.rule != key->rule || memcmp(k->key.sites, key->sites, sizeof key->sites) != 0 ||
        strcmp(k->kernel, kernel) != 0)
      continue;
    k->key.count += key->count;
    if (c->share)
      check_share_finding(c->share, key, NULL);
    return true;
  }
  return false;
}

static void keep(check *c, const check_key *key, const char *kernel, const muster_finding *f) {
  struct check_findings *all = c->findings;
  if (!BASE_ROOM(all->all, all->n, all->capacity)) {
    check_unjudged(c, "out of memory: a finding could not be kept");
    return;
  }
  all->all[all->n++] = (found){.key = *key, .kernel = kernel, .told = key->count};
  if (c->share)
    check_share_finding(c->share, key, f);
  else
    c->sink.finding(c->sink.user, all->n, f);
}

void check_report(check *c, const check_found *f) {
  check_found unfair = *f;
  char stray[CHECK_WEAK_WORDS], message[2048];
  c->n_muted += c->muted && !c->rehearsal;
  if (c->rehearsal || c->muted)
    return;
  if (c->unfair && is_hang(f->rule)) {
    if (!check_unfair_found(c, &unfair))
      return;
    f = &unfair;
  }
  const check_launch *l = check_launch_of(c, f->launch ? f->launch : f->sides[0].spot.launch);
  if (l && !l->selected)
    return;
  const char *kernel = f->kernel ? f->kernel : l ? l->kernel : "";
  char replay[MUSTER_REPLAY_BYTES];
  if (is_race(f->rule)) {
    check_note_race(c, l ? l->id : 0);
    note_instructions(c, f);
  }
  if (!check_is_on(c, f->rule) || !check_replay_of(c, l ? l->id : 0, replay))
    return;
  const check_key key = {.rule = f->rule,
                         .severity = severity_of(f),
                         .launch = l ? l->id : 0,
                         .sites = {f->sides[0].spot.site, f->sides[1].spot.site},
                         .count = f->count ? f->count : 1};
  if (met_again(c, &key, kernel))
    return;
  check_weak_words(c, stray);
  snprintf(message, sizeof message, "%s%s", f->message, stray);
  check_buffer rooms[MUSTER_ACCESSES];
  muster_finding out = {.rule = f->rule,
                        .severity = key.severity,
                        .kernel = kernel,
                        .launch = key.launch,
                        .relation = f->relation,
                        .message = message,
                        .count = key.count,
                        .replay = replay[0] ? replay : NULL,
                        .n_waiting = f->n_waiting};
  for (int i = 0; i < MUSTER_ACCESSES && f->sides[i].kind; i++) {
    const check_side *s = &f->sides[i];
    muster_access *a = &out.accesses[out.n_accesses++];
    *a = (muster_access){.kind = s->kind, .space = space_name(s->space), .bytes = s->bytes};
    check_place_fill(c, &s->spot, a);
    put_address(c, s, a, &rooms[i]);
    if (a->func && l && strcmp(a->func, l->kernel) == 0)
      a->func = NULL;
  }
  out.missing.what = f->missing, out.missing.text = f->missing_text;
  if (f->missing_site) {
    muster_access place = {0};
    check_place_fill(c, &(check_spot){.site = f->missing_site}, &place);
    out.missing.file = place.file, out.missing.line = place.line, out.missing.ptx_line = place.ptx_line;
  }
  memcpy(out.waiting, f->waiting, sizeof out.waiting);
  out.residency.needed = f->needed, out.residency.fits = f->fits;
  out.residency.limit = f->limit, out.residency.launch = f->launch_that_fits;
  keep(c, &key, kernel, &out);
}

void check_keep(check *c, const check_key *key, const muster_finding *f) {
  const check_launch *l = check_launch_of(c, key->launch);
  const char *kernel = l ? l->kernel : "";
  if (!met_again(c, key, kernel) && f)
    keep(c, key, kernel, f);
}

void check_unjudged(check *c, const char *format, ...) {
  char text[512];
  va_list args;
  if (c->rehearsal || c->muted)
    return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  for (const reason *r = c->findings->reasons; r; r = r->next)
    if (strcmp(r->text, text) == 0)
      return;
  reason *r = malloc(sizeof *r + strlen(text) + 1);
  if (r) {
    strcpy(r->text, text);
    r->next = c->findings->reasons;
    c->findings->reasons = r;
  }
  if (c->share)
    check_share_text(c->share, true, text);
  else
    c->sink.unjudged(c->sink.user, text);
}

void check_note(check *c, const char *text) {
  if (c->share)
    check_share_text(c->share, false, text);
  else if (c->sink.note)
    c->sink.note(c->sink.user, text);
}
