#!/usr/bin/env bash
# chains.sh -- components in front of a memory, `impl: [NAME, builtin]`: one that hands all on is not
# seen, a cache hits as often as a plain one, and all engines agree. ACCESSES is how many the plain
# cache is asked.
. "$(dirname "$0")/../support/tap.sh"
at_top
export KB_COMPONENTS=tests/machines/components:examples/components
any=$B/kernbench

cat >"$work/m.yaml" <<'END'
kernbench: 2
name: chained
contention: {links: fifo}
sip: {cube_mesh: {w: 2, h: 1}}
cube: {pes: 4, hbm: {model: banks}}
END

# Rows by chance, with ties: of many lines, of pieces of one, and of a host.
awk 'BEGIN {
    srand(30); print "issue_ns,op,src,dst,offset,nbytes"
    split("16 64 64 256 500 4096", size, " ")
    for (i = 0; i < 2500; i++) {
        host = rand() < 0.05
        op = host ? (rand() < 0.5 ? "h2d" : "d2h") : rand() < 0.6 ? "read" : "write"
        src = host ? "host" : "c" int(2 * rand()) ".pe" int(4 * rand())
        print int(700 * rand()) "," op "," src ",c" int(2 * rand()) (!host && rand() < 0.1 ? ".sram" : ".slice" int(4 * rand())) "," \
            16 * int(1024 * rand()) "," size[1 + int(6 * rand())]
    }
}' >"$work/rows.csv"

replay() { call ${RUNNER:-} "$any" replay "$work/rows.csv" --machine "$work/m.yaml" --format csv "$@"; }

# id, done and end: what a component in front might change
ends() { cut -d, -f1,10,11 "$work/out"; }

routers="--set contention.links=router --set contention.packet_bytes=1024"
kinds=("" "--set contention.links=ideal" "--set cube.hbm.model=server" "--set cube.hbm.model=server --set contention.links=ideal"
    "--set cube.hbm.write_ack=written" "--set addressing.granule=4096" "--set cube.hbm.queue=2 --set cube.hbm.banks=2"
    "--set cube.pe.pe_dma.read_channels=4 --set cube.hbm.map=low"
    "$routers" "$routers --set cube.hbm.model=server" "$routers --set cube.hbm.write_ack=written --set cube.hbm.queue=2"
    "$routers --set cube.hbm.queue_bytes=4096 --set cube.hbm.latency_ns=3 --set cube.hbm.overhead_ns=2"
    "$routers --set cube.hbm.queue_bytes=4096 --set cube.hbm.model=server --set cube.hbm.latency_ns=3 --set cube.hbm.overhead_ns=2"
    "$routers --set addressing.granule=4096 --set contention.command_bytes=16")
for kind in "${kinds[@]}"; do
    # shellcheck disable=SC2086
    replay $kind --quiet
    ends >"$work/alone"
    for engine in "" "--fingerprint" "--engine hop"; do
        # shellcheck disable=SC2086
        replay $kind $engine --set 'cube.hbm.impl=[through,builtin]'
        [ "$code" -eq 0 ] && ends | cmp - "$work/alone"
        ok "through ${kind:-banks, fifo} ${engine:-fused}: as if it were not there"
    done
done

# In front of the banks of one cube alone.
for links in fifo ideal router; do
    replay --set contention.links=$links --quiet
    ends >"$work/alone"
    for engine in fused hop; do
        replay --set contention.links=$links --quiet --engine $engine --set "cubes={c0: {hbm: {impl: [through, builtin]}}}"
        [ "$code" -eq 0 ] && ends | cmp - "$work/alone"
        ok "through of one cube, $links: $engine"
    done
done

# The machine's own cache before a component that serves as the memory which is built in does.
sed 's/model: banks/model: server, hold: own, cache: {size_mb: 0.0078125, line: 64, ways: 2, latency_ns: 4.0, bw_gbs: 512.0}/' \
    "$work/m.yaml" >"$work/cached.yaml"
cached()
{
    rm -f "$work/stats.csv"
    call "$any" replay "$work/rows.csv" --machine "$work/cached.yaml" --format csv --quiet --fingerprint "$@"
    cat "$work/out" "$work/err"
    # of a component that queues: how busy it is, nothing of waits
    [ ! -e "$work/stats.csv" ] || grep -v 'hbm_ctrl.slice[0-9],' "$work/stats.csv"
}
for kind in "" "--set cube.hbm.overhead_ns=2 --set cube.hbm.latency_ns=3" "--set contention.links=ideal --set cube.hbm.cache.write=through" \
    "--set addressing.granule=4096 --set cube.hbm.cache.policy=random" "--set cube.hbm.access_bytes=256" "--stats $work/stats.csv"; do
    # shellcheck disable=SC2086
    cached $kind >"$work/built_in"
    for impl in server queued; do
        for engine in fused hop; do
            # shellcheck disable=SC2086
            equal "a cache before $impl${kind:+, $kind}: $engine" "$(cat "$work/built_in")" \
                "$(cached $kind --engine $engine --set cube.hbm.impl=$impl)"
        done
    done
