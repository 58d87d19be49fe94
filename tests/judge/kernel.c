/* kernel.c -- kernels in time, after docs/kernels.md: every stage of every token is a job. */
#include "kernel.h"
#include "l2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_JOB UINT64_MAX

#define ALL (SIZE_MAX - 1) /* commands */

/* Steps of events that are none of a job's own: words between PEs, which take no station. */
#define CREDIT  SIZE_MAX       /* from the receiver to the sender: a slot is free again */
#define WORD    (SIZE_MAX - 1) /* to the lowest PE: a member of a barrier has arrived */
#define RELEASE (SIZE_MAX - 2) /* and back to the member */

/*
 * Which stations there are: by node channels of a pe_dma, read ports of TCMs, and memories, engines
 * and write ports of TCMs; by edge links, and, of those that exist one way only, the way back.
 */
enum where { READS, WRITES, READ_PORTS, ONES, LINKS, RETURNS, N_WHERE };

/* A resource with `servers` of its kind; a job that finds all of them taken waits in a line. */
struct station {
    enum where where;
    size_t index;
    uint32_t servers, taken;
    uint64_t first, last; /* the line; job.behind leads through it */
    uint32_t in_line;
    struct judge_use use;
    uint64_t let_in;           /* the last job that was let in */
    int64_t starts_fs;         /* of a channel: none sets out earlier */
    int64_t freed_fs;          /* last; a memory may be held when all have ended */
    struct judge_banks *banks; /* of a memory that has them */
    struct judge_cache *cache; /* the same */
    struct judge_l2 *l2; /* or a slice's cache before `banks`, of which it has asked `asked` */
    struct judge_use asked;
};

enum step_kind { DELAY, CHANNEL, LINK, SERVICE };

/* The step of the event at which a packet sets out. */
#define SETS_OUT (SIZE_MAX - 3)

/* One step on a job's way. A channel is held to the job's end, which is the end of its service. */
struct step {
    enum step_kind kind;
    int64_t fs;         /* a delay; how long a link or a service takes its station */
    struct station *at; /* unless it is a delay */
    int64_t done_fs;    /* of a service: how long until the job ends */
};

/*
 * One id: of a transaction, a stage, or (without steps) a composite as a whole. What crosses
 * granules is split: part 0 is the job itself, the others are in `more`. Each has a key, the id +
 * part * 2^48, by which stations and events name it.
 */
struct job {
    struct step *steps;
    size_t n_steps, room;
    struct job *more;
    struct job **children; /* owned: what an L2 has made for it; their keys count from OF_AN_L2 */
    size_t n_children;
    const struct judge_l2_child *child; /* owned; it is one, `l2` the station that has made it */
    struct station *l2;
    uint64_t trunk;             /* of a multicast: the part that it parts from, or NO_JOB; ... */
    size_t fork;                /* ... behind that step of the trunk, a link */
    size_t *nodes, n_nodes;     /* owned; of a multicast: of its way */
    uint32_t n_parts, n_left;   /* of the whole; how many of them have not ended */
    uint64_t nbytes;            /* of the part */
    uint64_t packet;            /* that it is of */
    int64_t drain_fs, start_fs; /* of a part; when it sets out */
    int64_t last_fs;            /* of the whole: when the last of its parts so far has ended */
    struct judge_access access; /* to a memory with banks, or with a cache ... */
    double gbs;                 /* ... by a way of so much */
    size_t now_at;              /* the step that comes next, or that it waits for */
    uint64_t behind;            /* the next in the line */
    bool waits;                 /* since when, and the job let in last */
    int64_t arrived_fs;         /* at the station it is at */
    uint64_t let_in;
    uint64_t then;      /* the job that arrives once this one has ended */
    uint32_t waits_for; /* how many jobs have this one as `then` and have not ended */
    size_t frees;       /* the FETCH of a token: the token, in its PE's queue */
    uint64_t lets;      /* of a token, its FETCH or what follows it: that of the next token, which
                           arrives no earlier */
    size_t queue;       /* of a piece, and of what takes it out of its slot; or JUDGE_NONE */
    bool last;          /* of its send, or its recv */
    bool ended;
    bool credited; /* what takes a piece out of its slot: the sender knows */
};

/* From one PE to another under one tag. Piece i lies in slot i % slots, and is taken by takes[i].
 */
struct queue {
    uint64_t from, to; /* PEs */
    uint32_t tag;
    struct judge_end sender, receiver;
    struct judge_end memory; /* where the slots are, and the first of them */
    uint64_t offset;
    uint64_t *pieces, *takes; /* jobs, in order */
    size_t n_pieces, n_takes, pieces_room, takes_room;
    size_t sent, taken; /* how many of them have set out */
    size_t credits;     /* how many slots in a row the sender knows to be free again */
};

struct barrier {
    uint64_t *members; /* ascending */
    size_t n;
    uint64_t *come; /* ids of the commands that have sent their word to the lowest PE, where it has
                       arrived */
    size_t n_come;
};

/* An integer that atomics have added to. */
struct cell {
    uint64_t address;
    int64_t sum;
};

/* docs/kernels.md "Overlap": when a command starts, and what begins then. */
struct start {
    bool over;
    uint32_t waits_for; /* how many makers of its operands have not ended; one may be two of them */
    uint64_t first;     /* a job; NO_JOB: what its queue or its tokens say */
    bool fetched;       /* it reads its operands no more */
};

/* A token in its PE's queue. `first` are the jobs that arrive as it enters. */
struct token {
    size_t command;
    uint64_t first[JUDGE_MOST_OPERANDS];
    size_t n_first;
    bool fetched;
};

struct pe {
    const struct judge_kernel *kernel;
    struct judge_kernel_times *times;
    uint64_t index; /* global */
    size_t at;      /* the command that is called next, or that has been */
    bool calling;   /* called and not yet issued */
    bool blocked;   /* until the end of ... */
    size_t until;   /* ... this command; ALL; JUDGE_NONE: until all pieces of a send have set out */
    size_t barrier; /* that it is in */
    bool returned;
    bool over;            /* and all that it has called has ended */
    int64_t way_fs;       /* of its launch to it */
    int64_t back_fs;      /* and of its response */
    uint32_t *open;       /* by command: its jobs that have not ended */
    struct start *starts; /* by command */
    struct token *tokens;
    size_t n_tokens, tokens_room, n_entered;
    struct station *fetch, *store, *gemm, *math;
    uint32_t tile_m, tile_k, tile_n, tile_buffers;
    uint64_t *turns; /* by accumulator: the engine of the last command on it */
    size_t n_turns;
};

struct sim {
    const struct judge_topo *t;
    const struct judge_program *program;
    struct judge_run *run;
    struct queue *queues;
    size_t n_queues;
    struct barrier *barriers;
    size_t n_barriers;
    struct cell *cells;
    size_t n_cells;
    bool fifo, too_late, failed;
    struct pe *pes; /* by kernel */
    size_t n_pes;
    size_t *kernel_of; /* by global index of a PE: the one of the launch that has set out last */
    bool *sent;        /* by launch */
    size_t n_launches;
    struct job *jobs; /* by id, as run->records */
    size_t jobs_room;
    struct station **stations[N_WHERE]; /* by node or edge; NULL: not taken yet */
    struct judge_events events;
    int64_t now_fs;
    uint64_t now_id; /* of the event */
    uint64_t ending; /* the job that ends with it; NO_JOB */
    uint64_t order;  /* ends and returns so far */
};

static int64_t add_fs(struct sim *s, int64_t a, int64_t b)
{
    return judge_add_fs(a, b, &s->too_late);
}

enum { PART_BIT = 48, OF_AN_L2 = 0x8000 };

static uint64_t id_of(uint64_t key)
{
    return key & ((UINT64_C(1) << PART_BIT) - 1);
}

static uint64_t key_of(uint64_t id, uint64_t part)
{
    return id | part << PART_BIT;
}

static struct job *job_at(struct sim *s, uint64_t key)
{
    struct job *whole = &s->jobs[id_of(key)];

    if (key >> PART_BIT >= OF_AN_L2)
        return whole->children[(key >> PART_BIT) - OF_AN_L2];
    return key >> PART_BIT ? &whole->more[(key >> PART_BIT) - 1] : whole;
}

/* The number of a part, and the key of that number. */
static uint64_t number_of(struct sim *s, uint64_t key)
{
    return key >> PART_BIT >= OF_AN_L2 ? job_at(s, key)->child->part : key >> PART_BIT;
}

static uint64_t key_of_number(const struct sim *s, uint64_t id, uint64_t number)
{
    const struct job *whole = &s->jobs[id];

    if (number < UINT64_C(1) << 20)
        return key_of(id, number);
    for (size_t i = 0; i < whole->n_children; i++)
        if (whole->children[i]->child->part == number)
            return key_of(id, OF_AN_L2 + i);
    judge_die("there is no part %llu of %llu", (unsigned long long)number, (unsigned long long)id);
}

static void post(struct sim *s, int64_t after_fs, enum judge_class class, uint64_t key, size_t step)
{
    judge_post(&s->events, (struct judge_event){.fs = add_fs(s, s->now_fs, after_fs),
                                                .class = class,
                                                .id = id_of(key),
                                                .part = number_of(s, key),
                                                .step = step});
}

