/* keys.c -- every key of a machine with its value, for a reader that changes some of them. */
#include "keys.h"
#include "value.h"

static double number_of(const struct spec *spec, enum key k)
{
    const void *at = spec_value(spec, k);

    if (key_rows[k].type == KEY_SLICES && *(const int64_t *)at == SLICES_AS_PES)
        return (double)spec->cube_pes;
    return key_rows[k].type == KEY_INT || key_rows[k].type == KEY_SLICES
               ? (double)*(const int64_t *)at
               : *(const double *)at;
}

void keys_walk(const struct spec *spec, void (*each)(void *arg, const kb_key *key), void *arg)
{
    for (enum key k = 0; k < N_KEYS; k++) {
        const struct key_row *row = &key_rows[k];
        kb_key key = {.path = row->path, .text = value_text(spec, k), .words = row->words};

        switch (row->type) {
        case KEY_INT:
        case KEY_SLICES:
            key.kind = KB_KEY_COUNT;
            break;
        case KEY_REAL:
        case KEY_RATIO:
        case KEY_RATE:
            key.kind = KB_KEY_NUMBER;
            break;
        case KEY_WORD:
            key.kind = KB_KEY_WORD;
            break;
        case KEY_NAME:
        case KEY_REAL2:
        case KEY_INT2:
        case KEY_INT3:
        case KEY_FIELDS:
        case KEY_IMPL:
        case KEY_PLANES:
        case KEY_SIDES:
        case KEY_TEXTS:
        case KEY_HOLES:
        CASES_MAPPING:
            key.kind = KB_KEY_OTHER;
            break;
        }
        if (key.kind == KB_KEY_COUNT || key.kind == KB_KEY_NUMBER) {
            key.value = number_of(spec, k);
            key.least = row->min;
            key.most = row->max;
        }
        each(arg, &key);
    }
}
