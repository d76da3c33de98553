/* fatbin.h: images of GPU code: fat binaries, cubins, PTX text. Reads what nvcc puts into a program and what
 * a program hands to cuModuleLoadData; never trusts a size or an offset in it.
 */
#ifndef MUSTER_FATBIN_H
#define MUSTER_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_UNKNOWN_BYTES ((size_t)-1) /* in memory, without a length: its own header is believed */

typedef enum fatbin_format {
  FATBIN_NOTHING, /* none of these */
  FATBIN_FAT,     /* one fat binary header and its entries */
  FATBIN_WRAPPER, /* the 24 bytes that a program registers: points to a fat binary */
  FATBIN_ELF,     /* a cubin */
  FATBIN_PTX,     /* text */
  FATBIN_LINKED   /* what cuLinkComplete made */
} fatbin_format;
fatbin_format fatbin_format_of(const void *image, size_t bytes);

typedef enum fatbin_kind { FATBIN_KIND_PTX = 1, FATBIN_KIND_CUBIN = 2, FATBIN_KIND_LTO = 8 } fatbin_kind;

typedef struct fatbin_entry {
  unsigned kind;   /* fatbin_kind, or a number nobody knows yet */
  int sm;          /* 89 */
  char suffix;     /* 0, 'a' or 'f' */
  int ptx_version; /* 90 for 9.0; 0: not given */
  uint64_t flags;
  const uint8_t *payload; /* as stored */
  size_t stored_bytes, plain_bytes;
  enum { FATBIN_PLAIN, FATBIN_ZSTD, FATBIN_LZ4 } packing;
} fatbin_entry;

/* Steps through a fat binary. Begin with *at 0; false at the end or, with *error set to a constant line,
 * where it is damaged. */
bool fatbin_next(const void *image, size_t bytes, size_t *at, fatbin_entry *out, const char **error);
/* The entry's content, NUL-terminated beyond its end, for the caller to free; NULL and a constant line. */
uint8_t *fatbin_unpack(const fatbin_entry *e, size_t *bytes, const char **error);
/* What a wrapper points to. `relocatable`: also the NULL-terminated list of fat binaries from before linking,
 * or NULL. False: the wrapper is of no known version. */
bool fatbin_unwrap(const void *wrapper, const void **fat, const void *const **relocatable);

/* What .target says in PTX text: 90 and 'a' for sm_90a. False: no such directive. */
bool fatbin_ptx_target(const char *text, int *sm, char *suffix);

/* Describes what is there for messages: "PTX sm_80; cubins sm_75, sm_80". */
void fatbin_describe(const void *image, size_t bytes, char *text, size_t text_bytes);

/* ------------------------------------------------------------------ cubins */

/* Registers a thread of a kernel, as the real compiler used them: calls back for each kernel of a cubin.
 * False: not a cubin that can be read (some may have been told all the same). */
bool fatbin_cubin_registers(const void *cubin, size_t bytes,
                            void (*tell)(void *user, const char *kernel, uint32_t registers), void *user);

/* ------------------------------------------------------------------ for whoever registers images before
 * cuInit */

/* `--gpu auto` takes the smallest profile that runs every image offered before the first device is asked for
 * (rtx4090 if that one does). `image`: a fat binary or a wrapper of one, or PTX text. */
void muster_cpu_offer(const void *image);

#endif
