#!/usr/bin/env python3
"""house.py -- holds the sources to the rules of their folders. Prints violations, one a line.

usage: house.py includes ROOT            an include of a folder on the right
       house.py calls OBJECTS            a call of a function that a folder on the right defines
       house.py circles OBJECTS          files that call each other: more than two, or of several folders
       house.py locale FILE...           a function whose result depends on the locale of the program
       house.py words ALLOWED FILE...    words that are nearly always wrong for a thing
       house.py comments LOW HIGH FILE...  the share of comment lines in C, in per cent

OBJECTS is a folder with one object of each source, below the same path, compiled with -O0.
"""

import os
import re
import subprocess
import sys

# A file may include its own folder and folders to its left. Folders of one list are one room;
# rooms of one step do not know each other.
STEPS = [
    [["include"]],
    [["base"]],
    [["machine"]],
    [["engine", "network"], ["data"], ["gen"]],
    [["record"]],
    [["kernels", "pe"], ["phase2"]],
    [["explain"]],
    [["sim"]],
    [["cli"]],
]
ROOMS = {folder: (step, room)
         for step, rooms in enumerate(STEPS) for room, folders in enumerate(rooms) for folder in folders}


def folder_of(path):
    """The folder that rules speak of: runtime/cli/out/csv.c is of cli, gen/load.c of gen."""
    parts = path.split("/")
    return parts[1] if parts[0] == "runtime" else parts[0]


def is_own_kernel(path):
    """A kernel that a command runs itself: language models."""
    return path.startswith("benches/llm/")


def may_know(user, used):
    """May a file of this folder use what that folder has?"""
    if user == used:
        return True
    if user in ("gen", "benches"):
        return used in ("base", "include")
    if user not in ROOMS or used not in ROOMS:
        return False
    return ROOMS[user] == ROOMS[used] or ROOMS[used][0] < ROOMS[user][0]


def may_include(path, target):
    user, used = folder_of(path), folder_of(target)
    if user == "gen":
        return (used in ("gen", "base") or target in ("runtime/machine/tables.h",
                                                      "runtime/machine/impl.h",
                                                      "runtime/machine/mesh.h",
                                                      "runtime/machine/machine_segments.h",
                                                      "runtime/machine/vcs.h",
                                                      "runtime/machine/walk.h")
                or used == "machine" and target.endswith(".def"))
    if user == "cli":
        return used in ("include", "base", "cli") or is_own_kernel(target)
    if user == "benches":
        return used in ("include", "benches")
    return may_know(user, used)


# -- includes ------------------------------------------------------------------------------------

def sources(root):
    for top in ("runtime", "gen", "benches"):
        for at, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def", ".S")):
                    yield os.path.relpath(os.path.join(at, name), root)


def find_include(root, path, name):
    for place in (os.path.dirname(path), "runtime", "runtime/include", ""):
        target = os.path.normpath(os.path.join(place, name))
        if os.path.exists(os.path.join(root, target)):
            return target
    return None


def includes(root):
    made = {"perfetto.pb-c.h", "chakra.pb-c.h"}  # by the build
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if not m or m[1] in made:
                    continue
                target = find_include(root, path, m[1])
                if not target:
                    print(f'{path}:{number}: "{m[1]}" is nowhere')
                elif not may_include(path, target):
                    print(f'{path}:{number}: {folder_of(path)} must not include "{m[1]}"')
                elif "/" not in m[1] and path.startswith("runtime/") and folder_of(target) != "include":
                    print(f'{path}:{number}: "{m[1]}" lacks its folder')


# -- calls ---------------------------------------------------------------------------------------

