/* host_spans.c -- which tensor has a byte: the parts of all tensors, in order of address.
 *
 * host_tensor_at() searches for one address; a run that looks at every access needs to find them
 * faster. Parts lie apart, each at a multiple of 256 bytes, so they have one order, and two
 * binary searches tell what an access of any length meets. Tensors are made while no kernel runs,
 * and none is removed: the spans are made again at a launch before which there were new ones.
 */
#include "data/host_spans.h"
#include <stdlib.h>
#include "data/host_parts.h"

static int by_address(const void *a, const void *b)
{
    const struct host_span *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

static size_t count_tensors(const struct host *h)
{
    size_t n = 0;

    for (const struct kb_tensor *x = h->tensors; x; x = x->next)
        n++;
    return n;
}

static void add_parts(struct host_spans *s, const struct kb_tensor *tensor)
{
    for (uint32_t pe = 0; pe < host_pes_of(tensor->host); pe++) {
        struct part p;
        uint64_t first;

        if (tensor->offsets[pe] == NO_ADDRESS)
            continue;
        p = host_part_of(tensor, pe);
        first = host_address_in(tensor, pe);
        s->span[s->n++] = (struct host_span){first, first + host_part_bytes(tensor, &p), tensor};
    }
}

bool host_spans_update(struct host_spans *s, const struct host *h)
{
    struct host_span *moved;

    if (!h || s->newest == h->tensors)
        return true;
    moved = realloc(s->span, count_tensors(h) * host_pes_of(h) * sizeof *moved);
    if (!moved)
        return false;
    s->span = moved;
    s->n = 0;
    s->newest = h->tensors;
    for (const struct kb_tensor *x = h->tensors; x; x = x->next)
        add_parts(s, x);
    qsort(s->span, s->n, sizeof *s->span, by_address);
    return true;
}

size_t host_spans_behind(const struct host_spans *s, uint64_t address)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->span[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void host_spans_free(struct host_spans *s)
{
    free(s->span);
}
