/* child.c: a program that does what its words say, one after the other, to be run under muster: how programs
 * end, what they inherit, what they send. Words: say KIND TEXT | out TEXT | err TEXT | exit N | _exit N |
 * raise N | crash | fork WORD... | system COMMAND | env NAME | fds | mask | sleep SECONDS | closefds | catch
 * N | args. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the device does it: only over the socket that MUSTER_SESSION names. */
static void say(const char *kind, const char *text) {
  int fd;
  unsigned long long inode;
  struct stat st;
  const char *session = getenv("MUSTER_SESSION");
  char packet[4096];
  if (!session || sscanf(session, "%d:%llu", &fd, &inode) != 2 || fstat(fd, &st) != 0 ||
      !S_ISSOCK(st.st_mode) || st.st_ino != inode) {
    fprintf(stderr, "no session: %s\n", text);
    return;
  }
  int n = snprintf(packet, sizeof packet, "%s %ld %s", kind, (long)getpid(), text);
  send(fd, packet, (size_t)n, MSG_NOSIGNAL);
}

static void caught(int n) {
  char text[64];
  int bytes = snprintf(text, sizeof text, "caught %d\n", n);
  if (write(1, text, (size_t)bytes) < 0)
    _exit(99);
  _exit(3);
}

static void descriptors(void) {
  DIR *d = opendir("/proc/self/fd");
  int count = 0;
  for (struct dirent *e; d && (e = readdir(d));)
    count += e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d);
  closedir(d);
  printf("%d descriptors\n", count);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(word, "say") == 0) {
      say(next, i + 2 < argc ? argv[i + 2] : "");
      i += 2;
    } else if (strcmp(word, "out") == 0) {
      puts(next);
      fflush(stdout);
      i++;
    } else if (strcmp(word, "err") == 0) {
      fprintf(stderr, "%s\n", next);
      i++;
    } else if (strcmp(word, "exit") == 0) {
      exit(atoi(next));
    } else if (strcmp(word, "_exit") == 0) {
      _exit(atoi(next));
    } else if (strcmp(word, "raise") == 0) {
      raise(atoi(next));
      i++;
    } else if (strcmp(word, "crash") == 0) {
      int *volatile nowhere = NULL;
      *nowhere = 1;
    } else if (strcmp(word, "fork") == 0) { /* the rest is the child's; the parent ends with 0 */
      pid_t pid = fork();
      if (pid > 0) {
        int status;
        waitpid(pid, &status, 0);
        printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return 0;
      }
    } else if (strcmp(word, "system") == 0) {
      int status = system(next);
      printf("system: %d\n", WEXITSTATUS(status));
      i++;
    } else if (strcmp(word, "env") == 0) {
      printf("%s=%s\n", next, getenv(next) ? getenv(next) : "(not set)");
      i++;
    } else if (strcmp(word, "fds") == 0) {
      descriptors();
    } else if (strcmp(word, "mask") == 0) {
      sigset_t mask;
      int blocked = 0;
      sigprocmask(SIG_BLOCK, NULL, &mask);
      for (int s = 1; s < 32; s++)
        blocked += sigismember(&mask, s) == 1;
      printf("%d signals blocked\n", blocked);
    } else if (strcmp(word, "sleep") == 0) {
      usleep((useconds_t)(atof(next) * 1e6));
      i++;
    } else if (strcmp(word, "closefds") == 0) {
      for (int fd = 3; fd < 1024; fd++)
        close(fd);
    } else if (strcmp(word, "catch") == 0) {
      signal(atoi(next), caught);
      i++;
    } else if (strcmp(word, "ignore") == 0) {
      signal(atoi(next), SIG_IGN);
      i++;
    } else if (strcmp(word, "args") == 0) {
      for (int k = i + 1; k < argc; k++)
        printf("[%s]\n", argv[k]);
      return 0;
    }
    fflush(stdout);
  }
  return 0;
}