done
for impl in server queued; do
    call "$any" run gemm send=each --machine "$work/cached.yaml" --quiet
    cp "$work/out" "$work/built_in"
    call "$any" run gemm send=each --machine "$work/cached.yaml" --quiet --set cube.hbm.impl=$impl
    [ "$code" -eq 0 ] && cmp "$work/out" "$work/built_in"
    ok "a cache before $impl: kernels"
done
# and one of a state of its own, which all engines ask the same
cached --set cube.hbm.impl=open_page >"$work/fused"
equal "a cache before open_page: hop" "$(cat "$work/fused")" "$(cached --engine hop --set cube.hbm.impl=open_page)"
equal "a cache before open_page: not watched" "$(grep -v fingerprint "$work/fused")" \
    "$(call "$any" replay "$work/rows.csv" --machine "$work/cached.yaml" --format csv --quiet --set cube.hbm.impl=open_page && cat "$work/out")"
# one that is wrong, or never done with what a read asks for, is told
printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,c0.pe0,c0.slice0,0,%s\n' write 1 >"$work/one.csv"
call "$any" replay "$work/one.csv" --machine "$work/cached.yaml" --set cube.hbm.cache.write=through --set cube.hbm.impl=wrong
[ $code -ne 0 ] && says "component 'wrong' of 'cube.hbm.impl' serves transaction 0"
ok "a cache before one that answers for the past"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,c0.pe0,c0.slice0,0,%s\n' read 192 >"$work/one.csv"
call "$any" replay "$work/one.csv" --machine "$work/cached.yaml" --set cube.hbm.impl=wrong
[ $code -ne 0 ] && says "transaction 0 never ends: component 'wrong'"
ok "a cache before one that never ends"

# --warm: the first rows leave their lines. The others end as if those had run one by one, long before.
sed 's/, cache: /, latency_ns: 60.0, cache: /; s/pes: 4,/pes: 4, l2: {size_mb: 0.0078125, line: 64, ways: 4, latency_ns: 12.0},/' \
    "$work/cached.yaml" >"$work/l2.yaml"
awk -F, -v n=800 'NR == 1 { print $0 ",after,think_ns"; next } { OFS = ","; row = NR - 2
    if (row < n) { $1 = 0; print $0, row ? row - 1 : "", row ? 10000 : "" } else { $1 += 20000000; print $0, "", "" } }' \
    "$work/rows.csv" >"$work/before.csv"
times() { awk -F, -v n=800 'NR > 1 && $1 >= n { print $1, $12, $13, $17, $18, $19, $20, $21 }' "$work/out"; }
for machine in cached l2; do
    for policy in lru random; do
        set -- --machine "$work/$machine.yaml" --set cube.hbm.cache.policy=$policy --format csv --quiet
        call "$any" replay "$work/before.csv" "$@"
        times >"$work/long_before"
        [ "$(wc -l <"$work/long_before")" -eq 1700 ]
        ok "warm, $machine, $policy: rows long before"
        for engine in fused hop; do
            call "$any" replay "$work/rows.csv" --warm 800 --engine $engine "$@"
            times | cmp - "$work/long_before"
            ok "warm, $machine, $policy: as those, $engine"
        done
        call "$any" replay "$work/rows.csv" "$@"
        times | cmp -s - "$work/long_before"
        [ $? -eq 1 ]
        ok "warm, $machine, $policy: and not as cold"
    done
done
printf 'issue_ns,op,src,dst,offset,nbytes,after,think_ns\n0,read,c0.pe0,c0.slice0,0,64,,\n7,read,c0.pe0,c0.slice0,0,64,0,50\n9,read,c0.pe0,c0.slice0,64,64,1|0,2\n' >"$work/one.csv"
call "$any" replay "$work/one.csv" --machine "$work/cached.yaml" --format csv --warm 1
equal "a row after a warm one is issued as if that had ended at 0" "1 50.000000" "$(sed -n 2p "$work/out" | cut -d, -f1,6 | tr , ' ')"
equal "and one after both when the other has" "$(awk -F, 'NR == 2 { printf "2 %.6f", $11 + 2 }' "$work/out")" \
    "$(sed -n 3p "$work/out" | cut -d, -f1,6 | tr , ' ')"

