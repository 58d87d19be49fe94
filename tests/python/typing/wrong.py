"""wrong.py -- twenty mistakes: mypy --strict finds each, by its line."""
import kernbench

m = kernbench.Machine("cube8")
kernbench.Machine(8)  # no source
kernbench.Machine()  # nothing
m.prob()  # a method that is not there
m.probe(bytes=4096.5)  # no size
m.probe(case=3)  # the name of a case
m.probe("pe-local-hbm")  # by keyword only
m.load("uniform")  # no rate
m.load("uniform", 0.1, txns="many")  # a number
m.load("uniform", 0.1, seeds=0.5)  # a whole number
m.load("uniform", 0.1, op=kernbench.benches)  # a word
m.sweep("c0.pe0")  # no target
m.route("c0.pe0", 3)  # an endpoint is a text
m.run(64)  # the name of a bench
m.run("gemm", seed="three")  # a number
m.run("gemm", tensors=True).kernel_ns  # rows and tensors
m.run("gemm", reference=3)  # a function
m.set(5)  # keys
kernbench.vary("cube8", {"sips": [1, 2]})  # a machine
kernbench.compile("moe.c", flags="-O3")  # a list
m.hash = "0"  # a machine never changes
