/* stop.h -- signals that end a run: the first Ctrl-C asks, another half a second later insists. */
#ifndef STOP_H
#define STOP_H
#include <stdbool.h>

/* Catches what ends a program from outside, so that no temporary file stays behind. */
void stop_catch(void);

/* From now on (or, with false, no longer) the first SIGINT only makes stop_asked() true. */
void stop_defer(bool deferred);
bool stop_is_deferred(void);

/*
 * A limit of `session` (NULL: of the command line) is passed: as a first SIGINT, on any thread. If
 * nothing is deferred the process ends, with EXIT_LIMIT and a message.
 */
struct session;
enum stop_limit { STOP_NO_LIMIT, STOP_TIME, STOP_MEMORY };
void stop_at_limit(struct session *session, enum stop_limit limit);
_Noreturn void stop_now(enum stop_limit limit); /* of a command line */

/* Which limit made stop_asked() true; and how messages begin: "interrupted". */
enum stop_limit stop_limit(void);
const char *stop_word(void);

/* The limit that has asked a session, as long as no loop has looked; NULL: none. */
const char *stop_unheard(const struct session *session);

bool stop_asked(void);

/* Ends the program without giving anything back, except that it removes temporary files. */
_Noreturn void stop_exit(int code);

/*
 * The same, for the main thread once nothing is computed any more: only what is complete is written
 * now, which may take its time. Unless it is called within a second the program ends.
 */
bool stop_heard(void);

/*
 * A file to remove if we are killed, borrowed until stop_keeps() is called with what this returns.
 * NULL: none.
 */
enum { STOP_FILES = 4 }; /* more are not removed */
int stop_removes(const char *path);
void stop_keeps(int file);

/* Removes them now. */
void stop_remove(void);

/* For a new process: signals end it, and the files are those of the other one. */
void stop_forget(void);

/*
 * A thread was left behind, at work on what a command owns: nothing of that is freed any more, and
 * the process ends when the rest is written.
 */
void stop_leave(void);
bool stop_leaves(void);

#endif
