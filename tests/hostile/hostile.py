#!/usr/bin/env python3
"""hostile.py -- texts full of signs through every output and every message of a simulator. Prints TAP.

usage: hostile.py SIMULATOR HOSTILE KBGEN TOPOLOGY; HOSTILE is tests/support/hostile.c, run in an empty folder

Each text is the name of input files, and thereby a word of the command line that results repeat; the
name of output files; an operand, and the value of options; a field of input files; and, with
HOSTILE, the name of kernels and arguments. Whatever it is: every output still parses, has the form
that it has with a plain name, and holds the text; a message is one line without control characters.
"""

import csv
import html.parser
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

TEXTS = {
    "quotes, tags, formats, fields": b"=\"it's\" `x` \\\" $(id) \\</text></title></script><script>alert(1)</script>"
                                     b"<!-- ]]> &amp; &#0;<b title='x' y=\">%n%s%s%d%%%1$s%*d,2;|3\"\",-",
    "newlines, escape sequences": b"a\nb\r\nc\td\033[31m\007\010\177\302\233\033]0;x\007\n",
    "letters, and no UTF-8": "ä€😀\u202e\u2028\ufeff".encode() + b"\377\303(\355\240\200\300\257",
    "4 KB": b"/".join([b"<&'\"," + b"x" * 240] * 15),
}
# The same bytes as SIGNS of tests/support/hostile.c.
SIGNS = b"\"it's\" </title><script>&amp;]]>--\\%n%s,;|\n\r\t\033[31m\302\233\303\244\360\237\230\200\377"
ROWS = b"issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n5,write,c0.pe0,c1.slice0,0,64\n"
TIMELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../trace/timeline.py")

# What a line on a terminal must not have: control characters, of C1 too, and bytes that are no UTF-8.
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")


# What diff shows as a question mark.
CONTROL = re.compile("[\0-\x1f\x7f]")


class Wrong(Exception):
    pass


def need(good, *what):
    if not good:
        raise Wrong(" ".join(str(w)[:300] for w in what))


def decoded(text):
    """As JSON has it: what is no UTF-8 is U+FFFD, of which there may be more than one."""
    return re.sub("\ufffd+", "\ufffd", text.decode("utf-8", "replace"))


def squeezed(text):
    return re.sub("\ufffd+", "\ufffd", text)


def run(program, *words, code=0, given=None):
    """What it printed. Its exit code is as expected; stderr is safe for a terminal."""
    done = subprocess.run([program, *words], input=given, capture_output=True, check=False, timeout=60)
    err = done.stderr.decode("utf-8", "surrogateescape")
    need(done.returncode in (code if isinstance(code, tuple) else (code,)), "exit", done.returncode, words, err)
    need(not UNSAFE.search(err), "on stderr:", repr(err))
    return done.stdout


def message(program, *words, code, given=None, shows=None):
    """One line on stderr, and nothing printed."""
    done = subprocess.run([program, *words], input=given, capture_output=True, check=False, timeout=60)
    err = done.stderr.decode("utf-8", "surrogateescape")
    need(done.returncode == code and not done.stdout, "exit", done.returncode, words, err)
    need(not UNSAFE.search(err) and err.count("\n") == 1 and err.endswith("\n"), "message:", repr(err))
    need(shows is None or shows in err, "the message lacks", shows, ":", repr(err))


# -- forms -------------------------------------------------------------------------------------------

def form_of_csv(data):
    rows = list(csv.reader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline=""), strict=True))
    need(rows and all(len(row) == len(rows[0]) for row in rows), "a row of another width:", rows)
    return len(rows), rows[0]


def form_of_json(data):
    def form(value):
        if isinstance(value, dict):
            return {key: form(v) for key, v in value.items()}
        return [form(v) for v in value] if isinstance(value, list) else type(value).__name__

    return form(json.loads(data.decode()))


def form_of_jsonl(data):
    return [form_of_json(line) for line in data.splitlines()]


def form_of_md(data):
    text = data.decode("utf-8", "surrogateescape")
    need(not UNSAFE.search(text), "in Markdown:", repr(text))
    return [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in text.split("\n")]


def form_of_table(data):
    text = data.decode("utf-8", "surrogateescape")
    need(not UNSAFE.search(text), "in a table:", repr(text))
    return text.count("\n")


def form_of_svg(data):
    return [(e.tag, sorted(e.attrib)) for e in ElementTree.fromstring(data).iter()]


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        self.tags.append("/" + tag)

    def handle_comment(self, data):
        self.tags.append("!")

    def handle_data(self, data):
        self.text.append(data)


