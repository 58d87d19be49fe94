/* component_told.h -- why components are refused, and the text of those that are not. */
#ifndef COMPONENT_TOLD_H
#define COMPONENT_TOLD_H
#include "component_build.h"
#include "components.h"

/* Says why the components of `spec`, built together, were refused, and which of them is to blame.
 */
void component_tell(const struct spec *spec, const struct component_opening *o);

/*
 * The components of `spec` as C without a preprocessor, for topo.c: what was compiled by itself and
 * keeps the rules. NULL after messages.
 */
const char *component_checked_text(const struct spec *spec);

#endif
