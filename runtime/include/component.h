/* component.h -- what a component is asked, and what it answers: for files of one's own, `impl:`.
 *
 * A component takes the place of one box of the machine: a memory, an engine, a node. It is a C
 * file whose header comment kbgen reads, and which is compiled into the topology:
 *
 *     / * kernbench component: memory mybank
 *      * trp_ns  number  14.0  0..1e6  time to close a row
 *      * banks   integer 16    1..256  banks of a slice
 *      * /
 *     struct mybank { int64_t free_fs[MYBANK_BANKS]; };
 *     static inline void mybank_init(struct mybank *s) {}
 *     static inline struct kb_served mybank_serve(struct mybank *s, const struct kb_request *r,
 *                                                 int64_t now_fs) { ... }
 *
 * Its keys are constants: an integer MYBANK_BANKS, a number of ns MYBANK_TRP_FS (int64_t), another
 * number MYBANK_SHARE (double). docs/components.md leads from an empty file to a plot.
 *
 * One state for each box of the machine, zeroed and then given to _init() at the start of a run.
 * A component may use its state, the request, the time and its keys; nothing else.
 */
#ifndef KERNBENCH_COMPONENT_H
#define KERNBENCH_COMPONENT_H
#include <stdbool.h>
#include <stdint.h>

/* What kb_request.op says. */
enum kb_component_op { KB_OP_READ, KB_OP_WRITE, KB_OP_H2D, KB_OP_D2H };

/* One request: a transaction, a part of one, or the work of an engine. Times are in fs. */
struct kb_request {
    uint64_t id;      /* of the transaction; of a part + part * 2^48; of the stage of a command */
    uint8_t op;       /* enum kb_component_op; of an engine 0 */
    uint8_t prio;     /* 0 */
    uint32_t source;  /* number of the PE over the whole machine; UINT32_MAX: a host */
    uint64_t bytes;   /* of an engine 0 */
    uint64_t offset;  /* in the memory, in bytes */
    int64_t drain_fs; /* bytes over the narrowest bandwidth of the route, this memory included */
    int64_t own_fs;   /* bytes over the bandwidth of the memory alone */
    int64_t overhead_fs; /* the box's key overhead_ns; 0 in a run without overheads (`why`) */
    int64_t latency_fs;  /* the memory's key latency_ns; the same */
    uint32_t m, k, n;    /* of a product, M x K times K x N; of other work m elements, k = n = 1 */
    uint64_t cycles;     /* of an engine: what the built-in one takes, without overhead */
    int64_t cycles_fs;   /* these cycles by the key clock_ghz; 0 in a run without compute */
    uint8_t dtype_a, dtype_b, dtype_acc; /* of a product, as kb_dtype; else 0 */
};

/*
 * The answer of a memory or an engine whose service begins at `now`: it is free for the next
 * request at now + hold_fs, and the request is done at done_fs, a point of time.
 * 0 <= hold_fs <= done_fs - now. INT64_MAX is never.
 */
struct kb_served {
    int64_t hold_fs;
    int64_t done_fs;
};

/*
 * A queueing memory decides by itself what it serves when. It is told of each request that comes,
 * and of the times for which it has asked to be woken:
 *
 *     NAME_arrive(s, r, now, h)    the request is gone after the call: it keeps what it needs
 *     NAME_wake(s, id, now, h)     behind all arrivals of its instant; of one memory by (t, id)
 *
 * `h` is borrowed for the call. With it a memory asks and answers, for times after now; INT64_MAX
 * is never.
 */
struct kb_handle {
    void (*wake_at)(struct kb_handle *h, uint64_t id, int64_t t_fs);
    void (*done)(struct kb_handle *h, uint64_t id, int64_t t_fs);
    void (*request_to)(struct kb_handle *h, const struct kb_request *r, int64_t t_fs);
    void (*pass_on)(struct kb_handle *h, uint64_t id, int64_t t_fs);
};

/* Calls NAME_wake() at `t_fs` with `id`, any number. Equal ones are one. */
static inline void kb_wake_at(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    h->wake_at(h, id, t_fs);
}

/* The request `id`, which has come and is not done, is done at `t_fs`. */
static inline void kb_done(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    h->done(h, id, t_fs);
}

/*
 * A component of the kind `front` stands in front of the memory that is built in, `impl: [NAME,
 * builtin]`. It is a queueing memory that may also ask the one behind it, from now on:
 *
 *     kb_request_to(h, r, t)      a request of its own comes there at t: id, which is any number,
 *                                 op, offset and bytes; all else is not read
 *     NAME_ended(s, id, now, h)   it has ended, at its time
 *     kb_pass_on(h, id, t)        the request `id`, which has come and is not done, comes there at
 *                                 t, and is done when that memory is done with it
 */
static inline void kb_request_to(struct kb_handle *h, const struct kb_request *r, int64_t t_fs)
{
    h->request_to(h, r, t_fs);
}

static inline void kb_pass_on(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    h->pass_on(h, id, t_fs);
}

#endif
