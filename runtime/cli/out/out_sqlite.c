/*
 * out_sqlite.c -- results added to a database of SQLite: what a command prints is one transaction.
 *
 * Three tables collect the results of any number of commands and machines: `run` has a row per
 * command (its line, machine, version, seed), `param` the options of a run by name, and `result`
 * the rows. `result` has a column for every column that any command has printed, added when it is
 * first needed; cells of other commands are NULL. So one query compares runs: SELECT value,
 * avg(mean_ns) FROM result JOIN param USING (run) WHERE name = '--bytes' GROUP BY value.
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

enum exit_code out_sqlite_close(struct out_sqlite *db, enum sink_end end)
{
    (void)db;
    (void)end;
    return EXIT_OK;
}
#else
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_S         10 /* how long another writer may take */
#define BUSY_SHOWN     TEXT_QUOTED(BUSY_S)

enum {
    APPLICATION_ID = 0x6b626e63, /* "kbnc", in the header of a file of ours */
    SCHEMA_VERSION = 1,          /* PRAGMA user_version */
    FIRST_CELL = 3,              /* of the insertion's parameters; before it are run and row */
};

/* Of a run that was interrupted 1; files of earlier versions lack it. */
#define PARTIAL_COLUMN " partial INTEGER NOT NULL DEFAULT 0"

/* The columns of `result` that follow are those of the commands, added when first needed. */
static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, schema TEXT NOT NULL, command TEXT NOT NULL,"
    " command_line TEXT NOT NULL, topology TEXT NOT NULL, hash TEXT NOT NULL,"
    " config TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL," PARTIAL_COLUMN ");"
    "CREATE TABLE param (run INTEGER NOT NULL REFERENCES run (id), name TEXT NOT NULL, value TEXT,"
    " PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE result (run INTEGER NOT NULL REFERENCES run (id), row INTEGER NOT NULL,"
    " PRIMARY KEY (run, row)) WITHOUT ROWID;";

struct out_sqlite {
    const char *program; /* borrowed */
    char *path;          /* owned: what SQLite takes for a file in any case */
    const char *shown;   /* for messages, borrowed */
    sqlite3 *handle;     /* owned; NULL: nothing is added yet */
    bool begun;          /* a transaction */
    bool is_new;         /* there was no such file */
    int64_t first_run;   /* of this transaction; 0: none */
    enum exit_code code;
};

/* -- failures ------------------------------------------------------------------------------- */

/* Says why; false. The first failure is the one that counts. */
static bool fail(struct out_sqlite *db, const char *why)
{
    if (!db->code)
        db->code = say(db->program, EXIT_SYSTEM, "cannot add to %s: %s", db->shown, why);
    return false;
}

/* Says why the last call of SQLite failed; false. */
static bool fail_by(struct out_sqlite *db)
{
    int error = db->handle ? sqlite3_system_errno(db->handle) : 0;

    switch (db->handle ? sqlite3_errcode(db->handle) : SQLITE_NOMEM) {
    case SQLITE_NOMEM:
        return fail(db, "out of memory");
    case SQLITE_NOTADB:
        return fail(db, "it is no database of SQLite");
    case SQLITE_BUSY:
        return fail(db, "another program has locked it, for more than " BUSY_SHOWN " s");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return fail(db, error ? strerror(error) : sqlite3_errmsg(db->handle));
    default:
        return fail(db, sqlite3_errmsg(db->handle));
    }
}

/* -- statements ----------------------------------------------------------------------------- */

static bool run_sql(struct out_sqlite *db, const char *sql)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || fail_by(db);
}

/* NULL after a message. */
static sqlite3_stmt *prepare(struct out_sqlite *db, const char *sql)
{
    sqlite3_stmt *s = NULL;

    if (!sql)
        fail(db, "out of memory");
    else if (sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL) != SQLITE_OK)
        fail_by(db);
    return s;
}

/* Runs a statement without rows, and makes it ready for its next values. */
static bool step(struct out_sqlite *db, sqlite3_stmt *s)
{
    return (sqlite3_step(s) == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK) || fail_by(db);
}

/* The same for the last time. */
static bool finish(struct out_sqlite *db, sqlite3_stmt *s)
{
    bool ok = s && step(db, s);

    sqlite3_finalize(s);
    return ok;
}

/* The one number that `sql` asks for. */
static bool read_number(struct out_sqlite *db, const char *sql, int64_t *out)
{
    sqlite3_stmt *s = prepare(db, sql);
    bool ok = s && (sqlite3_step(s) == SQLITE_ROW || fail_by(db));

    if (ok)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return ok;
}

/* -- the file ------------------------------------------------------------------------------- */

