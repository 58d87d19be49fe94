/*
 * out_kept.c -- single results of a study in its database, by machine and command.
 *
 * The table `kept` has a row for each, written in a transaction of its own, so that a study that is
 * killed continues with what it had. hash is that of the machine; provenance is the record of all
 * that the result is made of, and must be compared before it is taken.
 */
#include "cli/out/out_sqlite.h"

#ifndef KB_NO_SQLITE
#include "cli/out/memory.h"
#include "cli/out/sqlite_file.h"
#include <unistd.h>

static bool bind_text(struct out_sqlite *db, sqlite3_stmt *s, int at, const char *text)
{
    return sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC) == SQLITE_OK || db_fail_by(db);
}

static bool bind_key(struct out_sqlite *db, sqlite3_stmt *s, const char *hash, const char *command)
{
    return bind_text(db, s, 1, hash) && bind_text(db, s, 2, command) &&
           bind_text(db, s, 3, KB_VERSION);
}

/* Is there such a table yet, and with records? */
static bool has_kept(struct out_sqlite *db, bool *records)
{
    bool has = false;

    if (db->code || (!db->handle && access(db->path, F_OK) != 0))
        return false;
    if (!db->handle && !db_connect(db, SQLITE_OPEN_READWRITE))
        return false;
    return db_has_column(db, "kept", "result", &has) && has &&
           db_has_column(db, "kept", "provenance", records);
}

char *out_sqlite_kept(struct out_sqlite *db, const char *hash, const char *command,
                      struct provenance *of)
{
    char *result = NULL;
    bool records;

    if (!db || !has_kept(db, &records))
        return NULL;
    sqlite3_stmt *s = db_prepare(
        db, records ? "SELECT result, provenance FROM kept WHERE hash = ? AND command = ?"
                      " ORDER BY version = ? DESC, version DESC LIMIT 1"
                    : "SELECT result, '' FROM kept WHERE hash = ? AND command = ?"
                      " ORDER BY version = ? DESC, version DESC LIMIT 1");
    if (s && bind_key(db, s, hash, command) && sqlite3_step(s) == SQLITE_ROW) {
        result = memory_text((const char *)sqlite3_column_text(s, 0));
        provenance_read((const char *)sqlite3_column_text(s, 1), of);
    }
    sqlite3_finalize(s);
    return result;
}

static bool make_table(struct out_sqlite *db)
{
    return db_run(db, "CREATE TABLE IF NOT EXISTS kept (hash TEXT NOT NULL, command TEXT NOT NULL,"
                      " version TEXT NOT NULL, result TEXT NOT NULL," PROVENANCE_COLUMN ","
                      " PRIMARY KEY (hash, command, version)) WITHOUT ROWID") &&
           db_add_column(db, "kept", "provenance", PROVENANCE_COLUMN);
}

void out_sqlite_keep(struct out_sqlite *db, const char *hash, const char *command,
                     const struct provenance *of, const char *result)
{
    char sources[PROVENANCE_BYTES];

    if (!db || db->code || !db_begin(db) || !make_table(db))
        return;
    provenance_write(of, sources);
    sqlite3_stmt *s = db_prepare(db, "INSERT OR REPLACE INTO kept"
                                     " (hash, command, version, result, provenance)"
                                     " VALUES (?, ?, ?, ?, ?)");
    bool ok = s && bind_key(db, s, hash, command) && bind_text(db, s, 4, result) &&
              bind_text(db, s, 5, sources);
    if (!ok)
        sqlite3_finalize(s);
    if (ok && db_finish(db, s) && db_run(db, "COMMIT"))
        db->begun = false;
}
#endif
