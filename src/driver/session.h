/* session.h: what passes between the CPU device and whoever watches it (muster run, muster check, a test): options
 * in, messages out.
 *
 * Options come from the environment variable MUSTER_SESSION, words parted by newlines:
 *   gpu=PROFILE  gpus=N  seed=N  threads=N  stats=1  quiet=1  messages=FD
 * or, for who is linked with the device, by muster_session_set before cuInit. MUSTER_DEVICE=cpu:PROFILE counts if
 * `gpu` was not given. Unknown words are refused with one line; nothing is passed over.
 *
 * Messages go to the descriptor `messages`, or, without one, to standard error as plain lines "muster: TEXT". On a
 * descriptor each message is one record, written with a single write(2), so that several processes may share it:
 *
 *   PID <TAB> KIND <TAB> TEXT <newline>
 *
 * KIND is a row of message.def. TEXT has its newlines as "\n", tabs as "\t" and backslashes as "\\". The program's
 * own printf output never goes there: it goes to the program's standard output.
 */
#ifndef MUSTER_SESSION_H
#define MUSTER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum muster_message {
#define MESSAGE(id, word, meaning) MUSTER_MESSAGE_##id,
#include "driver/message.def"
  MUSTER_MESSAGES
} muster_message;

typedef struct muster_session {
  char gpu[32];      /* profile's name; "" or "auto": rtx4090, or the smallest that runs the program's PTX */
  uint32_t gpus;     /* 0: 1 */
  uint32_t threads;  /* 0: 1, deterministic */
  uint64_t seed;
  bool stats, quiet;
  int messages; /* descriptor; -1: standard error */
} muster_session;

/* What is in force; read from the environment at the first call. */
const muster_session *muster_session_get(void);
/* Replaces it. Before cuInit only: false afterwards. */
bool muster_session_set(const muster_session *s);

/* Says one thing. `quiet` silences only MUSTER_MESSAGE_NOTE and MUSTER_MESSAGE_STATS. */
void muster_session_say(muster_message kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says it once per process and `key`, however often it is called. */
void muster_session_say_once(muster_message kind, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One record of a messages descriptor, decoded in place (`text` is cut up and unescaped). False: not a record. */
bool muster_session_parse(char *line, long *pid, muster_message *kind, char **text);

#endif
