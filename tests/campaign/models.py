#!/usr/bin/env python3
"""models.py -- runs `llm` on random models and machines: ways that must come to the same digits do.

usage: models.py BUILD FOLDER [SEEDS], as in: models.py build build/models 1-1000

Of each seed a machine, a model and what is asked are drawn; `llm` runs with leaps over what repeats, and then with
--no-repeat, by --engine hop, with the tiles that --map-out has written, and from the operations that --graph has
written. All of them take the same times. FOLDER/done has a line for each seed that passed, which is not run again;
FOLDER/SEED has the files of one that failed, and the command that failed is printed. What `llm` refuses passes.
"""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MOST_S = 600
REFUSED = 2
# Not of times: what follows from another path of the same length, and what a file of operations does not know.
CAUSE = {"cause"}
TILES = {"mapping", "bound_us"}
NAMES = {"model", "batch", "phase", "kv", "op", "pct", "tp", "pp", "ep", "dp", "mapping"}


def cube_of(dice, pes, slices):
    dma = [f"issue_ns: {dice.choice([1.0, 26.7])}"]
    tcm = [f"size_mb: {dice.choice([1, 2])}"]
    more = ""
    if dice.random() < 0.5:
        dma += [f"read_channels: {dice.choice([1, 2, 16])}", f"write_channels: {dice.choice([1, 2, 16])}",
                f"overhead_ns: {dice.choice([0.0, 5.0, 83.0])}"]
        tcm += [f"read_gbs: {dice.choice([8.0, 256.0])}", f"write_gbs: {dice.choice([8.0, 256.0])}"]
        more = (f"pe_gemm: {{mac: [{dice.choice([4, 8])}, {dice.choice([8, 16])}, {dice.choice([4, 16])}]}}, "
                f"pe_ipcq: {{slots: {dice.choice([1, 2, 8])}, slot_bytes: {dice.choice([64, 1024, 4096])}}}, ")
    return (f"{{pes: {pes}, hbm: {{slices: {slices}, bw_gbs: {dice.choice([16.0, 64.0])}, "
            f"latency_ns: {dice.choice([0.0, 30.0, 300.0])}}}, "
            f"pe: {{{more}pe_dma: {{{', '.join(dma)}}}, pe_tcm: {{{', '.join(tcm)}}}}}}}")


def net_of(dice, n):
    """Cubes in one of several shapes."""
    shape = dice.choice(["torus", "ring", "mesh", "all", "row"])
    if shape in ("torus", "mesh") and n % 2 == 0 and n > 2:
        return f"{{{shape}: [2, {n // 2}], link: l}}"
    if shape == "ring" and n > 2:
        return f"{{torus: [{n}], link: l}}"
    if shape == "row" and n > 1:
        return f"{{list: [{', '.join(f'c{i}-c{i + 1}' for i in range(n - 1))}], link: l}}"
    return f'{{all: "c[0-{n - 1}]", link: l}}'


def machine_of(dice, ranks):
    """The YAML of a machine of so many cubes with PEs, or SIPs of one cube."""
    pes = dice.choice([1, 2, 3, 4])
    link = (f"{{bw_gbs: {dice.choice([1.0, 5.0, 25.0, 100.0])}, lanes: {dice.choice([1, 2])}, "
            f"latency_ns: {dice.choice([0.0, 5.5, 125.0, 257.5])}}}")
    head = f"kernbench: 3\nname: m\nlinks: {{l: {link}}}\n"
    kind = dice.choice(["cubes", "cubes", "cubes", "sips", "ways"])
    if kind == "sips":
        text = (f"{head}sips: {ranks}\ncube: {cube_of(dice, pes, pes)}\nsip: {{cube_mesh: {{w: 1, h: 1}}}}\n"
                f'fabric: {{shape: net, switches: 1, net: [{{each: ["s*.c0", "sw*"], link: l}}]}}\n')
    elif kind == "ways":
        switches = ", ".join(f'{{each: ["c[0-{ranks - 1}]", c{ranks + i}], link: l}}' for i in range(2))
        text = (f"{head}kinds: {{gpu: {cube_of(dice, pes, pes)}, sw: {{pes: 0, hbm: {{slices: 0}}}}}}\n"
                f"sip: {{cubes: {ranks + 2}, paths: 3, net: [{switches}]}}\n"
                f'cubes: {{"c[0-{ranks - 1}]": gpu, "c[{ranks}-{ranks + 1}]": sw}}\n')
    else:
        text = (f"{head}cube: {cube_of(dice, pes, dice.choice([pes, pes, 1, 2 * pes]))}\n"
                f"sip: {{cubes: {ranks}, net: [{net_of(dice, ranks)}]}}\n")
    if dice.random() < 0.4:
        text += (f"software: {{launch_ns: {dice.choice([0.0, 10.0, 900.0])}, "
                 f"call_ns: {dice.choice([0.0, 5.0])}, step_ns: {dice.choice([0.0, 3.0])}}}\n")
    return text


def model_of(dice):
    heads, size = dice.choice([8, 12, 24]), dice.choice([8, 16])
    model = {"model_type": "llama", "hidden_size": heads * size, "num_attention_heads": heads,
             "num_key_value_heads": heads, "intermediate_size": dice.choice([48, 96, 240]),
             "num_hidden_layers": dice.choice([5, 9, 12]), "vocab_size": dice.choice([240, 960])}
    if dice.random() < 0.3:
        model |= {"model_type": "mixtral", "num_local_experts": dice.choice([4, 8]), "num_experts_per_tok": 2}
    return model


