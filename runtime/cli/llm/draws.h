/* draws.h -- which ids the commands take that a rank issues between collectives. */
#ifndef DRAWS_H
#define DRAWS_H
#include "benches/llm/step.h"

/* The ids of all commands of a run of one rank, as they are drawn. */
struct draws_heard {
    const struct llm_step *step;
    uint32_t *index_of; /* owned: [PE]: its place in the rank */
    tl_draw *draw;      /* owned; n: their ids, until draws_of_leaps() */
    size_t n, room;
    bool in_order; /* of time and PE */
};

void draws_begin(struct draws_heard *heard, const struct llm_step *step, uint32_t pes);
void draws_issue(void *arg, const kb_command *command);

/* Those of each leap of a run that is known, into `known`; false: they are in no known order. */
bool draws_of_leaps(struct draws_heard *heard, struct llm_known *known);

void draws_end(struct draws_heard *heard);
void draws_free(struct llm_known *known);

#endif
