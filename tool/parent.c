/* parent.c: starts the program as a child, stays its parent, and says how it ended.
 *
 * The child, and every descendant that inherits the descriptor, sends messages over a socket (a session); the
 * parent alone prints them and alone decides the exit code. So a message arrives after a crash, _exit or a
 * signal too. The program sees no difference: its streams, process group, signal mask and arguments are its
 * own.
 *
 * A session is the variable MUSTER_SESSION=DESCRIPTOR:INODE: a process whose descriptor of that number is no
 * longer that socket (programs close what they do not know) has no session. One packet is one message:
 * KIND PID TEXT. The device's options are in MUSTER_OPTIONS, beginning with the command.
 */
#include "tool.h"

#include "muster/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MESSAGE_BYTES = 65536,
  SESSION_FD = 200,     /* from here on, out of the way of scripts, which count from 3 */
  LAST_WORDS_MS = 1000, /* what a program gets between SIGTERM and SIGKILL at the time limit */
};

typedef struct state {
  const tool_child *child;
  const tool_options *options;
  pid_t pid;
  int channel; /* the parent's end; -1: none */
  int signals; /* signalfd */
  bool ended, hang, unmodelled, failure, limit;
  bool absent; /* there is no program: it could not be executed */
  int kills;   /* rounds of SIGKILL */
  int left;    /* processes found by the last look */
  int status;
  char *hang_text; /* for the report */
  bool progress;   /* a line of it stands on the terminal */
  double next_progress;
  uint64_t n_findings, n_launches; /* for that line */
  char *session;                   /* DESCRIPTOR:INODE */
  double deadline;                 /* monotonic; 0: none */
} state;

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ messages */

/* IN_REPORT: printed where there is no report, part of it else. */
typedef enum shown { ALWAYS, UNLESS_QUIET, WITH_STATS, IN_REPORT, REPORTED } shown;
static const struct {
  const char *name;
  shown shown;
} kinds[] = {
    {"fault", IN_REPORT}, {"hang", IN_REPORT},    {"unmodelled", IN_REPORT}, {"failure", ALWAYS},
    {"error", ALWAYS},    {"note", UNLESS_QUIET}, {"stats", WITH_STATS},     {"finding", REPORTED},
    {"count", REPORTED},  {"unjudged", REPORTED}, {"summary", REPORTED},     {"exec", ALWAYS},
};

/* On a terminal: how far the inspection is, in a line that the next output overwrites. */
static void clear_progress(state *s) {
  if (s->progress)
    tool_put("\r\033[K");
  s->progress = false;
}

static void show_progress(state *s) {
  if (s->next_progress == 0 || now() < s->next_progress)
    return;
  char *line = tool_format("\r\033[Kmuster: %llu launches, %llu findings so far\r",
                           (unsigned long long)s->n_launches, (unsigned long long)s->n_findings);
  tool_put(line);
  free(line);
  s->progress = true;
  s->next_progress = now() + 1;
}

/* A message into the report; of findings and counts, text is "ID REST". */
static void report(state *s, const char *kind, const char *pid, const char *text) {
  muster_report *r = s->options->report;
  char *rest, *error = NULL;
  unsigned long long id = strtoull(text, &rest, 10);
  rest += *rest == ' ';
  bool good = true;
  if (!r)
    return;
  if (strcmp(kind, "finding") == 0) {
    good = muster_report_add(r, pid, id, rest, &error);
    s->n_findings++;
  } else if (strcmp(kind, "count") == 0) {
    muster_report_count(r, pid, id, strtoull(rest, NULL, 10));
  } else if (strcmp(kind, "summary") == 0) {
    good = muster_report_summarise(r, pid, text, &error);
    s->n_launches++;
  } else if (strcmp(kind, "fault") == 0) {
    muster_report_fault(r, text);
  } else if (strcmp(kind, "hang") == 0) { /* a finding of it may follow */
    free(s->hang_text);
    s->hang_text = tool_format("%s", text);
  } else {
    muster_report_unjudged(r, text);
  }
  if (!good) {
    tool_error("a message of the program cannot be read: %s", error ? error : "out of memory");
    s->failure = true;
  }
  free(error);
  show_progress(s);
}

