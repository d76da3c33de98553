/* progress.c: what a command is at and for how long, on a terminal, once it has taken a second.
 *
 * A thread of its own writes: the command waits for a file or for the device meanwhile.
 */
#include "tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_t writer;
static char *doing; /* NULL: nothing */
static bool running, shown;

static void clear(void) {
  if (shown)
    tool_put("\r\033[K");
  shown = false;
}

/* Every second since it was begun; what is done next begins anew. */
static void *write_lines(void *unused) {
  struct timespec next;
  unsigned seconds = 0;
  const char *of = doing;
  (void)unused;
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (doing) {
    next.tv_sec++;
    while (doing == of && pthread_cond_timedwait(&changed, &lock, &next) == 0)
      ;
    if (doing != of) {
      of = doing, seconds = 0;
      clock_gettime(CLOCK_MONOTONIC, &next);
      continue;
    }
    char *line = tool_format("\r\033[Kmuster: %s, %u s\r", doing, ++seconds);
    tool_put(line);
    free(line);
    shown = true;
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

void tool_progress(const char *what) {
  if (!running && (!what || !isatty(STDERR_FILENO)))
    return;
  pthread_mutex_lock(&lock);
  char *before = doing;
  doing = what ? tool_format("%s", what) : NULL;
  clear();
  if (running)
    pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  if (!running) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
    running = pthread_create(&writer, NULL, write_lines, NULL) == 0; /* without it, no progress */
  } else if (!what) {
    pthread_join(writer, NULL);
    running = false;
    pthread_cond_destroy(&changed);
  }
  free(before);
}
