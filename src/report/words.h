/* words.h: the parts of a finding in words, the same in every format that people read. */
#ifndef MUSTER_REPORT_WORDS_H
#define MUSTER_REPORT_WORDS_H

#include "base/text.h"
#include "muster/check.h"

/* "a.cu:12:3", "PTX line 4 of k"; nothing where nothing is known. */
void words_place(base_text *t, const char *file, uint32_t line, uint32_t column, uint32_t ptx_line,
                 const char *kernel);
void words_access(base_text *t, const muster_access *a); /* "thread (0,0,0) of block (1,0,0) writes ..." */
void words_waiting(base_text *t, const muster_waiting *w);
void words_residency(base_text *t, const muster_finding *f);
const char *words_relation(const char *relation); /* "threads of one block"; NULL */
void words_rest(base_text *t, const muster_finding *f, const char *separator); /* all behind the message */
void words_count(base_text *t, uint64_t n, const char *one, const char *many); /* "3 errors" */
/* Valid UTF-8 without control characters, so that a terminal and XML can take it. */
void words_plain(base_text *t, const char *s);
/* As people and viewers of a repository name a file: from the current folder where it lies below it. */
const char *words_file(const char *file);

#endif
