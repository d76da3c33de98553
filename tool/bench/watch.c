/* watch.c: one process measures; this one keeps what it tells, and ends it where it does not come back.
 *
 * What a device does cannot be called off, and a launch that fails takes all that is open on the device
 * along. A process can be killed: then what is missing is named, and another process goes on behind it. So a
 * run is complete at any time, whatever becomes of the measurements.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct {
  const char *name;
  int (*measure)(bench *b);
} whats[] = {
#define WHAT(name, function, meaning) {#name, bench_measure_##function},
#include "what.def"
};
enum { WHATS = sizeof whats / sizeof *whats, LINE_BYTES = 65536, LOOK_MS = 10, LIMIT_S = 20, OPEN_S = 60 };

typedef struct watch {
  const tool_options *o;
  const bool *chosen;
  bench_run *run;
  double limit;
  size_t what;    /* is measured now, or next */
  uint32_t begun; /* measurements of it */
  char *name;     /* of the one that runs; NULL: none does */
  size_t shown;   /* the what that progress is of ... */
  double since;   /* ... from then on ... */
  size_t figures; /* ... behind these */
  bool told;      /* the process has opened the device */
  bool line;      /* progress stands on standard error, without its end */
  int signals;    /* signalfd */
  int stopped;    /* by this signal */
  int code;
} watch;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ the process that measures */

static _Noreturn void be_measuring(const watch *w, int channel, pid_t parent) {
  bench_run run = {0};
  bench b = {.run = &run, .tell = fdopen(channel, "w")};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!b.tell || getppid() != parent)
    _exit(TOOL_OURS);
  int code = bench_open(&b, w->o);
  if (code == TOOL_OK)
    bench_tell_run(b.tell, &run);
  for (size_t i = w->what; i < WHATS && code == TOOL_OK; i++) {
    if (!w->chosen[i])
      continue;
    b.what = whats[i].name;
    b.begun = 0;
    b.done = i == w->what ? w->begun : 0;
    bench_tell(b.tell, "what", b.what, "");
    code = whats[i].measure(&b);
  }
  fclose(b.tell);
  if (code == TOOL_OK) /* else the driver may wait for what never ends */
    bench_close(&b);
  _exit(code);
}

/* ------------------------------------------------------------------ progress */

static void put_line(watch *w) {
  bool terminal = isatty(STDERR_FILENO);
  if (w->o->bench_quiet || (w->line && !terminal))
    return;
  fprintf(stderr, "%smuster: bench %s ... %s", w->line ? "\r\033[K" : "", whats[w->shown].name,
          terminal && w->name ? w->name : "");
  w->line = true;
}

