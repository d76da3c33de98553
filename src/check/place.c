/* place.c: sites (instructions) and launches as numbers, kept with their names: a module may be unloaded, a
 * launch over, before a finding names them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "check/state.h"

typedef struct site {
  const ptx_body *body; /* of insn; looked into only while the launch lives */
  const ptx_insn *insn; /* the key; another module may come to lie there, so the rest is compared too */
  uint32_t next;        /* of the same hash */
  uint32_t line, column, ptx_line;
  uint32_t like; /* the first site of the same line of the source; 0: that is not known */
  char *name, *func, *file, *inlined_at; /* of the function, as PTX and as people write it */
  const char *op;
} site;

/* The arrays of shared memory of one kernel with one size of the dynamic one. */
typedef struct layout {
  struct layout *next;
  const sim_kernel *kernel; /* the key, as are the name and the size */
  char *name;
  uint32_t dynamic_bytes, n;
  check_array arrays[];
} layout;

struct check_places {
  site *sites; /* [1, n_sites) */
  uint32_t n_sites, cap_sites;
  uint32_t *heads; /* hash table of sites */
  uint32_t n_heads;
  struct {
    const ptx_insn *insn;
    check_site site;
  } recent[256];          /* met since the last launch began: until then none of these is another's */
  check_launch *launches; /* by id, ascending */
  uint32_t n_launches, cap_launches;
  const ptx_module *hashed; /* of the last launch */
  uint32_t hash;
  layout *layouts;
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
    free(p->sites[i].name);
    free(p->sites[i].func);
    free(p->sites[i].file);
    free(p->sites[i].inlined_at);
  }
  for (uint32_t i = 0; i < p->n_launches; i++)
    free((void *)(uintptr_t)p->launches[i].kernel);
  for (layout *l = p->layouts, *next; l; l = next) {
    next = l->next;
    for (uint32_t i = 0; i < l->n; i++)
      free((void *)(uintptr_t)l->arrays[i].name);
    free(l->name);
    free(l);
  }
  free(p->launches);
  free(p->sites);
  free(p->heads);
  free(p);
}

/* ------------------------------------------------------------------ sites */

static char *copy(const char *s) {
  return s ? strdup(s) : NULL;
}

/* A header of the compiler's own: .../cuda-13.0/targets/x86_64-linux/include/sm_30_intrinsics.hpp,
 * .../nvidia/cu13/include. */
static bool is_toolkits(const char *file) {
  const char *include = file ? strstr(file, "/include/") : NULL;
  const char *cuda = file ? strstr(file, "/cuda") : NULL, *nvidia = file ? strstr(file, "/nvidia/") : NULL;
  return include && ((cuda && cuda < include) || (nvidia && nvidia < include));
}

/* Where people would look: the innermost place that is not in a header of the compiler, which says nothing to
 * them. */
static uint32_t users_loc(const ptx_body *b, uint32_t loc) {
  while (is_toolkits(b->locs[loc].file) && b->locs[loc].inlined_at != PTX_NONE)
    loc = b->locs[loc].inlined_at;
  return loc;
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
  return s->insn == w->insn && s->ptx_line == w->insn->place.line && s->name &&
         strcmp(s->name, w->module->funcs[w->func].name) == 0;
}

enum { SITES_NEAR = 64 }; /* so far back one of the same line is sought: what was unrolled is met together */

static bool same_line(const site *a, const site *b) {
  return a->body == b->body && a->line && a->line == b->line && a->column == b->column && a->file &&
         b->file && strcmp(a->file, b->file) == 0;
}

static uint32_t like(const struct check_places *p, const site *s) {
  uint32_t first = p->n_sites > SITES_NEAR ? p->n_sites - SITES_NEAR : 1;
  for (uint32_t i = p->n_sites; i-- > first;)
    if (same_line(&p->sites[i], s))
      return p->sites[i].like;
  return s->line ? p->n_sites : 0;
}

