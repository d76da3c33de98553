/* link.c: cuLink*. PTX cannot be linked into PTX without care, and need not be: the linked image simply holds
 * the units' texts, and the machine resolves their symbols, one unit loaded after the other. The image is
 *
 *   magic "MTRL", u32 number of units, u64 bytes of all; then for each unit its name and its text,
 *   each as u64 bytes, the bytes, a NUL
 *
 * Every number in it is checked: a program may store such an image and load another.
 */
#include "driver/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/fatbin.h"

#define MAGIC "MTRL"
enum { HEADER_BYTES = 16 };

typedef struct drv_link {
  drv_device *device;
  drv_program *program; /* the units read so far */
  base_text image;
  base_text log;
  char *log_to;
  size_t log_bytes;
} drv_link;

/* ------------------------------------------------------------------ order */

static bool needs_symbol(uint8_t linkage, bool defined) {
  return linkage == PTX_LINK_EXTERN && !defined;
}

static bool defines_func(const struct ptx_module *m, const char *name) {
  uint32_t i = ptx_find_func(m, name);
  return i != PTX_NONE && m->funcs[i].defined && m->funcs[i].linkage != PTX_LINK_NONE;
}

static bool defines_var(const struct ptx_module *m, const char *name) {
  uint32_t i = ptx_find_var(m, name);
  return i != PTX_NONE && m->vars[i].linkage != PTX_LINK_EXTERN && m->vars[i].linkage != PTX_LINK_NONE;
}

/* Whether `a` refers to something that `b` defines. */
static bool refers(const struct ptx_module *a, const struct ptx_module *b) {
  for (uint32_t i = 0; i < a->n_funcs; i++)
    if (needs_symbol(a->funcs[i].linkage, a->funcs[i].defined) && defines_func(b, a->funcs[i].name))
      return true;
  for (uint32_t i = 0; i < a->n_vars; i++)
    if (needs_symbol(a->vars[i].linkage, false) && defines_var(b, a->vars[i].name))
      return true;
  return false;
}

void drv_program_order(drv_program *p) {
  for (uint32_t done = 0; done < p->n_units; done++) {
    /* The first of the rest that refers to none of the others. */
    uint32_t next = done;
    for (; next < p->n_units; next++) {
      bool free_of_others = true;
      for (uint32_t i = done; i < p->n_units && free_of_others; i++)
        free_of_others = i == next || !refers(p->units[next], p->units[i]);
      if (free_of_others)
        break;
    }
    if (next == p->n_units)
      next = done; /* a circle: functions are found when they are called, whoever comes first */
    struct ptx_module *m = p->units[next];
    memmove(&p->units[done + 1], &p->units[done], (next - done) * sizeof m);
    p->units[done] = m;
  }
}

/* ------------------------------------------------------------------ the image */

static void put_text(base_text *to, const char *text, uint64_t n) {
  base_put(to, (const char *)&n, sizeof n);
  base_put(to, text, (size_t)n);
  base_put(to, "", 1);
}

/* The text at *at, NUL-terminated; NULL: the image is damaged. */
static const char *get_text(const char *image, uint64_t all, uint64_t *at, uint64_t *n) {
  if (all - *at < sizeof *n)
    return NULL;
  memcpy(n, image + *at, sizeof *n);
  *at += sizeof *n;
  if (*n >= all - *at || image[*at + *n] != 0)
    return NULL;
  const char *text = image + *at;
  *at += *n + 1;
  return text;
}

static void put_image(base_text *to, const drv_program *p) {
  uint64_t bytes = HEADER_BYTES;
  for (uint32_t i = 0; i < p->n_units; i++)
    bytes += 2 * (sizeof(uint64_t) + 1) + strlen(p->units[i]->name) + p->units[i]->text_bytes;
  base_put(to, MAGIC, 4);
  base_put(to, (const char *)&p->n_units, sizeof p->n_units);
  base_put(to, (const char *)&bytes, sizeof bytes);
  for (uint32_t i = 0; i < p->n_units; i++) {
    put_text(to, p->units[i]->name, strlen(p->units[i]->name));
    put_text(to, p->units[i]->text, p->units[i]->text_bytes);
  }
}

