#!/usr/bin/env python3
"""timeline.py -- reads timelines on its own, by Perfetto's documented field numbers, and judges them.

usage: timeline.py check FILE           is it whole: balanced, nested, counters, flows
       timeline.py part FILE            the same of one that does not have all: flows may be cut
       timeline.py slices FILE          a line for each slice, sorted
       timeline.py tree FILE            its tracks
       timeline.py rows FILE CSV        against the rows of replay
       timeline.py oplog FILE JSONL     against the op log of run
       timeline.py window FILE ALL F T  what of ALL overlaps F..T (fs) is all of FILE
       timeline.py names FILE           of components that have slices
       timeline.py count FILE           its packets
Several, with ',' between them, read a file once.
"""
import csv
import functools
import gc
import itertools
import json
import struct
import sys
from collections import Counter, defaultdict
from decimal import Decimal

BEGIN, END, COUNTER = 1, 2, 4  # TrackEvent.Type


# -- protobuf, of which we need: varints, fixed64, lengths -----------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """Each (number, value) of a message. Most varints are one byte, which takes no call."""
    at, end, found = 0, len(data), []
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = varint(data, at - 1)
        wire = tag & 7
        if wire == 0:
            value = data[at]
            at += 1
            if value > 127:
                value, at = varint(data, at - 1)
        elif wire == 1:
            value = data[at:at + 8]
            at += 8
        elif wire == 2:
            size = data[at]
            at += 1
            if size > 127:
                size, at = varint(data, at - 1)
            value = data[at:at + size]
            at += size
            assert len(value) == size, "cut off"
        else:
            raise ValueError("wire type %d" % wire)
        found.append((tag >> 3, value))
    assert at == end, "cut off"
    return found


def last(data):
    return dict(fields(data))


# -- both formats as one ---------------------------------------------------------------------------

class Event:
    def __init__(self, fs, kind, track):
        self.fs, self.kind, self.track = fs, kind, track
        self.name, self.notes, self.flows, self.ends, self.value = None, {}, [], [], None


class Timeline:
    def __init__(self, path):
        self.names, self.parent, self.counters, self.events = {}, {}, set(), []
        data = open(path, "rb").read()
        if path.endswith(".json"):
            self.read_json(json.loads(data, parse_float=Decimal))
        else:
            self.read_packets(data)

    def read_packets(self, data):
        self.texts = {2: {}, 3: {}, 29: {}}
        for i, (number, packet) in enumerate(fields(data)):
            assert number == 1, "Trace has packets and nothing else"
            self.read_packet(packet, i == 0)

    def read_packet(self, data, first):
        packet = last(data)
        assert packet[10] == 1, "one sequence"
        assert packet[13] == (3 if first else 2), "the state begins once, and all need it"
        if 60 in packet:
            self.read_track(last(packet[60]))
        if 12 in packet:
            for index, entry in fields(packet[12]):
                text = last(entry)
                assert text[1] not in self.texts[index], "told twice"
                self.texts[index][text[1]] = text[2].decode()
        if 11 in packet:
            self.read_event(packet[8], packet[11])

    def read_track(self, d):
        assert d[1] not in self.names, "a track is told once"
        assert 5 not in d or d[5] in self.names, "parents come first"
        self.names[d[1]] = d[2].decode()
        self.parent[d[1]] = d.get(5)
        if 8 in d:
            self.counters.add(d[1])

    def read_event(self, fs, data):
        parts = fields(data)
        d = dict(parts)
        e = Event(fs, d[9], d[11])
        assert e.track in self.names, "tracks come before events"
        if 10 in d:
            e.name = self.texts[2][d[10]]
        for number, value in parts:
            if number == 4:
                note = last(value)
                e.notes[self.texts[3][note[1]]] = self.note(note)
            elif number == 47:
                e.flows.append(struct.unpack("<Q", value)[0])
            elif number == 48:
                e.ends.append(struct.unpack("<Q", value)[0])
        if 30 in d:
            e.value = d[30]
        if 44 in d:
            e.value = struct.unpack("<d", d[44])[0]
        self.events.append(e)

    def note(self, note):
        if 17 in note:
            return self.texts[29][note[17]]
        return note[3] if 3 in note else struct.unpack("<d", note[5])[0]

    def read_json(self, root):
        processes, counters = {}, {}
        for e in root["traceEvents"]:
            kind = e["ph"]
            if kind == "M" and e["name"] == "process_name":
                processes[e["pid"]] = e["args"]["name"]
                self.names[e["pid"]], self.parent[e["pid"]] = e["args"]["name"], None
            elif kind == "M" and e["name"] == "thread_name":
                self.names[e["tid"]], self.parent[e["tid"]] = e["args"]["name"], e["pid"]
            elif kind in "BEC":
                self.add_json(e, counters)
            else:
                assert kind in "stfM", kind

    def add_json(self, e, counters):
        fs = e["ts"] * 1000
        assert fs == int(fs), "times are whole fs"
        track = e["tid"]
        if e["ph"] == "C":
            track = counters.setdefault((e["pid"], e["name"]), track)
            self.names.setdefault(track, e["name"])
            self.parent.setdefault(track, e["pid"])
            self.counters.add(track)
        assert track in self.names, "tracks come before events"
        event = Event(int(fs), {"B": BEGIN, "E": END, "C": COUNTER}[e["ph"]], track)
        event.name = e.get("name")
        if e["ph"] == "C":
            event.value = float(e["args"]["value"])
        else:
            event.notes = {k: float(v) if isinstance(v, Decimal) else v
                           for k, v in e.get("args", {}).items()}
        self.events.append(event)

    def slices(self):
        """(track, begin, end, name, notes, depth) of all, as a reader has them: sorted by time."""
        open_, found = defaultdict(list), []
        for e in sorted(self.events, key=lambda e: e.fs):
            if e.kind == BEGIN:
                assert e.track not in self.counters
                open_[e.track].append(e)
            elif e.kind == END:
                assert open_[e.track], "an end without a begin on %s" % self.names[e.track]
                b = open_[e.track].pop()
                found.append((self.names[e.track], b.fs, e.fs, b.name, b.notes, len(open_[e.track])))
        for track, rest in open_.items():
            assert not rest, "%d slices of %s do not end" % (len(rest), self.names[track])
        return found


