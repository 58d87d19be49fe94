#!/usr/bin/env bash
# memory.sh -- the command line allocates, and speaks on stderr, in one place each. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
at_top

# calls PATTERN FILE...: calls of such functions, outside of comments
calls()
{
    local pattern=$1
    shift
    grep -nE "(^|[^a-z_>.])($pattern) ?\(" "$@" /dev/null | grep -vE '^[^:]*:[0-9]+: +\*'
}

takes='malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strn?dup|v?asprintf|open_memstream|getline|getdelim|scandir'
sources=$(find runtime/cli -name '*.[ch]' | sort)

# shellcheck disable=SC2086
nothing "$(calls "$takes" $(echo "$sources" | grep -v -e out/memory.c -e query/query.c -e query/compile.c))" # these tell their caller
ok "memory is had from out/memory.c"
# shellcheck disable=SC2086
nothing "$(grep -n 'stderr' $(echo "$sources" | grep -v -e out/say.c -e out/progress.c) | grep -E 'printf|fputs|fputc' | grep -v fingerprint)"
ok "messages go through out/say.c"

# -- planted ----------------------------------------------------------------------------------

printf '%s\n' 'p = malloc(3);' ' * malloc(3) fails' 'x = memory_new(1, 3); y->malloc(3);' '    c = strdup (text);' >"$work/a.c"
equal "what takes memory is found" "1 4" "$(calls "$takes" "$work/a.c" | cut -d : -f 2 | xargs)"
plan
