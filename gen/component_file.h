/* component_file.h -- the file of a component: where it is, and what its header says. */
#ifndef COMPONENT_FILE_H
#define COMPONENT_FILE_H
#include "components.h"

/*
 * The component `name`, which the key at `at` asks for: in components/ beside the YAML, in a folder
 * of $KB_COMPONENTS, or in examples/components/. NULL after messages.
 */
const struct component *component_read(const struct spec *spec, struct place at, const char *name);

/* The same of a table of routes, NAME.csv: its text, which route_table.h reads. */
const struct component *route_file_read(const struct spec *spec, struct place at, const char *name);

#endif
