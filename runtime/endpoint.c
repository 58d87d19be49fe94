/* endpoint.c -- endpoints as people write them: "c0.pe3", "s1.c2.slice4", "host". */
#include "kernbench.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 64 };

/* What is left to read. */
struct cursor {
    const char *at, *end;
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

/* What follows "c0.". */
static bool take_unit(struct cursor *c, kb_endpoint *end)
{
    if (take(c, "sram")) {
        end->kind = KB_SRAM;
        return true;
    }
    if (take(c, "slice")) {
        end->kind = KB_SLICE;
        return take_index(c, &end->unit);
    }
    if (!take(c, "pe") || !take_index(c, &end->unit))
        return false;
    end->kind = take(c, ".tcm") ? KB_TCM : KB_PE;
    return true;
}

/* The form alone, whatever the topology has. "slice" and "sram" cannot be SIPs: no digit. */
static bool read_endpoint(const char *text, size_t len, kb_endpoint *end)
{
    struct cursor c = {text, text + len};

    *end = (kb_endpoint){0};
    if (take(&c, "s") && !(take_index(&c, &end->sip) && take(&c, ".")))
        return false;
    if (take(&c, "host")) {
        end->kind = KB_HOST;
        return c.at == c.end;
    }
    return take(&c, "c") && take_index(&c, &end->cube) && take(&c, ".") && take_unit(&c, end) &&
           c.at == c.end;
}

enum { FORM_INDICES = 3 };

/*
 * What `text` would be with its numbers as '#' and in lower case, and these numbers. False if
 * it is too long or has too many of them to be an endpoint at all.
 */
static bool skeleton(const char *text, size_t len, char form[SHOWN_BYTES],
                     uint32_t index[FORM_INDICES])
{
    struct cursor c = {text, text + len};
    size_t n_index = 0, n = 0;

    while (c.at < c.end && n + 1 < SHOWN_BYTES) {
        if ((unsigned)(*c.at - '0') >= 10) {
            char letter = *c.at++;

            form[n++] = (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
            continue;
        }
        if (n_index == FORM_INDICES)
            return false;
        take_index(&c, &index[n_index++]);
        form[n++] = '#';
    }
    form[n] = '\0';
    return c.at == c.end;
}

/* `form` with numbers in the places of its '#', into `text`. */
static void fill_form(const char *form, const uint32_t *index, char *text)
{
    for (; *form; form++)
        if (*form == '#')
            text = text_put_count(text, *index++);
        else
            *text++ = *form;
    *text = '\0';
}

/* "c0.sclice4" was probably meant to be "c0.slice4". */
static kb_status unknown_endpoint(const char *text, size_t len, kb_error *why)
{
    static const char *const forms[] = {"host",       "s#.host",      "c#.pe#",    "c#.slice#",
                                        "c#.sram",    "c#.pe#.tcm",   "s#.c#.pe#", "s#.c#.slice#",
                                        "s#.c#.sram", "s#.c#.pe#.tcm"};
    char shown[SHOWN_BYTES], form[SHOWN_BYTES], meant[KB_ENDPOINT_BYTES];
    uint32_t index[FORM_INDICES] = {0};
    const char *near = NULL;

    if (!why)
        return KB_BAD_REQUEST;
    text_show(text, len, shown, sizeof shown);
    if (skeleton(text, len, form, index))
        near = text_nearest(form, strlen(form), forms, sizeof forms / sizeof *forms);
    if (near) {
        fill_form(near, index, meant);
        snprintf(why->text, sizeof why->text, "'%s' is no endpoint, did you mean '%s'?", shown,
                 meant);
    } else {
        snprintf(why->text, sizeof why->text,
                 "'%s' is no endpoint: host, c0.pe0, c0.slice0, c0.sram or c0.pe0.tcm, "
                 "with s1. before it on SIP 1",
                 shown);
    }
    return KB_BAD_REQUEST;
}

/* False, and the reason, if `index` is none of the `n` things that `owner` has. */
static bool within(uint32_t index, uint32_t n, const char *shown, const char *owner,
                   const char *thing, kb_error *why)
{
    if (index < n)
        return true;
    if (n == 1)
        snprintf(why->text, sizeof why->text, "%s: %s has only %s 0", shown, owner, thing);
    else
        snprintf(why->text, sizeof why->text, "%s: %s has %ss 0..%u", shown, owner, thing, n - 1);
    return false;
}

static const char *const unit_names[] = {
    [KB_PE] = "PE", [KB_HOST] = "", [KB_SLICE] = "slice", [KB_SRAM] = "", [KB_TCM] = "PE"};

/* Which of its numbers the topology does not have. */
static kb_status outside(const kb_info *info, const kb_endpoint *end, const char *text, size_t len,
                         kb_error *why)
{
    char shown[SHOWN_BYTES];

    if (!why)
        return KB_BAD_REQUEST;
    text_show(text, len, shown, sizeof shown);
    if (within(end->sip, info->sips, shown, "the topology", "SIP", why) &&
        within(end->cube, info->cubes_per_sip, shown, "a SIP", "cube", why))
        within(end->unit, info->pes_per_cube, shown, "a cube", unit_names[end->kind], why);
    return KB_BAD_REQUEST;
}

kb_status kb_endpoint_parse(const kb_topology *topo, const char *text, size_t len, kb_endpoint *out,
                            kb_error *why)
{
    kb_endpoint end;
    kb_info info;

    if (!read_endpoint(text, len, &end))
        return unknown_endpoint(text, len, why);
    kb_topology_info(topo, &info);
    if (end.sip >= info.sips || end.cube >= info.cubes_per_sip || end.unit >= info.pes_per_cube)
        return outside(&info, &end, text, len, why);
    *out = end;
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
