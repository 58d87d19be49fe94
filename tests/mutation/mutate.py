#!/usr/bin/env python3
"""mutate.py -- makes small mistakes in the sources by chance, one at a time, and tells which no test notices.

usage: mutate.py [-n N] [--seed S] [-j JOBS] [--only REGEX] [--tree DIR] [--log FILE] [--list] [--try FILE:LINE:COLUMN:NEW]

Where tests/break.sh has mistakes that were thought of, this draws them: an operator replaced, a
constant one larger, a condition turned round, a statement left out. All places of gen/ and runtime/
are equally likely. A mutant counts if it compiles to other code than the original, at -O1 without -g.
It is *killed* if a test fails or does not end; otherwise it *survives*, and a test is missing, or
the mutant does what the original does. Those that were found to do the same stand in
survivors.txt with the reason, and count neither way.

The tree that is mutated is a copy, in DIR, which is built once; a mutant rebuilds what make says. Of a
.c of the core or the generator that is its object alone, which unit tests are linked with, before the
archives. Such a mutant meets unit tests first; what they leave meets scripts.
In a first round each mutant meets the tests of its file's own folder, NEAR; those that are left
meet all other unit tests and scripts in a second one. The first test that fails ends it; a test that
takes PATIENCE times as long as without a mistake fails. Random tests run SEEDS machines. Scripts that
take long are left out: SLOW.

  -n N          how many mutants that count (default 300)
  --seed S      of the drawing (default 1); the same seed draws the same mutants in the same tree
  -j JOBS       how many mutants at a time, each in a tree of its own: DIR, DIR.1, ... (default 1)
  --only REGEX  places whose FILE matches
  --tree DIR    default build/mutate; kept, and brought up to date at the next run
  --log FILE    a line of each verdict; what it has already is not tried again
  --list        only print the mutants that would be tried
  --try PLACE   only this one

Ends with 1 if fewer than 95 % are killed.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import threading
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = "-O1 -DNDEBUG"  # without -g, so that equal code has equal objects
MACHINES = ["machine-cube8", "machine-tray32"]
MORE_MACHINES = ["machine-cube1", "machine-tests/support/odd.yaml", "machine-tests/vectors/cube8_fifo.yaml"]
LIMIT = 0.95
SEEDS = "60"
CPU_SECONDS, WALL_SECONDS, MEMORY = 120, 1800, 8 << 30
PATIENCE, LEAST_SECONDS = 5, 10  # of CPU time, of which a busy machine takes nothing away

# Not run by chance mistakes: what builds all again, waits, or only looks at sources and documents.
SLOW = {"generated", "install", "docs", "study", "peers", "kill", "killed_make", "lines", "stops", "terminal",
        "failures", "kbgen_nomem", "co_gdb", "locale", "numpy"}
SLOW_UNITS = {"co_arch", "steady", "scale"}

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
    "gen": ["load", "routes", "formula", "random", "kbgen_bad", "vectors"],
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
    "trace": ["trace"], "report": ["report"], "view": ["view"], "diff": ["number", "results"],
    "rows": ["why", "stats", "race", "deadlock", "inspect", "guard"], "in": ["lists", "cli", "load", "sweep"],
    "out": ["cell", "cli", "results", "hostile"], "options": ["cli", "shells"],
    "cli": ["cli", "shells", "sweep", "load", "run", "knockout"],
}


def tests_of(path, units, scripts, near):
    """(name, is a script) in the order in which they are run for a mutant of `path`: the near ones, or the others."""
    stem = os.path.basename(path).split(".")[0]
    first = [name for name in units + scripts if name in (stem, stem.split("_")[-1])]
    first += NEAR.get(os.path.basename(os.path.dirname(path)), [])
    every = [(unit, False) for unit in units] + [(script, True) for script in scripts]
    if not near:
        return [test for test in every if test[0] not in first]
    return sorted((test for test in every if test[0] in first), key=lambda test: first.index(test[0]))


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Tree:
    """A copy of the sources, built, in which one mutant after the other is put."""

    def __init__(self, folder):
        self.folder, self.seconds, self.untrusted = folder, {}, set()  # CPU seconds of tests that have passed
        self.commands, self.ready = {}, set()  # of make, by target; unit tests that are built
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TREE, capture_output=True,
                               text=True, check=True).stdout.split("\n")
        for name in filter(None, files):
            self.copy(name)
        self.units = sorted(f[5:-2] for _, _, names in os.walk(os.path.join(folder, "tests/unit"))
                            for f in names if f.startswith("test_") and f[5:-2] not in SLOW_UNITS)
        self.scripts = sorted(f[:-3] for f in os.listdir(os.path.join(folder, "tests/e2e"))
                              if f.endswith(".sh") and f[:-3] not in SLOW)

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

    def make(self, *goals):
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        return subprocess.run(["make", "-s", "CFLAGS=" + FLAGS, *goals], cwd=self.folder, env=env, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL).returncode == 0

    def build(self, path=""):
        """What a mistake in `path` changes: a .c of the runtime no topology, one of gen/ no library."""
        libraries = ["build/libkernbench.a", "build/libkernbench-cli.a"]
        generator = ["build/kbgen", "build/_t/libgen.a"]
        if path.endswith(".c"):
            return self.make(*(generator if path.startswith("gen/") else libraries))
        return self.make(*libraries, *generator) and self.make(*MACHINES)

    def says(self, target, changed):
        """What make would run for a target, if `changed` were new."""
        if target not in self.commands:
            env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
            self.commands[target] = subprocess.run(
                ["make", "-n", "V=1", "CFLAGS=" + FLAGS, "-W", changed, target], cwd=self.folder, env=env,
                capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
        return self.commands[target]

    def shell(self, text):
        return subprocess.run(["sh", "-ec", text], cwd=self.folder, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL).returncode == 0

    def object_of(self, path):
        """The object of a .c of the core or the generator; kernels.c includes some."""
        if not path.endswith(".c") or path.startswith("runtime/cli/") or path in ("gen/main.c", "gen/options.c"):
            return None
        name = "build/_o/%s.o" % path[:-2]
        whole = "build/_o/runtime/kernels/kernels.o"
        if os.path.exists(os.path.join(self.folder, name)):
            return name
        return whole if path.startswith(("runtime/kernels/", "runtime/pe/")) else None

    def compiles(self, mutant, name):
        """Makes the object of a mutant; is it another one?"""
        at = os.path.join(self.folder, name)
        with open(at, "rb") as f:
            before = f.read()
        done = self.shell(self.says(name, mutant.path))
        with open(at, "rb") as f:
            after = f.read()
        return done and before != after, before

    def links(self, test, name):
        """Links a unit test with an object, before the archive that has the original."""
        target = "build/_t/test_" + test
        if test not in self.ready and not self.make(target):
            return False
        self.ready.add(test)
        text = self.says(target, "build/libkernbench.a")
        archive = " build/_t/libgen.a" if name.startswith("build/_o/gen/") else " build/libkernbench.a"
        return self.shell(text.replace(archive, " " + name + archive, 1))

    def quick_verdict(self, mutant, name, near):
        """As verdict(), of unit tests alone, which are linked with its object."""
        mutant.apply(self.folder)
        other, before = self.compiles(mutant, name)
        try:
            if not other:
                return "same code, or none"
            for test, is_script in tests_of(mutant.path, self.units, self.scripts, near):
                if is_script or test in self.untrusted:
                    continue
                if not self.links(test, name):
                    return "killed by the linker"
                if not self.passes(test, False) and (test in self.seconds or self.is_good(test, name, before)):
                    return "killed by " + test
            return "open"
        finally:
            self.restore(mutant)
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(before)

    def is_good(self, test, name, before):
        """Does a test that has not passed yet do so without the mutant? If not it is left out."""
        at = os.path.join(self.folder, name)
        with open(at, "rb") as f:
            mutated = f.read()
        with open(at, "wb") as f:
            f.write(before)
        good = self.links(test, name) and self.passes(test, False)
        if not good:
            self.untrusted.add(test)
            print("left out, as it fails without a mistake: " + test, flush=True)
        with open(at, "wb") as f:
            f.write(mutated)
        return good

    def code(self):
        """A hash of all that was compiled."""
        digest = hashlib.sha256()
        for part in ("kbgen", "_t/libgen.a", "libkernbench.a", "libkernbench-cli.a", "_m/cube8/libcube8.a"):
            with open(os.path.join(self.folder, "build", part), "rb") as f:
                digest.update(f.read())
        return digest.hexdigest()

    def prepare(self, tests):
        """Builds what these need, at once."""
        goals = ["build/_t/test_" + name for name, is_script in tests if not is_script]
        if any(is_script for _, is_script in tests):
            goals += MACHINES + MORE_MACHINES + ["build/_t/" + p for p in ("judge", "broken", "talking", "hostile")]
        return not goals or self.make(*goals)

    def passes(self, name, is_script):
        env = dict(os.environ, B="build", CC="gcc", KBGEN="build/kbgen", SIM="build/_m/cube8/cube8", JOBS="1",
                   SIM_FIFO="build/_m/cube8_fifo/cube8_fifo", KB_SEEDS=SEEDS, CMOCKA_MESSAGE_OUTPUT="TAP")
        env = {k: v for k, v in env.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        command = ["bash", "tests/e2e/%s.sh" % name] if is_script else ["build/_t/test_" + name]
        seconds = min(CPU_SECONDS, max(LEAST_SECONDS, int(PATIENCE * self.seconds.get(name, CPU_SECONDS))))
        started = time.time()
        try:
            done = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", preexec_fn=lambda: limit(seconds), timeout=WALL_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired:
            return False
        good = done.returncode == 0 and not re.search(r"^not ok (?!.*# SKIP)", done.stdout, re.M)
        if good:
            self.seconds[name] = max(self.seconds.get(name, 0), time.time() - started)
        return good

    def verdict(self, mutant, near):
        """'killed by TEST'; 'SURVIVED', or 'open' after the near tests; 'same code' if it does not count."""
        name = self.object_of(mutant.path)
        if name:
            verdict = self.quick_verdict(mutant, name, near)
            if verdict != "open" or near:
                return verdict
        try:
            mutant.apply(self.folder)
            if not self.build(mutant.path) or self.code() == self.original:
                return "same code, or none"
            tests = [t for t in tests_of(mutant.path, self.units, self.scripts, near) if t[0] not in self.untrusted]
            for of_scripts in (False, True):
                some = [t for t in tests if t[1] == of_scripts]
                if some and not self.prepare(some):
                    return "killed by make"
                for name, is_script in some:
                    if not self.passes(name, is_script) and (name in self.seconds or self.passes_without(mutant, name, is_script)):
                        return "killed by " + name
            return "open" if near else "SURVIVED"
        finally:
            self.restore(mutant)

    def restore(self, mutant):
        shutil.copy(os.path.join(TREE, mutant.path), os.path.join(self.folder, mutant.path))

    def passes_without(self, mutant, name, is_script):
        """Does a test that has never passed here do so without the mutant? If not it is left out."""
        self.restore(mutant)
        good = self.build(mutant.path) and self.prepare([(name, is_script)]) and self.passes(name, is_script)
        if not good:
            self.untrusted.add(name)
            print("left out, as it fails without a mistake: " + name, flush=True)
        mutant.apply(self.folder)
        self.build(mutant.path)
        self.prepare([(name, is_script)])
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

    def __init__(self, trees, log):
        self.trees, self.log, self.lock = trees, log, threading.Lock()
        self.known, self.verdicts = known_survivors(), read_log(log)
        self.counts = {"killed": 0, "SURVIVED": 0, "open": 0, "known": 0, "same": 0}

    def judge(self, tree, mutant, near):
        start, verdict = time.time(), self.verdicts.get(mutant.name(), "open")
        if key_of(mutant) in self.known:
            verdict = "known"
        elif verdict == "open" and not (near and mutant.name() in self.verdicts):
            verdict = tree.verdict(mutant, near)
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
        if not tree.build():
            sys.exit("the tree does not build")
        tree.original = tree.code()
    return trees


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--only", default=".")
    parser.add_argument("--tree", default=os.path.join(TREE, "build/mutate"))
    parser.add_argument("--log")
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
    trial = Trial(trees_at(args.tree, args.j), args.log)
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
