/* impl_code.c -- the crash of a component, told as a mistake of its own. */
#include "machine/impl_code.h"
#include "base/guard.h"
#include "machine/endpoint.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "machine/impl.h"

/* The file that is mapped where `address` lies; NULL: none. */
static const void *object_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static uint32_t last_of(const struct kb_topology *t)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < t->n_kinds * N_BOXES; i++)
        last = t->impls->in[i] > last ? t->impls->in[i] : last;
    return last;
}

/* A component may stand in several boxes. */
static bool is_named_before(const struct impl *of, uint32_t i)
{
    for (uint32_t other = 1; other < i; other++)
        if (strcmp(of[other].name, of[i].name) == 0)
            return true;
    return false;
}

bool impl_code_is_of(const struct kb_topology *t, const void *code, char *text, size_t size)
{
    const struct impl *of = t->impls ? t->impls->of : NULL;
    const void *object = of ? object_of((const void *)(uintptr_t)of[1].init) : NULL;
    char names[256] = "";
    uint32_t n = 0;

    if (!object || object == object_of(t) || object != object_of(code))
        return false;
    for (uint32_t i = 1, last = last_of(t); i <= last; i++)
        if (!is_named_before(of, i)) {
            size_t used = strlen(names);

            snprintf(names + used, sizeof names - used, "%s'%s'", n++ ? ", " : "", of[i].name);
        }
    snprintf(text, size, n > 1 ? "one of the components %s" : "component %s", names);
    return true;
}

bool impl_guarded(const struct kb_topology *t, void (*call)(void *arg), void *arg, kb_error *why)
{
    char text[CRASH_BYTES], of[256];
    struct crash crash;

    if (!t->impls) {
        call(arg);
        return true;
    }
    if (guard_call(call, arg, &crash))
        return true;
    crash_text(crash, text);
    if (!impl_code_is_of(t, crash.code, of, sizeof of))
        snprintf(of, sizeof of, "the simulation, or a component of the machine,");
    endpoint_error(why, "%s %s", of, text);
    return false;
}