CUresult drv_link_open(drv_device *d, drv_program *p, const void *image, size_t bytes, base_text *log) {
  uint32_t units;
  uint64_t all;
  const char *base = image;
  if (bytes < HEADER_BYTES)
    return CUDA_ERROR_INVALID_IMAGE;
  memcpy(&units, base + 4, sizeof units);
  memcpy(&all, base + 8, sizeof all);
  if (all > bytes || all < HEADER_BYTES)
    return CUDA_ERROR_INVALID_IMAGE;
  uint64_t at = HEADER_BYTES;
  p->told = true; /* when the units were added */
  for (uint32_t i = 0; i < units; i++) {
    uint64_t n;
    const char *name = get_text(base, all, &at, &n), *text = name ? get_text(base, all, &at, &n) : NULL;
    if (!text)
      return CUDA_ERROR_INVALID_IMAGE;
    CUresult r = drv_program_add(d, p, text, (size_t)n, name, log);
    if (r != CUDA_SUCCESS)
      return r;
  }
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the API */

static void give_log(drv_link *l) {
  if (l->log_to && l->log_bytes)
    snprintf(l->log_to, l->log_bytes, "%s", l->log.bytes ? l->log.bytes : "");
}

static void link_free(drv_link *l) {
  drv_program_drop(l->program);
  base_text_free(&l->image);
  base_text_free(&l->log);
  free(l);
}

CUresult drv_cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
  if (!state || (count && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  drv_link *l = calloc(1, sizeof *l);
  if (!l || !(l->program = calloc(1, sizeof *l->program)) || !drv_handle_add(l, DRV_LINK)) {
    free(l ? l->program : NULL);
    free(l);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  l->program->users = 1;
  l->device = drv_current()->device;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      l->log_to = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      l->log_bytes = (uint32_t)(uintptr_t)values[i];
  }
  give_log(l);
  *state = l;
  return CUDA_SUCCESS;
}

CUresult drv_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                           unsigned count, CUjit_option *options, void **values) {
  drv_link *l = drv_find(state, DRV_LINK);
  (void)options;
  (void)values;
  (void)count;
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!data || l->image.length)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
    return drv_refuse("cuLinkAddData of anything but PTX and fat binaries");
  fatbin_format format = fatbin_format_of(data, bytes ? bytes : FATBIN_UNKNOWN_BYTES);
  if ((format == FATBIN_PTX) != (type == CU_JIT_INPUT_PTX))
    return CUDA_ERROR_INVALID_IMAGE;
  CUresult r = drv_program_add(l->device, l->program, data, bytes ? bytes : FATBIN_UNKNOWN_BYTES,
                               name ? name : "PTX", &l->log);
  give_log(l);
  return r;
}

/* A whole file, NUL behind it; NULL if it cannot be read. For the caller to free. */
char *drv_read_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t capacity = 0;
  *bytes = 0;
  for (size_t got = 1; f && got > 0;) {
    if (*bytes + 1 >= capacity) {
      char *more = realloc(text, capacity = capacity ? capacity * 2 : 1 << 16);
      if (!more)
        break;
      text = more;
    }
    got = fread(text + *bytes, 1, capacity - 1 - *bytes, f);
    *bytes += got;
    text[*bytes] = 0;
  }
  if (!f || ferror(f)) {
    free(text);
    text = NULL;
  }
  if (f)
    fclose(f);
  return text;
}

CUresult drv_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                           CUjit_option *options, void **values) {
  size_t bytes;
  if (!path)
    return CUDA_ERROR_INVALID_VALUE;
  char *text = drv_read_file(path, &bytes);
  if (!text)
    return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult r = drv_cuLinkAddData(state, type, text, bytes, path, count, options, values);
  free(text);
  return r;
}

CUresult drv_cuLinkComplete(CUlinkState state, void **image, size_t *bytes) {
  drv_link *l = drv_find(state, DRV_LINK);
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!image)
    return CUDA_ERROR_INVALID_VALUE;
  drv_program_order(l->program);
  if (!l->image.length)
    put_image(&l->image, l->program);
  if (l->image.failed)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *image = l->image.bytes;
  if (bytes)
    *bytes = l->image.length;
  return CUDA_SUCCESS;
}

CUresult drv_cuLinkDestroy(CUlinkState state) {
  drv_link *l = drv_find(state, DRV_LINK);
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  drv_handle_remove(l);
  link_free(l);
  return CUDA_SUCCESS;
}
