// systemc.cpp -- the model for SystemC: PEs with DMA channels, delays, memories of capacity 1.
//
// usage: systemc method|events|thread|hops CHANNELS ROWS DONE NAME ROUND    (peer.h)
//
// A way is one delay (the sum of its hops) in all but `hops`: the best case. Ties are the design's:
// a memory serves by (arrival, id), so all that arrive at an instant have to be known before one is
// chosen. Time is 64 bits at a resolution of 1 fs, made by sc_time::from_value (the constructor
// with a unit multiplies doubles). No sc_fifo, no signals, no sc_event_queue: all would add delta
// cycles. Methods have static sensitivity: next_trigger(time) proved no faster, mostly slower.
//
// method  An SC_METHOD a memory and one sc_event each, for its next arrival or completion. When a
//         transaction sets out it is known when it will arrive, so it goes to its place in the
//         memory's list at once (a payload event queue, but one list for all that wait), and a
//         memory that is busy needs no notification: one for a transaction that waits, two for
//         one that does not. Channels are counters, called as interface methods are.
// events  As a textbook has it: an SC_METHOD a channel as well, which wakes when its transaction
//         arrives; as many notifications pending as transactions in flight.
// thread  The same with an SC_THREAD a channel, and wait().
// hops    As `events`, but from node to node: a module a node, with TLM's payload event queue.
#include "peer.h"
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <systemc>
#include <tlm_utils/peq_with_get.h>
#include <unordered_map>

using namespace sc_core;

static uint64_t now_fs()
{
    return sc_time_stamp().value();
}

static void notify_after(sc_event &e, uint64_t delay_fs)
{
    e.notify(sc_time::from_value(delay_fs));
}

// -- method --------------------------------------------------------------------------------------

struct expecting_memory;
static std::vector<std::unique_ptr<expecting_memory>> expecting;

static void issue(uint32_t pe);

struct expecting_memory : sc_module {
    queue waiting;
    uint32_t serving = NONE;
    sc_event wake;

    SC_HAS_PROCESS(expecting_memory);
    explicit expecting_memory(sc_module_name name) : sc_module(name)
    {
        SC_METHOD(run);
        sensitive << wake;
        dont_initialize();
    }

    // An earlier notification overrides a later one.
    void expect(uint32_t id)
    {
        waiting.put(id);
        if (serving == NONE && waiting.head == id)
            notify_after(wake, the.txns[id].arrive_fs - now_fs());
    }

    void run()
    {
        uint64_t now = now_fs();

        if (serving != NONE) {
            the.txns[serving].done_fs = now;
            issue(the.txns[serving].pe);
            serving = NONE;
        }
        if (waiting.head == NONE)
            return;
        if (waiting.first_fs() > now) {
            notify_after(wake, waiting.first_fs() - now);
            return;
        }
        serving = waiting.take();
        notify_after(wake, the.txns[serving].hold_fs);
    }
};

// A channel of `pe` is free: the PE's next transaction sets out.
static void issue(uint32_t pe)
{
    uint32_t id = take_row(pe);

    if (id == NONE)
        return;
    the.txns[id].arrive_fs = now_fs() + the.txns[id].way_fs;
    expecting[the.txns[id].memory]->expect(id);
}

struct issuer : sc_module {
    SC_HAS_PROCESS(issuer);
    explicit issuer(sc_module_name name) : sc_module(name)
    {
        SC_METHOD(run);
    }

    void run()
    {
        for (uint32_t i = 0; i < the.channels * PES; i++)
            issue(i % PES);
    }
};

// -- events and thread ---------------------------------------------------------------------------

// Something that can be told that its transaction is done.
struct client {
    virtual void done(uint32_t id) = 0;
    virtual ~client() = default;
};

static std::vector<client *> client_of; // by id, while it is under way

// Serves arrivals. One at an idle memory is served a delta later, when all that arrive at that
// instant have arrived.
struct arriving_memory : sc_module {
    queue waiting;
    uint32_t serving = NONE;
    sc_event choose, end;

    SC_HAS_PROCESS(arriving_memory);
    explicit arriving_memory(sc_module_name name) : sc_module(name)
    {
        SC_METHOD(serve);
        sensitive << choose;
        dont_initialize();
        SC_METHOD(release);
        sensitive << end;
        dont_initialize();
    }

    void arrive(uint32_t id)
    {
        the.txns[id].arrive_fs = now_fs();
        waiting.put(id);
        if (serving == NONE)
            choose.notify(SC_ZERO_TIME);
    }

    void serve()
    {
        if (serving != NONE || waiting.head == NONE)
            return;
        serving = waiting.take();
        notify_after(end, the.txns[serving].hold_fs);
    }

    void release()
    {
        uint32_t ended = serving;

        serving = NONE;
        if (waiting.head != NONE && waiting.first_fs() < now_fs())
            serve();
        else if (waiting.head != NONE)
            choose.notify(SC_ZERO_TIME);
        client_of[ended]->done(ended);
    }
};

static std::vector<std::unique_ptr<arriving_memory>> arriving;

struct channel_method : sc_module, client {
    uint32_t pe, id = NONE;
    sc_event arrives;

    SC_HAS_PROCESS(channel_method);
    channel_method(sc_module_name name, uint32_t of) : sc_module(name), pe(of)
    {
        SC_METHOD(arrive);
        sensitive << arrives;
        dont_initialize();
    }

    void start_of_simulation() override
    {
        next();
    }

