/* share.c: schedules at once (--threads), each in a process that is a copy of this one: the machine's memory
 * is private, so a copy has a machine of its own. A schedule is a pure function of the plain run and its
 * index; what is said in it comes back over a pipe, and is said here in the order of schedules. So nothing
 * depends on who was faster, or on how many there were.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/schedule.h"
#include "check/share.h"

enum { MOST = 64 /* processes */ };

typedef enum word_kind {
  FINDING, /* the first of its key in this process: with what is told of it */
  AGAIN,
  RACE,
  UNJUDGED,
  NOTE,
  NEEDED, /* a barrier */
  RAN,
  END
} word_kind;

typedef struct word {
  uint64_t schedule;
  uint32_t kind, bytes; /* bytes that follow */
} word;

struct check_share {
  int to;
  uint64_t schedule;
  uint32_t n_barriers; /* known before */
};

/* ------------------------------------------------------------------ findings as bytes */

/* Every string of a finding. */
static void each_string(muster_finding *f, void (*visit)(void *user, const char **string), void *user) {
  const char **all[] = {&f->process,         &f->kernel,          &f->relation,     &f->message,
                        &f->missing.what,    &f->missing.text,    &f->missing.file, &f->replay,
                        &f->residency.limit, &f->residency.launch};
  for (size_t i = 0; i < BASE_COUNT(all); i++)
    visit(user, all[i]);
  for (uint32_t i = 0; i < f->n_accesses; i++) {
    muster_access *a = &f->accesses[i];
    const char **of[] = {&a->kind, &a->space, &a->buffer, &a->func, &a->file, &a->inlined_at};
    for (size_t k = 0; k < BASE_COUNT(of); k++)
      visit(user, of[k]);
  }
  for (uint32_t i = 0; i < f->n_waiting; i++) {
    muster_waiting *w = &f->waiting[i];
    const char **of[] = {&w->on, &w->awaits, &w->file};
    for (size_t k = 0; k < BASE_COUNT(of); k++)
      visit(user, of[k]);
  }
}

static void put_string(void *user, const char **string) {
  if (*string)
    base_put(user, *string, strlen(*string) + 1);
}

static void take_string(void *user, const char **string) {
  const char **at = user;
  if (!*string) /* where it was does not matter, only whether there is one */
    return;
  *string = *at;
  *at += strlen(*at) + 1;
}

/* ------------------------------------------------------------------ in a copy */

static void put(struct check_share *s, word_kind kind, const void *bytes, size_t n) {
  word w = {s->schedule, (uint32_t)kind, (uint32_t)n};
  const void *parts[] = {&w, bytes};
  size_t sizes[] = {sizeof w, n};
  for (int i = 0; i < 2; i++)
    for (size_t done = 0; done < sizes[i];) {
      ssize_t k = write(s->to, (const char *)parts[i] + done, sizes[i] - done);
      if (k < 0 && errno != EINTR)
        _exit(1); /* nobody listens any more */
      done += k > 0 ? (size_t)k : 0;
    }
}

void check_share_finding(struct check_share *s, const check_key *key, const muster_finding *f) {
  base_text t = {0};
  muster_finding copy = f ? *f : (muster_finding){0};
  base_put(&t, (const char *)key, sizeof *key);
  if (f) {
    base_put(&t, (const char *)f, sizeof *f);
    each_string(&copy, put_string, &t);
  }
  put(s, f ? FINDING : AGAIN, t.bytes, t.length);
  base_text_free(&t);
}

void check_share_race(struct check_share *s, uint64_t launch) {
  put(s, RACE, &launch, sizeof launch);
}

void check_share_text(struct check_share *s, bool unjudged, const char *text) {
  put(s, unjudged ? UNJUDGED : NOTE, text, strlen(text) + 1);
}

static void work(check *c, const check_shares *what, uint64_t first, uint64_t step, int to) {
  struct check_share s = {.to = to, .n_barriers = check_barriers_known(c)};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  c->share = &s;
  for (uint64_t i = first; what->nth(what->user, i, &s.schedule); i += step) {
    if (!what->play(c, s.schedule))
      break;
    put(&s, RAN, NULL, 0);
  }
  for (uint32_t g = 1; g < s.n_barriers; g++)
    if (check_barrier_needed(c, g))
      put(&s, NEEDED, &g, sizeof g);
  put(&s, END, NULL, 0);
  _exit(0);
}

