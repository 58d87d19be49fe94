#!/usr/bin/env python3
"""triton.py -- which operations the Triton kernels of a folder use, and how many kernels can be written here.

    tools/triton.py FOLDER...    counts: kernels, those of which each operation has calls, what the others miss
    tools/triton.py FILE.csv     the same of a table of kernels that were read before, as tests/triton/kernels.csv
    tools/triton.py --uses ...   a line for each kernel instead: file, kernel, its operations
    tools/triton.py --table      the table of docs/triton.md, of tools/triton_ops.txt

A kernel is a function with a decorator `triton.jit` that no other such function of its folder calls; what those
that it calls use is its own. An operation is a name of triton.language or libdevice, by whatever name the file has
imported it, also in an assignment; and `.to(..., bitcast=True)`. A reduction or a scan by a function that only
returns `a or b`, or another pair that has a name, is `reduce(or)`. Python's operators count as such that have calls.
A name that the list has not counts as missed. Nothing is run or imported.

A table has a header, and columns among which are repo, path, kernel, role and operations, those of what a kernel
calls included; its rows with the roles kernel and pointwise count.
"""
import argparse
import ast
import collections
import csv
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triton_ops.txt")
METHODS = {"to", "sum", "max", "min", "reshape", "view", "trans", "permute", "split", "cumsum", "sigmoid", "exp"}
TYPES = {"int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
         "float8e4nv", "float8e5", "dtype", "tensor", "void", "block_type", "PropagateNan", "core", "math", "extra", "cuda", "language"}
KERNELS = {"kernel", "pointwise"}
PAIRS = {ast.BitAnd: "and", ast.And: "and", ast.BitOr: "or", ast.Or: "or", ast.Add: "sum", ast.Mult: "mul", "maximum": "max", "minimum": "min"}
MODULES = {"libdevice", "tl_extra_shim", "tldevice", "tl_extra_module"}


def read_list():
    """{operation: its calls}; "-" needs none, "?" has none."""
    calls = {}
    with open(LIST, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                call, ops = line.split(":", 1)
                calls.update(dict.fromkeys(ops.split(), call.strip()))
    return calls


def dotted(node):
    """The names of a.b.c, or None."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id] + names[::-1] if isinstance(node, ast.Name) else None


def is_jit(decorator):
    names = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return bool(names) and names[-1] == "jit"


class Names:
    """What the names of a file stand for: modules of Triton, or operations of them."""

    def __init__(self, tree):
        self.modules, self.ops, self.device = {"tl", "triton"}, {}, set(MODULES)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._imports(node)
            elif isinstance(node, ast.ImportFrom):
                self._from(node)
        for node in tree.body:  # rsqrt = tl_extra_shim.rsqrt
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                op = self.op_of(node.value)
                if op:
                    self.ops[node.targets[0].id] = op

    def _imports(self, node):
        for name in node.names:
            if name.name.startswith("triton") and name.asname:
                (self.device if "libdevice" in name.name else self.modules).add(name.asname)

    def _from(self, node):
        module = node.module or ""
        for name in node.names:
            own = name.asname or name.name
            if name.name in MODULES:
                self.device.add(own)
            elif module == "triton" and name.name == "language":
                self.modules.add(own)
            elif module.startswith("triton.language") and name.name not in TYPES:
                self.ops[own] = "libdevice." + name.name if "libdevice" in module else name.name

    def op_of(self, node):
        """The operation that a name or an attribute is, or None."""
        names = dotted(node)
        if not names:
            return None
        if len(names) == 1:
            return self.ops.get(names[0])
        if names[0] in self.device or MODULES & set(names[:-1]):
            return "libdevice." + names[-1]
        of_triton = names[0] in self.modules and (names[0] != "triton" or names[1] == "language" or len(names) == 2)
        return names[-1] if of_triton and names[-1] not in TYPES | {"jit", "autotune", "Config"} else None


def pair_of(function, names):
    """The word for what a function of two values returns, as "or", or None."""
    body = function.body if function and len(function.args.args) == 2 and len(function.body) == 1 else [None]
    value = body[0].value if isinstance(body[0], ast.Return) else None
    if isinstance(value, ast.Call):
        return PAIRS.get(names.op_of(value.func))
    return PAIRS.get(type(getattr(value, "op", None)))


def by_function(node, names, functions):
    """A reduction or a scan with the word for its function, as "reduce(or)", or None."""
    op = names.op_of(node.func)
    given = [k.value for k in node.keywords if k.arg == "combine_fn"] + node.args[2:3]
    if op not in ("reduce", "associative_scan") or not given:
        return None
    pair = pair_of(functions.get(getattr(given[0], "id", None)), names)
    return f"{op}({pair})" if pair else None


def uses_of(function, names, functions):
    """Operations of one function, and the names of what it calls."""
    ops, called = set(), set()
    nodes = list(ast.walk(ast.Module(function.body, [])))
    parts = {node.value for node in nodes if isinstance(node, ast.Attribute)}  # a.b of a.b.c
    for node in nodes:
        paired = by_function(node, names, functions) if isinstance(node, ast.Call) else None
        if paired:
            ops.add(paired)
            parts.add(node.func)
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Name)) and node not in parts:
            op = names.op_of(node)
            if op:
                ops.add(op)
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            called.add(node.func.id)
        called.update(arg.id for arg in node.args + [k.value for k in node.keywords] if isinstance(arg, ast.Name))
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not names.op_of(node.func):
            cast_of_bits = node.func.attr == "to" and any(k.arg == "bitcast" for k in node.keywords)
            ops.add(".to(bitcast)" if cast_of_bits else node.func.attr)
    return ops, called


def functions_of(path):
    """{name: (operations, called)} of the functions with triton.jit of a file."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = Names(tree)
    functions = {f.name: f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and any(is_jit(d) for d in f.decorator_list)}
    return {name: uses_of(f, names, functions) for name, f in functions.items()}


def kernels_of(folder):
    """[(file, kernel, operations)] and the number of files that were read."""
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".py"))
    found = {path: functions_of(path) for path in files}
    everywhere = {name: use for functions in found.values() for name, use in functions.items()}
    inner = {c for functions in found.values() for name, (_, called) in functions.items() for c in called if c != name}
    kernels = []
    for path, functions in found.items():
        for name in functions:
            if name in inner:
                continue
            ops, rest, seen = set(), [name], set()
            while rest:
                own, called = functions.get(rest[-1]) or everywhere[rest[-1]]
                seen.add(rest.pop())
                ops |= own
                rest += [c for c in called if c in everywhere and c not in seen]
            kernels.append((os.path.relpath(path, folder), name, ops))
    return kernels, len(files)


