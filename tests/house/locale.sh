#!/usr/bin/env bash
# locale.sh -- numbers are read and written without the locale of the program, in one place. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
at_top
house=tests/house/house.py

# shellcheck disable=SC2046
nothing "$(python3 $house locale $(find runtime gen benches -name '*.[ch]' ! -path runtime/base/text.c | sort) 2>&1)"
ok "nothing but runtime/base/text.c depends on the locale"
[ "$(python3 $house locale runtime/base/text.c | wc -l)" -ge 1 ]
ok "that file does"

# -- planted ----------------------------------------------------------------------------------

# found LINE...: the numbers of the lines that are complained of
found()
{
    printf '%s\n' "$@" >"$work/a.c"
    python3 $house locale "$work/a.c" | cut -d : -f 2 | xargs
}

equal "readers" "1 2 3 4" "$(found 'x = strtod(text, &end);' 'x = atof (text);' 'sscanf(text, "%lf", &x);' 'sscanf(text, "%g", &y);')"
equal "writers" "1 2 3" "$(found 'printf("%.3f", x);' 'n += snprintf(to, f(1, ")"), "%s "' '    "%-8.*e", s, 3, x), fprintf(f, "%a", x);')"
equal "formats that come from elsewhere" "1" "$(found 'vsnprintf(to, n, format, args);')"
equal "classes of characters" "1 2" "$(found 'if (isdigit(c))' '    c = toupper(c);')"
equal "whole numbers and texts are free" "" "$(found 'printf("%5.1s %% of %d\n", text, 3);' 'n = sscanf(text, "%u", &u);' \
    '/* strtod(x) */ s = "atof";' 'text_format(to, n, "%.3f", x);')"
plan