static void record(struct sim *s, enum judge_class class, uint64_t key)
{
    struct judge_event e = {
        .fs = s->now_fs, .class = class, .id = judge_record_number(id_of(key), number_of(s, key))};

    s->run->fingerprint = judge_fingerprint(s->run->fingerprint, &e);
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A key of a PE's or a memory's cube, which may have its own. */
static uint32_t count_at(const struct sim *s, const struct judge_end *at, const char *key)
{
    return judge_cube_count(s->t, at->sip, at->cube, key);
}

static double number_at(const struct sim *s, const struct judge_end *at, const char *key)
{
    return judge_cube_number(s->t, at->sip, at->cube, key);
}

/* The station of a node or an edge. */
static struct station *station_at(struct sim *s, enum where where, size_t index)
{
    struct station **at = &s->stations[where][index];

    if (*at)
        return *at;
    *at = judge_alloc(1, sizeof **at);
    **at = (struct station){.where = where,
                            .index = index,
                            .servers = 1,
                            .first = NO_JOB,
                            .last = NO_JOB,
                            .let_in = NO_JOB};
    if (where != LINKS && where != RETURNS)
        (*at)->servers = judge_servers(s->t, &s->t->nodes[index], where == WRITES || where == ONES);
    else
        (*at)->servers = where == LINKS ? s->t->edges[index].lanes : s->t->edges[index].back_lanes;
    return *at;
}

/* -- jobs on their ways --------------------------------------------------------------------- */

static void command_ends(struct sim *s, struct pe *p, size_t command);
static void has_fetched(struct sim *s, struct pe *p, size_t i);
static void enter_tokens(struct sim *s, struct pe *p);
static void piece_ends(struct sim *s, uint64_t id);
static void add_up(struct sim *s, uint64_t id);

/* On to the next step: later if it is a delay, as an arrival if it is a station. */
static void go_on(struct sim *s, uint64_t key)
{
    const struct job *j = job_at(s, key);
    const struct step *next = &j->steps[j->now_at];

    if (next->kind == DELAY)
        post(s, next->fs, JUDGE_HOP, key, j->now_at);
    else
        post(s, 0, JUDGE_ARRIVAL, key, j->now_at);
}

/* The write port of a TCM is one of ONES, like a memory. */
static void name_station(const struct sim *s, const struct station *at,
                         char text[2 * JUDGE_NAME_BYTES])
{
    static const char *const ways[] = {".read", ".write", ".read", ""};
    const struct judge_edge *edges = s->t->edges;

    if (at->where == LINKS)
        judge_name_link(s->t, edges[at->index].from, edges[at->index].to, text);
    else if (at->where == RETURNS)
        judge_name_link(s->t, edges[at->index].to, edges[at->index].from, text);
    else if (at->where == ONES && strstr(s->t->nodes[at->index].name, ".pe_tcm"))
        judge_name_station(s->t, at->index, ".write", text);
    else
        judge_name_station(s->t, at->index, ways[at->where], text);
}

static void tell_wait(struct sim *s, uint64_t key, const struct station *at, int64_t end_fs)
{
    struct job *j = job_at(s, key);
    struct judge_wait wait = {.id = id_of(key),
                              .behind = j->let_in == NO_JOB ? NO_JOB : id_of(j->let_in),
                              .given_by = end_fs == s->now_fs ? s->now_id : NO_JOB,
                              .begin_fs = j->arrived_fs,
                              .end_fs = end_fs};

    if (!j->waits)
        return;
    j->waits = false;
    if (j->child)
        return;
    name_station(s, at, wait.at);
    judge_add_wait(&s->run->waits, &wait);
}

/* From one set-out of the PE of job `id` to the next, reads and writes each. */
static int64_t pace_fs(struct sim *s, uint64_t id)
{
    const struct judge_end *pe = &s->pes[s->run->records[id].kernel].kernel->pe;

    return llround(number_at(s, pe, "cube.pe.pe_dma.issue_ns") * 1e6);
}

/* The parts of a packet set out, the first of which is `key`. */
static void set_out(struct sim *s, uint64_t key)
{
    uint64_t id = id_of(key), packet = job_at(s, key)->packet;

    if (job_at(s, key)->child)
        go_on(s, key);
    for (uint32_t part = (uint32_t)(key >> PART_BIT);
         part < s->jobs[id].n_parts && job_at(s, key_of(id, part))->packet == packet; part++)
        if (job_at(s, key_of(id, part))->trunk == NO_JOB)
            go_on(s, key_of(id, part));
}

/* Part `key` of a multicast has left step `from`, a link: parts that part from it there set out. */
static void set_out_from(struct sim *s, uint64_t key, size_t from)
{
    uint64_t id = id_of(key);

    for (uint32_t part = 1; s->jobs[id].n_nodes && part < s->jobs[id].n_parts; part++) {
        const struct job *other = job_at(s, key_of(id, part));

        if (other->trunk == key && other->fork == from)
            go_on(s, key_of(id, part));
    }
}

/*
 * docs/model.md "Packets": job `id` has channel `at` and sets out at `start_fs`, packet by packet;
 * each no earlier than its PE's pace after the one before, and with ideal links no earlier than
 * that has drained. One station is all channels of a direction.
 */
static void leave_channel(struct sim *s, uint64_t id, struct station *at, int64_t start_fs)
{
    int64_t drained_fs = 0;

    s->jobs[id].now_at++;
    for (uint32_t part = 0; part < s->jobs[id].n_parts; part++) {
        struct job *j = job_at(s, key_of(id, part));
        bool begins = part == 0 || j->packet != job_at(s, key_of(id, part - 1))->packet;
        int64_t end_fs;

        if (begins && part > 0) {
            start_fs = add_fs(s, start_fs, pace_fs(s, id));
            if (!s->fifo && drained_fs > start_fs)
                start_fs = drained_fs;
        }
        j->start_fs = start_fs;
        end_fs = add_fs(s, start_fs, j->drain_fs);
        drained_fs = end_fs > drained_fs ? end_fs : drained_fs;
        if (begins && start_fs == s->now_fs)
            set_out(s, key_of(id, part));
        else if (begins)
            post(s, start_fs - s->now_fs, JUDGE_HOP, key_of(id, part), SETS_OUT);
    }
    at->starts_fs = add_fs(s, start_fs, pace_fs(s, id));
}

/* It is known when job `key` is done: an L2 may wait for that. */
static void will_be_done(struct sim *s, uint64_t key, int64_t fs)
{
    const struct job *j = job_at(s, key);

    if (j->child && j->child->number)
        judge_l2_child_ends(j->l2->l2, id_of(key), j->child->maker, j->child->number, fs,
                            j->drain_fs, &s->too_late);
}

/* Job `key` has the station that it came for. */
static void take(struct sim *s, uint64_t key)
{
    struct job *j = job_at(s, key);
    const struct step *here = &j->steps[j->now_at];
    int64_t begin_fs = s->now_fs;

    if (here->kind == CHANNEL && here->at->starts_fs > begin_fs)
        begin_fs = here->at->starts_fs; /* docs/model.md "Channels" */

    if (++here->at->taken > here->at->servers)
        judge_die("a station is more than full");
    here->at->use.count++;
    here->at->use.bytes +=
        here->kind == CHANNEL || j->nbytes == 0 ? s->run->records[id_of(key)].nbytes : j->nbytes;
    here->at->use.wait_fs += begin_fs - j->arrived_fs;
    here->at->use.busy_fs -= begin_fs; /* give_back() adds when it ends */
    if (begin_fs > s->now_fs && !j->waits) {
        j->waits = true;
        j->let_in = here->at->let_in;
    }
    tell_wait(s, key, here->at, begin_fs);
    here->at->let_in = key;
    if (j->now_at == 0 && key == id_of(key))
        s->run->records[key].t_start = begin_fs;
    if (here->kind == CHANNEL) {
        leave_channel(s, key, here->at, begin_fs);
        return;
    }
    post(s, here->fs, JUDGE_DONE, key, j->now_at); /* it is free again */
    if (here->kind == SERVICE) {
        post(s, here->done_fs, JUDGE_DONE, key, j->n_steps);
        will_be_done(s, key, add_fs(s, s->now_fs, here->done_fs));
        return;
    }
    j->now_at++;
    go_on(s, key);
    set_out_from(s, key, j->now_at - 1);
}

/* Job `key` has come to a cache: all that becomes of it is known. */
static void come_to_cache(struct sim *s, uint64_t key, struct station *at)
{
    struct job *j = job_at(s, key);
    struct judge_cached now;

    at->use.count++;
    at->use.bytes += j->nbytes;
    j->access.arrive_fs = s->now_fs;
    now = judge_cache_arrive(at->cache, &j->access, j->gbs, &s->too_late);
    judge_post_children(&s->events, id_of(key), &now);
    judge_post(&s->events, (struct judge_event){.fs = now.done_fs,
                                                .class = JUDGE_DONE,
                                                .id = id_of(key),
                                                .part = number_of(s, key),
                                                .step = j->n_steps});
    will_be_done(s, key, now.done_fs);
}

static void arrive(struct sim *s, uint64_t key)
{
    struct job *j = job_at(s, key);
    struct station *at = j->steps[j->now_at].at;

    record(s, JUDGE_ARRIVAL, key);
    j->arrived_fs = s->now_fs;
    if (at->cache) {
        come_to_cache(s, key, at);
        return;
    }
    if (at->l2 && !(j->child && j->l2 == at)) {
        at->use.count++;
        at->use.bytes += j->nbytes;
        j->access.arrive_fs = s->now_fs;
        judge_l2_arrive(at->l2, &j->access, &s->too_late);
        return;
    }
    if (at->banks) {
        at->use.count += !at->l2;
        at->use.bytes += at->l2 ? 0 : j->nbytes;
        j->access.arrive_fs = s->now_fs;
        judge_banks_arrive(at->banks, &j->access);
        return;
    }
    if (at->taken < at->servers) {
        take(s, key);
        return;
    }
    j->waits = true;
    j->arrived_fs = s->now_fs;
    j->let_in = at->let_in;
    j->behind = NO_JOB;
    if (at->first == NO_JOB)
        at->first = key;
    else
        job_at(s, at->last)->behind = key;
    at->last = key;
    if (++at->in_line > at->use.longest)
        at->use.longest = at->in_line;
}

/* A server is free again: the first in the line gets it. */
static void give_back(struct sim *s, struct station *at)
{
    uint64_t key = at->first;

    at->taken--;
    at->use.busy_fs += s->now_fs;
    at->freed_fs = s->now_fs;
    if (key == NO_JOB)
        return;
    at->in_line--;
    at->first = job_at(s, key)->behind;
    take(s, key);
}

/*
 * docs/kernels.md "Composites": FETCHes, and products behind them, begin in order of tokens. All
 * that job `id` has waited for has ended with job `last`; so has, perhaps, what the FETCHes behind
 * it have waited for.
 */
static void begin(struct sim *s, uint64_t id, uint64_t last)
{
    while (id != NO_JOB && --s->jobs[id].waits_for == 0) {
        s->run->records[id].after = last;
        go_on(s, id);
        id = s->jobs[id].lets;
    }
}

/* Is its one FETCH all that it reads? Composites read on, and moves until they have ended. */
static bool fetches_once(const struct judge_command *c)
{
    return c->kind == JUDGE_DOT || c->kind == JUDGE_MATH || c->kind == JUDGE_UPDATE ||
           c->kind == JUDGE_ACC_DOT || c->kind == JUDGE_ACC_SCALE;
}

/* All that job `id` held becomes free; what has waited for its end goes on: with its last part. */
static void finish(struct sim *s, uint64_t key)
{
    uint64_t id = id_of(key);
    struct job *j = &s->jobs[id];
    struct judge_op_record *r = &s->run->records[id];
    struct pe *p = &s->pes[r->kernel];

    record(s, JUDGE_DONE, key);
    if (job_at(s, key)->child)
        return;
    if (j->n_parts > 1 && s->now_fs > j->last_fs) { /* the record is of the part that ends last */
        j->last_fs = s->now_fs;
        r->t_start = job_at(s, key)->start_fs;
    }
    if (--j->n_left > 0)
        return;
    j->ended = true;
    r->t_end = s->now_fs;
    r->order = s->order++;
    s->ending = id;
    for (size_t i = 0; i < j->n_steps; i++) {
        if (j->steps[i].kind == CHANNEL)
            give_back(s, j->steps[i].at);
    }
    if (r->stage == JUDGE_FETCH && fetches_once(&p->kernel->commands[r->command]))
        has_fetched(s, p, r->command);
    begin(s, j->then, id);
    if (j->frees != JUDGE_NONE) {
        p->tokens[j->frees].fetched = true;
        enter_tokens(s, p);
    }
    if (j->queue != JUDGE_NONE)
        piece_ends(s, id);
    if (p->kernel->commands[r->command].kind == JUDGE_ATOMIC)
        add_up(s, id);
    if (--p->open[r->command] == 0) {
        if ((j->then != NO_JOB && s->run->records[j->then].command == r->command) ||
            r->stage == JUDGE_GEMM_STAGE)
            judge_die("a command ends in the middle");
        command_ends(s, p, r->command);
    }
    s->ending = NO_JOB;
}

/*
 * docs/kernels.md "Composites": E(n) = max(start, E(n-1), end of FETCH of token n - tile_buffers):
 * called at each start of a composite and at each end of a token's FETCH.
 */
static void enter_tokens(struct sim *s, struct pe *p)
{
    for (; p->n_entered < p->n_tokens; p->n_entered++) {
        const struct token *n = &p->tokens[p->n_entered];

        if (!p->starts[n->command].over)
            return;
        if (p->n_entered >= p->tile_buffers && !p->tokens[p->n_entered - p->tile_buffers].fetched)
            return;
        for (size_t i = 0; i < n->n_first; i++) {
            s->run->records[n->first[i]].after = s->ending;
            go_on(s, n->first[i]);
        }
    }
}

/* -- plans ---------------------------------------------------------------------------------- */

/* The plan of one command, and where in it the next jobs belong. */
struct plan {
    struct sim *s;
    struct pe *p;
    const struct judge_command *c;
    uint64_t op_id; /* of the command */
    uint32_t token, tile[3];
    uint32_t m, k, n; /* the tile's sizes */
    uint64_t fetch;   /* of a composite: the FETCH of the token before, if it follows reads ... */
    uint64_t engine;  /* ... and its GEMM or MATH */
};

/* Draws an id. */
static uint64_t new_job(struct plan *x, enum judge_component component, enum judge_stage stage)
{
    struct sim *s = x->s;
    uint64_t id = s->run->n_records++;
    struct judge_op_record *r;

    if (id == s->jobs_room) {
        s->jobs_room = s->jobs_room ? 2 * s->jobs_room : 256;
        s->jobs = judge_grow(s->jobs, s->jobs_room, sizeof *s->jobs);
        s->run->records = judge_grow(s->run->records, s->jobs_room, sizeof *s->run->records);
    }
    s->jobs[id] = (struct job){.n_parts = 1,
                               .n_left = 1,
                               .trunk = NO_JOB,
                               .behind = NO_JOB,
                               .then = NO_JOB,
                               .frees = JUDGE_NONE,
                               .lets = NO_JOB,
                               .queue = JUDGE_NONE};
    r = &s->run->records[id];
    *r = (struct judge_op_record){
        .op_id = id, .parent = JUDGE_NONE, .after = JUDGE_NONE, .t_issue = s->now_fs};
    r->kernel = (size_t)(x->p - s->pes);
    r->command = x->p->at;
    r->component = component;
    r->stage = stage;
    if (component != JUDGE_PE_SCHEDULER && component != JUDGE_NOWHERE)
        x->p->open[x->p->at]++;
    if (stage == JUDGE_COMMAND)
        return id;
    r->parent = x->op_id;
    r->token = x->token;
    memcpy(r->tile, x->tile, sizeof r->tile);
    return id;
}

static void add_step(struct sim *s, uint64_t key, enum step_kind kind, int64_t fs,
                     struct station *at)
{
    struct job *j = job_at(s, key);

    if (j->n_steps == j->room) {
        j->room = j->room ? 2 * j->room : 4;
        j->steps = judge_grow(j->steps, j->room, sizeof *j->steps);
    }
    j->steps[j->n_steps++] = (struct step){.kind = kind, .fs = fs, .at = at, .done_fs = fs};
}

/* `next` arrives as `id` ends, and as all others end that have been told so. */
static void then(struct sim *s, uint64_t id, uint64_t next)
{
    s->jobs[id].then = next;
    s->jobs[next].waits_for++;
}

/* -- jobs of each kind */

/* A job that takes one station, and that alone. */
static void add_service(struct plan *x, uint64_t id, struct station *at, int64_t fs)
{
    add_step(x->s, id, SERVICE, fs, at);
}

static uint64_t fetch_job(struct plan *x, uint64_t nbytes)
{
    uint64_t id = new_job(x, JUDGE_PE_FETCH_STORE, JUDGE_FETCH);
    double gbs = number_at(x->s, &x->p->kernel->pe, "cube.pe.pe_tcm.read_gbs");

    x->s->run->records[id].nbytes = nbytes;
    add_service(x, id, x->p->fetch, judge_transfer_fs(nbytes, gbs, &x->s->too_late));
    return id;
}

static uint64_t store_job(struct plan *x, uint64_t nbytes)
{
    uint64_t id = new_job(x, JUDGE_PE_FETCH_STORE, JUDGE_STORED);
    double gbs = number_at(x->s, &x->p->kernel->pe, "cube.pe.pe_tcm.write_gbs");

    x->s->run->records[id].nbytes = nbytes;
    add_service(x, id, x->p->store, judge_transfer_fs(nbytes, gbs, &x->s->too_late));
    return id;
}

/* overhead_fs + llround(cycles * 1e6 / clock_ghz): at 1 GHz a cycle is a ns */
static int64_t cycles_fs(struct plan *x, double overhead_ns, uint64_t cycles, double clock_ghz)
{
    int64_t fs = judge_transfer_fs(cycles, clock_ghz, &x->s->too_late);

    return add_fs(x->s, llround(overhead_ns * 1e6), fs);
}

/* Bits of an element. */
static uint32_t bits_of(enum judge_dtype dtype)
{
    static const uint32_t bits[] = {[JUDGE_I4] = 4,   [JUDGE_I8] = 8,   [JUDGE_I32] = 32,
                                    [JUDGE_F16] = 16, [JUDGE_F32] = 32, [JUDGE_F64] = 64};

    return bits[dtype];
}

static double rate_of(struct plan *x, enum judge_dtype dtype)
{
    static const char *const keys[] = {
        [JUDGE_I4] = "cube.pe.pe_gemm.rate.i4",   [JUDGE_I8] = "cube.pe.pe_gemm.rate.i8",
        [JUDGE_I32] = "cube.pe.pe_gemm.rate.i32", [JUDGE_F16] = "cube.pe.pe_gemm.rate.f16",
        [JUDGE_F32] = "cube.pe.pe_gemm.rate.f32", [JUDGE_F64] = "cube.pe.pe_gemm.rate.f64"};

    return number_at(x->s, &x->p->kernel->pe, keys[dtype]);
}

/*
 * docs/kernels.md "Accumulators": cycles over the rate of the operands' type, rounded up. "Operands
 * of several types": the rate is that of the type of more bits; if both have as many, the lower
 * one.
 */
static uint64_t rated(struct plan *x, uint64_t cycles)
{
    double rate = rate_of(x, x->c->in);

    if (x->c->mixed) {
        double other = rate_of(x, x->c->other);

        if (bits_of(x->c->other) > bits_of(x->c->in) ||
            (bits_of(x->c->other) == bits_of(x->c->in) && other < rate))
            rate = other;
    }
    return (uint64_t)ceil((double)cycles / rate);
}

static uint64_t gemm_job(struct plan *x, enum judge_stage stage, uint32_t m, uint32_t k, uint32_t n)
{
    const struct judge_end *pe = &x->p->kernel->pe;
    uint64_t id = new_job(x, JUDGE_PE_GEMM, stage);
    struct judge_op_record *r = &x->s->run->records[id];
    uint64_t cycles = ceil_div(m, count_at(x->s, pe, "cube.pe.pe_gemm.mac.0")) *
                      ceil_div(k, count_at(x->s, pe, "cube.pe.pe_gemm.mac.1")) *
                      ceil_div(n, count_at(x->s, pe, "cube.pe.pe_gemm.mac.2"));

    r->m = m;
    r->k = k;
    r->n = n;
    cycles = rated(x, cycles) * (x->c->batch ? x->c->batch : 1);
    add_service(x, id, x->p->gemm,
                cycles_fs(x, number_at(x->s, pe, "cube.pe.pe_gemm.overhead_ns"), cycles,
                          number_at(x->s, pe, "cube.pe.pe_gemm.clock_ghz")));
    return id;
}

/* How often a sort goes through a row: 1 + 2 + ... up to the number of halvings. */
static uint64_t times_sorted(uint64_t n)
{
    uint64_t times = 0;

    for (uint64_t l = 1, half = 1; half < n; half *= 2, l++)
        times += l;
    return times;
}

static uint64_t cycles_of_steps(const struct plan *x)
{
    const struct judge_end *pe = &x->p->kernel->pe;
    uint64_t cycles = 0;

    for (size_t i = 0; i < x->c->n_steps; i++) {
        uint64_t plain =
            ceil_div(x->c->steps[i].elements, count_at(x->s, pe, "cube.pe.pe_math.lanes"));

        cycles +=
            plain *
            (x->c->steps[i].special ? count_at(x->s, pe, "cube.pe.pe_math.special_cycles") : 1);
    }
    return cycles;
}

static uint64_t math_job(struct plan *x, enum judge_stage stage, uint64_t elements,
                         enum judge_class_of_math class)
{
    const struct judge_end *pe = &x->p->kernel->pe;
    uint64_t id = new_job(x, JUDGE_PE_MATH, stage);
    uint64_t cycles = ceil_div(elements, count_at(x->s, pe, "cube.pe.pe_math.lanes"));
    uint64_t special = count_at(x->s, pe, "cube.pe.pe_math.special_cycles");

    if (class == JUDGE_SPECIAL)
        cycles *= special;
    if (class == JUDGE_SOFTMAX)
        cycles *= 3 + 2 * special;
    if (class == JUDGE_SCAN)
        cycles *= count_at(x->s, pe, "cube.pe.pe_math.scan_cycles");
    if (class == JUDGE_RANDOM)
        cycles *= count_at(x->s, pe, "cube.pe.pe_math.random_cycles");
    if (class == JUDGE_INDEX)
        cycles *= count_at(x->s, pe, "cube.pe.pe_math.index_cycles");
    if (class == JUDGE_STEPS)
        cycles = cycles_of_steps(x);
    if (class == JUDGE_SORT)
        cycles = x->c->m * ceil_div(x->c->n, count_at(x->s, pe, "cube.pe.pe_math.lanes")) *
                 times_sorted(x->c->n);
    if (class == JUDGE_TOPK)
        cycles = x->c->m * ceil_div(x->c->n, count_at(x->s, pe, "cube.pe.pe_math.lanes")) *
                 ceil_div(x->c->k, count_at(x->s, pe, "cube.pe.pe_math.topk_width"));
    x->s->run->records[id].elements = elements;
    add_service(x, id, x->p->math,
                cycles_fs(x, number_at(x->s, pe, "cube.pe.pe_math.overhead_ns"), cycles,
                          number_at(x->s, pe, "cube.pe.pe_math.clock_ghz")));
    return id;
}

/* docs/model.md "Links": data of a write flows along the edge, data of a read against it. */
static struct station *link_of(struct sim *s, const struct judge_hop *h, bool write)
{
    if (write)
        return station_at(s, LINKS, h->edge);
    return h->back == SIZE_MAX ? station_at(s, RETURNS, h->edge) : station_at(s, LINKS, h->back);
}

/* -- banks: their times come back as events -- */

static void wake(void *arg, struct judge_banks *b, const struct judge_end *slice, uint32_t channel,
                 int64_t fs)
{
    struct sim *s = arg;

    judge_post(&s->events, (struct judge_event){.fs = fs,
                                                .class = JUDGE_ARBITRATION,
                                                .id = judge_channel_number(s->t, slice, channel),
                                                .step = channel,
                                                .banks = b});
}

static void granted(void *arg, const struct judge_access *access)
{
    record(arg, JUDGE_ARBITRATION, key_of_number(arg, access->id, access->part));
}

static void done_by_banks(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct sim *s = arg;
    uint64_t key = key_of_number(s, access->id, access->part);

    judge_post(&s->events, (struct judge_event){.fs = done_fs,
                                                .class = JUDGE_DONE,
                                                .id = access->id,
                                                .part = access->part,
                                                .step = job_at(s, key)->n_steps});
    will_be_done(s, key, done_fs);
}

static void make_child(void *arg, struct judge_l2_child *made);
static void ask_banks(void *arg, struct judge_l2_child *made);
static void done_by_l2(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs);

/* The last step of job `key` is an access to banks, or to a cache. */
static void use_banks(struct sim *s, uint64_t key, bool write, struct judge_piece *part,
                      struct station *at, int64_t drain_fs)
{
    struct judge_banks_user user = {s, wake, granted, done_by_banks, NULL};

    if (part->memory.kind == JUDGE_L2) {
        struct judge_l2_user to_l2 = {s, make_child, done_by_l2};

        if (!at->l2)
            at->l2 = judge_l2_new(s->t, &part->memory, &to_l2);
    } else if (judge_has_cache(s->t, &part->memory) && judge_has_banks(s->t, &part->memory)) {
        struct judge_l2_user to_cache = {s, ask_banks, done_by_l2};

        if (!at->l2) {
            at->l2 = judge_l2_new(s->t, &part->memory, &to_cache);
            at->banks = judge_banks_new(s->t, &part->memory, true, &user);
        }
    } else if (judge_has_cache(s->t, &part->memory)) {
        if (!at->cache)
            at->cache = judge_cache_new(s->t, &part->memory);
    } else if (!at->banks) {
        at->banks = judge_banks_new(s->t, &part->memory, true, &user);
    }
    job_at(s, key)->access = (struct judge_access){.id = id_of(key),
                                                   .part = number_of(s, key),
                                                   .write = write,
                                                   .drain_fs = drain_fs,
                                                   .offset = part->offset,
                                                   .nbytes = part->nbytes,
                                                   .runs = part->runs,
                                                   .n_runs = part->n_runs};
    part->runs = NULL; /* the job's now */
}

/* The steps: channel (of part 0), every wire and node (and link, if fifo), memory. */
static void add_way(struct sim *s, uint64_t key, bool write, const struct judge_end *pe,
                    struct judge_piece *part, const struct judge_route *r)
{
    const struct judge_end *at = &part->memory;
    uint64_t nbytes = part->nbytes;
    const struct judge_hop *last = &r->hops[r->n - 1];
    struct station *memory =
        station_at(s, at->kind == JUDGE_TCM && !write ? READ_PORTS : ONES, last->node);
    const struct judge_l2_child *child = job_at(s, key)->child;
    int64_t drain_fs = judge_drain_fs(s->t, pe, write, part, r->bottleneck_gbs, &s->too_late);

    job_at(s, key)->gbs = r->bottleneck_gbs;
    if (child) {
        double gbs = judge_l2_gbs(s->t, pe);

        if (gbs < r->bottleneck_gbs)
            job_at(s, key)->gbs = gbs;
        drain_fs = judge_child_drain_fs(s->t, pe, child, job_at(s, key)->gbs, &s->too_late);
    }
    job_at(s, key)->nbytes = nbytes;
    job_at(s, key)->packet = part->packet;
    job_at(s, key)->drain_fs = drain_fs;
    if (key == id_of(key))
        add_step(s, key, CHANNEL, 0, station_at(s, write ? WRITES : READS, r->hops[0].node));
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_hop *h = &r->hops[i];

        if (i > 0 && s->fifo)
            add_step(s, key, LINK, judge_transfer_fs(nbytes, h->edge_gbs, &s->too_late),
                     link_of(s, h, write));
        add_step(s, key, DELAY, h->wire_fs, NULL);
        if (h != last)
            add_step(s, key, DELAY, h->overhead_fs, NULL);
    }
    add_step(s, key, SERVICE,
             judge_held_fs(s->t, at, judge_moved_bytes(s->t, part), write,
                           last->overhead_fs - r->latency_fs, drain_fs, &s->too_late),
             memory);
    job_at(s, key)->steps[job_at(s, key)->n_steps - 1].done_fs =
        add_fs(s, last->overhead_fs, drain_fs);
    if (judge_has_banks(s->t, at) || judge_has_cache(s->t, at) || at->kind == JUDGE_L2)
        use_banks(s, key, write, part, memory, drain_fs);
}

