/* rule.c: the rules as data, and which of them are on. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "muster/check.h"

static const muster_rule_row rows[] = {
#define RULE(name, id, severity, what) {id, MUSTER_##severity, what},
#include "muster/rules.def"
};

const muster_rule_row *muster_rule_get(muster_rule r) {
  return &rows[r];
}

muster_rule muster_rule_find(const char *id) {
  int r = 0;
  while (r < MUSTER_RULES && strcmp(rows[r].id, id) != 0)
    r++;
  return (muster_rule)r;
}

const char *muster_severity_name(muster_severity s) {
  static const char *const names[] = {"note", "warning", "error"};
  return names[s];
}

bool muster_rule_set_parse(const char *list, muster_rule_set *out, char **error) {
  bool begin = !list || *list == 0 || *list == '-';
  for (int r = 0; r < MUSTER_RULES; r++)
    out->on[r] = begin;
  for (const char *at = list; at && *at;) {
    size_t n = strcspn(at, ",");
    bool on = *at != '-', any = false;
    const char *word = at + !on;
    size_t length = n - !on;
    bool prefix = length > 0 && word[length - 1] == '*';
    for (int r = 0; r < MUSTER_RULES; r++)
      if (prefix ? strncmp(rows[r].id, word, length - 1) == 0
                 : strlen(rows[r].id) == length && memcmp(rows[r].id, word, length) == 0)
        out->on[r] = on, any = true;
    if (!any) {
      *error = base_format("no rule is named %.*s (muster info --rules lists them)", (int)length, word);
      return false;
    }
    at += n + (at[n] == ',');
  }
  return true;
}
