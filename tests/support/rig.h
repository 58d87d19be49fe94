/* rig.h -- what tests of the core share: the judge's words in the library's, and comparisons. */
#ifndef RIG_H
#define RIG_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "judge/judge.h"
#include "kernbench.h"

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/* Both number their kinds and operations alike; a compiler cannot know. */
_Static_assert((int)KB_TCM == (int)JUDGE_TCM && (int)KB_D2H == (int)JUDGE_D2H, "same numbers");

static inline kb_endpoint kb_end(const struct judge_end *e)
{
    return (kb_endpoint){(kb_endpoint_kind)e->kind, e->sip, e->cube, e->unit};
}

static inline struct judge_end judge_end(const kb_endpoint *e)
{
    return (struct judge_end){(enum judge_kind)e->kind, e->sip, e->cube, e->unit};
}

/* The targets of a multicast are there until the next call. */
static inline kb_transaction request_of(const struct judge_row *row)
{
    static kb_endpoint targets[JUDGE_TARGETS_MAX];

    for (size_t i = 0; i < row->n_targets; i++)
        targets[i] = kb_end(&row->targets[i]);
    return (kb_transaction){.issue_fs = row->issue_fs,
                            .op = (kb_transaction_op)row->op,
                            .src = kb_end(&row->src),
                            .dst = kb_end(&row->dst),
                            .offset = row->offset,
                            .nbytes = row->nbytes,
                            .by_address = row->by_address,
                            .address = row->address,
                            .plane = row->plane,
                            .rows = row->rows,
                            .stride = row->stride,
                            .targets = row->n_targets ? targets : NULL,
                            .n_targets = (uint32_t)row->n_targets};
}

/* The endpoint called `name`, which exists. */
static inline kb_endpoint end_of(const kb_topology *topo, const char *name)
{
    kb_endpoint end;
    kb_error why = {""};

    if (kb_endpoint_parse(topo, name, strlen(name), &end, &why) != KB_OK)
        fail_msg("%s", why.text);
    return end;
}

static inline kb_sim *new_sim(const kb_topology *topo, kb_options options)
{
    kb_sim *sim = NULL;

    assert_int_equal(kb_sim_new(topo, &options, &sim), KB_OK);
    return sim;
}

static inline void add(kb_sim *sim, const kb_transaction *request)
{
    kb_error why = {""};

    if (kb_sim_add(sim, request, &why) != KB_OK)
        fail_msg("%s", why.text);
}

/* One transaction between endpoints by name. */
static inline void issue(kb_sim *sim, const kb_topology *topo, int64_t issue_fs,
                         kb_transaction_op op, const char *src, const char *dst, uint64_t nbytes)
{
    kb_transaction request = {.issue_fs = issue_fs, .op = op, .nbytes = nbytes};

    request.src = end_of(topo, src);
    request.dst = end_of(topo, dst);
    add(sim, &request);
}

/* What row `id` waits for. */
static inline void add_after(kb_sim *sim, uint64_t id, const struct judge_row *row)
{
    kb_error why = {""};

    if (kb_sim_add_dependencies(sim, id, row->after, row->n_after, row->think_fs, &why) != KB_OK)
        fail_msg("%s", why.text);
}

static inline void run_all(kb_sim *sim)
{
    kb_error why = {""};
    kb_status status = kb_sim_run(sim, 0, &why);

    if (status != KB_OK)
        fail_msg("the run ends with status %d: %s", (int)status, why.text);
    assert_true(kb_sim_done(sim) == kb_sim_count(sim));
}

static inline kb_result result_of(const kb_sim *sim, uint64_t id)
{
    kb_result r;

    assert_int_equal(kb_sim_result(sim, id, &r), KB_OK);
    return r;
}

