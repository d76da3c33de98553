/* select.c: --kernel-regex, --launch-skip, --launch-count: which launches are reported.
 *
 * Launches are counted in the order in which they are told, over all processes of the program.
 */
#include "tool.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static regex_t expression;
static uint64_t matched; /* launches whose kernel's name fits, so far */

bool tool_select_begin(const tool_options *o) {
  if (!o->kernel_regex)
    return true;
  int wrong = regcomp(&expression, o->kernel_regex, REG_EXTENDED | REG_NOSUB);
  if (wrong) {
    char why[128];
    regerror(wrong, &expression, why, sizeof why);
    tool_error("--kernel-regex=%s: %s", o->kernel_regex, why);
  }
  return !wrong;
}

bool tool_select_launch(const tool_options *o, const char *text) {
  const char *end = strstr(text, ": "); /* "ns::scale: launch 3, ..." */
  char *name = tool_format("%.*s", end ? (int)(end - text) : (int)strlen(text), text);
  bool fits = !o->kernel_regex || regexec(&expression, name, 0, NULL, 0) == 0;
  free(name);
  if (!fits)
    return false;
  uint64_t index = matched++;
  return index >= o->launch_skip && (!o->has.launch_count || index - o->launch_skip < o->launch_count);
}
