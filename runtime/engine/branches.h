/*
 * branches.h -- the parts of a multicast: over the links that several share only the first goes.
 *
 * Their ways are a tree (machine/tree.h). A link of it is taken once, by the first part that has
 * it; the others follow that part, their trunk. A follower comes to the link at the same instant,
 * behind its trunk, as parts have one id and slots that ascend; it enters when the trunk entered,
 * and leaves the link as it is. So each part goes its own way, as any other row does, and all that
 * is kept is how many links it has passed, and when trunks entered those that others share.
 *
 * When a follower looks, its trunk has been there, but another part may have taken the link since,
 * to which it came by another way: so the link itself does not know.
 *
 * Example: c0.pe0 writes to c1, c2 and c3, in a row. The part to c1 takes the links from the PE to
 * c1's NoC, and from there to its slice. That to c2 follows it over the first of these, then takes
 * those from c1 to c2; that to c3 follows that to c2, which has itself followed that to c1.
 */
#ifndef BRANCHES_H
#define BRANCHES_H
#include "engine/state.h"

/* One part; all zero: the row is none. */
struct branch_part {
    uint32_t trunk;    /* slot of what it follows */
    uint32_t shared;   /* links, the first of its way, over which it does */
    uint32_t followed; /* over so many others follow it */
    uint32_t passed;   /* so many so far */
    int64_t late_fs;   /* of a read: what joining its data takes, behind its service */
    uint64_t *enters;  /* owned; of those that are followed, when it entered */
    uint32_t room;
    bool is_part;
};

/* Room for `n` rows where there is a table, in place of s->txns_cap. False without memory. */
bool branches_room(struct kb_sim *s, uint32_t n);
void branches_free(struct kb_sim *s);

/* Why a machine has no multicasts that write, or that read; NULL: it has. */
const char *branches_refused(const struct kb_topology *t, bool reads);

/* The parts from slot `first` on, a list by split.next, are those of a multicast. False without
 * memory. */
bool branches_lay_over(struct kb_sim *s, uint32_t first);

/* The row in `slot` is no part of a multicast. */
void branches_none(struct kb_sim *s, uint32_t slot);

static inline bool is_branch(const struct kb_sim *s, uint32_t slot)
{
    return s->branches && s->branches[slot].is_part;
}

/* How late what it reads is behind its service. */
static inline int64_t branch_late_fs(const struct kb_sim *s, uint32_t slot)
{
    return s->branches ? s->branches[slot].late_fs : 0;
}

/* Does the row in `slot`, which comes to a link, follow another there? */
static inline bool branch_follows(const struct kb_sim *s, uint32_t slot)
{
    return s->branches && s->branches[slot].passed < s->branches[slot].shared;
}

/* The same of its next event, which then is no arrival of its own. */
static inline bool branch_comes_behind(const struct kb_sim *s, uint32_t slot)
{
    return branch_follows(s, slot) && s->txns[slot].stage == TXN_TO_LINK;
}

/* It passes a link: its trunk did so at the time that is returned. */
static inline uint64_t branch_enter(const struct kb_sim *s, uint32_t slot)
{
    const struct branch_part *part = &s->branches[slot];

    return s->branches[part->trunk].enters[part->passed];
}

/* It has entered a link at `t`. */
static inline void branch_passed(struct kb_sim *s, uint32_t slot, uint64_t t)
{
    struct branch_part *part = s->branches ? &s->branches[slot] : NULL;

    if (!part || !part->is_part)
        return;
    if (part->passed < part->followed)
        part->enters[part->passed] = t;
    part->passed++;
}

/* Takes off from what has been counted by route what a follower has not carried itself. */
void branch_uncount(struct kb_sim *s, uint32_t slot);

#endif
