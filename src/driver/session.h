/* session.h: what passes between the CPU device and whoever watches the program (muster run, muster check, a
 * test): options in, messages out.
 *
 * Options stand in the environment variable MUSTER_OPTIONS: `run` or `check`, then words as on the command
 * line
 * (--gpu=h200 --seed=7; also --gpu h200), with blanks, quotes, percent and control characters of a value
 * written %XX. Words that are not the device's are left to others. MUSTER_DEVICE=cpu:PROFILE counts where
 * --gpu is absent. Who is linked with the device may set all of it before cuInit instead.
 *
 * Messages go to the parent through an inherited SOCK_SEQPACKET socket that MUSTER_SESSION=FD:INODE names
 * (the inode tells it from another file that took its number): one packet a message, "KIND PID TEXT", KIND a
 * word of message.def, TEXT one line or several. Without a session they are lines "muster: TEXT" on standard
 * error. What kernels print is no message: it goes to the program's standard output.
 */
#ifndef MUSTER_SESSION_H
#define MUSTER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUSTER_SESSION_PACKET_BYTES 60000
#define MUSTER_SESSION_GPUS 16 /* the most devices */

typedef enum muster_message {
#define MESSAGE(id, word, meaning) MUSTER_MESSAGE_##id,
#include "driver/message.def"
  MUSTER_MESSAGES
} muster_message;

/* What `muster check` was told; words as on the command line, NULL where absent. */
typedef struct muster_check_words {
  const char *rules, *replay, *volatiles, *fence_sc, *kernel_regex;
  uint64_t launch_skip, launch_count; /* count 0: all */
  uint64_t schedules, shard, shards;  /* 1, 0, 1 unless told */
  bool strict, lockstep, allow_missing_acquire;
} muster_check_words;

typedef struct muster_session {
  char gpu[32]; /* profile's name; "auto": rtx4090, or the smallest that runs the PTX offered before cuInit */
  uint32_t gpus;    /* devices */
  uint32_t threads; /* host threads that run blocks; 1: deterministic */
  uint64_t seed;
  bool stats, quiet; /* quiet: no notes */
  bool check;        /* MUSTER_OPTIONS begins with that word */
  muster_check_words checks;
  bool exit_on_hang; /* a proven hang ends the process with 124; else its launches end with an error */
} muster_session;

/* What is in force; read from the environment at the first call. */
const muster_session *muster_session_get(void);
/* Replaces it. False after cuInit, or if `gpu` is no profile. */
bool muster_session_set(const muster_session *s);
void muster_session_freeze(void); /* cuInit was called */

/* Somebody collects what is said; else it goes to standard error. */
bool muster_session_has_parent(void);
/* Says one thing; true if somebody could be told. */
bool muster_session_say(muster_message kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says it once a process for each `key`. */
void muster_session_say_once(muster_message kind, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
