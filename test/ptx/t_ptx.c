/* t_ptx.c: the tests of the PTX front end. Each mode takes files and ends with 0 if all is well.
 *
 *   t_ptx pass FILE...          reads, checks, prints, reads again: the same program, and the same text
 *   t_ptx reject FILE...        the first line says what must be refused: "// LINE:COLUMN: MESSAGE"
 *   t_ptx rows FILE...          every row and form of opcodes.def is used by some file
 *   t_ptx unmodelled FILE...    reads and checks; names what is not modelled
 *   t_ptx memory FILE...        the n-th allocation fails, for every n
 *   t_ptx mutate SEED N FILE... N damaged copies of each: nothing crashes
 *   t_ptx flow FILE...          prints blocks with successors and joins, as the file's "// flow:" lines say
 *   t_ptx access FILE...        what each instruction does to memory, as a "// access:" behind it says
 *   t_ptx print FILE            the program as text
 *   t_ptx table                 the instruction table, for people
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/rng.h"
#include "base/text.h"
#include "ptx/ptx.h"

static char *read_file(const char *name, size_t *bytes) {
  FILE *f = fopen(name, "rb");
  if (!f) {
    perror(name);
    exit(2);
  }
  char *text = NULL;
  size_t room = 0;
  *bytes = 0;
  do {
    room = room ? room * 2 : 65536;
    text = realloc(text, room + 1);
    if (!text)
      exit(2);
    *bytes += fread(text + *bytes, 1, room - *bytes, f);
  } while (*bytes == room);
  text[*bytes] = 0;
  fclose(f);
  return text;
}

static void print_diags(const ptx_module *m) {
  base_text out = {0};
  base_diags_print(m->diags, &out);
  if (out.bytes)
    fputs(out.bytes, stderr);
  base_text_free(&out);
}

/* ------------------------------------------------------------------ two programs are the same */

static const char *different;

static bool same(bool equal, const char *what) {
  if (!equal && !different)
    different = what;
  return equal;
}

static bool same_var(const ptx_var *a, const ptx_var *b) {
  bool ok = a->space == b->space && a->type == b->type && a->vec == b->vec && a->linkage == b->linkage &&
            a->n_dims == b->n_dims && a->unsized == b->unsized && a->managed == b->managed &&
            a->is_ptr == b->is_ptr && a->ptr_space == b->ptr_space && a->align == b->align &&
            a->ptr_align == b->ptr_align && a->bytes == b->bytes && a->offset == b->offset &&
            memcmp(a->dims, b->dims, sizeof a->dims) == 0 && !a->init == !b->init &&
            a->init_bytes == b->init_bytes && a->n_relocs == b->n_relocs &&
            a->has_unified == b->has_unified && memcmp(a->unified, b->unified, sizeof a->unified) == 0;
  if (ok && a->init_bytes)
    ok = memcmp(a->init, b->init, a->init_bytes) == 0;
  for (uint32_t i = 0; ok && i < a->n_relocs; i++) {
    const ptx_reloc *x = &a->relocs[i], *y = &b->relocs[i];
    ok = x->offset == y->offset && x->addend == y->addend && x->index == y->index && x->bytes == y->bytes &&
         x->shift == y->shift && x->is_func == y->is_func && x->generic == y->generic;
  }
  return same(ok, "a variable");
}

static bool same_vars(const ptx_var *a, uint32_t n, const ptx_var *b, uint32_t m) {
  bool ok = same(n == m, "the number of variables");
  for (uint32_t i = 0; ok && i < n; i++)
    ok = same_var(&a[i], &b[i]);
  return ok;
}

static bool same_operand(const ptx_body *a, const ptx_operand *x, const ptx_body *b, const ptx_operand *y) {
  bool raw = x->kind == PTX_RAW; /* its place in the text differs */
  bool ok = x->kind == y->kind && x->type == y->type && x->part == y->part && x->negated == y->negated &&
            x->written == y->written && x->in_body == y->in_body &&
            (x->kind == PTX_VEC || x->index == y->index) && (raw || x->bits == y->bits);
  for (uint64_t e = 0; ok && x->kind == PTX_VEC && e < x->count; e++)
    ok = same_operand(a, &a->operands[x->index + e], b, &b->operands[y->index + e]);
  return ok;
}

