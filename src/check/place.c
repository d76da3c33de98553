/* place.c: sites (instructions) and launches as numbers, kept with their names: a module may be unloaded, a
 * launch over, before a finding names them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "check/state.h"

typedef struct site {
  const ptx_insn *insn; /* the key; another module may come to lie there, so the rest is compared too */
  uint32_t next;        /* of the same hash */
  uint32_t line, column, ptx_line;
  char *func, *file, *inlined_at;
  const char *op;
} site;

struct check_places {
  site *sites; /* [1, n_sites) */
  uint32_t n_sites, cap_sites;
  uint32_t *heads; /* hash table of sites */
  uint32_t n_heads;
  check_launch *launches; /* by id, ascending */
  uint32_t n_launches, cap_launches;
};

struct check_places *check_places_new(void) {
  struct check_places *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  p->n_heads = 1 << 14;
  p->heads = calloc(p->n_heads, sizeof *p->heads);
  p->n_sites = 1;
  if (p->heads)
    return p;
  free(p);
  return NULL;
}

void check_places_free(struct check_places *p) {
  if (!p)
    return;
  for (uint32_t i = 1; i < p->n_sites; i++) {
    free(p->sites[i].func);
    free(p->sites[i].file);
    free(p->sites[i].inlined_at);
  }
  for (uint32_t i = 0; i < p->n_launches; i++)
    free((void *)(uintptr_t)p->launches[i].kernel);
  free(p->launches);
  free(p->sites);
  free(p->heads);
  free(p);
}

/* ------------------------------------------------------------------ sites */

static char *copy(const char *s) {
  return s ? strdup(s) : NULL;
}

/* "a.cu:12, b.cuh:3": from the call in which the code stands outwards. */
static char *inlined_at(const ptx_body *b, uint32_t loc) {
  base_text t = {0};
  for (uint32_t at = b->locs[loc].inlined_at; at != PTX_NONE; at = b->locs[at].inlined_at)
    base_putf(&t, "%s%s:%u", t.length ? ", " : "", b->locs[at].file ? b->locs[at].file : "?",
              b->locs[at].line);
  return t.bytes;
}

static bool same(const site *s, const sim_who *w) {
  return s->insn == w->insn && s->ptx_line == w->insn->place.line && s->func &&
         strcmp(s->func, w->module->funcs[w->func].name) == 0;
}

check_site check_site_of(check *c, const sim_who *w) {
  struct check_places *p = c->places;
  if (!w->insn)
    return 0;
  uint64_t key = (uint64_t)(uintptr_t)w->insn;
  uint32_t *head = &p->heads[(key >> 4 ^ key >> 17) % p->n_heads];
  for (uint32_t i = *head; i; i = p->sites[i].next)
    if (same(&p->sites[i], w))
      return i;
  if (p->n_sites >= p->cap_sites) {
    uint32_t more = p->cap_sites ? p->cap_sites * 2 : 256;
    site *s = realloc(p->sites, more * sizeof *s);
    if (!s)
      return 0;
    p->sites = s, p->cap_sites = more;
  }
  site s = {.insn = w->insn,
            .next = *head,
            .ptx_line = w->insn->place.line,
            .op = ptx_op_get((ptx_op)w->insn->op)->name,
            .func = copy(w->module->funcs[w->func].name)};
  if (w->insn->loc != PTX_NONE) {
    const ptx_loc *l = &w->body->locs[w->insn->loc];
    s.file = copy(l->file), s.line = l->line, s.column = l->column;
    s.inlined_at = inlined_at(w->body, w->insn->loc);
  }
  p->sites[p->n_sites] = s;
  return *head = p->n_sites++;
}

/* ------------------------------------------------------------------ launches */

void check_places_event(check *c, const sim_event *e) {
  struct check_places *p = c->places;
  const sim_launch *l = e->launch.launch;
  if (p->n_launches >= p->cap_launches) {
    uint32_t more = p->cap_launches ? p->cap_launches * 2 : 64;
    check_launch *all = realloc(p->launches, more * sizeof *all);
    if (!all)
      return;
    p->launches = all, p->cap_launches = more;
  }
  sim_kernel_info info;
  sim_kernel_get(l->kernel, &info);
  char plain[512];
  check_launch *k = &p->launches[p->n_launches++];
  *k = (check_launch){.id = e->who.launch,
                      .kernel = copy(base_plain_name(info.name, plain, sizeof plain) ? plain : info.name),
                      .stream = l->stream,
                      .cooperative = l->cooperative,
                      .n_blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
                      .n_threads = l->block[0] * l->block[1] * l->block[2]};
  memcpy(k->grid, l->grid, sizeof k->grid);
  memcpy(k->block, l->block, sizeof k->block);
  memcpy(k->cluster, l->cluster, sizeof k->cluster);
}

const check_launch *check_launch_of(const check *c, uint64_t id) {
  const struct check_places *p = c->places;
  for (uint32_t low = 0, high = p->n_launches; low < high;) {
    uint32_t mid = (low + high) / 2;
    if (p->launches[mid].id == id)
      return &p->launches[mid];
    if (p->launches[mid].id < id)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

/* ------------------------------------------------------------------ spots */

check_spot check_spot_of(check *c, const sim_who *who, uint32_t lane) {
  return (check_spot){.launch = who->launch,
                      .block = who->block,
                      .thread = who->warp * SIM_WARP + lane,
                      .site = check_site_of(c, who)};
}

static void split(uint64_t linear, const uint32_t dim[3], uint32_t out[3]) {
  out[0] = (uint32_t)(linear % dim[0]);
  out[1] = (uint32_t)(linear / dim[0] % dim[1]);
  out[2] = (uint32_t)(linear / dim[0] / dim[1]);
}

void check_place_fill(const check *c, const check_spot *s, muster_access *out) {
  const check_launch *l = check_launch_of(c, s->launch);
  if (l) {
    out->has_thread = true;
    split(s->block, l->grid, out->block);
    split(s->thread, l->block, out->thread);
  }
  if (!s->site)
    return;
  const site *at = &c->places->sites[s->site];
  out->ptx_line = at->ptx_line;
  out->file = at->file, out->line = at->line, out->column = at->column;
  out->inlined_at = at->inlined_at;
  out->func = at->func;
}
