/* coll.c -- the calls of kb_coll.h, which says what each gives. */
#include "kernels/coll.h"

void coll_gather(struct coll *c, struct span in, struct span all)
{
    if (c->direct)
        coll_exchange(c, DEAL_GATHER, in, all);
    else
        coll_rings_gather(&(struct ring){c, all, in}, 1);
}

void coll_scatter(struct coll *c, struct span all, struct span out)
{
    if (c->direct)
        coll_exchange(c, DEAL_SCATTER, all, out);
    else
        coll_rings_scatter(&(struct ring){c, all, out}, 1);
}

void kb_all_gather_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_gather");
    struct span all = span_of(args.out, args.count), in;

    if (!coll_begin(&c, &args, DEAL_GATHER))
        return;
    all.begins = c.taken;
    in = span_of(args.in, part_at(&c, all, c.me).n);
    coll_check_memory(&c, "in", in);
    coll_check_memory(&c, "out", all);
    if (c.rows != KB_COLL_AUTO)
        coll_gather_by_rows(&c, args);
    else
        coll_gather(&c, in, all);
}

void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce_scatter");
    struct span all = span_of(args.in, args.count), out;

    if (!coll_begin(&c, &args, DEAL_SCATTER))
        return;
    all.begins = c.given;
    out = span_of(args.out, part_at(&c, all, c.me).n);
    coll_check_memory(&c, "in", all);
    coll_check_memory(&c, "out", out);
    if (c.rows != KB_COLL_AUTO)
        coll_scatter_by_rows(&c, args);
    else
        coll_scatter(&c, all, out);
}

/* Each half up its tree, then down. */
static void reduce_halves(struct coll *c, struct span in, struct span out)
{
    for (int half = 0; half < 2; half++) {
        c->second = half > 0;
        coll_reduce(c, 0, part_of(c->dtype, in, half, 2), part_of(c->dtype, out, half, 2));
    }
    for (int half = 0; half < 2; half++) {
        struct span there = part_of(c->dtype, out, half, 2);

        c->second = half > 0;
        coll_broadcast(c, 0, there, there);
    }
}

/* Straight from each to each, and on a tree, it is one phase, else two. */
static void reduce_all(struct coll *c, struct span in, struct span out)
{
    if (c->halves) {
        reduce_halves(c, in, out);
        return;
    }
    if (c->tree) {
        coll_reduce(c, 0, in, out);
        coll_broadcast(c, 0, out, out);
        return;
    }
    coll_scatter(c, in, part_at(c, out, c->me));
    if (!c->direct)
        pay(c, TL_COST_CALL);
    coll_gather(c, part_at(c, out, c->me), out);
}

void kb_all_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_reduce");

    if (!coll_begin(&c, &args, DEAL_REDUCE))
        return;
    coll_check_memory(&c, "in", span_of(args.in, args.count));
    coll_check_memory(&c, "out", span_of(args.out, args.count));
    if (c.rows != KB_COLL_AUTO)
        coll_reduce_by_rows(&c, args);
    else
        reduce_all(&c, span_of(args.in, args.count), span_of(args.out, args.count));
}

static void exchange(struct coll *c, struct span in, struct span out)
{
    if (c->writes && in.address == out.address)
        coll_bad(c, "`in` is `out`, but queues from %lld ranks, which that wants, do not fit",
                 (long long)c->group.n - 1);
    if (c->writes)
        coll_write_all(c, in, out);
    else
        coll_exchange(c, DEAL_ALL, in, out);
}

/*
 * Along an axis of n members every run of n * stride parts of the vector is an exchange of its own,
 * of n times `stride` parts that lie together; so along the last axis it is the whole. What an
 * exchange brings takes the place of what it gave to the same member. Hence each is done in place,
 * behind the first.
 *
 * Example: 2 x 2 ranks. Along x rank 0 exchanges parts 0, 1, and then 2, 3 with rank 1: it has what
 * goes from 0 and 1 to 0, and from 0 and 1 to 2. Along y it gives the last two to rank 2, for what
 * goes from 2 and 3 to 0.
 */