/* -- what an L2 asks -- */

static void make_child(void *arg, struct judge_l2_child *made)
{
    struct sim *s = arg;
    struct job *whole = &s->jobs[made->id];
    const struct judge_end *pe = &s->pes[s->run->records[made->id].kernel].kernel->pe;
    struct judge_end l2 = {.kind = JUDGE_L2, .sip = pe->sip, .cube = pe->cube};
    struct judge_l2_child *child = judge_alloc(1, sizeof *child);
    struct job *maker = job_at(s, key_of_number(s, made->id, made->maker));
    struct job *j = judge_alloc(1, sizeof *j);
    enum judge_op op = made->write ? JUDGE_WRITE : JUDGE_READ;
    uint64_t key = key_of(made->id, OF_AN_L2 + whole->n_children);
    struct judge_piece piece = made->piece;
    struct judge_route r = {0};
    uint32_t course;

    *child = *made;
    *j = (struct job){.child = child,
                      .l2 = maker->steps[maker->n_steps - 1].at,
                      .then = NO_JOB,
                      .trunk = NO_JOB,
                      .n_parts = 1,
                      .n_left = 1};
    whole->children = judge_grow(whole->children, whole->n_children + 1, sizeof(struct job *));
    whole->children[whole->n_children++] = j;
    if (!s->t->net && strcmp(judge_text(s->t, "sip.plane"), "column") == 0)
        course = judge_plane_of(s->t, maker->access.write ? JUDGE_WRITE : JUDGE_READ, 0);
    else
        course = judge_course_of(s->t, op, pe, &piece.memory, made->id, made->part);
    if (!judge_route_on(s->t, course, op, &l2, &piece.memory, &r))
        judge_die("an L2 has no way to a slice");
    add_way(s, key, made->write, &l2, &piece, &r);
    judge_route_clear(&r);
    free(piece.runs); /* unless an access has them */
    judge_post(&s->events, (struct judge_event){.fs = made->depart_fs,
                                                .class = JUDGE_HOP,
                                                .id = made->id,
                                                .part = made->part,
                                                .step = SETS_OUT});
}

