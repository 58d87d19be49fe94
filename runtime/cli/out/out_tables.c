/*
 * out_tables.c -- the tables of a command by columns: for a program that wants numbers, not text.
 *
 * A row's cells go to the ends of as many arrays. Every cell takes 8 bytes, whatever it is, so that
 * a program can use the array as it lies: times become ns, counts stay, and a text becomes the
 * number of an entry in the table's list of texts, each of which is there once. Most columns have
 * cells of one kind. Only once one differs (a cell is empty, or a number among texts) does the
 * column get a byte for each cell that tells its kind.
 */
#include "cli/out/out_tables.h"
#include "cli/out/columns.h"
#include "base/parallel.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64, EXACT_BITS = 53, KNOWN_BITS = 12, RECORDS = 2048, BLOCKS = 4 };

struct table_column {
    kb_cell_kind kind;
    uint8_t *kinds;   /* owned; NULL: all have `kind` */
    uint64_t *values; /* owned; doubles by their bits */
    uint32_t last;    /* 1 + the text of the cell before; 0: none */
};

/* -- texts ---------------------------------------------------------------------------------- */

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3;
    return h ^ h >> 32;
}

static void put_slot(struct table *t, uint32_t number)
{
    uint64_t at = hash(t->texts[number]);

    while (t->slots[at & (t->n_slots - 1)])
        at++;
    t->slots[at & (t->n_slots - 1)] = number + 1;
}

static void grow_slots(struct table *t)
{
    free(t->slots);
    t->n_slots = t->n_slots ? 4 * t->n_slots : SLOTS_FIRST;
    t->slots = memory_new(t->n_slots, sizeof *t->slots);
    for (size_t i = 0; i < t->n_texts; i++)
        put_slot(t, (uint32_t)i);
}

static uint32_t find_text(struct table *t, const char *text)
{
    if (2 * t->n_texts >= t->n_slots)
        grow_slots(t);
    for (uint64_t at = hash(text);; at++) {
        uint32_t slot = t->slots[at & (t->n_slots - 1)];

        if (slot && strcmp(t->texts[slot - 1], text) == 0)
            return slot - 1;
        if (slot)
            continue;
        t->texts = memory_room(t->texts, t->n_texts, &t->texts_room, sizeof *t->texts);
        t->texts[t->n_texts] = memory_text(text);
        put_slot(t, (uint32_t)t->n_texts);
        return (uint32_t)t->n_texts++;
    }
}

/* -- cells ---------------------------------------------------------------------------------- */

static kb_cell_kind kind_of(enum cell_type type)
{
    switch (type) {
    case CELL_TEXT:
        return KB_CELL_TEXT;
    case CELL_COUNT:
        return KB_CELL_COUNT;
    case CELL_NUMBER:
        return KB_CELL_NUMBER;
    case CELL_NS:
    case CELL_FRACTION:
    case CELL_DECIMAL:
    case CELL_PERCENT:
    case CELL_ERROR:
        return KB_CELL_REAL;
    case CELL_NONE:
        break;
    }
    return KB_CELL_NONE;
}

/* The double nearest to the time in ns; beyond 9 s of simulated time fs itself is none. */
static double ns_of(int64_t fs)
{
    if (fs < INT64_C(1) << EXACT_BITS && fs > -(INT64_C(1) << EXACT_BITS))
        return (double)fs / KB_FS_PER_NS;
    return (double)((long double)fs / KB_FS_PER_NS);
}

static uint64_t bits_of(double value)
{
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};

    return both.bits;
}

static uint64_t text_number(struct table *t, struct table_column *column, const char *text)
{
    if (!column->last || strcmp(t->texts[column->last - 1], text) != 0)
        column->last = find_text(t, text) + 1;
    return column->last - 1;
}

static uint64_t value_of(struct table *t, struct table_column *column, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_TEXT:
    case CELL_NUMBER:
        return text_number(t, column, cell->text);
    case CELL_COUNT:
        return cell->count;
    case CELL_NS:
        return bits_of(ns_of(cell->fs));
    case CELL_FRACTION:
    case CELL_DECIMAL:
    case CELL_PERCENT:
    case CELL_ERROR:
        return bits_of(cell->value);
    case CELL_NONE:
        break;
    }
    return column->kind == KB_CELL_REAL ? bits_of((double)NAN) : 0;
}

