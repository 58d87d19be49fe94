/*
 * sqlite_file.c -- a database of ours: its file, its owner, its transaction.
 *
 * The database is opened before the simulation: a file that is not ours, or cannot be written, is
 * reported at once and not after hours. `application_id` in its header tells ours. Another program
 * that is writing is waited for, BUSY_S seconds at most.
 */
#include "cli/out/sqlite_file.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_S     10 /* how long another writer may take */
#define BUSY_SHOWN TEXT_QUOTED(BUSY_S)

enum {
    APPLICATION_ID = 0x6b626e63, /* "kbnc", in the header of a file of ours */
    SCHEMA_VERSION = 1,          /* PRAGMA user_version */
};

/* Of a run that was interrupted 1; what its rows are made of. Files of earlier versions lack them.
 */
#define PARTIAL_COLUMN " partial INTEGER NOT NULL DEFAULT 0"

/* The columns of `result` that follow are those of the commands, added when first needed. */
static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, schema TEXT NOT NULL, command TEXT NOT NULL,"
    " command_line TEXT NOT NULL, topology TEXT NOT NULL, hash TEXT NOT NULL,"
    " config TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL," PARTIAL_COLUMN
    "," PROVENANCE_COLUMN ");"
    "CREATE TABLE param (run INTEGER NOT NULL REFERENCES run (id), name TEXT NOT NULL, value TEXT,"
    " PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE result (run INTEGER NOT NULL REFERENCES run (id), row INTEGER NOT NULL,"
    " PRIMARY KEY (run, row)) WITHOUT ROWID;";

/* What the columns of `result` are; files of earlier versions lack it. */
static const char meanings[] =
    "CREATE TABLE IF NOT EXISTS columns (name TEXT PRIMARY KEY, type TEXT NOT NULL,"
    " unit TEXT NOT NULL, \"group\" TEXT NOT NULL, meaning TEXT NOT NULL) WITHOUT ROWID";

/* -- failures ------------------------------------------------------------------------------- */

/* Says why; false. The first failure is the one that counts. */
bool db_fail(struct out_sqlite *db, const char *why)
{
    if (!db->code)
        db->code = say(db->program, EXIT_SYSTEM, "cannot add to %s: %s", db->shown, why);
    return false;
}

/* Says why the last call of SQLite failed; false. */
bool db_fail_by(struct out_sqlite *db)
{
    int error = db->handle ? sqlite3_system_errno(db->handle) : 0;

    switch (db->handle ? sqlite3_errcode(db->handle) : SQLITE_NOMEM) {
    case SQLITE_NOMEM:
        return db_fail(db, "out of memory");
    case SQLITE_NOTADB:
        return db_fail(db, "it is no database of SQLite");
    case SQLITE_BUSY:
        return db_fail(db, "another program has locked it, for more than " BUSY_SHOWN " s");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return db_fail(db, error ? strerror(error) : sqlite3_errmsg(db->handle));
    default:
        return db_fail(db, sqlite3_errmsg(db->handle));
    }
}

/* -- statements ----------------------------------------------------------------------------- */

bool db_run(struct out_sqlite *db, const char *sql)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || db_fail_by(db);
}

/* NULL after a message. */
sqlite3_stmt *db_prepare(struct out_sqlite *db, const char *sql)
{
    sqlite3_stmt *s = NULL;

    if (!sql)
        db_fail(db, "out of memory");
    else if (sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL) != SQLITE_OK)
        db_fail_by(db);
    return s;
}

/* Runs a statement without rows, and makes it ready for its next values. */
bool db_step(struct out_sqlite *db, sqlite3_stmt *s)
{
    return (sqlite3_step(s) == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK) || db_fail_by(db);
}

/* The same for the last time. */
bool db_finish(struct out_sqlite *db, sqlite3_stmt *s)
{
    bool ok = s && db_step(db, s);

    sqlite3_finalize(s);
    return ok;
}

/* The one number that `sql` asks for. */
bool db_number(struct out_sqlite *db, const char *sql, int64_t *out)
{
    sqlite3_stmt *s = db_prepare(db, sql);
    bool ok = s && (sqlite3_step(s) == SQLITE_ROW || db_fail_by(db));

    if (ok)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return ok;
}

/* -- the file ------------------------------------------------------------------------------- */

bool db_connect(struct out_sqlite *db, int flags)
{
    if (sqlite3_open_v2(db->path, &db->handle, flags, NULL) != SQLITE_OK)
        return db_fail_by(db);
    if (sqlite3_db_readonly(db->handle, "main") > 0)
        return db_fail(db, "it may not be written");
    sqlite3_busy_timeout(db->handle, BUSY_S * 1000);
    return true;
}

