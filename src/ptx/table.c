/* table.c: compiles the two .def files into arrays, once, on first use. Nothing here can fail at run time:
 * the sizes are asserted, and a unit test walks every row, so that a word missing from words.def never ships.
 */
#include "ptx/table.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { MAX_ITEMS = 4096, MAX_CHOICES = 16384, MAX_SLOTS = 4096, MAX_TEXTS = 512, HASH_SLOTS = 2048 };

static const struct {
  const char *name;
  uint8_t bits, base, lanes;
} types[PTX_TYPES] = {
    [PTX_TYPE_NONE] = {"", 0, PTX_BASE_NONE, 1},
#define TYPE(id, text, bits, base, lanes) [PTX_##id] = {text, bits, PTX_BASE_##base, lanes},
#include "ptx/words.def"
};

/* WORD and ALSO rows in order; the order decides which group a word belongs to when a form does not say. */
static const struct {
  const char *text;
  uint8_t group, value;
  uint16_t isa, sm;
} words[] = {
#define WORD(group, id, text, isa, sm) {text, PTX_GROUP_##group, PTX_##id, isa, sm},
#define ALSO(group, id, text, isa, sm) {text, PTX_GROUP_##group, PTX_##id, isa, sm},
#include "ptx/words.def"
};

static const char *const groups[PTX_GROUPS] = {
#define GROUP(name) #name,
#include "ptx/words.def"
};

static const struct {
  const char *name;
  uint8_t type, parts;
  uint16_t isa, sm;
} sregs[PTX_SREGS] = {
#define SREG(id, text, type, parts, isa, sm) {text, PTX_##type, parts, isa, sm},
#include "ptx/words.def"
};

static const struct {
  uint32_t sm;
  uint8_t isa, isa_a, isa_f;
} targets[] = {
#define TARGET(sm, isa, isa_a, isa_f) {sm, isa, isa_a, isa_f},
#include "ptx/words.def"
};

static const char *const directives[PTX_DIRS] = {
    "",
#define DIRECTIVE(id, text) text,
#include "ptx/words.def"
};

static ptx_op_info ops[PTX_OPS] = {
#define OP(name, class, sync, meaning) \
  {#name, #class, #name "_" #class, meaning, NULL, PTX_SYNC_##sync, 0, 0},
#define OP_NO(name, class, reason) {#name, #class, #name "_" #class, reason, reason, PTX_SYNC_NONE, 0, 0},
#include "ptx/opcodes.def"
};

/* Rows and forms as they follow each other. */
#define ONLY(sm) (1000 + (sm))
static const struct {
  int op; /* PTX_OPS: a form of the row above */
  const char *words, *operands;
  uint16_t isa, sm;
} source[] = {
#define OP(name, class, sync, meaning) {PTX_OP_##name##_##class, NULL, NULL, 0, 0},
#define OP_NO(name, class, reason) {PTX_OP_##name##_##class, NULL, NULL, 0, 0},
#define FORM(words, operands, isa, sm) {PTX_OPS, words, operands, isa, sm},
#include "ptx/opcodes.def"
};

/* a row or a form: more than there are forms */
enum { MAX_FORMS = sizeof source / sizeof source[0] };

static ptx_form forms[MAX_FORMS];
static ptx_item items[MAX_ITEMS];
static ptx_choice choices[MAX_CHOICES];
static ptx_slot slots[MAX_SLOTS];
static const char *texts[MAX_TEXTS];
static uint16_t text_slots[HASH_SLOTS], op_slots[HASH_SLOTS]; /* number plus one */
static uint16_t op_next[PTX_OPS];
static uint16_t n_items, n_choices, n_slots, n_texts;
static ptx_table table = {forms, items, choices, slots, 0};

static uint32_t hash(const char *text, size_t bytes) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ (unsigned char)text[i]) * 16777619u;
  return (h ^ h >> 15) & (HASH_SLOTS - 1);
}

static bool same(const char *known, const char *text, size_t bytes) {
  return strncmp(known, text, bytes) == 0 && !known[bytes];
}

static uint16_t text_add(const char *text, size_t bytes) {
  uint32_t i = hash(text, bytes);
  for (; text_slots[i]; i = (i + 1) & (HASH_SLOTS - 1))
    if (same(texts[text_slots[i] - 1], text, bytes))
      return text_slots[i] - 1;
  assert(n_texts < MAX_TEXTS);
  texts[n_texts] = text;
  text_slots[i] = ++n_texts;
  return n_texts - 1;
}

