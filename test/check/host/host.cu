// host [WORD...]: does what the words say, one after the other: what programs do besides launching kernels.
//   race | right       launches a kernel whose blocks write one word, or a word each
//   sync               waits for the device
//   crash | abort      ends by a signal
//   exit N | _exit N   ends with N; the second as if pulled away, with nothing tidied up
//   hang               never goes on
//   fork               a child does the rest; the parent waits for it and ends with 0
//   start PROGRAM      the same, the child being `PROGRAM race sync`
//   lines N            writes N lines to standard output
//   close-out | close-err
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void one_word(unsigned *out) {
  *out = blockIdx.x;
}

__global__ void own_word(unsigned *out) {
  out[blockIdx.x] = blockIdx.x;
}

// In the parent: waits for the child, and ends.
static void child_goes_on(void) {
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0)
    return;
  EXPECT(waitpid(child, NULL, 0) == child);
  exit(0);
}

int main(int argc, char **argv) {
  unsigned *out = NULL;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    int number = i + 1 < argc ? atoi(argv[i + 1]) : 0;
    if (!strcmp(word, "race") || !strcmp(word, "right")) {
      if (!out)
        out = device_zeros<unsigned>(4);
      (word[1] == 'a' ? one_word : own_word)<<<4, 1>>>(out);
      CHECK(cudaGetLastError());
    } else if (!strcmp(word, "sync")) {
      CHECK(cudaDeviceSynchronize());
    } else if (!strcmp(word, "crash")) {
      raise(SIGSEGV);
    } else if (!strcmp(word, "abort")) {
      abort();
    } else if (!strcmp(word, "exit")) {
      exit(number);
    } else if (!strcmp(word, "_exit")) {
      _exit(number);
    } else if (!strcmp(word, "hang")) {
      for (;;)
        pause();
    } else if (!strcmp(word, "fork")) {
      child_goes_on();
    } else if (!strcmp(word, "start")) {
      child_goes_on();
      execlp(argv[i + 1], argv[i + 1], "race", "sync", (char *)NULL);
      _exit(127);
    } else if (!strcmp(word, "lines")) {
      for (int line = 0; line < number; line++)
        puts("a line that somebody may read or not");
      fflush(stdout);
      i++;
    } else if (!strcmp(word, "close-out")) {
      close(STDOUT_FILENO);
    } else if (!strcmp(word, "close-err")) {
      close(STDERR_FILENO);
    } else {
      return 2;
    }
  }
}
