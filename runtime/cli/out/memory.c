/*
 * memory.c -- memory of the command line: there is always some, or the program has ended.
 *
 * Code that must expect NULL from each allocation has as many ways that are never run, and one that
 * is forgotten leaves out a row or crashes. So the command line does not allocate by itself:
 * malloc() and its kin, and streams in memory, are called here alone (tests/house/memory.sh). What
 * has no memory says so, removes what is not complete, and ends the program with exit 5. Results
 * that were complete before stay.
 *
 * In a program that runs commands itself only the command ends: session_lacks().
 *
 * The library returns KB_NO_MEMORY to its callers, and so do the libraries that read JSON and write
 * databases: cmd_fail() of command.c says the same of these.
 *
 * An example: `report load` has added its rows to the database of --sqlite, and draws the plot. The
 * plot lacks memory. undo() rolls the transaction back, the temporary file of -o is removed, and
 * the old page and the database are as they were.
 */
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What has no memory can be told nothing by its caller, as this may be anywhere: static. */
static const char *name = "kernbench";
static void (*undo_last)(void *arg);
static void *undo_arg;

void memory_begin(const char *program)
{
    enum { TABLE_BYTES = 32 << 20 };

    name = program;
    /* The memory of one machine serves the next, in place of pages that the system clears again. */
    mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * TABLE_BYTES);
}

/* Never given back by what lacks memory: a second thread that does waits for the end. */
static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;

/* Nothing is begun that would have to be undone, once memory lacks: the caller waits for the end.
 */
void memory_undo(void (*undo)(void *arg), void *arg)
{
    struct session *s = session_here();

    if (s) {
        session_undo(s, undo, arg);
        return;
    }
    pthread_mutex_lock(&last);
    undo_last = undo;
    undo_arg = arg;
    pthread_mutex_unlock(&last);
}

void memory_lacks(void)
{
    if (session_here())
        session_lacks(session_here());
    pthread_mutex_lock(&last);
    say_into(NULL); /* what this thread says of its part is not printed any more */
    if (undo_last)
        undo_last(undo_arg);
    stop_remove();
    _exit((int)say(name, EXIT_SYSTEM, "out of memory"));
}

static void *checked(void *p)
{
    if (!p)
        memory_lacks();
    return p;
}

void *memory_new(size_t n, size_t size)
{
    return checked(calloc(n > 0 ? n : 1, size));
}

void *memory_resize(void *old, size_t n, size_t size)
{
    return checked(reallocarray(old, n > 0 ? n : 1, size));
}

void *memory_room(void *rows, size_t n, size_t *room, size_t size)
{
    enum { ROOM_FIRST = 64 };

    if (n < *room)
        return checked(rows);
    *room = *room > 0 ? 2 * *room : ROOM_FIRST;
    return memory_resize(rows, *room, size);
}

char *memory_part(const char *text, size_t len)
{
    return checked(strndup(text, len));
}

char *memory_text(const char *text)
{
    return checked(strdup(text));
}
