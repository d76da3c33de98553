/* program.c: from an image to PTX that was read: chooses what the device's profile runs, unpacks and parses
 * it, and keeps the register counts that a cubin beside it gives. Whatever cannot be used is explained in one
 * message: what is there, what is needed, which option gives it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "driver/drv.h"
#include "driver/fatbin.h"
#include "driver/link.h"

static void say(base_text *log, muster_message kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(base_text *log, muster_message kind, const char *format, ...) {
  base_text text = {0};
  va_list args;
  va_start(args, format);
  base_vputf(&text, format, args);
  va_end(args);
  if (text.bytes)
    muster_session_say(kind, "%s", text.bytes);
  if (log && text.bytes)
    base_putf(log, "%s\n", text.bytes);
  base_text_free(&text);
}

/* ------------------------------------------------------------------ made and ended */

static drv_program *program_new(void) {
  drv_program *p = calloc(1, sizeof *p);
  if (p)
    p->users = 1;
  return p;
}

void drv_program_drop(drv_program *p) {
  if (!p || --p->users > 0)
    return;
  for (uint32_t i = 0; i < p->n_units; i++)
    ptx_module_free(p->units[i]);
  free(p->units);
  while (p->counts) {
    drv_count *next = p->counts->next;
    free(p->counts);
    p->counts = next;
  }
  free(p);
}

/* The first one known of a kernel counts. */
static void count_registers(void *user, const char *kernel, uint32_t registers) {
  drv_program *p = user;
  for (const drv_count *c = p->counts; c; c = c->next)
    if (strcmp(c->kernel, kernel) == 0)
      return;
  drv_count *c = malloc(sizeof *c + strlen(kernel) + 1);
  if (!c)
    return; /* an estimate will do */
  c->registers = registers;
  strcpy(c->kernel, kernel);
  c->next = p->counts;
  p->counts = c;
}

/* ------------------------------------------------------------------ PTX */

/* Reads one unit; `whole`: with the bodies of its functions, which else are read when needed. Its errors go
 * to the log, as ptxas's do, and are said: a program rarely asks for the log. */
