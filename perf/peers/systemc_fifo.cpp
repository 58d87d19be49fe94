// systemc_fifo.cpp -- the shipped model for SystemC: every direction of a link serves in order.
//
// usage: systemc_fifo stations|joined CHANNELS ROWS DONE NAME ROUND    (peer.h)
//
// A link is taken for the drain of a transaction while its head goes on; a memory is taken for its
// own drain, and the transaction is done when that of its way is. Both are stations: what comes at
// t begins when the station is free, and that is all that need be kept of a link. A transaction has
// one notification for each station at most: it is put into the list of the station that it comes
// to next, in order of (arrival, id), and an SC_METHOD of that station wakes at the first arrival.
// So nothing is kept in queues of SystemC, and nothing is called in the order of delta cycles.
//
// stations  Each station has its process.
// joined    A station to which all come from one other, with one delay, is passed in the process of
//           that one, ahead of time. It has no notification.
//
// A PE with one channel begins its next transaction as soon as the end of the last is known. With
// several, ends are known in another order than they come in: an SC_METHOD of the PE wakes at each.
#include "peer.h"
#include <cmath>
#include <fstream>
#include <memory>
#include <queue>
#include <sstream>
#include <string>
#include <systemc>
#include <unordered_map>

using namespace sc_core;

static uint64_t now_fs()
{
    return sc_time_stamp().value();
}

struct station;

// The stations of a way: the delay before each, and the number of its bandwidth.
struct step {
    station *at;
    uint64_t lead_fs;
    uint32_t rate;
    bool joined; // passed with the one before
};

static std::vector<step> ways[PES][PES];
static std::vector<double> rates;
static std::vector<uint64_t> drains; // [id][rate]
static std::vector<uint64_t> taken;  // [id]: the memory
static std::vector<uint32_t> at;     // [id]: the step to which it comes

struct pe_ends;
static std::vector<std::unique_ptr<pe_ends>> pes;

static void go(uint32_t id, uint64_t t);

struct station : sc_module {
    queue coming;
    uint64_t free_fs = 0;
    bool of_memory;
    sc_event wake;

    SC_HAS_PROCESS(station);
    station(sc_module_name name, bool memory) : sc_module(name), of_memory(memory)
    {
        SC_METHOD(run);
        sensitive << wake;
        dont_initialize();
    }

    // An earlier notification overrides a later one.
    void expect(uint32_t id, uint64_t t)
    {
        the.txns[id].arrive_fs = t;
        coming.put(id);
        if (coming.head == id)
            wake.notify(sc_time::from_value(t - now_fs()));
    }

    void run()
    {
        while (coming.head != NONE && coming.first_fs() == now_fs())
            go(coming.take(), now_fs());
        if (coming.head != NONE)
            wake.notify(sc_time::from_value(coming.first_fs() - now_fs()));
    }

    uint64_t take(uint64_t t, uint64_t fs)
    {
        uint64_t begin = free_fs > t ? free_fs : t;

        free_fs = begin + fs;
        return begin;
    }
};

// It comes to the first station of its way, from a channel that it has since `t`.
static void set_out(uint32_t id, uint64_t t)
{
    const std::vector<step> &way = ways[the.txns[id].pe][the.txns[id].memory];

    at[id] = 0;
    if (way[0].joined)
        go(id, t + way[0].lead_fs);
    else
        way[0].at->expect(id, t + way[0].lead_fs);
}

// The ends of a PE that are still to come; a server is free at each.
struct pe_ends : sc_module {
    std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> ends;
    sc_event wake;
    uint32_t pe;

    SC_HAS_PROCESS(pe_ends);
    pe_ends(sc_module_name name, uint32_t of) : sc_module(name), pe(of)
    {
        SC_METHOD(run);
        sensitive << wake;
        dont_initialize();
    }

    void next(uint64_t t)
    {
        uint32_t id = take_row(pe);

        if (id != NONE)
            set_out(id, t);
    }

    void end(uint64_t t)
    {
        if (the.channels == 1) {
            next(t);
            return;
        }
        ends.push(t);
        if (ends.top() == t)
            wake.notify(sc_time::from_value(t - now_fs()));
    }

    void run()
    {
        for (; !ends.empty() && ends.top() == now_fs(); ends.pop())
            next(now_fs());
        if (!ends.empty())
            wake.notify(sc_time::from_value(ends.top() - now_fs()));
    }
};