static void message(state *s, char *packet, size_t bytes) {
  packet[bytes] = 0;
  size_t n = strcspn(packet, " ");
  char *text = packet + n;
  for (int blank = 0; *text && blank < 2; text++)
    blank += *text == ' ';
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strlen(kinds[i].name) != n || memcmp(kinds[i].name, packet, n) != 0)
      continue;
    s->hang |= strcmp(kinds[i].name, "hang") == 0;
    s->unmodelled |= strcmp(kinds[i].name, "unmodelled") == 0;
    s->failure |= strcmp(kinds[i].name, "failure") == 0;
    s->absent |= strcmp(kinds[i].name, "exec") == 0;
    if (kinds[i].shown == REPORTED || (kinds[i].shown == IN_REPORT && s->options->report)) {
      char pid[32];
      snprintf(pid, sizeof pid, "%ld", strtol(packet + n, NULL, 10));
      report(s, kinds[i].name, pid, text);
      return;
    }
    clear_progress(s);
    if (kinds[i].shown == ALWAYS || kinds[i].shown == IN_REPORT ||
        (kinds[i].shown == UNLESS_QUIET && !s->options->quiet) ||
        (kinds[i].shown == WITH_STATS && s->options->stats && tool_select_launch(s->options, text)))
      tool_print(text);
    return;
  }
  /* A descriptor that reached a stranger, or libraries of another version: say so, but it is no verdict. */
  tool_error("a message of unknown kind arrived: %.40s", packet);
}

static void receive(state *s) {
  static char packet[MESSAGE_BYTES + 1];
  for (;;) {
    ssize_t n = recv(s->channel, packet, MESSAGE_BYTES, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return;
    if (n == 0) { /* everybody closed it */
      close(s->channel);
      s->channel = -1;
      return;
    }
    message(s, packet, (size_t)n);
  }
}

/* ------------------------------------------------------------------ the child's side */

/* NAME=first[:what it was] */
static void put_in_front(const char *name, const char *first) {
  const char *old = getenv(name);
  char *value = old && *old ? tool_format("%s:%s", first, old) : tool_format("%s", first);
  setenv(name, value, 1);
  free(value);
}

/* Where the stand-in libraries lie, seen from the muster binary: the same in the build tree and installed. */
static char *library_folder(void) {
  const char *folder = tool_folder();
  return folder ? tool_format("%s/../lib/muster", folder) : NULL;
}

static bool check_libraries(void) {
  char *folder = library_folder(), *preload = folder ? tool_format("%s/libmuster-preload.so", folder) : NULL;
  char *real = folder ? realpath(folder, NULL) : NULL;
  bool good = false;
  if (!real || access(preload, R_OK) != 0)
    tool_error("the library libmuster-preload.so is missing from %s: muster is not installed completely",
               folder ? folder : "its folder");
  else if (strpbrk(real, ": ;"))
    tool_error("muster lies in %s: the dynamic loader accepts no blank, colon or semicolon there", real);
  else
    good = true;
  free(real);
  free(preload);
  free(folder);
  return good;
}

static void set_environment(const tool_options *o, const char *session) {
  char *text = tool_options_for_device(o);
  setenv("MUSTER_SESSION", session, 1);
  setenv("MUSTER_OPTIONS", text, 1);
  free(text);
}

static void set_libraries(void) {
  char *folder = library_folder(), *real = realpath(folder, NULL);
  char *preload = tool_format("%s/libmuster-preload.so", real);
  put_in_front("LD_PRELOAD", preload);
  put_in_front("LD_LIBRARY_PATH", real);
  free(preload);
  free(real);
  free(folder);
}

static _Noreturn void be_child(const tool_child *c, const tool_options *o, const char *session,
                               pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed muster leaves no program behind */
  if (getppid() != parent)
    _exit(TOOL_OURS);
  if (c->watched)
    set_environment(o, session);
  if (c->function) {
    if (c->name) /* findings name their process */
      program_invocation_short_name = (char *)(uintptr_t)c->name;
    tool_print_to_parent(atoi(session));
    int code = c->function(o);
    fflush(stdout);
    _exit(code);
  }
  if (c->watched)
    set_libraries();
  execv(c->path, c->argv);
  int why = errno;
  char *packet = tool_format("exec %ld %s: %s", (long)getpid(), c->path, strerror(why));
  if (!c->watched || send(atoi(session), packet, strlen(packet), MSG_NOSIGNAL) < 0)
    tool_error("%s: %s", c->path, strerror(why));
  _exit(why == ENOENT ? TOOL_ABSENT : TOOL_CANNOT);
}

/* ------------------------------------------------------------------ signals and time */

static void forward(state *s) {
  struct signalfd_siginfo info;
  while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      int status;
      for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == s->pid) { /* others are orphans of the program that came to us */
          s->status = status;
          s->ended = true;
        }
    } else if (info.ssi_code != SI_KERNEL && !s->ended) { /* a terminal told the program already */
      kill(s->pid, (int)info.ssi_signo);
    }
  }
}

