/* inspect.c: the checker on a device, where the session asks for it: options in, findings out as messages. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "driver/drv.h"

/* Who runs without a muster that reports gets a line a finding. */
static void finding(void *user, uint64_t id, const muster_finding *f) {
  muster_finding named = *f;
  named.process = program_invocation_short_name;
  bool parent = muster_session_has_parent();
  char *json = parent ? muster_finding_json(&named) : muster_finding_line(&named);
  (void)user;
  if (json && !parent)
    muster_session_say(MUSTER_MESSAGE_ERROR, "%s", json);
  else if (json)
    muster_session_say(MUSTER_MESSAGE_FINDING, "%llu %s", (unsigned long long)id, json);
  else
    muster_session_say(MUSTER_MESSAGE_FAILURE, "out of memory: a finding is lost");
  free(json);
}

static void count(void *user, uint64_t id, uint64_t n) {
  (void)user;
  if (muster_session_has_parent())
    muster_session_say(MUSTER_MESSAGE_COUNT, "%llu %llu", (unsigned long long)id, (unsigned long long)n);
}

static void unjudged(void *user, const char *reason) {
  (void)user;
  muster_session_say(MUSTER_MESSAGE_UNJUDGED, muster_session_has_parent() ? "%s" : "could not judge: %s",
                     reason);
}

static void note(void *user, const char *text) {
  (void)user;
  muster_session_say_once(MUSTER_MESSAGE_NOTE, text, "%s", text);
}

/* A replay is for one profile. */
static bool replay_fits(const drv_device *d, const char *id) {
  muster_replay r;
  if (!id)
    return true;
  if (!muster_replay_parse(id, &r))
    muster_session_say(MUSTER_MESSAGE_FAILURE, "--replay %s: no replay is named like that", id);
  else if (strcmp(r.gpu, d->profile->name) != 0)
    muster_session_say(MUSTER_MESSAGE_FAILURE, "--replay %s was of --gpu %s, and this is %s", id, r.gpu,
                       d->profile->name);
  else
    return true;
  return false;
}

static bool options(check_options *o) {
  const muster_session *s = muster_session_get();
  const muster_check_words *w = &s->checks;
  char *error = NULL;
  *o = (check_options){.seed = s->seed,
                       .schedules = w->schedules,
                       .threads = s->threads,
                       .shard = w->shard,
                       .shards = w->shards,
                       .replay = w->replay,
                       .kernel_regex = w->kernel_regex,
                       .launch_skip = w->launch_skip,
                       .launch_count = w->launch_count,
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
  static const check_sink sink = {.finding = finding, .count = count, .unjudged = unjudged, .note = note};
  check_options o;
  if (!muster_session_get()->check)
    return true;
  if (!options(&o) || !replay_fits(d, o.replay))
    return false;
  o.gpu = d->profile->name;
  if (!(d->check = check_new(&o, &sink, d->sim)))
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

void drv_inspect_ending(drv_device *d) {
  if (d->check)
    check_end(d->check);
}

static char refused[256]; /* the kernel whose launch failed last */

void drv_inspect_refused(const char *kernel) {
  snprintf(refused, sizeof refused, "%s", kernel);
}

/* cudaLaunchKernel or its like with underscores: called by the stub of a kernel, which drops what it returns.
 */
static bool is_stubs(const char *function) {
  return strcmp(function + strspn(function, "_"), "cudaLaunchKernel") == 0;
}

void muster_cpu_api_error(const char *function, const char *error) {
  if (!muster_session_get()->check)
    return;
  drv_lock();
  const drv_context *current = drv_initialised() ? drv_current() : NULL;
  drv_device *d = current ? current->device : &drv_devices[0];
  if (!d->check)
    ;
  else if (!error)
    check_api_asked(d->check);
  else if (is_stubs(function))
    check_launch_failed(d->check, refused, error);
  else
    check_api_error(d->check, function, error);
  refused[0] = 0;
  drv_unlock();
}

/* What the process did by now: the newest PTX that it launched speaks for all. */
static muster_summary all = {.lineinfo = true};
static char target[32], version[32];

static void say_summary(void) {
  char *json = muster_summary_json(&all);
  if (json)
    muster_session_say(MUSTER_MESSAGE_SUMMARY, "%s", json);
  free(json);
}

/* The schedules of this shard: every shards-th, and the plain run, which all begin with. */
static uint64_t share_of(const muster_check_words *w) {
  uint64_t mine = w->shard < w->schedules ? (w->schedules - w->shard - 1) / w->shards + 1 : 0;
  return mine + (w->shard > 0);
}

void drv_inspect_launched(drv_device *d, const drv_op *op) {
  if (!d->check || !muster_session_has_parent())
    return;
  const muster_session *s = muster_session_get();
  const ptx_module *unit = op->launch.function->unit;
  snprintf(target, sizeof target, "sm_%u%.1s", unit->sm, &unit->sm_suffix);
  snprintf(version, sizeof version, "%u.%u", unit->version / 10, unit->version % 10);
  all.gpu = d->profile->name, all.seed = s->seed;
  all.ptx_target = target, all.ptx_version = version;
  all.lineinfo &= unit->n_files > 0;
  all.launches++;
  all.schedules_asked = share_of(&s->checks);
  all.schedules_run = all.schedules_run ? all.schedules_run : 1;
  say_summary();
}

void drv_inspect_scheduled(drv_device *d) {
  check_schedules_run(d->check, &all.schedules_run, &all.exhaustive);
  if (muster_session_has_parent())
    say_summary();
}