def missed_by(ops, calls):
    """What has no call; of libdevice an operation may be one of triton.language."""
    def has(op):
        plain = op.split(".")[-1] if op.startswith("libdevice.") else op
        return calls.get(op, calls.get(plain, "?")) != "?"
    return sorted(op for op in ops if not has(op))


def kernels_of_table(path):
    """{repository: [(file, kernel, operations)]}."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["role"] in KERNELS:
                ops = set(row["operations"].split()) - {"-"}
                found.setdefault(row["repo"], []).append((row["path"], row["kernel"], ops))
    return found


def count(name, kernels, files, calls):
    reasons = collections.Counter()
    alone = collections.Counter()
    written = 0
    for _, _, ops in kernels:
        missed = missed_by(ops, calls)
        written += not missed
        reasons.update(missed)
        alone.update(missed if len(missed) == 1 else [])
    share = 100 * written / len(kernels) if kernels else 0
    print(f"{name}: {files} files, {len(kernels)} kernels, {written} can be written ({share:.1f} %)")
    for op, n in sorted(reasons.items(), key=lambda item: (-alone[item[0]], -item[1], item[0])):
        print(f"  {op}: missed by {n}, alone by {alone[op]}")


def found_in(path):
    """[(name, kernels, number of files)] of a folder or a table."""
    if os.path.isdir(path):
        return [(path, *kernels_of(path))]
    if not path.endswith(".csv") or not os.path.isfile(path):
        sys.exit(f"{path}: no such folder")
    return [(repo, kernels, len({file for file, _, _ in kernels})) for repo, kernels in kernels_of_table(path).items()]



def table(calls):
    rows = {}
    for op, call in calls.items():
        rows.setdefault(call, []).append(f"`{op}`")
    print("| here | operations |\n| --- | --- |")
    for call, ops in sorted(rows.items(), key=lambda row: (row[0] == "?", row[0] != "-", row[0])):
        here = {"-": "C, no call", "?": "none"}.get(call) or ", ".join(f"`{c}`" for c in call.split())
        print(f"| {here} | {', '.join(ops)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--uses", action="store_true")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    calls = read_list()
    if args.table == bool(args.folders):
        parser.error("folders of Triton sources, tables of kernels, or --table")
    if args.table:
        table(calls)
    for path in args.folders:
        found = found_in(path)
        if len(found) > 1 and not args.uses:
            found.append(("all", sum((kernels for _, kernels, _ in found), []), sum(files for _, _, files in found)))
        for name, kernels, files in found:
            if not args.uses:
                count(name, kernels, files, calls)
                continue
            for file, kernel, ops in kernels:
                print(file, kernel, *sorted(ops))


if __name__ == "__main__":
    main()
