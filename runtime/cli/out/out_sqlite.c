/*
 * out_sqlite.c -- results added to a database of SQLite: what a command prints is one transaction.
 *
 * Three tables collect the results of any number of commands and machines: `run` has a row per
 * command (its line, machine, version, seed), `param` the options of a run by name, and `result`
 * the rows. `result` has a column for every column that any command has printed, added when it is
 * first needed; cells of other commands are NULL. So one query compares runs: SELECT value,
 * avg(mean_ns) FROM result JOIN param USING (run) WHERE name = '--bytes' GROUP BY value.
 *
 * `columns` says what each of these is: type, unit, group and meaning, from the data dictionary.
 *
 * `result` is wide; what one command has printed is the view COMMAND_result, with its columns
 * alone: SELECT * FROM load_result. A view is made again when its command prints a new column.
 *
 * A command prints its rows first and adds them after that, in one transaction: while a slow reader
 * (`| less`) holds up the printing, the database is not locked for others. The transaction is
 * committed only if the printed output was kept (cmd_end()), so file and database agree. The column
 * `partial` of `run` tells whether the run was interrupted.
 * Another program that is writing is waited for, BUSY_S seconds at most.
 *
 * The database is opened before the simulation: a file that is not ours, or cannot be written, is
 * reported at once and not after hours. `application_id` in its header tells ours.
 */
#include "cli/out/out_sqlite.h"
#include "cli/out/columns.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"

#ifdef KB_NO_SQLITE
enum exit_code out_sqlite_open(struct out_sqlite **out, const char *program, const char *path)
{
    *out = NULL;
    return path ? say(program, EXIT_SYSTEM, "cannot add to %s: this build has no SQLite", path)
                : EXIT_OK;
}

void out_sqlite_add(struct out_sqlite *db, const struct rows *rows, const struct origin *origin)
{
    (void)db;
    (void)rows;
    (void)origin;
}

char *out_sqlite_kept(struct out_sqlite *db, const char *hash, const char *command,
                      struct provenance *of)
{
    (void)db;
    (void)hash;
    (void)command;
    (void)of;
    return NULL;
}

void out_sqlite_keep(struct out_sqlite *db, const char *hash, const char *command,
                     const struct provenance *of, const char *result)
{
    (void)db;
    (void)hash;
    (void)command;
    (void)of;
    (void)result;
}

enum exit_code out_sqlite_close(struct out_sqlite *db, enum sink_end end)
{
    (void)db;
    (void)end;
    return EXIT_OK;
}
#else
#include "cli/out/sqlite_file.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_CELL = 3 }; /* of the insertion's parameters; before it are run and row */

/* -- a run ---------------------------------------------------------------------------------- */

/* Borrowed until the statement is reset. */
static bool bind_text(sqlite3_stmt *s, int at, const char *text)
{
    return sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return !*text;
}

/* Words of a command line may be any bytes, a TEXT may not. NULL stays NULL. */
static bool bind_words(sqlite3_stmt *s, int at, const char *words)
{
    char *text, *end;

    if (!words || is_ascii(words))
        return bind_text(s, at, words);
    text = end = memory_new(3, strlen(words) + 1);
    while (*words)
        end = text_put_utf8(end, &words);
    *end = '\0';
    return sqlite3_bind_text(s, at, text, -1, free) == SQLITE_OK;
}