/* From now on each cell has a kind of its own. */
static void give_kinds(const struct table *t, struct table_column *column)
{
    column->kinds = memory_new(t->room, 1);
    memset(column->kinds, (int)column->kind, t->n_rows);
}

/* The number of a text that is always at this place, or NULL. */
static uint64_t name_number(struct table *t, const char *text)
{
    if (!t->known)
        t->known = memory_new(1 << KNOWN_BITS, sizeof *t->known);
    size_t at = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15 >> (64 - KNOWN_BITS);
    if (t->known[at].text != text) {
        t->known[at].number = find_text(t, text);
        t->known[at].text = text;
    }
    return t->known[at].number;
}

static void add_cell(struct table *t, struct table_column *column, const struct cell *cell)
{
    kb_cell_kind kind = kind_of(cell->type);

    column->values[t->n_rows] = value_of(t, column, cell);
    if (kind == column->kind && !column->kinds)
        return;
    if (!column->kinds)
        give_kinds(t, column);
    column->kinds[t->n_rows] = (uint8_t)kind;
}

/* -- records ------------------------------------------------------------------------------- */

/* Rows that are added together: what they need stays in a near cache. */
struct block {
    char *records; /* owned; RECORDS of them, */
    size_t bytes;  /* each so long */
    size_t n;
};

/* A thread makes records, while another one adds those before. */
struct adding {
    struct table *table;
    const struct rows *rows;
    struct block block[BLOCKS]; /* block i is at i % BLOCKS */
};

/* The column's member of record `i`. */
static const void *member(const struct block *b, const struct column *column, size_t i)
{
    return b->records + i * b->bytes + column->at;
}

/* The cells of a column that may be empty, or of a type that is rare. */
static void add_cells(struct table *t, struct table_column *out, const struct column *column,
                      const struct block *b)
{
    uint64_t first = t->n_rows;

    for (size_t i = 0; i < b->n; i++, t->n_rows++) {
        const char *record = b->records + i * b->bytes;
        struct cell cell = cell_none();

        if (!column->when_field ||
            field_is_set((enum field_type)column->when_field, record + column->when))
            cell = field_cell(column, record + column->at);
        add_cell(t, out, &cell);
    }
    t->n_rows = first;
}

/* The values of a column, without a look at each cell's kind where it cannot differ. */
static void add_members(struct table *t, struct table_column *out, const struct column *column,
                        const struct block *b)
{
    uint64_t *to = &out->values[t->n_rows];

    if (column->when_field || out->kinds)
        add_cells(t, out, column, b);
    else if (column->field == FIELD_I64 && column->type == CELL_NS)
        for (size_t i = 0; i < b->n; i++)
            to[i] = bits_of(ns_of(*(const int64_t *)member(b, column, i)));
    else if (column->field == FIELD_U64)
        for (size_t i = 0; i < b->n; i++)
            to[i] = *(const uint64_t *)member(b, column, i);
    else if (column->field == FIELD_NAME)
        for (size_t i = 0; i < b->n; i++)
            to[i] = name_number(t, *(const char *const *)member(b, column, i));
    else if (column->words)
        for (size_t i = 0; i < b->n; i++)
            to[i] = name_number(t, column->words[*(const uint32_t *)member(b, column, i)]);
    else
        add_cells(t, out, column, b);
}

static void make_block(void *arg, unsigned thread, uint64_t i)
{
    struct adding *a = arg;
    struct block *b = &a->block[i % BLOCKS];
    uint64_t from = i * RECORDS, end = from + RECORDS;

    (void)thread;
    b->n = 0;
    for (uint64_t row = from; row < end && row < a->rows->n_rows; row++) {
        const void *record = a->rows->record(a->rows->arg, row);

        if (record)
            memcpy(b->records + b->n++ * b->bytes, record, b->bytes);
    }
}

static bool add_block(void *arg, uint64_t i)
{
    struct adding *a = arg;
    struct table *t = a->table;

    for (size_t c = 0; c < t->n_columns; c++)
        add_members(t, &t->columns[c], &a->rows->columns[c], &a->block[i % BLOCKS]);
    t->n_rows += a->block[i % BLOCKS].n;
    return true;
}

