#!/usr/bin/env python3
"""ends.py -- runs every bench with random arguments on random machines: each run ends, or is refused by name.

usage: ends.py BUILD FOLDER [MACHINES [SETS]], as in: ends.py build build/ends 1-50 200

A run is done after 100 times the time that half of the runs of its bench on its machine take, at most, or as many
times more as it has more operations; it computes what its reference does, or it is refused with a message. Time is
that of the processor, and below three seconds is never too long. FOLDER/done has a line for each machine that passed, which is not run again; FOLDER/failed has the
commands that failed, to be run from the top of the tree. KB_BENCHES="copy gemm" takes these alone.
"""
import csv
import json
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TIMES, LEAST_S, MOST_S = 100, 3, 60
ASLEEP_S = 600  # by the clock: without work it would wait without end

# What machine N is: the judge's kind, and keys that it gets.
KINDS = [
    ("kernels", []),
    ("any_kernels", []),
    ("kernels", ["contention.links=fifo", "cube.hbm.impl=server", "cube.sram.impl=server"]),
    ("kernel_banks", []),
    ("routers", []),
    ("any_kernels", ["contention.links=fifo", "ns_per_mm=0"]),
    ("router_banks", []),
    ("detours", []),
    (None, ["cube.hbm.model=banks"]),
    (None, ["contention.links=router", "contention.packet_bytes=512", "contention.vcs=[4, 4]"]),
]
SHIPPED = ["cube8", "tray32"]


def command_of(build, words):
    return [f"{build}/kernbench", *words]


class Runner:
    """Runs commands with a bound of the processor's time; says how they ended and how long they took."""

    def __init__(self, build):
        self.build = build

    def run(self, words):
        def bound():
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with subprocess.Popen(command_of(self.build, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, preexec_fn=bound) as process:
            alarm = threading.Timer(ASLEEP_S, process.kill)
            alarm.start()
            text = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            alarm.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, used.ru_utime + used.ru_stime, text.decode(errors="replace")


def try_machine(runner, folder, number, seed):
    """Writes a machine; returns what names it on a command line, or None if the generator refuses it."""
    kind, keys = KINDS[number % len(KINDS)]
    if kind:
        path = f"{folder}/machine{number}.yaml"
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([f"{runner.build}/_t/judge", "topo", str(seed), kind], stdout=file, check=True)
    else:
        path = f"topologies/{SHIPPED[number // len(KINDS) % len(SHIPPED)]}.yaml"
    words = ["--machine", path]
    for key in keys:
        words += ["--set", key]
    code, _, text = runner.run(["info", *words])
    if code not in (0, 2, 3):
        raise SystemExit(f"machine {number}: exit {code}: {text}")
    return words if code == 0 else None


def machine_of(runner, folder, number):
    """Machine `number`: of the first seed that the generator takes."""
    for seed in range(number, number + 20000, 1000):
        words = try_machine(runner, folder, number, seed)
        if words:
            return words
    raise SystemExit(f"machine {number}: the generator refuses every one")


def benches_of(runner):
    code, _, text = runner.run(["list", "--format", "json", "--machine", "topologies/cube8.yaml"])
    assert code == 0, text
    benches = {}
    for row in json.loads(text)["rows"]:
        arguments = benches.setdefault(row["bench"], [])
        if row["argument"]:
            arguments.append((row["argument"], row["type"], row["range"]))
    wanted = os.environ.get("KB_BENCHES", "").split()
    return {name: benches[name] for name in wanted or benches}


def value_of(dice, kind, values):
    """Small numbers, so that runs of one bench are alike: often less than there are PEs, often none's multiple."""
    if kind == "int":
        return str(dice.choice([1, 2, 3, dice.randint(1, 9), dice.randint(1, 40), dice.randint(1, 150), 64]))
    if kind == "real":
        least, most = (float(end) for end in values.split(".."))
        return f"{dice.uniform(least, most):.6f}" if least else values.split("..")[0]
    return dice.choice(values.split("|"))


def words_of(dice, name, arguments):
    words = ["run", name]
    for argument, kind, values in arguments:
        if kind == "int" or dice.random() < 0.7:
            words.append(f"{argument}={value_of(dice, kind, values)}")
    return words


def ops_of(text):
    """How many operations the kernels of a run had, by its CSV; 0: it has none."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith("bench,")), len(lines))
    return sum(int(row["ops"]) for row in csv.DictReader(lines[head:]))


def fault_of(code, seconds, text, median_s, median_ops):
    """Why this end of a run is none that it may have; None: it is one."""
    said = [line for line in text.splitlines() if line.startswith("kernbench: ")]
    if code not in (0, 2, 3, 7) or (code and not said):
        return f"exit {code}: {text.strip()[-300:]}"
    more = max(1, ops_of(text) / max(1, median_ops)) if code == 0 else 1
    if seconds > max(LEAST_S, TIMES * median_s * more):
        return f"{seconds:.3f} s, half of its bench take {median_s:.3f} s and have {median_ops} operations"
    return None


def check_machine(runner, benches, folder, number, sets):
    """Returns the line for FOLDER/done and the failures."""
    machine, failures, runs, refused = machine_of(runner, folder, number), [], 0, 0
    began = time.monotonic()
    for name, arguments in benches.items():
        dice = random.Random(f"{number} {name}")
        ends = []
        for _ in range(sets):
            words = [*words_of(dice, name, arguments), *machine, "--quiet", "--verify", "--format", "csv", "-j", "1"]
            ends.append((words, *runner.run(words)))
            if ends[-1][2] >= MOST_S:
                break
        median_s = statistics.median(end[2] for end in ends)
        median_ops = statistics.median(ops_of(end[3]) for end in ends)
        for words, code, seconds, text in ends:
            fault = fault_of(code, seconds, text, median_s, median_ops)
            runs, refused = runs + 1, refused + (code != 0)
            if fault:
                failures.append(f"{shlex.join(command_of(runner.build, words))}\n    {fault}")
    return f"machine {number}: {runs} runs, {refused} refused, {time.monotonic() - began:.0f} s", failures


def main():
    build, folder = sys.argv[1:3]
    first, last = (int(n) for n in ((sys.argv[3:4] or ["1-50"])[0] + "-0").split("-")[:2])
    sets = int((sys.argv[4:5] or ["200"])[0])
    os.makedirs(folder, exist_ok=True)
    done_path = f"{folder}/done"
    done = set()
    if os.path.exists(done_path):
        with open(done_path, encoding="utf-8") as file:
            done = {line.split(":")[0] for line in file}
    runner, failed = Runner(build), 0
    benches = benches_of(runner)
    numbers = [n for n in range(first, max(first, last) + 1) if f"machine {n}" not in done]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        for line, failures in pool.map(lambda n: check_machine(runner, benches, folder, n, sets), numbers):
            print(line, *failures, sep="\n", flush=True)
            failed += len(failures)
            with open(f"{folder}/failed" if failures else done_path, "a", encoding="utf-8") as file:
                print(line if not failures else "\n".join(failures), file=file)
    print(f"{failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
