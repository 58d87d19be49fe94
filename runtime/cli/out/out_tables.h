/* out_tables.h -- the tables of a command by columns: for a program that wants numbers, not text.
 */
#ifndef TABLES_H
#define TABLES_H
#include "cli/out/out.h"
#include "cli/query/query.h"

/* One table, growing. */
struct table {
    char *name, *note;            /* owned; `note` may be NULL */
    struct table_column *columns; /* owned */
    kb_query_column *shown;       /* owned: the same for readers */
    const char **names;           /* owned: of columns; the strings too */
    size_t n_columns;
    uint64_t n_rows, room; /* rows; at most */
    char **texts;          /* owned, the strings too; each once */
    size_t n_texts, texts_room;
    uint32_t *slots; /* owned: texts by their hash, 1 + number; 0: free */
    size_t n_slots;  /* a power of two */
    struct {
        const char *text;
        uint32_t number;
    } * known; /* owned: numbers of texts that stay at their place, by its hash */
};

struct tables {
    struct table *table; /* owned */
    size_t n, room;
};

/* Adds all of `rows` as a table of that name. */
void tables_add(struct tables *t, const char *name, const struct rows *rows);

/* Adds them to the last table, which has the same columns; if there is none, begins it. */
void tables_add_more(struct tables *t, const char *name, const struct rows *rows);

/* Table `i`, for readers. */
void tables_show(const struct tables *t, size_t i, kb_query_table *out);

void tables_free(struct tables *t);

#endif
