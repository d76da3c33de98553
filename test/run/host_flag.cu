// run: mapped
// stdout: released by the host
// run: managed
// stdout: released by the host
// run: registered
// stdout: released by the host
// A kernel waits for a word that the host sets later: launches do not block the host, and the host's writes
// arrive. By mapped pinned memory, managed memory, and memory of the program's own that was registered.
#include "run.h"
#include <unistd.h>

__global__ void wait(volatile int *flag, volatile int *answer) {
  while (*flag == 0)
    ;
  *answer = *flag + 1;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "mapped";
  volatile int *host;
  int *device, here[2] = {0, 0};
  if (!strcmp(how, "mapped")) {
    CHECK(cudaHostAlloc((void **)&host, 2 * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device, (void *)host, 0));
  } else if (!strcmp(how, "managed")) {
    int concurrent;
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    EXPECT(concurrent);
    CHECK(cudaMallocManaged((void **)&host, 2 * sizeof(int)));
    device = (int *)host;
  } else {
    CHECK(cudaHostRegister(here, sizeof here, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device, here, 0));
    host = here;
  }
  host[0] = host[1] = 0;
  wait<<<1, 1>>>(device, device + 1);
  CHECK(cudaGetLastError());
  FAILS(cudaStreamQuery(0), cudaErrorNotReady);
  usleep(50000);
  EXPECT(host[1] == 0);
  host[0] = 41;
  CHECK(cudaDeviceSynchronize());
  EXPECT(host[1] == 42);
  puts("released by the host");
}
