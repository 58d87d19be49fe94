/* endpoint_text.c -- endpoints as text: "c0.pe3", "host", or many at once, "c*.pe[0-3]".
 *
 * One reader does both: it reads a pattern, and an endpoint is a pattern with one number in each
 * place. A pattern is not expanded into a list: it keeps the text in its brackets, and is asked for
 * each number whether it is among them. So "c[0,3-5].pe0" selects c0.pe0, c3.pe0, c4.pe0 and
 * c5.pe0, always in the order of the machine, and each once.
 *
 * Reading and checking are apart: text that has no such form is "no endpoint", text of the right
 * form may name something that this topology does not have. To say what was probably meant, the
 * text is reduced to its form, "c0.sclice4" to "c#.sclice#", which is compared with the ten forms
 * that exist; the nearest gets its numbers back:
 *
 *     'c0.sclice4' is no endpoint, did you mean 'c0.slice4'?
 *     c0.pe9: a cube has PEs 0..7
 */
#include "base/text.h"
#include "machine/tables.h"
#include "machine/endpoint.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 64 };

/* The text that is left to read. */
struct cursor {
    const char *at, *end;
    bool pattern;    /* a number may be * or a list */
    bool descending; /* found: a range that goes down */
};

/* Consumes `word` if it is next. */
static bool take(struct cursor *c, const char *word)
{
    const char *p = c->at;

    while (*word && p < c->end && *p == *word) {
        p++;
        word++;
    }
    if (*word)
        return false;
    c->at = p;
    return true;
}

/* A number without leading zeros; one too large for any index reads as UINT32_MAX. */
static bool take_index(struct cursor *c, uint32_t *out)
{
    const char *first = c->at;
    uint64_t value = 0;

    for (; c->at < c->end && (unsigned)(*c->at - '0') < 10; c->at++)
        if (value < UINT32_MAX)
            value = value * 10 + (uint64_t)(*c->at - '0');
    *out = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return c->at > first && (*first != '0' || c->at == first + 1);
}

/* The numbers in one place of a pattern. All zero is 0 alone. */
struct numbers {
    uint32_t first, last; /* all of them lie between these */
    bool all;             /* * */
    struct cursor list;   /* the text in brackets; at is NULL without */
};

/* "3" or "3-5" in brackets. */
static bool take_range(struct cursor *c, uint32_t *first, uint32_t *last)
{
    if (!take_index(c, first))
        return false;
    *last = *first;
    if (take(c, "-") && !take_index(c, last))
        return false;
    c->descending = c->descending || *last < *first;
    return true;
}

/* Behind '[': ranges with commas between them, and ']'. */
static bool take_list(struct cursor *c, struct numbers *out)
{
    uint32_t first, last;

    *out = (struct numbers){.first = UINT32_MAX, .list.at = c->at};
    do {
        if (!take_range(c, &first, &last))
            return false;
        out->first = first < out->first ? first : out->first;
        out->last = last > out->last ? last : out->last;
        out->list.end = c->at;
    } while (take(c, ","));
    return take(c, "]");
}

static bool take_numbers(struct cursor *c, struct numbers *out)
{
    if (c->pattern && take(c, "*")) {
        *out = (struct numbers){.all = true};
        return true;
    }
    if (c->pattern && take(c, "["))
        return take_list(c, out);
    bool taken = take_index(c, &out->first);
    out->last = out->first;
    return taken;
}

/* Whether `i` is one of `numbers`. */
static bool is_among(uint32_t i, const struct numbers *numbers)
{
    struct cursor c = numbers->list;
    uint32_t first = numbers->first, last = numbers->last;

    if (numbers->all)
        return true;
    while (c.at < c.end) {
        take_range(&c, &first, &last);
        if (first <= i && i <= last)
            return true;
        take(&c, ",");
    }
    return !numbers->list.at && i == first;
}

/* Endpoints of one kind; one endpoint has one number in each place. */
struct pattern {
    kb_endpoint_kind kind;
    struct numbers sip, cube, unit;
};

/* Reads the part behind "c0.". */
static bool take_unit(struct cursor *c, struct pattern *p)
{
    if (take(c, "sram")) {
        p->kind = KB_SRAM;
        return true;
    }
    if (take(c, "slice")) {
        p->kind = KB_SLICE;
        return take_numbers(c, &p->unit);
    }
    if (!take(c, "pe") || !take_numbers(c, &p->unit))
        return false;
    p->kind = take(c, ".tcm") ? KB_TCM : KB_PE;
    return true;
}

/* Reads the form, whatever the topology has. "slice" and "sram" are no SIPs, as no digit follows.
 */
static bool read_pattern(struct cursor *c, struct pattern *p)
{
    *p = (struct pattern){0};
    if (take(c, "s") && !(take_numbers(c, &p->sip) && take(c, ".")))
        return false;
    if (take(c, "host")) {
        p->kind = KB_HOST;
        return c->at == c->end || (take_numbers(c, &p->unit) && c->at == c->end);
    }
    return take(c, "c") && take_numbers(c, &p->cube) && take(c, ".") && take_unit(c, p) &&
           c->at == c->end;
}

