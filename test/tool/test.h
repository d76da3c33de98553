/* test.h: a check that fails says where and goes on; main returns how many failed. */
#ifndef TEST_H
#define TEST_H
#include <stdio.h>
#include <string.h>
static int failures;
#define CHECK(what)                                              \
  do {                                                           \
    if (!(what)) {                                               \
      failures++;                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
    }                                                            \
  } while (0)
#define CHECK_TEXT(got, want)                                                             \
  do {                                                                                    \
    const char *got_ = (got), *want_ = (want);                                            \
    if (!got_ || strcmp(got_, want_) != 0) {                                              \
      failures++;                                                                         \
      fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #got, \
              got_ ? got_ : "(null)", want_);                                             \
    }                                                                                     \
  } while (0)
#endif