static bool same_name(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_loc(const ptx_body *a, uint32_t x, const ptx_body *b, uint32_t y) {
  while (x != PTX_NONE && y != PTX_NONE) {
    const ptx_loc *k = &a->locs[x], *l = &b->locs[y];
    if (k->line != l->line || k->column != l->column || k->file_index != l->file_index ||
        !same_name(k->file, l->file) || !same_name(k->func, l->func))
      return false;
    x = k->inlined_at;
    y = l->inlined_at;
  }
  return x == y;
}

static bool same_insn(const ptx_body *a, const ptx_insn *x, const ptx_body *b, const ptx_insn *y) {
  bool ok =
      same(x->op == y->op && memcmp(&x->mods, &y->mods, sizeof x->mods) == 0, "an instruction's words") &&
      same(memcmp(x->type, y->type, sizeof x->type) == 0, "an instruction's types") &&
      same(x->n_operands == y->n_operands && x->guard == y->guard && x->guard_negated == y->guard_negated,
           "a guard") &&
      same(same_loc(a, x->loc, b, y->loc), "a source place");
  for (unsigned o = 0; ok && o < x->n_operands; o++)
    ok = same(same_operand(a, &a->operands[x->operands + o], b, &b->operands[y->operands + o]), "an operand");
  return ok;
}

static bool same_body(const ptx_body *a, const ptx_body *b) {
  if (!a || !b)
    return same(a == b, "a body");
  bool ok =
      same(a->n_insns == b->n_insns && a->n_regs == b->n_regs && a->n_labels == b->n_labels &&
               a->n_targets == b->n_targets && a->n_protos == b->n_protos && a->n_blocks == b->n_blocks &&
               a->n_edges == b->n_edges && a->unmodelled == b->unmodelled && a->n_pragmas == b->n_pragmas,
           "a count of a body's things") &&
      same_vars(a->vars, a->n_vars, b->vars, b->n_vars);
  for (uint32_t i = 0; ok && i < a->n_regs; i++)
    ok = same(a->regs[i].type == b->regs[i].type && a->regs[i].part == b->regs[i].part &&
                  a->regs[i].number == b->regs[i].number,
              "a register");
  for (uint32_t i = 0; ok && i < a->n_insns; i++)
    ok = same_insn(a, &a->insns[i], b, &b->insns[i]);
  for (uint32_t i = 0; ok && i < a->n_protos; i++)
    ok = same_vars(a->protos[i].params, a->protos[i].n_params, b->protos[i].params, b->protos[i].n_params) &&
         same_vars(a->protos[i].rets, a->protos[i].n_rets, b->protos[i].rets, b->protos[i].n_rets);
  for (uint32_t i = 0; ok && i < a->n_blocks; i++)
    ok = same(a->blocks[i].first == b->blocks[i].first && a->blocks[i].ipdom == b->blocks[i].ipdom &&
                  a->blocks[i].rpo == b->blocks[i].rpo,
              "a block");
  return ok;
}

static bool same_module(ptx_module *a, ptx_module *b) {
  different = NULL;
  bool ok = same(a->version == b->version && a->sm == b->sm && a->sm_suffix == b->sm_suffix &&
                     a->address_bits == b->address_bits && a->n_funcs == b->n_funcs &&
                     a->n_files == b->n_files && a->n_pragmas == b->n_pragmas,
                 "the head") &&
            same_vars(a->vars, a->n_vars, b->vars, b->n_vars);
  for (uint32_t f = 0; ok && f < a->n_funcs; f++) {
    const ptx_func *x = &a->funcs[f], *y = &b->funcs[f];
    ok =
        same(strcmp(x->name, y->name) == 0 && x->entry == y->entry && x->defined == y->defined &&
                 x->noreturn == y->noreturn && x->linkage == y->linkage && x->param_bytes == y->param_bytes &&
                 x->minnctapersm == y->minnctapersm && x->maxnreg == y->maxnreg &&
                 x->maxclusterrank == y->maxclusterrank && x->explicitcluster == y->explicitcluster &&
                 memcmp(x->maxntid, y->maxntid, sizeof x->maxntid) == 0 &&
                 memcmp(x->reqntid, y->reqntid, sizeof x->reqntid) == 0 &&
                 memcmp(x->reqnctapercluster, y->reqnctapercluster, sizeof x->reqnctapercluster) == 0 &&
                 x->alias_of == y->alias_of,
             "a function") &&
        same_vars(x->params, x->n_params, y->params, y->n_params) &&
        same_vars(x->rets, x->n_rets, y->rets, y->n_rets) && same_body(ptx_body_of(a, f), ptx_body_of(b, f));
  }
  return ok;
}

/* ------------------------------------------------------------------ modes */

static bool pass(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes), *again = NULL;
  base_text first = {0}, second = {0};
  bool ok = m && ptx_check(m);
  if (m)
    print_diags(m);
  if (ok) {
    ptx_print(m, &first);
    again = ptx_module_new("(printed)", first.bytes, first.length);
    ok = again && ptx_check(again);
    if (again)
      print_diags(again);
  }
  if (ok && !(ok = same_module(m, again)))
    fprintf(stderr, "%s: printed and read again, %s differs\n", name, different);
  if (ok) {
    ptx_print(again, &second);
    ok = !first.failed && !second.failed && strcmp(first.bytes, second.bytes) == 0;
    if (!ok)
      fprintf(stderr, "%s: printed twice, the text differs\n", name);
  }
  base_text_free(&first);
  base_text_free(&second);
  ptx_module_free(again);
  ptx_module_free(m);
  free(text);
  if (!ok)
    fprintf(stderr, "FAILED %s\n", name);
  return ok;
}

