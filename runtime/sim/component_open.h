/* component_open.h -- components compiled and loaded while a program runs. */
#ifndef COMPONENT_OPEN_H
#define COMPONENT_OPEN_H
#include "base/exported.h"
#include "gen/component_build.h"
#include "kernbench.h"
#include "machine/impl.h"

/*
 * Compiles `code` (gen/component_code.h), unless that was done before and the cache has it, and
 * loads it. Weak: a program that is linked to the archive has it only if it asks for it by
 * -Wl,-u,kb_rt_components_open, since it brings dlopen() along.
 */
void components_open(const char *code, struct component_opening *out) EXPORTED(components_open)
    __attribute__((weak));

#endif
