/* pe_fetch_store.c -- FETCH */
#include "pe/boxes.h"

static int64_t port_fs(const struct kb_sim *s, const struct memory_row *tcm, uint64_t nbytes)
{
    return drain_fs(nbytes, tcm->gbs + s->mask.tcm_gbs);
}

void pe_fetch(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes)
{
    stage_begin(s, t, stage, PORT_TCM_READ, port_fs(s, &s->topo->tcm_read, nbytes), nbytes);
}

void pe_store(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes)
{
    stage_begin(s, t, stage, PORT_TCM_WRITE, port_fs(s, &s->topo->tcm_write, nbytes), nbytes);
}
