/* name.h: names of kernels as people write them. */
#ifndef MUSTER_BASE_NAME_H
#define MUSTER_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The plain name of an Itanium-mangled one: "ns::scale" for _ZN2ns5scaleIiEEvPT_. False: not mangled, not
 * understood, or longer than `bytes`; `to` then holds nothing of use. */
bool base_plain_name(const char *mangled, char *to, size_t bytes);
/* The plain name of a variable: also "s" for _ZZ4scalePfE1s, which stands in a function. */
bool base_plain_variable(const char *mangled, char *to, size_t bytes);
/* Whether a person who writes `asked` means the function of that mangled and plain name. */
bool base_name_matches(const char *asked, const char *mangled, const char *plain);

#endif
