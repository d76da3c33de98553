/* inspect.c: the checker on a device, where the session asks for it: options in, findings out as messages. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "driver/drv.h"

static void finding(void *user, uint64_t id, const muster_finding *f) {
  char *json = muster_finding_json(f);
  (void)user;
  if (json)
    muster_session_say(MUSTER_MESSAGE_FINDING, "%llu %s", (unsigned long long)id, json);
  else
    muster_session_say(MUSTER_MESSAGE_FAILURE, "out of memory: a finding is lost");
  free(json);
}

static void count(void *user, uint64_t id, uint64_t n) {
  (void)user;
  muster_session_say(MUSTER_MESSAGE_COUNT, "%llu %llu", (unsigned long long)id, (unsigned long long)n);
}

static void unjudged(void *user, const char *reason) {
  (void)user;
  muster_session_say(MUSTER_MESSAGE_UNJUDGED, "%s", reason);
}

static bool options(check_options *o) {
  const muster_session *s = muster_session_get();
  const muster_check_words *w = &s->checks;
  char *error = NULL;
  *o = (check_options){.seed = s->seed,
                       .schedules = w->schedules,
                       .shard = w->shard,
                       .shards = w->shards,
                       .replay = w->replay,
                       .strict = w->strict,
                       .lockstep = w->lockstep,
                       .allow_missing_acquire = w->allow_missing_acquire};
  if (w->volatiles)
    o->volatiles = strcmp(w->volatiles, "strong") == 0 ? CHECK_VOLATILE_STRONG
                   : strcmp(w->volatiles, "weak") == 0 ? CHECK_VOLATILE_WEAK
                                                       : CHECK_VOLATILE_MIXED;
  o->fence_sc_exact = w->fence_sc && strcmp(w->fence_sc, "exact") == 0;
  if (muster_rule_set_parse(w->rules, &o->rules, &error))
    return true;
  muster_session_say(MUSTER_MESSAGE_FAILURE, "--rules: %s", error ? error : "out of memory");
  free(error);
  return false;
}

bool drv_inspect_begin(drv_device *d) {
  static const check_sink sink = {.finding = finding, .count = count, .unjudged = unjudged};
  check_options o;
  if (!muster_session_get()->check)
    return true;
  if (!options(&o) || !(d->check = check_new(&o, &sink, d->sim)))
    return false;
  sim_device_watch(d->sim, check_watcher(d->check));
  return true;
}

void drv_inspect_end(drv_device *d) {
  if (!d->check)
    return;
  check_end(d->check);
  sim_device_watch(d->sim, NULL);
  check_free(d->check);
  d->check = NULL;
}

void drv_inspect_launched(drv_device *d) {
  static uint64_t launches;
  if (!d->check)
    return;
  const muster_session *s = muster_session_get();
  char *json = muster_summary_json(&(muster_summary){.gpu = d->profile->name,
                                                     .seed = s->seed,
                                                     .launches = ++launches,
                                                     .schedules_asked = s->checks.schedules,
                                                     .schedules_run = 1});
  if (json)
    muster_session_say(MUSTER_MESSAGE_SUMMARY, "%s", json);
  free(json);
}