static void end_line(watch *w) {
  if (!w->line)
    return;
  size_t n = w->run->n - w->figures;
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[Kmuster: bench %s ... ", whats[w->shown].name);
  fprintf(stderr, "%zu figure%s, %.2f s\n", n, n == 1 ? "" : "s", now() - w->since);
  w->line = false;
}

/* An error, in a line of its own. */
static void say(watch *w, size_t what, const char *why) {
  if (w->line)
    fprintf(stderr, "\n");
  w->line = false;
  tool_error("bench %s: %s", whats[what].name, why);
}

/* ------------------------------------------------------------------ what is told */

static void leave_out(watch *w, size_t what, char *why) {
  for (size_t i = 0; i < w->run->n_gaps; i++) /* a second process comes by the same places */
    if (strcmp(w->run->gaps[i].what, whats[what].name) == 0 && strcmp(w->run->gaps[i].why, why) == 0) {
      free(why);
      return;
    }
  bench_leave_out(w->run, whats[what].name, why);
}

/* What is most severe stays. */
static void note(watch *w, int code) {
  if (code != TOOL_OK && (w->code == TOOL_OK || w->code == TOOL_UNJUDGED))
    w->code = code;
}

static void no_more(watch *w) {
  free(w->name);
  w->name = NULL;
}

/* The measurement that runs is lost; without one, the rest of the what. */
static void lose(watch *w, const char *why) {
  char *text = w->name ? tool_format("%s: %s", w->name, why) : tool_format("%s", why);
  say(w, w->what, text);
  leave_out(w, w->what, text);
  if (!w->name) {
    w->what++;
    w->begun = 0;
  }
  no_more(w);
}

static size_t place_of(const char *what) {
  size_t i = 0;
  while (strcmp(whats[i].name, what) != 0)
    i++;
  return i;
}

/* False: the process has failed, and what it was at is lost. */
static bool take(watch *w, const char *line) {
  const char *what;
  char *text, *kind = bench_hear(line, w->run, &what, &text);
  bool good = kind != NULL;
  if (!kind) {
    note(w, TOOL_OURS);
    lose(w, "what was told of it cannot be read");
  } else if (strcmp(kind, "run") == 0) {
    w->told = true;
  } else if (strcmp(kind, "figure") == 0) {
    no_more(w);
  } else if (strcmp(kind, "what") == 0) {
    size_t i = place_of(what);
    no_more(w);
    w->begun = i == w->what ? w->begun : 0;
    w->what = i;
    if (i != w->shown) {
      end_line(w);
      w->shown = i;
      w->since = now();
      w->figures = w->run->n;
    }
    put_line(w);
  } else if (strcmp(kind, "begin") == 0) {
    no_more(w);
    w->name = text;
    text = NULL;
    w->begun++;
    put_line(w);
  } else if (strcmp(kind, "omit") == 0) {
    no_more(w);
    leave_out(w, w->what, text);
    text = NULL;
  } else { /* fail */
    lose(w, text);
    good = false;
  }
  free(text);
  free(kind);
  return good;
}

/* ------------------------------------------------------------------ waiting */

typedef enum ending { ENDED, FAILED, LATE, STOPPED } ending;

/* Takes what the process tells, until it ends or something is wrong with it. */
static ending hear(watch *w, int channel) {
  static char lines[LINE_BYTES];
  size_t n = 0;
  double since = now();
  struct pollfd from[] = {{.fd = channel, .events = POLLIN}, {.fd = w->signals, .events = POLLIN}};
  for (;;) {
    double left = since + (w->told ? w->limit : OPEN_S) - now(); /* a host's first GPU program takes long */
    int ready = left > 0 ? poll(from, 2, left < 1e6 ? (int)(1e3 * left) + 1 : -1) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return LATE;
    if (from[1].revents)
      return STOPPED;
    ssize_t more = read(channel, lines + n, sizeof lines - n);
    if (more <= 0)
      return ENDED;
    n += (size_t)more;
    for (char *end; (end = memchr(lines, '\n', n));) {
      *end = 0;
      if (!take(w, lines))
        return FAILED;
      since = now();
      n -= (size_t)(end + 1 - lines);
      memmove(lines, end + 1, n);
    }
  }
}

/* The process's exit status, killed or not. False: the driver keeps it, and with it the device. */
static bool bury(const watch *w, pid_t pid, int *status) {
  for (int i = 0; i < 2; i++) {
    for (double since = now(); now() < since + w->limit; poll(NULL, 0, LOOK_MS))
      if (waitpid(pid, status, WNOHANG) == pid)
        return true;
    kill(pid, SIGKILL);
  }
  return false;
}

/* Everything from here on. */
static void leave_rest(watch *w, const char *why) {
  for (size_t i = w->what; i < WHATS; i++)
    if (w->chosen[i])
      leave_out(w, i, tool_format("%s", why));
  w->what = WHATS;
}

/* Measures from w->what and w->begun on, in one process, as far as it gets. */
static void measure(watch *w) {
  sigset_t none;
  int channel[2], status = 0;
  pid_t parent = getpid(), pid = -1;
  sigemptyset(&none);
  w->told = false;
  if (pipe2(channel, O_CLOEXEC) != 0 || (fflush(NULL), pid = fork()) < 0) {
    tool_error("cannot start a process that measures: %s", strerror(errno));
    note(w, TOOL_OURS);
    leave_rest(w, "there was no process for it");
    return;
  }
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(channel[0]);
    be_measuring(w, channel[1], parent);
  }
  close(channel[1]);
  ending how = hear(w, channel[0]);
  close(channel[0]);
  if (how != ENDED && how != FAILED)
    kill(pid, SIGKILL);
  bool gone = bury(w, pid, &status);
  char *why = NULL;
  if (how == STOPPED) {
    struct signalfd_siginfo signal;
    w->stopped = read(w->signals, &signal, sizeof signal) > 0 ? (int)signal.ssi_signo : SIGTERM;
    return;
  }
  if (how == LATE) {
    note(w, TOOL_UNJUDGED);
    why = tool_format("it took longer than %g s", w->told ? w->limit : OPEN_S);
  } else if (WIFSIGNALED(status)) {
    note(w, TOOL_OURS);
    why = tool_format("the process that measures ended by signal %d", WTERMSIG(status));
  } else {
    note(w, WEXITSTATUS(status));
  }
  if (!w->told) { /* where there is no other reason the process has said it */
    if (why)
      tool_error("bench: cannot open the device: %s", why);
    leave_rest(w, "the device could not be opened");
  } else if (how == ENDED && gone && !why && status == 0) {
    end_line(w);
    w->what = WHATS;
  } else if (how != FAILED) {
    lose(w, why ? why : "the process that measures gave up");
  }
  if (!gone) {
    tool_error("bench: the driver does not let go of the device");
    leave_rest(w, "the device was stuck");
  }
  free(why);
}

int bench_watch(const tool_options *o, const bool *chosen, bench_run *run) {
  watch w = {.o = o,
             .chosen = chosen,
             .run = run,
             .limit = o->has.bench_limit ? o->bench_limit : LIMIT_S,
             .shown = WHATS};
  sigset_t mask, before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGINT);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGHUP);
  sigprocmask(SIG_BLOCK, &mask, &before);
  w.signals = signalfd(-1, &mask, SFD_CLOEXEC);
  while (w.what < WHATS && !w.stopped) {
    if (chosen[w.what])
      measure(&w);
    else
      w.what++;
  }
  if (w.stopped) {
    char *why = tool_format("muster ended by signal %d", w.stopped);
    say(&w, w.what, why);
    leave_rest(&w, why);
    free(why);
    w.code = 128 + w.stopped;
  }
  no_more(&w);
  close(w.signals);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return w.code;
}
