/* digest.h -- SHA-256 of texts and files, as hexadecimal digits: equal digits, equal bytes. */
#ifndef DIGEST_H
#define DIGEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef KB_NO_MD
#include <sys/types.h>
#include <sha2.h>
#endif

enum { DIGEST_CHARS = 64 };

/* One that grows. */
struct digest {
#ifndef KB_NO_MD
    SHA2_CTX state;
#endif
    bool any; /* has something been added? */
};

/* Has this build libmd? Without it all digests are "". */
bool digest_works(void);

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);

/* The same of a large array in memory, by XXH3: SHA-256 would take as long as its simulation. */
void digest_add_bulk(struct digest *d, const void *bytes, size_t n);

/* Adds its length as well: "ab" and "c" are not "a" and "bc". */
void digest_add_text(struct digest *d, const char *text);

/* Of what is no regular file nothing is added. False with errno: one that cannot be read. */
bool digest_add_file(struct digest *d, const char *path);

/* "" if nothing was added. */
void digest_end(struct digest *d, char hex[DIGEST_CHARS + 1]);

/* That of a regular file; "" of what is none. False with errno: one that cannot be read. */
bool digest_of_file(const char *path, char hex[DIGEST_CHARS + 1]);

void digest_of(const void *bytes, size_t n, char hex[DIGEST_CHARS + 1]);

#endif