// It is at its step at `t`, which may be still to come where the station is joined.
static void go(uint32_t id, uint64_t t)
{
    const txn &x = the.txns[id];
    const std::vector<step> &way = ways[x.pe][x.memory];
    const uint64_t *drain = &drains[id * rates.size()];

    for (uint32_t i = at[id];; i++) {
        const step &s = way[i];

        if (s.at->of_memory) {
            uint64_t done = s.at->take(t, taken[id]) + x.hold_fs;

            the.txns[id].done_fs = done;
            pes[x.pe]->end(done);
            return;
        }
        t = s.at->take(t, drain[s.rate]) + way[i + 1].lead_fs;
        if (!way[i + 1].joined) {
            at[id] = i + 1;
            way[i + 1].at->expect(id, t);
            return;
        }
    }
}

// -- what is read --------------------------------------------------------------------------------

static station *station_of(const std::string &name, bool memory)
{
    static std::unordered_map<std::string, std::unique_ptr<station>> known;
    std::unique_ptr<station> &s = known[name];

    if (!s)
        s = std::make_unique<station>(sc_gen_unique_name("station"), memory);
    return s.get();
}

static uint32_t rate_of(double gbs)
{
    uint32_t i = 0;

    while (i < rates.size() && (rates[i] < gbs || rates[i] > gbs))
        i++;
    if (i == rates.size())
        rates.push_back(gbs);
    return i;
}

// node:wire_fs:overhead_fs:gbs
struct hop {
    std::string node;
    uint64_t wire_fs, overhead_fs;
    double gbs;
};

static hop read_hop(std::istringstream &word)
{
    std::string node, wire, overhead, gbs;

    std::getline(word, node, ':');
    std::getline(word, wire, ':');
    std::getline(word, overhead, ':');
    std::getline(word, gbs, ':');
    return {node, std::stoull(wire), std::stoull(overhead), std::stod(gbs)};
}

// The link into each node behind the first one, and the memory, whose overhead is of its hold.
static std::vector<step> read_way(std::istringstream &words)
{
    std::vector<step> way;
    std::string word, before;
    uint64_t lead_fs = 0;

    while (std::getline(words, word, ',')) {
        std::istringstream fields(word);
        hop h = read_hop(fields);
        bool memory = h.node.find(".hbm_ctrl.") != std::string::npos;

        if (!before.empty()) {
            way.push_back(
                {station_of(before + " > " + h.node, false), lead_fs, rate_of(h.gbs), false});
            lead_fs = 0;
        }
        lead_fs += h.wire_fs + (memory ? 0 : h.overhead_fs);
        before = h.node;
    }
    way.push_back({station_of(before, true), lead_fs, 0, false});
    return way;
}

static std::ifstream beside(const std::string &rows, const char *name)
{
    return std::ifstream(rows.substr(0, rows.rfind('/')) + name);
}

static void read_ways(const std::string &rows)
{
    std::ifstream file = beside(rows, "/ways.csv");
    std::string line, word;

    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::getline(words, word, ',');
        unsigned pe = (unsigned)std::stoul(word);
        std::getline(words, word, ',');
        ways[pe][std::stoul(word)] = read_way(words);
    }
}

static void read_sizes(const std::string &rows)
{
    std::ifstream file = beside(rows, "/sizes.csv");
    std::string nbytes, own;

    while (std::getline(file, nbytes, ',') && std::getline(file, own)) {
        for (double gbs : rates)
            drains.push_back((uint64_t)std::llround(std::stod(nbytes) * 1e6 / gbs));
        taken.push_back(std::stoull(own));
    }
    at.resize(taken.size());
}

// All that comes to a station comes from one other (a PE with one channel is one, too), and takes
// one time from there.
static void join_stations()
{
    struct feed {
        const void *from;
        uint64_t lead_fs;
        bool one;
    };
    std::unordered_map<const station *, feed> feeds;

    for (bool known : {false, true})
        for (uint32_t pe = 0; pe < PES; pe++)
            for (auto &way : ways[pe]) {
                const void *from = pes[pe].get();

                for (step &s : way) {
                    feed &f = feeds.try_emplace(s.at, feed{from, s.lead_fs, true}).first->second;

                    f.one &= f.from == from && f.lead_fs == s.lead_fs;
                    s.joined = known && f.one && (the.channels == 1 || from != pes[pe].get());
                    from = s.at;
                }
            }
}

int sc_main(int argc, char **argv)
{
    arguments a = read_arguments(argc, argv);

    sc_set_time_resolution(1, SC_FS);
    for (uint32_t pe = 0; pe < PES; pe++)
        pes.push_back(std::make_unique<pe_ends>(sc_gen_unique_name("pe"), pe));
    read_ways(argv[3]);
    read_sizes(argv[3]);
    if (std::string(a.variant) == "joined")
        join_stations();
    sc_start(SC_ZERO_TIME); // elaboration is not counted
    double begin_ns = processor_ns();
    for (uint32_t i = 0; i < the.channels * PES; i++)
        pes[i % PES]->next(0);
    sc_start();
    report(a, processor_ns() - begin_ns);
    return 0;
}
