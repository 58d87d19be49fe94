/* columns.h -- which columns of a table are shown: --columns, and what goes when it is too wide. */
#ifndef COLUMNS_H
#define COLUMNS_H
#include <stdbool.h>
#include <stddef.h>

/* --columns ALL: a table is as wide as it is. */
#define COLUMNS_ALL "all"

/* What a column is: a row of columns.def. */
struct column_meaning {
    const char *name, *group, *type; /* type: text, integer, number, any */
    const char *unit;                /* "ns"; "": none */
    const char *meaning;
    bool stays; /* in a table that is too wide */
};

/* The data dictionary, in the order of columns.def. */
extern const struct column_meaning columns_meanings[];
extern const size_t columns_n;

/* That of a column; NULL: there is none such, as of keys of a machine. */
const struct column_meaning *columns_find(const char *name);

/* When a table that is too wide leaves the column out: 0 goes first. SIZE_MAX: it stays. */
size_t columns_rank(const char *name);

/* Is it the name of a column of any table? */
bool columns_has(const char *name);

/* Does the list have that column, by its name or that of its group? */
bool columns_listed(const char *list, const char *name);

/* The first word of a list that is no group and no column of any table, and its length; NULL: all
 * are. Keys of a machine, which have a point, may be columns, too. */
const char *columns_unknown(const char *list, size_t *len);

/* All words that a list may have; the first of them are COLUMNS_ALL and the groups. */
extern const char *const columns_words[];
extern const size_t columns_n_words, columns_n_groups;

#endif
