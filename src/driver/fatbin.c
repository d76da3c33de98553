/* fatbin.c: the format of fat binaries, as nvcc 13.0 and its forerunners write them: a 16-byte header, then
 * entries, each with its own header. Payloads are plain, zstd frames or raw lz4 blocks.
 *
 * Everything read from an image is checked against the bytes that are there (or that the fat binary's own
 * header claims, where the length of the image is unknown); a damaged one gives an error, never a crash. What
 * the numbers of unknown kinds and flags mean is left to others to say: they are passed through.
 */
#include "driver/fatbin.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
  FAT_MAGIC = (int)0xBA55ED50u,
  WRAPPER_MAGIC = 0x466243B1,
  LINKED_MAGIC = 0x4C52544D, /* "MTRL" */
  FLAG_LZ4 = 0x2000,
  FLAG_ZSTD = 0x8000,
  FLAG_SUFFIX_A = 0x100000,
  FLAG_SUFFIX_F = 0x200000,
};
#define MOST_BYTES ((uint64_t)1 << 31) /* more than any program has: guards against nonsense sizes */

/* The fixed part of an entry's header. */
typedef struct entry_header {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t payload_bytes; /* padded */
  uint32_t packed_bytes;  /* 0: stored plain */
  uint32_t options_at;
  uint16_t minor, major;
  uint32_t sm;
  uint32_t name_at, name_bytes;
  uint64_t flags;
  uint64_t zero;
  uint64_t plain_bytes;
} entry_header;
_Static_assert(sizeof(entry_header) == 64, "layout");

typedef struct fat_header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t entry_bytes;
} fat_header;
_Static_assert(sizeof(fat_header) == 16, "layout");

/* Whether text looks like PTX: a directive or a comment comes first. */
static bool looks_like_ptx(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes && text[i]; i++) {
    if (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))
      continue;
    return text[i] == '.' || (text[i] == '/' && i + 1 < bytes && (text[i + 1] == '/' || text[i + 1] == '*'));
  }
  return false;
}

fatbin_format fatbin_format_of(const void *image, size_t bytes) {
  uint32_t magic;
  if (!image)
    return FATBIN_NOTHING;
  if (bytes >= sizeof magic) {
    /* A text of less than four bytes without known length could end at a page; NUL ends it. */
    const char *text = image;
    if (bytes == FATBIN_UNKNOWN_BYTES && (!text[0] || !text[1] || !text[2]))
      return looks_like_ptx(image, bytes) ? FATBIN_PTX : FATBIN_NOTHING;
    memcpy(&magic, image, sizeof magic);
    if (magic == (uint32_t)FAT_MAGIC)
      return FATBIN_FAT;
    if (magic == WRAPPER_MAGIC)
      return FATBIN_WRAPPER;
    if (magic == LINKED_MAGIC)
      return FATBIN_LINKED;
    if (memcmp(image,
               "\x7f"
               "ELF",
               4) == 0)
      return FATBIN_ELF;
  }
  return looks_like_ptx(image, bytes) ? FATBIN_PTX : FATBIN_NOTHING;
}

/* The end of the entries, from the image's beginning; 0 and an error if the header is damaged. */
static size_t fat_end(const void *image, size_t bytes, size_t *first, const char **error) {
  fat_header h;
  *error = NULL;
  if (bytes < sizeof h) {
    *error = "the fat binary is cut off in its header";
    return 0;
  }
  memcpy(&h, image, sizeof h);
  if (h.magic != (uint32_t)FAT_MAGIC)
    *error = "this is no fat binary";
  else if (h.version != 1 || h.header_bytes < sizeof h)
    *error = "the fat binary is of an unknown version";
  else if (h.entry_bytes > MOST_BYTES)
    *error = "the fat binary's header is damaged";
  else if (bytes != FATBIN_UNKNOWN_BYTES &&
           (h.header_bytes > bytes || h.entry_bytes > bytes - h.header_bytes))
    *error = "the fat binary is cut off";
  if (*error)
    return 0;
  *first = h.header_bytes;
  return (size_t)h.header_bytes + (size_t)h.entry_bytes;
}

bool fatbin_next(const void *image, size_t bytes, size_t *at, fatbin_entry *out, const char **error) {
  size_t first = 0, end = fat_end(image, bytes, &first, error);
  if (*error)
    return false;
  size_t here = *at ? *at : first;
  if (here == end)
    return false;
  entry_header h;
  const uint8_t *base = image;
  if (here > end || end - here < sizeof h) {
    *error = "the fat binary is cut off in an entry's header";
    return false;
  }
  memcpy(&h, base + here, sizeof h);
  if (h.header_bytes < sizeof h || h.header_bytes > end - here ||
      h.payload_bytes > end - here - h.header_bytes || h.packed_bytes > h.payload_bytes ||
      h.plain_bytes > MOST_BYTES) {
    *error = "an entry of the fat binary is damaged";
    return false;
  }
  *out = (fatbin_entry){
      .kind = h.kind,
      .sm = (int)(h.sm & 0xffff),
      .suffix = h.flags & FLAG_SUFFIX_A   ? 'a'
                : h.flags & FLAG_SUFFIX_F ? 'f'
                                          : 0,
      .ptx_version = h.kind == FATBIN_KIND_PTX ? h.major * 10 + h.minor : 0,
      .flags = h.flags,
      .payload = base + here + h.header_bytes,
      .stored_bytes = h.packed_bytes ? h.packed_bytes : (size_t)h.payload_bytes,
      .plain_bytes = h.packed_bytes ? (size_t)h.plain_bytes : (size_t)h.payload_bytes,
      .packing = !h.packed_bytes       ? FATBIN_PLAIN
                 : h.flags & FLAG_ZSTD ? FATBIN_ZSTD
                                       : FATBIN_LZ4,
  };
  *at = here + h.header_bytes + (size_t)h.payload_bytes;
  return true;
}

