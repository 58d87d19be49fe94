/*
 * in_lists.c -- lists of numbers as options take them: "1,2,4", "1:16", "64:1M:x2", "0.1:1.0:0.1".
 *
 * Rates are kept in millionths and added as integers: 0.1:0.3:0.1 has exactly three values, and the
 * last one is 0.3 and not 0.30000000000000004. list_rate() makes the double that a compiler makes
 * of the decimal. Steps are checked for overflow before they are taken, so a range up to 2^64 - 1
 * ends.
 *
 * Three forms of an item, and their values:
 *
 *     1:16:5      1, 6, 11, 16      the end belongs to the list if a step reaches it
 *     64:1M:x4    64, 256, ... 1M   each is the one before times 4: 8 values
 *     0.1:1.0     a mistake         "needs a step", since with a step of 1 it would be 0.1 alone
 *
 * A list has at most 4000000 numbers. They stay in the order written, duplicates included, because
 * a sweep prints its rows in that order.
 */
#include "cli/in/in_lists.h"
#include "cli/out/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 48, PARTS_MAX = 3 };

struct piece {
    const char *at;
    size_t len;
};

/* The reading of one list. */
struct reading {
    struct list *list;
    enum list_kind kind;
    size_t room;
    char *why;
};

/* "'ITEM' TEXT". Always false. */
static bool bad(const struct reading *r, struct piece item, const char *text)
{
    char shown[SHOWN_BYTES];

    text_show(item.at, item.len, shown, sizeof shown);
    snprintf(r->why, LIST_WHY_BYTES, "'%s' %s", shown, text);
    return false;
}

/* As fs are millionths of a ns. ".5" is 0.5. */
static bool read_rate(struct piece item, int64_t *out)
{
    char whole[SHOWN_BYTES] = "0";

    if (item.len < 2 || item.at[0] != '.' || item.len >= sizeof whole)
        return text_read_ns(item.at, item.len, out);
    memcpy(whole + 1, item.at, item.len);
    return text_read_ns(whole, item.len + 1, out);
}

static bool read_number(const struct reading *r, struct piece item, uint64_t *out)
{
    static const char *const expected[] = {
        [LIST_COUNTS] = "is not a number above 0",
        [LIST_SIZES] = "is not a size above 0: digits, then K, M or G if wanted",
        [LIST_RATES] = "is not a number above 0 with at most six decimals"};
    int64_t millionths = 0;
    bool read = r->kind == LIST_COUNTS  ? text_read_count(item.at, item.len, out)
                : r->kind == LIST_SIZES ? text_read_size(item.at, item.len, out)
                                        : read_rate(item, &millionths);

    if (r->kind == LIST_RATES)
        *out = (uint64_t)millionths;
    return read && *out > 0 ? true : bad(r, item, expected[r->kind]);
}

static bool add(struct reading *r, uint64_t value)
{
    struct list *list = r->list;

    if (list->n == LIST_MAX) {
        snprintf(r->why, LIST_WHY_BYTES, "more than %d numbers", LIST_MAX);
        return false;
    }
    list->value = memory_room(list->value, list->n, &r->room, sizeof *list->value);
    list->value[list->n++] = value;
    return true;
}

/* first, first + step, ... up to last. */
static bool add_steps(struct reading *r, uint64_t first, uint64_t last, uint64_t step)
{
    for (uint64_t value = first;; value += step) {
        if (!add(r, value))
            return false;
        if (step > last - value)
            return true;
    }
}

/* first, first * factor, ... up to last. */
static bool add_powers(struct reading *r, uint64_t first, uint64_t last, uint64_t factor)
{
    for (uint64_t value = first;; value *= factor) {
        if (!add(r, value))
            return false;
        if (value > last / factor)
            return true;
    }
}

/* "x2" */
static bool read_factor(const struct reading *r, struct piece item, uint64_t *out)
{
    if (text_read_count(item.at + 1, item.len - 1, out) && *out >= 2)
        return true;
    return bad(r, item, "is not a factor: x2 or more");
}

/* "'0.1:1.0' needs a step, as in 0.1:1.0:0.1": one that fits at least twice. Always false. */
static bool no_step(const struct reading *r, struct piece item, uint64_t first, uint64_t last)
{
    char shown[SHOWN_BYTES];
    uint64_t step = 1;
    int decimals = 6;

    for (; step <= (last - first) / 20; step *= 10)
        decimals -= decimals > 0;
    text_show(item.at, item.len, shown, sizeof shown);
    text_format(r->why, LIST_WHY_BYTES, "'%s' needs a step, as in %s:%.*f", shown, shown, decimals,
                list_rate(step));
    return false;
}

static bool add_range(struct reading *r, struct piece item, const struct piece *part, size_t n)
{
    uint64_t first, last, step = 1;

    if (!read_number(r, part[0], &first) || !read_number(r, part[1], &last))
        return false;
    if (last < first)
        return bad(r, item, "goes downwards");
    if (n == 2 && r->kind == LIST_RATES)
        return no_step(r, item, first, last);
    if (n == 3 && part[2].len > 0 && part[2].at[0] == 'x')
        return read_factor(r, part[2], &step) && add_powers(r, first, last, step);
    if (n == 3 && !read_number(r, part[2], &step))
        return false;
    return add_steps(r, first, last, step);
}

/* The piece of `*rest` before the next `mark`, or all; false if there was none. */
static bool cut(struct piece *rest, char mark, struct piece *out)
{
    const char *end = rest->at ? memchr(rest->at, mark, rest->len) : NULL;

    *out = *rest;
    if (!rest->at)
        return false;
    *rest = (struct piece){NULL, 0};
    if (end) {
        size_t before = (size_t)(end - out->at);

        *rest = (struct piece){end + 1, out->len - before - 1};
        out->len = before;
    }
    return true;
}

static bool add_item(struct reading *r, struct piece item)
{
    struct piece rest = item, part[PARTS_MAX + 1];
    size_t n = 0;
    uint64_t value;

    while (n <= PARTS_MAX && cut(&rest, ':', &part[n]))
        n++;
    if (n > PARTS_MAX)
        return bad(r, item, "is not FIRST:LAST or FIRST:LAST:STEP");
    if (n > 1)
        return add_range(r, item, part, n);
    return read_number(r, item, &value) && add(r, value);
}

bool list_read(struct list *list, enum list_kind kind, const char *text, char why[LIST_WHY_BYTES])
{
    struct reading r = {.list = list, .kind = kind, .why = why};
    struct piece rest = {text, strlen(text)}, item;

    *list = (struct list){NULL, 0};
    while (cut(&rest, ',', &item))
        if (!add_item(&r, item))
            return false;
    return true;
}

void list_free(struct list *list)
{
    free(list->value);
    *list = (struct list){NULL, 0};
}

/* Both are exact (below 2^53), so the quotient is what a compiler makes of the decimal. */
double list_rate(uint64_t millionths)
{
    return (double)millionths / 1e6;
}
