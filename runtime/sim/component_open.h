/* component_open.h -- components compiled and loaded while a program runs. */
#ifndef COMPONENT_OPEN_H
#define COMPONENT_OPEN_H
#include "base/digest.h"
#include "base/exported.h"
#include "kernbench.h"
#include "machine/impl.h"

enum { COMPONENT_SAID_BYTES = 4096 };

enum opened {
    OPEN_OK,
    OPEN_NO_COMPILER,
    OPEN_NOT_COMPILED, /* said: the compiler's messages, as much as there is room for */
    OPEN_DATA,         /* said: the name of data that can be written */
    OPEN_CALL,         /* said: the name of a function that is called, and is not its own */
    OPEN_SYSTEM        /* said: what failed */
};

/* What came of it. */
struct component_opening {
    const struct impl *of; /* [N_BOXES]; never unloaded */
    enum opened what;
    char said[COMPONENT_SAID_BYTES];
    char compiler[DIGEST_CHARS + 1]; /* that made it (base/compiler_identity.h); "": none was asked */
};

/*
 * Compiles `code` (gen/component_code.h), unless that was done before and the cache has it, and
 * loads it. Weak: a program that is linked to the archive has it only if it asks for it by
 * -Wl,-u,kb_rt_components_open, since it brings dlopen() along.
 */
void components_open(const char *code, struct component_opening *out) EXPORTED(components_open)
    __attribute__((weak));

/* The text of component.h; its length. The build makes it. */
extern const char component_h[] __asm__("kb_rt_component_h") __attribute__((visibility("default")));

#endif