# Rows that are all warm leave none, and a word.
call "$any" replay "$work/one.csv" --machine "$work/cached.yaml" --format csv --warm 5
[ $code -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && says "--warm 5: all rows of the file, which are 3, only fill caches"
ok "all rows are warm"

# load --warm: two PEs walk the 512 MiB of their own slices by 1 MiB, which is 256 lines, at fixed times. The caches hold all.
cat >"$work/walk.yaml" <<'END'
kernbench: 3
name: walk
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: 2, hbm: {size_gb: 1, cache: {size_mb: 2048, line: 4096}}}
END
while read -r what hits misses options; do
    for engine in fused hop; do
        # shellcheck disable=SC2086
        call "$any" load --machine "$work/walk.yaml" --rate 0.05 --txns 200 --arrivals fixed --seeds 1 --bytes 1M \
            --pattern $options --engine $engine --stats "$work/stats.csv"
        equal "load, warm: $what, $engine" "$hits,0,$misses $hits,0,$misses" \
            "$(grep ^cache "$work/stats.csv" | cut -d, -f13-15 | xargs)"
    done
done <<'END'
nothing 0 25600 stream
450-of-512 9728 15872 stream --warm 900
all-of-it 25600 0 stream --warm 1024
200-of-256 11264 14336 strided:2M --warm 400
END
call "$any" load --machine "$work/walk.yaml" --rate 0.05 --txns 200 --arrivals fixed --seeds 1 --bytes 1M \
    --pattern multicast:1 --op write --warm 20000 --stats "$work/stats.csv"
equal "load, warm: multicasts" "25600,0,0 25600,0,0" "$(grep ^cache "$work/stats.csv" | cut -d, -f13-15 | xargs)"

# A cache: what all engines say.
for kind in "${kinds[@]}"; do
    prints=
    for engine in "" "--fingerprint" "--engine hop --fingerprint"; do
        # shellcheck disable=SC2086
        replay $kind $engine --set 'cube.hbm.impl=[tags,builtin]' --set cube.hbm.tags.sets=4 --set cube.hbm.tags.ways=2
        [ -z "$engine" ] && cp "$work/out" "$work/fused"
        prints+="$(grep fingerprint "$work/err") "
        [ "$code" -eq 0 ] && cmp "$work/out" "$work/fused"
        ok "cache ${kind:-banks, fifo} ${engine:-fused}"
    done
    # shellcheck disable=SC2086
    set -- $prints
    [ "$#" -eq 4 ] && [ "$2" = "$4" ]
    ok "cache ${kind:-banks, fifo}: one fingerprint"
done
cached="cube.hbm.impl=[tags,builtin]"
for command in "sweep --src c0.pe* --dst c*.slice* --inflight 1,5" "load --pattern uniform --rate 0.05 --txns 500 --seeds 1" \
    "run copy L=4096" "run gemm M=64 N=64 K=64"; do
    for links in fifo router; do
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$any" $command --machine "$work/m.yaml" --set "$cached" --format csv --quiet --set contention.links=$links
        cp "$work/out" "$work/fused"
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$any" $command --machine "$work/m.yaml" --set "$cached" --format csv --quiet --set contention.links=$links --engine hop
        [ "$code" -eq 0 ] && [ "$(wc -l <"$work/fused")" -gt 1 ] && cmp "$work/out" "$work/fused"
        ok "cache, $links: ${command%% -*} by both engines"
    done
done
for links in fifo router; do
    for more in --breakdown "--trace $work/t.json" "--stats $work/s.csv"; do
        # shellcheck disable=SC2086
        replay --set "$cached" --quiet --set contention.links=$links $more
        [ "$code" -eq 0 ]
        ok "cache, $links: ${more%% *}"
    done
done

# docs/components.md "In front of a memory": a line of 64 bytes at 256 GB/s, 2 ns for a hit
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,64\n100,read,c0.pe0,c0.slice0,32,32\n' >"$work/rows.csv"
replay --set "$cached" --set cube.hbm.model=server --quiet
equal "a miss and a hit" "4.335000 104.085000" "$(cut -d, -f10 "$work/out" | tail -2 | xargs)"

