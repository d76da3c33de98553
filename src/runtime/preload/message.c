/* message.c: messages of the preloaded library: it lives in every process below muster run, so it brings only
 * this much of a session, and takes no lock. */
#include "runtime/preload/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const preload_words[] = {
#define MESSAGE(id, word, meaning) word,
#include "driver/message.def"
};

/* The parent's socket, or -1: MUSTER_SESSION is its number and its inode, so that a descriptor which the
 * program has closed and opened anew is not mistaken for it. */
static int preload_parent(void) {
  const char *text = getenv("MUSTER_SESSION");
  int fd;
  unsigned long long inode;
  struct stat status;
  if (text && sscanf(text, "%d:%llu", &fd, &inode) == 2 && fd > 2 && fstat(fd, &status) == 0 &&
      S_ISSOCK(status.st_mode) && status.st_ino == inode)
    return fd;
  return -1;
}

void preload_say(muster_message kind, const char *format, ...) {
  char text[6000], packet[6100];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const int parent = preload_parent();
  int bytes = snprintf(packet, sizeof packet, "%s %ld %s", preload_words[kind], (long)getpid(), text);
  if (parent >= 0 && send(parent, packet, (size_t)bytes, MSG_NOSIGNAL) >= 0)
    return;
  bytes = snprintf(packet, sizeof packet, "muster: %s\n", text);
  if (write(STDERR_FILENO, packet, (size_t)bytes) < 0)
    return; /* nobody to tell */
}