static check_site find_site(struct check_places *p, const sim_who *w) {
  uint64_t key = (uint64_t)(uintptr_t)w->insn;
  uint32_t *head = &p->heads[(key >> 4 ^ key >> 17) % p->n_heads];
  for (uint32_t i = *head; i; i = p->sites[i].next)
    if (same(&p->sites[i], w))
      return i;
  if (!BASE_ROOM(p->sites, p->n_sites, p->cap_sites))
    return 0;
  char plain[512];
  const char *func = w->module->funcs[w->func].name;
  site s = {.body = w->body,
            .insn = w->insn,
            .next = *head,
            .ptx_line = w->insn->place.line,
            .op = ptx_op_get((ptx_op)w->insn->op)->name,
            .name = copy(func),
            .func = copy(base_plain_name(func, plain, sizeof plain) ? plain : func)};
  if (w->insn->loc != PTX_NONE) {
    uint32_t loc = users_loc(w->body, w->insn->loc);
    const ptx_loc *l = &w->body->locs[loc];
    s.file = copy(l->file), s.line = l->line, s.column = l->column;
    s.inlined_at = inlined_at(w->body, loc);
  }
  s.like = like(p, &s);
  p->sites[p->n_sites] = s;
  return *head = p->n_sites++;
}

check_site check_site_of(check *c, const sim_who *w) {
  struct check_places *p = c->places;
  if (!w->insn)
    return 0;
  size_t i = (uintptr_t)w->insn / sizeof *w->insn % BASE_COUNT(p->recent);
  if (p->recent[i].insn != w->insn || !p->recent[i].site) {
    p->recent[i].site = find_site(p, w);
    p->recent[i].insn = w->insn;
  }
  return p->recent[i].site;
}

bool check_same_line(const check *c, check_site a, check_site b) {
  uint32_t like = c->places->sites[a].like;
  return like && like == c->places->sites[b].like;
}

bool check_site_before(const check *c, check_site a, check_site b) {
  const site *x = &c->places->sites[a], *y = &c->places->sites[b];
  return a && b && x->body == y->body && x->insn < y->insn;
}

static bool bars(const ptx_insn *i, check_way way) {
  switch (i->op) {
  case PTX_OP_bar_warp:
    return way == CHECK_NO_WARP_BARRIER;
  case PTX_OP_bar_block:
  case PTX_OP_barrier_block:
  case PTX_OP_bar_red:
  case PTX_OP_barrier_red:
    return way != CHECK_ANY_WAY;
  default:
    return false;
  }
}

bool check_site_reaches(const check *c, check_site from, check_site to, check_way way) {
  const site *a = &c->places->sites[from], *z = &c->places->sites[to];
  if (!from || !to || a->body != z->body)
    return false;
  const ptx_body *b = a->body;
  bool *seen = calloc(b->n_blocks, sizeof *seen), found = false;
  uint32_t *todo = malloc((b->n_blocks + 1) * sizeof *todo), n = 0;
  /* the rest of its own block first, then whole ones */
  uint32_t begin = (uint32_t)(a->insn - b->insns) + 1, end = (uint32_t)(z->insn - b->insns), block = 0;
  while (block < b->n_blocks && b->blocks[block].end < begin)
    block++;
  if (seen && todo && block < b->n_blocks)
    todo[n++] = block;
  for (bool first = true; n > 0 && !found; first = false) {
    const ptx_block *k = &b->blocks[todo[--n]];
    uint32_t i = first ? begin : k->first;
    for (; i < k->end && !found && !bars(&b->insns[i], way); i++)
      found = i == end;
    for (uint32_t s = 0; !found && i == k->end && s < k->n_succ; s++) {
      uint32_t next = b->edges[k->succ + s];
      if (!seen[next])
        seen[next] = true, todo[n++] = next;
    }
  }
  free(seen);
  free(todo);
  return found;
}

/* ------------------------------------------------------------------ launches */

static char *array_name(const char *name) {
  char plain[200];
  base_text t = {0};
  if (name)
    base_putf(&t, "shared array %s", base_plain_variable(name, plain, sizeof plain) ? plain : name);
  else
    base_puts(&t, "dynamic shared memory");
  return t.bytes;
}