static bool reject(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  char got[1024] = "accepted";
  ptx_module *m = ptx_module_new(name, text, bytes);
  if (m && !ptx_check(m)) {
    const base_diag *d = m->diags->first;
    while (d && d->severity != BASE_ERROR)
      d = d->next;
    if (d)
      snprintf(got, sizeof got, "%u:%u: %s", d->line, d->column, d->message);
  }
  ptx_module_free(m);
  size_t wanted = strcspn(text, "\r\n");
  bool ok = wanted > 3 && strncmp(text, "// ", 3) == 0 && strlen(got) == wanted - 3 &&
            memcmp(got, text + 3, wanted - 3) == 0;
  if (!ok)
    fprintf(stderr, "FAILED %s\n  wanted %.*s\n  got    %s\n", name, wanted > 3 ? (int)wanted - 3 : 0,
            text + 3, got);
  free(text);
  return ok;
}

static bool *form_used;

static bool rows(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes);
  for (uint32_t f = 0; m && f < m->n_funcs; f++) {
    const ptx_body *b = ptx_body_of(m, f);
    for (uint32_t i = 0; b && i < b->n_insns; i++)
      form_used[b->insns[i].form] = true;
  }
  ptx_module_free(m);
  free(text);
  return true;
}

static bool rows_end(void) {
  unsigned missing = 0, n = ptx_form_count();
  for (unsigned f = 0; f < n; f++)
    if (!form_used[f]) {
      const ptx_form_info *info = ptx_form_get(f);
      fprintf(stderr, "not tested: %s: %s\n", ptx_op_get(info->op)->row, info->words);
      missing++;
    }
  printf("%u of %u forms in %d rows tested\n", n - missing, n, PTX_OPS);
  return missing == 0;
}

static bool unmodelled(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes);
  bool ok = m && ptx_check(m);
  for (uint32_t f = 0; ok && f < m->n_funcs; f++) {
    const ptx_body *b = ptx_body_of(m, f);
    if (b && b->unmodelled != PTX_NONE) {
      const ptx_insn *i = &b->insns[b->unmodelled];
      printf("%s:%u: %s: %s\n", name, i->place.line, m->funcs[f].name, ptx_op_get((ptx_op)i->op)->refused);
    }
  }
  if (m)
    print_diags(m);
  ptx_module_free(m);
  free(text);
  return ok;
}

static bool memory(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  bool done = false;
  unsigned long n = 1;
  for (; !done; n++) {
    base_arena_fail_at(n);
    ptx_module *m = ptx_module_new(name, text, bytes);
    bool ok = m && ptx_check(m);
    base_arena_fail_at(0);
    /* once memory is back, the same module can be finished */
    if (m && !ok)
      ok = ptx_check(m);
    if (m && !ok)
      print_diags(m);
    done = ok && m;
    if (done) {
      base_arena_fail_at(n);
      ptx_module *check = ptx_module_new(name, text, bytes);
      done = check && ptx_check(check);
      base_arena_fail_at(0);
      ptx_module_free(check);
    }
    ptx_module_free(m);
  }
  printf("%s: %lu allocations\n", name, n - 1);
  free(text);
  return true;
}

