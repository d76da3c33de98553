/* session.c: reads the options that the parent left in the environment, and sends it messages. Knows nothing
 * of the device: a message is one packet to the parent's socket or one line on standard error, never part of
 * the program's own output. Invariant: a message is sent whole, by one call, or not at all.
 */
#include "driver/session.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "driver/profile.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static muster_session session;
static bool is_read, frozen;
static int messages = -1; /* the parent's socket */

static const char *const message_words[] = {
#define MESSAGE(id, word, meaning) word,
#include "driver/message.def"
};

/* ------------------------------------------------------------------ options */

static int hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

/* Undoes %XX in place; a percent sign that begins no such thing stays. */
static void unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (from[0] == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0) {
      *to++ = (char)(hex(from[1]) * 16 + hex(from[2]));
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
}

static bool number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *to) {
  char *end;
  unsigned long long n = strtoull(text, &end, 0);
  if (*text == 0 || *text == '-' || *end || n < least || n > most) {
    fprintf(stderr, "muster: --%s %s: a number from %llu to %llu is needed; ignored\n", name, text,
            (unsigned long long)least, (unsigned long long)most);
    return false;
  }
  *to = n;
  return true;
}

static void set_gpu(const char *name, const char *where) {
  if (strcmp(name, "auto") != 0 && !drv_profile_named(name)) {
    char all[256];
    drv_profile_list_for(0, 0, all, sizeof all);
    fprintf(stderr, "muster: %s: no profile %s; there are auto, %s\n", where, name, all);
    return;
  }
  snprintf(session.gpu, sizeof session.gpu, "%s", name);
}

/* Options are read once a process: what they point to stays. */
static bool keep(const char *value, const char **to) {
  *to = strdup(value);
  return true;
}

/* One option; true if it took `value`. */
static bool option(const char *name, const char *value) {
  uint64_t n;
  if (strcmp(name, "stats") == 0)
    return session.stats = true, false;
  if (strcmp(name, "quiet") == 0)
    return session.quiet = true, false;
  if (strcmp(name, "strict") == 0)
    return session.checks.strict = true, false;
  if (strcmp(name, "lockstep") == 0)
    return session.checks.lockstep = true, false;
  if (strcmp(name, "allow-missing-acquire") == 0)
    return session.checks.allow_missing_acquire = true, false;
  if (!value)
    return false;
  if (strcmp(name, "gpu") == 0)
    return set_gpu(value, "--gpu"), true;
  if (strcmp(name, "gpus") == 0) {
    if (number(name, value, 1, MUSTER_SESSION_GPUS, &n))
      session.gpus = (uint32_t)n;
    return true;
  }
  if (strcmp(name, "threads") == 0) {
    if (number(name, value, 1, 1024, &n))
      session.threads = (uint32_t)n;
    return true;
  }
  if (strcmp(name, "seed") == 0) {
    if (number(name, value, 0, UINT64_MAX, &n))
      session.seed = n;
    return true;
  }
  if (strcmp(name, "schedules") == 0) {
    if (number(name, value, 1, UINT64_MAX, &n))
      session.checks.schedules = n;
    return true;
  }
  if (strcmp(name, "launch-skip") == 0) {
    if (number(name, value, 0, UINT64_MAX, &n))
      session.checks.launch_skip = n;
    return true;
  }
  if (strcmp(name, "launch-count") == 0) {
    if (number(name, value, 1, UINT64_MAX, &n))
      session.checks.launch_count = n;
    return true;
  }
  if (strcmp(name, "shard") == 0) {
    unsigned long long i, of;
    char behind;
    if (sscanf(value, "%llu/%llu%c", &i, &of, &behind) == 2 && i < of)
      session.checks.shard = i, session.checks.shards = of;
    return true;
  }
  if (strcmp(name, "rules") == 0)
    return keep(value, &session.checks.rules);
  if (strcmp(name, "kernel-regex") == 0)
    return keep(value, &session.checks.kernel_regex);
  if (strcmp(name, "replay") == 0)
    return keep(value, &session.checks.replay);
  if (strcmp(name, "volatile") == 0)
    return keep(value, &session.checks.volatiles);
  if (strcmp(name, "fence-sc") == 0)
    return keep(value, &session.checks.fence_sc);
  return false; /* somebody else's */
}

static void read_options(const char *text) {
  char *copy = strdup(text), *at = copy, *word, *held = NULL;
  if (!copy)
    return;
  while ((word = strsep(&at, " \t\n")) != NULL) {
    if (*word == 0)
      continue;
    if (held) { /* the word behind a name without '=' may be its value */
      char *name = held;
      held = NULL;
      bool is_option = strncmp(word, "--", 2) == 0;
      if (!is_option)
        unescape(word);
      if (option(name, is_option ? NULL : word) && !is_option)
        continue;
    }
    if (strncmp(word, "--", 2) != 0)
      continue;
    char *value = strchr(word, '=');
    if (value) {
      *value++ = 0;
      unescape(value);
      option(word + 2, value);
    } else {
      held = word + 2;
    }
  }
  if (held)
    option(held, NULL);
  free(copy);
}

