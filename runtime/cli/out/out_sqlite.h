/* out_sqlite.h -- results added to a database of SQLite: what a command prints is one transaction.
 */
#ifndef OUT_SQLITE_H
#define OUT_SQLITE_H
#include "cli/exit.h"
#include "cli/out/out.h"

struct out_sqlite;

/*
 * Looks at `path` (borrowed) before the work begins, and creates nothing: that it cannot be
 * written, or belongs to others, is not found out after hours. A NULL path is no database, and
 * *out NULL, which the calls below take.
 *
 * returns  EXIT_OK, or EXIT_SYSTEM after a message; *out is NULL then
 */
enum exit_code out_sqlite_open(struct out_sqlite **out, const char *program, const char *path);

/* Adds a run and its rows; other programs do not see them yet. A failure is reported, and stays
 * until the end. */
void out_sqlite_add(struct out_sqlite *db, const struct rows *rows, const struct origin *origin);

/*
 * A single result, by the hash of its machine and its command, and the record `of` of what made it;
 * of results of earlier versions it is no record. NULL: there is none, or no database; else owned.
 */
char *out_sqlite_kept(struct out_sqlite *db, const char *hash, const char *command,
                      struct provenance *of);

/* Keeps one in place of any other: complete when it returns, before the first out_sqlite_add(). */
void out_sqlite_keep(struct out_sqlite *db, const char *hash, const char *command,
                     const struct provenance *of, const char *result);

/*
 * Takes `db`. Unless `end` is SINK_DROP what was added is there from now on, all of it or, after a
 * failure, nothing. With SINK_PARTIAL its runs are marked as interrupted.
 *
 * returns  EXIT_OK, or EXIT_SYSTEM after a message, here or before
 */
enum exit_code out_sqlite_close(struct out_sqlite *db, enum sink_end end);

#endif
