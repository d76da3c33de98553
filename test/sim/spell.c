/* spell.c: spellings out of forms. A form's words are a product of alternatives; its operands say which
 * registers to declare. Variants multiply them further: optional operands given or not, registers wider than
 * the type, byte selectors, tables of lop3.
 */
#include "spell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ rows */

static bool is_arithmetic(const ptx_op_info *op) {
  static const char *const classes[] = {"int",    "carry", "bits",  "logic",  "shift",
                                        "float",  "half",  "move",  "tf32",   "pair",
                                        "narrow", "pack",  "video", "to_int", "from_int"};
  if (op->refused || op->sync != PTX_SYNC_NONE || strcmp(op->name, "mov") == 0)
    return false;
  for (unsigned k = 0; k < sizeof classes / sizeof *classes; k++)
    if (strcmp(op->class, classes[k]) == 0)
      return true;
  return false;
}

static ptx_type type_named(const char *name, size_t n) {
  for (unsigned t = 1; t < PTX_TYPES; t++)
    if (strlen(ptx_type_name((ptx_type)t)) == n && memcmp(ptx_type_name((ptx_type)t), name, n) == 0)
      return (ptx_type)t;
  return PTX_TYPE_NONE;
}

/* ------------------------------------------------------------------ words */

typedef struct walk {
  void (*each)(const spell *, void *);
  void *data;
} walk;

static unsigned variants_of(const spell *s) {
  const ptx_form_info *f = ptx_form_get(s->form);
  unsigned n = 1;
  for (const char *p = f->operands; *p; p++) {
    if (*p == '?')
      n *= 2;
    if (*p == '~')
      n *= 2;
    if (*p == 'v' && p[1] == ':')
      n *= 7;
  }
  if (strcmp(ptx_op_get(f->op)->row, "lop3_logic") == 0)
    n *= 8;
  return n;
}

