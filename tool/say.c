/* say.c: messages, memory and files of the muster command.
 *
 * All text goes to standard error and begins with "muster: ", so that the program's own streams stay as they
 * were. A line is written by one call, so that the lines of several processes do not mix.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_all(const char *text, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = write(STDERR_FILENO, text, bytes);
    if (n < 0 && errno != EINTR)
      return; /* nobody reads: nothing to be done */
    if (n > 0) {
      text += n;
      bytes -= (size_t)n;
    }
  }
}

void tool_put(const char *text) {
  write_all(text, strlen(text));
}

static int parent = -1;

void tool_print_to_parent(int session) {
  parent = session;
}

void tool_print(const char *text) {
  tool_progress(NULL); /* its line ends where a message begins */
  if (parent >= 0) {
    char *packet = tool_format("error %ld %.60000s", (long)getpid(), text);
    bool sent = send(parent, packet, strlen(packet), MSG_NOSIGNAL) >= 0;
    free(packet);
    if (sent)
      return;
  }
  while (*text) {
    size_t n = strcspn(text, "\n");
    char *line = tool_format("muster: %.*s\n", (int)n, text);
    for (char *c = line; *c; c++) /* names come from the program: keep the terminal out of it */
      if ((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t')
        *c = '?';
    write_all(line, strlen(line));
    free(line);
    text += n + (text[n] == '\n');
  }
}

static char *format_list(const char *format, va_list list) {
  va_list again;
  va_copy(again, list);
  int n = vsnprintf(NULL, 0, format, list);
  char *text = tool_alloc((size_t)n + 1);
  vsnprintf(text, (size_t)n + 1, format, again);
  va_end(again);
  return text;
}

char *tool_format(const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *text = format_list(format, list);
  va_end(list);
  return text;
}

void tool_error(const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *text = format_list(format, list);
  va_end(list);
  tool_print(text);
  free(text);
}

void *tool_alloc(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) {
    static const char text[] = "muster: out of memory\n";
    write_all(text, sizeof text - 1);
    _exit(TOOL_OURS);
  }
  return p;
}

bool tool_read_file(const char *path, uint8_t **bytes, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    tool_error("cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
      close(fd);
    return false;
  }
  if (S_ISDIR(st.st_mode)) {
    tool_error("cannot read %s: it is a directory", path);
    close(fd);
    return false;
  }
  size_t room = S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 65536, n = 0;
  uint8_t *data = malloc(room);
  for (;;) { /* pipes have no size: grow */
    if (!data) {
      tool_error("cannot read %s: it does not fit into memory", path);
      close(fd);
      return false;
    }
    ssize_t got = read(fd, data + n, room - n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      tool_error("cannot read %s: %s", path, strerror(errno));
      free(data);
      close(fd);
      return false;
    }
    n += (size_t)got;
    if (got == 0 && n < room)
      break;
    if (n == room) {
      uint8_t *more = realloc(data, room * 2);
      if (!more)
        free(data);
      data = more;
      room *= 2;
    }
  }
  close(fd);
  data[n] = 0;
  *bytes = data;
  *size = n;
  return true;
}

static bool write_fd(int fd, const uint8_t *data, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = write(fd, data, bytes);
    if (n < 0 && errno != EINTR)
      return false;
    if (n > 0) {
      data += n;
      bytes -= (size_t)n;
    }
  }
  return true;
}

bool tool_write_file(const char *path, const void *head, size_t head_bytes, const void *body,
                     size_t body_bytes) {
  struct stat st;
  bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode); /* /dev/stdout, a pipe: nothing to rename */
  char *temporary = direct ? NULL : tool_format("%s.part%ld", path, (long)getpid());
  const char *target = direct ? path : temporary;
  int fd = open(target, O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC), 0666);
  bool good = fd >= 0 && write_fd(fd, head, head_bytes) && write_fd(fd, body, body_bytes);
  int why = errno;
  if (fd >= 0 && close(fd) != 0 && good) {
    good = false;
    why = errno;
  }
  if (good && !direct && rename(temporary, path) != 0) {
    good = false;
    why = errno;
  }
  if (!good) {
    tool_error("cannot write %s: %s", path, strerror(why));
    if (!direct && fd >= 0)
      unlink(temporary);
  }
  free(temporary);
  return good;
}

/* Edits (insert, delete, replace, swap of neighbours) that turn one word into the other, for short words. */
static unsigned distance(const char *a, const char *b) {
  enum { LONGEST = 40 };
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST)
    return LONGEST;
  unsigned d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++)
    d[i][0] = (unsigned)i;
  for (size_t j = 0; j <= m; j++)
    d[0][j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    for (size_t j = 1; j <= m; j++) {
      unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best)
        best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best)
        best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  }
  return d[n][m];
}

const char *tool_nearest(const char *word, const char *const *candidates, size_t n) {
  const char *best = NULL;
  unsigned least = (unsigned)strlen(word) / 3 + 2; /* further away it is another word, not a slip */
  for (size_t i = 0; i < n; i++) {
    unsigned d = distance(word, candidates[i]);
    if (d < least) {
      least = d;
      best = candidates[i];
    }
  }
  return best;
}
