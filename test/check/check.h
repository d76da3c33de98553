// check.h: what the programs of this folder share. They are ordinary CUDA programs: nothing here knows
// muster.
#ifndef CHECK_H
#define CHECK_H

#include "../run/run.h"

// Each program holds two forms of its kernel; its first argument says which one is launched.
static inline bool fixed_form(int argc, char **argv) {
  const char *form = argc > 1 ? argv[1] : "";
  if (strcmp(form, "fixed") && strcmp(form, "broken")) {
    printf("usage: %s broken|fixed\n", argv[0]);
    exit(2);
  }
  return !strcmp(form, "fixed");
}

// COUNT words on the device: 1, 2, 3...
static inline unsigned *device_numbers(unsigned count) {
  unsigned *memory = device_zeros<unsigned>(count), *numbers = (unsigned *)malloc(count * sizeof *numbers);
  for (unsigned i = 0; i < count; i++)
    numbers[i] = i + 1;
  CHECK(cudaMemcpy(memory, numbers, count * sizeof *numbers, cudaMemcpyHostToDevice));
  free(numbers);
  return memory;
}

#endif
