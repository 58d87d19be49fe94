/*
 * out_kept.c -- single results of a study in its database, by machine and command.
 *
 * The table `kept` has a row for each, written in a transaction of its own, so that a study that is
 * killed continues with what it had. hash is that of the machine's configuration, which is all that
 * a result depends on besides the command and the version of kernbench.
 */
#include "cli/out/out_sqlite.h"

#ifndef KB_NO_SQLITE
#include "cli/out/memory.h"
#include "cli/out/sqlite_file.h"
#include <unistd.h>

static bool bind_key(struct out_sqlite *db, sqlite3_stmt *s, const char *hash, const char *command)
{
    return (sqlite3_bind_text(s, 1, hash, -1, SQLITE_STATIC) == SQLITE_OK &&
            sqlite3_bind_text(s, 2, command, -1, SQLITE_STATIC) == SQLITE_OK &&
            sqlite3_bind_text(s, 3, KB_VERSION, -1, SQLITE_STATIC) == SQLITE_OK) ||
           db_fail_by(db);
}

/* Is there such a table yet? */
static bool has_kept(struct out_sqlite *db)
{
    bool has = false;

    if (db->code || (!db->handle && access(db->path, F_OK) != 0))
        return false;
    if (!db->handle && !db_connect(db, SQLITE_OPEN_READWRITE))
        return false;
    return db_has_column(db, "kept", "result", &has) && has;
}

char *out_sqlite_kept(struct out_sqlite *db, const char *hash, const char *command)
{
    char *result = NULL;

    if (!db || !has_kept(db))
        return NULL;
    sqlite3_stmt *s =
        db_prepare(db, "SELECT result FROM kept WHERE hash = ? AND command = ? AND version = ?");
    if (s && bind_key(db, s, hash, command) && sqlite3_step(s) == SQLITE_ROW)
        result = memory_text((const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return result;
}

void out_sqlite_keep(struct out_sqlite *db, const char *hash, const char *command,
                     const char *result)
{
    if (!db || db->code || !db_begin(db) ||
        !db_run(db, "CREATE TABLE IF NOT EXISTS kept (hash TEXT NOT NULL, command TEXT NOT NULL,"
                    " version TEXT NOT NULL, result TEXT NOT NULL,"
                    " PRIMARY KEY (hash, command, version)) WITHOUT ROWID"))
        return;
    sqlite3_stmt *s = db_prepare(db, "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)");
    bool ok = s && bind_key(db, s, hash, command) &&
              (sqlite3_bind_text(s, 4, result, -1, SQLITE_STATIC) == SQLITE_OK || db_fail_by(db));
    if (!ok)
        sqlite3_finalize(s);
    if (ok && db_finish(db, s) && db_run(db, "COMMIT"))
        db->begun = false;
}
#endif
