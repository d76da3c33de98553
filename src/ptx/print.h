/* print.h: the two halves of the printer. Private to src/ptx. */
#ifndef MUSTER_PTX_PRINT_H
#define MUSTER_PTX_PRINT_H

#include "base/text.h"
#include "ptx/front.h"

typedef struct ptx_printer {
  const ptx_unit *unit;
  const ptx_body *body; /* NULL outside of one */
  base_text *out;
  /* Names that several scopes of a body share are told apart: for each register, variable and label its
   * suffix, 0 for none. NULL: print every name as it is. */
  uint32_t *reg_suffix, *var_suffix, *label_suffix;
} ptx_printer;

/* print_body.c */
void ptx_print_body(const ptx_unit *u, const ptx_body *b, base_text *out);

/* print.c */
/* `suffix` goes behind the name. */
void ptx_print_var(base_text *out, const ptx_unit *u, const ptx_var *v, const char *name, const char *suffix);
void ptx_print_params(base_text *out, const ptx_var *list, uint32_t n);

#endif