/* What /proc says of a process: its parent, and whether it was started with this session's variable. */
static bool look_at(const char *pid, const char *session, pid_t *parent, bool *ours) {
  char text[512];
  int state_parent = 0;
  char *path = tool_format("/proc/%s/stat", pid);
  FILE *file = fopen(path, "re");
  free(path);
  bool good = file && fgets(text, sizeof text, file);
  if (file)
    fclose(file);
  const char *behind = good ? strrchr(text, ')') : NULL; /* the name may hold anything */
  if (!behind || sscanf(behind + 1, " %*c %d", &state_parent) != 1)
    return false;
  *parent = state_parent;
  *ours = false;
  path = tool_format("/proc/%s/environ", pid);
  file = fopen(path, "re");
  free(path);
  char *variable = NULL;
  size_t room = 0;
  while (file && !*ours && getdelim(&variable, &room, 0, file) > 0)
    *ours = strncmp(variable, "MUSTER_SESSION=", 15) == 0 && strcmp(variable + 15, session) == 0;
  free(variable);
  if (file)
    fclose(file);
  return true;
}

/* Sends `signal` to all that the program started and is still there: its descendants, and whoever was started
 * with this session's variable, should the tree have been broken. Says how many there were. */
static int signal_all(const state *s, int signal) {
  enum { MOST = 4096 };
  static struct {
    pid_t pid, parent;
    bool ours;
  } all[MOST];
  int n = 0, sent = 0;
  DIR *d = opendir("/proc");
  for (struct dirent *e; d && n < MOST && (e = readdir(d));)
    if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
        look_at(e->d_name, s->session, &all[n].parent, &all[n].ours))
      all[n++].pid = (pid_t)atol(e->d_name);
  if (d)
    closedir(d);
  for (bool more = true; more;) { /* down the tree */
    more = false;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n && !all[i].ours; k++)
        if (all[k].pid == all[i].parent && all[k].ours && all[k].pid != getpid())
          all[i].ours = more = true;
    for (int i = 0; i < n; i++)
      if (!all[i].ours && all[i].parent == getpid())
        all[i].ours = more = true;
  }
  for (int i = 0; i < n; i++)
    if (all[i].ours && all[i].pid != getpid() && kill(all[i].pid, signal) == 0) {
      sent++;
      if (signal == SIGTERM)
        kill(all[i].pid, SIGCONT); /* a stopped process would not see it */
    }
  return sent;
}

/* At the time limit: SIGTERM to all, and after a while SIGKILL to who is left. */
static void enforce(state *s) {
  if (s->deadline == 0 || now() < s->deadline)
    return;
  if (!s->limit)
    tool_error("the time limit of %g s is over: ending the program", s->child->seconds);
  s->left = signal_all(s, s->limit ? SIGKILL : SIGTERM);
  s->kills += s->limit;
  s->limit = true;
  s->deadline = now() + (s->kills ? 0.05 : LAST_WORDS_MS / 1000.0);
}

/* The time limit is for all that the program started; what even SIGKILL does not end is left alone in the
 * end. */
static bool limit_pending(state *s) {
  if (!s->limit || s->kills > 20)
    return false;
  s->left = signal_all(s, 0);
  return s->left > 0;
}

