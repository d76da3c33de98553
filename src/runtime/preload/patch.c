/* patch.c: jumps written over the entry points of functions that are already mapped.
 *
 * A jump that every function has room for reaches 2 GiB on x86-64 (5 bytes) and 128 MiB on aarch64 (4 bytes),
 * so each object gets an island of stubs mapped close to its text. A stub jumps through its slot; the slot
 * first leads to a binder, which asks patch_target once, the way a lazily bound PLT does. That matters:
 * objects are patched while the dynamic loader holds its lock, when nothing may be looked up yet.
 *
 * Keeps invariant: text is never writable and executable at once, and a landing pad (endbr64, bti) at an
 * entry stays where it is.
 */
#define _GNU_SOURCE
#include "runtime/preload/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { PATCH_JUMP = 5, PATCH_STUB = 32 };
#define PATCH_REACH ((uintptr_t)0x7fff0000)
static const uint8_t patch_pad[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
#elif defined(__aarch64__)
enum { PATCH_JUMP = 4, PATCH_STUB = 32 };
#define PATCH_REACH ((uintptr_t)0x7ff0000)
static const uint8_t patch_pad[] = {0x5f, 0x24, 0x03, 0xd5}; /* bti c */
#else
#error "muster's CPU device runs on x86-64 and aarch64"
#endif

/* What a stub's slot stands for; bindings live for ever, as patched text does. */
struct patch_binding {
  const char *name;
  void **slot;
  int major;
};
static struct patch_binding *patch_bindings;
static size_t patch_binding_count, patch_binding_room;

/* Called by the binder below with the binding's number; not static because assembly names it. */
__attribute__((visibility("hidden"), used)) void *patch_bind(size_t number) {
  const struct patch_binding binding = patch_bindings[number];
  void *target = patch_target(binding.name, binding.major);
  __atomic_store_n(binding.slot, target, __ATOMIC_RELEASE);
  return target;
}

/* The binder: saves every register that carries an argument, asks patch_bind, goes on to the target. */
void patch_binder(void);
#if defined(__x86_64__)
__asm__(".text\n.balign 16\n.hidden patch_binder\n.type patch_binder, @function\npatch_binder:\n"
        "  endbr64\n" /* on the stack: the binding's number, then the return address: aligned to 16 */
        "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n  pushq %rax\n"
        "  subq $136, %rsp\n"
        "  movups %xmm0, 0(%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n"
        "  movups %xmm3, 48(%rsp)\n  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
        "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
        "  movq 192(%rsp), %rdi\n"
        "  call patch_bind\n"
        "  movq %rax, %r11\n"
        "  movups 0(%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n"
        "  movups 48(%rsp), %xmm3\n  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
        "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
        "  addq $136, %rsp\n"
        "  popq %rax\n  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
        "  addq $8, %rsp\n"
        "  jmpq *%r11\n"
        ".size patch_binder, .-patch_binder\n");
#else
__asm__(".text\n.balign 16\n.hidden patch_binder\n.type patch_binder, @function\npatch_binder:\n"
        "  hint #36\n" /* bti j; the binding's number is in x16 */
        "  stp x29, x30, [sp, #-224]!\n  mov x29, sp\n"
        "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n"
        "  stp x6, x7, [sp, #64]\n  str x8, [sp, #80]\n"
        "  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n  stp q4, q5, [sp, #160]\n"
        "  stp q6, q7, [sp, #192]\n"
        "  mov x0, x16\n"
        "  bl patch_bind\n"
        "  mov x16, x0\n"
        "  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n  ldp q4, q5, [sp, #160]\n"
        "  ldp q6, q7, [sp, #192]\n"
        "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n"
        "  ldp x6, x7, [sp, #64]\n  ldr x8, [sp, #80]\n"
        "  ldp x29, x30, [sp], #224\n"
        "  br x16\n"
        ".size patch_binder, .-patch_binder\n");
#endif

static void patch_put32(uint8_t *at, uint32_t value) {
  memcpy(at, &value, sizeof value);
}

/* Writes stub `stub`, which jumps through `slot`, and where the slot leads before it is bound. */
static void patch_write_stub(uint8_t *stub, void **slot, void **binder, size_t number) {
#if defined(__x86_64__)
  memcpy(stub, patch_pad, sizeof patch_pad);
  stub[4] = 0xff, stub[5] = 0x25; /* jmp *slot(%rip) */
  patch_put32(stub + 6, (uint32_t)((uint8_t *)slot - (stub + 10)));
  stub[10] = 0x68; /* push number */
  patch_put32(stub + 11, (uint32_t)number);
  stub[15] = 0xff, stub[16] = 0x25; /* jmp *binder(%rip) */
  patch_put32(stub + 17, (uint32_t)((uint8_t *)binder - (stub + 21)));
  *slot = stub + 10;
#else
  const uint32_t to_slot = (uint32_t)((uint8_t *)slot - (stub + 4)),
                 to_binder = (uint32_t)((uint8_t *)binder - (stub + 20));
  memcpy(stub, patch_pad, sizeof patch_pad);
  patch_put32(stub + 4, 0x58000010 | (to_slot / 4 & 0x7ffff) << 5);            /* ldr x16, slot */
  patch_put32(stub + 8, 0xd61f0200);                                           /* br x16 */
  patch_put32(stub + 12, 0xd2800010 | (uint32_t)(number & 0xffff) << 5);       /* movz x16, number */
  patch_put32(stub + 16, 0xf2a00010 | (uint32_t)(number >> 16 & 0xffff) << 5); /* movk x16, number, lsl 16 */
  patch_put32(stub + 20, 0x58000011 | (to_binder / 4 & 0x7ffff) << 5);         /* ldr x17, binder */
  patch_put32(stub + 24, 0xd61f0220);                                          /* br x17 */
  *slot = stub + 12;
#endif
}

static size_t patch_entry_offset(const uint8_t *at, size_t room) {
  return room >= sizeof patch_pad + PATCH_JUMP && memcmp(at, patch_pad, sizeof patch_pad) == 0
             ? sizeof patch_pad
             : 0;
}

/* The jump itself; the caller has made the page writable. */
static void patch_write_jump(uint8_t *at, size_t room, const uint8_t *stub) {
  at += patch_entry_offset(at, room);
#if defined(__x86_64__)
  uint8_t jump[PATCH_JUMP] = {0xe9};
  patch_put32(jump + 1, (uint32_t)(stub - (at + PATCH_JUMP)));
#else
  uint8_t jump[PATCH_JUMP];
  patch_put32(jump, 0x14000000 | ((uint32_t)(stub - at) / 4 & 0x3ffffff));
#endif
  memcpy(at, jump, sizeof jump);
  __builtin___clear_cache((char *)at, (char *)at + sizeof jump);
}

size_t patch_padding(const uint8_t *at, size_t limit) {
  size_t n = 0;
#if defined(__x86_64__)
  /* int3, or the nop encodings that assemblers fill with */
  while (n < limit) {
    const uint8_t *p = at + n;
    size_t i = 0, bytes = 0;
    while (i < 11 && n + i < limit && (p[i] == 0x66 || p[i] == 0x2e))
      i++;
    if (n + i < limit && p[i] == 0xcc && i == 0)
      bytes = 1;
    else if (n + i < limit && p[i] == 0x90)
      bytes = i + 1;
    else if (n + i + 2 < limit && p[i] == 0x0f && p[i + 1] == 0x1f) {
      const uint8_t form = p[i + 2];
      bytes = i + 3 + ((form & 7) == 4) + (form >> 6 == 1 ? 1 : form >> 6 == 2 ? 4 : 0);
    }
    if (bytes == 0 || n + bytes > limit)
      break;
    n += bytes;
  }
#else
  for (uint32_t word; n + 4 <= limit; n += 4) {
    memcpy(&word, at + n, sizeof word);
    if (word != 0xd503201f && word != 0) /* nop, udf */
      break;
  }
#endif
  return n;
}

static size_t patch_page(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Memory within a jump's reach of all of [low, high), next to where something is mapped already. */
static uint8_t *patch_map_near(uintptr_t low, uintptr_t high, size_t bytes) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return NULL;
  const uintptr_t floor = high > PATCH_REACH ? high - PATCH_REACH : patch_page() * 16;
  const uintptr_t ceiling = low < UINTPTR_MAX - PATCH_REACH ? low + PATCH_REACH : UINTPTR_MAX;
  uint8_t *found = NULL;
  uintptr_t free_from = 0; /* end of the mapping before */
  char line[512];
  while (!found && fgets(line, sizeof line, maps)) {
    if (!strchr(line, '\n')) /* the rest of a long path */
      for (int c; (c = fgetc(maps)) != EOF && c != '\n';)
        ;
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx", &from, &to) != 2)
      continue;
    /* The gap's upper end first: below an object nothing grows. */
    uintptr_t gap_low = free_from > floor ? free_from : floor, gap_high = from < ceiling ? from : ceiling;
    if (gap_high > gap_low && gap_high - gap_low >= bytes + patch_page()) {
      const uintptr_t want = (gap_high - bytes) & ~(uintptr_t)(patch_page() - 1);
      void *got = mmap((void *)want, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got != MAP_FAILED && (uintptr_t)got != want) /* a kernel that does not know the flag */
        munmap(got, bytes);
      else if (got != MAP_FAILED)
        found = got;
    }
    free_from = to;
  }
  fclose(maps);
  return found;
}

/* Makes the pages of [at, at + bytes) writable, or text again. Objects' text is private, so this copies them.
 */
static bool patch_protect(uintptr_t from, uintptr_t to, int protection) {
  const uintptr_t page = patch_page(), low = from & ~(page - 1);
  return mprotect((void *)low, to - low, protection) == 0;
}

static bool patch_reserve(size_t more) {
  if (patch_binding_count + more <= patch_binding_room)
    return true;
  const size_t room = (patch_binding_count + more) * 2;
  struct patch_binding *grown = malloc(room * sizeof *grown);
  if (!grown)
    return false;
  /* The old table is left: another thread may be binding by it. It is small, and grows rarely. */
  if (patch_binding_count)
    memcpy(grown, patch_bindings, patch_binding_count * sizeof *grown);
  __atomic_store_n(&patch_bindings, grown, __ATOMIC_RELEASE);
  patch_binding_room = room;
  return true;
}

bool patch_apply(const struct patch_site *sites, size_t count, uintptr_t low, uintptr_t high,
                 void (*refused)(const struct patch_site *)) {
  if (count == 0)
    return true;
  const size_t page = patch_page();
  const size_t code = (count * PATCH_STUB + page - 1) / page * page;
  const size_t bytes = code + ((count + 1) * sizeof(void *) + page - 1) / page * page;
  uint8_t *island = patch_reserve(count) ? patch_map_near(low, high, bytes) : NULL;
  if (!island)
    return false;
  void **slots = (void **)(island + code);
  void (*const binder)(void) = patch_binder;
  memcpy(&slots[count], &binder, sizeof binder);
  for (size_t i = 0; i < count; i++) {
    patch_bindings[patch_binding_count + i] =
        (struct patch_binding){.name = sites[i].name, .slot = &slots[i], .major = sites[i].major};
    patch_write_stub(island + i * PATCH_STUB, &slots[i], &slots[count], patch_binding_count + i);
  }
  __builtin___clear_cache((char *)island, (char *)island + code);
  if (mprotect(island, code, PROT_READ | PROT_EXEC) != 0 ||
      !patch_protect(low, high, PROT_READ | PROT_WRITE)) {
    munmap(island, bytes);
    return false;
  }
  patch_binding_count += count;
  for (size_t i = 0; i < count; i++) {
    if (sites[i].room >= PATCH_JUMP)
      patch_write_jump(sites[i].at, sites[i].room, island + i * PATCH_STUB);
    else if (refused)
      refused(&sites[i]);
  }
  return patch_protect(low, high, PROT_READ | PROT_EXEC);
}

bool patch_direct(uint8_t *at, size_t room, void (*target)(void)) {
  const uintptr_t low = (uintptr_t)at, high = low + room;
  if (room < PATCH_JUMP)
    return false;
  uint8_t *island = patch_map_near(low, high, 2 * patch_page());
  if (!island)
    return false;
  void **slot = (void **)(island + patch_page());
  patch_write_stub(island, slot, slot + 1, 0);
  memcpy(slot, &target, sizeof target);
  __builtin___clear_cache((char *)island, (char *)island + PATCH_STUB);
  if (mprotect(island, patch_page(), PROT_READ | PROT_EXEC) != 0 ||
      !patch_protect(low, high, PROT_READ | PROT_WRITE))
    return false;
  patch_write_jump(at, room, island);
  return patch_protect(low, high, PROT_READ | PROT_EXEC);
}
