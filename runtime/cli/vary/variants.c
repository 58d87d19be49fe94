/*
 * variants.c -- machines by the values of some keys: all combinations, or points among them.
 *
 * A list has items with commas between them; a comma inside of brackets or braces belongs to its
 * item, as in cube.pe.pe_scheduler.tile=[32,64,32],[64,64,64]. An item FIRST:LAST, FIRST:LAST:STEP
 * or FIRST:LAST:xFACTOR is a range, as sweep has them; any other one is a value as --set takes it.
 * What a key may be is the library's to say; arg.NAME is an argument of a bench, which says what it
 * may be.
 *
 * Numbers of ranges are counted in millionths, exactly: 0.1:0.3:0.1 has three values. A range of
 * decimals needs a step.
 *
 * Example: --vary cube.hbm.bw_gbs=128:512:x2 --vary sips=1,2 are six machines: 128 with 1 and 2
 * SIPs, 256 with 1 and 2, 512 with 1 and 2.
 */
#include "cli/vary/variants.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/vary/sobol.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000, SHOWN_BYTES = 48, NUMBER_BYTES = 32, LINE_BYTES = 256 };

/* The reading of one list. */
struct reading {
    struct varied_key *key;
    void (*bad)(void *arg, const char *text);
    void *arg;
};

