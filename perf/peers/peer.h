// peer.h -- what the peers in C++ share: the rows of export.c, lists in order of arrival, a sample.
#ifndef PEER_H
#define PEER_H
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

constexpr uint32_t NONE = UINT32_MAX;
constexpr unsigned PES = 64; // and as many memories

// One transaction, its costs and what became of it.
struct txn {
    uint64_t way_fs, hold_fs, arrive_fs, done_fs;
    uint32_t pe, memory;
    uint32_t next; // id of the next in a list
};

struct world {
    unsigned channels; // of a PE
    std::vector<txn> txns;
    uint32_t next_of[PES]; // the row that a PE issues next: those of a PE are 64 rows apart
};

inline world the;

[[noreturn]] inline void fail(const char *what)
{
    fprintf(stderr, "peer: %s\n", what);
    exit(1);
}

inline void read_rows(const char *path)
{
    FILE *f = fopen(path, "r");
    txn x = {};

    if (!f)
        fail("no rows");
    x.next = NONE;
    while (fscanf(f, "%" SCNu32 ",%" SCNu32 ",%" SCNu64 ",%" SCNu64, &x.pe, &x.memory, &x.way_fs,
                  &x.hold_fs) == 4) {
        if (x.pe != the.txns.size() % PES || x.memory >= PES || x.way_fs == 0)
            fail("rows of another kind");
        the.txns.push_back(x);
    }
    fclose(f);
    for (uint32_t pe = 0; pe < PES; pe++)
        the.next_of[pe] = pe;
}

inline void write_done(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        fail("cannot write");
    for (const txn &x : the.txns)
        fprintf(f, "%" PRIu64 "\n", x.done_fs);
    if (fclose(f))
        fail("cannot write");
}

// Takes the next row of a PE; NONE if it has no more.
inline uint32_t take_row(uint32_t pe)
{
    uint32_t id = the.next_of[pe];

    if (id >= the.txns.size())
        return NONE;
    the.next_of[pe] = id + PES;
    return id;
}

// Transactions in order of (arrival, id). Most come last, or nearly so.
struct queue {
    uint32_t head = NONE, tail = NONE;

    static bool before(uint32_t a, uint32_t b)
    {
        const txn &x = the.txns[a], &y = the.txns[b];

        return x.arrive_fs < y.arrive_fs || (x.arrive_fs == y.arrive_fs && a < b);
    }

    void put(uint32_t id)
    {
        uint32_t *link = &head;

        if (head != NONE && before(tail, id))
            link = &the.txns[tail].next;
        while (*link != NONE && before(*link, id))
            link = &the.txns[*link].next;
        if (*link == NONE)
            tail = id;
        the.txns[id].next = *link;
        *link = id;
    }

    uint32_t take()
    {
        uint32_t id = head;

        head = the.txns[id].next;
        return id;
    }

    uint64_t first_fs() const
    {
        return the.txns[head].arrive_fs;
    }
};

inline double processor_ns()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// usage: PEER VARIANT CHANNELS ROWS DONE NAME ROUND
struct arguments {
    const char *variant, *done, *name, *round;
};

inline arguments read_arguments(int argc, char **argv)
{
    if (argc != 7)
        fail("usage: VARIANT CHANNELS ROWS DONE NAME ROUND");
    the.channels = (unsigned)atoi(argv[2]);
    read_rows(argv[3]);
    return {argv[1], argv[4], argv[5], argv[6]};
}

// A sample, and the times for the check.
inline void report(const arguments &a, double ns)
{
    printf("%s,ns,%s,%.4f\n", a.name, a.round, ns / (double)the.txns.size());
    write_done(a.done);
}

#endif
