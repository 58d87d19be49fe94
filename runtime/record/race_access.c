/* race_access.c -- one access: the pieces of its bytes, and how the library tells it. */
#include "record/race_parts.h"

struct pieces race_pieces_of(const struct strided *s)
{
    struct pieces p = {.rank = s->rank, .nbytes = s->elem_bytes};

    while (p.rank > 0 && (s->dim[p.rank - 1] == 1 || s->stride[p.rank - 1] == (int64_t)p.nbytes))
        p.nbytes *= (uint64_t)s->dim[--p.rank];
    return p;
}

bool race_each_piece(uint64_t address, const struct strided *s,
                     bool (*piece)(void *arg, uint64_t first, uint64_t end), void *arg)
{
    struct pieces p = race_pieces_of(s);
    int64_t at[KB_RANK_MAX] = {0};
    uint32_t axis = p.rank;
    bool ok = piece(arg, address, address + p.nbytes);

    while (ok && axis > 0) {
        axis--;
        address += (uint64_t)s->stride[axis];
        if (++at[axis] == s->dim[axis]) {
            address -= (uint64_t)s->stride[axis] * (uint64_t)s->dim[axis];
            at[axis] = 0;
            continue;
        }
        axis = p.rank;
        ok = piece(arg, address, address + p.nbytes);
    }
    return ok;
}

kb_race_access race_public_access(const struct access *x)
{
    return (kb_race_access){.kernel = x->kernel,
                            .call = x->site->call,
                            .file = x->site->file,
                            .line = x->site->line,
                            .pe = x->pe,
                            .op_id = x->op,
                            .issue_fs = x->issue_fs,
                            .writes = x->kind != ACCESS_READ,
                            .atomic = x->kind >= ACCESS_ATOMIC};
}
