"""gdb.py -- gdb shows tensors of kernels: type, shape and values, as far as they are there.

    (gdb) source /usr/local/share/kernbench/gdb.py
    (gdb) print x
    $1 = (tl_tensor *) 0x7ffff7a51c40 f32 [2, 3]: 1 2 3; 4 5 6

It is what tl_print() says. It reads memory and calls nothing, so it works in core files, too; where
the fields of a tensor lie the library says: runtime/kernels/tl_print.c.
"""
import struct

import gdb

MOST = 64  # elements that are shown
RANK_MAX = 6
LAYOUT = ("kind", "dtype", "rank", "dim", "scalar", "version", "offset", "version_kind", "ready", "bytes", "size")
FREE, SCALAR, PLACE, VALUE = range(4)  # enum tensor_kind
RESULT, PIECES = 1, 2  # enum version_kind
TYPES = [None, ("f16", "e"), ("bf16", "H"), ("f32", "f"), ("f64", "d"), ("i8", "b"), ("i16", "h"), ("i32", "i"), ("i64", "q"),
         ("u8", "B"), ("u16", "H"), ("u32", "I"), ("u64", "Q"), ("bool", "B"), ("f8e4m3", "B"), ("f8e5m2", "B"), ("i4", "B")]  # kb_dtype


def read(code, address, n=1):
    """`n` numbers of a type of struct."""
    size = struct.calcsize("=" + code)
    return struct.unpack(f"={n}{code}", gdb.selected_inferior().read_memory(address, n * size).tobytes())


def layout():
    at = int(gdb.parse_and_eval("(unsigned long)&kb_rt_tensor_layout"))
    return dict(zip(LAYOUT, read("H", at, len(LAYOUT))))


def elements(dtype, code, address, n):
    """`n` elements, those of i4 two in a byte, the first in its low half."""
    if dtype != "i4":
        return read(code, address, n)
    return [(x >> shift & 15 ^ 8) - 8 for x in read(code, address, (n + 1) // 2) for shift in (0, 4)][:n]


def of_f8e4m3(bits):
    power, part = bits >> 3 & 15, bits & 7
    value = float("nan") if bits & 127 == 127 else (8 + part) * 2.0 ** (power - 10) if power else part * 2.0 ** -9
    return -value if bits >> 7 else value


def element(dtype, bits):
    if dtype == "bf16":
        bits = struct.unpack("=f", struct.pack("=I", bits << 16))[0]
    elif dtype == "f8e4m3":
        bits = of_f8e4m3(bits)
    elif dtype == "f8e5m2":
        bits = struct.unpack("=e", struct.pack("=H", bits << 8))[0]
    return f"{bits:.{17 if dtype == 'f64' else 9}g}" if isinstance(bits, float) else str(bits)


def values(tensor, of, dtype, code, shape):
    """Its elements, row by row; or why they are not there."""
    version = read("Q", tensor + of["version"])[0]
    if not version:
        return "in flight"
    at = read("Q", version + of["bytes"])[0]
    if not at:
        kind, ready = read("B", version + of["version_kind"])[0], read("B", version + of["ready"])[0]
        return "pending" if kind == RESULT and not ready else "not gathered yet"
    n, row = 1, shape[-1] if shape else 1
    for extent in shape:
        n *= extent
    found = elements(dtype, code, at + read("Q", tensor + of["offset"])[0], min(n, MOST))
    text = "".join(("" if i == 0 else " " if i % row else "; ") + element(dtype, x) for i, x in enumerate(found))
    return text + (" ..." if n > MOST else "")


def text_of(tensor):
    of = layout()
    kind, dtype = read("B", tensor + of["kind"])[0], read("B", tensor + of["dtype"])[0]
    rank = read("I", tensor + of["rank"])[0]
    if tensor % 64 or kind > VALUE or rank > RANK_MAX or (kind in (PLACE, VALUE) and not 0 < dtype < len(TYPES)):
        return "no tensor"
    if kind == FREE:
        return "given back"
    if kind == SCALAR:
        return f"{read('d', tensor + of['scalar'])[0]:.9g}"
    shape = read("I", tensor + of["dim"], rank)
    name, code = TYPES[dtype]
    words = "what its address holds" if kind == PLACE else values(tensor, of, name, code, shape)
    return f"{name} [{', '.join(map(str, shape))}]: {words}"


class Tensor:
    def __init__(self, value):
        self.address = int(value)

    def to_string(self):
        if not self.address:
            return "(tl_tensor *) NULL"
        try:
            text = text_of(self.address)
        except gdb.MemoryError:  # a local one that is not set yet may be anything
            text = "no tensor"
        except gdb.error:
            return f"(tl_tensor *) {self.address:#x}"
        return f"(tl_tensor *) {self.address:#x} {text}"


def tensor_of(value):
    pointer = value.type.strip_typedefs()
    if pointer.code != gdb.TYPE_CODE_PTR:
        return None
    return Tensor(value) if pointer.target().unqualified().strip_typedefs().tag == "tl_tensor" else None


gdb.pretty_printers.append(tensor_of)
