/*
 * endpoint_names.c -- the names of endpoints, each made once and kept.
 *
 * A million rows have few different endpoints. To look a name up is quicker than to make it, and a
 * name that stays at its place is known again by its address (FIELD_NAME of cell.h).
 */
#include "cli/rows/endpoint_names.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 256 };

struct endpoint_name {
    kb_endpoint end;
    char *text; /* owned; NULL: the slot is free */
};

static size_t hash(const kb_endpoint *end)
{
    uint64_t h = (uint64_t)end->cube << 32 | (uint64_t)end->unit << 3 | (uint64_t)end->kind;

    h = (h ^ (uint64_t)end->sip << 48) * 0x9e3779b97f4a7c15;
    return (size_t)(h >> 32);
}

/* Four numbers of 32 bits. */
static bool is_same(const kb_endpoint *a, const kb_endpoint *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The slot of `end`, or a free one for it. */
static struct endpoint_name *slot_of(const struct endpoint_names *names, const kb_endpoint *end)
{
    size_t mask = names->n_slots - 1, at = hash(end) & mask;

    while (names->slots[at].text && !is_same(&names->slots[at].end, end))
        at = (at + 1) & mask;
    return &names->slots[at];
}

static void grow(struct endpoint_names *names)
{
    struct endpoint_names old = *names;

    names->n_slots = old.n_slots ? 4 * old.n_slots : SLOTS_FIRST;
    names->slots = memory_new(names->n_slots, sizeof *names->slots);
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i].text)
            *slot_of(names, &old.slots[i].end) = old.slots[i];
    free(old.slots);
}

const char *endpoint_names_find(struct endpoint_names *names, const kb_endpoint *end)
{
    if (2 * names->n >= names->n_slots)
        grow(names);
    struct endpoint_name *slot = slot_of(names, end);
    if (!slot->text) {
        char name[KB_ENDPOINT_BYTES];

        kb_endpoint_name(end, name);
        *slot = (struct endpoint_name){.end = *end, .text = memory_text(name)};
        names->n++;
    }
    return slot->text;
}

void endpoint_names_free(struct endpoint_names *names)
{
    for (size_t i = 0; i < names->n_slots; i++)
        free(names->slots[i].text);
    free(names->slots);
    *names = (struct endpoint_names){0};
}
