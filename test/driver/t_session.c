/* t_session.c: options from the environment, and messages to a parent. Linked with session.c alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/session.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

int main(int argc, char **argv) {
  int pair[2];
  struct stat s;
  char text[64], packet[MUSTER_SESSION_PACKET_BYTES + 1];
  CHECK(argc == 2);
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && fstat(pair[1], &s) == 0);
  bool wrong = strcmp(argv[1], "other-inode") == 0;
  snprintf(text, sizeof text, "%d:%llu", pair[1], (unsigned long long)s.st_ino + wrong);
  setenv("MUSTER_SESSION", text, 1);
  setenv("MUSTER_DEVICE", "cpu:t4", 1);
  if (wrong) { /* another file has that number: not our parent's */
    CHECK(muster_session_say(MUSTER_MESSAGE_NOTE, "for standard error"));
    CHECK(recv(pair[0], packet, sizeof packet, MSG_DONTWAIT) < 0);
    CHECK(!muster_session_get()->exit_on_hang);
    return 0;
  }
  setenv(
      "MUSTER_OPTIONS",
      "run --gpu=h200 --seed=0x10 --gpus 2 --threads=3 --time-limit=5 --stats --arg=a%20b --kernel-regex x",
      1);
  const muster_session *o = muster_session_get();
  CHECK(strcmp(o->gpu, "h200") == 0 && o->seed == 16 && o->gpus == 2 && o->threads == 3);
  CHECK(o->stats && !o->quiet && o->exit_on_hang);
  CHECK(muster_session_say(MUSTER_MESSAGE_FAULT, "one\ntwo %d", 3));
  ssize_t n = recv(pair[0], packet, sizeof packet - 1, 0);
  CHECK(n > 0);
  packet[n] = 0;
  snprintf(text, sizeof text, "fault %ld one\ntwo 3", (long)getpid());
  CHECK(strcmp(packet, text) == 0);
  muster_session_say_once(MUSTER_MESSAGE_UNMODELLED, "key", "once");
  muster_session_say_once(MUSTER_MESSAGE_UNMODELLED, "key", "once");
  CHECK(recv(pair[0], packet, sizeof packet, 0) > 0);
  CHECK(recv(pair[0], packet, sizeof packet, MSG_DONTWAIT) < 0);
  char *big = malloc(200000);
  memset(big, 'x', 199999);
  big[199999] = 0;
  CHECK(muster_session_say(MUSTER_MESSAGE_ERROR, "%s", big)); /* cut, not lost */
  n = recv(pair[0], packet, sizeof packet, 0);
  CHECK(n == MUSTER_SESSION_PACKET_BYTES);
  free(big);
  muster_session changed = *o;
  strcpy(changed.gpu, "nothing");
  CHECK(!muster_session_set(&changed));
  strcpy(changed.gpu, "a100");
  CHECK(muster_session_set(&changed) && strcmp(muster_session_get()->gpu, "a100") == 0);
  muster_session_freeze();
  CHECK(!muster_session_set(&changed));
  close(pair[0]); /* the parent is gone: no signal ends the program */
  muster_session_say(MUSTER_MESSAGE_NOTE, "to standard error");
  puts("ok");
  return 0;
}
