#!/usr/bin/env bash
# names.sh -- a type that a public header defines has a name that no other public header gives to something else; and no two
# source files have one name. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
at_top

# defined FILE...: "NAME FILE" of each struct, enum and typedef that is defined there
defined()
{
    awk '/^(typedef )?(struct|enum|union) [a-z_0-9]+ \{/ { for (i = 1; $i != "{"; i++) name = $i; print name, FILENAME }
        /^} [a-z_0-9]+;/ { sub(";", "", $2); print $2, FILENAME }' "$@" | sort -u
}

twice()
{
    defined "$@" | awk '{ n[$1]++; where[$1] = where[$1] " " $2 } END { for (name in n) if (n[name] > 1) print name ":" where[name] }' | sort
}

headers=$(ls runtime/include/*.h)
# shellcheck disable=SC2086
nothing "$(twice $headers)"
ok "no two public headers define the same name"
# shellcheck disable=SC2086
[ "$(defined $headers | wc -l)" -gt 40 ] && defined $headers | grep -qx 'kb_request runtime/include/component.h'
ok "what they define is found"
sed 's/^typedef struct kb_transaction {/typedef struct kb_asked {/; s/^} kb_transaction;/} kb_request;/' runtime/include/kernbench.h >"$work/kernbench.h"
equal "planted" "kb_request: $work/kernbench.h runtime/include/component.h" "$(twice "$work/kernbench.h" runtime/include/component.h)"

# same_names: file names on stdin that end in a name which another ends in, too
same_names()
{
    awk -F/ '{ n[$NF]++; where[$NF] = where[$NF] " " $0 } END { for (name in n) if (n[name] > 1) print name ":" where[name] }' | sort
}

# A message, a profile and the log of a kernel name a file without its folder.
nothing "$(find gen runtime benches -name '*.[ch]' -o -name '*.def' | sort | same_names)"
ok "no two files of gen/, runtime/ and benches/ have the same name"
equal "planted, too" "b.c: a/b.c c/b.c" "$(printf '%s\n' a/b.c a/c.c c/b.c | same_names)"
plan
