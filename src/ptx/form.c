/* form.c: which row, and which form of it, an instruction's words mean. Modifiers may come in any order, as
 * ptxas has it; types keep theirs. */
#include <string.h>

#include "base/text.h"
#include "ptx/body.h"

typedef struct match {
  const ptx_choice *choice[PTX_MAX_WORDS]; /* NULL: one that "*" covers */
  unsigned n;  /* words that found their place; the next one did not, if any is left */
  int missing; /* an item that is required and has no word; -1 */
} match;

static const ptx_choice *choose(const ptx_item *item, uint16_t text) {
  const ptx_choice *c = &ptx_table_get()->choices[item->first];
  for (unsigned i = 0; i < item->n; i++)
    if (c[i].text == text)
      return &c[i];
  return NULL;
}

static match try_form(const ptx_form *f, const uint16_t *texts, unsigned n) {
  const ptx_item *items = &ptx_table_get()->items[f->first_item];
  match m = {.missing = -1};
  uint64_t taken = 0;
  unsigned next_type = 0; /* types come in order: none before this item any more */
  bool rest = f->n_items && items[f->n_items - 1].rest;
  for (; m.n < n; m.n++) {
    const ptx_choice *c = NULL;
    for (unsigned i = 0; i < f->n_items && !c; i++) {
      if (taken >> i & 1 || (items[i].is_type && i < next_type) || !(c = choose(&items[i], texts[m.n])))
        continue;
      taken |= UINT64_C(1) << i;
      if (items[i].is_type)
        next_type = i;
    }
    if (!c && !rest)
      break;
    m.choice[m.n] = c;
  }
  for (unsigned i = 0; i < f->n_items && m.missing < 0; i++)
    if (!(taken >> i & 1) && !items[i].optional && !items[i].rest)
      m.missing = (int)i;
  return m;
}

static void put_item(const ptx_item *item, base_text *out) {
  const ptx_choice *c = &ptx_table_get()->choices[item->first];
  for (unsigned i = 0; i < item->n; i++)
    base_putf(out, "%s.%s", i ? "|" : "", ptx_text_get(c[i].text));
}

static _Noreturn void no_form(ptx_builder *b, const ptx_token *mnemonic, const ptx_token *words, unsigned n,
                              const ptx_form *best, const match *m) {
  ptx_reader *r = &b->r;
  /* what was wanted helps where a type stands instead of another, not where a modifier is wrong */
  const ptx_item *missing = m->missing < 0 ? NULL : &ptx_table_get()->items[best->first_item + m->missing];
  if (m->n < n && (!missing || !missing->is_type || !ptx_type_find(words[m->n].text, words[m->n].bytes)))
    ptx_fail(r, &words[m->n], "'.%.*s' does not go with this '%.*s'", PTX_TEXT(&words[m->n]),
             PTX_TEXT(mnemonic));
  char wanted[256];
  base_text text = {0};
  put_item(missing, &text);
  bool all = text.bytes && text.length < sizeof wanted;
  memcpy(wanted, all ? text.bytes : "...", all ? text.length + 1 : 4);
  base_text_free(&text);
  if (m->n < n)
    ptx_fail(r, &words[m->n], "'.%.*s' does not go with this '%.*s'; wanted: %s", PTX_TEXT(&words[m->n]),
             PTX_TEXT(mnemonic), wanted);
  ptx_fail(r, mnemonic, "this '%.*s' lacks one of %s", PTX_TEXT(mnemonic), wanted);
}

void ptx_need(ptx_builder *b, const ptx_token *at, unsigned isa, unsigned sm, bool arch_specific) {
  const ptx_module *m = &b->r.unit->m;
  const char *dot = at->kind == PTX_T_DOT ? "." : "";
  if (isa > m->version)
    ptx_fail(&b->r, at, "'%s%.*s' needs PTX ISA %u.%u; this is %u.%u", dot, PTX_TEXT(at), isa / 10, isa % 10,
             m->version / 10, m->version % 10);
  if (sm > m->sm)
    ptx_fail(&b->r, at, "'%s%.*s' needs sm_%u; this is for sm_%u", dot, PTX_TEXT(at), sm, m->sm);
  if (arch_specific && !m->sm_suffix)
    ptx_fail(&b->r, at, "'%s%.*s' needs a target for one architecture, such as sm_%ua", dot, PTX_TEXT(at),
             m->sm);
}

/* The module's version and target have this form. */
static bool has(const ptx_builder *b, const ptx_form_info *f) {
  const ptx_module *m = &b->r.unit->m;
  return f->isa <= m->version && f->sm <= m->sm && (!f->arch_specific || m->sm_suffix);
}