static bool connect_file(struct out_sqlite *db, int flags)
{
    if (sqlite3_open_v2(db->path, &db->handle, flags, NULL) != SQLITE_OK)
        return fail_by(db);
    if (sqlite3_db_readonly(db->handle, "main") > 0)
        return fail(db, "it may not be written");
    return true;
}

/* *is_new: there are no tables yet. False after a message: they are not ours. */
static bool check_owner(struct out_sqlite *db, bool *is_new)
{
    int64_t id, version, n;

    if (!read_number(db, "PRAGMA application_id", &id) ||
        !read_number(db, "PRAGMA user_version", &version) ||
        !read_number(db, "SELECT count(*) FROM sqlite_master", &n))
        return false;
    *is_new = id == 0 && version == 0 && n == 0;
    if (*is_new)
        return true;
    if (id != APPLICATION_ID)
        return fail(db, "it is a database of something else; name a new file");
    return version == SCHEMA_VERSION ||
           fail(db, "another version of kernbench wrote it; name a new file");
}

/* Can a file of that name be made? */
static bool check_folder(struct out_sqlite *db)
{
    const char *slash = strrchr(db->path, '/');
    char *folder = memory_part(db->path, (size_t)(slash - db->path) + 1);
    bool ok = access(folder, W_OK | X_OK) == 0 || fail(db, strerror(errno));

    free(folder);
    return ok;
}

