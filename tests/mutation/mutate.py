#!/usr/bin/env python3
"""mutate.py -- makes small mistakes in the sources by chance, one at a time, and tells which no test notices.

usage: mutate.py [-n N] [--seed S] [-j JOBS] [--only REGEX] [--tree DIR] [--log FILE] [--map FILE] [--list] [--try FILE:LINE:COLUMN:NEW]

Where tests/break.sh has mistakes that were thought of, this draws them: an operator replaced, a
constant one larger, a condition turned round, a statement left out. All places of gen/ and runtime/
are equally likely. A mutant counts if it compiles to other code than the original, at -Og without -g.
It is *killed* if a test fails or does not end; otherwise it *survives*, and a test is missing, or
the mutant does what the original does. Those that were found to do the same stand in
survivors.txt with the reason, and count neither way.

The tree that is mutated is a copy, in DIR, which is built once. A mutant in a .c compiles its objects and
links a test when its turn comes, by the commands that make has for them (recipes.py); a mutant in a header
rebuilds what make says. A mutant meets the tests that call its function, as the map of the last
`make coverage` has them (tests/coverage/reach.py), those of its file's own folder first, NEAR, then the
quickest; without a map, or of a source that has changed since, all. In a first round it meets NEAR_SECONDS
of them; those that are left meet the others in a second one. The first test that fails ends it; a test
that takes PATIENCE times as long as without a mistake fails. Random tests run SEEDS machines. Scripts
that take long are left out: SLOW.

  -n N          how many mutants that count (default 300)
  --seed S      of the drawing (default 1); the same seed draws the same mutants in the same tree
  -j JOBS       how many mutants at a time, each in a tree of its own: DIR, DIR.1, ... (default 1)
  --only REGEX  places whose FILE matches
  --tree DIR    default build/mutate; kept, and brought up to date at the next run
  --log FILE    a line of each verdict; what it has already is not tried again
  --map FILE    which test calls which function
  --list        only print the mutants that would be tried
  --try PLACE   only this one

Ends with 1 if fewer than 95 % are killed.
"""

import argparse
import glob
import hashlib
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import threading
import time

from recipes import Recipes

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = "-Og -DNDEBUG"  # without -g, so that equal code has equal objects
MACHINES = ["machine-cube8", "machine-tray32"]
PROGRAMS = ["broken", "hostile", "talking", "judge", "any_simulator"]
# What a script needs beside the simulator of cube8, by what it says.
NEEDS = {r"/tray32\b|\btray32\b": "machine-tray32", r"\bcube1\b": "machine-cube1", r"SIM_FIFO": "machine-tests/vectors/cube8_fifo.yaml",
         r"M/server8": "machine-tests/machines/server8.yaml", r"M/components/": "machine-tests/machines/components.yaml",
         r"M/queues": "machine-tests/machines/queues.yaml", r"\bodd\b": "machine-tests/support/odd.yaml", r"_m/interleaved": "machine-tests/support/interleaved.yaml",
         r"KBGEN|kbgen": "build/kbgen", r"B/kernbench": "build/kernbench", r"tests/vectors/\*": "vector-machines",
         r"B/cube8/": "shipped-cube8", r"_t/libs": "build/_t/libs"}
LIMIT = 0.95
SEEDS = "40"
CPU_SECONDS, WALL_SECONDS, MEMORY = 120, 600, 8 << 30
NEAR_SECONDS, BATCH = 20, 4
PATIENCE, LEAST_SECONDS = 5, 10  # of CPU time, of which a busy machine takes nothing away

# Not run by chance mistakes: what builds all again, waits, or only looks at sources and documents.
SLOW = {"folders", "install", "docs", "peers", "kill", "killed_make", "lines", "stops", "terminal",
        "failures", "kbgen_nomem", "co_gdb", "locale", "numpy", "machine", "validate"}
SLOW_UNITS = {"co_arch", "steady", "scale"}

