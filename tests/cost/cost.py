#!/usr/bin/env python3
"""cost.py -- small inputs at the ends of their ranges: none takes more than a second and 256 MB without a word.

usage: cost.py KERNBENCH KBGEN FIRST-LAST

Each number draws a machine of less than 1 KB and a command, and holds it to: at most a second of processor time and
256 MB, or a line on stderr that says so. The system ends what has had 3 s of the processor, and --limit-mb what has
600 MB. Processor time and margins: what else the machine does makes no difference. Prints TAP, the first 20 that
fail with their files.
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile

CPU_S = 1.5  # a second is what is promised; it is looked at every 20 ms, and a process begins and ends
RSS_KB = 300 << 10
ENDS_S = 3
MEMORY_MB = 600
BYTES = [1, 63, 64, 4096, 65537, 1 << 20, 10**8, 6 * 10**9, 2**40, 2**63, 2**64 - 1]
SIZES = [1, 64, 4096, 65537, 10**6, 10**8, 6 * 10**8, 6 * 10**9]  # that a slice may have
COUNTS = [1, 2, 3, 10, 1000, 10**5, 10**7, 10**10, 2**63]
DIMS = [1, 2, 7, 64, 1000, 4097, 65536]
CODES = {0, 1, 2, 3, 4, 5, 7, 8, -signal.SIGXCPU, -signal.SIGKILL}


def machine(r):
    """A YAML of less than 1 KB; most of them are small, some as large as can be."""
    large = r.random() < 0.3
    w, h = (r.choice([(100, 100), (128, 128), (16, 16), (16384, 1), (1, 16384), (64, 64), (32, 20)]) if large
            else (r.randint(1, 6), r.randint(1, 6)))
    sips = r.choice([1, 1, 1, 2, 256] if large else [1, 1, 2, 5])
    lines = ["kernbench: 2", "name: t", f"sips: {sips}"]
    sip = [f"cube_mesh: {{w: {w}, h: {h}, wrap: {r.choice(['none', 'none', 'xy'])}}}"]
    if r.random() < 0.2:
        sip.append("planes: [{name: a}, {name: b, order: yx}]")
    if r.random() < 0.2:
        sip.append("io_chiplets: [W, E, N, S]")
    lines.append("sip: {" + ", ".join(sip) + "}")
    if sips == 256 and r.random() < 0.3:
        lines.append("fabric: {shape: grid, grid: {w: 16, h: 16}}")
    contention = [f"links: {r.choice(['ideal', 'fifo', 'fifo', 'router'])}"]
    if contention[0].endswith("router"):
        vcs = r.choice([1, 2, 4, 8])
        contention += [f"vcs: [{vcs}, {vcs}]", f"buffer_bytes: {r.choice([0, 1024, 65536, 2**20])}",
                       f"packet_bytes: {r.choice([0, 1024, 65536])}"]
    lines.append("contention: {" + ", ".join(contention) + "}")
    cube = [f"pes: {r.choice([0, 1, 1, 8, 8, 64])}"]
    slices = r.choice([1, 8, 64])
    if r.random() < 0.3:
        cube.append(f"hbm: {{model: banks, channels: {r.choice([1, 8, 128])}, slices: {slices}, "
                    f"burst_bytes: {r.choice([1, 64])}, queue: {r.choice([1, 32, 65536])}}}")
    elif "router" in contention[0]:
        cube.append(f"hbm: {{slices: {slices}, queue_bytes: {r.choice([0, 65536, 2**30])}}}")
    else:
        cube.append(f"hbm: {{slices: {slices}}}")
    if r.random() < 0.2:
        cube.append(f"noc: {{model: mesh, mesh: {{cols: {r.choice([1, 6, 32])}, rows: {r.choice([1, 6, 32])}}}}}")
    if r.random() < 0.2:
        cube.append(f"pe: {{pe_ipcq: {{slots: {r.choice([1, 65536])}, slot_bytes: {r.choice([1, 10**9])}}}}}")
    lines.append("cube: {" + ", ".join(cube) + "}")
    if r.random() < 0.4 and w * h > 1:
        lines.append("missing: [" + ", ".join(f"c{c}" for c in r.sample(range(w * h), min(w * h - 1, 3))) + "]")
    if r.random() < 0.2:
        lines.append(f"addressing: {{granule: {r.choice([64, 4096, 2**30])}}}")
    return "\n".join(lines) + "\n"


def rows(r):
    lines = ["issue_ns,op,src,dst,offset,nbytes"]
    for _ in range(r.choice([1, 3, 12])):
        lines.append(f"{r.choice([0, 0, 1, 10**9])},{r.choice(['read', 'write'])},c0.pe0,{r.choice(['c0', 'c0', 'c1'])}."
                     f"slice0,{r.choice([0, 0, 4096])},{r.choice(SIZES)}")
    return "\n".join(lines) + "\n"


def bench(r):
    name = r.choice(["gemm", "gemm_composite", "softmax", "layernorm", "copy", "mlp", "attention", "gather", "list_walk",
                     "all_reduce", "all_gather", "broadcast", "all_to_all", "qkv_gemm", "threshold"])
    names = {"copy": ["L"], "gather": ["M", "L", "D"], "list_walk": ["N", "L"], "attention": ["H", "S", "T", "D"],
             "softmax": ["M", "N"], "layernorm": ["M", "N"], "threshold": ["M", "N"]}.get(name, ["M", "N", "K"])
    if name.startswith(("all_", "broad")):
        return [name, f"count={r.choice([1, 7, 1000, 65536, 2**28])}", f"over={r.choice(['pes', 'cubes', 'sips'])}"]
    return [name] + [f"{n}={r.choice(DIMS)}" for n in names]


def study(r):
    kind = r.randrange(4)
    if kind == 0:
        return "machine: t.yaml\ncommands: " + "[" * r.randint(1, 900)
    values = ", ".join(str(128 + i) for i in range(r.choice([1, 5, 60])))
    keys = r.sample(["cube.noc.bw_gbs", "sip.d2d.bw_gbs", "cube.hbm.bw_gbs"], r.randint(1, 3))
    return ("machine: t.yaml\ncommands: [probe]\nvary: {" + ", ".join(f"{k}: [{values}]" for k in keys) + "}\n")[:1000]


def command(r, folder):
    """The words of a command, without the program; its files are in `folder`."""
    def put(name, text):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
        return name
    kind = r.choice(["info", "info", "probe", "route", "replay", "replay", "sweep", "load", "load", "run", "run", "why",
                     "view", "study", "kbgen"])
    j = ["-j", "1"]
    if kind == "probe":
        return ["probe", f"--bytes={r.choice(SIZES)}"]
    if kind == "route":
        return ["route", "c0.pe0", r.choice(["c0.slice0", "c0.sram", "c1.slice0", "c9999.slice0"]), f"--bytes={r.choice(BYTES)}"]
    if kind == "replay":
        more = r.choice([[], ["--breakdown"], ["--stats", "s.csv"], ["--engine", "hop"]])
        return ["replay", put("rows.csv", rows(r))] + more
    if kind == "sweep":
        return ["sweep", "--src", r.choice(["c0.pe0", "c*.pe*"]), "--dst", r.choice(["c0.slice0", "c*.slice*"]),
                f"--bytes={r.choice(SIZES)}", f"--inflight={r.choice(COUNTS)}"] + j
    if kind == "load":
        pattern = r.choice(["uniform", "local", "neighbor", "transpose", "hotspot:25", "stream", "strided:64"])
        return ["load", "--pattern", pattern, "--rate", r.choice(["0.1", "0.000001", "1.0", "0.001:1.0:0.001"]),
                f"--txns={r.choice(COUNTS)}", f"--bytes={r.choice(SIZES)}", f"--seeds={r.choice([1, 3, 1000])}"] + j
    if kind == "run":
        return ["run"] + bench(r) + r.choice([[], ["--verify"], ["--breakdown"]]) + j
    if kind == "why":
        return ["why"] + bench(r) + r.choice([[], ["--by", "key"]]) + j
    if kind == "view":
        return ["view", r.choice(["cube", "sip", "system", "pe"])]
    if kind == "study":
        return ["study", put("study.yaml", study(r))] + j
    return [kind]


def measure(words, folder):
    """Exit code, processor seconds, peak KB and stderr."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (ENDS_S, ENDS_S + 1))
    with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "err"), "wb") as err:
        p = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                             preexec_fn=bound)
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    with open(os.path.join(folder, "err"), errors="replace") as f:
        said = f.read()
    return p.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, said