static bool add_run(struct out_sqlite *db, const struct origin *origin, int64_t *run)
{
    char *name = sqlite3_mprintf("kernbench.%s/1", origin->command);
    sqlite3_stmt *s =
        db_prepare(db, "INSERT INTO run (schema, command, command_line, topology, hash,"
                       " config, version, seed, provenance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    char sources[PROVENANCE_BYTES];

    provenance_write(origin->sources, sources);
    bool ok = s && name && bind_text(s, 1, name) && bind_text(s, 2, origin->command) &&
              bind_words(s, 3, origin->command_line) && bind_text(s, 4, origin->info->name) &&
              bind_text(s, 5, origin->info->hash) && bind_text(s, 6, origin->info->config) &&
              bind_text(s, 7, KB_VERSION) &&
              sqlite3_bind_int64(s, 8, (int64_t)origin->seed) == SQLITE_OK &&
              bind_text(s, 9, sources);

    ok = ok || (s && db_fail_by(db));
    ok = db_finish(db, s) && ok;
    sqlite3_free(name);
    *run = sqlite3_last_insert_rowid(db->handle);
    db->first_run = db->first_run ? db->first_run : *run;
    return ok;
}

static bool add_params(struct out_sqlite *db, int64_t run, const struct origin_arg *args, size_t n)
{
    sqlite3_stmt *s = db_prepare(db, "INSERT OR REPLACE INTO param VALUES (?, ?, ?)");
    bool ok = s != NULL;

    for (size_t i = 0; i < n && ok; i++) {
        ok = sqlite3_bind_int64(s, 1, run) == SQLITE_OK && bind_text(s, 2, args[i].name) &&
             bind_words(s, 3, args[i].value);
        ok = ok ? db_step(db, s) : db_fail_by(db);
    }
    sqlite3_finalize(s);
    return ok;
}

/* -- its rows ------------------------------------------------------------------------------- */

static const char *sql_type(enum cell_type type)
{
    return type == CELL_TEXT ? "TEXT" : type == CELL_COUNT ? "INTEGER" : "REAL";
}

/* What it is, for readers: once. */
static bool add_meaning(struct out_sqlite *db, const char *name)
{
    const struct column_meaning *of = columns_find(name);
    char *sql;

    if (!of)
        return true;
    sql = sqlite3_mprintf("INSERT OR IGNORE INTO columns VALUES (%Q, %Q, %Q, %Q, %Q)", name,
                          of->type, of->unit, of->group, of->meaning);
    bool ok = db_finish(db, db_prepare(db, sql));
    sqlite3_free(sql);
    return ok;
}

/* A column that no command has had yet. */
static bool add_column(struct out_sqlite *db, const struct column *column)
{
    bool has, ok = db_has_column(db, "result", column->name, &has);
    char *sql;

    if (!ok || has)
        return ok;
    sql = sqlite3_mprintf("ALTER TABLE result ADD COLUMN \"%w\" %s", column->name,
                          sql_type(column->type));
    ok = db_finish(db, db_prepare(db, sql));
    sqlite3_free(sql);
    return ok;
}

/* Appends the columns of the view in their order; none if there is no such view. */
static bool put_view_columns(struct out_sqlite *db, const char *view, sqlite3_str *sql)
{
    char *ask = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) WHERE cid > 1", view);
    sqlite3_stmt *s = db_prepare(db, ask);
    int more = SQLITE_DONE;

    while (s && (more = sqlite3_step(s)) == SQLITE_ROW)
        sqlite3_str_appendf(sql, ", \"%w\"", (const char *)sqlite3_column_text(s, 0));
    bool ok = s && (more == SQLITE_DONE || db_fail_by(db));
    sqlite3_finalize(s);
    sqlite3_free(ask);
    return ok;
}

/* Appends the columns of `rows` that the view lacks. */
static bool put_new_columns(struct out_sqlite *db, const char *view, const struct rows *rows,
                            sqlite3_str *sql, bool *any)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        bool has;

        if (!db_has_column(db, view, rows->columns[c].name, &has))
            return false;
        if (!has)
            sqlite3_str_appendf(sql, ", \"%w\"", rows->columns[c].name);
        *any |= !has;
    }
    return true;
}

/* COMMAND_result: the rows of a command, and the columns that it has printed so far. */
static bool make_view(struct out_sqlite *db, const struct rows *rows, const char *command)
{
    char *view = sqlite3_mprintf("%s_result", command);
    sqlite3_str *sql = sqlite3_str_new(db->handle);
    bool any = false;

    sqlite3_str_appendf(sql, "DROP VIEW IF EXISTS \"%w\"; CREATE VIEW \"%w\" AS SELECT run, row",
                        view, view);
    bool ok = (view || db_fail(db, "out of memory")) && put_view_columns(db, view, sql) &&
              put_new_columns(db, view, rows, sql, &any);
    sqlite3_str_appendf(sql, " FROM result WHERE run IN (SELECT id FROM run WHERE command = %Q)",
                        command);
    char *text = sqlite3_str_finish(sql);
    ok = ok && (!any || (text ? db_run(db, text) : db_fail(db, "out of memory")));
    sqlite3_free(text);
    sqlite3_free(view);
    return ok;
}

/* Makes what the tables lack for `rows`. Of many machines that is asked once: they have the same.
 */
