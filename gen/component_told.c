/* component_told.c -- why components are refused, and the text of those that are not. */
#include "component_told.h"
#include "component_code.h"
#include <stdlib.h>
#include <string.h>

/* The components' own text, of a build that went well; NULL: `out` says why not. */
static const char *build(const struct spec *spec, struct component_opening *out)
{
    char *text = component_build_text(component_code(spec), out);
    const char *kept = text ? arena_copy(spec->arena, text, strlen(text)) : NULL;

    free(text);
    return kept;
}

/* -- why -------------------------------------------------------------------------------------- */

/* The part whose file a compiler's messages name, or else the first. */
static const struct part *part_named(const struct part *first, const char *said)
{
    for (const struct part *p = first; p; p = p->next)
        if (strstr(said, p->component->path))
            return p;
    return first;
}

/* Has a component done what it must not? */
static bool is_fault(const struct component_opening *o)
{
    return o->what != OPEN_OK && o->what != OPEN_NO_COMPILER && o->what != OPEN_SYSTEM;
}

/* The first that is refused by itself, and `alone` says why; NULL: only together they are. */
static const struct part *refused_alone(const struct spec *spec, struct component_opening *alone)
{
    for (const struct part *p = spec->parts; p; p = p->next) {
        struct part part = *p;
        struct spec one = *spec;

        part.next = NULL;
        one.parts = &part;
        if (!build(&one, alone) && is_fault(alone))
            return p;
    }
    return NULL;
}

/* What the compiler said, as it is. */
static void tell_lines(const struct spec *spec, const char *text)
{
    while (*text && spec->diag->say) {
        size_t len = strcspn(text, "\n");

        spec->diag->say(spec->diag->to, arena_copy(spec->arena, text, len));
        text += len + (text[len] == '\n');
    }
}

/* What a component has done; with %s, what it was done with. */
static const char *const faults[] = {
    [OPEN_NOT_COMPILED] = "this component does not compile, see above",
    [OPEN_READS] = "a component includes nothing but component.h, <stdint.h>, <stdbool.h> and "
                   "<stddef.h>, and has no pragma",
    [OPEN_DATA] = "is data that can be written: a component keeps its state in struct",
    [OPEN_CALL] = "a component uses its state, the request, the time and its keys, nothing else",
    [OPEN_SECTION] = "a component has functions and constants, which do nothing by themselves",
    [OPEN_IFUNC] = "is chosen when the program is loaded: a component is the same in each run",
    [OPEN_STACK] = "it needs a stack that can be executed: a function inside a function is not "
                   "given to others by its address",
};

static const char *fault_text(struct arena *a, const struct component_opening *o, const char *name)
{
    switch (o->what) {
    case OPEN_READS:
        return arena_printf(a, "%s: %s", o->said, faults[o->what]);
    case OPEN_DATA:
        return arena_printf(a, "'%s' %s %s", o->said, faults[o->what], name);
    case OPEN_CALL:
        return arena_printf(a, "it calls '%s': %s", o->said, faults[o->what]);
    case OPEN_SECTION:
        return arena_printf(a, "it has a section '%s': %s", o->said, faults[o->what]);
    case OPEN_IFUNC:
        return arena_printf(a, "'%s' %s", o->said, faults[o->what]);
    case OPEN_OK:
    case OPEN_NO_COMPILER:
    case OPEN_NOT_COMPILED:
    case OPEN_STACK:
    case OPEN_SYSTEM:
        break;
    }
    return faults[o->what];
}

/* It is the machine that asks for it, and the system that cannot. */
static void tell_system(const struct spec *spec, const struct component_opening *o)
{
    const struct part *p = spec->parts;
    const char *key = key_rows[p->key].path, *name = p->component->name;

    if (o->what == OPEN_NO_COMPILER)
        diag_error(spec->diag, spec_place(spec, p->key),
                   "'%s: %s' is a component, which a compiler builds, and '%s' cannot be run: CC "
                   "names another",
                   key, name, o->said);
    else
        diag_error(spec->diag, spec_place(spec, p->key),
                   "'%s: %s' is a component, which cannot be built: %s", key, name, o->said);
}

void component_tell(const struct spec *spec, const struct component_opening *o)
{
    struct component_opening *alone = arena_alloc(spec->arena, sizeof *alone);
    const struct part *p;

    if (!is_fault(o)) {
        tell_system(spec, o);
    } else {
        p = spec->parts->next ? refused_alone(spec, alone) : NULL;
        o = p ? alone : o;
        p = p ? p : part_named(spec->parts, o->said);
        if (o->what == OPEN_NOT_COMPILED)
            tell_lines(spec, o->said);
        diag_error(spec->diag, spec_place(spec, p->key), "%s: %s; %s asks for it",
                   p->component->path, fault_text(spec->arena, o, p->component->name),
                   key_rows[p->key].path);
    }
    spec->diag->code = EXIT_INPUT;
}

const char *component_checked_text(const struct spec *spec)
{
    struct component_opening *o = arena_alloc(spec->arena, sizeof *o);
    const char *text = spec->parts ? build(spec, o) : "";

    if (!text)
        component_tell(spec, o);
    return text;
}
