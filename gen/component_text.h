/* component_text.h -- components after the preprocessor: what they include, and their own text. */
#ifndef COMPONENT_TEXT_H
#define COMPONENT_TEXT_H
#include <stdbool.h>
#include <stddef.h>

/* What the code of component_code.h calls its parts: names of files for #line. */
#define COMPONENTS_BEGIN "components"
#define COMPONENTS_END   "calls of all components"

struct component_text {
    const char *begin; /* in the text that was read: the components and their calls */
    size_t len;
    const char
        *place; /* "FILE", of `place_len` bytes, in which a mistake is; NULL: there is none */
    size_t place_len, line;
    const char *what; /* a file that is included, or a line that is no C; of `what_len` bytes */
    size_t what_len;
};

/*
 * Reads what `cc -E` has made of component_code(), up to its final 0. False if a component includes
 * another file than those that stand before it, or has a pragma.
 */
bool component_text_read(const char *text, struct component_text *out);

#endif
