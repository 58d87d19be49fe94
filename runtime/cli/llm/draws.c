/*
 * draws.c -- ids of the commands that a rank leaps over, leap by leap.
 *
 * Where a pair of cubes has several ways, a transaction takes one by its id. So between ranks a
 * command must have the id that it has where nothing is leapt over, and what is leapt over must
 * have left its ids free: tl_skip(). Ids are drawn in order of (time, PE), by all ranks together.
 * So the draws of a rank that is alone are written down, with their times; a leap gives them to the
 * engine, as much later as the rank does them.
 *
 * A leap ends with a barrier that is simulated. So a command belongs to the first operation that
 * has not ended on its PE when it is issued, and it is of the barrier if the PE has come to that:
 * of the last operation of a leap these are not left free.
 *
 * Example: operations 1 to 3 lie between two collectives. PE 0 comes to the barrier of 1 at 5 ns
 * and leaves it at 6 ns: a draw at 5.1 ns is of that barrier, and is leapt over. It comes to the
 * barrier of 3 at 20 ns: a draw at 20.1 ns is simulated.
 */
#include "cli/llm/draws.h"
#include "cli/out/memory.h"
#include <stdlib.h>

void draws_begin(struct draws_heard *heard, const struct llm_step *step, uint32_t pes)
{
    *heard = (struct draws_heard){
        .step = step, .index_of = memory_new(pes, sizeof *heard->index_of), .in_order = true};
    for (uint32_t i = 0; i < step->pes; i++)
        heard->index_of[step->pe_of[i]] = i;
}

void draws_issue(void *arg, const kb_command *command)
{
    struct draws_heard *heard = arg;
    const tl_draw *before = heard->n > 0 ? &heard->draw[heard->n - 1] : NULL;
    tl_draw draw = {command->issue_fs, heard->index_of[command->pe], command->id};

    if (before && (draw.at_fs < before->at_fs || (draw.at_fs == before->at_fs &&
                                                  command->pe < heard->step->pe_of[before->index])))
        heard->in_order = false;
    if (heard->n == heard->room)
        heard->draw = memory_room(heard->draw, heard->n, &heard->room, sizeof *heard->draw);
    heard->draw[heard->n++] = draw;
}

/* The operation at which the leap begins that leaps over this one; 0: none does. */
static size_t leap_of(const struct llm_step *s, size_t op)
{
    size_t from = op;

    if (op == 0 || llm_between_ranks(&s->op[op]))
        return 0;
    while (from > 1 && s->op[from - 1].is_layer == s->op[op].is_layer &&
           !llm_between_ranks(&s->op[from - 1]))
        from--;
    return from;
}

/* The leap of a draw; 0: it is simulated. `at`: the operation that its PE is at. */
static size_t leap_of_draw(const struct llm_step *s, const tl_draw *draw, size_t *at)
{
    while (*at < s->n_ops && s->end_fs[*at * s->pes + draw->index] < draw->at_fs)
        ++*at;
    if (*at == s->n_ops)
        return 0;
    size_t leap = leap_of(s, *at);
    bool is_last = *at + 1 == s->n_ops || leap_of(s, *at + 1) != leap;
    bool of_barrier = draw->at_fs > s->came_fs[*at * s->pes + draw->index];

    return is_last && of_barrier ? 0 : leap;
}

bool draws_of_leaps(struct draws_heard *heard, struct llm_known *known)
{
    const struct llm_step *s = heard->step;
    size_t *at, *room;

    if (!heard->in_order)
        return false;
    at = memory_new(s->pes, sizeof *at);
    room = memory_new(s->n_ops, sizeof *room);
    known->n_leaps = s->n_ops;
    known->leap = memory_new(s->n_ops, sizeof *known->leap);
    for (size_t i = 0; i < heard->n; i++) {
        tl_draw draw = heard->draw[i];
        size_t op = leap_of_draw(s, &draw, &at[draw.index]);
        struct llm_draws *leap = &known->leap[op];

        if (op == 0 || i + 1 == heard->n)
            continue;
        draw.n = heard->draw[i + 1].n - draw.n;
        if (leap->n == room[op])
            leap->draw = memory_room(leap->draw, leap->n, &room[op], sizeof *leap->draw);
        leap->draw[leap->n++] = draw;
    }
    free(at);
    free(room);
    return true;
}

void draws_end(struct draws_heard *heard)
{
    free(heard->index_of);
    free(heard->draw);
}

void draws_free(struct llm_known *known)
{
    for (size_t i = 0; i < known->n_leaps; i++)
        free(known->leap[i].draw);
    free(known->leap);
}
