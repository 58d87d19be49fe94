/* server_pieces.h -- the pieces of a transaction's time at a memory that chooses, and what the
 * buses of banks serve. */
#ifndef SERVER_PIECES_H
#define SERVER_PIECES_H
#include "explain/spans.h"
#include "explain/ways.h"
#include "network/banks_state.h"

/* How long each stay there is of the transaction in `slot`, whose service ends at `t`. */
struct stays server_stays(const struct kb_sim *s, uint64_t t, uint32_t slot);

/* It has arrived at `t`; it has been served at `t`. */
void server_pieces_come(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place);
void server_pieces_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place);

/* The bus of a channel serves `segment`. */
void bank_pieces_bus(struct kb_sim *s, const struct bank_slice *slice, uint32_t channel,
                     const struct bank_segment *segment);

/* Behind routers: how it waits `wait_fs` for its slice, told from `at_fs` on. Returns when that is
 * over. */
int64_t bank_pieces_wait(struct kb_sim *s, uint32_t slot, kb_place place, int64_t at_fs,
                         int64_t wait_fs);

#endif