/* "'ITEM' TEXT"; always false. */
static bool bad(const struct reading *r, const char *item, size_t len, const char *text)
{
    char shown[SHOWN_BYTES], line[LINE_BYTES];

    text_show(item, len, shown, sizeof shown);
    snprintf(line, sizeof line, "'%s' %s", shown, text);
    r->bad(r->arg, line);
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* A number in JSON: -12, 0.5, 1e9; not .5, 1. or 010. */
static bool is_number(const char *number)
{
    const char *p = number + (*number == '-'), *begin = p;

    p = digits(p);
    if (p == begin || (*begin == '0' && p > begin + 1))
        return false;
    if (*p == '.') {
        begin = ++p;
        p = digits(p);
        if (p == begin)
            return false;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        begin = p += *p == '+' || *p == '-';
        p = digits(p);
        if (p == begin)
            return false;
    }
    return *p == '\0' && strlen(number) < TEXT_NUMBER_BYTES;
}

static bool add(struct reading *r, const char *value, size_t len)
{
    struct varied_key *key = r->key;
    char *word;

    if (key->n == VARY_VALUES_MAX)
        return bad(r, value, len, "is one value too many: a list has at most 1000000");
    word = memory_new(key->value_at + len + 1, 1);
    sprintf(word, "%s=%.*s", key->path, (int)len, value);
    key->words = memory_room(key->words, key->n, &key->room, sizeof *key->words);
    key->words[key->n++] = word;
    key->numbers = key->numbers && is_number(word + key->value_at);
    return true;
}

/* A value of a range, without zeros at its end. */
static bool add_millionths(struct reading *r, int64_t value)
{
    char text[NUMBER_BYTES], *end = text_put_ns(text, value);

    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    return add(r, text, (size_t)(end - text));
}

static bool add_range(struct reading *r, const char *item, size_t len)
{
    const char *colon = memchr(item, ':', len), *second = colon + 1;
    const char *third = memchr(second, ':', len - (size_t)(second - item));
    size_t n_second = third ? (size_t)(third - second) : len - (size_t)(second - item);
    int64_t first, last, step = MILLION;
    uint64_t factor = 0;

    if (!text_read_ns(item, (size_t)(second - item) - 1, &first) ||
        !text_read_ns(second, n_second, &last))
        return bad(r, item, len, "is no range: FIRST:LAST are numbers with at most six decimals");
    if (last < first)
        return bad(r, item, len, "is a range that ends before it begins");
    if (!third && memchr(item, '.', len))
        return bad(r, item, len, "needs a step, as in 0.5:2.0:0.5");
    if (third) {
        const char *end = item + len;

        third++;
        if (*third == 'x' ? !text_read_count(third + 1, (size_t)(end - third) - 1, &factor) ||
                                factor < 2 || factor > MILLION || first == 0
                          : !text_read_ns(third, (size_t)(end - third), &step) || step == 0)
            return bad(r, item, len, "has no step above 0, and no factor from x2 on");
    }
    for (int64_t value = first; value <= last;) {
        if (!add_millionths(r, value))
            return false;
        if (factor ? value > last / (int64_t)factor : step > last - value)
            break;
        value = factor ? value * (int64_t)factor : value + step;
    }
    return true;
}

/* The length of an item: up to a comma outside of brackets. */
static size_t item_length(const char *list)
{
    size_t n = 0;
    int depth = 0;

    for (; list[n] && (depth > 0 || list[n] != ','); n++)
        depth += (list[n] == '[' || list[n] == '{') - (list[n] == ']' || list[n] == '}');
    return n;
}

static bool add_item(struct reading *r, const char *item, size_t len)
{
    if (len == 0)
        return bad(r, item, len, "is no value: a list has values with commas between them");
    return memchr(item, ':', len) && (is_digit(*item) || *item == '.') ? add_range(r, item, len)
                                                                       : add(r, item, len);
}

bool variants_add(struct varied_key *key, const char *list,
                  void (*told)(void *arg, const char *text), void *arg)
{
    struct reading r = {key, told, arg};

    key->numbers = key->numbers || key->n == 0;
    for (;;) {
        size_t n = item_length(list);

        if (!add_item(&r, list, n))
            return false;
        if (!list[n])
            return true;
        list += n + 1;
    }
}

/* An option --vary. */
struct option {
    const char *program, *path;
};

static void say_bad(void *arg, const char *text)
{
    const struct option *o = arg;

    say(o->program, EXIT_USAGE, "--vary %s: %s", o->path, text);
}

/* One KEY=LIST. */
static bool read_list(struct varied_key *key, const char *word, const char *program)
{
    const char *list = strchr(word, '=') + 1;

    key->path = memory_part(word, (size_t)(list - word) - 1);
    key->value_at = (size_t)(list - word);
    struct option o = {program, key->path};
    if (strcmp(key->path, "kernbench") == 0)
        return bad(&(struct reading){key, say_bad, &o}, list, strlen(list),
                   "is a version of the machine's file, and its keys are known already: edit it");
    return variants_add(key, list, say_bad, &o);
}

static bool is_twice(const struct variants *v, const char *path)
{
    for (size_t i = 0; i + 1 < v->n_keys; i++)
        if (strcmp(v->key[i].path, path) == 0)
            return true;
    return false;
}

enum exit_code variants_read(struct variants *v, const struct set_list *words, const char *program)
{
    *v = (struct variants){.n_grid = 1};
    if (words->n > VARY_KEYS_MAX)
        return say(program, EXIT_USAGE, "--vary is given more than %d times", VARY_KEYS_MAX);
    for (size_t i = 0; i < words->n; i++) {
        struct varied_key *key = &v->key[v->n_keys++];

        if (!read_list(key, words->word[i], program))
            return EXIT_USAGE;
        if (is_twice(v, key->path))
            return say(program, EXIT_USAGE, "--vary has %s twice", key->path);
        v->n = v->n_grid *= key->n;
        if (v->n_grid > VARIANTS_MAX)
            return say(program, EXIT_USAGE, "--vary makes more than %d machines", VARIANTS_MAX);
    }
    return EXIT_OK;
}

void variants_free(struct variants *v)
{
    for (size_t k = 0; k < v->n_keys; k++) {
        for (size_t i = 0; i < v->key[k].n; i++)
            free(v->key[k].words[i]);
        free(v->key[k].words);
        free(v->key[k].path);
    }
    free(v->list);
}

/* -- points ----------------------------------------------------------------------------------- */

/* A number of 64 bits that depends on all of these: splitmix64. */
static uint64_t drawn(uint64_t seed, uint64_t i, uint64_t k)
{
    uint64_t z = seed + (i * VARY_KEYS_MAX + k + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A point of the unit interval, in 2^-64, becomes one of `n` values. */
static uint64_t value_at(uint64_t at, uint64_t n)
{
    return (uint64_t)((unsigned __int128)at * n >> 64);
}

uint64_t variants_combination(const struct variants *v, uint64_t i)
{
    uint64_t c = 0;

    if (v->kind == POINTS_GRID)
        return i;
    if (v->kind == POINTS_LIST)
        return v->list[i];
    for (size_t k = 0; k < v->n_keys; k++) {
        uint64_t at =
            v->kind == POINTS_SOBOL ? (uint64_t)sobol_at(i, k) << 32 : drawn(v->seed, i, k);

        c = c * v->key[k].n + value_at(at, v->key[k].n);
    }
    return c;
}

uint64_t variants_level(const struct variants *v, uint64_t c, size_t k)
{
    for (size_t last = v->n_keys - 1; last > k; last--)
        c /= v->key[last].n;
    return c % v->key[k].n;
}

const char *variants_word(const struct variants *v, uint64_t i, size_t k)
{
    return v->key[k].words[variants_level(v, variants_combination(v, i), k)];
}

const char *variants_argument(const char *path)
{
    static const char before[] = "arg.";

    return strncmp(path, before, strlen(before)) == 0 ? path + strlen(before) : NULL;
}

void variants_label(const struct variants *v, uint64_t i, char label[VARY_LABEL_BYTES])
{
    size_t n = 0;

    for (size_t k = 0; k < v->n_keys && n < VARY_LABEL_BYTES; k++)
        n += (size_t)snprintf(label + n, VARY_LABEL_BYTES - n, "%s%s", k ? ", " : "",
                              variants_word(v, i, k));
}
