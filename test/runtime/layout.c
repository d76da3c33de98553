/* layout.c: prints sizes and offsets of the runtime's structs. Compiled as C with our abi.h, and with
 * -DNVIDIA as C++ with the toolkit's headers; the test compares the two. cudaDeviceProp is the one of
 * CUDA 13. */
#include <stddef.h>
#include <stdio.h>

#ifdef NVIDIA
#include <cuda_runtime_api.h>
#else
#include "runtime/abi.h"
#define cudaDeviceProp cudaDeviceProp_13
#endif

int main(void) {
#define SIZE(type) printf(#type " %zu\n", sizeof(type));
#define FIELD(type, field) printf(#type "." #field " %zu\n", offsetof(type, field));
#include "layout.def"
  printf("cudaDeviceProp %zu\n", sizeof(cudaDeviceProp));
#define PROPERTY_MAJOR 13
#define PROPERTY(type, field, dims, value) \
  printf("cudaDeviceProp." #field " %zu\n", offsetof(cudaDeviceProp, field));
#include "runtime/property.def"
#define ERROR(name, value, text) printf(#name " %d\n", (int)name);
#include "runtime/error.def"
  return 0;
}
