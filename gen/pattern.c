/* pattern.c -- cubes and PEs as the keys of a topology name them: c3, s1.c*, c[4-7], c1.pe[0,2-3],
 * and the switches between SIPs: sw3, sw[0-8].
 *
 * The grammar is that of endpoints on the command line (runtime/machine/endpoint_text.c), up to the
 * PE: without "s1." SIP 0 is meant, and "s*." means all SIPs. A pattern is not expanded: it keeps
 * its text, and is asked for each cube whether that is among those it names. Whether anything
 * matches is for the caller to see.
 */
#include "pattern.h"
#include <string.h>

enum { SIPS_MOST = 256 };

/* A number without leading zeros. */
static bool take_number(const char **at, uint32_t *out)
{
    const char *p = *at;
    uint64_t value = 0;

    for (; (unsigned)(*p - '0') < 10 && value < UINT32_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == *at || value >= UINT32_MAX || (**at == '0' && p > *at + 1))
        return false;
    *at = p;
    *out = (uint32_t)value;
    return true;
}

/* "3" or "3-5", which goes upwards. */
static bool take_range(const char **at, uint32_t *first, uint32_t *last)
{
    if (!take_number(at, first))
        return false;
    *last = *first;
    if (**at != '-')
        return true;
    ++*at;
    return take_number(at, last) && *first <= *last;
}

static bool take_list(const char **at)
{
    uint32_t first, last;

    while (take_range(at, &first, &last)) {
        char end = *(*at)++;

        if (end == ']')
            return true;
        if (end != ',')
            return false;
    }
    return false;
}

/* `letters`, and behind them *, a list, or a number. */
static bool take_numbers(const char **at, const char *letters, struct pattern_numbers *out)
{
    size_t len = strlen(letters);

    if (strncmp(*at, letters, len) != 0)
        return false;
    *at += len;
    *out = (struct pattern_numbers){.all = **at == '*'};
    if (out->all) {
        ++*at;
        return true;
    }
    if (**at != '[')
        return take_number(at, &out->one);
    out->list = ++*at;
    return take_list(at);
}

bool pattern_of_text(const char *text, size_t len, struct arena *a, struct pattern *out)
{
    const char *at = arena_copy(a, text, len);
    struct pattern p = {.of_pes = false};

    if (strlen(at) != len)
        return false;
    p.of_switches = at[0] == 's' && at[1] == 'w';
    if (p.of_switches) {
        if (!take_numbers(&at, "sw", &p.cube) || *at)
            return false;
        *out = p;
        return true;
    }
    if (*at == 's' && !(take_numbers(&at, "s", &p.sip) && *at++ == '.'))
        return false;
    if (!take_numbers(&at, "c", &p.cube))
        return false;
    p.of_pes = *at == '.';
    if (p.of_pes && !(at++, take_numbers(&at, "pe", &p.pe)))
        return false;
    if (*at)
        return false;
    *out = p;
    return true;
}

static bool is_among(const struct pattern_numbers *numbers, uint32_t i)
{
    const char *at = numbers->list;
    uint32_t first = numbers->one, last = first;

    if (numbers->all || !at)
        return numbers->all || i == first;
    do {
        take_range(&at, &first, &last);
        if (first <= i && i <= last)
            return true;
    } while (*at++ == ',');
    return false;
}

bool pattern_has_cube(const struct pattern *p, const struct pattern_room *room, uint32_t cube)
{
    uint32_t of_sips = room->sips * room->cubes;

    if (cube >= of_sips || p->of_switches)
        return cube >= of_sips && p->of_switches && is_among(&p->cube, cube - of_sips);
    return is_among(&p->sip, cube / room->cubes) && is_among(&p->cube, cube % room->cubes);
}

/* The first `n` numbers that are named, in their order, into out[found..]; `found` and how many, or
 * UINT32_MAX. */
static uint32_t list_numbers(const struct pattern_numbers *numbers, uint32_t n, uint32_t *out,
                             uint32_t found, uint32_t most)
{
    const char *at = numbers->list;
    uint32_t first = numbers->all ? 0 : numbers->one, last = numbers->all ? n - 1 : first;

    do {
        if (at)
            take_range(&at, &first, &last);
        for (uint32_t i = first; n && i <= last; i++) {
            if (i >= n || found == most)
                return UINT32_MAX;
            out[found++] = i;
        }
    } while (at && *at++ == ',');
    return n ? found : UINT32_MAX;
}

uint32_t pattern_cubes(const struct pattern *p, const struct pattern_room *room, uint32_t *out,
                       uint32_t most)
{
    uint32_t sips[SIPS_MOST], n_sips, before = 0, found = 0;

    if (p->of_switches) {
        found = list_numbers(&p->cube, room->switches, out, 0, most);
        for (uint32_t i = 0; found != UINT32_MAX && i < found; i++)
            out[i] += room->sips * room->cubes;
        return found;
    }
    n_sips = list_numbers(&p->sip, room->sips, sips, 0, SIPS_MOST);
    if (n_sips == UINT32_MAX)
        return UINT32_MAX;
    for (uint32_t i = 0; i < n_sips; i++) {
        found = list_numbers(&p->cube, room->cubes, out, found, most);
        if (found == UINT32_MAX)
            return UINT32_MAX;
        for (; before < found; before++)
            out[before] += sips[i] * room->cubes;
    }
    return found;
}

struct pe_set pattern_pes(const struct pattern *p, uint32_t n)
{
    struct pe_set pes = {{0}};

    for (uint32_t pe = 0; pe < n; pe++)
        if (is_among(&p->pe, pe))
            pes.words[pe / 64] |= UINT64_C(1) << pe % 64;
    return pes;
}