/* *is_new: there are no tables yet. False after a message: they are not ours. */
bool db_check_owner(struct out_sqlite *db, bool *is_new)
{
    int64_t id, version, n;

    if (!db_number(db, "PRAGMA application_id", &id) ||
        !db_number(db, "PRAGMA user_version", &version) ||
        !db_number(db, "SELECT count(*) FROM sqlite_master", &n))
        return false;
    *is_new = id == 0 && version == 0 && n == 0;
    if (*is_new)
        return true;
    if (id != APPLICATION_ID)
        return db_fail(db, "it is a database of something else; name a new file");
    return version == SCHEMA_VERSION ||
           db_fail(db, "another version of kernbench wrote it; name a new file");
}

/* Can a file of that name be made? */
static bool check_folder(struct out_sqlite *db)
{
    const char *slash = strrchr(db->path, '/');
    char *folder = memory_part(db->path, (size_t)(slash - db->path) + 1);
    bool ok = access(folder, W_OK | X_OK) == 0 || db_fail(db, strerror(errno));

    free(folder);
    return ok;
}

/* A concurrent writer is not an error: out_sqlite_add() waits for it. */
static bool check_file(struct out_sqlite *db)
{
    struct stat st;
    bool is_new;

    if (stat(db->path, &st) < 0)
        return errno == ENOENT ? check_folder(db) : db_fail(db, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return db_fail(db, "it is no regular file");
    if (!db_connect(db, SQLITE_OPEN_READWRITE))
        return false;
    sqlite3_busy_timeout(db->handle, 0);
    bool busy =
        sqlite3_exec(db->handle, "BEGIN; SELECT 1 FROM sqlite_master", NULL, NULL, NULL) ==
        SQLITE_BUSY; /* else what follows is read of one state: another may make the tables now */
    sqlite3_busy_timeout(db->handle, BUSY_S * 1000);
    bool ok = busy || db_check_owner(db, &is_new);
    sqlite3_close(db->handle); /* there may be another file of that name when we are done */
    db->handle = NULL;
    return ok;
}

void db_release(struct out_sqlite *db)
{
    sqlite3_close(db->handle);
    sqlite3_free(db->known);
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
        db_release(db);
    else
        *out = db;
    return code;
}

/* -- transactions --------------------------------------------------------------------------- */

bool db_has_column(struct out_sqlite *db, const char *table, const char *name, bool *has)
{
    char *sql =
        sqlite3_mprintf("SELECT count(*) FROM pragma_table_info(%Q) WHERE name = %Q", table, name);
    int64_t n = 0;
    bool ok = db_number(db, sql, &n);

    sqlite3_free(sql);
    *has = n > 0;
    return ok;
}

bool db_add_column(struct out_sqlite *db, const char *table, const char *name, const char *column)
{
    bool has;

    if (!db_has_column(db, table, name, &has))
        return false;
    char *sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN%s", table, column);
    bool ok = has || (sql ? db_run(db, sql) : db_fail(db, "out of memory"));
    sqlite3_free(sql);
    return ok;
}

/* SQLite makes the file before it finds out that nothing fits into it. */
static bool is_empty_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* What was not committed goes. */
void db_roll_back(struct out_sqlite *db)
{
    sqlite3_close(db->handle);
    db->handle = NULL;
    if (db->is_new && is_empty_file(db->path))
        unlink(db->path);
}

/* The same when any thread has no memory, while another one may write: it does not from here on, as
 * the lock is never given back. Nothing is closed: statements may be open. */
static void undo(void *arg)
{
    struct out_sqlite *db = arg;

    if (db->handle) {
        sqlite3_mutex_enter(sqlite3_db_mutex(db->handle));
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    }
    if (db->is_new && is_empty_file(db->path))
        unlink(db->path);
}

bool db_begin(struct out_sqlite *db)
{
    bool is_new;

    if (db->begun)
        return true;
    memory_undo(undo, db);
    if (!db->handle && !db_connect(db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return false;
    if (!db_run(db, "BEGIN IMMEDIATE") || !db_check_owner(db, &is_new))
        return false;
    db->begun = true;
    if (!is_new)
        return db_add_column(db, "run", "partial", PARTIAL_COLUMN) &&
               db_add_column(db, "run", "provenance", PROVENANCE_COLUMN) && db_run(db, meanings);
    return (db_run(db, schema) && db_run(db, meanings) &&
            db_run(db, "PRAGMA application_id = 0x6b626e63;"
                       "PRAGMA user_version = 1"));
}