/* Name and values of the first column that differs; false: all are equal. */
static inline bool differ(const kb_result *a, const struct judge_result *b, char text[128])
{
    const struct {
        const char *name;
        int64_t a, b;
    } columns[] = {
#define RIG_COLUMN(name)        {#name, a->name##_fs, b->name##_fs},
#define WAIT_COLUMN(NAME, name) {"queue_" #name, a->wait_fs[KB_WAIT_##NAME], b->queue_##name##_fs},
        RIG_COLUMN(issue) RIG_COLUMN(start) RIG_COLUMN(arrive) RIG_COLUMN(service) RIG_COLUMN(done)
            RIG_COLUMN(end) RIG_COLUMN(wire) RIG_COLUMN(overhead) RIG_COLUMN(drain)
                RIG_COLUMN(response) RIG_COLUMN(return ) KB_WAITS(WAIT_COLUMN) RIG_COLUMN(formula)
                    RIG_COLUMN(actual)
#undef RIG_COLUMN
#undef WAIT_COLUMN
    };

    for (size_t i = 0; i < LENGTH(columns); i++) {
        if (columns[i].a == columns[i].b)
            continue;
        snprintf(text, 128, "%s_fs is %" PRId64 ", not %" PRId64, columns[i].name, columns[i].a,
                 columns[i].b);
        return true;
    }
    if (a->bottleneck_gbs == b->bottleneck_gbs)
        return false;
    snprintf(text, 128, "bottleneck_gbs is %.17g, not %.17g", a->bottleneck_gbs, b->bottleneck_gbs);
    return true;
}

/* What the library's names for a column hold, as the judge would. */
static inline struct judge_result judge_result(const kb_result *r)
{
    const int64_t *wait_fs = r->wait_fs;

    return (struct judge_result){r->issue_fs,
                                 r->start_fs,
                                 r->arrive_fs,
                                 r->service_fs,
                                 r->done_fs,
                                 r->end_fs,
                                 r->wire_fs,
                                 r->overhead_fs,
                                 r->drain_fs,
                                 r->response_fs,
                                 wait_fs[KB_WAIT_CHANNEL],
                                 wait_fs[KB_WAIT_ENGINE],
                                 wait_fs[KB_WAIT_LINK],
                                 wait_fs[KB_WAIT_MEMORY],
                                 r->formula_fs,
                                 r->actual_fs,
                                 r->bottleneck_gbs,
                                 r->return_fs};
}

/* The text that `write` prints, to be freed. */
static inline char *printed(void (*write)(FILE *out, uint64_t seed), uint64_t seed)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    write(out, seed);
    fclose(out);
    return text;
}

/* `n` random rows for `t`, to be freed; judge_read_rows() wants a path. */
static inline struct judge_row *random_rows(const struct judge_topo *t, uint64_t seed, size_t n)
{
    struct judge_row *rows;
    char path[64];
    int fd = memfd_create("rows", 0);
    FILE *out = fdopen(fd, "w");

    assert_non_null(out);
    judge_random_rows(out, t, seed, n);
    fflush(out);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(judge_read_rows(t, path, &rows, &n));
    fclose(out);
    return rows;
}

/* Multicasts become writes to their first target. */
static inline void one_target_each(struct judge_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i].n_targets = 0;
}

/* The same machine, whose PEs cut nothing into packets, and join tiles. */
static inline char *uncut(char *yaml)
{
    static const char key[] = ", packet_bytes: ", joined[] = ", tiles: joined";

    for (char *p = yaml; (p = strstr(p, "issue_ns: "));) {
        p += strcspn(p, ",}");
        if (strncmp(p, key, sizeof key - 1) != 0)
            continue;
        memset(p, ' ', strcspn(p, "}"));
        memcpy(p, joined, sizeof joined - 1);
    }
    return yaml;
}

/* SplitMix64 */
static inline uint64_t draw(uint64_t *dice)
{
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A simulation with all rows, and what they wait for. */
static inline kb_sim *sim_of_rows(const kb_topology *topo, kb_options options,
                                  const struct judge_row *rows, size_t n)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < n; i++) {
        kb_transaction request = request_of(&rows[i]);

        add(sim, &request);
    }
    for (size_t i = 0; i < n; i++)
        add_after(sim, i, &rows[i]);
    return sim;
}

#endif