@functools.lru_cache(maxsize=None)
def timeline(path):
    return Timeline(path)


@functools.lru_cache(maxsize=None)
def slices_of(path):
    return timeline(path).slices()


# -- what must be so -------------------------------------------------------------------------------

def check(path, whole=True):
    t, slices = timeline(path), slices_of(path)
    assert len(set(t.names.values())) == len(t.names), "tracks have names of their own"
    for name, begin, end, _, _, depth in slices:
        assert begin <= end, (name, begin, end)
        assert depth <= 2, "lanes hold one slice and its parts, PEs a command in a kernel"
    times = [e.fs for e in t.events if not t.names[e.track].split(" #")[0].split(".")[-1][:2] == "pe"]
    assert times == sorted(times), "all is in order but what PEs' commands tell when they are issued"
    check_counters(t)
    if not path.endswith(".json"):
        check_flows(t, whole)
    print("%d slices on %d tracks" % (len(slices), len(t.names) - len(t.counters)))


def check_counters(t):
    values, at = {}, {}
    for e in t.events:
        if e.kind != COUNTER:
            continue
        assert e.track in t.counters
        name = t.names[e.track]
        assert e.value >= 0 and (not name.endswith("busy") or e.value <= 100), (name, e.value)
        assert e.value != values.get(e.track, 0), "%s says nothing new" % name
        assert e.fs > at.get(e.track, -1) or e.value == 0, "%s says two things at once" % name
        values[e.track], at[e.track] = e.value, e.fs
    for track, value in values.items():
        assert value == 0, "%s ends at %g" % (t.names[track], value)


def check_flows(t, whole):
    """A transaction's steps are in order, and the last one says so."""
    steps, ends = defaultdict(list), {}
    for e in t.events:
        for flow in e.flows:
            assert e.kind == BEGIN and flow not in ends, "flow %d goes on after its end" % flow
            steps[flow].append(e.fs)
        for flow in e.ends:
            assert e.kind == BEGIN and flow not in ends and (steps[flow] or not whole), flow
            ends[flow] = e.fs
    for flow, times in steps.items():
        assert times == sorted(times), flow


# -- against what else is known --------------------------------------------------------------------

def fs_of(text):
    value = Decimal(text) * 1000000
    assert value == int(value)
    return int(value)


def memory(name):
    return (".hbm_ctrl.slice" in name or name.endswith(".sram")) and " -> " not in name