uint8_t *fatbin_unpack(const fatbin_entry *e, size_t *bytes, const char **error) {
  /* Sizes that the payload itself contradicts are not worth any memory. */
  unsigned long long frame =
      e->packing == FATBIN_ZSTD ? ZSTD_getFrameContentSize(e->payload, e->stored_bytes) : 0;
  *error = NULL;
  if (frame == ZSTD_CONTENTSIZE_ERROR ||
      (frame && frame != ZSTD_CONTENTSIZE_UNKNOWN && frame != e->plain_bytes) ||
      (e->packing == FATBIN_LZ4 && e->plain_bytes / 255 > e->stored_bytes)) {
    *error = "an entry of the fat binary does not decompress";
    return NULL;
  }
  uint8_t *to = malloc(e->plain_bytes + 1);
  if (!to) {
    *error = "out of memory";
    return NULL;
  }
  size_t got = e->plain_bytes;
  if (e->packing == FATBIN_PLAIN) {
    memcpy(to, e->payload, e->plain_bytes);
  } else if (e->packing == FATBIN_ZSTD) {
    got = ZSTD_decompress(to, e->plain_bytes, e->payload, e->stored_bytes);
    if (ZSTD_isError(got))
      *error = "an entry of the fat binary does not decompress (zstd)";
  } else {
    int n = e->stored_bytes > INT32_MAX || e->plain_bytes > INT32_MAX
                ? -1
                : LZ4_decompress_safe((const char *)e->payload, (char *)to, (int)e->stored_bytes,
                                      (int)e->plain_bytes);
    got = n < 0 ? 0 : (size_t)n;
    if (n < 0)
      *error = "an entry of the fat binary does not decompress (lz4)";
  }
  if (!*error && got != e->plain_bytes)
    *error = "an entry of the fat binary is shorter than it says";
  if (*error) {
    free(to);
    return NULL;
  }
  to[got] = 0;
  *bytes = got;
  return to;
}

bool fatbin_unwrap(const void *wrapper, const void **fat, const void *const **relocatable) {
  struct {
    uint32_t magic, version;
    const void *fat;
    const void *const *units;
  } w;
  memcpy(&w, wrapper, sizeof w);
  if (w.magic != WRAPPER_MAGIC || (w.version != 1 && w.version != 2))
    return false;
  *fat = w.fat;
  *relocatable = w.version == 2 ? w.units : NULL;
  return true;
}

bool fatbin_ptx_target(const char *text, int *sm, char *suffix) {
  const char *at = strstr(text, ".target");
  if (!at)
    return false;
  at += strlen(".target");
  at += strspn(at, " \t\r\n");
  if (strncmp(at, "sm_", 3) != 0)
    return false;
  char *end;
  long n = strtol(at + 3, &end, 10);
  if (n < 10 || n > 1000)
    return false;
  *sm = (int)n;
  *suffix = *end == 'a' || *end == 'f' ? *end : 0;
  return true;
}

/* Appends what fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, bytes - length, "%s", more);
}

void fatbin_describe(const void *image, size_t bytes, char *text, size_t text_bytes) {
  static const struct {
    unsigned kind;
    const char *name;
  } kinds[] = {{FATBIN_KIND_PTX, "PTX"}, {FATBIN_KIND_CUBIN, "cubin"}, {FATBIN_KIND_LTO, "LTO-IR"}};
  text[0] = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    fatbin_entry e;
    const char *error;
    char last[32] = "";
    for (size_t at = 0; fatbin_next(image, bytes, &at, &e, &error);) {
      char one[32];
      if (e.kind != kinds[k].kind)
        continue;
      snprintf(one, sizeof one, " sm_%d%.1s", e.sm, e.suffix ? (char[]){e.suffix, 0} : "");
      if (strcmp(one, last) == 0)
        continue; /* a device link leaves several of a kind */
      append(text, text_bytes, !last[0] ? (text[0] ? "; " : "") : ",");
      if (!last[0])
        append(text, text_bytes, kinds[k].name);
      append(text, text_bytes, one);
      strcpy(last, one);
    }
  }
  if (!text[0])
    append(text, text_bytes, "no code");
}
