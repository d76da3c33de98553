// run: return 7
// stdout: kernel ran
// exit: 7
// run: exit 3
// stdout: kernel ran
// stdout: at exit
// exit: 3
// run: _exit 5
// exit: 5
// run: abort
// exit: 134
// stderr~ .
// run: segv
// exit: 139
// stderr~ .
// run: signal 15
// exit: 143
// stderr~ .
// run: signal 9
// exit: 137
// stderr~ .
// run: fork
// stdout: the child saw 42
// exit: 0
// run: forkchild
// stdout: a child with a device of its own
// run: system
// stdout: from a shell
// exit: 4
// run: exec
// stdout: another program
// exit: 6
// run: early
// exit: 9
// run: thread
// stdout: ended by another thread
// exit: 8
// run: running
// exit: 2
// seconds: 20
// cpu: how a GPU's driver stops it is its own affair
// The ways in which a program ends. It did its work with the device before, the last one has a kernel
// running.
#include "run.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void answer(int *word) {
  *word = 42;
}
__global__ void wait_for(volatile int *word) {
  while (*word == 0)
    ;
}

static int use_device(void) {
  int *word = device_zeros<int>(1);
  answer<<<1, 1>>>(word);
  return download(word);
}

static void at_exit(void) {
  puts("at exit");
}

static void *end_it(void *) {
  puts("ended by another thread");
  exit(8);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(how, "early"))
    return 9;                      // the device was never used
  if (!strcmp(how, "forkchild")) { // the parent has not touched the device
    pid_t child = fork();
    if (child == 0) {
      if (use_device() == 42)
        puts("a child with a device of its own");
      exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  int seen = use_device();
  EXPECT(seen == 42);
  puts("kernel ran");
  if (!strcmp(how, "return"))
    return number;
  if (!strcmp(how, "exit")) {
    atexit(at_exit);
    exit(number);
  }
  if (!strcmp(how, "_exit"))
    _exit(number);
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "segv")) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
  }
  if (!strcmp(how, "signal"))
    raise(number);
  fflush(stdout);
  if (!strcmp(how, "fork")) { // the child does something else
    pid_t child = fork();
    if (child == 0) {
      printf("the child saw %d\n", seen);
      fflush(stdout);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT(use_device() == 42); // and the parent goes on
    return 0;
  }
  if (!strcmp(how, "system")) {
    int status = system("echo from a shell; exit 4");
    return WEXITSTATUS(status);
  }
  if (!strcmp(how, "exec"))
    execl("/bin/sh", "sh", "-c", "echo another program; exit 6", (char *)NULL);
  if (!strcmp(how, "thread")) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, end_it, NULL) == 0);
    pthread_join(thread, NULL);
  }
  if (!strcmp(how, "running")) {
    volatile int *flag;
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    wait_for<<<1, 1>>>(flag);
    return 2;
  }
  return 1;
}
