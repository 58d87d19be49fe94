/* sqlite_file.h -- a database of ours: its file, its owner, its transaction; for out_sqlite.c and
 * out_kept.c. */
#ifndef SQLITE_FILE_H
#define SQLITE_FILE_H
#include "cli/out/out_sqlite.h"
#include <sqlite3.h>

/* What a row of a table is made of (base/provenance.h); files of earlier versions lack it. */
#define PROVENANCE_COLUMN " provenance TEXT NOT NULL DEFAULT ''"

struct out_sqlite {
    const char *program; /* borrowed */
    char *path;          /* owned: what SQLite takes for a file in any case */
    const char *shown;   /* for messages, borrowed */
    sqlite3 *handle;     /* owned; NULL: nothing is added yet */
    bool begun;          /* a transaction */
    bool is_new;         /* there was no such file */
    int64_t first_run;   /* of this transaction; 0: none */
    char *known;         /* owned: the command, and the columns, that the tables have; NULL: none */
    enum exit_code code;
};

/* Say why, or why the last call of SQLite failed; false. The first failure is the one that counts.
 */
bool db_fail(struct out_sqlite *db, const char *why);
bool db_fail_by(struct out_sqlite *db);

bool db_run(struct out_sqlite *db, const char *sql);

/* NULL after a message. */
sqlite3_stmt *db_prepare(struct out_sqlite *db, const char *sql);

/* Runs a statement without rows, and makes it ready for its next values, or frees it. */
bool db_step(struct out_sqlite *db, sqlite3_stmt *s);
bool db_finish(struct out_sqlite *db, sqlite3_stmt *s);

/* The one number that `sql` asks for. */
bool db_number(struct out_sqlite *db, const char *sql, int64_t *out);

bool db_connect(struct out_sqlite *db, int flags);

/* *is_new: there are no tables yet. False after a message: they are not ours. */
bool db_check_owner(struct out_sqlite *db, bool *is_new);

bool db_has_column(struct out_sqlite *db, const char *table, const char *name, bool *has);

/* Adds a column `name`, of the definition `column`, to a table that lacks it. */
bool db_add_column(struct out_sqlite *db, const char *table, const char *name, const char *column);

/* Begins the transaction, if there is none, in a file that has the tables then. */
bool db_begin(struct out_sqlite *db);

/* What was not committed goes; the connection is closed. */
void db_roll_back(struct out_sqlite *db);
void db_release(struct out_sqlite *db);

#endif
