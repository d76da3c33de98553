/* fault.c: where something is, in words, and how a launch ends with an error: as on a GPU the first fault
 * ends it and everything else, but here with one line that says what, where and who. */
#include <stdio.h>
#include <string.h>

#include "sim/machine.h"

void sim_place_fill(const sim_block *b, const sim_warp *w, const sim_func *f, const ptx_insn *i,
                    uint32_t lane, sim_place *out) {
  *out = (sim_place){.kernel = b->grid->code->funcs[0]->decl->name, .func = f->decl->name};
  memcpy(out->block, b->id, sizeof out->block);
  for (uint32_t k = 0; w && k < 3; k++)
    out->thread[k] = w->special[k][lane];
  if (!i)
    return;
  out->ptx_line = i->place.line;
  if (i->loc != PTX_NONE) {
    const ptx_loc *l = &f->body->locs[i->loc];
    out->file = l->file, out->line = l->line, out->column = l->column;
  }
}

static size_t put_place(char *text, size_t size, const sim_place *p) {
  int n = snprintf(text, size, "%s: block (%u,%u,%u), thread (%u,%u,%u)", p->kernel, p->block[0], p->block[1],
                   p->block[2], p->thread[0], p->thread[1], p->thread[2]);
  size_t at = n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
  if (strcmp(p->func, p->kernel))
    n = snprintf(text + at, size - at, ", in %s", p->func),
    at += n > 0 && (size_t)n < size - at ? (size_t)n : 0;
  if (p->file)
    n = snprintf(text + at, size - at, ", %s:%u", p->file, p->line);
  else
    n = snprintf(text + at, size - at, ", PTX line %u", p->ptx_line);
  return at + (n > 0 && (size_t)n < size - at ? (size_t)n : 0);
}

const sim_op *sim_fault_raise(sim_run *r, const sim_op *o, sim_fault_kind kind, uint32_t lane,
                              uint64_t address, uint32_t bytes, const char *format, ...) {
  if (r->fault.kind)
    return NULL;
  sim_fault *f = &r->fault;
  const sim_func *func = r->unit ? r->unit->func : r->grid->code->funcs[0];
  f->kind = kind, f->address = address, f->bytes = bytes;
  sim_place_fill(r->block, r->warp, func, o->insn < func->body->n_insns ? &func->body->insns[o->insn] : NULL,
                 lane, &f->place);
  size_t at = put_place(f->text, sizeof f->text, &f->place);
  if (at + 3 < sizeof f->text) {
    memcpy(f->text + at, ": ", 3);
    va_list args;
    va_start(args, format);
    vsnprintf(f->text + at + 2, sizeof f->text - at - 2, format, args);
    va_end(args);
  }
  if (r->watcher)
    sim_say(r, &(sim_event){.kind = SIM_EVENT_FAULT, .fault = f}, UINT32_C(1) << lane, o);
  return NULL;
}

const sim_op *sim_raise(const sim_op *o, sim_ctx *c, int fault, uint32_t lanes) {
  sim_run *r = sim_run_of(c);
  const ptx_body *b = r->unit->func->body;
  return sim_fault_raise(r, o, (sim_fault_kind)fault, sim_first(lanes ? lanes : c->mask), 0, 0,
                         "%s cannot go on", ptx_op_get((ptx_op)b->insns[o->insn].op)->name);
}

void sim_place_of(const sim_device *d, const sim_who *who, uint32_t lane, sim_place *out) {
  const sim_run *r = d->run;
  *out = (sim_place){0};
  if (r->block && r->block->number == who->block && r->grid->id == who->launch) {
    const sim_func *f = r->unit ? r->unit->func : r->grid->code->funcs[0];
    sim_place_fill(r->block, r->warp, f, who->insn, lane, out);
    return;
  }
  for (const sim_grid *g = d->grids; g; g = g->next) {
    if (g->id != who->launch)
      continue;
    const uint32_t *n = g->launch.block, *grid = g->launch.grid;
    uint32_t thread = who->warp * SIM_WARP + lane;
    out->kernel = g->code->funcs[0]->decl->name;
    out->func = who->module ? who->module->funcs[who->func].name : out->kernel;
    out->thread[0] = thread % n[0], out->thread[1] = thread / n[0] % n[1],
    out->thread[2] = thread / n[0] / n[1];
    out->block[0] = (uint32_t)(who->block % grid[0]);
    out->block[1] = (uint32_t)(who->block / grid[0] % grid[1]);
    out->block[2] = (uint32_t)(who->block / grid[0] / grid[1]);
    if (who->insn) {
      out->ptx_line = who->insn->place.line;
      if (who->insn->loc != PTX_NONE) {
        const ptx_loc *l = &who->body->locs[who->insn->loc];
        out->file = l->file, out->line = l->line, out->column = l->column;
      }
    }
  }
}
