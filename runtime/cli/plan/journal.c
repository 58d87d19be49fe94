/*
 * journal.c -- results of a plan, kept in a file as they come: it goes on after any death.
 *
 * The file is a line that says what the results are of, and then a record for each: the number of
 * the item, the length of its result, a sum over all of it, and its bytes. A record is one write()
 * at the end. Whatever ends the process, and wherever, leaves whole records, and at most one that
 * is cut: its sum does not fit, and the next run cuts it off. Results come in the order of items;
 * those that were not final, as for want of memory, are done again later, and stand behind others.
 * So the file is a few runs of consecutive items, which is all that is kept in
 * memory.
 *
 * It is for the same program on the same machine: numbers are as they lie in memory. What the power
 * takes before the system has written it is lost, and done again.
 */
#include "cli/plan/journal.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_WORDS "kernbench journal 1: "

enum {
    HEAD_BYTES = sizeof JOURNAL_WORDS + PROVENANCE_BYTES,
    LOCK_PAUSE_NS = 100000000,
    LOCK_TRIES = 100, /* 10 s */
};

struct head {
    uint64_t number, n, sum;
};

/* -- records ---------------------------------------------------------------------------------- */

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

/* FNV-1a of a record. */
static uint64_t sum_of(const struct head *h, const void *bytes)
{
    uint64_t sum = add_bytes(0xcbf29ce484222325u, &h->number, sizeof h->number);

    return add_bytes(add_bytes(sum, &h->n, sizeof h->n), bytes, h->n);
}

/* The bytes of a record, from its head on; false: it is cut, or something else. */
static bool read_record(int fd, long long at, long long end, struct head *h, struct packed *to)
{
    if (end - at < (long long)sizeof *h || pread(fd, h, sizeof *h, at) != (ssize_t)sizeof *h ||
        h->n > (uint64_t)(end - at) - sizeof *h)
        return false;
    if (h->n > to->room) {
        to->bytes = memory_resize(to->bytes, h->n, 1);
        to->room = h->n;
    }
    to->n = h->n;
    to->at = 0;
    return pread(fd, to->bytes, h->n, at + (long long)sizeof *h) == (ssize_t)h->n &&
           sum_of(h, to->bytes) == h->sum;
}

static void add_run(struct journal *j, int fd, uint64_t number, long long at)
{
    struct journal_run *last = j->n_runs > 0 ? &j->run[j->n_runs - 1] : NULL;

    j->n_left++;
    if (last && last->fd == fd && last->first + last->n == number) {
        last->n++;
        return;
    }
    j->run = memory_room(j->run, j->n_runs, &j->runs_room, sizeof *j->run);
    j->run[j->n_runs++] = (struct journal_run){.first = number, .n = 1, .at = at, .fd = fd};
}

/* Finds the records of a file from `at` on. Returns where they end. */
static long long find_records(struct journal *j, int fd, long long at)
{
    struct packed bytes = {0};
    struct stat st;
    struct head h;

    if (fstat(fd, &st) != 0)
        st.st_size = at;
    for (; read_record(fd, at, st.st_size, &h, &bytes); at += (long long)(sizeof h + h.n))
        add_run(j, fd, h.number, at);
    packed_free(&bytes);
    return at;
}

/* -- files ------------------------------------------------------------------------------------ */

/* The length of the first line, and what it says; 0: there is none, or it is cut. */
static long long read_line(int fd, struct provenance *of)
{
    char line[HEAD_BYTES + 1];
    ssize_t n = pread(fd, line, HEAD_BYTES, 0);
    char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;

    if (!end)
        return 0;
    *end = '\0';
    if (strncmp(line, JOURNAL_WORDS, strlen(JOURNAL_WORDS)) != 0 ||
        !provenance_read(line + strlen(JOURNAL_WORDS), of))
        return 0;
    return end - line + 1;
}

bool journal_is(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct provenance of;
    bool is = fd >= 0 && read_line(fd, &of) > 0;

    if (fd >= 0)
        close(fd);
    return is;
}

static bool write_line(struct journal *j, const struct provenance *of)
{
    char line[HEAD_BYTES + 1], text[PROVENANCE_BYTES];

    provenance_write(of, text);
    int n = snprintf(line, sizeof line, JOURNAL_WORDS "%s\n", text);
    return ftruncate(j->fd, 0) == 0 && write(j->fd, line, (size_t)n) == n;
}

