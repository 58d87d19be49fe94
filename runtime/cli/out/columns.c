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

const struct column_meaning columns_meanings[] = {
#define COLUMN_NAME(name, group, type, unit, meaning)  {name, #group, #type, unit, meaning, false},
#define COLUMN_STAYS(name, group, type, unit, meaning) {name, #group, #type, unit, meaning, true},
#include "cli/out/columns.def"
};

enum { N_NAMES = sizeof columns_meanings / sizeof *columns_meanings };

const size_t columns_n = N_NAMES;

const char *const columns_words[] = {
    COLUMNS_ALL,
#define COLUMNS_GROUP(name, help) #name,
#include "cli/out/columns.def"
#define COLUMN_NAME(name, ...)  name,
#define COLUMN_STAYS(name, ...) name,
#include "cli/out/columns.def"
};

const size_t columns_n_words = sizeof columns_words / sizeof *columns_words;
const size_t columns_n_groups = sizeof columns_words / sizeof *columns_words - N_NAMES;

const struct column_meaning *columns_find(const char *name)
{
    for (size_t i = 0; i < N_NAMES; i++)
        if (strcmp(columns_meanings[i].name, name) == 0)
            return &columns_meanings[i];
    return NULL;
}

size_t columns_rank(const char *name)
{
    const struct column_meaning *found = columns_find(name);

    return found && !found->stays ? (size_t)(found - columns_meanings) : SIZE_MAX;
}

bool columns_has(const char *name)
{
    return columns_find(name) != NULL;
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
    const struct column_meaning *found = columns_find(name);
    size_t len;

    for (const char *word; (word = next_word(&list, &len));)
        if (is_word(word, len, name) || is_word(word, len, COLUMNS_ALL) ||
            (found && is_word(word, len, found->group)))
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
