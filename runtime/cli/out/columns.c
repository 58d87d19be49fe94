/*
 * columns.c -- which columns of a table are shown: --columns, and what goes when it is too wide.
 *
 * columns.def has the names of all columns once, in groups and in the order in which they are
 * dispensable. A list of --columns has names and groups: `--columns src,dst,waits`.
 */
#include "cli/out/columns.h"
#include "base/text.h"
#include <stdint.h>
#include <string.h>

static const struct {
    const char *name, *group;
    bool stays;
} names[] = {
#define COLUMN_NAME(name, group)  {name, #group, false},
#define COLUMN_STAYS(name, group) {name, #group, true},
#include "cli/out/columns.def"
};

enum { N_NAMES = sizeof names / sizeof *names };

const char *const columns_words[] = {
    COLUMNS_ALL,
#define COLUMNS_GROUP(name, help) #name,
#include "cli/out/columns.def"
#define COLUMN_NAME(name, group)  name,
#define COLUMN_STAYS(name, group) name,
#include "cli/out/columns.def"
};

const size_t columns_n_words = sizeof columns_words / sizeof *columns_words;
const size_t columns_n_groups = sizeof columns_words / sizeof *columns_words - N_NAMES;

static size_t find(const char *name)
{
    size_t i = 0;

    while (i < N_NAMES && strcmp(names[i].name, name) != 0)
        i++;
    return i;
}

size_t columns_rank(const char *name)
{
    size_t i = find(name);

    return i < N_NAMES && !names[i].stays ? i : SIZE_MAX;
}

bool columns_has(const char *name)
{
    return find(name) < N_NAMES;
}

static bool is_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* The next word of a list, and its length; NULL at the end. */
static const char *next_word(const char **list, size_t *len)
{
    const char *word = *list;

    if (!word)
        return NULL;
    *len = strcspn(word, ",");
    *list = word[*len] ? word + *len + 1 : NULL;
    return word;
}

bool columns_listed(const char *list, const char *name)
{
    size_t i = find(name), len;

    for (const char *word; (word = next_word(&list, &len));)
        if (is_word(word, len, name) || is_word(word, len, COLUMNS_ALL) ||
            (i < N_NAMES && is_word(word, len, names[i].group)))
            return true;
    return false;
}

const char *columns_unknown(const char *list, size_t *len)
{
    for (const char *word; (word = next_word(&list, len));) {
        size_t i = 0;

        while (i < columns_n_words && !is_word(word, *len, columns_words[i]))
            i++;
        if (i == columns_n_words && !memchr(word, '.', *len))
            return word;
    }
    return NULL;
}
