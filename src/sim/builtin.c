/* builtin.c: the functions that CUDA programs take for granted on the device: vprintf, __assertfail, malloc,
 * free; and what is refused of them. Their arguments lie in the calling thread's memory as the PTX calling
 * convention puts them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine.h"

/* A NUL-terminated string of the device; false: it is not all memory. */
static bool read_text(const sim_run *r, uint64_t address, uint32_t lane, base_text *out) {
  for (uint32_t n = 0; n < 1u << 20; n++) {
    sim_found f = sim_find(r, PTX_SPACE_GENERIC, address + n, 1, 1, lane, false);
    if (!f.at)
      return false;
    if (!*f.at)
      return true;
    base_put(out, (const char *)f.at, 1);
  }
  return false;
}

static uint64_t argument(const uint8_t *at, uint32_t bytes) {
  uint64_t v = 0;
  memcpy(&v, at, bytes);
  return v;
}

/* ------------------------------------------------------------------ vprintf */

typedef struct conversion {
  char spec[64]; /* for the host's printf, without its length */
  size_t n;
  char letter;
  int longs; /* l: 1, ll: 2, h: -1; z, j, t: 2 */
  bool star; /* its width is an argument */
} conversion;

static void keep(conversion *k, char c) {
  if (k->n + 8 < sizeof k->spec)
    k->spec[k->n++] = c;
}

/* Reads a conversion from behind its '%'. */
static const char *read_conversion(const char *p, conversion *k) {
  *k = (conversion){.spec = "%", .n = 1};
  while (*p && strchr("#0- +", *p))
    keep(k, *p++);
  if (*p == '*')
    k->star = true, keep(k, *p++);
  while (*p >= '0' && *p <= '9')
    keep(k, *p++);
  if (*p == '.') {
    keep(k, *p++);
    while (*p >= '0' && *p <= '9')
      keep(k, *p++);
  }
  const char *size = p;
  for (; *p == 'l'; p++) /* CUDA knows h, l and ll; what has another size is no conversion */
    k->longs++;
  if (p == size && *p == 'h')
    k->longs = -1, p++;
  k->letter = *p;
  return *p ? p + 1 : p;
}

typedef struct arguments {
  const sim_run *r;
  uint64_t address;
  uint32_t lane;
  bool failed;
} arguments;

/* Arguments are promoted as in C: 4 or 8 bytes, aligned to their size. */
static uint64_t next_argument(arguments *a, uint32_t bytes) {
  a->address = (a->address + bytes - 1) / bytes * bytes;
  sim_found f = sim_find(a->r, PTX_SPACE_GENERIC, a->address, bytes, bytes, a->lane, false);
  a->address += bytes;
  if (!f.at) {
    a->failed = true;
    return 0;
  }
  return argument(f.at, bytes);
}

/* The format was put together here, so the compiler cannot look at it. */
static void put(base_text *out, const char *spec, ...) {
  va_list args;
  va_start(args, spec);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  base_vputf(out, spec, args);
#pragma GCC diagnostic pop
  va_end(args);
}

static void put_conversion(base_text *out, conversion *k, arguments *a) {
  char spec[80];
  uint64_t v;
  if (k->star && k->letter &&
      strchr("diuoxXcaAeEfFgGps", k->letter)) { /* the width becomes part of the text */
    char with[64], *at = strchr(k->spec, '*');
    v = next_argument(a, 4);
    snprintf(with, sizeof with, "%.*s%d%.16s", (int)(at - k->spec), k->spec, (int)v % 10000, at + 1);
    memcpy(k->spec, with, sizeof with);
  }
  switch (k->letter) {
  case 'd':
  case 'i':
    v = next_argument(a, k->longs > 0 ? 8 : 4);
    snprintf(spec, sizeof spec, "%slld", k->spec);
    put(out, spec, (long long)(k->longs > 0 ? (int64_t)v : k->longs ? (int16_t)v : (int32_t)v));
    break;
  case 'u':
  case 'o':
  case 'x':
  case 'X':
    v = next_argument(a, k->longs > 0 ? 8 : 4);
    snprintf(spec, sizeof spec, "%sll%c", k->spec, k->letter);
    put(out, spec, (unsigned long long)(k->longs < 0 ? (uint16_t)v : v));
    break;
  case 'c':
    v = next_argument(a, 4);
    snprintf(spec, sizeof spec, "%sc", k->spec);
    put(out, spec, (int)v);
    break;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G': {
    double x;
    v = next_argument(a, 8);
    memcpy(&x, &v, 8);
    snprintf(spec, sizeof spec, "%s%c", k->spec, k->letter);
    put(out, spec, x);
    break;
  }
  case 'p':
    v = next_argument(a, 8);
    snprintf(spec, sizeof spec, "%ss", k->spec);
    {
      char hex[32];
      snprintf(hex, sizeof hex, v ? "0x%" PRIx64 : "(nil)", v);
      put(out, spec, hex);
    }
    break;
  case 's': {
    base_text s = {0};
    v = next_argument(a, 8);
    if (!v)
      base_puts(&s, "(null)");
    else if (!read_text(a->r, v, a->lane, &s))
      a->failed = true;
    snprintf(spec, sizeof spec, "%ss", k->spec);
    put(out, spec, s.bytes ? s.bytes : "");
    base_text_free(&s);
    break;
  }
  default: /* as CUDA does: what is no conversion is printed as it stands */
    base_puts(out, k->spec);
    if (k->letter)
      base_put(out, &k->letter, 1);
    break;
  }
}