/* ------------------------------------------------------------------ here */

typedef struct copy {
  pid_t pid;
  int from; /* -1: at its end */
  base_text said;
  size_t at;
} copy;

static bool start(check *c, const check_shares *what, copy *all, uint32_t i, uint32_t n) {
  int ends[2];
  if (pipe(ends) != 0)
    return false;
  all[i] = (copy){.pid = fork(), .from = ends[0]};
  if (all[i].pid == 0) {
    for (uint32_t k = 0; k <= i; k++)
      close(all[k].from);
    work(c, what, i, n, ends[1]);
  }
  close(ends[1]);
  if (all[i].pid > 0)
    return true;
  close(ends[0]);
  return false;
}

/* All that they say, until each has ended. */
static void listen(copy *all, uint32_t n) {
  struct pollfd fds[MOST];
  char bytes[1 << 16];
  for (uint32_t open = n; open > 0;) {
    for (uint32_t i = 0; i < n; i++)
      fds[i] = (struct pollfd){.fd = all[i].from, .events = POLLIN};
    if (poll(fds, n, -1) < 0 && errno != EINTR)
      return;
    for (uint32_t i = 0; i < n; i++) {
      ssize_t k = all[i].from >= 0 && fds[i].revents ? read(all[i].from, bytes, sizeof bytes) : -1;
      if (k > 0)
        base_put(&all[i].said, bytes, (size_t)k);
      if (k != 0)
        continue;
      close(all[i].from);
      all[i].from = -1;
      open--;
    }
  }
}

static bool next_word(const copy *p, word *w) {
  if (p->at + sizeof *w > p->said.length)
    return false;
  memcpy(w, p->said.bytes + p->at, sizeof *w);
  return p->at + sizeof *w + w->bytes <= p->said.length;
}

/* False: it was the last. */
static bool say(check *c, copy *p, const word *w, uint64_t *run) {
  const char *bytes = p->said.bytes + p->at + sizeof *w;
  check_key key;
  muster_finding f;
  uint64_t launch;
  uint32_t barrier;
  p->at += sizeof *w + w->bytes;
  switch ((word_kind)w->kind) {
  case FINDING:
    memcpy(&key, bytes, sizeof key);
    memcpy(&f, bytes + sizeof key, sizeof f);
    bytes += sizeof key + sizeof f;
    each_string(&f, take_string, &bytes);
    check_keep(c, &key, &f);
    break;
  case AGAIN:
    memcpy(&key, bytes, sizeof key);
    check_keep(c, &key, NULL);
    break;
  case RACE:
    memcpy(&launch, bytes, sizeof launch);
    check_note_race(c, launch);
    break;
  case UNJUDGED:
    check_unjudged(c, "%s", bytes);
    break;
  case NOTE:
    check_note(c, bytes);
    break;
  case NEEDED:
    memcpy(&barrier, bytes, sizeof barrier);
    check_barrier_need(c, barrier);
    break;
  case RAN:
    ++*run;
    break;
  case END:
    return false;
  }
  return true;
}

bool check_share_out(check *c, const check_shares *what, uint32_t n, uint64_t *run) {
  copy all[MOST] = {0};
  bool ended[MOST] = {false}, whole = true;
  uint32_t started = 0;
  n = n < MOST ? n : MOST;
  while (started < n && start(c, what, all, started, n))
    started++;
  listen(all, started);
  for (;;) { /* the word of the lowest schedule */
    uint32_t best = MOST;
    word w, lowest = {0};
    for (uint32_t i = 0; i < started; i++)
      if (!ended[i] && next_word(&all[i], &w) && (best == MOST || w.schedule < lowest.schedule))
        best = i, lowest = w;
    if (best == MOST)
      break;
    ended[best] = !say(c, &all[best], &lowest, run);
  }
  for (uint32_t i = 0; i < started; i++) {
    while (waitpid(all[i].pid, NULL, 0) < 0 && errno == EINTR)
      ;
    whole &= ended[i];
    base_text_free(&all[i].said);
  }
  return whole && started == n;
}