static base_rng rng;

static uint32_t random_below(uint32_t n) {
  return base_rng_below(&rng, n);
}

/* Bytes changed, cut out, doubled, or swapped for words that PTX knows. */
static void damage(char *text, size_t *bytes, size_t room) {
  static const char *const words[] = {
      "{",  "}",  ";",          "[",     "]", ".reg", "%r1", ".f32", "0xffffffffffffffff",
      "-",  "@p", ".loc 1 2 3", "<999>", "(", "|",    "L:",  ".v4",  "_",
      "\"", "/*", ".b128",      "::"};
  for (uint32_t edits = 1 + random_below(4); edits-- && *bytes > 8;) {
    size_t at = random_below((uint32_t)*bytes), n = 1 + random_below(12);
    if (n > *bytes - at)
      n = *bytes - at;
    const char *word = words[random_below(sizeof words / sizeof words[0])];
    switch (random_below(4)) {
    case 0:
      text[at] = (char)random_below(256);
      break;
    case 1:
      memmove(text + at, text + at + n, *bytes - at - n);
      *bytes -= n;
      break;
    case 2:
      if (*bytes + n <= room) {
        memmove(text + at + n, text + at, *bytes - at);
        *bytes += n;
      }
      break;
    default:
      n = strlen(word);
      if (*bytes + n <= room) {
        memmove(text + at + n, text + at, *bytes - at);
        memcpy(text + at, word, n);
        *bytes += n;
      }
    }
  }
}

static bool mutate(const char *name, unsigned long n) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  size_t room = bytes + 256;
  char *copy = malloc(room);
  if (!copy)
    exit(2);
  for (unsigned long i = 0; i < n; i++) {
    size_t length = bytes;
    memcpy(copy, text, bytes);
    damage(copy, &length, room);
    ptx_module *m = ptx_module_new(name, copy, length);
    base_text out = {0};
    if (m && ptx_check(m))
      ptx_print(m, &out);
    if (m)
      base_diags_print(m->diags, &out);
    base_text_free(&out);
    ptx_module_free(m);
  }
  free(copy);
  free(text);
  return true;
}

/* One line a function: "// flow: name: 0>1,2^3 1>3 ..." with > successors, ^ the join, * a loop head. */
static void put_flow(const char *func, const ptx_body *b, base_text *out) {
  base_putf(out, "// flow: %s:", func);
  for (uint32_t i = 0; i < b->n_blocks; i++) {
    const ptx_block *k = &b->blocks[i];
    base_putf(out, " %u%s", i, k->loop_head ? "*" : "");
    if (k->rpo == PTX_NONE)
      base_puts(out, "!");
    for (uint32_t e = 0; e < k->n_succ; e++)
      base_putf(out, "%c%u", e ? ',' : '>', b->edges[k->succ + e]);
    if (k->ipdom != PTX_NONE)
      base_putf(out, "^%u", k->ipdom);
  }
  base_puts(out, "\n");
}

static bool flow(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes);
  bool ok = m && ptx_check(m);
  for (uint32_t f = 0; ok && f < m->n_funcs; f++) {
    const ptx_body *b = ptx_body_of(m, f);
    base_text line = {0};
    if (!b)
      continue;
    put_flow(m->funcs[f].name, b, &line);
    if (!strstr(text, line.bytes)) {
      fprintf(stderr, "FAILED %s\n  got %s", name, line.bytes);
      ok = false;
    }
    base_text_free(&line);
  }
  if (m)
    print_diags(m);
  ptx_module_free(m);
  free(text);
  return ok;
}

static const char *word(unsigned mod) {
  return mod ? ptx_mod_name((ptx_mod)mod) : "-";
}

/* "// access: r global acquire gpu - 4x1": what is done, space, order, scope, proxy, bytes x elements; "; "
 * between two, "none" for none, "fence" with order, scope, proxy, space. Each instruction with such a comment
 * on its line is checked. */
