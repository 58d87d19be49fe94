# profile.awk -- sums a profile of callgrind over the functions that its lines belong to.
#
# usage: awk -v rows=N -f profile.awk PROFILE; prints INSTRUCTIONS|the other columns, per row.

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
    sub(/^.*\/\.\//, "")
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
    name = owner($1)
    instructions[name] += $column["Ir"]
    wrong[name] += $column["Bcm"] + $column["Bim"]
    first[name] += $column["D1mr"] + $column["D1mw"]
    last[name] += $column["DLmr"] + $column["DLmw"]
}

function row(name, i, w, f, l) {
    if (i / rows >= 0.05)
        printf "%10.1f|%10.2f%10.2f%10.2f   %s\n", i / rows, w / rows, f / rows, l / rows, name
}

END {
    printf "%10s|%10s%10s%10s   %s\n", "instr.", "mispred.", "L1 miss", "LL miss", "function"
    for (name in instructions) {
        row(name, instructions[name], wrong[name], first[name], last[name])
        sum += instructions[name]
        sum_wrong += wrong[name]
        sum_first += first[name]
        sum_last += last[name]
    }
    row("all", sum, sum_wrong, sum_first, sum_last)
}