static void exchange_by_axes(struct coll *c, kb_coll args)
{
    struct span in = span_of(args.in, args.count), out = span_of(args.out, args.count);
    struct row rows[ROWS_MOST];
    int n = coll_rows_of(c, KB_COLL_AXES, rows);

    args.algorithm = KB_COLL_DIRECT;
    for (int i = 0; i < n; i++, in = out) {
        int64_t runs = c->group.n / (rows[i].n * rows[i].stride);

        for (int64_t run = 0; run < runs; run++) {
            struct coll line = coll_of_row(c, rows[i]);
            struct span from = part_of(c->dtype, in, run, runs);
            struct span to = part_of(c->dtype, out, run, runs);

            args.in = from.address;
            args.out = to.address;
            args.count = from.n;
            line.is_next = run > 0;
            if (coll_begin(&line, &args, DEAL_ALL))
                exchange(&line, from, to);
        }
    }
}

void kb_all_to_all_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_to_all");
    struct span in = span_of(args.in, args.count), out = span_of(args.out, args.count);

    if (!coll_begin(&c, &args, DEAL_ALL))
        return;
    if (args.counts) {
        in = (struct span){.address = args.in, .n = c.given[group.n], .begins = c.given};
        out = (struct span){.address = args.out, .n = c.taken[group.n], .begins = c.taken};
    }
    coll_check_memory(&c, "in", in);
    coll_check_memory(&c, "out", out);
    if (c.rows == KB_COLL_AXES)
        exchange_by_axes(&c, args);
    else
        exchange(&c, in, out);
}

void kb_broadcast_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_broadcast");

    if (!coll_begin(&c, &args, DEAL_ROOT))
        return;
    if (c.rank == args.root)
        coll_check_memory(&c, "in", span_of(args.in, args.count));
    coll_check_memory(&c, "out", span_of(args.out, args.count));
    coll_broadcast(&c, args.root, span_of(args.in, args.count), span_of(args.out, args.count));
}

void kb_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce");

    if (!coll_begin(&c, &args, DEAL_TO_ROOT))
        return;
    coll_check_memory(&c, "in", span_of(args.in, args.count));
    if (c.rank == args.root)
        coll_check_memory(&c, "out", span_of(args.out, args.count));
    coll_reduce(&c, args.root, span_of(args.in, args.count), span_of(args.out, args.count));
}

void kb_coll_barrier_at(tl_here here, tl_ctx *tl, kb_group group)
{
    struct coll c = coll_new(here, tl, group, "kb_coll_barrier");

    if (coll_begin(&c, &(kb_coll){.count = 1, .dtype = KB_U8, .algorithm = KB_COLL_RING},
                   DEAL_ROOT))
        coll_barrier(&c);
}

/* A pair is a group of two, whose root is the one that sends. */
static void pass(struct coll c, bool sends, kb_coll args, int64_t peer)
{
    uint32_t *pes = tl_alloc_host_at(c.here, c.tl, 2 * sizeof *pes);
    kb_group whole = c.group;

    if (peer < 0 || peer >= whole.n)
        coll_bad(&c, "there is no rank %lld among %lld", (long long)peer, (long long)whole.n);
    if (pe_of(&whole, peer) == tl_pe(c.tl))
        coll_bad(&c, "rank %lld is the PE itself", (long long)peer);
    pes[!sends] = tl_pe(c.tl);
    pes[sends] = pe_of(&whole, peer);
    c.group = kb_group_list(c.tl, pes, 2);
    args.algorithm = KB_COLL_LINE;
    args.root = 0;
    if (!coll_begin(&c, &args, DEAL_ROOT))
        return;
    coll_check_memory(&c, sends ? "in" : "out", span_of(sends ? args.in : args.out, args.count));
    if (sends)
        args.out = args.in;
    coll_broadcast(&c, 0, span_of(args.in, args.count), span_of(args.out, args.count));
}

void kb_send_at(tl_here here, tl_ctx *tl, kb_group group, int64_t to, kb_coll args)
{
    pass(coll_new(here, tl, group, "kb_send"), true, args, to);
}

void kb_recv_at(tl_here here, tl_ctx *tl, kb_group group, int64_t from, kb_coll args)
{
    pass(coll_new(here, tl, group, "kb_recv"), false, args, from);
}