enum { FORM_INDICES = 3 };

/*
 * The text of `c` in lower case with '#' for each number, and the numbers as they are written.
 * False if it is too long or has too many numbers to be an endpoint at all.
 */
static bool skeleton(struct cursor c, char form[SHOWN_BYTES], struct cursor index[FORM_INDICES])
{
    size_t n_index = 0, n = 0;

    while (c.at < c.end && n + 1 < SHOWN_BYTES) {
        struct cursor number = c;
        struct numbers value;
        bool whole = take_numbers(&number, &value);

        if (number.at == c.at || (!whole && (unsigned)(*c.at - '0') >= 10)) {
            char letter = *c.at++;

            form[n++] = (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
            continue;
        }
        if (n_index == FORM_INDICES)
            return false;
        while (!whole && c.at + 1 < number.at && *c.at == '0')
            c.at++;
        index[n_index++] = (struct cursor){.at = c.at, .end = number.at};
        c.at = number.at;
        form[n++] = '#';
    }
    form[n] = '\0';
    return c.at == c.end;
}

/* Writes `form` with numbers for its '#' to `text`, 0 where there are none. False: no room. */
static bool fill_form(const char *form, const struct cursor *index, char text[SHOWN_BYTES])
{
    static const char zero[] = "0";
    size_t n = 0;

    for (; *form; form++) {
        const char *from = form;
        size_t len = 1;

        if (*form == '#') {
            from = index->at ? index->at : zero;
            len = index->at ? (size_t)(index->end - index->at) : 1;
            index++;
        }
        if (n + len >= SHOWN_BYTES)
            return false;
        memcpy(text + n, from, len);
        n += len;
    }
    text[n] = '\0';
    return true;
}

/* The message about a text that is no endpoint; it suggests c0.slice4 for c0.sclice4. */
static kb_status unknown_endpoint(struct cursor c, kb_error *why)
{
    static const char *const forms[] = {"host",       "s#.host",      "c#.pe#",    "c#.slice#",
                                        "c#.sram",    "c#.pe#.tcm",   "s#.c#.pe#", "s#.c#.slice#",
                                        "s#.c#.sram", "s#.c#.pe#.tcm"};
    char shown[SHOWN_BYTES], form[SHOWN_BYTES], meant[SHOWN_BYTES];
    struct cursor index[FORM_INDICES] = {{0}};
    const char *near = NULL;

    if (!why)
        return KB_BAD_REQUEST;
    text_show(c.at, (size_t)(c.end - c.at), shown, sizeof shown);
    if (skeleton(c, form, index))
        near = text_nearest(form, strlen(form), forms, sizeof forms / sizeof *forms);
    if (near && fill_form(near, index, meant))
        snprintf(why->text, sizeof why->text, "'%s' is no endpoint, did you mean '%s'?", shown,
                 meant);
    else
        snprintf(why->text, sizeof why->text,
                 "'%s' is no endpoint: host, c0.pe0, c0.slice0, c0.sram or c0.pe0.tcm, "
                 "with s1. before it on SIP 1",
                 shown);
    return KB_BAD_REQUEST;
}

/* How many units of that kind a cube has, or hosts a SIP; 1: no number says which. */
static uint32_t units_of(const struct kb_topology *t, kb_endpoint_kind kind)
{
    return kind == KB_SRAM    ? 1
           : kind == KB_HOST  ? t->chiplets
           : kind == KB_SLICE ? t->slices
                              : t->pes;
}

/* False, and a message, if one of `numbers` is too large: `owner` has `n` things. */
static bool within(const struct numbers *numbers, uint32_t n, const char *shown, const char *owner,
                   const char *thing, kb_error *why)
{
    if (numbers->last < n)
        return true;
    if (n == 0)
        snprintf(why->text, sizeof why->text, "%s: %s has no %ss", shown, owner, thing);
    else if (n == 1)
        snprintf(why->text, sizeof why->text, "%s: %s has only %s 0", shown, owner, thing);
    else
        snprintf(why->text, sizeof why->text, "%s: %s has %ss 0..%u", shown, owner, thing, n - 1);
    return false;
}

static const char *const unit_names[] = {
    [KB_PE] = "PE", [KB_HOST] = "host", [KB_SLICE] = "slice", [KB_SRAM] = "", [KB_TCM] = "PE"};

/* The message about an endpoint that the topology does not have. */
static kb_status outside(const struct kb_topology *t, struct cursor c, const struct pattern *p,
                         kb_error *why)
{
    char shown[SHOWN_BYTES];

    if (!why)
        return KB_BAD_REQUEST;
    text_show(c.at, (size_t)(c.end - c.at), shown, sizeof shown);
    if (c.descending)
        snprintf(why->text, sizeof why->text, "%s: a range goes upwards, as in [0-3]", shown);
    else if (within(&p->sip, t->sips, shown, "the topology", "SIP", why) &&
             within(&p->cube, t->cubes, shown, "a SIP", "cube", why))
        within(&p->unit, units_of(t, p->kind), shown, p->kind == KB_HOST ? "a SIP" : "a cube",
               unit_names[p->kind], why);
    return KB_BAD_REQUEST;
}

/* Whether the machine has this endpoint; its numbers are within the bounds of all. */
static bool is_there(const struct kb_topology *t, const kb_endpoint *end)
{
    uint32_t packed;

    if (t->alike && t->n_kinds == 1)
        return true;
    return endpoint_pack(t, end, &packed, NULL);
}

/* Reads all of `c`, and checks that the topology has it. */
static kb_status read_within(struct cursor c, const struct kb_topology *t, struct pattern *p,
                             kb_error *why)
{
    const char *text = c.at;
    bool known = read_pattern(&c, p);

    c.at = text;
    if (!known)
        return unknown_endpoint(c, why);
    if (c.descending || p->sip.last >= t->sips || p->cube.last >= t->cubes ||
        p->unit.last >= units_of(t, p->kind))
        return outside(t, c, p, why);
    return KB_OK;
}

static bool are_many(const struct numbers *n)
{
    return n->all || n->last > n->first;
}

/* Nothing of a pattern is there: why its first endpoint is not. */
static kb_status none_there(const struct kb_topology *t, const struct pattern *p,
                            const char *pattern, size_t len, kb_error *why)
{
    kb_endpoint first = {p->kind, p->sip.first, p->cube.first, p->unit.first};
    bool many = are_many(&p->sip) || are_many(&p->cube) || are_many(&p->unit);
    char shown[SHOWN_BYTES];
    kb_error of_first = {""};
    uint32_t packed;

    endpoint_pack(t, &first, &packed, &of_first);
    if (!many)
        return endpoint_error(why, "%s", of_first.text);
    text_show(pattern, len, shown, sizeof shown);
    return endpoint_error(why, "%s: nothing of it is there, the first: %s", shown, of_first.text);
}

kb_status kb_endpoint_parse(const kb_topology *topo, const char *text, size_t len, kb_endpoint *out,
                            kb_error *why)
{
    REFUSE_NULL(topo && text && out, "topo, text, out", why);
    struct cursor c = {.at = text, .end = text + len};
    struct pattern p;
    kb_status status = read_within(c, topo, &p, why);

    if (status != KB_OK)
        return status;
    kb_endpoint end = {p.kind, p.sip.first, p.cube.first, p.unit.first};
    uint32_t packed;
    if (!endpoint_pack(topo, &end, &packed, why))
        return KB_BAD_REQUEST;
    *out = end;
    return KB_OK;
}

kb_status kb_endpoint_select(const kb_topology *topo, const char *pattern, size_t len,
                             void (*each)(void *arg, const kb_endpoint *end), void *arg,
                             kb_error *why)
{
    REFUSE_NULL(topo && pattern && each, "topo, pattern, each", why);
    struct cursor c = {.at = pattern, .end = pattern + len, .pattern = true};
    struct pattern p;
    kb_status status = read_within(c, topo, &p, why);

    if (status)
        return status;
    uint32_t units = units_of(topo, p.kind);
    bool any = false;
    for (uint32_t sip = 0; sip < topo->sips; sip++)
        for (uint32_t cube = 0; cube < topo->cubes && is_among(sip, &p.sip); cube++)
            for (uint32_t unit = 0; unit < units && is_among(cube, &p.cube); unit++)
                if (is_among(unit, &p.unit)) {
                    kb_endpoint end = {p.kind, sip, cube, unit};

                    if (!is_there(topo, &end))
                        continue;
                    each(arg, &end);
                    any = true;
                }
    if (!any)
        return none_there(topo, &p, pattern, len, why);
    return KB_OK;
}

size_t kb_endpoint_name(const kb_endpoint *end, char text[KB_ENDPOINT_BYTES])
{
    char *p = text;

    if (end->sip > 0) {
        *p++ = 's';
        p = text_put_count(p, end->sip);
        *p++ = '.';
    }
    if (end->kind == KB_HOST) {
        p = text_put_text(p, "host");
        if (end->unit > 0)
            p = text_put_count(p, end->unit);
    } else {
        *p++ = 'c';
        p = text_put_count(p, end->cube);
        p = text_put_text(p, end->kind == KB_SRAM    ? ".sram"
                             : end->kind == KB_SLICE ? ".slice"
                                                     : ".pe");
        if (end->kind != KB_SRAM)
            p = text_put_count(p, end->unit);
        if (end->kind == KB_TCM)
            p = text_put_text(p, ".tcm");
    }
    *p = '\0';
    return (size_t)(p - text);
}