def read_objects(folder):
    """For each object the names that it defines, for all or for itself, and those that it needs."""
    paths = []
    for at, _, names in os.walk(folder):
        paths += [os.path.join(at, name) for name in names if name.endswith(".o")]
    # kernels.c is its parts once more; tests may call all that they test
    paths = [path for path in paths if os.path.relpath(path, folder).split("/")[0] in ("runtime", "gen", "benches")
             and not path.endswith("/kernels/kernels.o")]
    objects = {}
    text = subprocess.run(["nm", "-A", "-P", *sorted(paths)], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        path = os.path.relpath(path, folder)[:-2] + ".c"
        shared, own, needed = objects.setdefault(path, (set(), set(), set()))
        (needed if kind in "Uvw" else shared if kind.isupper() else own).add(name)
    return objects


def find_calls(objects):
    """(caller, name, definer) of each name that another file defines. A function that is static in
    the unit of kernels.c is found in its own object, too."""
    definer = {}
    for kind in (1, 0):
        for path, names in objects.items():
            definer.update({name: path for name in names[kind]})
    for path, names in sorted(objects.items()):
        for name in sorted(names[2]):
            if name in definer and definer[name] != path:
                yield path, name, definer[name]


def calls(folder):
    for caller, name, definer in find_calls(read_objects(folder)):
        if folder_of(caller) == "benches" and name.startswith(("kb_", "tl_")):
            continue
        if folder_of(caller) == "cli" and is_own_kernel(definer):
            continue
        if not may_know(folder_of(caller), folder_of(definer)):
            print(f"{caller}: calls {name}() of {definer}: {folder_of(definer)} is not to the left of {folder_of(caller)}")


def components(graph):
    """Strongly connected components, by Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in graph.get(node, ()):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def circles(folder):
    graph = {}
    names = {}
    for caller, name, definer in find_calls(read_objects(folder)):
        graph.setdefault(caller, set()).add(definer)
        names.setdefault((caller, definer), name)
    found = sorted(components(graph), key=len, reverse=True)
    print(f"# longest circle of calls: {len(found[0]) if found else 0} files", file=sys.stderr)
    for circle in found:
        folders = {os.path.dirname(path) for path in circle}
        if len(circle) > 2 or len(folders) > 1:
            print(f"{len(circle)} files of {len(folders)} folders call each other: {' '.join(circle)}")
            for caller in circle:
                for definer in sorted(graph[caller] & set(circle)):
                    print(f"    {caller} -> {definer}: {names[caller, definer]}()")


# -- locale --------------------------------------------------------------------------------------

# What reads or writes by the locale, whatever its arguments: the format of a v-form is not seen.
BY_LOCALE = re.compile(r"\b(strto(?:d|f|ld)|ato[fil]|v\w*printf|wc\w+|setlocale|localeconv|str(?:n?casecmp|coll|xfrm|ftime)"
                       r"|is(?:al(?:num|pha)|blank|cntrl|x?digit|graph|lower|print|punct|space|upper)|to(?:upper|lower))\s*\(")
PRINTS = re.compile(r"\b(?:[fsd]|sn|as)?(?:printf|scanf)\s*\(")
FRACTION = re.compile(r"%[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aAeEfFgG]")


def c_code(text):
    """C without its comments, lines in their places."""
    token = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
    return token.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def call_at(code, at):
    """The call whose parenthesis opens before `at`."""
    end, depth = at, 1
    while depth and end < len(code):
        m = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|[()]").search(code, end)
        if not m:
            break
        depth += {"(": 1, ")": -1}.get(m[0], 0)
        end = m.end()
    return code[at:end]


def locale(*paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            code = c_code(file.read())
        found = [(m.start(), m[1]) for m in BY_LOCALE.finditer(code)]
        for m in PRINTS.finditer(code):
            call = call_at(code, m.end())
            conversion = FRACTION.search("".join(re.findall(r'"(?:\\.|[^"\\])*"', call)).replace("%%", ""))
            if conversion:
                found.append((m.start(), f"{m[0][:-1].strip()}() of {conversion[0]}"))
        for at, what in sorted(found):
            print(f"{path}:{code.count(chr(10), 0, at) + 1}: {what} depends on the locale: base/text.h has what does not")


# -- words and comments --------------------------------------------------------------------------

WRONG = re.compile(r"\b(who|whom|whoever|he|him|his|she|her|nobody|somebody|anybody|everybody|for ever"
                   r"|anew|but for|thereof|whereof|wherein|therein|whence|thence)\b", re.IGNORECASE)


def c_prose(text):
    """Comments and strings of C, with all else blank, lines in their places."""
    token = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
    out, at = [], 0
    for m in token.finditer(text):
        out.append(re.sub(r"[^\n]", " ", text[at:m.start()]))
        out.append(m[0])
        at = m.end()
    return "".join(out)


def words(allowed, *paths):
    with open(allowed, encoding="utf-8") as file:
        right = {tuple(line.rstrip("\n").split(": ", 1)) for line in file if not line.startswith("#") and ": " in line}
    used = set()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if path.endswith((".c", ".h", ".cpp")):
            text = c_prose(text)
        for number, line in enumerate(text.splitlines(), 1):
            for m in WRONG.finditer(line):
                here = {a for a in right if a[0] == path and a[1] in line}
                used |= here
                if not here:
                    print(f"{path}:{number}: '{m[0]}': {line.strip()[:90]}")
            # the sentence may break at the end of a line
            if re.search(r"\b(for|but)$", line.rstrip()):
                following = text.splitlines()[number:number + 1]
                if following and re.match(r"[\s*/#]*(ever|for)\b", following[0]) and \
                        re.search(r"for$" if "ever" in following[0].split()[:2] else r"but$", line.rstrip()):
                    print(f"{path}:{number}: '{line.split()[-1]} ...': {line.strip()[:90]}")
    for path, text in sorted(right - used):
        print(f"{allowed}: '{text}' is no longer in {path}")


def comments(low, high, *paths):
    lines = remarks = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            inside = False
            for line in file:
                line = line.strip()
                if not line:
                    continue
                lines += 1
                remark = inside or line.startswith(("/*", "//"))
                remarks += remark
                if line.startswith("/*") or inside:
                    inside = "*/" not in line
    share = 100 * remarks / lines
    print(f"# {remarks} of {lines} lines are comments: {share:.1f} %", file=sys.stderr)
    if not float(low) <= share <= float(high):
        print(f"{share:.1f} % of the lines of {len(paths)} files are comments, not {low} to {high} %")


if __name__ == "__main__":
    commands = {"includes": includes, "calls": calls, "circles": circles, "locale": locale, "words": words, "comments": comments}
    sys.setrecursionlimit(10000)
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
