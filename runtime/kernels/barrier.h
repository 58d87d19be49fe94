/* barrier.h -- groups of PEs that wait for each other. */
#ifndef BARRIER_H
#define BARRIER_H
#include "kernels/kernels.h"

struct barrier {
    uint32_t *pes; /* owned, ascending; NULL: those from `first` on */
    uint32_t first;
    size_t n, arrived;
    uint64_t last_fs; /* when the last word so far reaches the lowest PE */
    struct command *waiting, *last_waiting;
    struct command *last; /* the command that sent that word */
    struct barrier *next; /* of the same hash */
};

enum { BARRIER_ROWS = 256 }; /* a power of two */

struct barriers {
    struct barrier *row[BARRIER_ROWS];
};

/* Sets the command's barrier, which is made for the first call of its group. False after a message.
 */
KERNELS_OWN bool barrier_find(struct command *c, const tl_group *group);
/* A member has come. */
KERNELS_OWN void barrier_join(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void barriers_free(struct barriers *barriers);

#endif
