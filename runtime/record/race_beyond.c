/* race_beyond.c -- finds accesses that begin in one tensor and reach into another: out of bounds.
 *
 * A kernel that loads a row too many gets bytes of whatever lies behind its tensor, without an
 * error. Each access is held against the parts of the tensors (data/host_spans.c): it begins in the
 * tensor that has its first byte, and no piece of it may have bytes of another one. What no tensor
 * has is not told: parts begin at multiples of 256, and a kernel may load padding in whole tiles.
 * Nor are other parts of the same tensor, which lie side by side where addresses are interleaved.
 *
 * Example. In a slice x has bytes [0, 20), y [256, 276). A load of 64 bytes at 0 is not told; one
 * of 260 is: it reaches 240 bytes beyond the end of x, into y.
 */
#include <stdlib.h>
#include "machine/address.h"
#include "machine/endpoint.h"
#include "record/race_parts.h"

/* A line that left a tensor. */
struct beyond {
    struct kb_beyond told;
    const struct site *site;
    enum access_kind kind;
    struct beyond *next;
};

/* How an access leaves a tensor. */
struct leaving {
    const struct host_spans *spans;
    const kb_tensor *tensor, *next;
    uint64_t from, nbytes; /* the end that it leaves, and how far it goes; 0: it stays */
};

/* The end of the last part of the tensor before span `i`, which is of another one. */
static uint64_t end_before(const struct leaving *l, size_t i)
{
    while (i > 0 && l->spans->span[--i].tensor != l->tensor)
        ;
    return l->spans->span[i].end;
}

/* Keeps the piece that goes farthest. */
static bool look_at_piece(void *arg, uint64_t first, uint64_t end)
{
    struct leaving *l = arg;
    const struct host_spans *s = l->spans;

    for (size_t i = host_spans_behind(s, first); i < s->n && s->span[i].first < end; i++) {
        uint64_t from;

        if (s->span[i].tensor == l->tensor)
            continue;
        from = end_before(l, i);
        if (from < end && end - from > l->nbytes) {
            l->next = s->span[i].tensor;
            l->from = from;
            l->nbytes = end - from;
        }
        break;
    }
    return true;
}

static struct leaving leaving_of(const struct race *r, const struct touch *touch,
                                 const struct access *access)
{
    struct leaving l = {.spans = &r->spans};
    size_t i = host_spans_behind(l.spans, access->first);
    const struct host_span *in = i < l.spans->n ? &l.spans->span[i] : NULL;

    if (!in || in->first > access->first || access->end <= in->end)
        return l;
    l.tensor = in->tensor;
    if (touch->strided)
        race_each_piece(touch->address, touch->strided, look_at_piece, &l);
    else
        look_at_piece(&l, access->first, access->end);
    return l;
}

static struct beyond *beyond_new(struct race *r, const struct access *access,
                                 const struct leaving *l)
{
    struct beyond *b = calloc(1, sizeof *b);
    uint32_t memory;

    if (!b)
        return NULL;
    *b = (struct beyond){.told = {.access = race_public_access(access),
                                  .tensor = l->tensor,
                                  .next = l->next,
                                  .address = l->from,
                                  .nbytes = l->nbytes},
                         .site = access->site,
                         .kind = access->kind};
    /* the last byte of the part: its end may be that of the memory */
    if (address_find(r->topo, l->from - 1, &memory, &b->told.offset)) {
        b->told.memory = endpoint_unpack_memory(r->topo, memory);
        b->told.offset++;
    }
    return b;
}

bool race_bounds(struct race *r, const struct touch *touch, const struct access *access)
{
    struct leaving l = leaving_of(r, touch, access);
    struct beyond **link = &r->beyond;

    if (!l.nbytes)
        return true;
    while (*link && ((*link)->site != access->site || (*link)->kind != access->kind ||
                     (*link)->told.tensor != l.tensor))
        link = &(*link)->next;
    if (!*link)
        *link = beyond_new(r, access, &l);
    if (!*link)
        return false;
    (*link)->told.count++;
    return true;
}

void race_each_beyond(const struct race *r, void (*each)(void *arg, const kb_beyond *beyond),
                      void *arg)
{
    for (const struct beyond *b = r->beyond; b; b = b->next)
        each(arg, &b->told);
}

void race_beyond_free(struct race *r)
{
    while (r->beyond) {
        struct beyond *b = r->beyond;

        r->beyond = b->next;
        free(b);
    }
    host_spans_free(&r->spans);
}