def tags_of(data):
    tags = Tags()
    text = data.decode("utf-8", "surrogateescape")
    need(not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\udc80-\udcff]", text), "in HTML:", repr(text[:200]))
    tags.feed(text)
    tags.close()
    return tags


def form_of_html(data):
    return tags_of(data).tags


FORMS = {"csv": form_of_csv, "json": form_of_json, "jsonl": form_of_jsonl, "md": form_of_md,
         "table": form_of_table, "svg": form_of_svg, "html": form_of_html}


def told(command, name):
    """Does a command line, as results repeat it, have this word?"""
    try:
        return decoded(name) in [squeezed(word) for word in shlex.split(command)]
    except ValueError:
        return False


# -- what is tried -----------------------------------------------------------------------------------

def put(name, data):
    """A file of that name, with the folders that its slashes ask for."""
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


class Test:
    def __init__(self, sim, hostile, kbgen, topology):
        self.sim, self.hostile, self.kbgen, self.topology = sim, hostile, kbgen, topology
        self.n = self.failed = 0
        self.forms = {}  # of plain names, by output and command
        self.load = run(sim, b"load", b"--pattern", b"uniform", b"--rate", b"0.1,0.2", b"--txns", b"500", b"--quiet")
        self.stats = self.one(b"stats.csv", b"replay", b"plain.csv", b"--stats", b"stats.csv")

    def one(self, out, *words):
        put(b"plain.csv", ROWS)
        run(self.sim, *words, b"--quiet")
        with open(out, "rb") as f:
            return f.read()

    def check(self, what, function, *args):
        self.n += 1
        try:
            function(*args)
            print("ok %d - %s" % (self.n, what))
        except Exception as why:  # whatever a parser says is a failure
            self.failed += 1
            print("not ok %d - %s\n# %s: %s" % (self.n, what, type(why).__name__, repr(str(why))))

    # Each output of a command on a file of this name has the form that it has of a plain name.

    def same_form(self, name, data, out, *command):
        """`command` has FILE for the name. Returns what was printed for it."""
        key, printed = (out, command), {}
        for file in [name] if key in self.forms else [b"plain.csv", name]:
            put(file, data)
            printed = run(self.sim, *(file if w == b"FILE" else w for w in command))
            form = FORMS[out](printed)
            need(form == self.forms.setdefault(key, form), "another form:", command, printed[-300:])
        return printed

    def rows(self, name):
        for out in ("csv", "json", "jsonl", "md", "table"):
            data = self.same_form(name, ROWS, out, b"replay", b"FILE", b"--quiet", b"--format", out.encode())
            if out in ("json", "jsonl"):
                need(told(json.loads(data.decode().split("\n")[0] if out == "jsonl" else data)["command"], name),
                     "the command is lost")
            self.same_form(name, ROWS, out, b"replay", b"FILE", b"--quiet", b"--breakdown", b"--format", out.encode())

    def pages(self, name):
        data = self.same_form(name, ROWS, "html", b"report", b"replay", b"FILE", b"--quiet")
        if not UNSAFE.search(decoded(name)):  # those are left out of pages
            need(any(told(text, name) for text in tags_of(data).text if "cube8 replay" in text),
                 "the name is not on the page")
        self.same_form(name, self.stats, "svg", b"view", b"--stats", b"FILE")

    def database(self, name):
        put(name, ROWS)
        run(self.sim, b"replay", name, b"--quiet", b"--sqlite", b"rows.db")
        db = sqlite3.connect("rows.db")
        db.text_factory = bytes
        lines = [row[0] for row in db.execute("SELECT command_line FROM run ORDER BY id")]
        words = [row[0] for row in db.execute("SELECT value FROM param")] if db.execute(
            "SELECT 1 FROM sqlite_master WHERE name='param'").fetchone() else []
        db.close()
        need(told(lines[-1].decode("utf-8", "replace"), name), "the command is lost", lines[-1])
        need(not words or decoded(name) in [decoded(w) for w in words], "the operand is lost", words)

    def timelines(self, name):
        for out in (b"json", b"pftrace"):
            put(name, ROWS)
            run(self.sim, b"replay", name, b"--quiet", b"--trace", b"t." + out)
            subprocess.run([sys.executable, TIMELINE, "check", b"t." + out], check=True, capture_output=True)

    def log(self, name):
        """The op log repeats the command line."""
        run(self.sim, b"run", b"copy", b"L=64", b"--dump", name + b".d", b"--oplog", b"ops.jsonl", b"--quiet")
        with open("ops.jsonl", "rb") as f:
            lines = f.read().splitlines()
        need(len(lines) > 1 and told(json.loads(lines[0])["command"], name + b".d"), "the command is lost", lines[0])
        [json.loads(line) for line in lines]

    def differences(self, name):
        for out in ("csv", "json", "jsonl", "md", "table"):
            self.same_form(name, self.load, out, b"diff", b"FILE", b"FILE", b"--format", out.encode())

    def patterns(self, name):
        put(name, b"src,dst,weight\nc0.pe0,c0.slice0,1\n")
        for out in ("csv", "json", "table"):
            data = run(self.sim, b"load", b"--pattern", b"matrix:" + name, b"--rate", b"0.1", b"--txns", b"200",
                       b"--quiet", b"--format", out.encode())
            FORMS[out](data)
            if out == "csv":
                row = next(csv.DictReader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")))
                found = row["pattern"].encode("utf-8", "surrogateescape")
                need(found == b"matrix:" + name, "the pattern is", found)

    def output_files(self, name):
        """Files of that name: whole, and nothing beside them."""
        put(b"plain.csv", ROWS)
        put(b"out/" + name, b"")
        folder = os.path.dirname(b"out/" + name)
        for words, end in (([b"-o"], b".csv"), ([b"--stats"], b".s.csv"), ([b"--trace"], b".json"),
                           ([b"--sqlite"], b".db")):
            if end == b".db" and len(name) > 400:  # SQLite takes no longer names
                run(self.sim, b"replay", b"plain.csv", b"--quiet", *words, b"out/" + name + end, code=5)
                continue
            run(self.sim, b"replay", b"plain.csv", b"--quiet", *words, b"out/" + name + end)
            need(os.path.getsize(b"out/" + name + end) > 0, "no", end)
        run(self.sim, b"run", b"copy", b"L=64", b"--quiet", b"--oplog", b"out/" + name + b".jsonl", b"--dump",
            b"out/" + name + b".dump")
        run(self.sim, b"view", b"cube", b"-o", b"out/" + name + b".svg")
        need(len(os.listdir(folder)) == (7 if len(name) > 400 else 8), "files:", os.listdir(folder))
        shutil.rmtree("out")

    def messages(self, name):
        shown = "%n%s" if b"%n" in name else None
        message(self.sim, b"replay", b"no/" + name, code=3, shows=shown)
        for words in ([name], [b"--" + name], [b"run", name], [b"run", b"gemm", name + b"=1"],
                      [b"run", b"gemm", b"M=" + name], [b"probe", b"--case", name], [b"route", name, b"c0.slice0"],
                      [b"route", b"c0.pe0", name], [b"sweep", b"--src", name, b"--dst", b"c0.slice0"],
                      [b"sweep", b"--src", b"c0.pe0", b"--dst", b"c0.slice0", b"--bytes", name],
                      [b"load", b"--rate", b"0.1", b"--pattern", name], [b"info", b"--format", name],
                      [b"view", name], [b"view", b"--at", name], [b"run", b"copy", b"--inspect", name],
                      [b"report", name]):
            message(self.sim, *words, code=2)

    def fields(self, name):
        """In input files, as a field of any column, quoted and not."""
        for text in (name, b'"' + name.replace(b'"', b'""') + b'"'):
            for column in range(6):
                row = [b"0", b"read", b"c0.pe0", b"c0.slice0", b"0", b"64"]
                row[column] = text
                done = subprocess.run([self.sim, b"replay", b"-"], input=ROWS + b",".join(row) + b"\n",
                                      capture_output=True, check=False)
                err = done.stderr.decode("utf-8", "surrogateescape")
                need(done.returncode == 3 and not done.stdout and err and not UNSAFE.search(err), done.returncode, repr(err))
        quoted = b'"' + name.replace(b'"', b'""') + b'"'
        put(b"a.csv", b"case,x_ns\n" + quoted + b",1\n")
        put(b"b.csv", b"case,x_ns\n" + quoted + b",2\n")
        for out in ("csv", "json", "jsonl", "md", "table"):
            data = run(self.sim, b"diff", b"a.csv", b"b.csv", b"--format", out.encode(), code=1)
            FORMS[out](data)
            if out == "json":
                found = squeezed(str(json.loads(data)["rows"][0]["where"]))
                need(found.startswith(CONTROL.sub("?", decoded(name))[:40]), "the key is", found)
        head = b"kernel,kernel_ns,hbm_read_bytes\n"
        put(b"r.csv", head.replace(b"kernel,", quoted + b",") + b"x,1,1\n")
        message(self.sim, b"view", b"--stats", b"r.csv", code=3)

    def generator(self, name):
        """A topology in a file of that name, and that text in a topology."""
        with open(self.topology, "rb") as f:
            yaml = f.read()
        put(name, yaml)
        defs = run(self.kbgen, name).decode()
        plain = run(self.kbgen, self.topology).decode()
        need([line for line in defs.split("\n") if "gen_input" not in line]
             == [line for line in plain.split("\n") if "gen_input" not in line], "other tables")
        need(re.search(r"gen_input\]\], \[\[[A-Za-z0-9._+-]*\]\]", defs), "gen_input")
        message(self.kbgen, b"no/" + name, code=3)
        quoted = json.dumps(decoded(name)).encode()
        for text in (yaml + b"\n" + quoted + b": 1\n", b"kernbench: 1\nname: " + quoted + b"\nsip: {cube_mesh: {w: 1, h: 1}}\n"):
            put(b"bad.yaml", text)
            message(self.kbgen, b"bad.yaml", code=3)

    # -- the benches with such names

    def bench(self):
        words = [b"run", b"copy", SIGNS + b"a=1", b"--quiet"]
        for out in ("csv", "json", "jsonl", "md", "table"):
            for more in ([], [b"--breakdown"], [b"--verify"]):
                data = run(self.hostile, *words, *more, b"--format", out.encode())
                FORMS[out](data)
                if out == "json" and not more:
                    found = json.loads(data)
                    need(found["rows"][0]["kernel"] == decoded(SIGNS + b"k"), "the kernel is", found["rows"])
                    need(decoded(SIGNS + b"a") in found["args"], "the argument is", found["args"])
                if out == "csv" and not more:
                    row = next(csv.DictReader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")))
                    need(row["kernel"].encode("utf-8", "surrogateescape") == SIGNS + b"k", "the kernel is", row)
        for out in ("csv", "json", "jsonl", "table"):
            FORMS[out](run(self.hostile, *words, b"--inspect", b"last", b"--format", out.encode()))
        for out in ("csv", "json", "jsonl", "md", "table"):
            FORMS[out](run(self.hostile, b"list", b"--format", out.encode()))

    def bench_files(self):
        words = [b"run", b"copy", b"--quiet"]
        for out in ("json", "pftrace"):
            run(self.hostile, *words, b"--trace", b"b." + out.encode(), b"--oplog", b"b.jsonl")
            subprocess.run([sys.executable, TIMELINE, "check", "b." + out], check=True, capture_output=True)
        with open("b.jsonl", "rb") as f:
            [json.loads(line) for line in f]
        run(self.hostile, *words, b"--oplog", b"b.csv", b"--stats", b"bs.csv", b"--sqlite", b"b.db")
        for file in ("b.csv", "bs.csv"):
            with open(file, "rb") as f:
                form_of_csv(f.read())
        db = sqlite3.connect("b.db")
        db.text_factory = bytes
        need(SIGNS + b"k" in [v for row in db.execute("SELECT * FROM run_rows") for v in row] if db.execute(
            "SELECT 1 FROM sqlite_master WHERE name='run_rows'").fetchone() else True, "the kernel is lost")
        db.close()
        page = tags_of(run(self.hostile, b"report", *words))
        need(sum(t == ("script", []) for t in page.tags) <= 2, "scripts:", [t for t in page.tags if t[0] == "script"])

    def bench_faults(self):
        for out in ("csv", "json", "table"):
            FORMS[out](run(self.hostile, b"run", b"race", b"--race", b"--format", out.encode(), code=1))
        run(self.hostile, b"run", b"race", b"--race", code=1)
        for more in ([], [b"--trace", b"w.json"], [b"--breakdown"]):
            run(self.hostile, b"run", b"wait", *more, code=4)
        run(self.hostile, b"run", b"fail", code=7)
        run(self.hostile, b"run", b"copy", SIGNS + b"a=10", code=2)
        run(self.hostile, b"run", b"copy", b"x" + SIGNS + b"=10", code=2)
        run(self.hostile, b"why", b"copy", b"--format", b"json")


def main(sim, hostile, kbgen, topology):
    test = Test(sim, hostile, kbgen, topology)
    for what, name in TEXTS.items():
        file = name + b".csv"
        for where, function, argument in (
                ("rows in every format, latency breakdowns", test.rows, file),
                ("pages and pictures", test.pages, file), ("a database", test.database, file),
                ("timelines", test.timelines, file), ("the op log", test.log, name), ("diff", test.differences, file),
                ("a matrix of traffic", test.patterns, file), ("names of output files", test.output_files, name),
                ("messages", test.messages, name), ("fields of input files", test.fields, name),
                ("topologies", test.generator, name + b".yaml")):
            test.check("%s: %s" % (what, where), function, argument)
    test.check("names of kernels and arguments: rows in every format", test.bench)
    test.check("the same: files, databases, pages, pictures, timelines", test.bench_files)
    test.check("the same: data races, deadlocks, mistakes", test.bench_faults)
    print("1..%d" % test.n)
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(os.fsencode, sys.argv[1:])))