static void done_by_l2(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs)
{
    struct sim *s = arg;
    uint64_t key = key_of_number(s, id, part);

    (void)begin_fs;
    judge_post(&s->events, (struct judge_event){.fs = done_fs,
                                                .class = JUDGE_DONE,
                                                .id = id,
                                                .part = part,
                                                .step = job_at(s, key)->n_steps});
    will_be_done(s, key, done_fs);
}

/* A slice's cache asks the banks behind it, at their own station. */
static void ask_banks(void *arg, struct judge_l2_child *made)
{
    struct sim *s = arg;
    struct job *whole = &s->jobs[made->id], *j = judge_alloc(1, sizeof *j);
    struct job *maker = job_at(s, key_of_number(s, made->id, made->maker));
    struct station *at = maker->steps[maker->n_steps - 1].at;
    struct judge_l2_child *child = judge_alloc(1, sizeof *child);
    uint64_t key = key_of(made->id, OF_AN_L2 + whole->n_children);

    *child = *made;
    *j = (struct job){.child = child,
                      .l2 = at,
                      .then = NO_JOB,
                      .nbytes = made->piece.nbytes,
                      .n_parts = 1,
                      .n_left = 1};
    whole->children = judge_grow(whole->children, whole->n_children + 1, sizeof(struct job *));
    whole->children[whole->n_children++] = j;
    j->access = (struct judge_access){.id = made->id,
                                      .part = made->part,
                                      .write = made->write,
                                      .offset = made->piece.offset,
                                      .nbytes = made->piece.nbytes,
                                      .runs = made->piece.runs,
                                      .n_runs = made->piece.n_runs};
    if (!made->write)
        j->access.drain_fs = judge_transfer_fs(made->asked, maker->gbs, &s->too_late);
    add_step(s, key, SERVICE, 0, at);
    at->asked.count++;
    at->asked.bytes += j->nbytes;
    post(s, made->depart_fs - s->now_fs, JUDGE_ARRIVAL, key, 0);
}

/* The memory's service takes the time of an atomic, which both reads and writes there. */
static void hold_twice(struct sim *s, uint64_t key, const struct judge_piece *part,
                       int64_t drain_fs)
{
    const struct judge_end *at = &part->memory;
    struct step *step = &job_at(s, key)->steps[job_at(s, key)->n_steps - 1];

    if (strcmp(judge_cube_text(s->t, at->sip, at->cube, "cube.hbm.atomic"), "read_write") != 0)
        return;
    step->fs = add_fs(
        s, step->fs,
        judge_held_fs(s->t, at, judge_moved_bytes(s->t, part), true, 0, drain_fs, &s->too_late));
}

/* -- multicasts -- */

static void keep_nodes(struct job *j, const struct judge_route *r)
{
    j->nodes = judge_alloc(r->n, sizeof *j->nodes);
    j->n_nodes = r->n;
    for (size_t i = 0; i < r->n; i++)
        j->nodes[i] = r->hops[i].node;
}

/* How many steps two parts have in common from the PE on, up to the last link of these. Part 0 has
 * a step more, its channel. */
static size_t common_steps(const struct job *a, const struct job *b)
{
    size_t more = a->steps[0].kind == CHANNEL, n = 0;

    for (size_t i = 0; i + more < a->n_steps && i < b->n_steps; i++) {
        const struct step *x = &a->steps[i + more], *y = &b->steps[i];

        if (x->kind != y->kind || x->fs != y->fs || x->at != y->at)
            break;
        if (x->kind == LINK)
            n = i + 1;
    }
    return n;
}

/* docs/model.md "Multicasts": each part goes alone from where no part before it goes. */
static void lay_over(struct sim *s, uint64_t id)
{
    for (uint32_t i = 1; i < s->jobs[id].n_parts; i++) {
        struct job *x = job_at(s, key_of(id, i));
        size_t most = 0;

        for (uint32_t k = 0; k < i; k++) {
            const struct job *before = job_at(s, key_of(id, k));
            size_t n = common_steps(before, x);

            if (n <= most)
                continue;
            most = n;
            x->trunk = key_of(id, k);
            x->fork = n - 1 + (before->steps[0].kind == CHANNEL);
        }
        x->now_at = most;
    }
}

/* Do two ways part behind node `i` of both? */
static bool part_behind(const struct job *a, const struct job *b, size_t i)
{
    if (i + 1 >= a->n_nodes || i + 1 >= b->n_nodes)
        return false;
    for (size_t k = 0; k <= i; k++)
        if (a->nodes[k] != b->nodes[k])
            return false;
    return a->nodes[i + 1] != b->nodes[i + 1];
}

/* What it takes to join data of part `x` at node `i` of its way with others. */
static int64_t join_fs(struct sim *s, uint64_t id, const struct job *x, size_t i)
{
    const struct judge_node *node = &s->t->nodes[x->nodes[i]];
    unsigned sip, cube, row, col;
    bool parts = false;

    if (!node->is_noc && sscanf(node->name, "sip%u.cube%u.r%uc%u", &sip, &cube, &row, &col) != 4)
        return 0;
    if (sscanf(node->name, "sip%u.cube%u.", &sip, &cube) != 2)
        return 0;
    for (uint32_t k = 0; k < s->jobs[id].n_parts; k++)
        parts = parts || part_behind(x, job_at(s, key_of(id, k)), i);
    return parts ? llround(judge_cube_number(s->t, sip, cube, "cube.noc.reduce_ns") * 1e6) : 0;
}

/* "cube.noc.reduce_ns for each NoC at which its way forks, for there its data are joined" */
static void join_data(struct sim *s, uint64_t id)
{
    for (uint32_t part = 0; part < s->jobs[id].n_parts; part++) {
        struct job *x = job_at(s, key_of(id, part));

        for (size_t i = 0; i < x->n_nodes; i++)
            x->steps[x->n_steps - 1].done_fs += join_fs(s, id, x, i);
    }
}

/* The route of one part, and its steps. */
static void add_part(struct plan *x, uint64_t key, bool write, struct judge_piece *part)
{
    struct sim *s = x->s;
    enum judge_op op = write ? JUDGE_WRITE : JUDGE_READ;
    uint32_t course =
        judge_course_of(s->t, op, &x->p->kernel->pe, &part->memory, id_of(key), key >> PART_BIT);
    struct judge_route r = {0};

    job_at(s, key)->trunk = NO_JOB;
    if (s->t->net && x->c->n_targets)
        course = 0; /* multicasts go the first way */
    if (judge_route_on(s->t, course, op, &x->p->kernel->pe, &part->memory, &r)) {
        add_way(s, key, write, &x->p->kernel->pe, part, &r);
        if (x->c->n_targets)
            keep_nodes(job_at(s, key), &r);
        if (x->c->kind == JUDGE_ATOMIC)
            hold_twice(s, key, part, job_at(s, key)->drain_fs);
        judge_route_clear(&r);
        return;
    }
    fprintf(stderr, "judge: kernel %zu, command %zu: there is no route\n", (size_t)(x->p - s->pes),
            x->p->at);
    s->failed = true;
}

/* Where slices are interleaved, byte `offset` of slice n means address n * JUDGE_WINDOW + offset.
 */
static uint64_t address_of(const struct sim *s, const struct judge_end *at, uint64_t offset)
{
    struct judge_end first = *at;

    if (at->kind != JUDGE_SLICE || judge_count(s->t, "addressing.granule") == 0)
        return judge_address(s->t, at, offset);
    first.unit = 0;
    return judge_address(s->t, &first, (uint64_t)at->unit * JUDGE_WINDOW + offset);
}

/* Lines of a matrix, each of `nbytes`, `stride` apart; one line: its bytes lie together. */
struct lines {
    uint64_t n, nbytes, stride;
};

/* The parts of a multicast: all bytes in each of its memories. */
static size_t cut_targets(const struct plan *x, struct judge_piece **parts)
{
    const struct judge_command *c = x->c;

    *parts = judge_alloc(c->n_targets, sizeof **parts);
    for (size_t i = 0; i < c->n_targets; i++)
        (*parts)[i] = (struct judge_piece){
            .memory = c->targets[i], .offset = c->offsets[i], .nbytes = c->nbytes};
    return c->n_targets;
}

static size_t cut_lines(const struct plan *x, const struct judge_end *at, uint64_t offset,
                        struct lines lines, struct judge_piece **parts)
{
    const struct judge_end *pe = &x->p->kernel->pe;
    const struct judge_topo *t = x->s->t;
    uint64_t address = address_of(x->s, at, offset);
    bool past_l2 = x->c->kind == JUDGE_ATOMIC || x->c->kind == JUDGE_SEND ||
                   x->c->kind == JUDGE_RECV || !judge_goes_to_l2(t, pe, at);
    bool joined =
        lines.n == 1 || lines.stride == lines.nbytes ||
        strcmp(judge_cube_text(t, pe->sip, pe->cube, "cube.pe.pe_dma.tiles"), "runs") != 0;
    bool splits = at->kind == JUDGE_SLICE && judge_count(t, "addressing.granule") > 0;
    struct judge_piece whole = {.memory = *at, .offset = offset, .nbytes = lines.n * lines.nbytes};
    struct judge_stretch *runs;
    size_t n;

    if (x->c->n_targets)
        return cut_targets(x, parts);
    if (joined && !past_l2)
        lines = (struct lines){1, lines.n * lines.nbytes, 0};
    if (joined && past_l2)
        return judge_cut(t, pe, &whole, splits ? &address : NULL, parts);
    runs = judge_alloc(lines.n, sizeof *runs);
    for (uint64_t i = 0; i < lines.n; i++)
        runs[i] =
            (struct judge_stretch){(splits ? address : offset) + i * lines.stride, lines.nbytes};
    if (past_l2)
        n = judge_cut_runs(t, pe, splits ? NULL : at, runs, lines.n, parts);
    else
        n = judge_cut_to_l2(t, pe, splits ? NULL : at, runs, lines.n, parts);
    free(runs);
    return n;
}

static uint64_t dma_job(struct plan *x, enum judge_stage stage, bool write,
                        const struct judge_end *at, uint64_t offset, struct lines lines)
{
    struct sim *s = x->s;
    uint64_t id = new_job(x, JUDGE_PE_DMA, stage), address = address_of(s, at, offset);
    struct judge_piece *parts = NULL;
    size_t n = cut_lines(x, at, offset, lines, &parts);

    s->run->records[id].nbytes = lines.n * lines.nbytes;
    s->run->records[id].address = address;
    if (n > 1)
        s->jobs[id].more = judge_alloc(n - 1, sizeof *s->jobs[id].more);
    s->jobs[id].n_parts = s->jobs[id].n_left = (uint32_t)n;
    s->failed = s->failed || n == 0;
    for (uint32_t part = 0; part < n && !s->failed; part++)
        add_part(x, key_of(id, part), write, &parts[part]);
    judge_free_parts(parts, n);
    if (x->c->n_targets && !s->failed)
        lay_over(s, id);
    if (x->c->n_targets && !s->failed && !write)
        join_data(s, id);
    return id;
}

/* The part of an epilogue's operand that belongs to a tile. */
static uint64_t epilogue_fetch(struct plan *x, const struct judge_epilogue *e)
{
    uint64_t m = e->part == JUDGE_ROW ? 1 : x->m;
    uint64_t n = e->part == JUDGE_COLUMN ? 1 : x->n;

    return fetch_job(x, m * n * e->element_bytes);
}

static uint64_t epilogue_math(struct plan *x, const struct judge_epilogue *e)
{
    return math_job(x, JUDGE_MATH_STAGE, (uint64_t)x->m * x->n,
                    e->special ? JUDGE_SPECIAL : JUDGE_PLAIN);
}

/* -- plans of commands: each draws the ids of its jobs in the order of the op log */

static void plan_dma(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t rows = c->rows ? c->rows : 1;

    x->op_id = dma_job(x, JUDGE_COMMAND, c->kind != JUDGE_LOAD, &c->at, c->offset,
                       (struct lines){rows, c->nbytes / rows, c->stride});
    x->p->starts[x->p->at].first = x->op_id;
}