static int count_conversions(const char *p) {
  int n = 0;
  while ((p = strchr(p, '%')) && p[1]) {
    conversion k;
    if (p[1] == '%') {
      p += 2;
      continue;
    }
    p = read_conversion(p + 1, &k);
    n += k.letter != 0;
  }
  return n;
}

static bool vprintf_lane(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args, uint8_t *result) {
  uint64_t format_at = argument(args[0], 8);
  arguments a = {.r = r, .address = argument(args[1], 8), .lane = lane};
  base_text format = {0}, out = {0};
  if (!read_text(r, format_at, lane, &format)) {
    base_text_free(&format);
    sim_fault_raise(r, o, SIM_FAULT_ADDRESS, lane, format_at, 1, "printf: bad format at 0x%" PRIx64,
                    format_at);
    return false;
  }
  int32_t n = format.bytes ? count_conversions(format.bytes) : 0;
  for (const char *p = format.bytes; p && *p && !a.failed;) {
    const char *q = strchr(p, '%');
    if (!q) {
      base_puts(&out, p);
      break;
    }
    base_put(&out, p, (size_t)(q - p));
    if (q[1] == '%') {
      base_put(&out, "%", 1);
      p = q + 2;
      continue;
    }
    conversion k;
    p = read_conversion(q + 1, &k);
    put_conversion(&out, &k, &a);
  }
  const sim_options *options = &r->device->options;
  if (options->print && out.length && !r->device->muted) {
    mtx_lock(&r->device->lock);
    options->print(options->print_user, out.bytes, out.length);
    mtx_unlock(&r->device->lock);
  }
  base_text_free(&format);
  base_text_free(&out);
  if (a.failed) {
    sim_fault_raise(r, o, SIM_FAULT_ADDRESS, lane, a.address, 1, "printf: bad argument");
    return false;
  }
  memcpy(result, &n, sizeof n);
  return true;
}

/* ------------------------------------------------------------------ the rest */

/* (message, file, line, function, size of a character) */
static bool assert_lane(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args, uint8_t *result) {
  base_text what = {0}, file = {0}, func = {0};
  uint32_t line = (uint32_t)argument(args[2], 4);
  (void)result;
  read_text(r, argument(args[0], 8), lane, &what);
  read_text(r, argument(args[1], 8), lane, &file);
  read_text(r, argument(args[3], 8), lane, &func);
  sim_fault_raise(r, o, SIM_FAULT_ASSERT, lane, 0, 0, "%s:%u: %s: assertion `%s' failed",
                  file.bytes ? file.bytes : "?", line, func.bytes ? func.bytes : "?",
                  what.bytes ? what.bytes : "?");
  base_text_free(&what);
  base_text_free(&file);
  base_text_free(&func);
  return false;
}

static void say_heap(sim_run *r, const sim_op *o, uint32_t lane, uint64_t address, uint64_t bytes,
                     bool takes) {
  if (r->watcher)
    sim_say(
        r,
        &(sim_event){.kind = SIM_EVENT_HEAP, .memory = {.address = address, .bytes = bytes, .writes = takes}},
        UINT32_C(1) << lane, o);
}

static bool malloc_lane(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args, uint8_t *result) {
  sim_memory *m = &r->device->memory;
  uint64_t bytes = argument(args[0], 8), at = 0;
  mtx_lock(&r->device->lock);
  if (bytes && bytes <= m->heap_limit - m->heap_used)
    at = sim_memory_take(m, bytes, SIM_MEMORY_HEAP, NULL);
  m->heap_used += at ? bytes : 0;
  mtx_unlock(&r->device->lock);
  if (at) {
    say_heap(r, o, lane, at, bytes, true);
  }
  memcpy(result, &at, sizeof at);
  return true;
}

static bool free_lane(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args, uint8_t *result) {
  sim_memory *m = &r->device->memory;
  uint64_t at = argument(args[0], 8);
  (void)result;
  if (!at)
    return true;
  mtx_lock(&r->device->lock);
  const sim_span *s = sim_span_at(m->spans, m->n_spans, at);
  bool ok = s && s->begin == at && s->info.kind == SIM_MEMORY_HEAP && !s->info.freed;
  uint64_t bytes = ok ? s->info.bytes : 0;
  m->heap_used -= bytes;
  if (ok)
    sim_memory_give(m, at);
  mtx_unlock(&r->device->lock);
  if (!ok) {
    sim_fault_raise(r, o, SIM_FAULT_ADDRESS, lane, at, 0,
                    "free of 0x%" PRIx64 ", which malloc did not return", at);
    return false;
  }
  say_heap(r, o, lane, at, bytes, false);
  return true;
}

/* What a GPU's driver adds to a module: launches from the device, handles of several grids. */
static bool device_runtime_lane(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args,
                                uint8_t *result) {
  const sim_func *f = r->unit->func;
  const ptx_operand *callee = sim_operand(f->body, &f->body->insns[o->insn], 1);
  (void)args, (void)result;
  sim_fault_raise(r, o, SIM_FAULT_UNMODELLED, lane, 0, 0,
                  "call of %s: the runtime on the device (dynamic parallelism) is not modelled",
                  f->ptx->funcs[callee->index].name);
  return false;
}

sim_builtin *sim_builtin_find(const char *name) {
  static const struct {
    const char *name;
    sim_builtin *fn;
  } all[] = {
      {"vprintf", vprintf_lane}, {"__assertfail", assert_lane}, {"malloc", malloc_lane}, {"free", free_lane}};
  for (unsigned k = 0; k < BASE_COUNT(all); k++)
    if (!strcmp(name, all[k].name))
      return all[k].fn;
  return !strncmp(name, "cuda", 4) || !strncmp(name, "__cudaCDP", 9) ? device_runtime_lane : NULL;
}