static void add_records(struct table *t, const struct rows *rows)
{
    struct adding a = {.table = t, .rows = rows};
    struct parallel blocks = {.n = (rows->n_rows + RECORDS - 1) / RECORDS,
                              .threads = 1,
                              .window = BLOCKS,
                              .work = make_block,
                              .give = add_block,
                              .arg = &a};

    for (size_t i = 0; i < BLOCKS; i++)
        a.block[i] = (struct block){.records = memory_new(RECORDS, rows->record_bytes),
                                    .bytes = rows->record_bytes};
    if (blocks.n <= 1 || parallel_run(&blocks) == PARALLEL_NO_THREAD)
        for (uint64_t i = 0; i < blocks.n; i++) {
            make_block(&a, 0, i);
            add_block(&a, i);
        }
    for (size_t i = 0; i < BLOCKS; i++)
        free(a.block[i].records);
}

/* -- tables --------------------------------------------------------------------------------- */

static void begin(struct table *t, const char *name, const struct rows *rows)
{
    *t = (struct table){.name = memory_text(name),
                        .note = rows->note ? memory_text(rows->note) : NULL,
                        .columns = memory_new(rows->n_columns, sizeof *t->columns),
                        .shown = memory_new(rows->n_columns, sizeof *t->shown),
                        .names = memory_new(rows->n_columns, sizeof *t->names),
                        .n_columns = rows->n_columns};
    for (size_t c = 0; c < t->n_columns; c++) {
        t->names[c] = memory_text(rows->columns[c].name);
        t->columns[c].kind = kind_of(rows->columns[c].type);
    }
}

/* Makes room for `n` rows more. */
static void make_room(struct table *t, uint64_t n)
{
    uint64_t twice = 2 * t->room;

    if (n <= t->room - t->n_rows)
        return;
    t->room = t->n_rows + n > twice ? t->n_rows + n : twice;
    for (size_t c = 0; c < t->n_columns; c++) {
        struct table_column *column = &t->columns[c];

        column->values = memory_resize(column->values, t->room, sizeof *column->values);
        if (column->kinds)
            column->kinds = memory_resize(column->kinds, t->room, 1);
    }
}

static void end(struct table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct column_meaning *of = columns_find(t->names[c]);

        t->shown[c] = (kb_query_column){.name = t->names[c],
                                        .kind = t->columns[c].kind,
                                        .kinds = t->columns[c].kinds,
                                        .values = t->columns[c].values,
                                        .unit = of ? of->unit : NULL,
                                        .group = of ? of->group : NULL,
                                        .meaning = of ? of->meaning : NULL};
    }
}

static void add_rows(struct table *t, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        for (size_t c = 0; c < t->n_columns; c++)
            add_cell(t, &t->columns[c], &cells[c]);
        t->n_rows++;
    }
}

static void add_to(struct table *t, const struct rows *rows)
{
    make_room(t, rows->n_rows);
    if (rows->record)
        add_records(t, rows);
    else
        add_rows(t, rows);
    end(t);
}

void tables_add(struct tables *tables, const char *name, const struct rows *rows)
{
    tables->table = memory_room(tables->table, tables->n, &tables->room, sizeof *tables->table);
    struct table *t = &tables->table[tables->n];
    begin(t, name, rows);
    add_to(t, rows);
    tables->n++;
}

void tables_add_more(struct tables *tables, const char *name, const struct rows *rows)
{
    if (tables->n == 0)
        tables_add(tables, name, rows);
    else
        add_to(&tables->table[tables->n - 1], rows);
}

void tables_show(const struct tables *tables, size_t i, kb_query_table *out)
{
    const struct table *t = &tables->table[i];

    *out = (kb_query_table){.name = t->name,
                            .n_rows = t->n_rows,
                            .n_columns = t->n_columns,
                            .n_texts = t->n_texts,
                            .columns = t->shown,
                            .texts = (const char *const *)t->texts,
                            .note = t->note};
}

static void free_table(struct table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        free(t->columns[c].kinds);
        free(t->columns[c].values);
        free((char *)t->names[c]);
    }
    for (size_t i = 0; i < t->n_texts; i++)
        free(t->texts[i]);
    free(t->name);
    free(t->note);
    free(t->columns);
    free(t->shown);
    free(t->names);
    free(t->texts);
    free(t->slots);
    free(t->known);
}

void tables_free(struct tables *tables)
{
    for (size_t i = 0; i < tables->n; i++)
        free_table(&tables->table[i]);
    free(tables->table);
    *tables = (struct tables){0};
}
