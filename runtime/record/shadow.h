/* shadow.h -- who has touched which bytes of a memory: ranges, each with the accesses to it. */
#ifndef SHADOW_H
#define SHADOW_H
#include "record/vclock.h"

/* Two accesses of different PEs conflict unless both read, or both are atomic. */
enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

/* A line of a kernel, and what it calls. */
struct site {
    const char *call, *file;
    int line;
    uint32_t number; /* by which accesses are sorted: in order of their first use */
    struct site *next;
};

/* The clock of an access that has not ended. */
#define CLOCK_OPEN UINT32_MAX

/* A command of a PE has touched bytes. Counted: ranges hold it, and who waits for its end. */
struct access {
    uint32_t refs;
    uint32_t pe;
    uint32_t clock; /* of its PE at its end: who has seen so much of the PE comes after it */
    uint32_t op;    /* KB_NO_ID: no command */
    enum access_kind kind;
    bool strided; /* does not touch all of [first, end) */
    const struct site *site;
    int64_t issue_fs;
    uint64_t first, end;
    struct access *beside; /* of the same command; owned until it has ended */
};

void access_drop(struct access *x);

/* One memory. NULL: nobody has touched it. */
struct shadow;
void shadow_free(struct shadow *m);

/* What is changed while one access is entered, range by range. */
struct entering {
    struct access *access;
    struct vclock *seen;  /* borrowed: what its PE had seen */
    struct vclock *floor; /* borrowed: all have seen so much */
    uint64_t floors;      /* how often that has changed */
    /* An access that conflicts with it and does not come before it, in [first, end). */
    void (*meets)(void *arg, const struct access *before, uint64_t first, uint64_t end);
    void *arg;

    /* Ranges that had the same accesses before have the same again: the last such. Owned. */
    struct accesses *fresh;
    struct {
        struct accesses *before, *after;
    } same[16];
};

/* Enters [first, end) of memory *m, which is made when it is first touched. False: no memory. */
bool shadow_enter(struct shadow **m, struct entering *e, uint64_t first, uint64_t end);

/* The access has been entered. */
void shadow_leave(struct entering *e);

#endif
