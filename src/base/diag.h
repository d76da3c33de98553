/* diag.h: messages about a text, each with a place. Collected in an arena, printed at the end, so that a
 * library never writes to anybody's terminal. */
#ifndef MUSTER_BASE_DIAG_H
#define MUSTER_BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"

typedef enum base_severity { BASE_NOTE, BASE_WARNING, BASE_ERROR } base_severity;

typedef struct base_diag {
  struct base_diag *next;
  base_severity severity;
  uint32_t line, column; /* from 1; 0: of the whole text */
  const char *message;
  const char *source; /* the line of the text; NULL where there is none */
} base_diag;

typedef struct base_diags {
  base_arena *arena;
  const char *file; /* the text's name */
  base_diag *first, **end;
  uint32_t n_errors, n_warnings;
} base_diags;

void base_diags_init(base_diags *d, base_arena *arena, const char *file);
/* `source` is the beginning of the line (it ends at a newline or NUL), or NULL. */
void base_diag_add(base_diags *d, base_severity severity, uint32_t line, uint32_t column, const char *source,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* file:line:column: error: message, the line, and a caret below. */
void base_diag_print(const base_diags *d, const base_diag *one, base_text *out);
void base_diags_print(const base_diags *d, base_text *out);

#endif
