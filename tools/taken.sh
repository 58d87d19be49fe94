#!/bin/sh
# taken.sh -- refuses a topology to be installed under a name that something else has already.
#
# usage: taken.sh NAME FOLDER, the folder that it is to be installed into; CC is the compiler.
# A program, a header <NAME.h> or a library -lNAME that the system has would be hidden, one in FOLDER
# overwritten. Those of a topology of that name are not in the way: they are installed again. Exit:
# 0 free, 2 taken, and by what.
set -u
name=$1 folder=$2 code=0

taken()
{
    echo "make: a topology '$name' cannot be installed: $1; NAME=... gives it another name" >&2
    code=2
}

# by_file FILE: unless it is of a topology of this name, which has its C name in it
by_file()
{
    [ ! -e "$1" ] || grep -q "${name}_topology" "$1" || taken "$1 is not of this topology"
}

program=$(unset -f "$name"; command -v "$name")
case $program in
'') ;;
/*) by_file "$program" ;;
*) taken "'$name' is a command of the shell" ;;
esac
header=$(echo "#include <$name.h>" | $CC -E -xc - 2>/dev/null | sed -n "s|^# 1 \"\(.*/$name\.h\)\".*|\1|p" | head -n 1)
[ -z "$header" ] || by_file "$header"
for file in "lib$name.so" "lib$name.a"; do
    found=$($CC -print-file-name="$file")
    [ "$found" = "$file" ] || by_file "$found" # else the name alone: there is none
done
for file in "bin/$name" "include/$name.h" "lib/lib$name.a" "lib/lib$name.so"; do
    by_file "$folder/$file"
done
exit $code
