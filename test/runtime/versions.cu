// Versions, properties, entry points of the driver. Argument `texts`: prints name and text of every error
// number.
#include "check.h"

int main(int argc, char **argv) {
  if (argc > 1) {
    for (int i = 0; i < 20000; i++)
      printf("%d %s: %s\n", i, cudaGetErrorName((cudaError_t)i), cudaGetErrorString((cudaError_t)i));
    return 0;
  }
  int runtime = 0, driver = 0, value = 0, device = -1;
  OK(cudaRuntimeGetVersion(&runtime));
  EXPECT(runtime / 1000, CUDART_VERSION / 1000);
  OK(cudaDriverGetVersion(&driver));
  EXPECT_TRUE(driver >= runtime);
  OK(cudaGetDevice(&device));
  EXPECT(device, 0);

  static cudaDeviceProp properties;
  memset(&properties, 0xff, sizeof properties);
  OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_TRUE(strlen(properties.name) > 3 && strlen(properties.name) < 200);
  EXPECT(properties.warpSize, 32);
  EXPECT(properties.maxThreadsDim[2], 64);
  EXPECT(properties.totalConstMem, 65536);
  EXPECT(properties.reserved[5], 0);
  const struct {
    cudaDeviceAttr attribute;
    long long property;
  } same[] = {{cudaDevAttrComputeCapabilityMajor, properties.major},
              {cudaDevAttrComputeCapabilityMinor, properties.minor},
              {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
              {cudaDevAttrMaxSharedMemoryPerBlock, (long long)properties.sharedMemPerBlock},
              {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)properties.sharedMemPerBlockOptin},
              {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
              {cudaDevAttrCooperativeLaunch, properties.cooperativeLaunch},
              {cudaDevAttrHostNumaId, properties.hostNumaId},
              {cudaDevAttrL2CacheSize, properties.l2CacheSize},
              {cudaDevAttrMaxBlocksPerMultiprocessor, properties.maxBlocksPerMultiProcessor}};
  for (const auto &s : same) {
    OK(cudaDeviceGetAttribute(&value, s.attribute, 0));
    EXPECT(s.property, value);
  }
  size_t free_bytes, total_bytes;
  OK(cudaMemGetInfo(&free_bytes, &total_bytes));
  EXPECT(properties.totalGlobalMem, total_bytes);
  char id[32] = "";
  OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT(device, 0);

  void *function = NULL;
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000, cudaEnableDefault, &found));
  EXPECT(found, cudaDriverEntryPointSuccess);
  int count = -1;
  EXPECT(((int (*)(int *))function)(&count), 0);
  EXPECT_TRUE(count >= 1);
  OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &found));
  EXPECT(found, cudaDriverEntryPointSymbolNotFound);

  size_t stack = 0;
  OK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  EXPECT_TRUE(stack >= 512);
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  size_t fifo = 0;
  OK(cudaDeviceGetLimit(&fifo, cudaLimitPrintfFifoSize));
  EXPECT_TRUE(fifo >= 2 << 20);
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  OK(cudaDeviceReset());
  OK(cudaFree(0));
  return check_end();
}