/* A concurrent writer is not an error: out_sqlite_add() waits for it. */
static bool check_file(struct out_sqlite *db)
{
    struct stat st;
    bool is_new;

    if (stat(db->path, &st) < 0)
        return errno == ENOENT ? check_folder(db) : fail(db, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(db, "it is no regular file");
    if (!connect_file(db, SQLITE_OPEN_READWRITE))
        return false;
    bool busy =
        sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_BUSY;
    sqlite3_busy_timeout(db->handle, BUSY_S * 1000);
    bool ok = busy || check_owner(db, &is_new);
    sqlite3_close(db->handle); /* there may be another file of that name when we are done */
    db->handle = NULL;
    return ok;
}

static void release(struct out_sqlite *db)
{
    sqlite3_close(db->handle);
    free(db->path);
    free(db);
}

enum exit_code out_sqlite_open(struct out_sqlite **out, const char *program, const char *path)
{
    struct out_sqlite *db;

    *out = NULL;
    if (!path)
        return EXIT_OK;
    db = memory_new(1, sizeof *db);
    char *file = memory_new(1, strlen(path) + 3);
    strcpy(file, *path == '/' ? "" : "./"); /* nothing is ":memory:" or a URI then */
    strcat(file, path);
    *db = (struct out_sqlite){
        .program = program, .path = file, .shown = path, .is_new = access(file, F_OK) != 0};
    enum exit_code code = check_file(db) ? EXIT_OK : db->code;
    if (code)
        release(db);
    else
        *out = db;
    return code;
}

/* -- a run ---------------------------------------------------------------------------------- */

static void roll_back(void *db);
static bool has_column(struct out_sqlite *db, const char *table, const char *name, bool *has);

static bool begin(struct out_sqlite *db)
{
    bool is_new, has = true;

    if (db->begun)
        return true;
    if (!connect_file(db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return false;
    sqlite3_busy_timeout(db->handle, BUSY_S * 1000);
    if (!run_sql(db, "BEGIN IMMEDIATE") || !check_owner(db, &is_new))
        return false;
    db->begun = true;
    memory_undo(roll_back, db);
    if (!is_new && !has_column(db, "run", "partial", &has))
        return false;
    if (!has && !run_sql(db, "ALTER TABLE run ADD COLUMN" PARTIAL_COLUMN))
        return false;
    return !is_new || (run_sql(db, schema) && run_sql(db, "PRAGMA application_id = 0x6b626e63;"
                                                          "PRAGMA user_version = 1"));
}

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
    sqlite3_stmt *s = prepare(db, "INSERT INTO run (schema, command, command_line, topology, hash,"
                                  " config, version, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    bool ok = s && name && bind_text(s, 1, name) && bind_text(s, 2, origin->command) &&
              bind_words(s, 3, origin->command_line) && bind_text(s, 4, origin->info->name) &&
              bind_text(s, 5, origin->info->hash) && bind_text(s, 6, origin->info->config) &&
              bind_text(s, 7, KB_VERSION) &&
              sqlite3_bind_int64(s, 8, (int64_t)origin->seed) == SQLITE_OK;

    ok = ok || (s && fail_by(db));
    ok = finish(db, s) && ok;
    sqlite3_free(name);
    *run = sqlite3_last_insert_rowid(db->handle);
    db->first_run = db->first_run ? db->first_run : *run;
    return ok;
}

static bool add_params(struct out_sqlite *db, int64_t run, const struct origin_arg *args, size_t n)
{
    sqlite3_stmt *s = prepare(db, "INSERT OR REPLACE INTO param VALUES (?, ?, ?)");
    bool ok = s != NULL;

    for (size_t i = 0; i < n && ok; i++) {
        ok = sqlite3_bind_int64(s, 1, run) == SQLITE_OK && bind_text(s, 2, args[i].name) &&
             bind_words(s, 3, args[i].value);
        ok = ok ? step(db, s) : fail_by(db);
    }
    sqlite3_finalize(s);
    return ok;
}

/* -- its rows ------------------------------------------------------------------------------- */

static const char *sql_type(enum cell_type type)
{
    return type == CELL_TEXT ? "TEXT" : type == CELL_COUNT ? "INTEGER" : "REAL";
}

static bool has_column(struct out_sqlite *db, const char *table, const char *name, bool *has)
{
    char *sql =
        sqlite3_mprintf("SELECT count(*) FROM pragma_table_info(%Q) WHERE name = %Q", table, name);
    int64_t n = 0;
    bool ok = read_number(db, sql, &n);

    sqlite3_free(sql);
    *has = n > 0;
    return ok;
}

/* A column that no command has had yet. */
static bool add_column(struct out_sqlite *db, const struct column *column)
{
    bool has, ok = has_column(db, "result", column->name, &has);
    char *sql;

    if (!ok || has)
        return ok;
    sql = sqlite3_mprintf("ALTER TABLE result ADD COLUMN \"%w\" %s", column->name,
                          sql_type(column->type));
    ok = finish(db, prepare(db, sql));
    sqlite3_free(sql);
    return ok;
}

/* Appends the columns of the view in their order; none if there is no such view. */
static bool put_view_columns(struct out_sqlite *db, const char *view, sqlite3_str *sql)
{
    char *ask = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) WHERE cid > 1", view);
    sqlite3_stmt *s = prepare(db, ask);
    int more = SQLITE_DONE;

    while (s && (more = sqlite3_step(s)) == SQLITE_ROW)
        sqlite3_str_appendf(sql, ", \"%w\"", (const char *)sqlite3_column_text(s, 0));
    bool ok = s && (more == SQLITE_DONE || fail_by(db));
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

        if (!has_column(db, view, rows->columns[c].name, &has))
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
    bool ok = (view || fail(db, "out of memory")) && put_view_columns(db, view, sql) &&
              put_new_columns(db, view, rows, sql, &any);
    sqlite3_str_appendf(sql, " FROM result WHERE run IN (SELECT id FROM run WHERE command = %Q)",
                        command);
    char *text = sqlite3_str_finish(sql);
    ok = ok && (!any || (text ? run_sql(db, text) : fail(db, "out of memory")));
    sqlite3_free(text);
    sqlite3_free(view);
    return ok;
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
    sqlite3_stmt *s = prepare(db, text);
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
    return ok ? step(db, s) : fail_by(db);
}

static bool add_rows(struct out_sqlite *db, int64_t run, const struct rows *rows)
{
    sqlite3_stmt *s = prepare_rows(db, rows);
    struct cell cells[ROW_CELLS_MAX];
    int64_t row = 0;
    bool ok = s && (sqlite3_bind_int64(s, 1, run) == SQLITE_OK || fail_by(db));

    for (uint64_t i = 0; i < rows->n_rows && ok; i++)
        if (rows->row(rows->arg, i, cells))
            ok = add_row(db, s, row++, cells, rows->n_columns);
    sqlite3_finalize(s);
    return ok;
}

static bool add_all(struct out_sqlite *db, const struct rows *rows, const struct origin *origin)
{
    int64_t run;

    if (!begin(db) || !add_run(db, origin, &run) ||
        !add_params(db, run, origin->params, origin->n_params) ||
        !add_params(db, run, origin->args, origin->n_args))
        return false;
    for (size_t c = 0; c < rows->n_columns; c++)
        if (!add_column(db, &rows->columns[c]))
            return false;
    return make_view(db, rows, origin->command) && add_rows(db, run, rows);
}

void out_sqlite_add(struct out_sqlite *db, const struct rows *rows, const struct origin *origin)
{
    if (db && !db->code)
        add_all(db, rows, origin);
}

/* SQLite makes the file before it finds out that nothing fits into it. */
static bool is_empty_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* What was not committed goes. */
static void roll_back(void *arg)
{
    struct out_sqlite *db = arg;

    sqlite3_close(db->handle);
    db->handle = NULL;
    if (db->is_new && is_empty_file(db->path))
        unlink(db->path);
}

static void commit(struct out_sqlite *db, bool partial)
{
    char *mark = sqlite3_mprintf("UPDATE run SET partial = 1 WHERE id >= %lld", db->first_run);

    if (!partial || finish(db, prepare(db, mark)))
        run_sql(db, "COMMIT");
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
    roll_back(db);
    release(db);
    return code;
}
#endif