    void next()
    {
        id = take_row(pe);
        if (id == NONE)
            return;
        client_of[id] = this;
        notify_after(arrives, the.txns[id].way_fs);
    }

    void arrive()
    {
        arriving[the.txns[id].memory]->arrive(id);
    }

    void done(uint32_t) override
    {
        the.txns[id].done_fs = now_fs();
        next();
    }
};

// -- hops ----------------------------------------------------------------------------------------

struct node;

// The nodes of a way and the delay into each: its wire, and its overhead unless that is of a hold.
struct hop {
    node *to;
    uint64_t delay_fs;
};

static std::vector<hop> ways[PES][PES];
static std::vector<size_t> at; // by id: the hop that comes next

struct node : sc_module {
    tlm_utils::peq_with_get<txn> coming;

    SC_HAS_PROCESS(node);
    explicit node(sc_module_name name) : sc_module(name), coming("coming")
    {
        SC_METHOD(forward);
        sensitive << coming.get_event();
        dont_initialize();
    }

    // The next node, or the memory behind the last.
    static void send(txn *x)
    {
        uint32_t id = (uint32_t)(x - the.txns.data());
        const std::vector<hop> &way = ways[x->pe][x->memory];

        if (at[id] == way.size()) {
            arriving[x->memory]->arrive(id);
            return;
        }
        const hop &h = way[at[id]++];
        h.to->coming.notify(*x, sc_time::from_value(h.delay_fs));
    }

    void forward()
    {
        while (txn *x = coming.get_next_transaction())
            send(x);
    }
};

struct channel_hops : client {
    uint32_t pe;

    explicit channel_hops(uint32_t of) : pe(of)
    {
    }

    void next()
    {
        uint32_t id = take_row(pe);

        if (id == NONE)
            return;
        client_of[id] = this;
        node::send(&the.txns[id]);
    }

    void done(uint32_t id) override
    {
        the.txns[id].done_fs = now_fs();
        next();
    }
};

struct channel_thread : sc_module, client {
    uint32_t pe;
    sc_event ended;

    SC_HAS_PROCESS(channel_thread);
    channel_thread(sc_module_name name, uint32_t of) : sc_module(name), pe(of)
    {
        SC_THREAD(run);
        set_stack_size(0x4000);
    }

    void run()
    {
        for (uint32_t id; (id = take_row(pe)) != NONE;) {
            client_of[id] = this;
            wait(sc_time::from_value(the.txns[id].way_fs));
            arriving[the.txns[id].memory]->arrive(id);
            wait(ended);
            the.txns[id].done_fs = now_fs();
        }
    }

    void done(uint32_t) override
    {
        ended.notify(); // at once: no delta
    }
};

// -- all -----------------------------------------------------------------------------------------

static std::vector<std::unique_ptr<sc_module>> others;
static std::vector<std::unique_ptr<channel_hops>> hops_channels;

static node *node_of(const std::string &name)
{
    static std::unordered_map<std::string, node *> known;
    node *&n = known[name];

    if (!n) {
        others.push_back(std::make_unique<node>(sc_gen_unique_name("node")));
        n = static_cast<node *>(others.back().get());
    }
    return n;
}

// ways.csv beside the rows: pe,memory,node:wire_fs:overhead_fs,...; first the PE, last the memory
static void read_ways(const std::string &rows)
{
    std::ifstream file(rows.substr(0, rows.rfind('/')) + "/ways.csv");
    std::string line, word;

    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::getline(words, word, ',');
        unsigned pe = (unsigned)std::stoul(word);
        std::getline(words, word, ',');
        std::vector<hop> &way = ways[pe][std::stoul(word)];

        while (std::getline(words, word, ',')) {
            size_t wire = word.find(':'), overhead = word.find(':', wire + 1);
            bool memory = word.find(".hbm_ctrl.") != std::string::npos;
            uint64_t fs = std::stoull(word.substr(wire + 1));

            if (!memory)
                fs += std::stoull(word.substr(overhead + 1));
            way.push_back({node_of(word.substr(0, wire)), fs});
        }
        way.erase(way.begin());
    }
}

static void build_channels(const std::string &variant)
{
    for (unsigned i = 0; i < the.channels * PES; i++)
        if (variant == "hops")
            hops_channels.push_back(std::make_unique<channel_hops>(i % PES));
        else if (variant == "thread")
            others.push_back(
                std::make_unique<channel_thread>(sc_gen_unique_name("channel"), i % PES));
        else
            others.push_back(
                std::make_unique<channel_method>(sc_gen_unique_name("channel"), i % PES));
}

static void build(const std::string &variant, const char *rows)
{
    bool method = variant == "method";

    for (unsigned i = 0; i < PES; i++)
        if (method)
            expecting.push_back(std::make_unique<expecting_memory>(sc_gen_unique_name("memory")));
        else
            arriving.push_back(std::make_unique<arriving_memory>(sc_gen_unique_name("memory")));
    if (method) {
        others.push_back(std::make_unique<issuer>("issuer"));
        return;
    }
    client_of.resize(the.txns.size());
    at.resize(the.txns.size());
    if (variant == "hops")
        read_ways(rows);
    build_channels(variant);
}

int sc_main(int argc, char **argv)
{
    arguments a = read_arguments(argc, argv);

    sc_set_time_resolution(1, SC_FS);
    build(a.variant, argv[3]);
    sc_start(SC_ZERO_TIME); // elaboration is not counted
    double begin_ns = processor_ns();
    for (auto &channel : hops_channels)
        channel->next();
    sc_start();
    report(a, processor_ns() - begin_ns);
    return 0;
}
