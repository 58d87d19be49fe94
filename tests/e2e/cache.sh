#!/usr/bin/env bash
# cache.sh -- objects of components that are kept: what is broken is made again, what others may
# write is refused.
#
# TAP on stdout. B names the build.
. "$(dirname "$0")/../support/tap.sh"
any=$B/kernbench
export XDG_CACHE_HOME=$work/cache
unset CC
mkdir "$XDG_CACHE_HOME" "$work/components"
cache=$XDG_CACHE_HOME/kernbench
cp "$root/examples/components/closed_page.c" components/
cat >m.yaml <<'EOF'
kernbench: 2
name: m
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: 1, hbm: {impl: closed_page}}
EOF

# probe: $code, out, err
probe()
{
    call "$any" probe --machine m.yaml --case pe-local-hbm --format csv
}

entry()
{
    find "$cache" -name '*.so'
}

probe
[ $code -eq 0 ] && cp out cold && [ "$(entry | wc -l)" = 1 ]
ok "an object is kept"
cp "$(entry)" object
bytes=$(stat -c %s object)

# broken NAME COMMAND...: the entry, made by the command, is not used, and made again
broken()
{
    local name=$1 file
    shift
    file=$(entry)
    rm -f "$file"
    "$@" "$file"
    probe
    [ $code -eq 0 ] && cmp -s out cold && cmp -s "$(entry)" object && [ ! -L "$(entry)" ]
    ok "$name: made again"
}
cut() { head -c "$1" object >"$2"; }
flip() { cp object "$2" && printf '\252' | dd of="$2" bs=1 seek="$1" conv=notrunc status=none; }
long() { cat object - >"$1" <<<more; }
open_to() { cp object "$2" && chmod "$1" "$2"; }
linked() { ln -s "$work/object" "$1"; }
of_another() { sed 's/compiler=..../compiler=0000/' object >"$1"; }
for at in 0 1 64 4096 9000 $((bytes - 300)) $((bytes - 1)); do broken "cut after $at bytes" cut $at; done
for at in 0 24 700 $((bytes - 400)) $((bytes - 2)); do broken "another byte $at" flip $at; done
broken "longer" long
broken "a text" cp "$work/m.yaml"
broken "a link" linked
broken "of another compiler" of_another
broken "an object that others may write" open_to 766
equal "and nothing else is left" 1 "$(find "$cache" -mindepth 1 | wc -l)"

# -- what others may write to --------------------------------------------------------------------

# refuses TEXT: exit 3, and neither used nor written
refuses()
{
    rm -f "$(entry)"
    probe
    [ $code -eq 3 ] && grep -qF "$1" err && [ -z "$(entry)" ]
    ok "refused: $1"
}
for mode in 770 707 1777; do
    chmod $mode "$cache"
    refuses "$cache may be written by others, whose files would run as yours"
done
chmod 700 "$cache"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$cache"
    refuses "$cache belongs to another user, whose files would run as yours: set XDG_CACHE_HOME to a folder of your own"
    chown 0 "$cache"
else
    skip "a folder of another user" "only root can give one away"
fi
probe
[ $code -eq 0 ] && cmp -s out cold
ok "a folder of our own again"
rm -r "$XDG_CACHE_HOME" && probe
equal "a new one is closed to others" "700 700" "$(stat -c %a "$cache" "$(entry)" | xargs)"

# -- which compiler --------------------------------------------------------------------------------

n_entries() { entry | wc -l; }
printf '#!/bin/sh\nexec cc -DMORE=1 "$@"\n' >mycc && chmod +x mycc
CC=$work/mycc call "$any" probe --machine m.yaml --case pe-local-hbm --format csv
equal "another compiler: another object" 2 "$(n_entries)"
sed -i s/MORE=1/MORE=2/ mycc
CC=$work/mycc call "$any" probe --machine m.yaml --case pe-local-hbm --format csv
equal "the same one, edited: another object" 3 "$(n_entries)"
CC=$work/mycc call "$any" probe --machine m.yaml --case pe-local-hbm --format csv
equal "the same: no other one" 3 "$(n_entries)"
mkdir shadow && printf '#include_next <stdint.h>\n#undef INT64_C\n#define INT64_C(x) (x##L + 1000000)\n' >shadow/stdint.h
CPATH=$work/shadow call "$any" probe --machine m.yaml --case pe-local-hbm --format csv
[ "$(n_entries)" = 4 ] && ! cmp -s out cold
ok "a header that appears earlier in CPATH: another object"
probe
[ "$(n_entries)" = 4 ] && cmp -s out cold
ok "and without it the first again"
plan
