/* component_code.h -- the components of a machine as one C file, compiled by itself. */
#ifndef COMPONENT_CODE_H
#define COMPONENT_CODE_H
#include "components.h"

/*
 * A C file that defines `const struct impl kb_rt_components[N_BOXES]`, the calls of all parts. It
 * includes component.h, and the same machine gives the same bytes.
 */
const char *component_code(const struct spec *spec);

#endif
