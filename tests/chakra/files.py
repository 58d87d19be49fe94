#!/usr/bin/env python3
"""files.py -- writes and reads Chakra traces by the numbers of the public schema, without protobuf.

    files.py make FILE < NODES     a JSON object a line: {"version": ...}, then nodes
    files.py dump FILE             the same, as read
    files.py micros ROWS.json      durations of a chain of rows of llm, rounded on its clock

Numbers of fields are those of MLCommons Chakra, schema/protobuf/et_def.proto. An attribute is [type, value].
"""
import json
import struct
import sys

TYPES = {"double": 3, "float": 5, "int32": 7, "int64": 9, "uint32": 11, "uint64": 13, "sint32": 15, "sint64": 17,
         "fixed32": 19, "fixed64": 21, "sfixed32": 23, "sfixed64": 25, "bool": 27, "string": 29, "int64_list": 10}
NAMES = {number: name for name, number in TYPES.items()}
FORMS = {"double": "<d", "float": "<f", "fixed32": "<I", "fixed64": "<Q", "sfixed32": "<i", "sfixed64": "<q"}


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    """Of bytes or text: with its length; of a number: a varint."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def attribute(name, kind, value):
    number = TYPES[kind]
    if kind in FORMS:
        form = FORMS[kind]
        body = varint(number << 3 | (1 if struct.calcsize(form) == 8 else 5)) + struct.pack(form, value)
    elif kind.startswith("sint"):
        body = field(number, value << 1 if value >= 0 else (-value << 1) - 1)
    elif kind.endswith("_list"):
        body = field(number, b"".join(field(1, v) for v in value))
    else:
        body = field(number, value if kind == "string" else int(value))
    return field(10, field(1, name) + body)


def node(n):
    out = field(1, n["id"]) + field(2, n.get("name", "")) + field(3, n["type"])
    out += b"".join(field(4, i) for i in n.get("ctrl", []))
    out += field(5, b"".join(varint(i) for i in n["data"])) if n.get("data") else b""
    out += field(6, 123) + field(7, n.get("micros", 0))
    if "values" in n:
        out += field(8, field(1, n["values"]))
    return out + b"".join(attribute(name, *value) for name, value in n.get("attr", {}).items())


def make(path):
    with open(path, "wb") as f:
        for line in sys.stdin:
            n = json.loads(line)
            message = field(1, n["version"]) if "version" in n else node(n)
            f.write(varint(len(message)) + message)


def read_varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return n, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            assert key & 7 == 2, "llm writes no fixed numbers"
            n, at = read_varint(data, at)
            value, at = data[at:at + n], at + n
        yield key >> 3, value


def read_attribute(data):
    name = None
    for number, value in fields(data):
        if number == 1:
            name = value.decode()
        else:
            value = value.decode() if isinstance(value, bytes) else value
            return name, [NAMES[number], value]
    raise ValueError(name)


def read_packed(value):
    at, out = 0, []
    while at < len(value):
        n, at = read_varint(value, at)
        out.append(n)
    return out


def read_node(data):
    out = {"id": 0, "name": "", "type": 0, "data": [], "micros": 0, "attr": {}}
    for number, value in fields(data):
        if number == 10:
            name, value = read_attribute(value)
            out["attr"][name] = value
        elif number == 5:
            out["data"] += read_packed(value)
        else:
            out[{1: "id", 2: "name", 3: "type", 7: "micros"}[number]] = value.decode() if number == 2 else value
    return out


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        n, at = read_varint(data, at)
        message, at = data[at:at + n], at + n
        out.append(read_node(message) if out else {"version": dict(fields(message))[1].decode()})
    return out


def micros(path):
    """Rows of layers that are all alike: their times, one after the other, on a clock of whole microseconds."""
    with open(path) as f:
        rows = json.load(f)["rows"]
    ops = [r for r in rows if r["bytes"] is not None]  # not sums
    layers = max(r["count"] for r in ops)
    of_layers = [r for r in ops if r["count"] == layers]
    begin = ops.index(of_layers[0])
    order = ops[:begin] + of_layers * layers + ops[begin + len(of_layers):]
    at, out = 0, []
    for row in order:
        end = at + round(row["us"] * 1000000)  # ps
        out.append({"name": row["op"], "micros": (end + 500000) // 1000000 - (at + 500000) // 1000000})
        at = end
    return out


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        for item in (read if sys.argv[1] == "dump" else micros)(sys.argv[2]):
            print(json.dumps(item))