static bool access(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes);
  bool ok = m && ptx_check(m);
  unsigned checked = 0;
  for (uint32_t f = 0; ok && f < m->n_funcs; f++) {
    const ptx_body *b = ptx_body_of(m, f);
    for (uint32_t i = 0; b && i < b->n_insns; i++) {
      const char *line = text;
      for (uint32_t l = 1; l < b->insns[i].place.line; l++)
        line = strchr(line, '\n') + 1;
      size_t length = strcspn(line, "\n");
      const char *mark = strstr(line, "// access: ");
      if (!mark || mark > line + length)
        continue;
      ptx_access a[2];
      unsigned n = ptx_accesses(b, &b->insns[i], a);
      base_text got = {0};
      for (unsigned k = 0; k < n; k++)
        base_putf(&got, "%s%s%s %s %s %s %s %ux%u", k ? "; " : "", a[k].reads ? "r" : "",
                  a[k].writes ? "w" : "", word(a[k].space), word(a[k].order), word(a[k].scope),
                  word(a[k].proxy), a[k].bytes, a[k].count);
      ptx_fence fence;
      if (ptx_fence_of(&b->insns[i], &fence))
        base_putf(&got, "fence %s %s %s %s", word(fence.order), word(fence.scope), word(fence.proxy),
                  word(fence.space));
      else if (!n)
        base_puts(&got, "none");
      size_t wanted = (size_t)(line + length - mark) - 11;
      if (got.length != wanted || memcmp(got.bytes, mark + 11, wanted) != 0) {
        fprintf(stderr, "FAILED %s:%u: got %s\n", name, b->insns[i].place.line, got.bytes);
        ok = false;
      }
      checked++;
      base_text_free(&got);
    }
  }
  if (m)
    print_diags(m);
  ptx_module_free(m);
  free(text);
  return ok && checked;
}

static bool print(const char *name) {
  size_t bytes;
  char *text = read_file(name, &bytes);
  ptx_module *m = ptx_module_new(name, text, bytes);
  base_text out = {0};
  bool ok = m && ptx_check(m);
  if (m)
    print_diags(m);
  if (ok)
    ptx_print(m, &out);
  if (out.bytes)
    fputs(out.bytes, stdout);
  base_text_free(&out);
  ptx_module_free(m);
  free(text);
  return ok;
}

static int table(void) {
  for (unsigned f = 0; f < ptx_form_count(); f++) {
    const ptx_form_info *i = ptx_form_get(f);
    const ptx_op_info *o = ptx_op_get(i->op);
    printf("%s\t%s\t%s\t%u\t%u%s\t%s\n", o->row, i->words, i->operands, i->isa, i->sm,
           i->arch_specific ? "a" : "", o->meaning);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "table") == 0)
    return table();
  if (argc < 3) {
    fprintf(stderr,
            "usage: t_ptx pass|reject|rows|unmodelled|memory|flow|access|print FILE... | mutate SEED N "
            "FILE... | table\n");
    return 2;
  }
  int failed = 0, from = 2;
  unsigned long n = 0;
  const char *mode = argv[1];
  if (strcmp(mode, "mutate") == 0 && argc > 4) {
    base_rng_seed(&rng, strtoull(argv[2], NULL, 10));
    n = strtoul(argv[3], NULL, 10);
    from = 4;
  }
  form_used = calloc(ptx_form_count(), sizeof *form_used);
  if (!form_used)
    return 2;
  for (int i = from; i < argc; i++) {
    bool ok = strcmp(mode, "pass") == 0         ? pass(argv[i])
              : strcmp(mode, "reject") == 0     ? reject(argv[i])
              : strcmp(mode, "rows") == 0       ? rows(argv[i])
              : strcmp(mode, "unmodelled") == 0 ? unmodelled(argv[i])
              : strcmp(mode, "memory") == 0     ? memory(argv[i])
              : strcmp(mode, "mutate") == 0     ? mutate(argv[i], n)
              : strcmp(mode, "flow") == 0       ? flow(argv[i])
              : strcmp(mode, "access") == 0     ? access(argv[i])
                                                : print(argv[i]);
    failed += !ok;
  }
  if (strcmp(mode, "rows") == 0)
    failed += !rows_end();
  else if (strcmp(mode, "print") != 0)
    printf("%d passed, %d failed\n", argc - from - failed, failed);
  free(form_used);
  return failed != 0;
}
