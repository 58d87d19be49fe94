/* serving.c -- what a memory that chooses tells the engine that runs. */
#include "engine/serving.h"
#include "engine/child_rows.h"
#include "engine/how.h"
#include "engine/inorder_lists.h"

void serving_end(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (!inorder_runs(s) || (!s->inorder->ahead && !s->observer)) { /* nothing follows before */
        post_done(s, t, slot);
        return;
    }
    s->txns[slot].at_fs = t;
    s->txns[slot].next = s->inorder->known_ends;
    s->inorder->known_ends = slot;
}

void serving_wake(struct kb_sim *s, uint64_t t, uint32_t dst)
{
    ev wake = ev_make(t, EV_ARBITER, dst, WAKE_OF_MEMORY | dst);

    if (t >= EV_PAST - 1) {
        fail(s, KB_TIME_RANGE);
        return;
    }
    if (inorder_runs(s) && wake < s->inorder->soon) {
        ev later = s->inorder->soon;

        s->inorder->soon = wake;
        wake = later;
    }
    if (wake != EV_NONE)
        post_else(s, wake);
}
