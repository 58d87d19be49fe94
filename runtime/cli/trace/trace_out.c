/*
 * trace_out.c -- the bytes of a timeline's file, of which no more than its limit are written.
 *
 * This lies below the formats, which lie below the timeline: so neither has to know the other.
 */
#include "cli/trace/trace_out.h"

char *trace_room(struct trace_file *f, size_t most)
{
    return sink_room(&f->sink, most);
}

bool trace_keep(struct trace_file *f, size_t n)
{
    if (f->bytes + n + f->reserve > f->max_bytes)
        return false;
    f->sink.at += n;
    f->bytes += n;
    f->n_written++;
    return true;
}