/* Finds what is in a file of results of `of`. */
static enum exit_code take_file(struct journal *j, const char *program, const char *path, int fd,
                                const struct provenance *of, long long *end)
{
    char names[PROVENANCE_NAMES_BYTES];
    struct provenance was;
    long long begin = read_line(fd, &was);
    unsigned differs = begin ? provenance_differs(&was, of) : 0;

    *end = 0;
    if (differs) {
        provenance_names(differs, names);
        return say(program, EXIT_INPUT,
                   "%s has results that are not of the same %s: remove it to begin again", path,
                   names);
    }
    *end = begin ? find_records(j, fd, begin) : 0;
    return EXIT_OK;
}

static enum exit_code cannot(const char *program, const char *path)
{
    return say(program, EXIT_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

/* A file that is none of ours is not written over. */
static bool is_foreign(int fd)
{
    char begin[sizeof JOURNAL_WORDS - 1];
    ssize_t n = pread(fd, begin, sizeof begin, 0);

    return n > 0 && memcmp(begin, JOURNAL_WORDS, (size_t)n) != 0;
}

/* Is no other run at work on it? The workers of one that was killed have the file open until the
 * system has ended them, too, which takes a while where there is much else to do. */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

enum exit_code journal_open(struct journal *j, const char *program, const char *path,
                            const struct provenance *of)
{
    long long end;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd < 0)
        return cannot(program, path);
    j->path = memory_text(path);
    j->fd = fd;
    if (!lock(fd))
        return say(program, EXIT_SYSTEM, "%s is in use by another run", path);
    if (is_foreign(fd))
        return say(program, EXIT_INPUT, "%s is no journal of results", path);
    enum exit_code code = take_file(j, program, path, fd, of, &end);
    if (!code && !(end ? ftruncate(fd, end) == 0 : write_line(j, of)))
        code = cannot(program, path);
    return code;
}

enum exit_code journal_add_parts(struct journal *j, const char *program, const char *whole,
                                 const struct provenance *of)
{
    enum exit_code code = EXIT_OK;
    glob_t found = {0};
    char *pattern = memory_new(strlen(whole) + 8, 1);

    sprintf(pattern, "%s.*of*", whole);
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc && !code; i++) {
        long long end;
        int fd = journal_is(found.gl_pathv[i]) ? open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC) : -1;

        if (fd < 0)
            continue;
        j->fds = memory_resize(j->fds, j->n_fds + 1, sizeof *j->fds);
        j->fds[j->n_fds++] = fd;
        code = take_file(j, program, found.gl_pathv[i], fd, of, &end);
    }
    globfree(&found);
    free(pattern);
    return code;
}

/* -- results ---------------------------------------------------------------------------------- */

bool journal_take(struct journal *j, uint64_t i, struct packed *result)
{
    for (size_t k = 0; k < j->n_runs && j->n_left > 0; k++) {
        struct journal_run *run = &j->run[k];
        struct head h;

        if (run->first != i || run->n == 0)
            continue;
        if (!read_record(run->fd, run->at, INT64_MAX, &h, result))
            return false;
        run->at += (long long)(sizeof h + h.n);
        run->first++;
        run->n--;
        j->n_left--;
        return true;
    }
    return false;
}

bool journal_put(struct journal *j, uint64_t i, const struct packed *result)
{
    struct head h = {.number = i, .n = result->n};
    struct iovec parts[] = {{&h, sizeof h}, {result->bytes, result->n}};

    h.sum = sum_of(&h, result->bytes);
    errno = 0;
    if (writev(j->fd, parts, 2) == (ssize_t)(sizeof h + result->n))
        return true;
    j->error = errno ? errno : ENOSPC;
    return false;
}

void journal_close(struct journal *j, bool keep)
{
    if (!j->path)
        return;
    if (!keep)
        unlink(j->path);
    for (size_t i = 0; i < j->n_fds; i++)
        close(j->fds[i]);
    close(j->fd);
    free(j->fds);
    free(j->run);
    free(j->path);
    *j = (struct journal){0};
}
