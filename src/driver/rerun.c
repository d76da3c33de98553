/* rerun.c: sets of launches for further schedules (check.h). A set is what can begin together with the
 * machine idle. So that sets do not depend on how fast host and device are, launches begin only when the host
 * waits for the device, or has left it alone for a while.
 *
 * Invariant: operations in d->ended are at the head of their streams, have run, and count as running.
 */
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "check/check.h"
#include "driver/drv.h"

enum { PATIENCE_NS = 20 * 1000 * 1000 };

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool host_waits(void) {
  return drv_threads > 0 && drv_blocked >= drv_threads;
}

bool drv_rerun_wanted(const drv_device *d) {
  return d->check && check_schedules_wanted(d->check);
}

void drv_rerun_asked(drv_device *d) {
  if (d->gate_ns) {
    d->gate_ns = 1;
    drv_wake();
  }
}

bool drv_rerun_gate(drv_device *d) {
  if (host_waits())
    return true;
  if (!d->gate_ns)
    d->gate_ns = now_ns();
  return now_ns() - d->gate_ns > PATIENCE_NS;
}

void drv_rerun_begin(drv_device *d) {
  d->gate_ns = 0;
  d->set_open = true, d->set_released = false;
  check_set_begin(d->check);
}

void drv_rerun_add(drv_device *d, const sim_launch *l) {
  if (d->set_open)
    check_set_add(d->check, l);
}

static void close_set(drv_device *d) {
  for (uint32_t i = 0; i < d->n_ended; i++)
    drv_op_done(d->ended[i]);
  d->n_ended = 0;
  d->set_released = true;
}

bool drv_rerun_ended(drv_device *d, drv_op *op) {
  if (!d->set_open)
    return false;
  if (!d->set_released && BASE_ROOM(d->ended, d->n_ended, d->cap_ended))
    d->ended[d->n_ended++] = op;
  else
    drv_op_done(op);
  if (d->running)
    return true;
  check_set_end(d->check, host_waits());
  drv_inspect_scheduled(d);
  close_set(d);
  d->set_open = false;
  return true;
}

bool drv_rerun_release(drv_device *d) {
  if (!d->set_open || d->set_released)
    return false;
  check_set_once(d->check, "it waits for what the program does later");
  close_set(d);
  return true;
}

void drv_rerun_disturb(drv_device *d) {
  if (d->set_open)
    check_set_once(d->check, "the program copied to or from device memory meanwhile");
}

void drv_rerun_drop(drv_device *d) {
  if (d->set_open)
    check_set_drop(d->check);
  d->n_ended = 0; /* with their streams */
  d->set_open = false;
}
