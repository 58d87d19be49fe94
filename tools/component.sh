#!/usr/bin/env bash
# component.sh YAML FILE... -- COMPILER ARGUMENT...
#
# Compiles a machine that has components, and refuses what a component may not do: keep data of its
# own, call what is not its own. (kbgen has refused foreign files.) Exit 3 and a message with file and key.
yaml=$1 files=()
shift
while [ "$1" != -- ]; do
    files+=("$1")
    shift
done
shift
for ((i = 1; i <= $#; i++)); do
    next=$((i + 1))
    case ${!i} in
    -o) object=${!next} ;;
    -c) ;;
    *topo.c) source=${!i} ;;
    esac
done

# key FILE: the keys that ask for it
key()
{
    local name
    name=$(basename "$1" .c)
    sed -n "s|.*= {\"$name\", .*/\* \(.*\) \*/|\1|p" "$source" | paste -sd ' ' | sed 's/ /, /g'
}

# refuse FILE TEXT: it is of that file
refuse()
{
    echo "$1: $2; $(key "$1") of $yaml asks for it" >&2
    exit 3
}

said=$(mktemp) || exit 5
trap 'rm -f "$said"' EXIT
"$@" 2>"$said"
code=$?
cat "$said" >&2
if [ $code -ne 0 ]; then
    for file in "${files[@]}"; do
        name=$(basename "$file" .c)
        if grep -qE "(^|[ /])$name\.c:|${name}_(init|serve|delay|arrive|wake)|struct $name\b|${name^^}_" "$said"; then
            echo "$file: this component does not compile, see above; $(key "$file") of $yaml asks for it" >&2
        fi
    done
    exit 3
fi

# Data that can be written, by their names without what the compiler has added.
written=$(objdump -t "$object" | awk '$0 ~ /[ \t]\.(data|bss|tdata|tbss)(\.[^r][^ \t]*|\.r[^e][^ \t]*)?[ \t]/ && $NF !~ /^\./ {sub(/\..*/, "", $NF); print $NF}')
for symbol in $written; do
    for file in "${files[@]}"; do
        grep -qw -- "$symbol" "$file" &&
            refuse "$file" "'$symbol' is data that can be written: a component keeps its state in struct $(basename "$file" .c)"
    done
done
for symbol in $(nm -u "$object" | awk '{print $2}' | grep -vE '^(kb_rt_|_|mem(cpy|set|move|cmp)$)'); do
    for file in "${files[@]}"; do
        grep -qE "\b$symbol[[:space:]]*\(" "$file" &&
            refuse "$file" "it calls '$symbol': a component uses its state, the request, the time and its keys, nothing else"
    done
done
exit 0