/* Job `id` begins after the engine of the command before on its accumulator. */
static void in_turn(struct plan *x, uint64_t id)
{
    struct pe *p = x->p;
    size_t acc = x->c->acc;

    for (; p->n_turns <= acc; p->n_turns++) {
        p->turns = judge_grow(p->turns, p->n_turns + 1, sizeof *p->turns);
        p->turns[p->n_turns] = NO_JOB;
    }
    if (p->turns[acc] != NO_JOB && !x->s->jobs[p->turns[acc]].ended)
        then(x->s, p->turns[acc], id);
    p->turns[acc] = id;
}

/* Job `id` follows job `last`; NO_JOB: the start of its command. Returns it. */
static uint64_t follow(struct plan *x, uint64_t last, uint64_t id)
{
    if (last != NO_JOB) {
        then(x->s, last, id);
    } else {
        x->p->starts[x->p->at].first = id;
        x->s->jobs[id].waits_for++; /* for the start */
    }
    return id;
}

/* FETCH and the engine, which has its turn; the engine's record is the command's. */
static void plan_acc(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t last = NO_JOB;

    if (c->kind == JUDGE_ACC_DOT)
        x->op_id = gemm_job(x, JUDGE_COMMAND, c->m, c->k, c->n);
    else
        x->op_id = math_job(x, JUDGE_COMMAND, c->elements, JUDGE_PLAIN);
    if (c->operand_bytes > 0)
        last = follow(x, last, fetch_job(x, c->operand_bytes));
    follow(x, last, x->op_id);
    in_turn(x, x->op_id);
}

/* The steps of the epilogue, of which the first engine has its turn, and STORE. */
static void plan_acc_store(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t last = NO_JOB, first = NO_JOB;

    x->op_id = new_job(x, JUDGE_PE_SCHEDULER, JUDGE_COMMAND);
    x->m = c->m;
    x->n = c->n;
    for (size_t i = 0; i < c->n_epilogues; i++) {
        const struct judge_epilogue *e = &c->epilogues[i];

        if (e->part != JUDGE_NO_PART)
            last = follow(x, last, epilogue_fetch(x, e));
        last = follow(x, last, epilogue_math(x, e));
        first = first == NO_JOB ? last : first;
    }
    last = follow(x, last, store_job(x, c->nbytes));
    in_turn(x, first == NO_JOB ? last : first);
}

/* FETCH, engine, STORE; the engine's record is the command's. */
static void plan_compute(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t first, store;

    if (c->kind == JUDGE_DOT)
        x->op_id = gemm_job(x, JUDGE_COMMAND, c->m, c->k, c->n);
    else
        x->op_id = math_job(x, JUDGE_COMMAND, c->elements, c->class);
    first = x->op_id;
    if (c->operand_bytes > 0) {
        first = fetch_job(x, c->operand_bytes);
        then(x->s, first, x->op_id);
    }
    store = store_job(x, c->nbytes);
    then(x->s, x->op_id, store);
    x->p->starts[x->p->at].first = first;
}

/* docs/kernels.md "A part that is replaced": FETCH and STORE of the part; a record of all. */
static void plan_update(struct plan *x)
{
    uint64_t fetch, store;

    x->op_id = new_job(x, JUDGE_PE_FETCH_STORE, JUDGE_COMMAND);
    x->p->open[x->p->at]--; /* it has no service of its own */
    fetch = fetch_job(x, x->c->operand_bytes);
    store = store_job(x, x->c->operand_bytes);
    then(x->s, fetch, store);
    x->p->starts[x->p->at].first = fetch;
}

/* docs/kernels.md "Values that decide": a FETCH, which is all that is recorded. */
static void plan_value(struct plan *x)
{
    x->op_id = fetch_job(x, x->c->operand_bytes);
    x->s->run->records[x->op_id].parent = x->op_id;
    x->p->starts[x->p->at].first = x->op_id;
}

static struct token *new_token(struct pe *p)
{
    if (p->n_tokens == p->tokens_room) {
        p->tokens_room = p->tokens_room ? 2 * p->tokens_room : 16;
        p->tokens = judge_grow(p->tokens, p->tokens_room, sizeof *p->tokens);
    }
    p->tokens[p->n_tokens] = (struct token){.command = p->at};
    return &p->tokens[p->n_tokens++];
}

/* Of an element of a composite's operand. */
static uint64_t element_bytes(const struct judge_command *c, uint32_t operand)
{
    return c->mixed ? bits_of(operand ? c->other : c->in) / 8 : c->in_bytes;
}

/* DMA_READ of an operand's tile, if it has to be read: `row`, `column` is its first element. */
static void read_tile(struct plan *x, uint32_t operand, uint64_t row, uint64_t column,
                      uint64_t width, uint64_t rows, uint64_t columns)
{
    const struct judge_operand *o = &x->c->operands[operand];
    struct token *token = &x->p->tokens[x->p->n_tokens - 1];
    uint64_t id, bytes = element_bytes(x->c, operand);

    if (o->where != JUDGE_AT)
        return;
    id = dma_job(x, JUDGE_DMA_READ, false, &o->at, o->offset + (row * width + column) * bytes,
                 (struct lines){rows, columns * bytes, width * bytes});
    x->s->run->records[id].operand = operand;
    token->first[token->n_first++] = id;
}

/* Job `id` arrives no earlier than that of the token before. */
static void in_order(struct plan *x, uint64_t *before, uint64_t id)
{
    if (*before != NO_JOB) {
        x->s->jobs[*before].lets = id;
        x->s->jobs[id].waits_for++;
    }
    *before = id;
}

/* The FETCH of a token's tiles: after its DMA_READs, or else as the token enters. */
static uint64_t fetch_tiles(struct plan *x, uint64_t nbytes)
{
    struct token *token = &x->p->tokens[x->p->n_tokens - 1];
    uint64_t id = fetch_job(x, nbytes);

    x->s->jobs[id].frees = x->p->n_tokens - 1;
    for (size_t i = 0; i < token->n_first; i++)
        then(x->s, token->first[i], id);
    if (token->n_first == 0) {
        token->first[token->n_first++] = id;
        return id;
    }
    in_order(x, &x->fetch, id);
    return id;
}

/* STORE and DMA_WRITE of the tile that begins at `row`, `column`. */
static void write_tile(struct plan *x, uint64_t after, uint64_t row, uint64_t column)
{
    const struct judge_command *c = x->c;
    uint64_t store = store_job(x, (uint64_t)x->m * x->n * c->out_bytes);

    then(x->s, after, store);
    then(x->s, store,
         dma_job(x, JUDGE_DMA_WRITE, true, &c->at, c->offset + (row * c->n + column) * c->out_bytes,
                 (struct lines){x->m, x->n * c->out_bytes, (uint64_t)c->n * c->out_bytes}));
}

static uint64_t plan_epilogue(struct plan *x, uint64_t after, const struct judge_epilogue *e)
{
    if (e->part != JUDGE_NO_PART)
        after = follow(x, after, epilogue_fetch(x, e));
    return follow(x, after, epilogue_math(x, e));
}

/* One token of composite_gemm: tiles (i, k) of a and (k, j) of b. */
static void plan_gemm_token(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t row = (uint64_t)x->tile[0] * x->p->tile_m;
    uint64_t column = (uint64_t)x->tile[1] * x->p->tile_n;
    uint64_t inner = (uint64_t)x->tile[2] * x->p->tile_k;
    uint64_t a = (uint64_t)x->m * x->k, b = (uint64_t)x->k * x->n;
    uint64_t fetch, last;

    new_token(x->p);
    read_tile(x, 0, row, inner, c->k, x->m, x->k);
    read_tile(x, 1, inner, column, c->n, x->k, x->n);
    fetch = fetch_tiles(x, a * element_bytes(c, 0) + b * element_bytes(c, 1));
    last = gemm_job(x, JUDGE_GEMM_STAGE, x->m, x->k, x->n);
    then(x->s, fetch, last);
    in_order(x, &x->engine, last);
    if (inner + x->k < c->k)
        return;
    for (size_t i = 0; i < c->n_epilogues; i++)
        last = plan_epilogue(x, last, &c->epilogues[i]);
    write_tile(x, last, row, column);
}

static void plan_composite_gemm(struct plan *x)
{
    const struct judge_command *c = x->c;

    for (uint32_t i = 0; i < ceil_div(c->m, x->p->tile_m); i++) {
        for (uint32_t j = 0; j < ceil_div(c->n, x->p->tile_n); j++) {
            for (uint32_t k = 0; k < ceil_div(c->k, x->p->tile_k); k++) {
                x->tile[0] = i;
                x->tile[1] = j;
                x->tile[2] = k;
                x->m = least(x->p->tile_m, c->m - i * x->p->tile_m);
                x->n = least(x->p->tile_n, c->n - j * x->p->tile_n);
                x->k = least(x->p->tile_k, c->k - k * x->p->tile_k);
                plan_gemm_token(x);
                x->token++;
            }
        }
    }
}

static void plan_math_token(struct plan *x)
{
    const struct judge_command *c = x->c;
    uint64_t row = (uint64_t)x->tile[0] * x->p->tile_m;
    uint64_t column = (uint64_t)x->tile[1] * x->p->tile_n;
    uint64_t elements = (uint64_t)x->m * x->n, nbytes = 0, fetch, math;

    new_token(x->p);
    for (uint32_t i = 0; i < c->n_operands; i++) {
        read_tile(x, i, row, column, c->n, x->m, x->n);
        if (c->operands[i].where != JUDGE_SCALAR)
            nbytes += elements * c->in_bytes;
    }
    fetch = fetch_tiles(x, nbytes);
    math = math_job(x, JUDGE_MATH_STAGE, elements, c->class);
    then(x->s, fetch, math);
    in_order(x, &x->engine, math);
    write_tile(x, math, row, column);
}

static void plan_composite_math(struct plan *x)
{
    const struct judge_command *c = x->c;

    for (uint32_t i = 0; i < ceil_div(c->m, x->p->tile_m); i++) {
        for (uint32_t j = 0; j < ceil_div(c->n, x->p->tile_n); j++) {
            x->tile[0] = i;
            x->tile[1] = j;
            x->m = least(x->p->tile_m, c->m - i * x->p->tile_m);
            x->n = least(x->p->tile_n, c->n - j * x->p->tile_n);
            plan_math_token(x);
            x->token++;
        }
    }
}

static void plan_composite(struct plan *x)
{
    x->op_id = new_job(x, JUDGE_PE_SCHEDULER, JUDGE_COMMAND);
    if (x->c->kind == JUDGE_COMPOSITE_GEMM)
        plan_composite_gemm(x);
    else
        plan_composite_math(x);
    x->p->times->commands[x->p->at].tokens = x->token;
}

/* -- queues --------------------------------------------------------------------------------- */

/* Wires and overheads of the route from one PE to another; to itself no way at all. */
static int64_t word_fs(struct sim *s, const struct judge_end *from, const struct judge_end *to)
{
    struct judge_end tcm = *to;
    struct judge_route r = {0};
    int64_t fs;

    if (judge_global_pe(s->t, from) == judge_global_pe(s->t, to))
        return 0;
    tcm.kind = JUDGE_TCM;
    if (!judge_route(s->t, JUDGE_WRITE, from, &tcm, &r))
        judge_die("PEs without a route");
    fs = r.wire_fs + r.overhead_fs;
    judge_route_clear(&r);
    return fs;
}

/* The memory of the receiver that holds the slots. */
static struct judge_end memory_of_queues(const struct sim *s, const struct judge_end *receiver)
{
    const char *space =
        judge_cube_text(s->t, receiver->sip, receiver->cube, "cube.pe.pe_ipcq.space");
    struct judge_end memory = *receiver;

    memory.kind = JUDGE_TCM;
    if (strcmp(space, "sram") == 0)
        memory = (struct judge_end){JUDGE_SRAM, receiver->sip, receiver->cube, 0};
    if (strcmp(space, "hbm") == 0)
        memory = judge_home_slice(s->t, receiver);
    return memory;
}

/* Slots are placed from the memory's end down, a queue after the other, in units of 64 bytes. */
static uint64_t place_slots(const struct sim *s, const struct judge_end *memory)
{
    uint64_t nbytes = (uint64_t)count_at(s, memory, "cube.pe.pe_ipcq.slots") *
                      count_at(s, memory, "cube.pe.pe_ipcq.slot_bytes");
    uint64_t end = judge_memory_bytes(s->t, memory);
    uint64_t address = judge_address(s->t, memory, 0);

    for (size_t i = 0; i < s->n_queues; i++) {
        const struct queue *q = &s->queues[i];

        if (judge_address(s->t, &q->memory, 0) == address)
            end = q->offset;
    }
    return end - ceil_div(nbytes, 64) * 64;
}

