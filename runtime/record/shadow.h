/* shadow.h -- which accesses a memory has had: ranges of bytes, each with the accesses to it. */
#ifndef SHADOW_H
#define SHADOW_H
#include "record/vclock.h"

/* Two accesses of different PEs conflict unless both read, or both are atomic; both of
 * ACCESS_ORDERED do as well: atomics whose result depends on which is first. */
enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_ORDERED };

/* A line of a kernel, and the call there. */
struct site {
    const char *call, *file;
    int line;
    uint32_t number; /* in order of first use; accesses are sorted by it */
    struct site *next;
};

/* The clock of an access that has not ended. */
#define CLOCK_OPEN UINT32_MAX

/* An access of a command. Reference-counted: ranges hold it, and its command until it has ended. */
struct access {
    uint32_t refs;
    uint32_t pe;
    uint32_t clock; /* of its PE when it ended: see race.c */
    uint32_t op;    /* KB_NO_ID: no command */
    enum access_kind kind;
    bool strided; /* it has gaps in [first, end) */
    const struct site *site;
    const char *kernel;
    int64_t issue_fs;
    uint64_t first, end;
    struct access *beside; /* of the same command; owned until it has ended */
};

void access_drop(struct access *x);

/* One memory. NULL: it has had no access. */
struct shadow;
void shadow_free(struct shadow *m);

/* An access while it is entered, range by range. */
struct entering {
    struct access *access;
    struct vclock *seen;  /* borrowed; of its PE */
    struct vclock *floor; /* borrowed; what all PEs have seen */
    uint64_t floors;      /* how often that has changed */
    /* Called for each access that conflicts with it and does not happen before it. */
    void (*meets)(void *arg, const struct access *before, uint64_t first, uint64_t end);
    void *arg;

    /* Ranges that shared their accesses before share them again: the latest of those. Owned. */
    struct accesses *fresh;
    struct {
        struct accesses *before, *after;
    } same[16];
};

/* Enters bytes [first, end) of memory *m, which is made by its first access. False: no memory. */
bool shadow_enter(struct shadow **m, struct entering *e, uint64_t first, uint64_t end);

/* Frees what `e` owns, after all of the access has been entered. */
void shadow_leave(struct entering *e);

#endif
