/* component_object.h -- what the compiler has made of components: does it keep the rules? */
#ifndef COMPONENT_OBJECT_H
#define COMPONENT_OBJECT_H
#include <stdbool.h>
#include <stddef.h>

enum object_fault {
    OBJECT_OK,
    OBJECT_DATA,    /* name: of data that can be written */
    OBJECT_SECTION, /* name: of a section that is neither code nor constants */
    OBJECT_IFUNC,   /* name: of a function that is chosen when the object is loaded */
    OBJECT_STACK,   /* it needs a stack that can be executed */
    OBJECT_CALL,    /* name: of what is used, and is in no component */
    OBJECT_UNKNOWN  /* it is no such file, or it is broken */
};

enum { OBJECT_NAME_BYTES = 256 };

struct object_judged {
    enum object_fault fault;
    char name[OBJECT_NAME_BYTES];
};

/*
 * Judges an object file as `cc -c` makes it (ELF, 64 bit, of any processor): it may have code,
 * constants, and what describes them.
 */
bool object_has_only_code(const unsigned char *bytes, size_t len, struct object_judged *out);

/*
 * Judges what was linked from it with the compiler's own library: nothing may be missing but
 * memcpy() and the like, which a compiler calls by itself.
 */
bool object_is_whole(const unsigned char *bytes, size_t len, struct object_judged *out);

#endif
