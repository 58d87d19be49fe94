/* parts.c -- which components stand for the boxes of a cube, by its keys. */
#include "parts.h"
#include "value.h"
#include <string.h>

const struct part *part_of_key(const struct spec *spec, enum key k)
{
    const char *name = ((const struct impl_spec *)spec_value(spec, k))->name;
    const struct part *p = name ? spec->parts : NULL;

    while (p && (p->key != k || strcmp(p->component->name, name) != 0))
        p = p->next;
    return p;
}

void parts_of_boxes(const struct spec *spec, uint16_t numbers[N_BOXES])
{
    uint16_t n = 0;

    memset(numbers, 0, N_BOXES * sizeof *numbers);
    for (const struct part *p = spec->parts; p; p = p->next) {
        n++;
        if (part_of_key(spec, p->key) == p)
            numbers[p->box] = n;
    }
}

const char *part_values_text(struct arena *a, const struct part *p)
{
    const struct component *c = p->component;
    const char *text = "";

    for (size_t i = 0; i < c->n_keys; i++) {
        const char *value = c->keys[i].integer ? arena_printf(a, "%lld", (long long)p->values[i])
                                               : value_real_text(a, p->values[i]);

        text = arena_printf(a, "%s%s%s: %s", text, i ? ", " : "", c->keys[i].name, value);
    }
    return arena_printf(a, "{%s}", text);
}
