/* culprit.c -- of several keys that do not fit together, the one that is blamed. */
#include "check.h"

bool check_is_given(const struct spec *spec, enum key k)
{
    return spec->given[k][key_depth(k)].at.kind != PLACE_NONE;
}

bool check_is_bad(const struct spec *spec, enum key k)
{
    return spec->given[k][key_depth(k)].bad;
}

enum key culprit(const struct spec *spec, const enum key keys[], size_t n_keys)
{
    enum key worst = keys[0];

    for (size_t i = 0; i < n_keys; i++) {
        if (check_is_bad(spec, keys[i]))
            return N_KEYS;
        if (spec_place(spec, keys[i]).kind == PLACE_SET &&
            spec_place(spec, worst).kind != PLACE_SET)
            worst = keys[i];
        else if (check_is_given(spec, keys[i]) && !check_is_given(spec, worst))
            worst = keys[i];
    }
    return worst;
}
