# profile.awk -- sums a profile of callgrind over files, and over the functions that lines belong to.
#
# usage: awk -v rows=N -f profile.awk PROFILE; prints TABLE|INSTRUCTIONS|the other columns,
# per row: table 0 is all, 1 by file, 2 by function.

# The function around each line of a C file: from a name at the margin to a brace at the margin.
function read_source(path, line, n, text, name) {
    known[path] = 1
    while ((getline text < path) > 0) {
        n++
        gsub(/__attribute__ *\(\([^)]*\)\)/, "", text)
        if (text ~ /^[a-z_].*\(/ && text !~ /;$/ && match(text, /[a-z_0-9]+\(/))
            name = substr(text, RSTART, RLENGTH - 1)
        function_at[path, n] = name
        if (text ~ /^}/)
            name = ""
    }
    close(path)
}

function owner(line) {
    if (!(file in known))
        read_source(file)
    if (function_at[file, line] != "")
        return function_at[file, line]
    return routine
}

/^events:/ {
    for (i = 2; i <= NF; i++)
        column[$i] = i
    next
}
/^(fl|fi|fe)=/ {
    sub(/^f[lie]=/, "")
    sub(/^.*\/multiarch\//, "libc/")
    file = $0
    next
}
/^fn=/ {
    sub(/^fn=/, "")
    routine = $0
    next
}
/^calls=/ {
    getline # what the call took counts where it was spent
    next
}
/^[0-9]/ && NF > 1 {
    add("1 " file)
    add("2 " owner($1))
    add("0 all")
}

function add(name) {
    instructions[name] += $column["Ir"]
    wrong[name] += $column["Bcm"] + $column["Bim"]
    first[name] += $column["D1mr"] + $column["D1mw"]
    last[name] += $column["DLmr"] + $column["DLmw"]
}

END {
    for (name in instructions)
        if (instructions[name] / rows >= 1)
            printf "%s|%10.1f|%10.2f%10.2f%10.2f   %s\n", substr(name, 1, 1),
                instructions[name] / rows, wrong[name] / rows, first[name] / rows,
                last[name] / rows, substr(name, 3)
}