static void read_environment(void) {
  is_read = true;
  session = (muster_session){.gpu = "auto", .gpus = 1, .threads = 1, .checks = {.schedules = 1, .shards = 1}};
  const char *device = getenv("MUSTER_DEVICE"), *options = getenv("MUSTER_OPTIONS"),
             *parent = getenv("MUSTER_SESSION");
  if (device && strncmp(device, "cpu:", 4) == 0)
    set_gpu(device + 4, "MUSTER_DEVICE");
  if (options) {
    read_options(options);
    session.check = strcmp(options, "check") == 0 || strncmp(options, "check ", 6) == 0;
    session.exit_on_hang = true;
  }
  int fd;
  unsigned long long inode;
  struct stat s;
  if (parent && sscanf(parent, "%d:%llu", &fd, &inode) == 2 && fd > 2 && fstat(fd, &s) == 0 &&
      S_ISSOCK(s.st_mode) && s.st_ino == inode) {
    messages = fd;
    session.exit_on_hang = true;
  }
}

const muster_session *muster_session_get(void) {
  pthread_mutex_lock(&lock);
  if (!is_read)
    read_environment();
  pthread_mutex_unlock(&lock);
  return &session;
}

bool muster_session_set(const muster_session *s) {
  if (frozen || (strcmp(s->gpu, "auto") != 0 && !drv_profile_named(s->gpu)) || s->gpus < 1 ||
      s->gpus > MUSTER_SESSION_GPUS || s->threads < 1)
    return false;
  muster_session_get();
  pthread_mutex_lock(&lock);
  session = *s;
  pthread_mutex_unlock(&lock);
  return true;
}

void muster_session_freeze(void) {
  frozen = true;
}

/* ------------------------------------------------------------------ messages */

bool muster_session_has_parent(void) {
  muster_session_get();
  return messages >= 0;
}

static bool say(muster_message kind, const char *text) {
  if (kind == MUSTER_MESSAGE_NOTE && session.quiet)
    return true;
  if (messages >= 0) {
    char head[64];
    int head_bytes = snprintf(head, sizeof head, "%s %ld ", message_words[kind], (long)getpid());
    size_t text_bytes = strnlen(text, MUSTER_SESSION_PACKET_BYTES - (size_t)head_bytes);
    struct iovec parts[2] = {{head, (size_t)head_bytes}, {(void *)(uintptr_t)text, text_bytes}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
    if (sendmsg(messages, &packet, MSG_NOSIGNAL) >= 0)
      return true;
  }
  /* Assembled first: a line must not be cut by the program's own output. */
  char line[2048];
  for (const char *from = text; *from;) {
    size_t bytes = strcspn(from, "\n");
    int n = snprintf(line, sizeof line, "muster: %.*s\n", (int)(bytes < 2000 ? bytes : 2000), from);
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
      return false;
    from += bytes + (from[bytes] == '\n');
  }
  return true;
}

static bool vsay(muster_message kind, const char *format, va_list args) {
  char small[512], *text = small;
  va_list again;
  va_copy(again, args);
  int bytes = vsnprintf(small, sizeof small, format, args);
  if (bytes >= (int)sizeof small && (text = malloc((size_t)bytes + 1)) != NULL)
    vsnprintf(text, (size_t)bytes + 1, format, again);
  va_end(again);
  bool told = say(kind, text ? text : small);
  if (text != small)
    free(text);
  return told;
}

bool muster_session_say(muster_message kind, const char *format, ...) {
  muster_session_get();
  va_list args;
  va_start(args, format);
  bool told = vsay(kind, format, args);
  va_end(args);
  return told;
}

void muster_session_say_once(muster_message kind, const char *key, const char *format, ...) {
  static struct said {
    struct said *next;
    char key[];
  } *all;
  muster_session_get();
  pthread_mutex_lock(&lock);
  struct said *s = all;
  while (s && strcmp(s->key, key) != 0)
    s = s->next;
  bool is_new = s == NULL;
  if (is_new && (s = malloc(sizeof *s + strlen(key) + 1)) != NULL) {
    strcpy(s->key, key);
    s->next = all;
    all = s;
  }
  pthread_mutex_unlock(&lock);
  if (!is_new)
    return;
  va_list args;
  va_start(args, format);
  vsay(kind, format, args);
  va_end(args);
}