def iterations_of(dice, path):
    rows = ["iteration,request,q,kv"]
    for iteration in range(dice.choice([1, 3])):
        for request in range(dice.choice([1, 2, 4])):
            new = dice.choice([1, 1, 1, 7, 30])
            rows.append(f"{iteration},{request},{new},{new + dice.choice([0, 9, 60])}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    return ["--iterations", path]


def asked_of(dice, model, ranks, folder):
    """Divisions of the ranks, and tokens."""
    if dice.random() < 0.2:
        return iterations_of(dice, f"{folder}/iterations.csv")
    ways = [(t, p, ranks // t // p) for t in range(1, ranks + 1) for p in (1, 2, 3)
            if ranks % (t * p) == 0 and model["num_attention_heads"] % t == 0]
    tp, pp, dp = dice.choice(ways)
    words = ["--tp", str(tp), "--pp", str(pp), "--dp", str(dp), "--batch", str(dp * dice.choice([1, 2, 3, 5]))]
    words += dice.choice([["--decode", "3"], ["--decode", "40"], ["--decode", "10,33"], ["--prefill", "50"],
                          ["--prefill", "48", "--chunk", "20"], ["--prefill", "24", "--tokens", "5"]])
    experts = model.get("num_local_experts", 0)
    if experts:
        words += ["--routing", dice.choice(["even", "uniform:3", "zipf:1.1:5"])]
        words += ["--ep", str(dice.choice([n for n in (1, 2, 4, 8) if tp * dp % n == 0 and experts % n == 0]))]
    return words


class Seed:
    """What is drawn of a seed, in a folder of its own."""

    def __init__(self, build, folder, seed):
        dice = random.Random(seed)
        ranks, model = dice.choice([2, 3, 4, 6, 8]), model_of(dice)
        self.program, self.folder, self.bad = f"{build}/kernbench", f"{folder}/{seed}", []
        self.refused = False
        os.makedirs(self.folder, exist_ok=True)
        self.machine, self.model = f"{self.folder}/machine.yaml", f"{self.folder}/model.json"
        with open(self.machine, "w", encoding="utf-8") as file:
            file.write(machine_of(dice, ranks))
        with open(self.model, "w", encoding="utf-8") as file:
            json.dump(model, file)
        self.asked = asked_of(dice, model, ranks, self.folder)
        self.has_stages = "--pp" in self.asked and self.asked[self.asked.index("--pp") + 1] != "1"

    def run(self, model, *words):
        """The exit code and the rows."""
        command = [self.program, "llm", model, "--machine", self.machine, *words, "--tries", "1", "--format", "csv",
                   "--quiet"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_S, check=False)
        except subprocess.TimeoutExpired:
            self.bad.append(f"{' '.join(command)}: more than {MOST_S} s")
            return REFUSED, []
        if done.returncode not in (0, REFUSED):
            self.bad.append(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.returncode, list(csv.DictReader(io.StringIO(done.stdout)))

    def same(self, rows, leave, model, *words):
        """The same times on another way; true if it has one."""
        code, others = self.run(model, *words)
        both = [[{k: v for k, v in row.items() if k not in leave} for row in r] for r in (rows, others)]
        if code == 0 and both[0] != both[1]:
            self.bad.append(f"{self.machine}: other times: {' '.join(words)}")
        return code == 0

    def check(self):
        code, rows = self.run(self.model, *self.asked)
        self.refused = code == REFUSED
        if code:
            return
        map_file, graph = f"{self.folder}/tiles.yaml", f"{self.folder}/graph.yaml"
        self.same(rows, CAUSE, self.model, *self.asked, "--no-repeat")
        self.same(rows, set(), self.model, *self.asked, "--engine", "hop")
        # Stages may have experts with other rows: the file has one tile of a product.
        if not self.has_stages and self.same(rows, set(), self.model, *self.asked, "--map-out", map_file):
            self.same(rows, TILES, self.model, *self.asked, "--map", map_file)
        if self.same(rows, set(), self.model, *self.asked, "--graph", graph):
            self.same(rows, NAMES, graph)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, folder = sys.argv[1:3]
    first, _, last = (sys.argv[3] if len(sys.argv) > 3 else "1-1000").partition("-")
    os.makedirs(folder, exist_ok=True)
    done = f"{folder}/done"
    passed = set(open(done, encoding="utf-8").read().split()) if os.path.exists(done) else set()
    failed = refused = 0

    def one(number):
        seed = Seed(build, folder, number)
        seed.check()
        return number, seed

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "0")) or os.cpu_count()) as pool:
        numbers = [n for n in range(int(first), int(last or first) + 1) if str(n) not in passed]
        for number, seed in pool.map(one, numbers):
            for line in seed.bad:
                print(f"seed {number}: {line}", flush=True)
            failed += bool(seed.bad)
            refused += seed.refused
            if not seed.bad:
                shutil.rmtree(seed.folder)
                with open(done, "a", encoding="utf-8") as file:
                    file.write(f"{number}\n")
    print(f"{refused} of {len(numbers)} were refused")
    print(f"{len(numbers) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