# Seconds of tests that take longer than one, and of scripts that take less than six.
LONG = {"random": 11, "collectives": 10, "watch": 5, "watch_kernel": 5, "kernel_random": 5, "flow": 5, "gemm": 7, "traffic": 6,
        "memory": 5, "reference_product": 4, "oplog": 4, "kernel_no_memory": 3, "routes": 3, "judge_kernel": 2,
        "report": 10, "view": 10, "trace": 10, "results": 9, "sweep": 9, "benches": 1, "deadlock": 1, "inspect": 3, "race": 2,
        "notes": 1, "knockout": 1, "stats": 2, "talking": 1, "vectors": 1, "why": 3, "generated": 4, "split": 2, "shells": 2, "bykey": 2, "vary": 2}
# The unit tests that call functions of the command line: those of tests/unit/cli, and these.
OF_CLI = {"test_trace", "test_collectives"}

# Binary operators have blanks on both sides, as clang-format writes them; pointers have not.
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=",
}
STEPS = {"++": "--", "--": "++"}
DECLARES = re.compile(r"\s*(?:(?:const|static|struct|enum|unsigned|long|extern|typedef|union)\b"
                      r"|[a-z_0-9]+(?:_t)?\s+\**[a-z_0-9]+(?:\[[^]]*\])?\s*(?:=|;|,))")
STATEMENT = re.compile(r"\s+[A-Za-z_*(+-].*;\s*$")
KEEPS = re.compile(r"\s*(?:return|break|continue|goto|case|default|else|do|for|while|if|va_\w+|assert|_Static_assert)\b")


class Mutant:
    """Text `old` at `column` of `line` (both from 1) of `path` becomes `new`."""

    def __init__(self, path, line, column, old, new):
        self.path, self.line, self.column, self.old, self.new = path, line, column, old, new

    def name(self):
        return "%s:%d:%d: '%s' -> '%s'" % (self.path, self.line, self.column, self.old, self.new)

    def apply(self, tree):
        full = os.path.join(tree, self.path)
        with open(full) as f:
            lines = f.read().split("\n")
        text, at = lines[self.line - 1], self.column - 1
        assert text[at:at + len(self.old)] == self.old, self.name()
        lines[self.line - 1] = text[:at] + self.new + text[at + len(self.old):]
        with open(full, "w") as f:
            f.write("\n".join(lines))


def blank(text):
    """The source with comments, strings and preprocessor lines replaced by blanks, of equal length."""
    def same_length(match):
        return re.sub(r"[^\n]", " ", match.group())

    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', same_length, text,
                  flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", same_length, text, flags=re.M)


def conditions(line):
    """Where the conditions of `if (...)` on this line are, whole."""
    for match in re.finditer(r"\bif \(", line):
        depth, at = 1, match.end()
        while at < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[at], 0)
            at += 1
        if not depth:
            yield match.end(), at - 1


def of_line(path, number, before, line, source):
    """All mutants of one line; `line` is blanked, `source` is as written."""
    def one(at, old, new):
        return Mutant(path, number, at + 1, old, new)

    for match in re.finditer(r"(?<= )(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|<>]|[-+|&]=)(?= )", line):
        yield one(match.start(), match.group(), OPERATORS[match.group()])
    for match in re.finditer(r"\+\+|--", line):
        yield one(match.start(), match.group(), STEPS[match.group()])
    for match in re.finditer(r"(?<![\w.])(\d+)(?=[uUlL]*(?![\w.xX]))", line):
        yield one(match.start(), match.group(), str(int(match.group()) + 1))
    for match in re.finditer(r"\b(true|false)\b", line):
        yield one(match.start(), match.group(), "false" if match.group() == "true" else "true")
    for start, end in conditions(line):
        yield one(start, source[start:end], "!(%s)" % source[start:end])
    if (STATEMENT.match(line) and not DECLARES.match(line) and not KEEPS.match(line)
            and re.search(r"[;{}:)]\s*$|else\s*$|^\s*$", before)
            and line.count("(") == line.count(")")):
        start = len(line) - len(line.lstrip())
        yield one(start, source[start:].rstrip(), ";")