static bool make_room(struct out_sqlite *db, const struct rows *rows, const char *command)
{
    sqlite3_str *all = sqlite3_str_new(db->handle);

    sqlite3_str_appendall(all, command);
    for (size_t c = 0; c < rows->n_columns; c++)
        sqlite3_str_appendf(all, ",%s", rows->columns[c].name);
    char *known = sqlite3_str_finish(all);
    bool has = known && db->known && strcmp(known, db->known) == 0;

    sqlite3_free(db->known);
    db->known = known;
    for (size_t c = 0; c < rows->n_columns && !has; c++)
        if (!add_column(db, &rows->columns[c]) || !add_meaning(db, rows->columns[c].name))
            return false;
    return has || make_view(db, rows, command);
}

/* NULL after a message. */
static sqlite3_stmt *prepare_rows(struct out_sqlite *db, const struct rows *rows)
{
    sqlite3_str *sql = sqlite3_str_new(db->handle);

    sqlite3_str_appendall(sql, "INSERT INTO result (run, row");
    for (size_t c = 0; c < rows->n_columns; c++)
        sqlite3_str_appendf(sql, ", \"%w\"", rows->columns[c].name);
    sqlite3_str_appendall(sql, ") VALUES (?, ?");
    for (size_t c = 0; c < rows->n_columns; c++)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *s = db_prepare(db, text);
    sqlite3_free(text);
    return s;
}

/* Times are the nearest double of their ns. */
static bool bind_cell(sqlite3_stmt *s, int at, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_NONE:
        return sqlite3_bind_null(s, at) == SQLITE_OK;
    case CELL_TEXT:
    case CELL_NUMBER:
        return bind_words(s, at, cell->text);
    case CELL_COUNT:
        return sqlite3_bind_int64(s, at, (int64_t)cell->count) == SQLITE_OK;
    case CELL_NS:
        return sqlite3_bind_double(s, at, (double)cell->fs / KB_FS_PER_NS) == SQLITE_OK;
    case CELL_FRACTION:
    case CELL_DECIMAL:
    case CELL_PERCENT:
    case CELL_ERROR:
        return sqlite3_bind_double(s, at, cell->value) == SQLITE_OK;
    }
    return false;
}

static bool add_row(struct out_sqlite *db, sqlite3_stmt *s, int64_t row, const struct cell *cells,
                    size_t n_cells)
{
    bool ok = sqlite3_bind_int64(s, 2, row) == SQLITE_OK;

    for (size_t c = 0; c < n_cells && ok; c++)
        ok = bind_cell(s, FIRST_CELL + (int)c, &cells[c]);
    return ok ? db_step(db, s) : db_fail_by(db);
}

static bool add_rows(struct out_sqlite *db, int64_t run, const struct rows *rows)
{
    sqlite3_stmt *s = prepare_rows(db, rows);
    struct cell cells[ROW_CELLS_MAX];
    int64_t row = 0;
    bool ok = s && (sqlite3_bind_int64(s, 1, run) == SQLITE_OK || db_fail_by(db));

    for (uint64_t i = 0; i < rows->n_rows && ok; i++)
        if (rows_cells(rows, i, cells))
            ok = add_row(db, s, row++, cells, rows->n_columns);
    sqlite3_finalize(s);
    return ok;
}

static bool add_all(struct out_sqlite *db, const struct rows *rows, const struct origin *origin)
{
    int64_t run;

    if (!db_begin(db) || !add_run(db, origin, &run) ||
        !add_params(db, run, origin->params, origin->n_params) ||
        !add_params(db, run, origin->args, origin->n_args))
        return false;
    return make_room(db, rows, origin->command) && add_rows(db, run, rows);
}

void out_sqlite_add(struct out_sqlite *db, const struct rows *rows, const struct origin *origin)
{
    if (db && !db->code)
        add_all(db, rows, origin);
}

static void commit(struct out_sqlite *db, bool partial)
{
    char *mark = sqlite3_mprintf("UPDATE run SET partial = 1 WHERE id >= %lld", db->first_run);

    if (!partial || db_finish(db, db_prepare(db, mark)))
        db_run(db, "COMMIT");
    sqlite3_free(mark);
}

enum exit_code out_sqlite_close(struct out_sqlite *db, enum sink_end end)
{
    enum exit_code code;

    if (!db)
        return EXIT_OK;
    if (end != SINK_DROP && db->begun && !db->code)
        commit(db, end == SINK_PARTIAL);
    code = db->code;
    memory_undo(NULL, NULL);
    db_roll_back(db);
    db_release(db);
    return code;
}
#endif
