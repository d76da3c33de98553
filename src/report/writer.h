/* writer.h: JSON and other text for machines, as it is put out: members follow each other, the writer keeps
 * the commas. Strings may hold any bytes: what is no UTF-8 becomes U+FFFD. */
#ifndef MUSTER_REPORT_WRITER_H
#define MUSTER_REPORT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef struct writer {
  base_text text;
  bool follows; /* something stands before it on this level */
} writer;

void writer_open(writer *w, char bracket); /* { or [; as a value, or as the next item of an array */
void writer_shut(writer *w, char bracket);
void writer_key(writer *w, const char *name);
void writer_newline(writer *w);                /* for people; before an item */
void writer_item(writer *w, const char *text); /* a string in an array */

void writer_string(writer *w, const char *name, const char *s); /* NULL: null */
void writer_number(writer *w, const char *name, uint64_t n);
void writer_bool(writer *w, const char *name, bool b);
void writer_null(writer *w, const char *name);
void writer_object(writer *w, const char *name); /* key and open */
void writer_array(writer *w, const char *name);

/* The length of the UTF-8 character at s, 0 if there is none. */
unsigned writer_utf8(const char *s);

/* ------------------------------------------------------------------ json.c */
struct muster_finding;
struct muster_summary;
void writer_finding(writer *w, const struct muster_finding *f); /* as an item */
void writer_summary(writer *w, const struct muster_summary *s); /* its members, without braces */

#endif
