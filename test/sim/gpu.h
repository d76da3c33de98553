/* gpu.h: a real GPU through the CUDA driver API, as far as run_ptx needs it. */
#ifndef MUSTER_TEST_SIM_GPU_H
#define MUSTER_TEST_SIM_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel of PTX text; NULL, and why. The first call opens the driver and device 0. */
void *gpu_load(const char *text, const char *kernel, char *why, size_t size);
uint64_t gpu_new(uint64_t bytes);
void gpu_copy(uint64_t device, void *host, uint64_t bytes, bool to_device);
bool gpu_launch(void *kernel, const uint32_t grid[3], const uint32_t block[3], const uint32_t cluster[3],
                uint32_t shared, bool cooperative, void **values, char *why, size_t size);

#endif
