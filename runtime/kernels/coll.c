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
    struct span all = {args.out, args.count};

    if (coll_begin(&c, &args, DEAL_GATHER))
        coll_gather(&c, (struct span){args.in, part_at(&c, all, c.me).n}, all);
}

void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce_scatter");
    struct span all = {args.in, args.count};

    if (coll_begin(&c, &args, DEAL_SCATTER))
        coll_scatter(&c, all, (struct span){args.out, part_at(&c, all, c.me).n});
}

/* Straight from each to each, and on a tree, it is one phase, else two. */
static void reduce_all(struct coll *c, struct span in, struct span out)
{
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
    if (c.rows != KB_COLL_AUTO)
        coll_reduce_by_rows(&c, args);
    else
        reduce_all(&c, (struct span){args.in, args.count}, (struct span){args.out, args.count});
}

void kb_all_to_all_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_to_all");

    struct span in = {args.in, args.count}, out = {args.out, args.count};

    if (!coll_begin(&c, &args, DEAL_ALL))
        return;
    if (c.writes && args.in == args.out)
        coll_bad(&c, "`in` is `out`, but queues from %lld ranks, which that wants, do not fit",
                 (long long)group.n - 1);
    if (c.writes)
        coll_write_all(&c, in, out);
    else
        coll_exchange(&c, DEAL_ALL, in, out);
}

void kb_broadcast_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_broadcast");

    if (coll_begin(&c, &args, DEAL_ROOT))
        coll_broadcast(&c, args.root, (struct span){args.in, args.count},
                       (struct span){args.out, args.count});
}

void kb_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce");

    if (coll_begin(&c, &args, DEAL_TO_ROOT))
        coll_reduce(&c, args.root, (struct span){args.in, args.count},
                    (struct span){args.out, args.count});
}

void kb_coll_barrier_at(tl_here here, tl_ctx *tl, kb_group group)
{
    struct coll c = coll_new(here, tl, group, "kb_coll_barrier");

    if (coll_begin(&c, &(kb_coll){.count = 1, .dtype = KB_U8, .algorithm = KB_COLL_RING},
                   DEAL_ROOT))
        coll_barrier(&c);
}
