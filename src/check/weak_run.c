/* weak_run.c: schedules in which a few reads take other writes than memory's last, as the memory model allows
 * (weak.h). Runs are tried, untold, until one comes out that it allows; that one is judged. */
#include <stdio.h>
#include <string.h>

#include "check/schedule.h"
#include "check/weak.h"

enum {
  TRIES = 24,          /* runs until one must have come out */
  DECISIONS = 3,       /* reads that stray, at most */
  MOST_WORK = 1 << 24, /* of judging them: some hundredths of a second */
  FEW = 16,            /* reads that may take several writes */
  SMALL = 512          /* runs to try all executions */
};

uint32_t check_weak_source(void *user, const sim_access *a) {
  check *c = user;
  uint32_t lanes = weak_source(c->weak, a);
  if (lanes && !c->stray.launch) {
    c->stray = check_spot_of(c, a->who, (uint32_t)__builtin_ctz(lanes));
    c->stray_early = weak_is_early(c->weak);
  }
  return lanes;
}

void check_weak_words(const check *c, char text[CHECK_WEAK_WORDS]) {
  muster_access at = {0};
  text[0] = 0;
  if (!c->weak || !c->stray.launch)
    return;
  check_place_fill(c, &c->stray, &at);
  char place[160];
  if (at.file)
    snprintf(place, sizeof place, "%s:%u", at.file, at.line);
  else
    snprintf(place, sizeof place, "PTX line %u", at.ptx_line);
  snprintf(text, CHECK_WEAK_WORDS,
           ", after thread (%u,%u,%u) of block (%u,%u,%u) read %s at %s, which the memory model allows",
           at.thread[0], at.thread[1], at.thread[2], at.block[0], at.block[1], at.block[2],
           c->stray_early ? "what is stored only later" : "a stale value", place);
}

/* Plays runs until one that the memory model allows was told of. *unjudged: why none could be. */
static check_outcome try(check *c, const check_plan *plan, const weak_options *options,
                         const char **unjudged) {
  check_outcome outcome = CHECK_ENDED;
  weak_run run = WEAK_TRY;
  weak *w = weak_new(options);
  if (!w)
    return CHECK_FAILED;
  for (uint32_t i = 0; i < TRIES && run != WEAK_SHOW && outcome != CHECK_FAILED; i++) {
    run = weak_next(w);
    if (run == WEAK_NO_RUN)
      break;
    c->weak = w;
    c->rehearsal = run == WEAK_TRY;
    c->stray = (check_spot){0};
    c->watcher.source = check_weak_source;
    outcome = check_play(c, plan, CHECK_FAIR);
    c->watcher.source = NULL;
    c->weak = NULL;
    c->rehearsal = false;
    weak_ran(w, outcome == CHECK_ENDED || outcome == CHECK_FAULTED);
  }
  *unjudged = weak_unjudged(w);
  weak_free(w);
  return outcome == CHECK_FAILED ? CHECK_FAILED : CHECK_ENDED;
}

/* Where that is not to be had, a schedule of another kind. */
static check_outcome play_other(check *c, const check_plan *plan) {
  check_plan other = *plan;
  other.kind = CHECK_PCT;
  return check_play(c, &other, CHECK_FAIR);
}

check_outcome check_play_weak(check *c, const check_plan *plan) {
  const char *unjudged = NULL;
  if (check_lockstep(c) || c->weak_hopeless) /* the memory model begins with sm_70 */
    return play_other(c, plan);
  weak_options o = {.show = true,
                    .decisions = 1 + (uint32_t)(plan->random % DECISIONS),
                    .nth = plan->nth,
                    .seed = plan->random};
  check_outcome outcome = try(c, plan, &o, &unjudged);
  o.stale = true; /* if it is large */
  if (unjudged && outcome != CHECK_FAILED)
    outcome = try(c, plan, &o, &unjudged);
  if (!unjudged || outcome == CHECK_FAILED)
    return outcome;
  c->weak_hopeless = true;
  if (!c->weak_noted) {
    char text[256];
    c->weak_noted = true;
    snprintf(text, sizeof text, "stale values were not tried in every launch: %s", unjudged);
    check_note(c, text);
  }
  return play_other(c, plan);
}

bool check_weak_exhausts(check *c) {
  const check_plan plan = {.kind = CHECK_PLAIN};
  weak *w = check_lockstep(c)
                ? NULL
                : weak_new(&(weak_options){
                      .exhaustive = true, .show = true, .max_reads = FEW, .max_work = MOST_WORK});
  bool fine = w != NULL;
  weak_run run = WEAK_TRY;
  c->muted = true;
  c->n_muted = 0;
  c->watcher.source = check_weak_source;
  for (uint32_t i = 0; fine && (run = weak_next(w)) != WEAK_NO_RUN; i++) {
    c->weak = w;
    c->rehearsal = run == WEAK_TRY;
    check_outcome outcome = check_play(c, &plan, CHECK_FAIR);
    bool faulted = outcome == CHECK_FAULTED && c->rehearsal; /* perhaps the model forbids it */
    fine = i < SMALL && (outcome == CHECK_ENDED || faulted) && !c->n_muted;
    weak_ran(w, fine);
  }
  c->watcher.source = NULL;
  c->weak = NULL;
  c->rehearsal = c->muted = false;
  fine = fine && !weak_unjudged(w) && !weak_races(w);
  weak_free(w);
  return fine;
}
