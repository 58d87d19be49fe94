# parts.sh -- what scripts of parts of a run share. To be sourced, behind tap.sh.

# parted NAME FIRST ARGUMENT...: three parts by themselves, and the whole of them without another run; runs have numbers from FIRST on
parted()
{
    local name=$1 first=$2 i

    shift 2
    rm -f p.csv* w.csv
    call "$SIM" "$@" --quiet -o w.csv --format csv
    local whole=$code
    for i in 3 1 2; do "$SIM" "$@" --quiet -o p.csv --format csv --shard $i/3 2>err; done
    python3 - "$first" p.csv.?of3 <<'PYTHON'
import struct, sys
first, numbers = int(sys.argv[1]), []
for name in sys.argv[2:]:
    with open(name, "rb") as f:
        f.readline()
        while head := f.read(24):
            number, n, _ = struct.unpack("QQQ", head)
            if number >= first:
                numbers.append(number - first)
            f.seek(n, 1)
assert sorted(numbers) == list(range(len(numbers))) and len(numbers) >= 9, numbers
PYTHON
    ok "parts of $name have each run once"
    [ ! -e p.csv ] && [ -s p.csv.3of3 ] && call timeout 60 "$SIM" "$@" --quiet -o p.csv --format csv --resume
    [ $code -eq $whole ] && same w.csv p.csv && [ ! -e p.csv.journal ] && [ -e p.csv.1of3 ]
    ok "parts of $name"
    rm p.csv p.csv.2of3
    call "$SIM" "$@" --quiet -o p.csv --format csv --resume
    [ $code -eq $whole ] && same w.csv p.csv
    ok "$name without one of its parts, which is run"
}