static int exit_code(const state *s) {
  if (s->limit || s->hang)
    return TOOL_LIMIT;
  if (s->failure)
    return TOOL_OURS;
  if (WIFSIGNALED(s->status)) {
    int signal = WTERMSIG(s->status);
    if (signal != SIGINT && signal != SIGPIPE && s->child->watched) /* a shell is silent about those too */
      tool_error("%s ended by signal %d (%s)%s", s->child->path ? s->child->path : "the kernel's process",
                 signal, strsignal(signal), WCOREDUMP(s->status) ? ", core dumped" : "");
    return 128 + signal;
  }
  int code = WEXITSTATUS(s->status);
  bool plain = code == 0 || (s->child->function && code == TOOL_LAUNCH_FAILED);
  return plain && s->unmodelled && !s->options->report ? TOOL_OURS : code;
}

/* How the program ended goes into the report, unless it is muster that failed. */
static int end_report(const state *s, const tool_options *o) {
  muster_report *r = s->options->report;
  int code = exit_code(s);
  bool inside = s->child->function && !s->limit && !s->hang && WIFEXITED(s->status) &&
                (code == TOOL_USAGE || code == TOOL_OURS || code == TOOL_CANNOT || code == TOOL_ABSENT);
  if (s->failure)
    return TOOL_OURS;
  if (s->absent || inside)
    return code;
  if (s->hang_text)
    muster_report_hang(r, s->hang_text);
  if (s->limit) {
    char *text = tool_format("the time limit of %g s ended the program", s->child->seconds);
    muster_report_unjudged(r, text);
    free(text);
  }
  char *shown[] = {(char *)(uintptr_t)o->shown, NULL};
  muster_report_program(r, o->shown ? shown : o->rest, code);
  return TOOL_OK;
}

static int ours(const char *what) {
  tool_error("%s: %s", what, strerror(errno));
  return TOOL_OURS;
}

int tool_parent_run(const tool_child *c, const tool_options *o) {
  int ends[2] = {-1, -1}, session = -1;
  if (c->watched) {
    if (!c->function && !check_libraries())
      return TOOL_OURS;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return ours("cannot make a session");
    session = fcntl(ends[1], F_DUPFD, SESSION_FD); /* inherited: no close-on-exec */
    if (session < 0)
      session = fcntl(ends[1], F_DUPFD, 3);
    close(ends[1]);
    if (session < 0)
      return ours("cannot make a session");
  }
  sigset_t mask, old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  for (int i = 0; i < FORWARDED; i++)
    sigaddset(&mask, forwarded[i]);
  sigprocmask(SIG_BLOCK, &mask, &old);
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that the time limit finds orphans too */

  struct stat st = {.st_ino = 0};
  if (session >= 0)
    fstat(session, &st);
  state s = {.child = c,
             .options = o,
             .channel = ends[0],
             .signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)};
  s.session = tool_format("%d:%llu", session, (unsigned long long)st.st_ino);
  pid_t parent = getpid();
  fflush(stdout);
  s.pid = s.signals >= 0 ? fork() : -1;
  if (s.pid < 0)
    return ours("cannot start the program");
  if (s.pid == 0) {
    close(s.signals);
    if (ends[0] >= 0)
      close(ends[0]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    be_child(c, o, s.session, parent);
  }
  if (session >= 0)
    close(session);
  /* Whoever reads our messages may go away; the program is to end all the same. */
  void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);
  if (o->report && !o->quiet && isatty(STDERR_FILENO))
    s.next_progress = now() + 1;
  if (c->seconds > 0)
    s.deadline = now() + c->seconds;
  while (!s.ended || limit_pending(&s)) {
    struct pollfd fds[2] = {{.fd = s.signals, .events = POLLIN}, {.fd = s.channel, .events = POLLIN}};
    double left = s.deadline > 0 ? (s.deadline - now()) * 1000 : -1;
    int wait = s.deadline == 0 ? -1 : left > 60000 ? 60000 : left > 0 ? (int)left + 1 : 0;
    if (poll(fds, 2, wait) < 0 && errno != EINTR)
      return ours("cannot wait for the program");
    if (s.channel >= 0)
      receive(&s);
    forward(&s);
    if (!s.ended || s.limit)
      enforce(&s);
  }
  if (s.channel >= 0) /* what it said last */
    receive(&s);
  if (s.channel >= 0)
    close(s.channel);
  close(s.signals);
  sigprocmask(SIG_SETMASK, &old, NULL);
  clear_progress(&s);
  signal(SIGPIPE, on_pipe);
  int code = o->report ? end_report(&s, o) : exit_code(&s);
  free(s.session);
  free(s.hang_text);
  return code;
}
