/*
 * failures.c -- preloaded: one call of the system fails, the FAIL_AT-th of the kind FAIL_KIND.
 *
 * Kinds are the names below. With FAIL_AFTER all calls of the kind after it fail, too. At exit the
 * number of calls of each kind is written to the file FAIL_COUNTS, and how many blocks of memory
 * were not given back. With FAIL_ONLY only programs of that file name fail, none that they start.
 *
 * The C library calls itself without being led here, so that streams of stdio are replaced by
 * streams whose reads and writes do come here (fopencookie). Stderr is left as it is: messages of a
 * program that fails are what the test looks at.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { ALLOC, OPEN, READ, WRITE, CLOSE, RENAME, FSYNC, MMAP, THREAD, N_KINDS };

static const char *const names[N_KINDS] = {"alloc",  "open",  "read", "write", "close",
                                           "rename", "fsync", "mmap", "thread"};
static const int errors[N_KINDS] = {ENOMEM, EMFILE, EIO, ENOSPC, EIO, EIO, EIO, ENOMEM, EAGAIN};
static atomic_long calls[N_KINDS], blocks;
static int failing = -1; /* the kind */
static long fail_at;
static bool fail_after;

static bool fails(enum kind kind)
{
    long call = ++calls[kind];

    if ((int)kind != failing || call < fail_at || (call > fail_at && !fail_after))
        return false;
    errno = errors[kind];
    return true;
}

/* -- memory --------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *counted(void *p)
{
    blocks += p != NULL;
    return p;
}

void *malloc(size_t size)
{
    return fails(ALLOC) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails(ALLOC) ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    void *p = fails(ALLOC) ? NULL : __libc_realloc(old, size);

    return old ? p : counted(p);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails(ALLOC) ? NULL : counted(__libc_memalign(align, size));
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = aligned_alloc(align, size);

    *out = p ? p : *out;
    return p ? 0 : ENOMEM;
}

void free(void *p)
{
    blocks -= p != NULL;
    __libc_free(p);
}

/* -- files ---------------------------------------------------------------------------------- */

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    return openat(AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
    return fails(READ) ? -1 : syscall(SYS_read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return fails(READ) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
    return fd != STDERR_FILENO && fails(WRITE) ? -1 : syscall(SYS_write, fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return fails(WRITE) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

/* A file that could not be closed is closed all the same, as Linux has it. */
int close(int fd)
{
    bool failed = fails(CLOSE);
    int result = (int)syscall(SYS_close, fd);

    if (failed)
        errno = EIO;
    return failed ? -1 : result;
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int fsync(int fd)
{
    return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails(FSYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return fails(MMAP) ? MAP_FAILED
                       : (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
ssize_t pread64(int fd, void *to, size_t n, off_t at) __attribute__((alias("pread")));
ssize_t pwrite64(int fd, const void *from, size_t n, off_t at) __attribute__((alias("pwrite")));
void *mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

/* -- streams -------------------------------------------------------------------------------- */

static ssize_t read_stream(void *cookie, char *to, size_t n)
{
    return read((int)(intptr_t)cookie, to, n);
}

/* A stream takes 0, not -1, for a write that failed. */
static ssize_t write_stream(void *cookie, const char *from, size_t n)
{
    ssize_t wrote = write((int)(intptr_t)cookie, from, n);

    return wrote < 0 ? 0 : wrote;
}

static int seek_stream(void *cookie, off64_t *to, int whence)
{
    *to = lseek((int)(intptr_t)cookie, *to, whence);
    return *to < 0 ? -1 : 0;
}

static int close_stream(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
    static const cookie_io_functions_t stream = {read_stream, write_stream, seek_stream,
                                                 close_stream};

    return fopencookie((void *)(intptr_t)fd, mode, stream);
}

FILE *fopen(const char *path, const char *mode)
{
    int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    int fd = open(path, flags | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

    if (fd >= 0 && !stream)
        syscall(SYS_close, fd);
    return stream;
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

/* -- threads, and the whole ----------------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return fails(THREAD) ? EAGAIN : next(thread, attributes, run, arg);
}

__attribute__((constructor)) static void begin(void)
{
    const char *kind = getenv("FAIL_KIND"), *at = getenv("FAIL_AT"), *only = getenv("FAIL_ONLY");
    FILE *out = fdopen(STDOUT_FILENO, "w");

    if (out)
        stdout = out;
    for (int i = 0; i < N_KINDS; i++)
        calls[i] = 0;
    fail_at = at ? atol(at) : 0;
    fail_after = getenv("FAIL_AFTER") != NULL;
    if (only && strcmp(only, program_invocation_short_name) != 0)
        kind = NULL;
    for (int i = 0; kind && i < N_KINDS; i++)
        failing = strcmp(kind, names[i]) == 0 ? i : failing;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNTS");
    char line[64];
    int fd;

    failing = -1;
    fflush(stdout);
    fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    for (int i = 0; fd >= 0 && i <= N_KINDS; i++) {
        long n = i < N_KINDS ? calls[i] : blocks;
        int len = snprintf(line, sizeof line, "%s %ld\n", i < N_KINDS ? names[i] : "blocks", n);

        syscall(SYS_write, fd, line, len);
    }
}