/* That of a send or a recv: its first call makes it. */
static size_t find_queue(struct sim *s, const struct pe *p, const struct judge_command *c)
{
    const struct judge_end *self = &p->kernel->pe;
    bool sends = c->kind == JUDGE_SEND;
    struct queue q = {.tag = c->tag, .sender = sends ? *self : c->at};

    q.receiver = sends ? c->at : *self;
    q.from = judge_global_pe(s->t, &q.sender);
    q.to = judge_global_pe(s->t, &q.receiver);
    for (size_t i = 0; i < s->n_queues; i++) {
        if (s->queues[i].from == q.from && s->queues[i].to == q.to && s->queues[i].tag == q.tag)
            return i;
    }
    q.memory = memory_of_queues(s, &q.receiver);
    q.offset = place_slots(s, &q.memory);
    s->queues = judge_grow(s->queues, s->n_queues + 1, sizeof *s->queues);
    s->queues[s->n_queues] = q;
    return s->n_queues++;
}

static bool is_as_sent(struct sim *s, uint64_t piece, uint64_t take)
{
    if (s->run->records[piece].nbytes == s->run->records[take].nbytes &&
        s->jobs[piece].last == s->jobs[take].last)
        return true;
    fprintf(stderr, "judge: kernel %zu, command %zu: these are not the bytes that were sent\n",
            s->run->records[take].kernel, s->run->records[take].command);
    s->failed = true;
    return false;
}

/* All pieces have set out: the kernel goes on, if it has waited for that. */
static void has_sent(struct sim *s, uint64_t last)
{
    struct pe *p = &s->pes[s->run->records[last].kernel];

    if (p->blocked && p->until == JUDGE_NONE && s->run->records[last].command == p->at)
        post(s, 0, JUDGE_START, p->index, 0);
}

static bool has_started(const struct sim *s, uint64_t piece)
{
    const struct judge_op_record *r = &s->run->records[piece];

    return s->pes[r->kernel].starts[r->command].over;
}

/* Something has changed: a piece may set out, or be taken. Both are done in order. */
static void advance(struct sim *s, struct queue *q)
{
    size_t slots = count_at(s, &q->receiver, "cube.pe.pe_ipcq.slots");

    while (q->sent < q->n_pieces && q->sent < slots + q->credits &&
           has_started(s, q->pieces[q->sent])) {
        uint64_t id = q->pieces[q->sent++];

        go_on(s, id);
        if (s->jobs[id].last)
            has_sent(s, id);
    }
    while (q->taken < q->n_takes && q->taken < q->n_pieces && s->jobs[q->pieces[q->taken]].ended) {
        if (!is_as_sent(s, q->pieces[q->taken], q->takes[q->taken]))
            return;
        go_on(s, q->takes[q->taken++]);
    }
}

/* A piece is in its slot; or it has been taken out, and the sender is told. */
static void piece_ends(struct sim *s, uint64_t id)
{
    struct queue *q = &s->queues[s->jobs[id].queue];

    if (s->run->records[id].stage == JUDGE_COPY)
        advance(s, q);
    else
        post(s, word_fs(s, &q->receiver, &q->sender), JUDGE_HOP, id, CREDIT);
}

static void credit_arrives(struct sim *s, uint64_t id)
{
    struct queue *q = &s->queues[s->jobs[id].queue];

    s->jobs[id].credited = true;
    while (q->credits < q->n_takes && s->jobs[q->takes[q->credits]].credited)
        q->credits++; /* reads of banks may end in another order than their slots have */
    advance(s, q);
}

static void add_to_list(uint64_t **list, size_t *n, size_t *room, uint64_t id)
{
    if (*n == *room) {
        *room = *room ? 2 * *room : 8;
        *list = judge_grow(*list, *room, sizeof **list);
    }
    (*list)[(*n)++] = id;
}

/* A piece on its way into slot `slot`, or out of it. */
static uint64_t piece_job(struct plan *x, const struct queue *q, size_t slot, uint64_t nbytes)
{
    const struct judge_topo *t = x->s->t;
    uint64_t offset = q->offset + slot % count_at(x->s, &q->receiver, "cube.pe.pe_ipcq.slots") *
                                      count_at(x->s, &q->receiver, "cube.pe.pe_ipcq.slot_bytes");
    uint64_t id;

    if (x->c->kind == JUDGE_SEND)
        return dma_job(x, JUDGE_COPY, true, &q->memory, offset, (struct lines){1, nbytes, 0});
    if (q->memory.kind != JUDGE_TCM)
        return dma_job(x, JUDGE_DMA_READ, false, &q->memory, offset, (struct lines){1, nbytes, 0});
    id = fetch_job(x, nbytes);
    x->s->run->records[id].address = judge_address(t, &q->memory, offset);
    return id;
}

/* Pieces of slot_bytes, but no element in two of them: docs/kernels.md "PEs that talk". */
static void plan_message(struct plan *x)
{
    const struct judge_command *c = x->c;
    size_t at = find_queue(x->s, x->p, c);
    struct queue *q = &x->s->queues[at];
    uint64_t element = bits_of(c->in) < 8 ? 1 : bits_of(c->in) / 8;
    uint64_t most = count_at(x->s, &q->receiver, "cube.pe.pe_ipcq.slot_bytes") / element * element;

    if (c->kind == JUDGE_RECV)
        x->op_id = new_job(x, JUDGE_NOWHERE, JUDGE_COMMAND);
    else
        x->op_id = x->s->run->n_records;
    for (uint64_t from = 0; from < c->nbytes; from += most, x->token++) {
        uint64_t rest = c->nbytes - from, nbytes = rest < most ? rest : most;
        bool sends = c->kind == JUDGE_SEND;
        uint64_t id = piece_job(x, q, sends ? q->n_pieces : q->n_takes, nbytes);

        x->s->jobs[id].queue = at;
        x->s->jobs[id].last = rest <= most;
        if (sends)
            add_to_list(&q->pieces, &q->n_pieces, &q->pieces_room, id);
        else
            add_to_list(&q->takes, &q->n_takes, &q->takes_room, id);
    }
}

/* -- barriers and atomics ------------------------------------------------------------------- */

/* The members of a group in ascending order, to be freed. */
static uint64_t *sorted(const struct sim *s, const struct judge_group *g)
{
    uint64_t *members = judge_alloc(g->n, sizeof *members);

    for (size_t i = 0; i < g->n; i++) {
        uint64_t pe = judge_global_pe(s->t, &g->pes[i]);
        size_t at = i;

        for (; at > 0 && members[at - 1] > pe; at--)
            members[at] = members[at - 1];
        members[at] = pe;
    }
    return members;
}

static size_t find_barrier(struct sim *s, const struct judge_group *g)
{
    uint64_t *members = sorted(s, g);

    for (size_t i = 0; i < s->n_barriers; i++) {
        const struct barrier *b = &s->barriers[i];

        if (b->n == g->n && memcmp(b->members, members, g->n * sizeof *members) == 0) {
            free(members);
            return i;
        }
    }
    s->barriers = judge_grow(s->barriers, s->n_barriers + 1, sizeof *s->barriers);
    s->barriers[s->n_barriers] = (struct barrier){
        .members = members, .n = g->n, .come = judge_alloc(g->n, sizeof(uint64_t))};
    return s->n_barriers++;
}

static struct judge_end end_of_pe(const struct sim *s, uint64_t index)
{
    return s->t->pes[index];
}

/* The PE's word sets out to the lowest PE of the group. */
static void plan_barrier(struct plan *x)
{
    struct sim *s = x->s;
    struct judge_end lowest;

    x->op_id = new_job(x, JUDGE_NOWHERE, JUDGE_COMMAND);
    x->p->open[x->p->at] = 1; /* until it is released */
    x->p->barrier = find_barrier(s, &s->program->groups[x->c->group]);
    lowest = end_of_pe(s, s->barriers[x->p->barrier].members[0]);
    post(s, word_fs(s, &x->p->kernel->pe, &lowest), JUDGE_HOP, x->op_id, WORD);
}

static void word_arrives(struct sim *s, uint64_t id)
{
    struct barrier *b = &s->barriers[s->pes[s->run->records[id].kernel].barrier];
    struct judge_end lowest = end_of_pe(s, b->members[0]);

    b->come[b->n_come++] = id;
    if (b->n_come < b->n)
        return;
    for (size_t i = 0; i < b->n; i++) {
        const struct pe *p = &s->pes[s->run->records[b->come[i]].kernel];

        post(s, word_fs(s, &lowest, &p->kernel->pe), JUDGE_HOP, b->come[i], RELEASE);
    }
    b->n_come = 0;
}

static void is_released(struct sim *s, uint64_t id)
{
    const struct judge_op_record *r = &s->run->records[id];
    struct pe *p = &s->pes[r->kernel];

    p->open[r->command] = 0;
    command_ends(s, p, r->command);
}

/* The element of an atomic has been served: the sum before is what it returns. */
static void add_up(struct sim *s, uint64_t id)
{
    const struct judge_op_record *r = &s->run->records[id];
    struct pe *p = &s->pes[r->kernel];
    size_t i = 0;

    while (i < s->n_cells && s->cells[i].address != r->address)
        i++;
    if (i == s->n_cells) {
        s->cells = judge_grow(s->cells, ++s->n_cells, sizeof *s->cells);
        s->cells[i] = (struct cell){.address = r->address};
    }
    p->times->commands[r->command].before = s->cells[i].sum;
    s->cells[i].sum += p->kernel->commands[r->command].value;
}

/* -- kernels -------------------------------------------------------------------------------- */

static bool has_ended(const struct pe *p, size_t command)
{
    return p->times->commands[command].op_id != NO_JOB && p->open[command] == 0;
}

/* The commands that have been issued, this one among them, have all ended. */
static bool all_have_ended(const struct pe *p)
{
    for (size_t i = 0; i < p->at; i++)
        if (p->times->commands[i].op_id != NO_JOB && p->open[i] > 0)
            return false;
    return true;
}

static bool is_of_acc(const struct judge_command *c)
{
    return c->kind == JUDGE_ACC_DOT || c->kind == JUDGE_ACC_SCALE || c->kind == JUDGE_ACC_STORE;
}

/* The operands are there. */
static void start(struct sim *s, struct pe *p, size_t command)
{
    const struct judge_command *c = &p->kernel->commands[command];
    uint64_t id = p->times->commands[command].op_id;

    p->starts[command].over = true;
    p->times->commands[command].start_fs = s->now_fs;
    if (s->failed)
        return;
    if (c->kind == JUDGE_COMPOSITE_GEMM || c->kind == JUDGE_COMPOSITE_MATH) {
        s->run->records[id].t_start = s->now_fs;
        enter_tokens(s, p);
    } else if (c->kind == JUDGE_SEND || c->kind == JUDGE_RECV) {
        advance(s, &s->queues[find_queue(s, p, c)]);
    } else if (is_of_acc(c)) {
        if (c->kind == JUDGE_ACC_STORE)
            s->run->records[id].t_start = s->now_fs;
        begin(s, p->starts[command].first, JUDGE_NONE);
    } else if (c->kind != JUDGE_BARRIER) {
        if (c->kind == JUDGE_UPDATE)
            s->run->records[id].t_start = s->now_fs;
        go_on(s, p->starts[command].first);
    }
}

/* Whether command `c` waits for `maker`, as often as it is an operand. */
static uint32_t takes(const struct judge_command *c, size_t maker)
{
    bool moves = c->kind == JUDGE_STORE || c->kind == JUDGE_SEND;
    uint32_t n = 0;

    if (!c->overlaps)
        return 0;
    if (moves)
        return c->from == maker;
    for (size_t i = 0; i < c->n_operands; i++)
        n += c->operands[i].where == JUDGE_OWN_TCM && c->operands[i].from == maker;
    for (size_t i = 0; i < c->n_epilogues; i++)
        n += c->epilogues[i].part != JUDGE_NO_PART && c->epilogues[i].from == maker;
    return n;
}

/* Does command `i` read what update `u` is going to write over, one way or another? */
static bool reads_over(const struct pe *p, size_t i, size_t u)
{
    const struct judge_command *c = &p->kernel->commands[i], *update = &p->kernel->commands[u];
    bool moves = c->kind == JUDGE_STORE || c->kind == JUDGE_SEND;
    size_t of = update->operands[0].from;
    bool found = moves && c->from == of;

    if (!c->overlaps && c->kind != JUDGE_UPDATE)
        return false;
    for (size_t o = 0; !moves && o < c->n_operands; o++)
        found = found || (c->operands[o].where == JUDGE_OWN_TCM && c->operands[o].from == of);
    for (size_t e = 0; e < c->n_epilogues; e++)
        found = found || (c->epilogues[e].part != JUDGE_NO_PART && c->epilogues[e].from == of);
    return found;
}

/* How many commands before update `u` have not fetched yet what it writes over. */
static uint32_t readers_before(const struct pe *p, size_t u)
{
    uint32_t n = 0;

    if (p->kernel->commands[u].kind != JUDGE_UPDATE)
        return 0;
    for (size_t i = 0; i < u; i++)
        if (p->times->commands[i].op_id != NO_JOB && reads_over(p, i, u) && !p->starts[i].fetched)
            n++;
    return n;
}

