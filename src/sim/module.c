/* module.c: a module's variables get memory and initial values, its names get addresses, its kernels are
 * decoded when asked for. An .extern symbol is sought in the modules loaded before: that is all the linking
 * that separately compiled programs need.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

#define FUNC_STRIDE 16u /* between addresses of functions, so that they look like addresses */

/* ------------------------------------------------------------------ symbols */

static bool is_placed(const ptx_var *v) {
  return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

static bool sees(const sim_module *m, const sim_module *other) {
  for (uint32_t k = 0; k < m->n_others; k++)
    if (m->others[k] == other)
      return true;
  return false;
}

/* A definition of the name in another module, first in those that the module was given, then in any. */
static bool find_var(const sim_module *m, const char *name, uint64_t *address) {
  for (int any = 0; any < 2; any++)
    for (const sim_module *o = m->device->modules; o; o = o->next) {
      if (o == m || (!any && !sees(m, o)))
        continue;
      uint32_t k = ptx_find_var(o->ptx, name);
      if (k != PTX_NONE && o->symbols[k].placed) {
        *address = o->symbols[k].address;
        return true;
      }
    }
  return false;
}

bool sim_symbol_address(const sim_module *m, uint32_t var, uint64_t *address) {
  if (m->symbols[var].placed) {
    *address = m->symbols[var].address;
    return true;
  }
  return find_var(m, m->ptx->vars[var].name, address);
}

bool sim_resolve_func(sim_module **m, uint32_t *func) {
  const ptx_module *p = (*m)->ptx;
  for (int k = 0; k < 8 && p->funcs[*func].alias_of != PTX_NONE; k++)
    *func = p->funcs[*func].alias_of;
  if (p->funcs[*func].defined)
    return true;
  const char *name = p->funcs[*func].name;
  for (int any = 0; any < 2; any++)
    for (sim_module *o = (*m)->device->modules; o; o = o->next) {
      if (o == *m || (!any && !sees(*m, o)))
        continue;
      uint32_t k = ptx_find_func(o->ptx, name);
      if (k != PTX_NONE && o->ptx->funcs[k].defined) {
        *m = o, *func = k;
        return true;
      }
    }
  return false;
}

uint64_t sim_func_address(const sim_module *m, uint32_t func) {
  return SIM_CODE_WINDOW + (((uint64_t)m->number << 16) + func + 1) * FUNC_STRIDE;
}

sim_func *sim_func_at(const sim_code *c, uint64_t address) {
  for (uint32_t k = 0; k < c->n_funcs; k++)
    if (!c->funcs[k]->decl->entry && sim_func_address(c->funcs[k]->module, c->funcs[k]->index) == address)
      return c->funcs[k];
  return NULL;
}

/* ------------------------------------------------------------------ placing */

static char *relocate(sim_module *m, const ptx_var *v, uint8_t *at) {
  for (uint32_t k = 0; k < v->n_relocs; k++) {
    const ptx_reloc *r = &v->relocs[k];
    uint64_t value;
    if (r->is_func) {
      sim_module *owner = m;
      uint32_t func = r->index;
      if (!sim_resolve_func(&owner, &func))
        return base_format("%s: function %s is not defined in any module", v->name,
                           m->ptx->funcs[r->index].name);
      value = sim_func_address(owner, func);
    } else if (!sim_symbol_address(m, r->index, &value)) {
      return base_format("%s: variable %s is not defined in any module", v->name,
                         m->ptx->vars[r->index].name);
    }
    value = (value + (uint64_t)r->addend) >> r->shift;
    memcpy(at + r->offset, &value, r->bytes);
  }
  return NULL;
}

static char *place(sim_module *m) {
  const ptx_module *p = m->ptx;
  for (uint32_t k = 0; k < p->n_vars; k++) {
    const ptx_var *v = &p->vars[k];
    uint64_t elsewhere;
    if (!is_placed(v) || v->linkage == PTX_LINK_EXTERN)
      continue;
    if ((v->linkage == PTX_LINK_WEAK || v->linkage == PTX_LINK_COMMON) && find_var(m, v->name, &elsewhere)) {
      m->symbols[k] = (sim_symbol){elsewhere, true, false}; /* the first one counts */
      continue;
    }
    bool constant = v->space == PTX_SPACE_CONST;
    uint64_t at = sim_memory_take(&m->device->memory, v->bytes,
                                  constant ? SIM_MEMORY_CONST : SIM_MEMORY_MODULE, v->name);
    if (!at)
      return base_format("%s: no memory for variable %s of %llu bytes", p->name, v->name,
                         (unsigned long long)v->bytes);
    m->symbols[k] = (sim_symbol){at, true, true};
    uint8_t *to = (uint8_t *)(uintptr_t)at;
    memset(to, 0, v->bytes);
    if (v->init)
      memcpy(to, v->init, v->init_bytes);
    m->const_bytes += constant ? (uint32_t)v->bytes : 0;
    sim_memory_define(m->device, at, v->bytes, true);
  }
  for (uint32_t k = 0; k < p->n_vars; k++)
    if (m->symbols[k].own) {
      char *error = relocate(m, &p->vars[k], (uint8_t *)(uintptr_t)m->symbols[k].address);
      if (error)
        return error;
    }
  return NULL;
}

sim_module *sim_module_new(sim_device *d, ptx_module *program, sim_module *const *others, uint32_t n_others,
                           char **error) {
  *error = NULL;
  if (program->address_bits != 64) {
    *error = base_format("%s: addresses of 32 bits are not modelled", program->name);
    return NULL;
  }
  sim_module *m = calloc(1, sizeof *m);
  if (m) {
    m->device = d, m->ptx = program;
    m->number = (uint32_t)d->next_module++;
    m->symbols = calloc(program->n_vars + 1, sizeof *m->symbols);
    m->others = calloc(n_others + 1, sizeof *m->others);
  }
  if (!m || !m->symbols || !m->others) {
    if (m)
      free(m->symbols), free(m->others);
    free(m);
    *error = base_format("out of memory");
    return NULL;
  }
  if (n_others)
    memcpy(m->others, others, n_others * sizeof *others);
  m->n_others = n_others;
  sim_module **end = &d->modules;
  while (*end)
    end = &(*end)->next;
  *end = m;
  *error = place(m);
  if (*error) {
    sim_module_free(m);
    return NULL;
  }
  return m;
}

void sim_module_free(sim_module *m) {
  if (!m)
    return;
  sim_module **at = &m->device->modules;
  while (*at && *at != m)
    at = &(*at)->next;
  if (*at)
    *at = m->next;
  for (uint32_t k = 0; k < m->ptx->n_vars; k++)
    if (m->symbols[k].own)
      sim_memory_give(&m->device->memory, m->symbols[k].address);
  while (m->kernels) {
    sim_kernel *k = m->kernels;
    m->kernels = k->next;
    sim_code_free(k->code);
    free(k);
  }
  free(m->symbols);
  free(m->others);
  free(m);
}

bool sim_module_var(const sim_module *m, const char *name, uint64_t *address, uint64_t *bytes) {
  uint32_t k = ptx_find_var(m->ptx, name);
  if (k == PTX_NONE || !m->symbols[k].placed)
    return false;
  *address = m->symbols[k].address;
  *bytes = m->ptx->vars[k].bytes;
  return true;
}

/* ------------------------------------------------------------------ kernels */

/* What the real compiler would take: what is live at once, what it keeps for itself, rounded as it rounds. */
static uint32_t estimate(const sim_code *c) {
  uint32_t most = 0, limit = c->kernel->module->device->options.limits.registers_per_thread;
  for (uint32_t k = 0; k < c->n_funcs; k++)
    most = c->funcs[k]->pressure > most ? c->funcs[k]->pressure : most;
  if (most > 32) /* it moves loads nearer to their uses when there are many */
    most = 32 + (most - 32) / 4;
  uint32_t n = (most + 4 + 7) / 8 * 8;
  if (n < 16)
    n = 16;
  const ptx_func *f = c->kernel->decl;
  uint64_t threads = (uint64_t)f->maxntid[0] * f->maxntid[1] * f->maxntid[2];
  uint32_t all = c->kernel->module->device->options.limits.registers_per_sm;
  if (f->minnctapersm)
    threads *= f->minnctapersm;
  if (threads && all && n > all / threads) /* it keeps what .maxntid and .minnctapersm ask for */
    n = all / (uint32_t)threads / 8 * 8;
  if (c->kernel->decl->maxnreg && n > c->kernel->decl->maxnreg)
    n = c->kernel->decl->maxnreg;
  return limit && n > limit ? limit : n;
}

sim_kernel *sim_module_kernel(sim_module *m, const char *name, char **error) {
  *error = NULL;
  uint32_t func = ptx_find_func(m->ptx, name);
  if (func == PTX_NONE || !m->ptx->funcs[func].entry) {
    *error = base_format("%s has no kernel %s", m->ptx->name, name);
    return NULL;
  }
  for (sim_kernel *k = m->kernels; k; k = k->next)
    if (k->func == func)
      return k;
  sim_kernel *k = calloc(1, sizeof *k);
  if (!k) {
    *error = base_format("out of memory");
    return NULL;
  }
  k->module = m, k->func = func, k->decl = &m->ptx->funcs[func];
  k->code = sim_code_new(k, error);
  if (!k->code) {
    free(k);
    return NULL;
  }
  k->registers = estimate(k->code);
  k->next = m->kernels;
  m->kernels = k;
  return k;
}

void sim_kernel_get(const sim_kernel *k, sim_kernel_info *out) {
  const sim_code *c = k->code;
  const sim_limits *l = &k->module->device->options.limits;
  const ptx_func *f = k->decl;
  uint64_t max = (uint64_t)f->maxntid[0] * f->maxntid[1] * f->maxntid[2],
           req = (uint64_t)f->reqntid[0] * f->reqntid[1] * f->reqntid[2];
  *out = (sim_kernel_info){.name = f->name,
                           .max_threads = req                                 ? (uint32_t)req
                                          : max && max < l->threads_per_block ? (uint32_t)max
                                                                              : l->threads_per_block,
                           .shared_bytes = c->shared_bytes - l->shared_reserved,
                           .const_bytes = k->module->const_bytes,
                           .local_bytes = c->funcs[0]->local_bytes,
                           .param_bytes = f->param_bytes,
                           .n_params = f->n_params,
                           .registers = k->registers,
                           .registers_known = k->registers_known,
                           .uses_grid_workspace = c->uses_grid_workspace,
                           .reads_clock = c->reads_clock,
                           .refused = c->refused,
                           .refused_line = c->refused_line};
  memcpy(out->reqntid, f->reqntid, sizeof out->reqntid);
  memcpy(out->reqnctapercluster, f->reqnctapercluster, sizeof out->reqnctapercluster);
}

/* All arrays of dynamic shared memory are one; NULL if a module gives it several names. */
static const char *dynamic_name(const ptx_module *m) {
  const char *name = NULL;
  for (uint32_t k = 0; k < m->n_vars; k++)
    if (m->vars[k].space == PTX_SPACE_SHARED && m->vars[k].unsized) {
      if (name)
        return NULL;
      name = m->vars[k].name;
    }
  return name;
}

bool sim_kernel_shared(const sim_kernel *k, uint32_t dynamic_bytes, uint32_t index, sim_shared *out) {
  const sim_code *c = k->code;
  if (index < c->n_shared) {
    *out = (sim_shared){c->shared[index].var->name, c->shared[index].offset, c->shared[index].var->bytes};
    return true;
  }
  uint32_t begin = (c->shared_bytes + c->shared_align - 1) / c->shared_align * c->shared_align;
  *out = (sim_shared){dynamic_name(k->module->ptx), begin, dynamic_bytes};
  return index == c->n_shared && dynamic_bytes;
}

void sim_kernel_param(const sim_kernel *k, uint32_t index, uint32_t *offset, uint32_t *bytes,
                      uint32_t *type) {
  const ptx_var *v = &k->decl->params[index];
  *offset = (uint32_t)v->offset;
  *bytes = (uint32_t)v->bytes;
  *type = v->n_dims ? 0 : v->type;
}

void sim_kernel_set_registers(sim_kernel *k, uint32_t registers) {
  k->registers = registers;
  k->registers_known = true;
}
