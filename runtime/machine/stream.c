/* stream.c -- the way of segments that go alone: its memory, and how long each channel takes. */
#include "machine/stream.h"
#include <stdlib.h>

bool stream_room(struct stream *f, uint32_t n)
{
    struct stream_hop *more;

    if (n <= f->room)
        return true;
    more = realloc(f->hops, n * sizeof *more);
    if (!more)
        return false;
    f->hops = more;
    f->room = n;
    return true;
}

bool stream_of(struct stream *f, const struct kb_topology *t, const struct channels *c)
{
    if (!stream_room(f, c->n))
        return false;
    f->n = c->n;
    f->segment_bytes = t->segment_bytes;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct channel_row *row = &c->rows[i];
        bool begins = i == 0 || c->rows[i - 1].end == END_M_CPU;
        double before = begins ? row->gbs : c->rows[i - 1].gbs;

        f->hops[i] = (struct stream_hop){.gbs = before < row->gbs ? before : row->gbs,
                                         .hop_fs = channel_fs(row->wire_fs) + row->node_fs};
    }
    return true;
}