static CUresult add_ptx(drv_device *d, drv_program *p, const char *name, const char *text, size_t bytes,
                        bool whole, base_text *log) {
  struct ptx_module *m = ptx_module_new(name, text, bytes);
  struct ptx_module **units = m ? realloc(p->units, (p->n_units + 1) * sizeof(struct ptx_module *)) : NULL;
  if (!units) {
    ptx_module_free(m);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  p->units = units;
  p->units[p->n_units++] = m;
  if (whole)
    ptx_check(m);
  if (m->diags->n_errors + m->diags->n_warnings > 0 && !p->told) {
    base_text said = {0};
    base_diags_print(m->diags, &said);
    if (said.bytes && log)
      base_put(log, said.bytes, said.length);
    if (said.bytes && ptx_failed(m))
      muster_session_say(MUSTER_MESSAGE_ERROR, "%s", said.bytes);
    else if (said.bytes)
      muster_session_say_once(MUSTER_MESSAGE_NOTE, said.bytes, "%s", said.bytes);
    base_text_free(&said);
  }
  if (ptx_failed(m))
    return CUDA_ERROR_INVALID_PTX;
  if (!drv_ptx_runs((int)m->sm, m->sm_suffix, d->profile->cc)) {
    char fits[256];
    drv_profile_list_for((int)m->sm, m->sm_suffix, fits, sizeof fits);
    say(log, MUSTER_MESSAGE_ERROR, "this PTX is for sm_%u%.1s, and %s runs PTX up to sm_%d%s%s", m->sm,
        &m->sm_suffix, d->profile->name, d->profile->cc, *fits ? ": use --gpu " : "", fits);
    return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ fat binaries */

/* Whether `a` is the better choice of two that run: the newer GPU's, and the more specific. */
static bool better(const fatbin_entry *a, const fatbin_entry *b) {
  static const char order[] = "\0fa";
  if (a->sm != b->sm)
    return a->sm > b->sm;
  return memchr(order, a->suffix, 3) > memchr(order, b->suffix, 3);
}

/* Cubins run on later GPUs of the same major number. */
static bool cubin_fits(const fatbin_entry *e, int cc) {
  return e->kind == FATBIN_KIND_CUBIN && e->sm / 10 == cc / 10 && e->sm <= cc;
}

static void read_cubins(drv_program *p, const void *image, size_t bytes, int cc) {
  fatbin_entry e;
  const char *error;
  int best = 0;
  for (size_t at = 0; fatbin_next(image, bytes, &at, &e, &error);)
    if (cubin_fits(&e, cc) && e.sm > best)
      best = e.sm;
  for (size_t at = 0; best && fatbin_next(image, bytes, &at, &e, &error);) {
    if (!cubin_fits(&e, cc) || e.sm != best)
      continue;
    size_t n;
    uint8_t *cubin = fatbin_unpack(&e, &n, &error);
    if (cubin)
      fatbin_cubin_registers(cubin, n, count_registers, p);
    free(cubin);
  }
}

/* None of the entries runs: what is there, and what to do about it. */
static CUresult explain_none(drv_device *d, const void *image, size_t bytes, base_text *log) {
  fatbin_entry e, least = {.sm = 0};
  const char *error;
  char there[256], fits[256] = "";
  bool cubin = false;
  for (size_t at = 0; fatbin_next(image, bytes, &at, &e, &error);) {
    cubin |= e.kind == FATBIN_KIND_CUBIN;
    if (e.kind == FATBIN_KIND_PTX && drv_profile_for(e.sm, e.suffix) && (!least.sm || e.sm < least.sm))
      least = e;
  }
  fatbin_describe(image, bytes, there, sizeof there);
  if (least.sm) {
    drv_profile_list_for(least.sm, least.suffix, fits, sizeof fits);
    say(log, MUSTER_MESSAGE_ERROR, "the program has no PTX that %s (sm_%d) runs, only %s: use --gpu %s",
        d->profile->name, d->profile->cc, there, fits);
  } else {
    say(log, MUSTER_MESSAGE_UNMODELLED,
        "the program has no PTX that a profile runs, only %s: %s; build it with PTX, as nvcc "
        "-arch=compute_%d does",
        there, cubin ? "machine code of a GPU is not run" : "that is not run", d->profile->cc);
  }
  return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult add_fat(drv_device *d, drv_program *p, const void *image, size_t bytes, base_text *log) {
  fatbin_entry e, best = {.sm = 0};
  const char *error = NULL;
  bool any = false;
  for (size_t at = 0; fatbin_next(image, bytes, &at, &e, &error); any = true)
    if (e.kind == FATBIN_KIND_PTX && drv_ptx_runs(e.sm, e.suffix, d->profile->cc) &&
        (!best.sm || better(&e, &best)))
      best = e;
  if (error) {
    say(log, MUSTER_MESSAGE_ERROR, "%s", error);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (!any)
    return CUDA_SUCCESS; /* the empty one of a program without device code of its own */
  if (!best.sm)
    return explain_none(d, image, bytes, log);
  size_t n;
  uint8_t *text = fatbin_unpack(&best, &n, &error);
  if (!text) {
    say(log, MUSTER_MESSAGE_ERROR, "%s", error);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  CUresult r = add_ptx(d, p, "PTX", (const char *)text, n, false, log);
  free(text);
  if (r == CUDA_SUCCESS)
    read_cubins(p, image, bytes, d->profile->cc);
  return r;
}

/* ------------------------------------------------------------------ any image */

CUresult drv_program_add(drv_device *d, drv_program *p, const void *image, size_t bytes, const char *name,
                         base_text *log) {
  const void *fat = NULL;
  const void *const *units = NULL;
  switch (fatbin_format_of(image, bytes)) {
  case FATBIN_PTX: {
    size_t n = bytes == FATBIN_UNKNOWN_BYTES ? strlen(image) : strnlen(image, bytes);
    return add_ptx(d, p, name, image, n, true, log); /* by hand, or just made: it may well be wrong */
  }
  case FATBIN_WRAPPER:
    if (bytes != FATBIN_UNKNOWN_BYTES || !fatbin_unwrap(image, &fat, &units)) {
      say(log, MUSTER_MESSAGE_ERROR, "a fat binary's wrapper is of an unknown version");
      return CUDA_ERROR_INVALID_IMAGE;
    }
    if (!units)
      return add_fat(d, p, fat, bytes, log);
    for (CUresult r; *units; units++)
      if ((r = add_fat(d, p, *units, bytes, log)) != CUDA_SUCCESS)
        return r;
    return CUDA_SUCCESS;
  case FATBIN_FAT:
    return add_fat(d, p, image, bytes, log);
  case FATBIN_LINKED:
    return drv_link_open(d, p, image, bytes, log);
  case FATBIN_ELF:
    say(log, MUSTER_MESSAGE_UNMODELLED,
        "a cubin alone cannot be run: machine code of a GPU is not; give its PTX");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  case FATBIN_NOTHING:
    break;
  }
  say(log, MUSTER_MESSAGE_ERROR, "an image to load is neither a fat binary nor PTX");
  return CUDA_ERROR_INVALID_IMAGE;
}

CUresult drv_program_new(drv_device *d, const void *image, size_t bytes, base_text *log, drv_program **to) {
  drv_program *p = program_new();
  if (!p)
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = drv_program_add(d, p, image, bytes, "PTX", log);
  if (r != CUDA_SUCCESS) {
    drv_program_drop(p);
    return r;
  }
  drv_program_order(p);
  *to = p;
  return CUDA_SUCCESS;
}
