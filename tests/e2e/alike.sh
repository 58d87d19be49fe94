#!/usr/bin/env bash
# alike.sh -- packages that are alike share their ways, and those that differ do not. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
ANY=${ANY:-$B/kernbench}

printf '%s\n' "kernbench: 2" "name: t" "sips: 3" "sip: {cube_mesh: {w: 3, h: 3}}" "missing: [s1.c4]" >t.yaml

# passes SIP: how many nodes of its cube 4 lie between its cubes 3 and 5
passes()
{
    call "$ANY" route --machine t.yaml "s$1.c3.pe0" "s$1.c5.slice0" --format csv
    grep -c "sip$1.cube4\." out
}

[ "$(passes 0)" -gt 0 ] && [ "$(passes 2)" = "$(passes 0)" ]
ok "where nothing is missing the way is straight"
equal "around the cube that one package lacks" 0 "$(passes 1)"
call "$ANY" route --machine t.yaml s1.c3.pe0 s1.c5.slice0
[ $code -eq 0 ] && grep -q 'sip1.cube1\.\|sip1.cube7\.' out
ok "by its neighbours"
plan