/* One alternative, "rn" or "*"; `group` is NULL or what the item says before its colon. */
static void add_choice(ptx_item *item, const char *group, size_t group_bytes, const char *text,
                       size_t bytes) {
  assert(n_choices < MAX_CHOICES);
  ptx_choice *c = &choices[n_choices++];
  ptx_type t = ptx_type_find(text, bytes);
  if (t != PTX_TYPE_NONE) {
    *c = (ptx_choice){text_add(types[t].name, bytes), PTX_GROUP_TYPE, (uint8_t)t, 0, 0};
    item->is_type = true;
    item->n++;
    return;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (same(words[i].text, text, bytes) && (!group || same(groups[words[i].group], group, group_bytes))) {
      *c = (ptx_choice){text_add(words[i].text, bytes), words[i].group, words[i].value, words[i].isa,
                        words[i].sm};
      item->n++;
      return;
    }
  assert(!"a word of opcodes.def is not in words.def");
}

static void compile_words(ptx_form *f) {
  f->first_item = n_items;
  for (const char *p = f->info.words; *p;) {
    size_t bytes = strcspn(p, " ");
    assert(n_items < MAX_ITEMS);
    ptx_item *item = &items[n_items++];
    *item = (ptx_item){.first = n_choices};
    f->n_items++;
    if (p[0] == '*') {
      item->rest = true;
    } else {
      size_t end = bytes, at = 0, group_bytes = 0;
      if (p[end - 1] == '?') {
        item->optional = true;
        end--;
      }
      /* "group:word", but "shared::cta" is a word */
      size_t colon = strcspn(p, ":| ");
      if (p[colon] == ':' && p[colon + 1] != ':') {
        group_bytes = colon;
        at = colon + 1;
      }
      while (at < end) {
        size_t n = strcspn(p + at, "| ");
        if (at + n > end)
          n = end - at;
        add_choice(item, group_bytes ? p : NULL, group_bytes, p + at, n);
        at += n + 1;
      }
    }
    p += bytes;
    p += strspn(p, " ");
  }
}

static void compile_slots(ptx_form *f) {
  f->first_slot = n_slots;
  bool bar = false;
  for (const char *p = f->info.operands; *p;) {
    assert(n_slots < MAX_SLOTS);
    ptx_slot *s = &slots[n_slots++];
    *s = (ptx_slot){.bar = bar};
    f->n_slots++;
    if (*p == '~') {
      s->wider = true;
      p++;
    }
    s->letter = *p++;
    if (*p == ':') {
      size_t n = strcspn(++p, ",|?");
      if (n == 1 && *p >= '0' && *p <= '9')
        s->from = (uint8_t)(*p - '0');
      else if (n == 1 && *p == 'w')
        s->twice = true;
      else {
        s->type = (uint8_t)ptx_type_find(p, n);
        assert(s->type);
      }
      p += n;
    }
    if (*p == '?') {
      s->optional = true;
      p++;
    }
    bar = *p == '|';
    if (*p)
      p++;
  }
  assert(f->n_slots <= PTX_MAX_OPERANDS);
}

static void compile(void) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    text_add(words[i].text, strlen(words[i].text));
  for (int t = 1; t < PTX_TYPES; t++)
    text_add(types[t].name, strlen(types[t].name));

  ptx_op op = PTX_OPS;
  for (size_t i = 0; i < sizeof source / sizeof source[0]; i++) {
    if (source[i].op != PTX_OPS) {
      op = (ptx_op)source[i].op;
      ops[op].first_form = table.n_forms;
      if (i + 1 < sizeof source / sizeof source[0] && source[i + 1].op == PTX_OPS)
        continue;
    }
    /* a row without forms takes any words */
    bool bare = source[i].op != PTX_OPS;
    assert(table.n_forms < MAX_FORMS);
    ptx_form *f = &forms[table.n_forms++];
    uint16_t sm = source[i].sm;
    f->info = (ptx_form_info){.op = op,
                              .words = bare ? "*" : source[i].words,
                              .operands = bare ? "" : source[i].operands,
                              .isa = source[i].isa,
                              .sm = sm >= 1000 ? sm - 1000 : sm,
                              .arch_specific = sm >= 1000};
    ops[op].n_forms++;
    compile_words(f);
    compile_slots(f);
  }

  for (int o = 0; o < PTX_OPS; o++) {
    op_next[o] = PTX_OPS;
    uint32_t i = hash(ops[o].name, strlen(ops[o].name));
    for (; op_slots[i]; i = (i + 1) & (HASH_SLOTS - 1))
      if (strcmp(ops[op_slots[i] - 1].name, ops[o].name) == 0)
        break;
    if (!op_slots[i]) {
      op_slots[i] = (uint16_t)(o + 1);
      continue;
    }
    int last = op_slots[i] - 1;
    while (op_next[last] != PTX_OPS)
      last = op_next[last];
    op_next[last] = (uint16_t)o;
  }
}