/* Command `i` reads its operands no more: updates that have waited for it may start. */
static void has_fetched(struct sim *s, struct pe *p, size_t i)
{
    if (p->starts[i].fetched)
        return;
    p->starts[i].fetched = true;
    for (size_t u = i + 1; u < p->kernel->n; u++)
        if (p->kernel->commands[u].kind == JUDGE_UPDATE && p->times->commands[u].op_id != NO_JOB &&
            reads_over(p, i, u) && --p->starts[u].waits_for == 0)
            start(s, p, u);
}

static void may_be_over(struct sim *s, struct pe *p);

static void command_ends(struct sim *s, struct pe *p, size_t command)
{
    struct judge_command_times *times = &p->times->commands[command];
    struct judge_op_record *r = &s->run->records[times->op_id];

    times->end_fs = s->now_fs;
    times->order = s->order++;
    if (r->component == JUDGE_PE_SCHEDULER || p->kernel->commands[command].kind == JUDGE_UPDATE)
        r->t_end = s->now_fs;
    has_fetched(s, p, command);
    if (p->blocked && (p->until == command || (p->until == ALL && all_have_ended(p))))
        post(s, 0, JUDGE_START, p->index, 0);
    for (size_t i = command + 1; i < p->kernel->n; i++) {
        uint32_t n = takes(&p->kernel->commands[i], command);

        if (n == 0 || p->times->commands[i].op_id == NO_JOB)
            continue;
        p->starts[i].waits_for -= n;
        if (p->starts[i].waits_for == 0)
            start(s, p, i);
    }
    may_be_over(s, p);
}

/* The command that was called is issued: here its ids are drawn. */
static void issue(struct sim *s, struct pe *p)
{
    struct judge_command_times *times = &p->times->commands[p->at];
    struct plan x = {
        .s = s, .p = p, .c = &p->kernel->commands[p->at], .fetch = NO_JOB, .engine = NO_JOB};

    times->issue_fs = s->now_fs;
    times->op_id = s->run->n_records;
    if (x.c->kind == JUDGE_SEND || x.c->kind == JUDGE_RECV)
        plan_message(&x);
    else if (x.c->kind == JUDGE_BARRIER)
        plan_barrier(&x);
    else if (x.c->kind == JUDGE_LOAD || x.c->kind == JUDGE_STORE || x.c->kind == JUDGE_ATOMIC)
        plan_dma(&x);
    else if (x.c->kind == JUDGE_DOT || x.c->kind == JUDGE_MATH)
        plan_compute(&x);
    else if (x.c->kind == JUDGE_VALUE)
        plan_value(&x);
    else if (x.c->kind == JUDGE_UPDATE)
        plan_update(&x);
    else if (x.c->kind == JUDGE_ACC_STORE)
        plan_acc_store(&x);
    else if (is_of_acc(x.c))
        plan_acc(&x);
    else
        plan_composite(&x);
    if (x.op_id != times->op_id)
        judge_die("a command's id is not the first of its plan");
    for (size_t i = 0; i < p->at; i++)
        if (p->kernel->commands[i].kind != JUDGE_WAIT && !has_ended(p, i))
            p->starts[p->at].waits_for += takes(x.c, i);
    p->starts[p->at].waits_for += readers_before(p, p->at);
    if (p->starts[p->at].waits_for == 0)
        start(s, p, p->at);
}

static bool returns_at_issue(const struct judge_command *c)
{
    if (c->overlaps && c->kind != JUDGE_BARRIER && c->kind != JUDGE_ATOMIC &&
        c->kind != JUDGE_VALUE)
        return true;
    if (c->kind == JUDGE_LOAD || c->kind == JUDGE_STORE || c->kind == JUDGE_RECV)
        return c->async;
    return c->kind == JUDGE_COMPOSITE_GEMM || c->kind == JUDGE_COMPOSITE_MATH;
}

static void block(struct pe *p, size_t until)
{
    p->blocked = true;
    p->until = until;
}

static bool only_waits(const struct judge_command *c)
{
    return c->kind == JUDGE_WAIT || c->kind == JUDGE_WAIT_ALL;
}

/* The call of command p->at has returned. */
static void returns(struct sim *s, struct pe *p)
{
    struct judge_command_times *times = &p->times->commands[p->at];

    times->return_fs = s->now_fs;
    if (only_waits(&p->kernel->commands[p->at]))
        times->end_fs = s->now_fs;
    p->at++;
}

/* Calls commands until one takes time. */
static void go_on_calling(struct sim *s, struct pe *p)
{
    int64_t overhead_fs =
        llround(number_at(s, &p->kernel->pe, "cube.pe.pe_cpu.overhead_ns") * 1e6) +
        llround(number_at(s, &p->kernel->pe, "cube.pe.pe_scheduler.overhead_ns") * 1e6);

    while (p->at < p->kernel->n) {
        const struct judge_command *c = &p->kernel->commands[p->at];
        struct judge_command_times *times = &p->times->commands[p->at];

        times->call_fs = s->now_fs;
        if (c->kind == JUDGE_SEND || c->kind == JUDGE_RECV)
            find_queue(s, p, c);
        if (!only_waits(c)) {
            p->calling = true;
            post(s, overhead_fs, JUDGE_START, p->index, 0);
            return;
        }
        times->issue_fs = s->now_fs;
        if (c->kind == JUDGE_WAIT ? !has_ended(p, c->target) : !all_have_ended(p)) {
            times->blocked = true;
            block(p, c->kind == JUDGE_WAIT ? c->target : ALL);
            return;
        }
        returns(s, p);
    }
    p->returned = true;
    p->times->return_fs = s->now_fs;
    p->times->return_order = s->order++;
    may_be_over(s, p);
}

/* Whether the kernel waits for the command that has just been issued, and until when. */
static bool must_wait(const struct sim *s, const struct pe *p, size_t *until)
{
    const struct judge_command *c = &p->kernel->commands[p->at];

    *until = p->at;
    if (c->kind != JUDGE_SEND || returns_at_issue(c))
        return !returns_at_issue(c);
    *until = JUDGE_NONE;
    for (size_t i = 0; i < s->n_queues; i++) {
        const struct queue *q = &s->queues[i];

        if (q->from == p->index && q->tag == c->tag && q->to == judge_global_pe(s->t, &c->at) &&
            q->sent < q->n_pieces)
            return true;
    }
    return false;
}

/* A class 4 event: the kernel starts, or a command is issued, or its end is there. */
static void run_kernel(struct sim *s, struct pe *p)
{
    if (p->calling) {
        size_t until;

        p->calling = false;
        issue(s, p);
        if (must_wait(s, p, &until)) {
            block(p, until);
            return;
        }
        returns(s, p);
    } else if (p->blocked) {
        p->blocked = false;
        returns(s, p);
    }
    go_on_calling(s, p);
}

static void hop(struct sim *s, const struct judge_event *e)
{
    if (e->step == CREDIT) {
        credit_arrives(s, e->id);
    } else if (e->step == WORD) {
        word_arrives(s, e->id);
    } else if (e->step == RELEASE) {
        is_released(s, e->id);
    } else if (e->step == SETS_OUT) {
        set_out(s, key_of_number(s, e->id, e->part));
    } else {
        job_at(s, key_of_number(s, e->id, e->part))->now_at++;
        go_on(s, key_of_number(s, e->id, e->part));
    }
}

static void run_event(struct sim *s, const struct judge_event *e)
{
    uint64_t key = 0;

    if (e->step != JUDGE_OF_A_CHILD && (e->class == JUDGE_DONE || e->class == JUDGE_ARRIVAL))
        key = key_of_number(s, e->id, e->part);
    if (e->step == JUDGE_OF_A_CHILD) {
        s->run->fingerprint = judge_record_child(s->run->fingerprint, e);
        return;
    }
    s->now_id = e->id;
    switch (e->class) {
    case JUDGE_ARBITRATION:
        judge_banks_decide(e->banks, (uint32_t)e->step, e->fs);
        break;
    case JUDGE_DONE:
        if (e->step == job_at(s, key)->n_steps)
            finish(s, key);
        else
            give_back(s, job_at(s, key)->steps[e->step].at);
        break;
    case JUDGE_HOP:
        hop(s, e);
        break;
    case JUDGE_ARRIVAL:
        arrive(s, key);
        break;
    case JUDGE_START:
        run_kernel(s, &s->pes[s->kernel_of[e->id]]);
        break;
    case JUDGE_ISSUE:
        judge_die("a kernel run has no rows, and links without routers");
    }
}

/* -- programs that make no sense ------------------------------------------------------------ */

static bool complain(size_t kernel, size_t command, const char *what)
{
    fprintf(stderr, "judge: kernel %zu, command %zu: %s\n", kernel, command, what);
    return false;
}

static bool wait_makes_sense(const struct judge_kernel *k, size_t i)
{
    size_t target = k->commands[i].target;

    if (target >= i || !returns_at_issue(&k->commands[target]))
        return false;
    for (size_t w = 0; w < i && !k->commands[i].overlaps; w++) {
        if (k->commands[w].kind == JUDGE_WAIT && k->commands[w].target == target)
            return false;
        if (k->commands[w].kind == JUDGE_WAIT_ALL && w > target)
            return false;
    }
    return true;
}

static bool composite_makes_sense(const struct judge_command *c)
{
    size_t tensors = 0;

    if (c->m == 0 || c->n == 0 || c->in_bytes == 0 || c->out_bytes == 0)
        return false;
    if (c->n_operands > JUDGE_MOST_OPERANDS || c->n_epilogues > JUDGE_MOST_EPILOGUES)
        return false;
    for (size_t i = 0; i < c->n_operands; i++)
        tensors += c->operands[i].where != JUDGE_SCALAR;
    if (c->kind == JUDGE_COMPOSITE_GEMM)
        return c->k > 0 && c->n_operands == 2 && tensors == 2;
    return tensors > 0 && c->n_epilogues == 0;
}

static bool is_same_pe(const struct judge_end *a, const struct judge_end *b)
{
    return a->sip == b->sip && a->cube == b->cube && a->unit == b->unit;
}

static bool message_makes_sense(const struct judge_kernel *k, const struct judge_command *c)
{
    return c->nbytes > 0 && c->tag < JUDGE_TAGS && c->at.kind == JUDGE_PE &&
           !is_same_pe(&c->at, &k->pe);
}

/* Whether the PE itself is in the group, and no member twice. */
static bool barrier_makes_sense(const struct judge_program *p, const struct judge_kernel *k,
                                size_t group)
{
    const struct judge_group *g = &p->groups[group];
    bool member = false;

    if (group >= p->n_groups)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        member = member || is_same_pe(&g->pes[i], &k->pe);
        for (size_t j = 0; j < i; j++) {
            if (is_same_pe(&g->pes[i], &g->pes[j]))
                return false;
        }
    }
    return member;
}

/* It follows an acc_dot of that accumulator, or is one, and no acc_store. */
static bool acc_makes_sense(const struct judge_kernel *k, size_t i)
{
    const struct judge_command *c = &k->commands[i], *before = NULL;

    for (size_t b = 0; b < i; b++)
        if (is_of_acc(&k->commands[b]) && k->commands[b].acc == c->acc)
            before = &k->commands[b];
    if (before && (before->kind == JUDGE_ACC_STORE || before->m != c->m || before->n != c->n))
        return false;
    return (before || c->kind == JUDGE_ACC_DOT) && c->m > 0 && c->n > 0;
}

static bool command_makes_sense(const struct judge_program *p, const struct judge_kernel *k,
                                size_t i)
{
    const struct judge_command *c = &k->commands[i];

    switch (c->kind) {
    case JUDGE_LOAD:
    case JUDGE_STORE:
        return c->nbytes > 0 && c->n_targets != 1 && c->n_targets <= JUDGE_MOST_TARGETS &&
               (!c->rows || c->nbytes % c->rows == 0);
    case JUDGE_DOT:
        return c->nbytes > 0 && c->operand_bytes > 0 && c->m > 0 && c->k > 0 && c->n > 0;
    case JUDGE_MATH:
        return c->nbytes > 0 && c->elements > 0;
    case JUDGE_COMPOSITE_GEMM:
    case JUDGE_COMPOSITE_MATH:
        return composite_makes_sense(c);
    case JUDGE_WAIT:
        return wait_makes_sense(k, i);
    case JUDGE_WAIT_ALL:
        return true;
    case JUDGE_SEND:
    case JUDGE_RECV:
        return message_makes_sense(k, c);
    case JUDGE_BARRIER:
        return barrier_makes_sense(p, k, c->group);
    case JUDGE_ACC_DOT:
    case JUDGE_ACC_SCALE:
    case JUDGE_ACC_STORE:
        return acc_makes_sense(k, i);
    case JUDGE_VALUE:
        return c->operand_bytes > 0 && c->n_operands == 1;
    case JUDGE_UPDATE:
        return c->operand_bytes > 0 && c->n_operands == 2;
    case JUDGE_KINDS:
        break;
    case JUDGE_ATOMIC:
        return c->nbytes > 0 && (c->at.kind == JUDGE_SLICE || c->at.kind == JUDGE_SRAM);
    }
    return false;
}