static void words(spell *s, const char *at, const walk *w) {
  while (*at == ' ')
    at++;
  if (!*at) {
    if (strstr(s->name, ".rs.")) /* stochastic rounding is refused */
      return;
    unsigned n = variants_of(s);
    for (s->variant = 0; s->variant < n; s->variant++)
      w->each(s, w->data);
    return;
  }
  const char *end = strchr(at, ' ');
  size_t n = end ? (size_t)(end - at) : strlen(at);
  char token[256];
  snprintf(token, sizeof token, "%.*s", (int)n, at);
  bool optional = n && token[n - 1] == '?';
  if (optional)
    token[n - 1] = 0;
  size_t length = strlen(s->name);
  uint8_t n_types = s->n_types;
  if (optional)
    words(s, at + n, w);
  char *save, *group = strchr(token, ':');
  char *list = group && group[1] != ':' && (group == token || group[-1] != ':') ? group + 1 : token;
  for (char *word = strtok_r(list, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
    s->name[length] = 0;
    s->n_types = n_types;
    snprintf(s->name + length, sizeof s->name - length, ".%s", word);
    ptx_type t = type_named(word, strlen(word));
    if (t && s->n_types < 4)
      s->types[s->n_types++] = t;
    words(s, at + n, w);
  }
  s->name[length] = 0;
  s->n_types = n_types;
}

void spell_all(const char *prefix, void (*each)(const spell *s, void *data), void *data) {
  walk w = {each, data};
  for (unsigned form = 0; form < ptx_form_count(); form++) {
    const ptx_form_info *f = ptx_form_get(form);
    const ptx_op_info *op = ptx_op_get(f->op);
    if (!is_arithmetic(op) || strncmp(op->row, prefix, strlen(prefix)) != 0)
      continue;
    spell s = {.form = form};
    snprintf(s.name, sizeof s.name, "%s", op->name);
    words(&s, f->words, &w);
  }
}

/* ------------------------------------------------------------------ kernels */

static ptx_type type_twice(ptx_type t) {
  switch (t) {
  case PTX_U16:
    return PTX_U32;
  case PTX_S16:
    return PTX_S32;
  case PTX_U32:
    return PTX_U64;
  default:
    return PTX_S64;
  }
}

static ptx_type type_of(const spell *s, const char *spec, size_t n) {
  if (n == 0)
    return s->types[0];
  if (n == 1 && *spec == 'w')
    return type_twice(s->types[0]);
  if (n == 1 && *spec >= '0' && *spec <= '3')
    return s->types[*spec - '0'];
  return type_named(spec, n);
}

static void load(base_text *code, const char *reg, ptx_type t, unsigned bits, unsigned k) {
  if (t == PTX_PRED)
    base_putf(code, "  ld.global.u64 %%t, [%%in+%u];\n  setp.ne.u64 %s, %%t, 0;\n", 8 * k, reg);
  else
    base_putf(code, "  ld.global.b%u %s, [%%in+%u];\n", bits, reg, 8 * k);
}
static void store(base_text *code, const char *reg, ptx_type t, unsigned bits, unsigned k) {
  if (t == PTX_PRED)
    base_putf(code, "  selp.u64 %%t, 1, 0, %s;\n  st.global.u64 [%%out+%u], %%t;\n", reg, 8 * k);
  else if (bits == 64)
    base_putf(code, "  st.global.b64 [%%out+%u], %s;\n", 8 * k, reg);
  else
    base_putf(code, "  mov.u64 %%t, 0;\n  st.global.u64 [%%out+%u], %%t;\n  st.global.b%u [%%out+%u], %s;\n",
              8 * k, bits, 8 * k, reg);
}
static unsigned lines_in(const base_text *t) {
  unsigned n = 0;
  for (size_t k = 0; k < t->length; k++)
    n += t->bytes[k] == '\n';
  return n;
}

bool spell_scope(spell *s, base_text *out) {
  const ptx_form_info *f = ptx_form_get(s->form);
  base_text declare = {0}, before = {0}, insn = {0}, after = {0};
  unsigned variant = s->variant, table = 0;
  bool good = true;
  s->n_in = s->n_out = 0;
  s->carry = strcmp(ptx_op_get(f->op)->class, "carry") == 0;
  bool is_video = strcmp(ptx_op_get(f->op)->class, "video") == 0 && strchr(f->operands, 'v');
  if (strcmp(ptx_op_get(f->op)->row, "lop3_logic") == 0) {
    static const unsigned tables[] = {0x96, 0xfe, 0x80, 0xca, 0xe8, 0x00, 0xff, 0x1b};
    table = tables[variant % 8];
    variant /= 8;
  }
  base_putf(&insn, "  %s", s->name);
  const char *p = f->operands;
  char joint = ' ';
  while (*p) {
    bool wide = false, may_be_wide = *p == '~';
    if (may_be_wide) {
      wide = variant % 2;
      variant /= 2;
      p++;
    }
    char letter = *p++;
    size_t n = 0;
    const char *spec = p;
    if (*p == ':') {
      spec = ++p;
      n = strcspn(p, ",|?");
      p += n;
    }
    bool given = true;
    if (*p == '?') {
      /* a video instruction merges into this operand, but only a part of a result, which is not spelled here
       */
      given = !is_video && variant % 2;
      variant /= 2;
      p++;
    }
    char next = *p ? *p++ : 0;
    if (!given) {
      joint = next;
      continue;
    }
    ptx_type t = letter == 'p' || letter == 'q' ? PTX_PRED : type_of(s, spec, n);
    unsigned bits = ptx_type_bits(t), have = bits;
    if (wide) {
      bool is_int = ptx_type_base(t) == PTX_BASE_UINT || ptx_type_base(t) == PTX_BASE_SINT;
      good = good && is_int && bits < 64;
      have = 64;
    } else if (bits == 8 && may_be_wide) {
      have = 16; /* the usual register for them */
    } else if (bits == 19) {
      have = 32;
    }
    base_putf(&insn, "%c ", joint == '|' ? '|' : joint);
    bool written = letter == 'd' || letter == 'o' || letter == 'p';
    if (letter == 'n') {
      base_putf(&insn, "%u", table);
    } else if (letter == 'h') {
      good = false;
    } else {
      char reg[16];
      snprintf(reg, sizeof reg, "%%%c%u", written ? 'd' : 's', written ? s->n_out : s->n_in);
      if (t == PTX_PRED)
        base_putf(&declare, "  .reg .pred %s;\n", reg);
      else
        base_putf(&declare, "  .reg .b%u %s;\n", have, reg);
      if (written) {
        store(&after, reg, t, have, s->n_out++);
      } else {
        load(&before, reg, t, have, s->n_in);
        s->in[s->n_in++] = t;
      }
      base_puts(&insn, reg);
      if (letter == 'v') {
        static const char *const selectors[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
        base_puts(&insn, selectors[variant % 7]);
        variant /= 7;
      }
    }
    joint = next;
  }
  base_puts(&insn, ";\n");
  if (s->carry) {
    const char *minus = strncmp(s->name, "sub", 3) == 0 ? "sub" : "add";
    load(&before, "%cc", PTX_B32, 32, s->n_in);
    if (*minus == 's')
      base_puts(&before, "  sub.cc.u32 %ct, 0, %cc;\n");
    else
      base_puts(&before, "  add.cc.u32 %ct, %cc, 0xffffffff;\n");
    s->in[s->n_in++] = PTX_PRED;
    base_text keep = {0};
    base_putf(&keep, "  %sc.u32 %%cc, 0, 0;\n  and.b32 %%cc, %%cc, 1;\n%s", minus, after.bytes);
    store(&keep, "%cc", PTX_B32, 32, s->n_out++);
    base_text_free(&after);
    after = keep;
  }
  base_puts(out, "  {\n");
  base_puts(out, declare.bytes ? declare.bytes : "");
  base_puts(out, before.bytes ? before.bytes : "");
  s->line = lines_in(out) + 1;
  base_puts(out, insn.bytes);
  base_puts(out, after.bytes ? after.bytes : "");
  base_puts(out, "  }\n");
  base_text_free(&declare);
  base_text_free(&before);
  base_text_free(&insn);
  base_text_free(&after);
  return good;
}

bool spell_kernel(spell *s, const char *name, base_text *out) {
  base_text scope = {0};
  bool good = spell_scope(s, &scope);
  base_putf(out, ".visible .entry %s(.param .u64 from, .param .u64 to, .param .u32 count)\n{\n", name);
  base_puts(out, SPELL_REGISTERS);
  base_puts(out, "  mov.u32 %i, %ctaid.x;\n  mov.u32 %k, %ntid.x;\n  mov.u32 %n, %tid.x;\n"
                 "  mad.lo.u32 %i, %i, %k, %n;\n  ld.param.u32 %n, [count];\n  setp.ge.u32 %z, %i, %n;\n"
                 "  @%z ret;\n  ld.param.u64 %in, [from];\n  ld.param.u64 %out, [to];\n");
  base_putf(out, "  mad.wide.u32 %%in, %%i, %u, %%in;\n  mad.wide.u32 %%out, %%i, %u, %%out;\n", 8 * s->n_in,
            8 * s->n_out);
  s->line += lines_in(out);
  base_puts(out, scope.bytes);
  base_puts(out, "  ret;\n}\n");
  base_text_free(&scope);
  return good;
}

void spell_header(base_text *out, unsigned isa, unsigned sm, bool suffix) {
  base_putf(out, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", isa / 10, isa % 10, sm,
            suffix ? "a" : "");
}

/* ------------------------------------------------------------------ operands */

uint64_t spell_random(uint64_t seed) { /* splitmix64 */
  uint64_t x = seed * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static const uint64_t edges_int[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     15,
                                     16,
                                     17,
                                     24,
                                     30,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     100,
                                     127,
                                     128,
                                     255,
                                     256,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0xffffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0x80000001,
                                     0xfffffffe,
                                     0xffffffff,
                                     0x100000000,
                                     0x12345678,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0xfffffffffffffff0};
static const uint64_t edges_f32[] = {
    0,          1,          2,          0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x34000000,
    0x33800000, 0x3effffff, 0x3f7ffffe, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000,
    0x40000000, 0x40200000, 0x4b000000, 0x4b800000, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f000000,
    0x7e7fffff, 0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
    0x00400000, 0x477fe000, 0x477ff000, 0x33000000, 0x387fc000, 0x38800000, 0x42fe0000, 0x43000000};
static const uint64_t edges_f64[] = {0,
                                     1,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x0010000000000001,
                                     0x001fffffffffffff,
                                     0x3ca0000000000000,
                                     0x3cb0000000000000,
                                     0x3fdfffffffffffff,
                                     0x3fe0000000000000,
                                     0x3fefffffffffffff,
                                     0x3ff0000000000000,
                                     0x3ff0000000000001,
                                     0x3ff8000000000000,
                                     0x4000000000000000,
                                     0x4330000000000000,
                                     0x41dfffffffc00000,
                                     0x41e0000000000000,
                                     0x41f0000000000000,
                                     0x43e0000000000000,
                                     0x43f0000000000000,
                                     0x36a0000000000000,
                                     0x3690000000000000,
                                     0x380fffffffffffff,
                                     0x3810000000000000,
                                     0x47efffffe0000000,
                                     0x47effffff0000000,
                                     0x7fefffffffffffff,
                                     0x7ff0000000000000,
                                     0x7ff0000000000001,
                                     0x7ff8000000000000,
                                     0x7ff8dead00000000,
                                     0x7fffffffffffffff};
static const uint64_t edges_f16[] = {0,      1,      2,      0x3ff,  0x400,  0x401,  0x7ff,  0x1400, 0x37ff,
                                     0x3800, 0x3bfe, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4000, 0x6400, 0x6800,
                                     0x77ff, 0x7800, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7ff7, 0x7fff};
static const uint64_t edges_bf16[] = {0,      1,      2,      0x7f,   0x80,   0x81,   0xff,   0x3400, 0x3eff,
                                      0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4000, 0x4300, 0x4b00, 0x7eff,
                                      0x7f00, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7ff7, 0x7fff};

#define EDGES(list) (edges = (list), n_edges = sizeof(list) / sizeof *(list))

/* Of one part of `bits` bits. which: an edge; signs at random. */
static uint64_t edge(ptx_type t, uint64_t which, uint64_t random) {
  const uint64_t *edges;
  unsigned n_edges, bits = ptx_type_bits(t) / ptx_type_lanes(t);
  switch (t) {
  case PTX_F64:
    EDGES(edges_f64);
    break;
  case PTX_F32:
  case PTX_F32X2:
    EDGES(edges_f32);
    break;
  case PTX_F16:
  case PTX_F16X2:
    EDGES(edges_f16);
    break;
  case PTX_BF16:
  case PTX_BF16X2:
    EDGES(edges_bf16);
    break;
  default:
    EDGES(edges_int);
    return edges[which % n_edges];
  }
  return edges[which % n_edges] | (random & 1) << (bits - 1);
}

static uint64_t part(const spell *s, uint64_t n, unsigned k, unsigned p) {
  ptx_type t = s->in[k];
  unsigned bits = ptx_type_bits(t) / ptx_type_lanes(t);
  uint64_t r = spell_random(n * 64 + k * 8 + p + 1), again = spell_random(r);
  bool is_float = ptx_type_base(t) == PTX_BASE_FLOAT || t == PTX_BF16 || t == PTX_BF16X2 || t == PTX_F32X2;
  if (n < 1600) /* all pairs of edges, and a third at random */
    return edge(t, k == 0 ? n % 40 : k == 1 ? n / 40 : again >> 8, r);
  switch (n % 8) {
  case 0:
  case 1:
    return edge(t, again >> 8, r);
  case 2: /* close to another operand: sums cancel, comparisons are narrow */
  case 3:
    if (k > 0)
      return part(s, n, 0, p) + (r & 3) - 1 + (is_float ? (r >> 8 & 1) << (bits - 1) : 0);
    break;
  case 4: /* not too far from one */
    if (is_float) {
      unsigned mantissa = bits == 64 ? 52 : bits == 32 ? 23 : t == PTX_BF16 || t == PTX_BF16X2 ? 7 : 10;
      uint64_t bias = (UINT64_C(1) << (bits - 2 - mantissa)) - 1;
      uint64_t near = bias + (again & 15) - 8;
      return (r & ((UINT64_C(1) << mantissa) - 1)) | near << mantissa | (again >> 32 & 1) << (bits - 1);
    }
    return r & 63;
  case 5:
    return r >> (again & 63);
  case 6: /* a product of just one bit more than fits, and next to nothing added: half-way, and a little off
           */
    if (is_float && s->n_in >= 3) {
      unsigned mantissa = bits == 64 ? 52 : bits == 32 ? 23 : t == PTX_BF16 || t == PTX_BF16X2 ? 7 : 10;
      uint64_t bias = (UINT64_C(1) << (bits - 2 - mantissa)) - 1, sign = (again >> 32 & 1) << (bits - 1);
      uint64_t field = k < 2 ? bias + (again & 3) - 2 : bias > 120 ? bias - 2 * mantissa - (again & 31) : 0;
      uint64_t keep = k == 0 ? mantissa / 2 : (mantissa + 1) / 2; /* bits of the fraction */
      uint64_t fraction = (r & ((UINT64_C(1) << keep) - 1)) | 1;
      return (k < 2 ? fraction << (mantissa - keep) : r & ((UINT64_C(1) << mantissa) - 1)) |
             field << mantissa | sign;
    }
    break;
  }
  return r;
}

bool spell_pairs;

uint64_t spell_value(const spell *s, uint64_t n, unsigned k) {
  ptx_type t = s->in[k];
  if (spell_pairs && s->n_in == 2)
    return (uint32_t)n * UINT32_C(2654435761) >> 16 * k & 0xffff; /* an odd factor: each pair once */
  if (t == PTX_PRED)
    return spell_random(n * 64 + k) >> 20 & 1;
  unsigned lanes = ptx_type_lanes(t) > 1 ? ptx_type_lanes(t) : 1, bits = ptx_type_bits(t) / lanes;
  uint64_t v = 0, m = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  for (unsigned p = 0; p < lanes; p++)
    v |= (part(s, n + p * 7, k, p) & m) << p * bits;
  /* what lies above the type in a wider register is garbage */
  return lanes * bits < 64 ? v | spell_random(v + n) << lanes * bits : v;
}