const ptx_table *ptx_table_get(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, compile);
  return &table;
}

uint16_t ptx_text_find(const char *text, size_t bytes) {
  ptx_table_get();
  for (uint32_t i = hash(text, bytes); text_slots[i]; i = (i + 1) & (HASH_SLOTS - 1))
    if (same(texts[text_slots[i] - 1], text, bytes))
      return text_slots[i] - 1;
  return PTX_NO_TEXT;
}

const char *ptx_text_get(uint16_t text) {
  return texts[text];
}

ptx_op ptx_op_find(const char *name, size_t bytes) {
  ptx_table_get();
  for (uint32_t i = hash(name, bytes); op_slots[i]; i = (i + 1) & (HASH_SLOTS - 1))
    if (same(ops[op_slots[i] - 1].name, name, bytes))
      return (ptx_op)(op_slots[i] - 1);
  return PTX_OPS;
}

ptx_op ptx_op_next(ptx_op op) {
  return (ptx_op)op_next[op];
}

const ptx_op_info *ptx_op_get(ptx_op op) {
  ptx_table_get();
  return &ops[op];
}

unsigned ptx_form_count(void) {
  return ptx_table_get()->n_forms;
}

const ptx_form_info *ptx_form_get(unsigned form) {
  return &ptx_table_get()->forms[form].info;
}

ptx_type ptx_type_find(const char *text, size_t bytes) {
  for (int t = 1; t < PTX_TYPES; t++)
    if (same(types[t].name, text, bytes))
      return (ptx_type)t;
  return PTX_TYPE_NONE;
}

ptx_sreg ptx_sreg_find(const char *text, size_t bytes) {
  for (int s = 0; s < PTX_SREGS; s++)
    if (same(sregs[s].name, text, bytes))
      return (ptx_sreg)s;
  return PTX_SREGS;
}

ptx_directive ptx_directive_find(const char *text, size_t bytes) {
  for (int d = 1; d < PTX_DIRS; d++)
    if (same(directives[d], text, bytes))
      return (ptx_directive)d;
  return PTX_DIR_NONE;
}

const char *ptx_directive_name(ptx_directive d) {
  return directives[d];
}

unsigned ptx_target_isa(uint32_t sm, char suffix) {
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (targets[i].sm == sm)
      return suffix == 'a' ? targets[i].isa_a : suffix == 'f' ? targets[i].isa_f : targets[i].isa;
  return 0;
}

uint32_t ptx_target_newest(void) {
  return targets[sizeof targets / sizeof targets[0] - 1].sm;
}

unsigned ptx_type_bits(ptx_type t) {
  return types[t].bits;
}

unsigned ptx_type_bytes(ptx_type t) {
  return (types[t].bits + 7) / 8;
}

unsigned ptx_type_lanes(ptx_type t) {
  return types[t].lanes;
}

ptx_base ptx_type_base(ptx_type t) {
  return (ptx_base)types[t].base;
}

const char *ptx_type_name(ptx_type t) {
  return types[t].name;
}

const char *ptx_mod_name(ptx_mod m) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (words[i].value == m)
      return words[i].text;
  return "";
}

const char *ptx_sreg_name(ptx_sreg s) {
  return sregs[s].name;
}

unsigned ptx_sreg_parts(ptx_sreg s) {
  return sregs[s].parts;
}

ptx_type ptx_sreg_type(ptx_sreg s) {
  return (ptx_type)sregs[s].type;
}

unsigned ptx_sreg_isa(ptx_sreg s) {
  return sregs[s].isa;
}

unsigned ptx_sreg_sm(ptx_sreg s) {
  return sregs[s].sm;
}