/* NULL: none, or no memory. */
static const layout *layout_of(struct check_places *p, const sim_launch *l, const char *kernel) {
  sim_shared s;
  uint32_t n = 0;
  for (layout *k = p->layouts; k; k = k->next)
    if (k->kernel == l->kernel && k->dynamic_bytes == l->dynamic_shared && strcmp(k->name, kernel) == 0)
      return k;
  while (sim_kernel_shared(l->kernel, l->dynamic_shared, n, &s))
    n++;
  layout *k = n ? malloc(sizeof *k + n * sizeof k->arrays[0]) : NULL;
  if (!k)
    return NULL;
  *k = (layout){p->layouts, l->kernel, copy(kernel), l->dynamic_shared, n};
  for (uint32_t i = 0; i < n; i++) {
    sim_kernel_shared(l->kernel, l->dynamic_shared, i, &s);
    k->arrays[i] = (check_array){array_name(s.name), s.offset, s.bytes};
  }
  return p->layouts = k;
}

/* Programs have few modules, and launch one of them many times. */
static uint32_t hash_of(struct check_places *p, const ptx_module *m) {
  if (p->hashed != m)
    p->hash = muster_replay_hash(m->text, m->text_bytes);
  p->hashed = m;
  return p->hash;
}

void check_places_event(check *c, const sim_event *e) {
  struct check_places *p = c->places;
  const sim_launch *l = e->launch.launch;
  memset(p->recent, 0, sizeof p->recent);
  if (check_launch_of(c, e->who.launch)) /* again, under another schedule */
    return;
  if (!BASE_ROOM(p->launches, p->n_launches, p->cap_launches))
    return;
  sim_kernel_info info;
  sim_kernel_get(l->kernel, &info);
  char plain[512];
  check_launch *k = &p->launches[p->n_launches++];
  *k = (check_launch){.id = e->who.launch,
                      .kernel = copy(base_plain_name(info.name, plain, sizeof plain) ? plain : info.name),
                      .stream = l->stream,
                      .cooperative = l->cooperative,
                      .ptx = hash_of(p, e->who.module),
                      .n_blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
                      .n_threads = l->block[0] * l->block[1] * l->block[2]};
  memcpy(k->grid, l->grid, sizeof k->grid);
  memcpy(k->block, l->block, sizeof k->block);
  memcpy(k->cluster, l->cluster, sizeof k->cluster);
  k->selected = check_select_launch(c, k->kernel);
  const layout *shared = layout_of(p, l, info.name);
  if (shared)
    k->shared = shared->arrays, k->n_shared = shared->n;
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

/* ------------------------------------------------------------------ buffers */

static bool array_of(const check_launch *l, uint64_t offset, check_buffer *out) {
  const check_array *best = NULL;
  for (uint32_t i = 0; l && i < l->n_shared; i++) { /* the one that begins nearest before it */
    const check_array *a = &l->shared[i];
    if (a->begin <= offset && (!best || a->begin > best->begin))
      best = a;
  }
  if (!best)
    return false;
  snprintf(out->name, sizeof out->name, "%s", best->name ? best->name : "");
  out->offset = (int64_t)(offset - best->begin), out->bytes = best->bytes;
  return true;
}

bool check_buffer_of(const check *c, uint64_t launch, uint8_t space, uint64_t address, check_buffer *out) {
  *out = (check_buffer){.offset = (int64_t)address};
  if (space == PTX_SPACE_SHARED)
    return array_of(check_launch_of(c, launch), address, out);
  if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
    return false;
  sim_allocation a;
  char plain[200];
  if (!sim_memory_near(c->device, address, &a))
    return false;
  out->offset = (int64_t)(address - a.address), out->bytes = a.bytes, out->freed = a.freed;
  if (a.name)
    snprintf(out->name, sizeof out->name, "%s",
             base_plain_variable(a.name, plain, sizeof plain) ? plain : a.name);
  else
    snprintf(out->name, sizeof out->name, "%s %llu",
             a.kind == SIM_MEMORY_HEAP ? "malloc'ed block" : "allocation", (unsigned long long)a.number);
  return true;
}
