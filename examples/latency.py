#!/usr/bin/env python3
"""latency.py -- one read from Python: ctypes, the shared libraries, nothing else."""
from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_double, c_int, c_int64, c_uint32
from ctypes import c_size_t, c_uint64, c_void_p

FS_PER_NS = 1_000_000
KB_OK, KB_READ = 0, 0


# The structs of kernbench.h, field by field.
class Error(Structure):
    _fields_ = [("text", c_char * 512)]


class Endpoint(Structure):
    _fields_ = [("kind", c_int), ("sip", c_uint32), ("cube", c_uint32), ("unit", c_uint32)]


class Request(Structure):
    _fields_ = [("issue_fs", c_int64), ("op", c_int), ("src", Endpoint), ("dst", Endpoint),
                ("offset", c_uint64), ("nbytes", c_uint64), ("by_address", c_bool),
                ("address", c_uint64), ("plane", c_uint32), ("prio", c_uint32),
                ("rows", c_uint32), ("stride", c_uint64), ("targets", c_void_p),
                ("n_targets", c_uint32)]


class Result(Structure):
    _fields_ = [(name + "_fs", c_int64) for name in (
        "issue", "start", "arrive", "service", "done", "end", "wire", "overhead", "drain",
        "response", "return")] + [("wait_fs", c_int64 * 4)] + [
        (name + "_fs", c_int64) for name in ("formula", "actual")] + [("bottleneck_gbs", c_double)]


class Options(Structure):
    _fields_ = [("engine", c_int), ("fingerprint", c_bool), ("costs_off", c_uint32),
                ("until_fs", c_int64), ("max_events", c_uint64), ("oplog", c_bool),
                ("phase2", c_bool), ("oplog_limit_bytes", c_uint64), ("stack_bytes", c_size_t),
                ("inspect", c_bool), ("buffers", c_bool), ("live", c_bool), ("values", c_bool),
                ("verify_values", c_bool), ("no_values", c_bool),
                ("value_threads", c_uint32)]


STRUCTS = {"kb_error": Error, "kb_endpoint": Endpoint, "kb_transaction": Request,
           "kb_result": Result, "kb_options": Options}

# A soname says which structs these are: .so.1 would have others.
kb = ctypes.CDLL("libkernbench.so.0")
cube8 = ctypes.byref(c_char.in_dll(ctypes.CDLL("libcube8.so.0"), "cube8_topology"))

kb.kb_endpoint_parse.argtypes = [c_void_p, ctypes.c_char_p, c_size_t, POINTER(Endpoint),
                                 POINTER(Error)]
kb.kb_sim_new.argtypes = [c_void_p, POINTER(Options), POINTER(c_void_p)]
kb.kb_sim_free.argtypes = [c_void_p]
kb.kb_sim_free.restype = None
kb.kb_sim_add.argtypes = [c_void_p, POINTER(Request), POINTER(Error)]
kb.kb_sim_run.argtypes = [c_void_p, c_uint64, POINTER(Error)]
kb.kb_sim_result.argtypes = [c_void_p, c_uint64, POINTER(Result)]


def need(status: int, why: Error | None = None) -> None:
    if status != KB_OK:
        raise RuntimeError(why.text.decode() if why else f"status {status}")


def endpoint(name: str) -> Endpoint:
    end, why = Endpoint(), Error()
    need(kb.kb_endpoint_parse(cube8, name.encode(), len(name), byref(end), byref(why)), why)
    return end


def read_alone(src: str, dst: str, nbytes: int) -> Result:
    sim, why, result = c_void_p(), Error(), Result()
    request = Request(op=KB_READ, src=endpoint(src), dst=endpoint(dst), nbytes=nbytes)
    need(kb.kb_sim_new(cube8, byref(Options()), byref(sim)))
    try:
        need(kb.kb_sim_add(sim, byref(request), byref(why)), why)
        need(kb.kb_sim_run(sim, 0, byref(why)), why)
        need(kb.kb_sim_result(sim, 0, byref(result)))
    finally:
        kb.kb_sim_free(sim)
    return result


def main() -> None:
    if sys.argv[1:] == ["--sizes"]:  # to be compared with what C says
        for name, struct in STRUCTS.items():
            print(name, ctypes.sizeof(struct))
        return
    r = read_alone("c0.pe0", "c0.slice0", 4096)
    print(f"c0.pe0 reads 4096 bytes of c0.slice0 in {r.actual_fs / FS_PER_NS:.6f} ns:",
          f"wire {r.wire_fs / FS_PER_NS:.6f},",
          f"overhead {r.overhead_fs / FS_PER_NS:.6f}, drain {r.drain_fs / FS_PER_NS:.6f}")
    try:
        read_alone("c0.pe0", "c0.slice0", 1 << 40)
    except RuntimeError as why:
        print("refused:", why)


main()
