#!/usr/bin/python3
"""simpy_model.py -- the model for SimPy, in the style of the latency model's own description.

usage: simpy_model.py hops|lean CHANNELS ROWS WAYS DONE NAME ROUND

hops  A process for each component and each wire, as the latency model describes them: every port
      has a Store and a process that relays to the component's inbox; the worker starts a process
      for each message, which spends the overhead and puts the message to the port of its next
      hop. A channel and a memory are Resources.
lean  A process for each channel of a PE, one timeout for the way, one for the service, and a
      Resource for each memory.

Times are whole fs, which SimPy leaves as they are. SIMPY_PATH names another SimPy than Debian's.
"""
import os
import sys
import time

if os.environ.get("SIMPY_PATH"):
    sys.path.insert(0, os.environ["SIMPY_PATH"])
import simpy

PES = 64
LAST = 2  # of a priority behind URGENT and NORMAL: after all else of its time


class Txn:
    __slots__ = ("id", "pe", "memory", "way_fs", "hold_fs", "done_fs", "route", "at", "done")

    def __init__(self, number, fields):
        self.id = number
        self.pe, self.memory, self.way_fs, self.hold_fs = map(int, fields)


class Arrivals:
    """The arrivals at a memory: those of one instant come in order of their ids.

    The design's tie. SimPy itself would have them in the order in which their events were made.
    """

    def __init__(self, env, then):
        self.env, self.then, self.batch = env, then, []

    def add(self, txn, arg):
        if not self.batch:
            last = simpy.Event(self.env)
            last._ok, last._value = True, None
            last.callbacks.append(self.close)
            self.env.schedule(last, priority=LAST)
        self.batch.append((txn.id, txn, arg))

    def close(self, _):
        batch, self.batch = self.batch, []
        batch.sort(key=lambda entry: entry[0])
        for _, txn, arg in batch:
            self.then(txn, arg)


# -- hops ----------------------------------------------------------------------------------------


class Wire:
    """Takes each message to a port after its delay; any number may be on it."""

    def __init__(self, env, to):
        self.env, self.to, self.port = env, to, simpy.Store(env)
        env.process(self.run())

    def run(self):
        while True:
            msg = yield self.port.get()
            self.env.process(self.carry(msg))

    def carry(self, msg):
        yield self.env.timeout(msg.route[msg.at + 1][1])
        msg.at += 1
        yield self.to.put(msg)


class Component:
    def __init__(self, env, name):
        self.env, self.name = env, name
        self.inbox, self.out_ports = simpy.Store(env), {}
        env.process(self.worker())

    def in_port(self):
        port = simpy.Store(self.env)
        self.env.process(self.fan_in(port))
        return port

    def connect(self, to):
        if to.name not in self.out_ports:
            self.out_ports[to.name] = Wire(self.env, to.in_port()).port

    def fan_in(self, port):
        while True:
            msg = yield port.get()
            yield self.inbox.put(msg)

    def worker(self):
        while True:
            msg = yield self.inbox.get()
            self.env.process(self.forward(msg))

    def run(self, msg):
        yield self.env.timeout(msg.route[msg.at][2])

    def forward(self, msg):
        yield from self.run(msg)
        yield self.out_ports[msg.route[msg.at + 1][0]].put(msg)


class PeDma(Component):
    def __init__(self, env, name, channels):
        self.channels = simpy.Resource(env, capacity=channels)
        super().__init__(env, name)

    def forward(self, msg):
        with self.channels.request() as channel:
            yield channel
            yield from super().forward(msg)
            yield msg.done


class HbmCtrl(Component):
    def __init__(self, env, name):
        self.resource = simpy.Resource(env, capacity=1)
        self.arrivals = Arrivals(env, lambda msg, _: env.process(self.serve(msg)))
        super().__init__(env, name)

    def worker(self):
        while True:
            msg = yield self.inbox.get()
            self.arrivals.add(msg, None)

    def serve(self, msg):
        with self.resource.request() as req:
            yield req
            yield self.env.timeout(msg.hold_fs)  # overhead and drain
        msg.done_fs = self.env.now
        msg.done.succeed()


def read_ways(path):
    ways = {}
    with open(path) as rows:
        for row in rows:
            pe, memory, *hops = row.rstrip("\n").split(",")
            nodes = [hop.rsplit(":", 2) for hop in hops]
            ways[int(pe), int(memory)] = [(n, int(wire), int(over)) for n, wire, over in nodes]
    return ways


def build_hops(env, txns, ways, channels):
    parts = {}

    def part(name):
        if name not in parts:
            if ".pe_dma" in name:
                parts[name] = PeDma(env, name, channels)
            elif ".hbm_ctrl" in name:
                parts[name] = HbmCtrl(env, name)
            else:
                parts[name] = Component(env, name)
        return parts[name]

    for way in ways.values():
        for a, b in zip(way, way[1:]):
            part(a[0]).connect(part(b[0]))
    for txn in txns:
        txn.route, txn.at, txn.done = ways[txn.pe, txn.memory], 0, env.event()
        part(txn.route[0][0]).inbox.put(txn)


# -- lean ----------------------------------------------------------------------------------------


def channel_process(env, rows, memories):
    timeout = env.timeout
    for txn in rows:
        resource, arrivals = memories[txn.memory]
        yield timeout(txn.way_fs)
        asked = env.event()
        arrivals.add(txn, asked)
        request = yield asked
        yield request
        yield timeout(txn.hold_fs)
        resource.release(request)
        txn.done_fs = env.now


def lean_memory(env):
    resource = simpy.Resource(env, capacity=1)
    return resource, Arrivals(env, lambda _, asked: asked.succeed(resource.request()))


def build_lean(env, txns, channels):
    memories = [lean_memory(env) for _ in range(PES)]
    for pe in range(PES):
        rows = iter(txns[pe::PES])  # shared: a channel takes the next when it is free
        for _ in range(channels):
            env.process(channel_process(env, rows, memories))


def main():
    variant, channels, rows, ways, done, name, round_ = sys.argv[1:]
    with open(rows) as lines:
        txns = [Txn(i, line.split(",")) for i, line in enumerate(lines)]
    env = simpy.Environment()
    if variant == "hops":
        build_hops(env, txns, read_ways(ways), int(channels))
    else:
        build_lean(env, txns, int(channels))
    begin = time.process_time()
    env.run()
    ns = (time.process_time() - begin) * 1e9 / len(txns)
    print(f"{name},ns,{round_},{ns:.4f}")
    with open(done, "w") as out:
        out.writelines(f"{txn.done_fs}\n" for txn in txns)


main()
