/* bank_pieces.h -- the pieces of a transaction's time at a slice with banks. */
#ifndef BANK_PIECES_H
#define BANK_PIECES_H
#include "explain/spans.h"

/* It has arrived at `t`; it has been served at `t`. */
void bank_pieces_come(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place);
void bank_pieces_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place);

#endif