def rows(path, csv_path):
    """Every row: its memory from service to done, its channel from start to done, its waits."""
    found = {}
    t = timeline(path)
    ends = Counter(flow for e in t.events for flow in e.ends)
    for name, begin, end, label, notes, depth in slices_of(path):
        if "id" in notes:
            found.setdefault(notes["id"], []).append((name, begin, end, label, notes))
    n = 0
    for row in csv.DictReader(open(csv_path)):
        mine = found[int(row["id"])]
        n += 1
        for _, _, _, label, notes in mine:
            assert (notes["op"], notes["source"], notes["target"], notes["nbytes"]) == \
                (row["op"], row["src"], row["dst"], int(row["nbytes"])), (row, notes)
        times = {k: fs_of(v) for k, v in row.items() if k.endswith("_ns")}
        of_memory = [s for s in mine if memory(s[0])]
        assert [s[1:3] for s in of_memory] == [(times["service_ns"], times["done_ns"])], row
        of_channel = [s for s in mine if ".pe_dma.read" in s[0] or ".pe_dma.write" in s[0]]
        of_channel = [s for s in of_channel if " -> " not in s[0]]
        host = row["op"] in ("h2d", "d2h")
        assert [s[1:3] for s in of_channel] == \
            ([] if host else [(times["start_ns"], times["done_ns"])]), (row, of_channel)
        waited = sum(round(s[4].get("waited_ns", 0) * 1000000) for s in mine)
        queues = sum(v for k, v in times.items() if k.startswith("queue_"))
        assert waited == queues, (row, waited, queues)
        assert max(s[2] for s in mine if " -> " not in s[0] or s[0].endswith(" wire")) == times["end_ns"], row
        assert min(s[1] for s in mine) - times["queue_channel_ns"] >= times["issue_ns"]
        pieces = [s for s in mine if s not in of_memory and s not in of_channel
                  and not s[0].split(" #")[0].endswith((".m_cpu.read", ".m_cpu.write"))
                  and (not fifo(mine) or " -> " not in s[0] or s[0].split(" #")[0].endswith(" wire"))]
        spent = sum(s[2] - s[1] for s in pieces) + of_memory[0][2] - of_memory[0][1]
        assert spent + queues == times["actual_ns"], (row, spent, queues)
    assert n == len(found), (n, len(found))
    assert ends == {i + 1: 1 for i in found}, "every flow ends once"
    print("%d rows" % n)


def fifo(mine):
    return any(s[0].split(" #")[0].endswith(" wire") for s in mine)


NODES = {"DMA_READ": ".pe_dma.read", "DMA_WRITE": ".pe_dma.write", "dma_read": ".pe_dma.read",
         "dma_write": ".pe_dma.write", "ipcq_copy": ".pe_dma.write", "FETCH": ".pe_tcm.read", "STORE": ".pe_tcm.write"}


def station(record):
    """The track on which an op log's record must have a slice."""
    node, name = record["component_id"], record["op_name"]
    stage = name.split("/")[-1]
    pe = node.rsplit(".", 1)[0]
    if name.startswith("composite"):
        return pe
    return pe + NODES[stage] if stage in NODES else node


def oplog(path, log_path):
    """Every record has a slice of exactly its time, with its number, on its component."""
    found = Counter()
    for name, begin, end, _, notes, depth in slices_of(path):
        if "id" in notes:
            found[name.split(" #")[0], begin, end, notes["id"]] += 1
    n = 0
    for line in list(open(log_path))[1:]:
        record = json.loads(line, parse_float=Decimal)
        key = (station(record), fs_of(record["t_start"]), fs_of(record["t_end"]), record["op_id"])
        assert found[key] == 1, (key, record["op_name"], found[key],
                                 [k for k in found if k[3] == key[3]][:9])
        n += 1
    print("%d records" % n)


def line(s):
    name, begin, end, label, notes, depth = s
    return "%s %d %d %s %s" % (name.split(" #")[0], begin, end, label, sorted(notes.items()))


def window(path, all_path, begin, end):
    begin, end = int(begin), int(end)
    want = Counter(line(s) for s in slices_of(all_path) if s[1] < end and s[2] > begin)
    got = Counter(line(s) for s in slices_of(path))
    assert got == want, (list((want - got).items())[:3], list((got - want).items())[:3])
    for e in timeline(path).events:
        assert e.kind != COUNTER or begin <= e.fs <= end, (e.fs, begin, end)
    print("%d slices" % sum(got.values()))


def count(path):
    print(sum(1 for _ in fields(memoryview(open(path, "rb").read()))))


def tree(path):
    t = timeline(path)
    below = defaultdict(list)
    for track, parent in t.parent.items():
        below[parent].append(track)

    def show(track, depth):
        print("  " * depth + t.names[track])
        for child in sorted(below[track], key=lambda c: t.names[c]):
            show(child, depth + 1)
    for top in below[None]:
        show(top, 0)


def main(what, *words):
    if what == "slices":
        print("\n".join(sorted(line(s) for s in slices_of(words[0]))))
    elif what == "names":
        print("\n".join(sorted({s[0].split(" #")[0] for s in slices_of(words[0])})))
    else:
        {"check": check, "part": lambda path: check(path, False), "rows": rows, "oplog": oplog, "window": window, "tree": tree,
         "count": count}[what](*words)


if __name__ == "__main__":
    gc.disable()  # a file is read once, and then we end
    try:
        for comma, command in itertools.groupby(sys.argv[1:], lambda word: word == ","):
            if not comma:
                main(*command)
    except AssertionError as wrong:
        sys.exit("timeline.py: %s: %s" % (" ".join(sys.argv[1:]), wrong))
