// simgrid.cpp -- the model for SimGrid: actors that sleep, and semaphores.
//
// usage: simgrid memories|channels CHANNELS ROWS DONE NAME ROUND    (peer.h)
//
// SimGrid's own network and processors are fluid models, which share a bandwidth instead of
// queueing for it, so nothing of them is used: one host, actors on it, s4u::this_actor::sleep_for
// and s4u::Semaphore. Its clock is a double of seconds; here one of its seconds is one fs, so all
// times are whole numbers below 2^53, exact, and no two of them fall into its precision of 1e-9.
// A way is one delay. A memory serves by (arrival, id), as in systemc.cpp.
//
// memories  An actor a memory, which knows of a transaction as soon as it sets out; it sleeps
//           through a service, and between two until the next arrival or until an earlier one is
//           announced: the timeout of a semaphore. As many actors as memories.
// channels  An actor a channel, which sleeps on its way and through its service, and waits for the
//           memory in between. The first at an idle memory yields once, until all that arrive at
//           that instant have come.
#include "peer.h"
#include <cstring>
#include <simgrid/s4u.hpp>
#include <string>

namespace s4u = simgrid::s4u;

static uint64_t now_fs()
{
    return (uint64_t)s4u::Engine::get_clock();
}

// -- memories ------------------------------------------------------------------------------------

struct expecting_memory {
    queue waiting;
    bool listens = false; // in wait_for_first()
    s4u::SemaphorePtr earlier = s4u::Semaphore::create(0);

    void expect(uint32_t id)
    {
        waiting.put(id);
        if (listens && waiting.head == id) {
            listens = false;
            earlier->release();
        }
    }

    void wait_for_first(uint64_t now)
    {
        listens = true;
        if (waiting.head == NONE)
            earlier->acquire();
        else
            earlier->acquire_timeout((double)(waiting.first_fs() - now));
        listens = false;
    }
};

static expecting_memory expecting[PES];
static size_t n_done;

// A channel of `pe` is free: the PE's next transaction sets out.
static void issue(uint32_t pe, uint64_t now)
{
    uint32_t id = take_row(pe);

    if (id == NONE)
        return;
    the.txns[id].arrive_fs = now + the.txns[id].way_fs;
    expecting[the.txns[id].memory].expect(id);
}

static void memory_actor(unsigned number)
{
    expecting_memory &m = expecting[number];

    for (uint64_t now = now_fs();; now = now_fs()) {
        if (m.waiting.head == NONE || m.waiting.first_fs() > now) {
            m.wait_for_first(now);
            continue;
        }
        txn &x = the.txns[m.waiting.take()];
        s4u::this_actor::sleep_for((double)x.hold_fs);
        x.done_fs = now + x.hold_fs;
        issue(x.pe, x.done_fs);
        if (++n_done == the.txns.size()) {
            s4u::Actor::kill_all(); // or the others would never end
            return;
        }
    }
}

static void build_memories(s4u::Host *host)
{
    for (uint32_t i = 0; i < the.channels * PES; i++)
        issue(i % PES, 0);
    for (unsigned i = 0; i < PES; i++)
        s4u::Actor::create("memory", host, memory_actor, i);
}

// -- channels ------------------------------------------------------------------------------------

struct arriving_memory {
    queue waiting;
    bool busy = false, chooses = false;

    // Arrives at the memory, and returns when it has the memory.
    void take(uint32_t id);
    void serve_first();

    // All that have arrived at this instant are known.
    void choose()
    {
        chooses = true;
        s4u::this_actor::yield();
        chooses = false;
        if (!busy && waiting.head != NONE)
            serve_first();
    }

    void release(uint64_t now)
    {
        busy = false;
        if (waiting.head == NONE || chooses)
            return;
        if (waiting.first_fs() < now)
            serve_first();
        else
            choose();
    }
};

static arriving_memory arriving[PES];
static std::vector<s4u::Semaphore *> grant_of; // by id, while it is under way

void arriving_memory::serve_first()
{
    busy = true;
    grant_of[waiting.take()]->release();
}

void arriving_memory::take(uint32_t id)
{
    waiting.put(id);
    if (!busy && !chooses)
        choose();
    grant_of[id]->acquire();
}

static void channel_actor(uint32_t pe)
{
    s4u::SemaphorePtr grant = s4u::Semaphore::create(0);

    for (uint32_t id; (id = take_row(pe)) != NONE;) {
        txn &x = the.txns[id];
        arriving_memory &m = arriving[x.memory];

        grant_of[id] = grant.get();
        s4u::this_actor::sleep_for((double)x.way_fs);
        x.arrive_fs = now_fs();
        m.take(id);
        s4u::this_actor::sleep_for((double)x.hold_fs);
        x.done_fs = now_fs();
        m.release(x.done_fs);
    }
}

static void build_channels(s4u::Host *host)
{
    grant_of.resize(the.txns.size());
    for (uint32_t i = 0; i < the.channels * PES; i++)
        s4u::Actor::create("channel", host, channel_actor, i % PES);
}

int main(int argc, char **argv)
{
    s4u::Engine engine(&argc, argv); // takes its own options out
    arguments a = read_arguments(argc, argv);
    s4u::NetZone *zone = s4u::create_full_zone("machine");
    s4u::Host *host = zone->create_host("host", 1e9);

    s4u::Engine::set_config("contexts/stack-size:32"); // KiB, for 10 240 actors
    zone->seal();
    if (strcmp(a.variant, "memories") == 0)
        build_memories(host);
    else
        build_channels(host);
    double begin_ns = processor_ns();
    engine.run();
    report(a, processor_ns() - begin_ns);
    return 0;
}