def all_mutants(only):
    files = subprocess.run(["git", "ls-files", "gen/*.[ch]", "runtime/**.[ch]"], cwd=TREE,
                           capture_output=True, text=True, check=True).stdout.split()
    for path in sorted(files):
        if not re.search(only, path):
            continue
        with open(os.path.join(TREE, path)) as f:
            source = f.read()
        lines, before = blank(source).split("\n"), ""
        for number, (line, written) in enumerate(zip(lines, source.split("\n")), 1):
            if not before.endswith("\\"):
                yield from of_line(path, number, before, line, written)
            if line.strip():
                before = line


# The tests of each folder, the quickest of those that know it best first.
NEAR = {
    "gen": ["load", "routes", "formula", "generated", "random", "kbgen_bad", "vectors"],
    "base": ["text", "percentiles", "lists", "cell", "load"],
    "engine": ["sim", "ev", "dependencies", "traffic", "random", "flow", "kernel_random"],
    "network": ["sim", "formula", "random", "flow", "kernel_random"],
    "machine": ["endpoint", "routes", "formula", "components", "random", "sim"],
    "pe": ["kernel", "pe_ipcq", "kernel_random"],
    "kernels": ["wakes", "kernel", "tl", "launch", "barrier", "deadlock", "pe_ipcq", "kernel_random", "kernel_memory"],
    "data": ["mem", "host", "convert", "npy", "kernel_memory", "kernel"],
    "record": ["oplog", "race", "race_random", "kernel"],
    "phase2": ["exec", "gemm", "math", "reference_product", "kernel", "exec_memory", "benches"],
    "explain": ["watch", "watch_kernel", "flow", "inspect", "why", "stats"],
    "sim": ["sim", "sweep", "bench", "traffic", "null", "random", "host", "oplog", "threads"],
    "trace": ["trace", "talking", "stats"], "report": ["report"], "view": ["view", "shapes"], "diff": ["number", "results"],
    "rows": ["guard", "why", "stats", "race", "deadlock", "inspect", "notes", "knockout"],
    "in": ["lists", "load", "cli", "sweep"], "why": ["knockout", "bykey"], "vary": ["vary"], "study": ["study"],
    "out": ["cell", "cli", "results", "hostile", "notes"], "options": ["cli", "shells"],
    "cli": ["cli", "shells", "sweep", "load", "run", "knockout"],
}