static bool program_makes_sense(const struct judge_program *p)
{
    bool ok = true;

    for (size_t k = 0; k < p->n; k++) {
        for (size_t i = 0; i < p->kernels[k].n; i++) {
            if (!command_makes_sense(p, &p->kernels[k], i))
                ok = complain(k, i, "this makes no sense");
        }
    }
    return ok;
}

/* -- a run ---------------------------------------------------------------------------------- */

static size_t count_of(const struct sim *s, enum where where)
{
    return where == LINKS || where == RETURNS ? s->t->n_edges : s->t->n_nodes;
}

static void build(struct sim *s)
{
    const struct judge_topo *t = s->t;

    for (enum where w = READS; w < N_WHERE; w++)
        s->stations[w] = judge_alloc(count_of(s, w), sizeof *s->stations[w]);
    s->fifo = strcmp(judge_text(t, "contention.links"), "fifo") == 0;
}

static size_t node_of(const struct sim *s, const struct judge_end *pe, const char *component)
{
    char name[JUDGE_NAME_BYTES];
    size_t node;

    judge_name(name, "sip%u.cube%u.pe%u.%s", pe->sip, pe->cube, pe->unit, component);
    node = judge_find_node(s->t, name);
    if (node == SIZE_MAX)
        judge_die("a kernel for %s, which is not there", name);
    return node;
}

/* Fills in s->pes[i], and finds when its launch would arrive. */
static bool launch(struct sim *s, const struct judge_kernel *k, size_t i)
{
    struct pe *p = &s->pes[i];
    struct judge_route r = {0};

    p->kernel = k;
    p->times = &s->run->kernels[i];
    p->times->commands = judge_alloc(k->n, sizeof *p->times->commands);
    for (size_t c = 0; c < k->n; c++)
        p->times->commands[c].op_id = NO_JOB;
    p->open = judge_alloc(k->n, sizeof *p->open);
    p->starts = judge_alloc(k->n, sizeof *p->starts);
    p->index = judge_global_pe(s->t, &k->pe);
    p->fetch = station_at(s, READ_PORTS, node_of(s, &k->pe, "pe_tcm"));
    p->store = station_at(s, ONES, node_of(s, &k->pe, "pe_tcm"));
    p->gemm = station_at(s, ONES, node_of(s, &k->pe, "pe_gemm"));
    p->math = station_at(s, ONES, node_of(s, &k->pe, "pe_math"));
    p->tile_m = count_at(s, &k->pe, "cube.pe.pe_scheduler.tile.0");
    p->tile_k = count_at(s, &k->pe, "cube.pe.pe_scheduler.tile.1");
    p->tile_n = count_at(s, &k->pe, "cube.pe.pe_scheduler.tile.2");
    p->tile_buffers = count_at(s, &k->pe, "cube.pe.pe_scheduler.tile_buffers");
    for (size_t other = 0; other < i; other++)
        if (s->pes[other].index == p->index && s->pes[other].kernel->launch == k->launch)
            return complain(i, 0, "its PE has a kernel already");
    judge_launch_route(s->t, &k->pe, &r);
    p->way_fs = r.wire_fs + r.overhead_fs;
    p->back_fs = r.response_fs;
    judge_route_clear(&r);
    return true;
}

/* -- launches: docs/kernels.md "Launches side by side" */

/* Does launch `l` wait for launch `before` of a smaller number? */
static bool waits_for_launch(const struct sim *s, size_t l, size_t before)
{
    const struct judge_program *program = s->program;
    const struct judge_launch *launch = &program->launches[l];

    if (!program->n_launches)
        return false;
    if (launch->stream == program->launches[before].stream)
        return true;
    for (size_t i = 0; i < launch->n_after; i++)
        if (launch->after[i] == before)
            return true;
    for (size_t i = 0; i < s->n_pes; i++)
        for (size_t k = 0; k < s->n_pes; k++)
            if (s->pes[i].kernel->launch == l && s->pes[k].kernel->launch == before &&
                s->pes[i].index == s->pes[k].index)
                return true;
    return false;
}

/* When the last response of a launch is back; -1: it has not ended. */
static int64_t response_of(const struct sim *s, size_t l)
{
    int64_t fs = 0;

    for (size_t i = 0; i < s->n_pes; i++) {
        const struct pe *p = &s->pes[i];

        if (p->kernel->launch != l)
            continue;
        if (!p->over)
            return -1;
        fs = p->times->response_fs > fs ? p->times->response_fs : fs;
    }
    return fs;
}

/* When launch `l` sets out; -1: it waits for one that has not ended. */
static int64_t sets_out_at(const struct sim *s, size_t l)
{
    int64_t fs = 0;

    for (size_t before = 0; before < l; before++) {
        int64_t back = response_of(s, before);

        if (!waits_for_launch(s, l, before))
            continue;
        if (back < 0)
            return -1;
        fs = back > fs ? back : fs;
    }
    return fs;
}

/* Launch `l` sets out at `fs`: its kernels start when the last of its PEs is reached, and pay. */
static void send_launch(struct sim *s, size_t l, int64_t fs)
{
    int64_t way_fs = 0, pays = llround(judge_number(s->t, "software.launch_ns") * 1e6);

    s->sent[l] = true;
    for (size_t i = 0; i < s->n_pes; i++)
        if (s->pes[i].kernel->launch == l && s->pes[i].way_fs > way_fs)
            way_fs = s->pes[i].way_fs;
    for (size_t i = 0; i < s->n_pes; i++) {
        struct pe *p = &s->pes[i];

        if (p->kernel->launch != l)
            continue;
        s->kernel_of[p->index] = i;
        p->times->launch_fs = fs;
        p->times->arrive_fs = add_fs(s, fs, p->way_fs);
        p->times->start_fs = add_fs(s, fs, way_fs);
        judge_post(&s->events, (struct judge_event){.fs = add_fs(s, p->times->start_fs, pays),
                                                    .class = JUDGE_START,
                                                    .id = p->index});
    }
}

static void send_launches(struct sim *s)
{
    for (size_t l = 0; l < s->n_launches; l++) {
        int64_t fs = s->sent[l] ? -1 : sets_out_at(s, l);

        if (fs >= 0)
            send_launch(s, l, fs);
    }
}

/* A kernel has returned, or a command of it has ended: if it was the last, launches may set out. */
static void may_be_over(struct sim *s, struct pe *p)
{
    if (!p->returned || p->over || !all_have_ended(p))
        return;
    p->over = true;
    p->times->end_fs = s->now_fs;
    p->times->response_fs = add_fs(s, s->now_fs, p->back_fs);
    send_launches(s);
}

static bool launch_all(struct sim *s, const struct judge_program *program)
{
    bool ok = true;

    s->pes = judge_alloc(program->n, sizeof *s->pes);
    s->n_pes = program->n;
    s->kernel_of = judge_alloc(s->t->n_pes, sizeof *s->kernel_of);
    for (size_t i = 0; i < program->n; i++) {
        ok = launch(s, &program->kernels[i], i) && ok;
        if (program->kernels[i].launch >= s->n_launches)
            s->n_launches = program->kernels[i].launch + 1;
    }
    if (program->n_launches && program->n_launches != s->n_launches)
        ok = complain(0, 0, "its launch is not among those of the program");
    s->sent = judge_alloc(s->n_launches, sizeof *s->sent);
    if (!ok)
        return false;
    send_launches(s);
    for (size_t i = 0; i < s->n_pes; i++)
        if (s->sent[s->pes[i].kernel->launch] &&
            (!s->run->start_fs || s->pes[i].times->start_fs < s->run->start_fs))
            s->run->start_fs = s->pes[i].times->start_fs;
    s->now_fs = s->run->start_fs;
    return true;
}

/* Only a message that never comes, or a barrier, deadlocks a kernel. */
static void has_stopped(struct sim *s, struct pe *p, size_t i)
{
    enum judge_command_kind kind = p->kernel->commands[i].kind;

    if (kind != JUDGE_SEND && kind != JUDGE_RECV && kind != JUDGE_BARRIER)
        judge_die("kernel %llu has not done all", (unsigned long long)p->index);
    s->failed = !complain((size_t)(p - s->pes), i, "this never ends");
}

static void settle(struct sim *s, struct pe *p)
{
    struct judge_kernel_times *times = p->times;
    size_t called = p->returned ? p->kernel->n : p->at + 1;

    if (!s->sent[p->kernel->launch]) /* another one has never ended */
        return;
    for (size_t i = 0; i < called; i++)
        if (!only_waits(&p->kernel->commands[i]) && !has_ended(p, i))
            has_stopped(s, p, i);
    if (s->failed)
        return;
    if (!p->over)
        judge_die("kernel %llu is never over", (unsigned long long)p->index);
    if (times->response_fs > s->run->total_fs)
        s->run->total_fs = times->response_fs;
    if (times->end_fs - s->run->start_fs > s->run->kernel_fs)
        s->run->kernel_fs = times->end_fs - s->run->start_fs;
}

static void collect(struct sim *s)
{
    struct judge_run *run = s->run;

    for (enum where w = READS; w < N_WHERE; w++)
        for (size_t i = 0; i < count_of(s, w); i++) {
            const struct station *at = s->stations[w][i];

            if (!at || !at->use.count)
                continue;
            judge_add_use(&run->uses, &run->n_uses, &at->use);
            if (at->freed_fs > run->total_fs)
                run->uses[run->n_uses - 1].busy_fs -= at->freed_fs - run->total_fs;
            name_station(s, at, run->uses[run->n_uses - 1].name);
            if (at->cache)
                judge_cache_add_uses(at->cache, run->total_fs, NULL, &run->uses, &run->n_uses);
            if (at->l2)
                judge_cache_add_uses(judge_l2_cache(at->l2), run->total_fs,
                                     at->banks ? &at->asked : NULL, &run->uses, &run->n_uses);
            if (at->banks && (!at->l2 || at->asked.count))
                judge_banks_add_uses(at->banks, &run->uses, &run->n_uses);
        }
}

static void free_job(struct job *job)
{
    free(job->steps);
    free(job->nodes);
    free(job->access.runs);
}

static void tear_down(struct sim *s)
{
    for (size_t i = 0; i < s->run->n_records; i++) {
        for (uint32_t part = 1; part < s->jobs[i].n_parts; part++)
            free_job(&s->jobs[i].more[part - 1]);
        free(s->jobs[i].more);
        for (size_t k = 0; k < s->jobs[i].n_children; k++) {
            free((void *)(uintptr_t)s->jobs[i].children[k]->child);
            free_job(s->jobs[i].children[k]);
            free(s->jobs[i].children[k]);
        }
        free(s->jobs[i].children);
        free_job(&s->jobs[i]);
    }
    for (size_t i = 0; i < s->n_pes; i++) {
        free(s->pes[i].open);
        free(s->pes[i].starts);
        free(s->pes[i].tokens);
        free(s->pes[i].turns);
    }
    for (size_t i = 0; i < s->n_queues; i++) {
        free(s->queues[i].pieces);
        free(s->queues[i].takes);
    }
    for (size_t i = 0; i < s->n_barriers; i++) {
        free(s->barriers[i].members);
        free(s->barriers[i].come);
    }
    free(s->queues);
    free(s->barriers);
    free(s->cells);
    free(s->jobs);
    free(s->pes);
    free(s->kernel_of);
    free(s->sent);
    for (enum where w = READS; w < N_WHERE; w++) {
        for (size_t i = 0; s->stations[w] && i < count_of(s, w); i++) {
            if (s->stations[w][i]) {
                judge_banks_free(s->stations[w][i]->banks);
                judge_cache_free(s->stations[w][i]->cache);
                judge_l2_free(s->stations[w][i]->l2);
            }
            free(s->stations[w][i]);
        }
        free(s->stations[w]);
    }
    free(s->events.heap);
}

bool judge_kernels(const struct judge_topo *t, const struct judge_program *program,
                   struct judge_run *out)
{
    struct sim s = {.t = t, .program = program, .run = out, .ending = NO_JOB};

    memset(out, 0, sizeof *out);
    out->fingerprint = JUDGE_NO_EVENTS;
    if (!program_makes_sense(program))
        return false;
    out->kernels = judge_alloc(program->n, sizeof *out->kernels);
    out->n_kernels = program->n;
    build(&s);
    s.failed = !launch_all(&s, program);
    while (!s.failed && !s.too_late && s.events.n > 0) {
        struct judge_event e = judge_next(&s.events);

        if (e.fs < s.now_fs)
            judge_die("time runs backwards");
        s.now_fs = e.fs;
        run_event(&s, &e);
    }
    for (size_t i = 0; i < s.n_pes && !s.failed && !s.too_late; i++)
        settle(&s, &s.pes[i]);
    if (s.too_late)
        fprintf(stderr, "judge: simulated time has passed 2^63 fs\n");
    collect(&s);
    tear_down(&s);
    return !s.failed && !s.too_late;
}

void judge_run_clear(struct judge_run *run)
{
    for (size_t i = 0; i < run->n_kernels; i++)
        free(run->kernels[i].commands);
    free(run->kernels);
    free(run->records);
    free(run->uses);
    free(run->waits.waits);
    memset(run, 0, sizeof *run);
}
