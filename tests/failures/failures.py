#!/usr/bin/env python3
"""failures.py -- every n-th call of the system fails, over all commands and outputs. TAP on stdout.

usage: failures.py SIM SHIM [--sample N] [-j JOBS] [--case NAME] [--kind KIND]

SIM is the simulator of cube8, SHIM the library of tests/support/failures.c. Each case is a command
line. It runs undisturbed first, which counts its calls; then once for every kind and every n, with
the n-th call failing, and for a thousand allocations with all after it failing, too. What must hold:

  - exit 0 with the same output, byte by byte; or exit 5 and a message on stderr. No signal.
  - a file under a final name is complete, or as it was before; no other file is left, but
    NAME.partial of the commands that keep what was complete before a failure, and runs in a database;
  - with exit 0, no more memory is lost than without a failure.

--sample N takes N calls of each kind, from the first to the last; 1: one by the case's name. Else all.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zlib

KINDS = ["alloc", "open", "read", "write", "close", "rename", "fsync", "mmap", "thread"]
TIMEOUT_S = 60
OLD = "as it was before\n"

ROWS = "issue_ns,op,src,dst,offset,nbytes\n" + "".join(
    f"{i}.5,{'read' if i % 3 else 'write'},c{i % 8}.pe{i % 7},c0.slice{i % 8},0,4K\n" for i in range(40))
STUDY = "commands: [probe --case h2d]\nvary: {cube.noc.bw_gbs: [100, 200]}\n"
MATRIX = "src,dst,weight\nc0.pe0,c0.slice0,1\nc0.pe1,c1.slice3,2\n"

GEMM = "run gemm M=64 N=64 K=64"
SOFTMAX = "run softmax M=8 N=32"
LOAD = "load --pattern uniform --rate 0.2,0.4 --txns 300 --seeds 2 -j 1"
SWEEP = "sweep --src c0.pe[0-2] --dst c*.slice0 --bytes 64,4K -j 1"

# name: command line, and the files that it writes (a name that ends in / is a folder).
CASES = {
    "info": ("info", []),
    "info --config": ("info --config -o o", ["o"]),
    "probe": ("probe", []),
    "probe csv": ("probe --case h2d --format csv -o o", ["o"]),
    "probe sqlite": ("probe --case h2d --sqlite o.db", ["o.db"]),
    "route": ("route host c3.slice5 -o o", ["o"]),
    "replay csv": ("replay rows.csv -o o", ["o"]),
    "replay json": ("replay rows.csv --format json -o o", ["o"]),
    "replay jsonl": ("replay rows.csv --format jsonl -o o", ["o"]),
    "replay md": ("replay rows.csv --format md -o o", ["o"]),
    "replay table": ("replay rows.csv --format table -o o", ["o"]),
    "replay stdin": ("replay - --format json", []),
    "replay address": ("replay after.csv --engine hop", []),
    "replay breakdown": ("replay rows.csv --breakdown -o o", ["o"]),
    "replay stats csv": ("replay rows.csv --stats s.csv -o o", ["o", "s.csv"]),
    "replay stats json": ("replay rows.csv --stats s.json", ["s.json"]),
    "replay stats db": ("replay rows.csv --stats s.db", ["s.db"]),
    "replay trace": ("replay rows.csv --trace t.json -o o", ["o", "t.json"]),
    "replay pftrace": ("replay rows.csv --trace t.pftrace --trace-filter *.m_cpu*,sip0.cube0.*", ["t.pftrace"]),
    "replay all": ("replay rows.csv --trace t.json --stats s.csv --sqlite o.db --fingerprint -o o",
                   ["o", "t.json", "s.csv", "o.db"]),
    "sweep": (SWEEP + " -o o", ["o"]),
    "sweep table": (SWEEP + " --format table --sqlite o.db", ["o.db"]),
    "sweep threads": (SWEEP.replace("-j 1", "-j 2") + " --format json -o o", ["o"]),
    "load": (LOAD + " -o o", ["o"]),
    "load matrix": ("load --pattern matrix:m.csv --rate 0.2 --txns 200 --seeds 1 -j 1 --format json", []),
    "load breakdown": ("load --pattern local --rate 0.2 --txns 200 --seeds 1 --breakdown --stats s.csv -j 1", ["s.csv"]),
    "load trace": ("load --pattern local --rate 0.2 --txns 100 --seeds 1 --trace t.pftrace -j 1", ["t.pftrace"]),
    "probe banks": ("probe --set cube.hbm.model=banks", []),
    "replay banks": ("replay rows.csv --set cube.hbm.model=banks --stats s.csv -o o", ["o", "s.csv"]),
    "replay routers": ("replay rows.csv --set contention.links=router --trace t.json -o o", ["o", "t.json"]),
    "load banks": (LOAD + " --set cube.hbm.model=banks", []),
    "load routers": (LOAD + " --set contention.links=router -o o", ["o"]),
    "run routers": ("run gemm M=16 N=16 K=16 --set contention.links=router -o o", ["o"]),
    "vary": ("sweep --src c0.pe0 --dst c0.slice* --vary cube.noc.bw_gbs=100,200 -o o -j 1", ["o"]),
    "vary sqlite": ("probe --vary cube.noc.bw_gbs=100,200 --sqlite o.db -j 1", ["o.db"]),
    "vary threads": ("probe --vary cube.noc.bw_gbs=100,200 --format json -o o -j 2", ["o"]),
    "why by key": ("why rows.csv --by key -j 1 -o o", ["o"]),
    "study": ("study in/study.yaml -j 1 -o o", ["o"]),
    "study sqlite": ("study in/study.yaml -j 1 --sqlite o.db", ["o.db"]),
    "report study": ("report study in/study.yaml -j 1 -o o", ["o"]),
    "shard": ("sweep --src c0.pe0 --dst c0.slice* --shard 1/2 -j 1 -o p.csv", ["p.csv.1of2"]),
    "merge": ("merge in/p.csv -o o", ["o"]),
    "fail-if": ("probe --fail-if actual_ns>1000000 -o o", ["o"]),
    "list": ("list --format csv", []),
    "run": (GEMM + " -o o --format json", ["o"]),
    "run verify": (SOFTMAX + " --verify -j 1 -o o", ["o"]),
    "run verify ops": (SOFTMAX + " --verify=ops -j 1", []),
    "run oplog": (SOFTMAX + " --oplog l.csv --oplog-limit 64K", ["l.csv"]),
    "run oplog json": (GEMM + " --oplog l.jsonl --oplog-limit 4K --phase2 on -j 1", ["l.jsonl"]),
    "run dump": (SOFTMAX + " --dump d -j 1", ["d/"]),
    "run inspect": (SOFTMAX + " --inspect last --inspect 0 -j 1", []),
    "run race": ("run gemm M=32 N=32 K=32 --race --sqlite o.db", ["o.db"]),
    "run auto": ("run all_reduce count=64", []),
    "run breakdown": ("run all_reduce count=64 --breakdown -o o", ["o"]),
    "run trace": (SOFTMAX + " --trace t.json --stats s.json -o o", ["o", "t.json", "s.json"]),
    "why": ("why softmax M=8 N=32 -j 1 -o o", ["o"]),
    "why load": ("why load --pattern local --rate 0.1 --txns 200 -j 1 --sqlite o.db", ["o.db"]),
    "why replay": ("why ./rows.csv -j 1 --format json", []),
    "report probe": ("report probe -o o", ["o"]),
    "report run": (f"report {SOFTMAX} --verify -j 1 -o o", ["o"]),
    "report load": ("report " + LOAD + " -o o", ["o"]),
    "report replay": ("report replay rows.csv -o o --stats s.csv", ["o", "s.csv"]),
    "report sweep": ("report " + SWEEP + " -o o", ["o"]),
    "view system": ("view system", []),
    "view sip": ("view sip -o o.svg", ["o.svg"]),
    "view cube": ("view cube -o o.dot", ["o.dot"]),
    "view pe": ("view pe --at c1.pe2", []),
    "view stats": ("view --stats in/stats.csv -o o.svg", ["o.svg"]),
    "diff csv": ("diff in/a.csv in/b.csv --bound 1000000 -o o", ["o"]),
    "diff json": ("diff in/a.json in/b.json --bound 1000000 --format json", []),
    "diff jsonl": ("diff in/a.jsonl in/b.csv --bound 1000000 --columns actual_ns", []),
    "man": ("--man", []),
    "bash": ("--completion bash", []),
    "zsh": ("--completion zsh", []),
    "fish": ("--completion fish", []),
    "help": ("--help", []),
    "help run": ("run --help", []),
    "version": ("--version", []),
    "complete": ("--complete run gemm M=1 --", []),
    "complete endpoint": ("--complete route c0.pe0 c1.s", []),
}

# What runs machine by machine: the rows of those before the failure stay.
KEEPS = ("vary", "study", "report study")

# Inputs that the simulator itself writes.
INPUTS = {
    "in/stats.csv": "replay rows.csv --stats in/stats.csv -o /dev/null",
    "in/run.csv": GEMM + " --format csv -o in/run.csv",
    "in/load.csv": LOAD + " -o in/load.csv",
    "in/a.csv": "replay rows.csv -o in/a.csv",
    "in/b.csv": "replay rows.csv -o in/b.csv --engine hop",
    "in/a.json": "replay rows.csv --format json -o in/a.json",
    "in/b.json": "replay rows.csv --format json -o in/b.json --engine hop",
    "in/a.jsonl": "replay rows.csv --format jsonl -o in/a.jsonl",
    "in/p.csv.1of2": "sweep --src c0.pe0 --dst c0.slice* --shard 1/2 -o in/p.csv",
    "in/p.csv.2of2": "sweep --src c0.pe0 --dst c0.slice* --shard 2/2 -o in/p.csv",
}


def command(sim, line):
    return [sim] + line.split()


def make_inputs(sim, folder):
    os.makedirs(folder + "/in")
    files = {"rows.csv": ROWS, "m.csv": MATRIX, "in/study.yaml": STUDY,
             "after.csv": "issue_ns,op,src,dst,offset,nbytes,after,think_ns\n0,read,c0.pe0,0x0,,64,,\n"
                          "0,write,c0.pe0,c0.slice1,0,64,0,5\n0,h2d,host,c2.slice1,0,4K,0|1,\n"}
    for name, text in files.items():
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)
    for line in INPUTS.values():
        subprocess.run(command(sim, line) + ["--quiet"], cwd=folder, check=True)


def digest(path):
    """What a file says; of a database its rows."""
    if path.endswith(".db"):
        with open(path, "rb") as f:
            if not f.read(16).startswith(b"SQLite"):
                return "no database"
        db = sqlite3.connect(path)
        try:
            return "\n".join(db.iterdump())
        finally:
            db.close()
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def runs_of(text):
    """The rows of a database, as its text, by the number of their run; None: those of no run."""
    runs = {}
    for line in text.split("\n"):
        row = re.match(r'INSERT INTO "?\w+"? VALUES\((\d+,)?', line)
        if row:
            runs.setdefault(row[1], set()).add(line)
    return runs


def is_part(text, whole):
    """Does one database, as its text, hold whole runs of another, and nothing else?"""
    part, runs = runs_of(text), runs_of(whole)
    return part.pop(None, set()) <= runs.get(None, set()) and all(part[run] == runs.get(run) for run in part)


def snapshot(folder):
    """All files below the folder except the inputs: name to what it says."""
    found = {}
    for where, folders, names in os.walk(folder):
        if where == folder and "in" in folders:
            folders.remove("in")
        for name in names:
            path = os.path.join(where, name)
            found[os.path.relpath(path, folder)] = digest(path)
    return found


class Case:
    def __init__(self, args, name, inputs):
        self.args, self.name, self.inputs = args, name, inputs
        self.line, self.outputs = CASES[name]

    def run(self, **env):
        """One run in a folder of its own: (exit code, stdout, stderr, files, counts)."""
        with tempfile.TemporaryDirectory(dir=self.args.work) as folder:
            for name in ("rows.csv", "m.csv", "after.csv", "in"):
                os.symlink(f"{self.inputs}/{name}", f"{folder}/{name}")
            for name in self.outputs:
                if not name.endswith(("/", ".db")):
                    with open(f"{folder}/{name}", "w") as f:
                        f.write(OLD)
            counts = f"{folder}.counts"
            stdin = open(f"{self.inputs}/rows.csv") if " - " in self.line else subprocess.DEVNULL
            try:
                done = subprocess.run(command(self.args.sim, self.line), cwd=folder, stdin=stdin,
                                      capture_output=True, timeout=TIMEOUT_S,
                                      env={**os.environ, "LC_ALL": "C", "LD_PRELOAD": self.args.shim,
                                           "FAIL_COUNTS": counts, **env})
                code, out, err = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired:
                code, out, err = "timeout", b"", b""
            for name in ("rows.csv", "m.csv", "after.csv", "in"):
                os.unlink(f"{folder}/{name}")
            files = snapshot(folder)
            counted = {}
            if os.path.exists(counts):
                with open(counts) as f:
                    counted = {k: int(v) for k, v in (line.split() for line in f)}
                os.unlink(counts)
            return code, out, err, files, counted

    def undisturbed(self):
        self.code, self.out, _, self.files, self.counts = self.run()
        again = self.run()
        if (self.code, self.out, self.files) != again[:2] + (again[3],):
            return "two runs without a failure differ"
        if self.code != 0:
            return f"exit {self.code} without a failure"
        files = sum(not name.endswith(".db") for name in self.outputs)
        return "a file gets its name before it is on the disk" if self.counts["fsync"] < files else None

    def keeps(self, name, says):
        """May this be left by a failure, as what was complete before it?"""
        if not self.name.startswith(KEEPS):
            return False
        return name == "o.partial" or name == "o.db" and is_part(says, self.files[name])

    def judge(self, kind, code, out, err, files, counts):
        """What is wrong with a run of which one call failed; None: nothing."""
        text = err.decode(errors="replace")
        if code == "timeout":
            return "does not end"
        if isinstance(code, int) and code < 0:
            return f"ended by {signal.Signals(-code).name}"
        if code not in (0, 5):
            return f"exit {code}: {text.strip()[:200]}"
        if code == 5 and not any(": " in line for line in text.splitlines()):
            return f"exit 5 without a message: {text.strip()[:200]!r}"
        for name, says in files.items():
            if code == 5 and self.keeps(name, says):
                continue
            if name not in self.files:
                return f"exit {code}, {name} is left"
            was = hashlib.sha256(OLD.encode()).hexdigest()
            if says != self.files[name] and says != was:
                return f"exit {code}, {name} is neither old nor new"
        if code == 0 and out != self.out:
            return f"exit 0 with another stdout, stderr: {text.strip()[:100]!r}"
        if code == 0 and files != self.files:
            differ = sorted(n for n in self.files if self.files[n] != files.get(n))
            return f"exit 0 with another {', '.join(differ)}, stderr: {text.strip()[:100]!r}"
        if code == 0 and counts.get("blocks", 0) > self.counts["blocks"]:
            return f"loses {counts['blocks'] - self.counts['blocks']} blocks of memory"
        return None

    def points(self):
        """(kind, n, after): the failures to try."""
        for kind in self.args.kinds:
            total = self.counts.get(kind, 0)
            size = min(total, self.args.sample or total)
            for i in range(size):
                n = i + 1 if size == total else 1 + self.place(kind, i, size, total)
                yield kind, n, False
                if kind == "alloc" and not self.args.sample and i % (1 + total // 1000) == 0:
                    yield kind, n, True

    def place(self, kind, i, size, total):
        """Of `size` calls of `total`, from 0: from the first to the last; of one alone, any, by the case's name."""
        if size == 1:
            return zlib.crc32(f"{self.name} {kind}".encode()) % total
        return i * (total - 1) // (size - 1)

    def try_point(self, point):
        kind, n, after = point
        env = {"FAIL_KIND": kind, "FAIL_AT": str(n)}
        if after:
            env["FAIL_AFTER"] = "1"
        wrong = self.judge(kind, *self.run(**env))
        return f"{kind} {n}{' and all after it' if after else ''}: {wrong}" if wrong else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sim")
    parser.add_argument("shim")
    parser.add_argument("--sample", type=int)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--case")
    parser.add_argument("--kind")
    args = parser.parse_args()
    args.sim, args.shim = os.path.abspath(args.sim), os.path.abspath(args.shim)
    args.kinds = [args.kind] if args.kind else KINDS
    args.work = tempfile.mkdtemp()
    inputs = args.work + "/inputs"
    args.sim = shutil.copy(args.sim, args.work)
    failed = n_tests = n_runs = 0
    try:
        make_inputs(args.sim, inputs)
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for name in CASES:
                if args.case and args.case != name:
                    continue
                case = Case(args, name, inputs)
                why = case.undisturbed()
                points = [] if why else list(case.points())
                wrong = [why] if why else [w for w in pool.map(case.try_point, points) if w]
                n_tests, n_runs = n_tests + 1, n_runs + len(points)
                failed += bool(wrong)
                print(f"{'not ok' if wrong else 'ok'} {n_tests} - {name}: {len(points)} failures", flush=True)
                for line in wrong[:40]:
                    print(f"# {line}", flush=True)
                if len(wrong) > 40:
                    print(f"# and {len(wrong) - 40} more", flush=True)
    finally:
        shutil.rmtree(args.work)
    print(f"# {n_runs} failures")
    print(f"1..{n_tests}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
