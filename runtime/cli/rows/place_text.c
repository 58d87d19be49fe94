/*
 * place_text.c -- names of places as people say them: "c1 > c2" for a link between cubes.
 *
 * Endpoints and `broken` have these short names: "sip1.cube3." is s1.c3., SIP 0 is not named, and
 * of a slice "hbm_ctrl." goes. A link between two cubes has their names alone.
 *
 *     sip0.cube1.noc -> sip0.cube1.ucie-E        c1.noc > c1.ucie-E
 *     sip0.cube1.ucie-E -> sip0.cube2.ucie-W     c1 > c2
 *     sip1.cube0.hbm_ctrl.slice3                 s1.c0.slice3
 */
#include "cli/rows/place_text.h"
#include "base/text.h"
#include <string.h>

static const char arrow[] = " -> ";

/* Skips `word`, if it is next. */
static bool take(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Copies the digits that are next. */
static char *put_digits(char *to, const char **at)
{
    while (**at >= '0' && **at <= '9')
        *to++ = *(*at)++;
    return to;
}

/* One end, up to `end`; of a link between cubes not more than the cube. */
static char *put_end(char *to, const char *at, const char *end, bool is_cube)
{
    bool of_cube = take(&at, "sip0.cube");

    if (!of_cube && take(&at, "sip")) {
        *to++ = 's';
        to = put_digits(to, &at);
        of_cube = take(&at, ".cube");
        to = of_cube ? text_put_text(to, ".") : to;
    }
    if (of_cube) {
        *to++ = 'c';
        to = put_digits(to, &at);
    }
    if (is_cube)
        return to;
    while (at < end) {
        take(&at, "hbm_ctrl.");
        if (at < end)
            *to++ = *at++;
    }
    return to;
}

/* "sip0.cube1.ucie-E": a side of a cube? */
static bool is_side(const char *at, const char *end)
{
    const char *unit = end;

    while (unit > at && unit[-1] != '.')
        unit--;
    return strncmp(unit, "ucie-", 5) == 0 && strncmp(at, "sip", 3) == 0 && strstr(at, ".cube");
}

const char *place_text(const char *name, char text[PLACE_TEXT_BYTES])
{
    const char *link = strstr(name, arrow), *end = name + strlen(name);
    char *to = text;

    if (!link) {
        *put_end(to, name, end, false) = '\0';
        return text;
    }
    const char *other = link + strlen(arrow);
    bool between = is_side(name, link) && is_side(other, end);

    to = text_put_text(put_end(to, name, link, between), " > ");
    *put_end(to, other, end, between) = '\0';
    return text;
}