static void match_words(ptx_builder *b, ptx_insn *i, const ptx_token *mnemonic, const ptx_token *words,
                        unsigned n) {
  const ptx_table *table = ptx_table_get();
  ptx_op op = ptx_op_find(mnemonic->text, mnemonic->bytes);
  if (op == PTX_OPS)
    ptx_fail(&b->r, mnemonic, "unknown instruction '%.*s'", PTX_TEXT(mnemonic));
  uint16_t texts[PTX_MAX_WORDS];
  for (unsigned w = 0; w < n; w++)
    texts[w] = ptx_text_find(words[w].text, words[w].bytes);

  const ptx_form *best = NULL, *found = NULL;
  match m = {0}, best_match = {0};
  for (; op != PTX_OPS; op = ptx_op_next(op)) {
    const ptx_op_info *info = ptx_op_get(op);
    for (unsigned k = info->first_form; k < info->first_form + info->n_forms; k++) {
      const ptx_form *f = &table->forms[k];
      match here = try_form(f, texts, n);
      if (here.missing < 0 && here.n == n) {
        /* one that is too new stands until an older one is found, so that the message is about its age */
        if (!found || !has(b, &found->info)) {
          found = found && !has(b, &f->info) ? found : f;
          m = found == f ? here : m;
        }
      } else if (!info->refused &&
                 (!best || here.n > best_match.n ||
                  (here.n == best_match.n && here.missing < 0 && best_match.missing >= 0))) {
        best = f;
        best_match = here;
      }
    }
  }
  if (!found) {
    for (unsigned w = 0; w < n; w++)
      if (texts[w] == PTX_NO_TEXT)
        ptx_fail(&b->r, &words[w], "unknown modifier '.%.*s'", PTX_TEXT(&words[w]));
    if (!best) /* a row that only knows what is not modelled */
      ptx_fail(&b->r, mnemonic, "unknown kind of '%.*s'", PTX_TEXT(mnemonic));
    no_form(b, mnemonic, words, n, best, &best_match);
  }

  i->op = (uint16_t)found->info.op;
  i->form = (uint16_t)(found - table->forms);
  if (ptx_op_get((ptx_op)i->op)->refused)
    return;
  ptx_need(b, mnemonic, found->info.isa, found->info.sm, found->info.arch_specific);
  unsigned types = 0;
  for (unsigned w = 0; w < m.n; w++) {
    const ptx_choice *c = m.choice[w];
    if (c->group == PTX_GROUP_TYPE) {
      if (types < sizeof i->type / sizeof i->type[0])
        i->type[types++] = c->value;
    } else {
      ((uint8_t *)&i->mods)[c->group] = c->value; /* ptx_mods has its bytes in the order of the groups */
      ptx_need(b, &words[w], c->isa, c->sm, false);
    }
  }
}

void ptx_match(ptx_builder *b, ptx_insn *i, const ptx_token *mnemonic, const ptx_token *words, unsigned n) {
  ptx_unit *u = b->r.unit;
  const char *end = n ? words[n - 1].text + words[n - 1].bytes : mnemonic->text + mnemonic->bytes;
  const char *key = base_intern(&u->spellings, mnemonic->text, (size_t)(end - mnemonic->text));
  uint32_t known = base_map_get(&u->spelled, key);
  if (known == BASE_MISSING) {
    ptx_insn made = {0};
    match_words(b, &made, mnemonic, words, n);
    known = u->n_spelling;
    *BASE_PUSH(&u->arena, u->spelling, u->n_spelling, u->cap_spelling) = made;
    base_map_set(&u->spelled, key, known);
  }
  const ptx_insn *from = &u->spelling[known];
  i->op = from->op;
  i->form = from->form;
  i->mods = from->mods;
  memcpy(i->type, from->type, sizeof i->type);
}

_Static_assert(sizeof(ptx_mods) == PTX_GROUPS, "one byte per group");

void ptx_put_name(const ptx_insn *i, base_text *out) {
  const ptx_table *table = ptx_table_get();
  const ptx_form *f = &table->forms[i->form];
  base_puts(out, ptx_op_get((ptx_op)i->op)->name);
  unsigned types = 0;
  for (unsigned n = 0; n < f->n_items; n++) {
    const ptx_item *item = &table->items[f->first_item + n];
    for (unsigned c = item->first; c < item->first + item->n; c++) {
      const ptx_choice *k = &table->choices[c];
      bool said = k->group == PTX_GROUP_TYPE ? types < sizeof i->type && k->value == i->type[types]
                                             : ((const uint8_t *)&i->mods)[k->group] == k->value;
      if (said) {
        base_putf(out, ".%s", ptx_text_get(k->text));
        types += k->group == PTX_GROUP_TYPE;
        break;
      }
    }
  }
}