def fault(code, cpu_s, rss_kb, said):
    """What is wrong; None: nothing."""
    word = "worked for" in said
    large = "of memory" in said or "stopped by --limit-mb" in said
    if code not in CODES:
        return f"it ended with {code}"
    if cpu_s > CPU_S and not word:
        return f"{cpu_s:.1f} s without a word"
    if rss_kb > RSS_KB and not large:
        return f"{rss_kb >> 10} MB without a word"
    return None


def one(seed, any_program, kbgen):
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "t.yaml"), "w") as f:
            text = machine(r)
            f.write(text)
        words = command(r, folder)
        limits = ["--limit-mb", str(MEMORY_MB)]
        if words[0] == "kbgen":
            line = [kbgen] + limits + ["t.yaml"]
        elif words[0] == "study":
            line = [any_program] + words + limits
        else:
            line = [any_program] + words + ["--machine", "t.yaml"] + limits
        found = fault(*measure(line, folder))
        if not found:
            return None
        files = "".join(f"#   {name}: {open(os.path.join(folder, name)).read()[:500]!r}\n"
                        for name in sorted(os.listdir(folder)) if name.endswith((".yaml", ".csv")))
        return f"{found}\n#   {' '.join(line[1:])[:600]}\n{files}#   stderr: {said[:300]!r}"


def main():
    any_program, kbgen, seeds = sys.argv[1:4]
    first, last = (int(n) for n in seeds.split("-"))
    bad = 0
    for seed in range(first, last + 1):
        found = one(seed, os.path.abspath(any_program), os.path.abspath(kbgen))
        if found:
            bad += 1
            if bad <= 20:
                print(f"# {seed}: {found}", flush=True)
    print(f"{'not ok' if bad else 'ok'} 1 - small inputs {first} to {last}: at most a second and 256 MB, or a word"
          + (f" ({bad} of them without)" if bad else ""))
    print("1..1")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
