/* patch.c: redirected functions, seen from their callers: every argument arrives, the first call and later
 * ones; a landing pad stays; what has no room for a jump is named and left. */
#include "runtime/preload/patch.h"

#include <stdio.h>
#include <string.h>

static int failed;
#define EXPECT(is, wanted)                                                           \
  do {                                                                               \
    const long long got = (long long)(is);                                           \
    if (got != (long long)(wanted)) {                                                \
      printf("%d: %s is %lld, not %lld\n", __LINE__, #is, got, (long long)(wanted)); \
      failed = 1;                                                                    \
    }                                                                                \
  } while (0)

/* What is redirected. The text is our own, so it lies in pages that hold nothing else. */
struct big {
  long a, b, c, d;
};
#ifdef __clang__
#define AS_WRITTEN noinline
#else
#define AS_WRITTEN noipa
#endif
#define OWN_PAGES __attribute__((section("redirected"), AS_WRITTEN, aligned(64)))
OWN_PAGES double many(int a, long b, short c, char d, unsigned e, long f, double g, float h, double i,
                      double j, double k, double l, double m, double n, int o, double p) {
  return (double)(a + b + c + d + e + f + o) + g + h + i + j + k + l + m + n + p - 1000;
}
OWN_PAGES struct big large(long a) {
  return (struct big){a, 0, 0, 0};
}
#if defined(__x86_64__)
long with_pad(long a);
long short_one(long a);
int tiny(void), neighbour(void);
__asm__(".section redirected, \"ax\"\n.balign 64\n"
        "with_pad: endbr64\n lea 1(%rdi), %rax\n ret\n .balign 64, 0xcc\n"
        "short_one: mov %edi, %eax\n ret\n .p2align 4\n"
        "tiny: ret\n"
        "neighbour: mov $7, %eax\n ret\n"
        ".balign 4096\n.text\n");
#else
__asm__(".section redirected, \"ax\"\n.balign 4096\n.text\n");
#endif
extern char __start_redirected[], __stop_redirected[];

static double many_instead(int a, long b, short c, char d, unsigned e, long f, double g, float h, double i,
                           double j, double k, double l, double m, double n, int o, double p) {
  return (double)(a + b + c + d + e + f + o) + g + h + i + j + k + l + m + n + p;
}
static struct big large_instead(long a) {
  return (struct big){a, a + 1, a + 2, a + 3};
}
static long plus_ten(long a) {
  return a + 10;
}

static int asked;
void *patch_target(const char *name, int major) {
  asked++;
  EXPECT(major, 13);
  void *target = NULL;
  if (strcmp(name, "many") == 0)
    memcpy(&target,
           &(double (*)(int, long, short, char, unsigned, long, double, float, double, double, double, double,
                        double, double, int, double)){many_instead},
           sizeof target);
  else if (strcmp(name, "large") == 0)
    memcpy(&target, &(struct big(*)(long)){large_instead}, sizeof target);
  else
    memcpy(&target, &(long (*)(long)){plus_ten}, sizeof target);
  return target;
}

static char refused[64];
static void refuse(const struct patch_site *site) {
  strcat(refused, site->name);
}

static uint8_t *at(void (*function)(void)) {
  uint8_t *bytes;
  memcpy(&bytes, &function, sizeof bytes);
  return bytes;
}
#define AT(function) at((void (*)(void))function)

int main(void) {
  struct patch_site sites[8] = {{AT(many), 64, "many", 13}, {AT(large), 32, "large", 13}};
  size_t count = 2;
#if defined(__x86_64__)
  sites[count++] = (struct patch_site){AT(with_pad), 9, "with_pad", 13};
  sites[count++] =
      (struct patch_site){AT(short_one), 3 + patch_padding(AT(short_one) + 3, 16), "short_one", 13};
  sites[count++] = (struct patch_site){AT(tiny), 1 + patch_padding(AT(tiny) + 1, 16), "tiny", 13};
#endif
  EXPECT(patch_apply(sites, count, (uintptr_t)__start_redirected, (uintptr_t)__stop_redirected, refuse), 1);
  EXPECT(asked, 0);
  for (int round = 0; round < 3; round++) {
    EXPECT(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), 136);
    const struct big b = large(5);
    EXPECT(b.a + b.b + b.c + b.d, 5 + 6 + 7 + 8);
#if defined(__x86_64__)
    EXPECT(with_pad(1), 11);
    EXPECT(short_one(2), 12);
    EXPECT(neighbour(), 7);
#endif
  }
#if defined(__x86_64__)
  static const uint8_t pad[] = {0xf3, 0x0f, 0x1e, 0xfa};
  EXPECT(memcmp(AT(with_pad), pad, sizeof pad), 0);
  EXPECT(strcmp(refused, "tiny"), 0);
  EXPECT(asked, 4);
  /* padding as assemblers write it, and what is none */
  static const uint8_t nops[] = {0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0,    0,    0,
                                 0,    0,    0x0f, 0x1f, 0x40, 0,    0x90, 0xcc, 0x55};
  EXPECT(patch_padding(nops, sizeof nops), 17);
  EXPECT(patch_padding(nops, 10), 0);
  EXPECT(patch_padding(nops + 17, 1), 0);
#endif
  return failed;
}
