/* requests.c -- PEs give work to the engine: transactions, stages, words.
 *
 * Apart from engine.c, which handles events and calls the boxes of PEs in turn: so a box calls the
 * engine only downwards.
 */
#include "kernels/requests.h"
#include "engine/hop.h"
#include "kernels/kernels_engine.h"
#include "kernels/heard.h"
#include "engine/inorder_steps.h"

bool engine_is_plain(const struct kb_sim *s)
{
    return s->kernels->how == IN_KERNELS;
}

/* Of any other run. Nothing that is counted is left out. */
static __attribute__((noinline)) void issue_any(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (s->options.engine == KB_HOP) {
        hop_issue(s, t, slot);
        return;
    }
    int how = s->kernels->how | (s->kernels->how & IN_COUNTED ? 0 : IN_CALLED);

    if (how & IN_WATCHED && !s->observer->issue(s, t, slot))
        return;
    go_all(s, how, issue(s, how, t, slot));
}

void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (engine_is_plain(s))
        go_all(s, IN_KERNELS | IN_CALLED, issue(s, IN_KERNELS | IN_CALLED, t, slot));
    else
        issue_any(s, t, slot);
}

void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    if (s->observer && !s->observer->issue(s, t, slot))
        return;
    post(s, t, EV_ARRIVE, slot);
}

void engine_come_inside(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->txns[slot].stage = TXN_TO_MEMORY;
    come_inside(s, IN_KERNELS, t, slot);
}

uint64_t engine_pass_inside(struct kb_sim *s, uint64_t t, struct link_station *port,
                            int64_t hold_fs)
{
    return take_turn(s, port, hold_fs, t);
}

void engine_send_word(struct kb_sim *s, uint64_t t, int64_t way_fs, uint32_t slot)
{
    s->txns[slot].stage = TXN_CREDIT;
    post(s, later(t, way_fs), EV_HOP, slot);
}

void engine_fail(struct kb_sim *s, kb_status status)
{
    fail(s, status);
}
