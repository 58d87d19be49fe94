/*
 * digest.c -- SHA-256 of texts and files, by libmd.
 *
 * libmd is the hash functions of the BSDs and nothing else: 10 KB of code under licences of their
 * kind, in every Debian. XXH64, which names machines in results, is quicker, but files of a cache
 * are found by their hash alone.
 */
#include "base/digest.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef KB_NO_MD
void digest_add_bulk(struct digest *d, const void *bytes, size_t n)
{
    (void)d;
    (void)bytes;
    (void)n;
}

bool digest_works(void)
{
    return false;
}

void digest_begin(struct digest *d)
{
    *d = (struct digest){0};
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
    (void)d;
    (void)bytes;
    (void)n;
}

void digest_end(struct digest *d, char hex[DIGEST_CHARS + 1])
{
    (void)d;
    hex[0] = '\0';
}
#else
#define XXH_INLINE_ALL
#include <xxhash.h>

void digest_add_bulk(struct digest *d, const void *bytes, size_t n)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, n);

    digest_add(d, &hash, sizeof hash);
    digest_add(d, &n, sizeof n);
}

bool digest_works(void)
{
    return true;
}

void digest_begin(struct digest *d)
{
    SHA256Init(&d->state);
    d->any = false;
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
    SHA256Update(&d->state, bytes, n);
    d->any = true;
}

void digest_end(struct digest *d, char hex[DIGEST_CHARS + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[SHA256_DIGEST_LENGTH];

    SHA256Final(bytes, &d->state);
    for (size_t i = 0; i < sizeof bytes; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[d->any ? DIGEST_CHARS : 0] = '\0';
}
#endif

void digest_add_text(struct digest *d, const char *text)
{
    uint64_t n = strlen(text);

    digest_add(d, &n, sizeof n);
    digest_add(d, text, n);
}

/* A device may have no end. */
static bool is_regular(const char *path)
{
    struct stat of;

    return stat(path, &of) == 0 && S_ISREG(of.st_mode);
}

bool digest_of_file(const char *path, char hex[DIGEST_CHARS + 1])
{
    unsigned char bytes[1 << 14];
    struct digest d;
    FILE *f;
    size_t n;

    hex[0] = '\0';
    if (!is_regular(path))
        return true;
    f = fopen(path, "rb");
    if (!f)
        return false;
    digest_begin(&d);
    digest_add(&d, "", 0);
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        digest_add(&d, bytes, n);
    int error = ferror(f) ? errno : 0;
    fclose(f);
    digest_end(&d, hex);
    errno = error;
    return !error;
}

bool digest_add_file(struct digest *d, const char *path)
{
    char hex[DIGEST_CHARS + 1];

    if (!digest_of_file(path, hex))
        return false;
    if (*hex)
        digest_add_text(d, hex);
    return true;
}

void digest_of(const void *bytes, size_t n, char hex[DIGEST_CHARS + 1])
{
    struct digest d;

    digest_begin(&d);
    digest_add(&d, bytes, n);
    digest_end(&d, hex);
}