# What is sent while nothing waits comes to the banks at its time: as a write that is issued 50 ns later.
header=issue_ns,op,src,dst,offset,nbytes
printf '%s\n0,write,c0.pe0,c0.slice0,0,256\n50,read,c0.pe0,c0.slice0,64,64\n56,read,c0.pe0,c0.slice0,65536,64\n500,read,c0.pe0,c0.slice0,0,64\n' $header >"$work/rows.csv"
for engine in "" "--fingerprint" "--engine hop"; do
    # shellcheck disable=SC2086
    replay --set 'cube.hbm.impl=[posted,builtin]' --set cube.hbm.write_ack=written --quiet $engine
    cut -d, -f1,10 "$work/out" | tail -3 >"$work/posted"
    sed 's/^0,/50,/' "$work/rows.csv" >"$work/later.csv"
    # shellcheck disable=SC2086
    call ${RUNNER:-} "$any" replay "$work/later.csv" --machine "$work/m.yaml" --set cube.hbm.write_ack=written --format csv --quiet $engine
    cut -d, -f1,10 "$work/out" | tail -3 | cmp - "$work/posted"
    ok "sent while nothing waits ${engine:-fused}"
done

# As many hits as a plain cache of 16 sets of 4 lines, which keeps the lines used last.
awk -v n="${ACCESSES:-20000}" -v rows="$work/rows.csv" 'BEGIN {
    srand(31); print "issue_ns,op,src,dst,offset,nbytes" >rows
    for (i = 1; i <= n; i++) {
        line = int(rand() * rand() * rand() * 1024)
        set = line % 16
        found = 0
        for (w = 0; w < 4 && !found; w++)
            found = tag[set, w] == line + 1 ? w + 1 : 0
        hits += found > 0
        for (w = found ? found - 1 : 3; w > 0; w--)
            tag[set, w] = tag[set, w - 1]
        tag[set, 0] = line + 1
        printf "%.0f,%s,c0.pe0,c0.slice0,%d,%d\n", 1000 * i, rand() < 0.3 ? "write" : "read", 64 * line + 16 * int(4 * rand()), 16 >rows
    }
    print hits
}' >"$work/hits"
for model in "banks fifo" "server fifo" "banks router" "server router"; do
    set -- $model
    replay --set "$cached" --set cube.hbm.tags.sets=16 --set cube.hbm.tags.ways=4 --set cube.hbm.model=$1 --set contention.links=$2 --quiet
    equal "${ACCESSES:-20000} accesses before $1, $2: hits of a plain cache" "$(cat "$work/hits")" \
        "$(awk -F, -v back="$([ "$2" = router ] && echo 16)" 'NR > 1 && $10 - $8 - (back ? $back : 0) < 2.0000001 { hits++ } END { print hits }' "$work/out")"
done

# What is refused, by name
refused() # NAME TEXT SET...
{
    local name=$1 text=$2
    shift 2
    call ${RUNNER:-} "$any" info --machine "$work/m.yaml" "${@/#/--set=}"
    [ "$code" -eq 2 ] && grep -qF -- "$text" "$work/err"
    ok "$name"
}
refused "a front without what is behind it" "'tags' is in front of a memory: write [NAME, builtin]" "cube.hbm.impl=tags"
refused "a memory with something behind it" "'server' is a memory, and has nothing behind it: leave 'builtin' out" "cube.hbm.impl=[server,builtin]"
refused "two components" "'builtin', which is what the other keys say" "cube.hbm.impl=[tags,tags]"
refused "three" "a name, or [NAME, builtin]" "cube.hbm.impl=[tags,tags,builtin]"
refused "a component beside banks" "leave one of them out, or write [server, builtin]" "cube.hbm.impl=server"

printf '/* kernbench component: front far\n */\nstruct far { int none; };\nstatic inline void far_init(struct far *s) { (void)s; }
static inline void far_arrive(struct far *s, const struct kb_request *r, int64_t now_fs, struct kb_handle *h)
{ struct kb_request far = {.op = KB_OP_READ, .offset = UINT64_C(1) << 60, .bytes = 64}; (void)s, (void)r; kb_request_to(h, &far, now_fs); }
static inline void far_wake(struct far *s, uint64_t id, int64_t now_fs, struct kb_handle *h) { (void)s, (void)id, (void)now_fs, (void)h; }
static inline void far_ended(struct far *s, uint64_t id, int64_t now_fs, struct kb_handle *h) { (void)s, (void)id, (void)now_fs, (void)h; }\n' >"$work/far.c"
mkdir "$work/components" && mv "$work/far.c" "$work/components/"
export KB_COMPONENTS=$work/components
export KB_TRUST=$KB_TRUST:$work
replay --set 'cube.hbm.impl=[far,builtin]' --quiet
[ "$code" -eq 7 ] && grep -qF "component 'far' of 'cube.hbm.impl' sends request 0 on for" "$work/err"
ok "a request beyond the memory behind it"

plan