class Reach:
    """Which tests call the function of a line."""

    def __init__(self, path):
        self.sources, self.known = {}, set()
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                reached = json.load(f)
            self.sources, self.known = reached["sources"], set(reached["tests"])

    def tests(self, mutant, all_tests):
        """Of all tests those that may notice it."""
        file = self.sources.get(mutant.path)
        with open(os.path.join(TREE, mutant.path), "rb") as f:
            if not file or file["sum"] != hashlib.sha1(f.read()).hexdigest():
                return all_tests
        around = [tests for first, last, tests in file["functions"] if first <= mutant.line <= last]
        called = set().union(*around)
        return [t for t in all_tests if not around or t in called or t not in self.known]


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Tree:
    """A copy of the sources, built, in which one mutant after the other is put."""

    met = {}  # the tests of the first round, by the names of mutants

    def __init__(self, folder):
        self.folder, self.untrusted, self.recipes, self.original, self.of_header = folder, set(), None, None, False
        self.seconds = self.read_seconds()
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TREE, capture_output=True,
                               text=True, check=True).stdout.split("\n")
        for name in filter(None, files):
            self.copy(name)
        self.tests = sorted(f[:-2] for _, _, names in os.walk(os.path.join(folder, "tests/unit"))
                            for f in names if f.startswith("test_") and f[5:-2] not in SLOW_UNITS)
        self.units_of_cli = {f[:-2] for f in os.listdir(os.path.join(folder, "tests/unit/cli"))}
        self.tests += sorted(f for f in os.listdir(os.path.join(folder, "tests/e2e"))
                             if f.endswith(".sh") and f[:-3] not in SLOW)
        self.tests += sorted("corpus_" + f[5:-2] for f in os.listdir(os.path.join(folder, "tests/fuzz"))
                             if f.startswith("fuzz_") and f.endswith(".c"))

    def read_seconds(self):
        """What tests took that have passed, here or in an earlier run."""
        try:
            with open(self.folder + ".seconds", encoding="utf-8") as f:
                return json.load(f)
        except OSError:
            return {}

    def keep_seconds(self):
        with open(self.folder + ".seconds", "w", encoding="utf-8") as f:
            json.dump(self.seconds, f)

    def copy(self, name):
        """Brings a file up to date; its time changes only if its text does."""
        source, target = os.path.join(TREE, name), os.path.join(self.folder, name)
        if not os.path.isfile(source):
            return
        if os.path.exists(target):
            with open(source, "rb") as a, open(target, "rb") as b:
                if a.read() == b.read():
                    return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)

    def ask_make(self, *words):
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        return subprocess.run(["make", "CFLAGS=" + FLAGS, *words], cwd=self.folder, env=env, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL)

    def make(self, *goals):
        return self.ask_make("-s", *goals).returncode == 0

    def build_all(self):
        """What mutants begin from: all tests, and all machines that scripts need."""
        programs = ["build/_t/" + t for t in self.tests + PROGRAMS if not t.endswith(".sh")]
        machines = sorted({goal for goal in [*MACHINES, *NEEDS.values()] if not goal.startswith("build/")})
        good = self.build() and self.make(*machines) and self.make("build/kernbench", "build/_t/libs", *programs)
        said = self.ask_make("-Bn", "V=1", "build/kbgen", "build/kernbench", *programs)
        self.recipes, self.original = Recipes(self.folder, said.stdout), self.code()
        return good and said.returncode == 0

    def build(self):
        """What a mistake in a header changes."""
        return self.make("build/libkernbench.a", "build/libkernbench-cli.a", "build/kbgen", "build/_t/libgen.a") and self.make(*MACHINES)

    def code(self):
        """A hash of all that was compiled."""
        digest = hashlib.sha256()
        for part in ("kbgen", "_t/libgen.a", "libkernbench.a", "libkernbench-cli.a", "_m/cube8/libcube8.a"):
            with open(os.path.join(self.folder, "build", part), "rb") as f:
                digest.update(f.read())
        return digest.hexdigest()

    def expected(self, test):
        usual = LONG.get(re.sub(r"^test_|\.sh$", "", test), 6 if test.endswith(".sh") else 1)
        return max(usual, self.seconds.get(test, 0))

    def order(self, mutant, reach):
        """The tests for it, those that are likely to notice first; and how many of them come in the first round."""
        stem = os.path.basename(mutant.path).split(".")[0]
        first = [stem, stem.split("_")[-1]] + NEAR.get(os.path.basename(os.path.dirname(mutant.path)), [])
        of_cli = mutant.path.startswith("runtime/cli/")
        some = [t for t in reach.tests(mutant, self.tests) if t not in self.untrusted and not (
            of_cli and t.startswith("test_") and t not in OF_CLI | self.units_of_cli)]

        def key(test):
            name = re.sub(r"^(test|corpus)_|\.sh$", "", test)
            if name in first:
                return (first.index(name) + 1) * self.expected(test)
            return 10 + 5 * self.expected(test) + (0 if test in reach.known else 40)
        tests, seconds = sorted(some, key=key), 0
        near = [t for t in tests if not t.endswith(".sh") or t[:-3] in first or t in reach.known]
        for i, test in enumerate(near):
            seconds += self.expected(test)
            if seconds > NEAR_SECONDS and i:
                near = near[:i]
                break
        return near + [t for t in tests if t not in near], len(near)

    def needs(self, tests):
        goals = {"build/_t/" + t for t in tests if not t.endswith(".sh")}
        for script in (t for t in tests if t.endswith(".sh")):
            with open(os.path.join(self.folder, "tests/e2e", script), encoding="utf-8", errors="replace") as f:
                text = f.read()
            goals |= {"machine-cube8"} | {goal for what, goal in NEEDS.items() if re.search(what, text)}
            goals |= {"build/_t/" + p for p in re.findall(r"\b_t/(broken|hostile|talking|judge|any_simulator)", text)}
        return sorted(goals)

    def prepare(self, tests, path):
        """Builds what these need."""
        goals = self.needs(tests)
        if not path.endswith(".c"):
            return not goals or self.make(*goals)
        return all(self.make_one(goal, path) for goal in goals)

    def make_one(self, goal, path):
        """By the command that make has for it."""
        if goal.startswith("build/"):
            return self.recipes.link(goal) if self.recipes.has(goal) and goal != "build/kbgen" else True
        yamls = glob.glob(self.folder + "/tests/vectors/*.yaml") if goal == "vector-machines" else [goal.split("-", 1)[1]]
        return all(self.machine(yaml, "build" if goal.startswith("shipped") else "build/_m", path) for yaml in yamls)

    def machine(self, yaml, place, path):
        name = os.path.basename(yaml).removesuffix(".yaml")
        return (not path.startswith("gen/") or self.recipes.generate(place, name, self.make)) and self.recipes.machine(place, name)

    def passes(self, test):
        env = dict(os.environ, B="build", CC="gcc", KBGEN="build/kbgen", SIM="build/_m/cube8/cube8", JOBS="1",
                   SIM_FIFO="build/_m/cube8_fifo/cube8_fifo", KB_SEEDS=SEEDS, CMOCKA_MESSAGE_OUTPUT="TAP")
        env = {k: v for k, v in env.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        command = ["bash", "tests/e2e/" + test] if test.endswith(".sh") else ["build/_t/" + test]
        seconds = min(CPU_SECONDS, max(LEAST_SECONDS, int(PATIENCE * self.seconds.get(test, CPU_SECONDS))))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", preexec_fn=lambda: limit(seconds), timeout=WALL_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired:
            return False
        good = done.returncode == 0 and not re.search(r"^not ok (?!.*# SKIP)", done.stdout, re.M)
        if good:
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.seconds[test] = max(self.seconds.get(test, 0), used)
        return good

    def verdict(self, mutant, near, reach):
        """'killed by TEST'; 'SURVIVED', or 'open' after the near tests; 'same code' if it does not count."""
        try:
            mutant.apply(self.folder)
            if not self.rebuild(mutant):
                return "same code, or none"
            tests, n_near = self.order(mutant, reach)
            if near:
                self.met[mutant.name()] = tests[:n_near]
            met = self.met.get(mutant.name(), [])
            for test in self.batches(met if near else [t for t in tests if t not in met], mutant.path):
                if not test:
                    return "killed by make"
                if not self.passes(test) and (test in self.seconds or self.passes_without(mutant, test)):
                    return "killed by " + test
            return "open" if near and len(met) < len(tests) else "SURVIVED"
        finally:
            self.restore(mutant)

    def rebuild(self, mutant):
        """Does it compile to other code than the original?"""
        if mutant.path.endswith(".c"):
            if self.of_header:
                self.of_header = not self.build_all()
            return self.recipes.compile(mutant.path) == "made"
        self.of_header = True
        return self.build() and self.code() != self.original

    def batches(self, tests, path):
        """Each of them once it is built; None if it cannot be."""
        at = 0
        while at < len(tests):
            n = 1 if tests[at].endswith(".sh") or path.endswith(".c") else BATCH
            if not self.prepare(tests[at:at + n], path):
                yield None
            yield from tests[at:at + n]
            at += n

    def restore(self, mutant):
        """Puts the source back: a .c as if nothing had been, a header as changed once more."""
        self.recipes.restore()
        copy = shutil.copy2 if mutant.path.endswith(".c") else shutil.copy
        copy(os.path.join(TREE, mutant.path), os.path.join(self.folder, mutant.path))

    def passes_without(self, mutant, test):
        """Does a test that has never passed here do so without the mutant? If not it is left out."""
        self.restore(mutant)
        if not mutant.path.endswith(".c"):
            self.build()
        good = self.prepare([test], mutant.path) and self.passes(test)
        self.recipes.restore()
        if not good:
            self.untrusted.add(test)
            print("left out, as it fails without a mistake: " + test, flush=True)
        mutant.apply(self.folder)
        self.rebuild(mutant)
        self.prepare([test], mutant.path)
        return good


def known_survivors():
    """(file, line, line instead) -> reason, of survivors.txt: four fields with tabs between them."""
    known = {}
    with open(os.path.join(TREE, "tests/mutation/survivors.txt"), encoding="utf-8") as f:
        for row in f:
            if row.strip() and not row.startswith("#"):
                path, line, new, reason = row.rstrip("\n").split("\t")
                known[path, line, new] = reason
    return known


def key_of(mutant):
    with open(os.path.join(TREE, mutant.path), encoding="utf-8") as f:
        line = f.read().split("\n")[mutant.line - 1]
    at = mutant.column - 1
    return mutant.path, line.strip(), (line[:at] + mutant.new + line[at + len(mutant.old):]).strip()


def read_log(path):
    """Verdicts of an earlier run: name -> verdict."""
    verdicts = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for row in f:
                fields = row.rstrip("\n").split("\t")
                if len(fields) == 3:
                    verdicts[fields[0]] = fields[1]
    return verdicts


class Trial:
    """Judges mutants, several at a time: a thread has a tree."""

    def __init__(self, trees, log, reach):
        self.trees, self.log, self.reach, self.lock = trees, log, reach, threading.Lock()
        self.known, self.verdicts = known_survivors(), read_log(log)
        self.counts = {"killed": 0, "SURVIVED": 0, "open": 0, "known": 0, "same": 0}

    def judge(self, tree, mutant, near):
        start, verdict = time.time(), self.verdicts.get(mutant.name(), "open")
        if key_of(mutant) in self.known:
            verdict = "known"
        elif verdict == "open" and not (near and mutant.name() in self.verdicts):
            verdict = tree.verdict(mutant, near, self.reach)
            tree.keep_seconds()
            self.tell("%s\t%s\t%.0f s" % (mutant.name(), verdict, time.time() - start))
        with self.lock:
            self.verdicts[mutant.name()] = verdict
            self.counts[verdict.split()[0]] += 1
            if sum(self.counts.values()) % 10 == 0:
                print("so far: %s" % self.counts, flush=True)

    def tell(self, line):
        with self.lock:
            print(line, flush=True)
            if self.log:
                with open(self.log, "a", encoding="utf-8") as f:
                    f.write(line + "\n")

    def counted(self):
        return sum(n for verdict, n in self.counts.items() if verdict != "same")

    def round(self, mutants, near, most):
        """Judges mutants in their order until `most` count; gives those that it has judged."""
        rest, judged = iter(mutants), []

        def work(tree):
            while True:
                with self.lock:
                    mutant = next(rest, None) if self.counted() < most else None
                    if not mutant:
                        return
                    judged.append(mutant)
                self.judge(tree, mutant, near)

        threads = [threading.Thread(target=work, args=(tree,)) for tree in self.trees]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return judged


def trees_at(folder, n):
    trees = [Tree(os.path.abspath(folder) + (".%d" % i if i else "")) for i in range(n)]
    for tree in trees:
        if not tree.build_all():
            sys.exit("the tree does not build")
    return trees


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--only", default=".")
    parser.add_argument("--tree", default=os.path.join(TREE, "build/mutate"))
    parser.add_argument("--log")
    parser.add_argument("--map")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--try", dest="one")
    args = parser.parse_args()

    mutants = list(all_mutants(args.only))
    random.Random(args.seed).shuffle(mutants)
    if args.one:
        mutants = [m for m in mutants if "%s:%d:%d:%s" % (m.path, m.line, m.column, m.new) == args.one]
    if args.list:
        print("\n".join(m.name() for m in mutants[:args.n]))
        return 0
    trial = Trial(trees_at(args.tree, args.j), args.log, Reach(args.map))
    judged = trial.round(mutants, True, args.n)
    left = [m for m in judged if trial.verdicts[m.name()] == "open"]
    trial.counts["open"] = 0
    trial.round(left, False, len(mutants))
    for mutant in left:
        if trial.verdicts[mutant.name()] == "SURVIVED":
            print("survivor\t" + "\t".join(key_of(mutant)))
    killed, known, same = (trial.counts[verdict] for verdict in ("killed", "known", "same"))
    tried = killed + trial.counts["SURVIVED"]
    print("%d of %d killed, %.1f %%; %d more do what the original does, for reasons in survivors.txt; %d are the same code"
          % (killed, tried, 100.0 * killed / max(tried, 1), known, same))
    return killed < LIMIT * tried


if __name__ == "__main__":
    sys.exit(main())
