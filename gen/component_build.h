/* component_build.h -- components compiled by themselves, and looked at. */
#ifndef COMPONENT_BUILD_H
#define COMPONENT_BUILD_H
#include "base/digest.h"
#include "base/exported.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    COMPONENT_SAID_BYTES = 4096,
    COMPONENT_FOLDER_BYTES = 4096,
    COMPONENT_PATH_BYTES = 4096 + 128
};

enum opened {
    OPEN_OK,
    OPEN_NO_COMPILER,  /* said: its name */
    OPEN_NOT_COMPILED, /* said: the compiler's messages, as much as there is room for */
    OPEN_READS,        /* said: the line, and the file that is read there, or the pragma */
    OPEN_DATA,         /* said: the name of data that can be written */
    OPEN_CALL,         /* said: the name of a function that is called, and is not its own */
    OPEN_SECTION,      /* said: the name of a section that is neither code nor constants */
    OPEN_IFUNC,        /* said: the name of a function that is chosen when it is loaded */
    OPEN_STACK,        /* it needs a stack that can be executed */
    OPEN_SYSTEM        /* said: what failed */
};

struct impl;

/* What came of it. */
struct component_opening {
    const struct impl *of; /* [number of the part]; never unloaded. NULL: it was not loaded */
    enum opened what;
    char said[COMPONENT_SAID_BYTES];
    char compiler[DIGEST_CHARS +
                  1]; /* that made it (base/compiler_identity.h); "": none was asked */
};

/* The files that a build leaves in its folder. */
#define COMPONENT_TEXT   "component.i"  /* after the preprocessor */
#define COMPONENT_OBJECT "component.so" /* to be loaded */

/*
 * Compiles `code` (component_code.h) in `folder`, which is empty and its own, and looks at what the
 * component includes, keeps and calls: only what keeps the rules of docs/components.md is true.
 * Every machine with components goes through this, whether it is compiled or loaded.
 */
bool component_build(const char *folder, const char *code, struct component_opening *out);

/*
 * Builds in a folder that is gone afterwards. Weak, as components_open(): a program that has not
 * that one does not call this.
 *
 * returns  the components' own text after the preprocessor, to be freed; NULL: `out` says why not
 */
char *component_build_text(const char *code, struct component_opening *out)
    EXPORTED(component_build_text) __attribute__((weak));

/* The text of component.h, which the build makes. */
extern const char component_h[] __asm__("kb_rt_component_h") __attribute__((visibility("default")));

#endif
