/* component_code.h -- the components of a machine as one C file, for a machine made at run time. */
#ifndef COMPONENT_CODE_H
#define COMPONENT_CODE_H
#include "components.h"

/* One key of a component as a constant: a line of C. */
const char *component_constant(struct arena *a, const struct part *p, size_t i);

/*
 * A C file that defines `const struct impl kb_rt_components[N_BOXES]`, the calls of all parts. It
 * includes component.h, and the same machine gives the same bytes.
 */
const char *component_code(const struct spec *spec);

#endif
