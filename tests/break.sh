#!/usr/bin/env bash
# break.sh -- breaks the code on purpose, one way at a time, and reports which test notices.
#
# usage: break.sh [-jN] [PATTERN]   the ways whose names match PATTERN, N of them at a time
#        break.sh --dry [PATTERN]   only whether each SED still changes its FILE (seconds)
# Prints for each way
#     caught: NAME by TEST        or        MISSED: NAME
# and ends with 1 if any is missed. Works in copies of the tree. Some of these ways are mistakes that
# were really made once.
set -u

tree=$(cd "$(dirname "$0")/.." && pwd)
jobs=1 dry=
while [ $# -gt 0 ]; do
    case $1 in
    -j*) jobs=${1#-j} ;;
    --dry) dry=1 ;;
    -*) sed -n '4,5s/^# //p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
pattern=${1:-.}

names=() edits=() # of each way its name, and FILE SED [FILE SED]... as words quoted for the shell

# break_it NAME FILE SED [FILE SED]...
break_it() {
    [[ $1 =~ $pattern ]] || return 0
    names+=("$1")
    edits+=("$(printf '%q ' "${@:2}")")
}

how=runtime/engine/how.h state=runtime/engine/state.c issue_order=runtime/engine/issue_order.c check=runtime/sim/sim_check.c
cost=runtime/machine/cost.h ev=runtime/engine/ev.h sim=runtime/sim/sim.c add=runtime/sim/add.c results=runtime/sim/results.c stats=runtime/explain/utilization.c spread=runtime/explain/spread.c flow=runtime/engine/flow.h
feeds=gen/feeds.c between=gen/between.c run=runtime/engine/engine.c hop=runtime/engine/hop.c hop_way=runtime/engine/hop_way.c
segments=gen/segments.c costs=gen/costs.c nodes=gen/nodes.c walk=runtime/machine/walk.h

# -- order ----------------------------------------------------------------------------------
mesh=runtime/machine/mesh.h
break_it 'a live run goes past its pause' runtime/engine/inorder_loop.h 's/return ev_time_fs\(first\) >= s->pause_fs/return ev_time_fs(first) > s->pause_fs/'
break_it 'a live run by hop goes past its pause' runtime/engine/hop.c 's/ev_time_fs\(e\) >= s->pause_fs/ev_time_fs(e) > s->pause_fs/'
break_it 'a row that comes later is not issued' runtime/sim/add.c 's/slot = first; slot < end; slot\+\+/slot = first + 1; slot < end; slot++/'
break_it 'a live run asks for packets as if they were transactions' runtime/engine/state.h 's/s->slots \? s->slots\[id\] : \(uint32_t\)id/(uint32_t)id/'
break_it 'a live run cuts nothing that comes late' $add 's/UNLIKELY\(s->started\) \? split_all\(s, first, end, why\) : KB_OK/KB_OK/'
break_it 'a live run counts packets as transactions' runtime/engine/split.h 's/return s->splits && s->splits\[slot\]\.whole != slot;/return s->splits \&\& slot >= s->n_txns;/'
break_it 'a live run takes rows of its past' runtime/sim/sim.c 's/s->from_fs = status == KB_AGAIN \? s->now_fs \+ !has_arrived\(s\) : \(uint64_t\)to_fs;/s->from_fs = 0;/'
break_it 'a live run loses rows before the first multicast of a call' runtime/engine/split.c 's/s->slots && slot < s->txns_cap; slot\+\+\)/s->slots \&\& slot < s->n_txns; slot++)/'
break_it 'a live run keeps no completions' runtime/engine/completed.c 's/c->ids\[c->n\+\+\] = id;/c->ids[c->n] = id;/'
break_it 'a port of a TCM is held for the route' gen/costs.c 's/\.hold = \(uint8_t\)s->cube_pe_pe_tcm_hold/.hold = HOLD_ROUTE/'
break_it 'the server that is free last is taken' runtime/engine/station.h 's/if \(free_fs < l->free_fs\)/if (free_fs > l->free_fs)/'
break_it 'a port costs what memories do' runtime/machine/cost.h 's/memory->ports \? m->tcm_gbs : m->memory_gbs/m->memory_gbs/'
break_it 'a product overtakes the one before' runtime/pe/pe_scheduler.c 's/^    compute_in_order\(s, t, token->command\);/    token_engine(s, t, token);/' runtime/pe/pe_scheduler.c 's/^static void compute_in_order/static __attribute__((unused)) void compute_in_order/'
break_it 'a command starts before its operands' runtime/kernels/flight.c 's/if \(!tensor \|\| !tensor->making \|\| !flight_orders\(c, tensor\)\)/if (!tensor || tensor->making)/'
break_it 'wait_read: it waits for nothing' runtime/kernels/tl_memory.c 's/while \(flight_is_read\(tl, tensor->block\)\)/while (0)/'
break_it 'wait_read: no FETCH wakes it' runtime/kernels/flight.c 's/if \(c->pe->unread && !flight_is_read/if (0 \&\& !flight_is_read/'
break_it 'wait_read: what is written is over, too' runtime/record/race.c 's/x->kind == ACCESS_READ && x->clock == CLOCK_OPEN/x->clock == CLOCK_OPEN/'
break_it 'wait_read: a read is over when its command is waited for' runtime/record/race.c 's/^        if \(x->clock == CLOCK_OPEN\)$/        if (1)/'
break_it 'wait_read: a multicast has no handle' runtime/kernels/tl_memory.c 's/set_place\(&call, c, \(kb_dtype\)tensor->dtype, &tensor->shape, addresses\[0\]\)/(void)addresses/'
break_it 'notes: a wait is told of without a gain' runtime/cli/rows/binding.c 's/share >= GAIN_LEAST/share >= 0/'
break_it 'notes: the key that is tried stays as it was' runtime/cli/rows/binding.c 's/fs = time_on\(t, topo\);/fs = time_on(t, t->cli->topo);/'
break_it 'notes: long runs are repeated, too' runtime/cli/rows/binding.c 's/t->commands > COMMANDS_MOST/false/'
break_it 'rates: the peak is one of all types' runtime/cli/rows/launch_rows.c 's/launch->gemm_rated_macs/macs/'
break_it 'moe: rows come back as they went' examples/moe.c 's/back \? to \* d->n \+ pe : pe \* d->n \+ to/pe * d->n + to + 0 * back/'
break_it 'moe: what came is taken in the order of experts' examples/moe.c 's/rows\[n\+\+\] = came;/rows[n] = n, n++;/'
break_it 'moe: rows of the last product are forgotten' examples/moe.c 's/\(n == 0 \|\| j \+ 1 < 2 \* d->all\)/(n == 0 || j < 2 * d->all)/'
break_it 'product: a buffer is written while it is read' benches/product.h 's/^    tl_wait_read\(.*;//'
break_it 'product: what was sent is not waited for' benches/product.h 's/^        tl_wait\(me->tl, side->sent\[i\]\);//'
break_it 'product: two buffers are as good as three' benches/grid.h 's/BUFFERS = 3/BUFFERS = 2/'
break_it 'product: all tiles fit' benches/grid.h 's/need\.tcm <= room\.tcm && //'
break_it 'product: a tile of b comes from the first row' benches/product.h 's/return side == &me->b \? has \/ cols % me->cut\.rows/return side == \&me->b ? 0/'
break_it 'product: the last block of a part is a whole one' benches/product.h 's/\*extent = least\(size, end - \*begin\)/*extent = size + 0 * end/'
break_it 'an accumulator is stored before its products' runtime/kernels/acc.c 's/c->turn = !acc->last;/c->turn = true;/'
break_it 'lanes: all packets take the first' runtime/engine/router.c 's/\(uint32_t\)\(turn % router_lanes\(s->router, row->port\)\)/(uint32_t)(0 * turn)/'
break_it 'warm caches: all warm traffic is the first of its PE' runtime/sim/traffic_warm.c 's/traffic_place\(s, i, src->n - 1,/traffic_place(s, i, 0 * src->n,/'
break_it 'warm caches: traffic takes nothing over' runtime/sim/traffic_warm.c 's/^        caches_warm\(s, w\.sim\);/        ;/'
break_it 'warm caches: all traffic lies at 0' runtime/engine/traffic.c 's/!s->splits && split_asks_where\(s\)/!s->splits \&\& s->banks/'
break_it 'warm caches: fixed times of traffic go on' runtime/engine/traffic.c 's/\(double\)i \/ n - 1/(double)i \/ n/'
break_it 'nets of several SIPs: no hop class between them' gen/shares.c 's/by_links \? t->n_segments : t->seg_cross/t->seg_cross/'
break_it 'nets of several SIPs: turns of switches on rails are not seen' gen/stops.c 's/uint32_t first = t->rails \? 0 : to - to % t->cubes, io/uint32_t first = to - to % t->cubes, io/' gen/stops.c 's/uint32_t end = t->rails \? sip_cubes\(t\) : first/uint32_t end = first/'
break_it 'nets of several SIPs: switches of rails come before IO chiplets' runtime/engine/router_order.c 's/cube < sip_cubes\(t\) \? 0 :/true ? 0 :/'
break_it 'nets of several SIPs: the links ashore do not count' gen/channels.c 's/ends\[3\]\[from\] \+ ends\[0\]\[to\]/ends[0][to]/'
break_it 'nets of several SIPs: a way from a SIP to itself goes ashore, too' gen/channels.c 's/            if \(from == to\)/            if (from > t->sips)/'
break_it 'nets of several SIPs: data of one-way nets go ashore as requests do' gen/channels.c 's/if \(t->plane_rows\[0\]\.one_way\)/if (0)/'
break_it 'nets of several SIPs: a request has the way of its data' runtime/machine/cost.h 's/^        request\.way = 0;/        ;/'
break_it 'pairs: one number of links ashore stands for all' gen/pairs.c 's/\|\| p->counts\[from\] \|\|/||/'
break_it 'pairs: one cube of each number of links goes ashore' gen/pairs.c 's/ \|\| p->ends\[to\]//'
break_it 'up, then down: up again behind a step down' gen/net_search.c 's/\(down \|\| !was_down\)/(down || was_down || !was_down)/'
break_it 'up, then down: the tree begins at the lowest cube' gen/net_routes.c 's/ && is_switch\(found->kinds\[found->kind\[s->first \+ cube\]\]\)//'
break_it 'up, then down: a step knows nothing of those before' $mesh 's/down = down \|\| net_port\(t, cube, exit\)->flags & PORT_DOWN;/;/'
break_it 'up, then down: a pair may lose its way' gen/routes.c 's/r->no_other = net_lost_pair\(r, other\);/;/'
break_it 'up, then down: SIPs on rails go down by the same links' gen/sips.c 's/x->flags != y->flags/(x->flags \| PORT_DOWN) != (y->flags | PORT_DOWN)/'
break_it 'nets: reads of one-way nets have no classes for their data' gen/channels.c 's/mesh_is_one_way\(t, 0, from, to\)/false/'
break_it 'hop classes: a link more has the same one' runtime/machine/vcs.h 's/p\[i - 1\]\.links \+ vcs_counts\(last\)/p[i - 1].links/'
break_it 'hop classes: links of all kinds count' runtime/machine/vcs.h 's/return port && !\(port->flags & PORT_UNCOUNTED\)/return port != NULL/'
break_it 'datelines of a net: the closing link is none' runtime/machine/vcs.h 's/\(behind \|\| a->flags & PORT_CLOSES\)/behind/'
break_it 'convert: the rate of the first operand' runtime/pe/pe_gemm.c 's/return rate_of\(pe, dtype_bytes\(a\) > dtype_bytes\(b\) \? a : b\);/return rate_of(pe, a);/'
break_it 'convert: of equal bits the higher rate' runtime/pe/pe_gemm.c 's/return fmin\(/return fmax(/'
break_it 'convert: without the key' runtime/kernels/tl_check.c 's/if \(!pe_kind\(call->pe\)->pe\.convert\)/if (0)/'
break_it 'convert: what is not exact is taken' runtime/kernels/tl_check.c 's/\(dtype_holds\(in, a\) && dtype_holds\(in, b\)\)/true/'
break_it 'convert: computed in the type of the first' runtime/data/op.c 's/dtype \? dtype_wider\(dtype, \(kb_dtype\)op->in\[i\]\.dtype\)/dtype ? dtype/'
break_it 'batch: the cycles of one product' runtime/pe/pe_gemm.c 's/cycles \*= op_batch\(op\);/;/'
break_it 'batch: each product of the first matrices' runtime/phase2/phase2_gemm.c 's/number \* matrix\)/0 * matrix)/'
break_it 'batch: a part of one product' runtime/phase2/phase2_gemm.c 's/return n_parts\(&p\) \* op_batch\(op\);/return n_parts(\&p);/'
break_it 'value: behind an update it is one' runtime/kernels/tl_value.c 's/c->op\.math = TL_GEMM;/;/'
break_it 'pieces that touch: they are a tile' runtime/pe/pe_dma.c 's/return next < tile\.n \? tile : \(struct tile\)\{0\};/return tile;/'
break_it 'an atomic holds its memory once' runtime/engine/inorder_memory.h 's/twice \? 2 \* own : own/twice ? own : own/'
break_it 'topk: of equals the higher index first' runtime/phase2/math_ranks.c 's/\[k - 1\]\) >= rank/[k - 1]) > rank/; s/< rank; at--/<= rank; at--/'
break_it 'kept: the dead are computed, too' runtime/phase2/kept.c 's/if \(r->results\[i\]->refs > 0\)/if (1)/'
break_it 'kept: what is looked at once is never looked at again' runtime/sim/sim_compute.c 's/if \(status \|\| n < KEPT_MOST\)/if (1)/'
break_it 'persist: what was kept is not found' runtime/kernels/persist.c 's/strcmp\(p->name, name\) != 0/strcmp(p->name, name) == 0/'
break_it 'persist: other PEs do not see it' runtime/kernels/launches.c 's/if \(!persist_show\(pe\)\)/if (0)/'
break_it 'update: readers do not hold it up' runtime/kernels/flight.c 's/c->readers \+= reads_block\(r, c->result->block\)/(void)r/'
break_it 'update: all of it is fetched' runtime/kernels/compute.c 's/\(op_updates\(op\) && i == 0\) \|\| //'
break_it 'update: views of before are not shown' runtime/kernels/compute.c 's/x->block->refs <= 2 \|\| tcm_show\(c->pe\)/true/'
break_it 'fused: each input is fetched as often as it is named' runtime/kernels/compute.c 's/is_fused\(op\) && is_fetched_before\(c, i\)/false/'
break_it 'fused: a reduction counts what it leaves' runtime/data/op.c 's/if \(math_rows\[op->step\[i\]\.math\]\.group == MATH_REDUCE\)/if (0)/'
break_it 'fused: a cast on the way does not round' runtime/phase2/math_fused.c 's/ && \(step->math != TL_CAST \|\| round_to\(x, i\)\)//'
break_it 'fused: operands of a step in another order' runtime/phase2/math_fused.c 's/operand_of\(x, step, \(int\)o\)/operand_of(x, step, (int)(one.n_in - 1 - o))/'
break_it 'topk: one pass for any k' runtime/pe/pe_math.c 's/return parts_of\(op->out.shape.dim\[op->axis\], pe->topk_width\)/return 1/'
break_it 'sort: of equals the higher index first' runtime/phase2/math_ranks.c 's/x->index < y->index/x->index > y->index/'
break_it 'sort: as many passes as halvings' runtime/pe/pe_math.c 's/levels \* \(levels \+ 1\) \/ 2/levels/'
break_it 'cumsum: each sum is that of rounded ones' runtime/phase2/math_lines.c 's/sums\[j\] = total = total \+ x\[j\];/sums[j] = x[j] + (j ? 0 : total);/'
break_it 'take: all of the tensor is fetched' runtime/kernels/compute.c 's/op->math == TL_TAKE && i == 0/0/'
break_it 'take: an index out of range is read' runtime/phase2/exec_one.c 's/r->op.math != TL_TAKE/true/'
break_it 'random: nine rounds' runtime/phase2/math_random.c 's/ROUNDS = 10/ROUNDS = 9/'
break_it 'packed operands stay to the last product' runtime/phase2/gemm_pack.c 's/> PACKED_BYTES;/== 1;/'
break_it 'what an accumulator held is lost' runtime/phase2/phase2_gemm.c 's/if \(op->n_in > 2\)/if (0)/'
break_it 'an accumulator that is stored keeps its room' runtime/kernels/acc.c 's/    flight_room\(pe, t\);//'
break_it 'a rate does not round up' runtime/pe/pe_gemm.c 's/ceil\(\(double\)cycles/((double)cycles/'
break_it 'an operation is computed twice for a value' runtime/phase2/cone.c 's/return op_log_mark\(w->log, i\);/return op_log_mark(w->log, i), true;/'
break_it 'a line is fetched twice' runtime/kernels/compute.c 's/first \+ 1 == behind \? behind : first/first/'
break_it 'a slice of a slice is one of the whole' runtime/kernels/flight.c 's/from\.offset \+= view->cut_offset;/;/'
break_it 'an operand that is made later is forgotten' runtime/phase2/graph.c 's/add_ops\(&b\) && wait_for_late\(&b\)/add_ops(\&b)/'
break_it 'a late send is overtaken' runtime/pe/pe_ipcq.c 's/if \(c->queue->sending == c\)/if ((c->queue->sending = c))/'
break_it 'room comes back at the call' runtime/kernels/tl_tensor.c 's/if \(tensor->making \|\| tensor->users\)/if (tensor->making)/'
break_it 'a composite enters before its start' runtime/pe/pe_scheduler.c 's/ && c->started && / \&\& /'
break_it 'a wait for a result is none for its makers' runtime/kernels/accesses.c 's/: race_follows\(.*;/: true;/'
break_it 'a PE issues without a pace' runtime/engine/how.h 's/t = \*pace > t \? \*pace : t;/(void)pace;/'
break_it 'a sweep goes on at the pace of the point before' runtime/engine/stations.h 's/s->paces\[channel\] = 0;/(void)channel;/'
break_it 'a pace of both directions' runtime/engine/how.h 's/&s->paces\[2 \* \(size_t\)x->src \+ txn_writes\(x\)\]/\&s->paces[2 * (size_t)x->src]/'
break_it 'paths: all transactions take the first way' runtime/machine/endpoint.c 's/while \(rows\[way\]\.until <= lane\)/while (false \&\& rows[way].until <= lane)/'
break_it 'paths: a way counts once' gen/net_ways.c 's/before \+ lanes_of\(w, from, links\)/before + (lanes_of(w, from, links) > 0)/'
break_it 'paths: any other way leaves a cube as the first' runtime/machine/walk.h 's/if \(trip->way\)/if (false)/'
break_it 'rails: a switch between SIPs costs nothing' gen/cubes.c 's/(kind->cube_noc_overhead_ns) = spec->fabric_overhead_ns/\1 = 0/'
break_it 'rails: pairs of as many ways have the same' gen/net_ways.c 's/return !memcmp\(&r->path_ports/return true || !memcmp(\&r->path_ports/' gen/net_ways.c 's/hash % LISTS/0/'
break_it 'rails: links inside SIP 0 alone' gen/net.c 's/sip < m->net->n_sips/sip < 1/'
break_it 'rails: a switch between SIPs has the mesh of cubes' gen/cubes.c 's/^    kind->cube_noc_model = NOC_BUS;//'
break_it 'rails: reads between SIPs never go the way of their data' runtime/machine/mesh.h 's/\? t->rails_one_way :/? false :/'
break_it 'mread: data join in no time' runtime/engine/branches.c 's/if \(!txn_writes\(&s->txns\[slot\]\)\)/if (false)/'
break_it 'mread: ways that fork at a crossbar join there, too' runtime/machine/tree.c 's/\(kind == NODE_NOC \|\| kind == NODE_ROUTER\)/kind/'
break_it 'mread: by hop it is done before its data have joined' runtime/machine/tables.h 's/ \|\| memory->late\)/)/'
break_it 'addresses of version 3 have 36 bits of offset' gen/routes.c 's/\? 36 : 40/? 36 : 36/'
break_it 'a switch has an SRAM' runtime/machine/endpoint.c 's/\? !cube_is_switch\(t, cube\)/? 1/'
break_it 'a net takes the port that is found last' gen/net_search.c 's/is < was \?/is >> 8 <= was >> 8 ?/'
break_it 'a net: the last cube is reached by the port that is found first' gen/net_search.c 's/s->n_there && net_is_nearer\(s->levels\[s->n_levels - 1\], far\)/s->n_there/'
break_it 'a torus: of two ways round that are as long the one down' gen/net_grid.c 's/net_is_nearer\(down, at->far\)/!net_is_nearer(at->far, down)/'
break_it 'a torus: exits by the last dimension' gen/net_grid.c 's/x == to \? step : way->way/step ? step : way->way/'
break_it 'a torus: the weights of its first cubes are those of all' gen/net_grid.c 's/ports \+ port\] != weight\)$/ports + port] < 0)/'
break_it 'links of a net weigh nothing' gen/net_search.c 's/port_fs\(r, cube, port\) \+ link->wire_fs/port_fs(r, cube, port) + 0 * link->wire_fs/'
break_it 'routes pass a cube that lets none pass' gen/net_search.c 's/\(ends \|\| s->passes\[state\]\) && //' gen/net_routes.c 's/\(next == to \|\| s->passes\[next\]\)/true/'
break_it 'links are passed ahead of time behind lanes' gen/feeds.c 's/if \(has_lanes\(f->r, edge->from\)\)/if (has_lanes(f->r, edge->from) \&\& f->r == NULL)/'
break_it 'a link of several lanes is one server' runtime/engine/stations.c 's/if \(lanes\[way\] > 1/if (lanes[way] > 64/'
break_it 'a memory is passed with a link of several ports' gen/feeds.c 's/ && !has_servers\(&r->cube_links\[last->link\]\)\)/)/'
break_it 'the edge into the crossbar node has one server' gen/node_links.c 's/has_slice\(r, pe\) \? r->spec->cube_hbm_ports : 1/1/'
break_it 'each cube begins with the first slice of its home' gen/homes.c 's/row->home_rank = shared\[row->home\]/row->home_rank = 0/'
break_it 'the closing link of a torus leads to itself' gen/net_items.c 's/i - \(k - 1\) \* stride/i/'
break_it 'a tie on a ring goes W' $mesh 's/ups \+ odd <= n - ups \? up : down;/ups + odd < n - ups ? up : down;/'
break_it 'a read walks its request on a one-way plane' runtime/machine/walk.h 's/\.back = reads && mesh_is_one_way\(.*\)\}/.back = false}/'
break_it 'the second dimension first' $mesh 's/bool y_first = t->plane_rows\[plane\]\.y_first/bool y_first = !t->plane_rows[plane].y_first/'
break_it 'an open row behind routers makes load less than alone' runtime/sim/results.c 's/r->formula_fs -= r->overhead_fs - c\.overhead_fs;/;/'
break_it 'an open row makes a wait of a result negative' runtime/sim/results.c 's/^        divide_waits\(r\);/        ;/'
break_it 'an open row makes a wait of a sweep negative' runtime/sim/sweep.c 's/^        link = waits\.link_fs;//'
break_it 'keys of banks beside a server are silent' gen/check.c 's/^            check_no_banks\(spec\);/            (void)spec;/'
break_it 'priorities in turns are not refused' gen/check_router.c 's/spec->kernbench >= 3/false/'
break_it 'ties of odd places go the low way' runtime/machine/mesh.h 's/ups \+ odd <= n - ups \? up : down/ups <= n - ups ? up : down/'
break_it 'ties of odd packages go the low way' runtime/machine/mesh.h 's/ups \+ odd <= n - ups \? up : walk_opposite/ups <= n - ups ? up : walk_opposite/'
break_it 'a route is odd by where its request begins, not its data' runtime/machine/walk.h 's/cube_is_odd\(t, trip->back \? part.last : part.first\)/cube_is_odd(t, part.first)/'
break_it 'detours of odd routes are those of the others' gen/detours.c 's/s\.odd = tie > 0;/s.odd = false;/'
break_it 'tables of odd routes are those of the others' gen/between.c 's/block >= t->planes, i >= blocks\}/block >= t->planes, false}/'
break_it 'a link that no route takes makes a router' gen/stops.c 's/return !w->taken \|\| .*;/return true;/'
break_it 'a wrap link as long as another' runtime/machine/mesh.h 's/t->wrap_wire_fs - t->d2d_wire_fs/0/'
break_it 'a detour never tries W' gen/detours.c 's/^ +SIDE_W,$/SIDE_E,/'
break_it 'the last of equal shore cubes' gen/detours.c 's/far < least && mesh/far <= least \&\& mesh/'
break_it 'bent routes are taken for whole' gen/detours.c 's/return steps == 0 \|\| .*/return true;/'
break_it 'a cube beside the bent ones is no seed' gen/detours.c 's/least = s->far\[next\] \+ 1;/least = s->far[next] + 2;/'
break_it 'all packages are alike' gen/sips.c 's/!are_alike\(r, first\[sip\], sip\)/false/'
break_it 'hash by the first plane' runtime/machine/endpoint.c 's/\(uint32_t\)\(id % t->planes\)/0/'
break_it 'all of a pipe take as long where cubes differ' runtime/engine/inorder_lists.c 's/return T->regular && !s->splits/return !s->splits/'
break_it 'a home slice of the next crossbar node' gen/nodes.c 's/crossbar_of_slice\(r, slice\) <= pe &&/crossbar_of_slice(r, slice) <= pe + 1 \&\&/'
break_it 'an odd PE in the second half' gen/nodes.c 's/\(r->crossbars \+ 1\) \/ 2/r->crossbars \/ 2/'
break_it 'the first item of cubes wins' gen/cubes.c 's/&spec->cubes\.rows\[i\]/\&spec->cubes.rows[spec->cubes.n - 1 - i]/'
break_it 'a missing PE counted' runtime/machine/pes.h 's/cube_first_pe\(t, src_cube\(t, src\)\) \+ pe_rank/cube_first_pe(t, src_cube(t, src)) + src_pe/'
break_it 'cubes without PEs get a share' gen/routes.c 's/at\.rank \+= pe_set_count\(&at\.pes\) != 0/at.rank += 1/'
break_it 'the keys of cube 0 for all memories' runtime/machine/cost.h 's/kind_at\(t, dst_cube\(t, dst\)\)/kind_at(t, 0)/'
break_it 'classes in the opposite order' $ev \
    's/\(uint64_t\)class <</(uint64_t)(4 - class) <</; s/return \(enum ev_class\)\((.*)\);/return (enum ev_class)(4 - (\1));/'
break_it 'ids in the opposite order' $ev 's/\(uint64_t\)id <</(uint64_t)(uint32_t)~id <</'
break_it 'a sibling of the heap forgotten' runtime/engine/ev.c 's/rows\[c \+ 3\] < rows\[c \+ 2\]/0/'
break_it 'a pipe for each pair of cubes' $state 's/t->sips : cubes\)/t->sips : cubes * cubes)/'
break_it 'unsorted rows taken as they come' $add 's/a->sorted && r->issue_fs >= a->last_issue_fs/true/'
break_it 'equal issue times in the opposite order' $issue_order \
    's/to\[at\[from\[i\](.*)\]\+\+\] = from\[i\]/to[at[from[n - 1 - i]\1]++] = from[n - 1 - i]/'
break_it 'the highest digit of issue times not looked at' $issue_order 's/shift < bits; shift/shift + DIGIT_BITS < bits; shift/'
break_it 'parts of issue times that are many left as they are' $issue_order 's/if \(shift && ends\[i\] - begin > 1\)/if (false)/'

# -- traces of tt-npe -----------------------------------------------------------------------
npe=examples/tt_npe_to_csv.py traces=tests/validate/traces.py
break_it 'all transfers on NoC 0' $npe 's/value\.lower\(\)\.replace/"noc0".replace/'
break_it 'a multicast that ends at the same corner on both NoCs' $npe 's/0 if plane == "noc1" else 1/1/'
break_it 'barriers that end before their core comes to them' $traces 's/max\(\[b\.start \+ late\] \+ /max([0] + /'
break_it 'barriers that do not move what follows' $traces 's/late = found.* if closed/late = 0 if closed/'

# -- waiting for others ---------------------------------------------------------------------
after=runtime/engine/dependencies.c
break_it 'those that wait issued when done, before the response' runtime/engine/inorder_memory.h \
    's/end_for_others\(s, s->txns\[slot\]\.id, end\)/end_for_others(s, s->txns[slot].id, t)/'
break_it 'waiting for the first of several' $after 's/if \(--w->n_left == 0 &&/if (w->n_left-- \&\&/'
break_it 'waiting without thinking' $after 's/end_fs, w->think_fs, &issue_fs/end_fs, 0, \&issue_fs/'
break_it 'the last to end, not the latest end' $after 's/if \(issue_fs > txn->issue_fs\)/if (1)/'
break_it 'those that wait issued at their own time, too' $issue_order \
    's/if \(!s->dependencies \|\| .*/if (true)/'

# -- memories that choose, in runs of kernels and behind routers -------------------------------
break_it 'a memory that chooses wakes before kernels of its instant' runtime/engine/serving.c 's/ev_make\(t, EV_ARBITER, dst,/ev_make(t, inorder_runs(s) ? EV_ISSUE : EV_ARBITER, dst,/' runtime/engine/inorder_loop.h 's/IN_CHOOSES && ev_class\(e\) == EV_ARBITER/IN_CHOOSES \&\& e == first_of_queue(s)/; s/if \(ev_class\(e\) == EV_DONE\)/if (!is_wake_of_memory(ev_slot(e)))/'
break_it 'hop tells no data of reads behind routers' runtime/engine/hop.c 's/^        s->heard->data\(s, slot\);/        ;/'
break_it "a kernel's data behind routers are those of its end" runtime/engine/inorder_loop.h 's/^        kernels_data_served\(s, ev_slot\(e\)\);/        ;/'
break_it 'an end that is watched but not ahead is put off' runtime/engine/serving.c 's/!s->inorder->ahead && !s->observer/!s->inorder->ahead/'
break_it 'queue_bytes do not bound banks behind routers' runtime/network/banks.c 's/packets\[row\]\.place = part->parcel;/packets[row].place = NO_PARCEL;/'
break_it 'components of the first kind of cube for all' runtime/machine/box_impl.h 's/kind_impl\(t, cube_kind\(t, cube\), box\)/kind_impl(t, 0, box)/'
break_it 'a node that is a component comes by an arrival' runtime/engine/inorder_lists.h 's/== TXN_TO_NODE \? EV_HOP : EV_ARRIVE/> TXN_DONE ? EV_ARRIVE : EV_ARRIVE/'

# -- stations -------------------------------------------------------------------------------
break_it 'channel released at issue' $hop 's/^    station->idle--;$//'
break_it 'reads and writes of a PE share a channel' $hop \
    's/(&s->channels\[2 \* .*txn->src) \+ txn_writes\(txn\)\]/\1]/'
break_it 'reads and writes of an M_CPU share an engine' $hop \
    's/(&s->engines\[2 \* .*) \+ txn_writes\(txn\)\]/\1]/'
break_it 'memory that serves all at once' $hop_way 's/if \(memory->holder == TXN_NONE\)/if (1)/'
break_it 'one HBM controller for a cube' $hop_way \
    's/&s->memories\[s->txns\[slot\]\.dst\]/\&s->memories[dst_unit(T, s->txns[slot].dst) < T->pes ? dst_pack(T, dst_cube(T, s->txns[slot].dst), 0) : s->txns[slot].dst]/'
break_it 'reads use the forward direction of a link' $hop_way 's/ \^ !txn_writes\(txn\)//'
break_it 'a link free before its bytes have passed' runtime/network/turn.h 's/after\(enter, taken\)/after(t, taken)/'

# -- interleaved addresses --------------------------------------------------------------------
split=runtime/engine/split address=runtime/machine/address.h
break_it 'the channel free when the first part is served' $hop 's/^    else if \(last\)$/    else/'
break_it 'parts in no order at equal times' $split.h 's/ \|\| \(s->splits && a->id == b->id && a < b\)//'
break_it 'parts with the id of the whole in the fingerprint' runtime/engine/children.h 's/id \+ \(part << PART_RECORD_BIT\)/id + (part \& 0)/'
break_it 'a whole that ends with its first part' $split.c 's/if \(s->txns\[part\]\.issue_fs > last->issue_fs\)/if (0)/'
break_it 'parts with the bytes of the whole' $split.c 's/= part->nbytes & TXN_MAX_BYTES;/= of->nbytes;/'
break_it 'packets: a PE cuts nothing' $split.c 's/return packet \? packet : ADDRESS_WHOLE;/return ADDRESS_WHOLE;/'
break_it 'caches: a breakdown without the wait for the cache' runtime/explain/server_pieces.c 's/in\.fs\[STAY_CACHE\] = row->start_fs - s->txns\[slot\]\.arrive_fs;//'
break_it 'multicasts: of a kernel the first target alone gets the bytes' runtime/pe/pe_dma.c 's/for \(uint32_t i = 0; i < op->n_runs; i\+\+\) \{/for (uint32_t i = 0; i < 1; i++) {/'
break_it 'multicasts: of a kernel each is a list' runtime/pe/pe_dma.c 's/\.targets = c->to_all \? targets_of\(s, c\) : NULL/.targets = NULL/'
break_it 'llm: the third layer is taken for all' benches/llm/step.c 's/s->agrees\[layer\] = llm_is_as_before\(s, layer - since\) \? 1 : -1;/s->agrees[layer] = 1;/'
break_it 'llm: layers repeat where banks remember' runtime/cli/llm/chip.c 's/"model: banks", //'
break_it 'llm: layers that are left out take no time' runtime/cli/llm/run.c 's/end - before, 1 \+ more/end - before, 1/'
break_it 'multicasts: each way is taken alone' runtime/engine/branches.c 's/part->shared = way\.shared;/part->shared = 0;/'
break_it 'multicasts: a follower enters when it comes' runtime/network/turn.h 's/branch_follows\(s, slot\) \? branch_enter\(s, slot\)/branch_follows(s, slot) ? t/'
break_it 'multicasts: a follower counts as an arrival' runtime/engine/branches.h 's/return branch_follows\(s, slot\) && s->txns\[slot\]\.stage == TXN_TO_LINK;/return false;/'
break_it 'multicasts: a link counts for each part' runtime/engine/branches.c 's/u->links--;/return;/'
break_it 'multicasts: the channel lets the bytes out for each part' runtime/engine/split.c 's/more->bytes \+= x->nbytes;/more->bytes += 0;/'
break_it 'multicasts: ways meet again' runtime/machine/tree.c 's/go_by\(a, link, place->number\);/go_by(a, link, 0);/'
break_it 'multicasts: formula is that of the part that ends last' runtime/sim/results.c 's/most = fs > most \? fs : most;/most = fs;/'
break_it 'multicasts: of traffic a slice that PEs share gets it for each' runtime/engine/traffic_cast.c 's/if \(tr->reached\[dst\] == \(uint32_t\)tr->n_issued\)/if (false)/'
break_it 'multicasts: of traffic each goes to its own slice, too' runtime/engine/traffic_cast.c 's/pe \+ i\) % tr->n_pes\];$/pe + i - 1) % tr->n_pes];/'
break_it 'multicasts: of columns each has the targets of the first' runtime/sim/add.c 's/a->next_target \+= n;/a->next_target += 0;/'
break_it 'load_sum: of two sources only' runtime/data/sum_sources.c 's/i < n; i\+\+\) \{$/i < 2; i++) {/'
break_it 'load_sum: rounded after each source' runtime/data/sum_sources.c 's/^(  *)add\(as, &sum, &x, more\);/\1add(as, \&sum, \&x, more);\n\1cast_elements(dtype, to + at * bytes, as, \&sum, more);\n\1cast_elements(as, \&sum, dtype, to + at * bytes, more);/'
break_it 'load_sum: in pairs' runtime/phase2/math.c 's/if \(op->sums\)/if (false)/'
break_it 'load_sum: what is known is pending' runtime/pe/pe_dma.c 's/version_ready\(from\.v\) \? sum_now\(c, from\) : //'
break_it 'multicasts: a target twice' runtime/sim/destination.c 's/if \(sorted\[i\] != sorted\[i - 1\]\)/if (true)/'
break_it 'multicasts: packets are cut off' runtime/engine/split.h 's/ && !is_branch\(s, slot\)//'
break_it 'tiles: a part for each piece' $split.c 's/listed \? split_part_in\(c->s, first, piece->dst\) : split_new_part\(c->s\)/split_new_part(c->s)/'
break_it 'tiles: one run is cut without an end' $split.c 's/bytes->tile\.n > 1 && c\.next < bytes->tile\.n/c.next < bytes->tile.n/'
break_it 'tiles: rows that touch are two runs' runtime/machine/tile.h 's/if \(next\.at != run\.at \+ run\.nbytes\)/if (next.at)/'
break_it 'tiles: a block of two pieces counts twice' runtime/engine/split_parts.c 's/ - \(part->blocks && first == part->block\)//'
break_it 'tiles: a memory moves what links see' runtime/engine/split_parts.c 's/split->own_bytes = part->blocks \* memory->access_bytes;/split->own_bytes = 0;/'
break_it 'tiles: no time from run to run' runtime/engine/split_parts.c 's/if \(part->pieces < 2 \|\| !run_fs/if (true/'
break_it 'tiles: banks see one run' runtime/engine/split_parts.c 's/if \(!s->banks \|\| s->banks->pool\.routed/if (true || s->banks->pool.routed/'
break_it 'tiles: a burst of two pieces is two' runtime/machine/bank_tile.c 's/piece\.at \+ \(piece\.at == tile->last\)/piece.at/'
break_it 'tiles: a segment for each piece' runtime/machine/bank_tile.c 's/if \(!\*place\)/if (!*place || burst == piece.at)/'
break_it 'tiles: a composite reads them joined' runtime/pe/pe_dma.c 's/\? token_part_tile\(stage->token, stage->operand\)/? (struct tile){0}/'
break_it 'tiles: a drain that is expected has no time from run to run' runtime/engine/inorder_way.h 's/server_expects\(s, t, split_drain\(s, slot, x->drain_fs\), slot\)/server_expects(s, t, x->drain_fs, slot)/'
break_it 'lists: pieces of a store that overlap' runtime/kernels/tl_memory.c 's/^    check_apart\(.*;//'
break_it 'lists: content of the first piece alone' runtime/data/mem.c 's/if \(i == 0 \|\| runs\[i\]\.area != \*area\)/if (i == 0)/'
break_it 'packets: all set out with the first' $split.c 's/t = take_pace\(s, of, after\(t, drain_fs\)\);/;/'
break_it 'packets: ideal links are shared' $split.c 's/drain_fs = fs > drain_fs \? fs : drain_fs;/;/'
break_it 'packets: the record of the first' runtime/kernels/heard.h 's/service_begin\(&s->kernels->work\[whole\], txn_start_fs\(part\)\);/;/'
break_it 'packets: a port of a TCM counts a transaction' runtime/kernels/heard.h 's/if \(STATS && s->kernels->work\[slot\]\.port\)/if (0)/'
break_it 'packets: the formula of the last' runtime/sim/results.c 's/bool packets = !plain && split_by_packets\(s, slot\);/bool packets = false;/'
break_it 'a mean of waits below 0 is a large one' runtime/sim/traffic_result.c 's/wait_sum value = \(wait_sum\)sum/unsigned_sum value = sum/; s/\(wait_sum\)n\) : 0/n) : 0/'
break_it 'packets: a load alone takes as long as the last' runtime/engine/traffic_end.h 's/p->packets \+= (.*);/(void)(\1);/'
break_it 'packets: the row has the place of the first' runtime/sim/results.c 's/host \? 0 : x->wait_fs/host ? 0 : whole->wait_fs/'
break_it 'packets: what is put off has waited' $stats 's/busy_fs \+ ahead_fs/busy_fs/'
break_it 'packets of 3 bytes' gen/check.c 's/packet > 0 && packet < PACKET_MIN/0/'
break_it 'parts counted as transactions of the channel' $stats 's/^        flow\.by\[write\]\.count -= .*$/        ;/'
break_it 'xor forgotten on the way back' $address '/static inline uint64_t address_unmap/,/^}/s/slice \^= \(uint32_t\)\(row % n\);/;/'
break_it 'neighbouring granules of one slice as two parts' $address 's/^    while \(n < most && address_map.*$/    while (0)/'
break_it 'a point that leaves the memories of its parts taken' runtime/sim/again.c 's/clear_way\(s, &s->txns\[part\]\);/;/'
break_it 'a copy alone behind routers waits for nothing' runtime/sim/sweep.c 's/ && !s->router//'
break_it 'shards of a cube in one place' runtime/data/host.c 's/^            \*end = tensor->offsets\[pe\] \+ nbytes;$/            ;/'
break_it 'a walk that does not begin again' runtime/engine/traffic_walk.c 's/\(tr->steps \/ 2\)\) % tr->steps \* tr->step_bytes/(tr->steps \/ 2)) * tr->step_bytes/'
break_it 'writes of a walk at its reads' runtime/engine/traffic_walk.c 's/\(tr->steps \/ 2\)\)/0)/'
break_it 'random places that repeat' runtime/engine/traffic.h 's/<< 32 \| k\);/<< 32);/'
break_it 'reads and writes mixed by halves' runtime/engine/traffic_make.c 's/fs \/ tr->request\.writes;/fs \/ 0.5;/'
break_it 'a posted write alone: the channel served last' runtime/machine/bank_queue.h 's/access->last_fs = larger\(access->last_fs, t \+ 1\);/access->last_fs = t + 1;/'
break_it 'a time alone is known by too few bits of an address' runtime/machine/alone.c 's/range\.at & \(\(UINT64_C\(1\) << bits\) - 1\)/range.at \& 1/'
break_it 'a time alone is that of another number of bytes' runtime/machine/alone.c 's/k\.nbytes = range\.end - range\.at;/k.nbytes = 2;/'
break_it 'a time alone has refreshes' runtime/machine/alone_banks.c 's/^        c->refresh_fs = BANK_NEVER_FS;$//'
break_it 'pieces of channels that were alike' runtime/network/banks_state.c 's/\.at \^= channel;/.at ^= 0;/'
break_it 'data of a read behind routers go before their bursts end' runtime/network/router_banks.h 's/<= read->known\)/<= read->known + 1)/'
break_it 'packets of a write behind routers come to banks whole' runtime/network/banks.c 's/offset_of\(s, slot\) \+ part->from, part->nbytes,/offset_of(s, slot), txn->nbytes,/'
break_it 'a write behind routers is not held for its drain' runtime/network/router_banks.h 's/least_fs = whole->arrive_fs \+ whole->drain_fs;/least_fs = whole->arrive_fs;/'
break_it 'the first burst of a write in packets is that of the last' runtime/network/router_banks.h 's/if \(access->first_fs < whole->first_fs\)/if (true)/'
break_it 'channels decide before ports' runtime/engine/router_order.c 's/\(number_of\(t, node\) \+ 1\) << /(number_of(t, node) * 0) << /'
break_it 'data of channels that were alike belong to the first' runtime/network/banks_state.c 's/pool->bursts\[from\] \^ channel/pool->bursts[from]/'
break_it 'channels that were alike stay one' runtime/network/banks.c 's/if \(slice->together == BANKS_APART\)/if (false)/'
break_it 'a slice with banks wakes too late' runtime/network/banks.c 's/return ahead - 1;/return ahead;/'
break_it 'reads of many bursts are waited for too long' runtime/network/banks.c 's/>> b->channel_bits\)/>> 0)/'
break_it 'requests that are expected stand in any order' runtime/network/banks.c 's/accesses\[\*link\]\.arrive_fs <= access->arrive_fs/true/'
break_it 'two that arrive at once are accepted as they come' runtime/network/banks.c 's/accesses\[slice->expected\]\.arrive_fs > accesses\[slot\]\.arrive_fs/true/'
break_it 'banks wake before what else is due' runtime/engine/serving.c 's/ev_make\(t, EV_ARBITER, dst,/ev_make(t, inorder_runs(s) ? EV_DONE : EV_ARBITER, dst,/' runtime/engine/inorder_loop.h 's/IN_CHOOSES && ev_class\(e\) == EV_ARBITER/IN_CHOOSES \&\& e == first_of_queue(s)/; s/if \(ev_class\(e\) == EV_DONE\)/if (!is_wake_of_memory(ev_slot(e)))/'
break_it 'a wake that is not in the queue is lost' runtime/engine/serving.c 's/^        wake = later;$/        wake = EV_NONE;/'
break_it 'memories that choose end ahead of time whatever they are' runtime/engine/inorder_memory.h 's/!\(how & IN_CHOOSES && memory_queues.*;/true;/'
break_it 'a slice decides once for all channels of an instant' runtime/network/banks.c 's/next = fs < next \? fs : next;/next = fs;/'
break_it 'a bus that is used behind the end' runtime/explain/bank_use.c 's/return until_fs > now_fs \? until_fs : now_fs;/return now_fs;/'
break_it 'bursts of a bank group go one behind the other' runtime/machine/bank_rules.h 's/column_fs = command \+ b->ccd_fs;/column_fs = command;/'
break_it 'no group goes on while one waits' runtime/machine/bank_rules.h 's/banks &= ~group;/banks = 0;/'
break_it 'the bus goes to another rank at once' runtime/machine/bank_rules.h 's/c->bus_fs \+ b->rtrs_fs/c->bus_fs/'
break_it 'ranks are refreshed together' runtime/machine/bank_channel.h 's/row->refi_fs \* \(rank \+ 1\)/row->refi_fs * bank_ranks(row)/'
break_it 'a refresh closes the rows of all ranks' runtime/machine/bank_rules.h 's/uint64_t of_rank = bank_mask_of_rank\(v->row, rank\);/uint64_t of_rank = ~UINT64_C(0);/'
break_it 'activations of all ranks are those of one' runtime/machine/bank_rules.h 's/&c->ranks\[bank_rank_of\(v, segment->bank\)\]/\&c->ranks[0]/'
break_it 'rows of another rank are ready behind all that were opened before' runtime/machine/bank_queue.h 's/v->ranked && n-- &&/false \&\& n-- \&\&/'
break_it 'a bank chooses among all that wait' runtime/machine/bank_queue.h 's/i != BANK_NONE && among--;/i != BANK_NONE;/'
break_it 'a preset that grew is so in earlier files' gen/presets.c 's/rows\[i\]\.since <= spec->kernbench/true/'
break_it 'a row hit counts as a conflict' runtime/machine/bank_rules.h 's/segment->kind = BANK_HIT;/segment->kind = BANK_CONFLICT;/'
break_it 'refreshes take only rfc' runtime/explain/bank_use.c 's/row->rp_fs \+ row->rfc_fs/row->rfc_fs/'
break_it 'the wait for a channel not behind a part' runtime/explain/spans.c 's/at->told_fs = from->told_fs;/at->told_fs = 0;/'

# -- links that are no stops ----------------------------------------------------------------
break_it 'an edge fed by two taken for one fed by one' $feeds 's/edge->many = true;/;/'
break_it 'a side with a neighbour and a shoreline taken for fed by one' $feeds 's/edge->by_hosts = true;/;/'
break_it 'a wrap link as long as others in tables of pairs' $between 's/row\.way\.cost\.wire_fs \+= mesh_extra_fs.*$//'
break_it 'an edge passed both ways taken for one passed one way' $feeds 's/return FED_ONE_WAY;/return FED_ONE_WAY | FED_ALWAYS;/'
break_it 'links joined as if all data went one way' $run 's/s->fed = .* \? FED_ALWAYS : FED_ONE_WAY/s->fed = FED_ONE_WAY/'
break_it 'unsorted rows of several channels set out in order' $run 's/s->sorted \|\| one_channel \? s->fed : 0/s->fed/'
break_it 'links joined where they take no time' $run 's/ \|\| s->options\.costs_off//'
break_it 'a link station of the cube before' $feeds 's/\? -1 : -\(int32_t\)r->topo\.w/? 0 : 0/'
inorder=runtime/engine/inorder_steps.h lists=runtime/engine/inorder_lists.c calendar=runtime/engine/calendar.c program=runtime/engine/program
break_it 'a row that is issued as its channel becomes free goes before its issue' runtime/engine/inorder_memory.h 's/issue_fs < t\)$/issue_fs <= t)/'
break_it 'an end ahead of time that others wait for' $lists 's/!sim_counts\(s\) && !s->dependencies &&/!sim_counts(s) \&\&/'
break_it 'ends ahead of time with several channels' $lists 's/s->inorder->listed && most_channels\(s->topo\) == 1 &&/s->inorder->listed \&\&/'
break_it 'a host at the rows of another memory' $program.h 's/&p->hosts\[x->dst\]/\&p->hosts[x->dst \& 1]/'
break_it 'an engine begins with one that is still to come' $inorder 's/^    if \(t < came\)$/    if (false)/'
break_it 'an engine that keeps order is free at once' $inorder 's/(s->turns\[engine - s->engines\]\.free_fs) = \(int64_t\)t;/\1 = 0;/'
break_it 'those that wait for an engine ahead of time are not counted' $inorder 's/^    engine->queue_max = turns->queue_max;$/    ;/'
break_it 'an engine with several servers as one' $lists 's/ && has_one_engine\(s->topo\);/;/'
break_it 'an engine passed with the link of any plane' $program.c 's/ && t->planes == 1\)/)/'
break_it 'a host passes the first link of its chiplet again' $program.c 's/return row->links\[i\];/return row->links[0];/'
break_it 'links ideal: the drain of the links alone' $program.h 's/gbs < last \? gbs : last\)/gbs)/'
break_it 'what is posted into the bucket that is due comes behind it' runtime/engine/calendar.h 's/\(!c->n_late \|\| c->due\[c->i_due\] < c->late\[0\]\)/true/'
break_it 'the first bucket of a window is not due at once' $calendar 's/^        if \(c->n_late\)/        if (false)/'
break_it 'a part ends its channel ahead of time' runtime/engine/inorder_memory.h 's/whole_of\(s, slot\) == slot &&/true \&\&/'
break_it 'the drain of the last link alone' runtime/engine/inorder_way.h 's/drain = taken > drain \? taken : drain;/drain = taken;/'
break_it 'a memory passed with its link in runs of both ways' $program.c 's/\? FED_ONE_WAY : 0;/? FED_ONE_WAY | FED_ALWAYS : 0;/'
break_it 'a component passed with its link' $program.c 's/p->chooses \|\| \(t->impls && t->impls->memories\) \|\|/p->chooses ||/'
break_it 'a wrap link as long as others on the way of an engine' $program.c 's/^    entry\.lead_fs \+= walk_extra_fs.*$//'
break_it 'what other bytes took is not forgotten' $program.c 's/d->fs\[i\] = -1;/;/'
break_it 'a bucket in the order of posting' $calendar 's/^        sort_few\(rows, n\);/        ;/'
break_it 'a crowded bucket in the order of posting' $calendar 's/^        sort_many\(rows, n\);/        ;/'
break_it 'what lies far comes behind all windows' $calendar 's/if \(opens == c->far_window\)/if (window == UINT64_MAX)/'
break_it 'a width is chosen again before it has paid' $calendar 's/instants \+ c->n_far < c->n_moved/false/'
break_it 'an event of the bucket that is due comes with the next' runtime/engine/calendar.h 's/if \(bucket <= c->now\)/if (bucket < c->now)/'
break_it 'the queue of a channel counts what has started' runtime/explain/channel_queues.c 's/<= issue_fs\)$/< issue_fs - 1)/'
break_it 'one pipe of host transactions for a SIP' runtime/engine/inorder_lists.h \
    's/T->links == MODE_FIFO \? cube \/ T->cubes : cube/cube \/ T->cubes/'
break_it 'next in the pipe never sent' runtime/engine/inorder_lists.h \
    's/^        inorder_post_pipe\(s, pipe\);$/        ;/'
break_it 'engine without its wait' $hop 's/: txn->wait_fs\);$/: (int64_t)t);/'
break_it 'wait for the memory counted from issue' $hop_way \
    's/service_fs - txn->arrive_fs/service_fs - txn->issue_fs/'
break_it 'start stamped at issue' $results \
    's/r->start_fs = whole->issue_fs \+ .*;/r->start_fs = whole->issue_fs;/'
# columns of requests and of results
break_it 'stations of the first cube alone' runtime/engine/stations.c 's/if \(walk_segment\(t, at\)->exit == EXIT_END\)/if (true)/'
break_it 'a few rows are many' runtime/engine/stations.c 's/n >= sim_cubes\(s->topo\) \/ CUBES_A_ROW/true/'
break_it 'rows before a bad one stay' $add 's/^    if \(bad\)$/    end(\&a);\n    if (bad)/'
break_it 'a row that is not complete has times' $results 's/ +r = \(kb_result\)\{0\};/            (void)0;/'
break_it 'the last block forgets where it is' $results 's/to\[field\] \+ at \* stride/to[field] + at/'
break_it 'large rows copied in part' runtime/base/rows.c 's/memcpy\(to, rows, bytes\)/memcpy(to, rows, bytes - 1)/'
break_it 'rows: a ring loses its first when it grows' runtime/base/rows.c 's/i = first; i != first \+ n/i = first + 1; i != first + n/'
break_it 'rows: reserved ones are not zero again' runtime/base/shelf.c 's/contents == SHELF_TO_ZERO && madvise/false \&\& madvise/'
break_it 'rows: dirty ones are taken for zeroed ones' runtime/base/shelf.c 's/ && kept_mappings\[i - 1\]\.zeroed == zeroed/ + 0 * zeroed/'
break_it 'rows: the newest go first' runtime/base/shelf.c 's/oldest = take_place\(0\)/oldest = take_place(n_kept_mappings - 1)/'
break_it 'stations: those of a cube are not cleared' runtime/engine/stations.c 's/zero_rows\(array, cube \* array->of_cube, array->of_cube\)/zero_rows(array, cube * array->of_cube, 0)/'
break_it 'flows: counts of another run stay' runtime/engine/flow.c 's/f->used \? ROWS_CHANGED : ROWS_ZERO/ROWS_ZERO/'
break_it 'columns: a plain row may pass the end of its memory' $add 's/nbytes > dst->nbytes - offset\)$/false)/'
break_it 'columns: a plain row says nothing of its order' $add 's/a->sorted &= issue_fs >= a->last_issue_fs/a->sorted \&= true/'
break_it 'columns: rows with parts are plain' $add 's/s->topo->regular && !s->splits && /s->topo->regular \&\& /'
break_it 'rows: what is new of a list is not zero' runtime/base/rows.c 's/memset\(moved \+ had \* row_bytes, 0,/memset(moved + had * row_bytes, 1,/'

# -- times ----------------------------------------------------------------------------------
break_it 'drain paid twice' $cost 's/(c\.drain_fs = )drain_again_fs/\12 * drain_again_fs/'
break_it 'drain held twice, counted once' $cost \
    's/^( +)drain_fs\(nbytes, cost_bottleneck/\12 * drain_fs(nbytes, cost_bottleneck/'
break_it 'hold: own held for the drain of the route' $cost 's/if \(memory->hold == HOLD_ROUTE\)/if (1)/'
break_it 'latency held' $cost 's/return hold_fs - \(memory->latency_fs & m->overhead\);/return hold_fs;/'
break_it 'latency not waited for' $cost 's/memory->overhead_fs \+ memory->latency_fs\)/memory->overhead_fs)/'
break_it 'an SRAM faster than the NoC' $nodes 's/fmin\(s->cube_sram_bw_gbs, s->cube_noc_bw_gbs\)/s->cube_sram_bw_gbs/'
break_it 'a path is longer than the places of its words' gen/spec.h 's/KEY_DEPTH = 5/KEY_DEPTH = 4/'
break_it 'version 2 with the defaults of 1' gen/spec.c 's/since <= spec->kernbench/since < spec->kernbench/'
break_it 'new keys always in the resolved text' gen/resolve.c 's/return key_rows\[k\]\.is_new &&/return 0 \&\&/'
break_it 'a tile fetched before the one before it' runtime/pe/pe_scheduler.c 's/fetch_in_order\(s, t, token->command\);/token_fetch(s, t, token);/'
break_it 'drain rounded down' $cost 's/whole \+ \(fs - \(double\)whole >= 0\.5\)/whole/'
break_it 'overhead of the memory left out of its service' $cost \
    's/return cost_in_memory_fs\(m, memory\) \+/return/'
break_it 'response without wires' $cost 's/cost_way_fs\(m, wire_fs, overhead_fs\)/cost_way_fs(m, 0, overhead_fs)/'
break_it 'response with one UCIe node too few' $cost 's/ucies = 1 \+ 2 \*/ucies = 2 */'
break_it 'time past its range goes on' $how 's/sum < EV_PAST \? sum : EV_PAST/sum/'
break_it 'until without its last instant' $state 's/stop_fs = sim_last_fs\(s\) \+ 1/stop_fs = sim_last_fs(s)/'
break_it 'wires that cannot be left out' runtime/machine/cost.h 's/KB_COST_WIRE \? 0 : -1/KB_COST_WIRE ? -1 : -1/'
break_it 'links without bandwidth still taken' $hop_way 's/->gbs \+ s->mask\.link_gbs;/->gbs;/'
break_it 'a queue that forgets its longest' $hop_way 's/memory->queue_max = memory->queued;/memory->queue_max = memory->queued - 1;/'
break_it 'the edge into a memory not as its own' $hop_way 's/^    if \(seg->exit == EXIT_END && .*\)$/    if (false)/'
break_it 'max_events counts arrivals alone' $how 's/^    s->n_events\+\+;$/    s->n_events += class == EV_ARRIVE;/'
break_it 'completions not in the fingerprint' $hop 's/^    seen\(s, HOW_COUNTED, t, EV_DONE, record_id\(s, slot\)\);$//'

# -- routes ---------------------------------------------------------------------------------
break_it 'a tie of the bridges goes right' $segments \
    's/(bridge_way_fs\(r, pe, to, 1\)) < bridge/\1 <= bridge/'
break_it 'Y before X' $walk 's/if \(xa != xb\)/if (xa != xb \&\& cube_row(t, a) == cube_row(t, b))/'
break_it 'crossing of a NoC forgotten' $segments \
    's/wire_fs\(r, fabs\(a->x_mm - b->x_mm\) \+ fabs\(a->y_mm - b->y_mm\)\)/0 * (int64_t)(a->x_mm + b->x_mm)/'
break_it 'crossing of a NoC by X alone' $segments 's/ \+ fabs\(a->y_mm - b->y_mm\)//'
break_it 'engine before the overhead of m_cpu, ideal' $costs 's/^ +(to->overhead_fs \+|in->overhead_fs -)= overhead_fs;$/;/'
break_it 'engine before the overhead of m_cpu, fifo' $segments \
    's/^ +seg->tail_overhead_fs \+= hop->overhead_fs;$//; s/struct leg_row \*leg = add_leg/seg->tail_overhead_fs += hop->overhead_fs; &/'
break_it 'edge into the slice without efficiency' $nodes 's/: hbm_gbs\(s\);/: s->cube_hbm_bw_gbs;/'
break_it 'slice without efficiency' $costs 's/\.gbs = hbm_gbs\(s\)/.gbs = s->cube_hbm_bw_gbs/'
break_it 'other SIP entered in the row of the source' $walk \
    's/to - cube_column\(t, to\)/at.cube - cube_column(t, at.cube) + to \/ t->cubes * t->cubes - at.cube \/ t->cubes * t->cubes/'
break_it 'links of neighbours mixed up' $walk 's/\? SIDE_W : SIDE_N/? SIDE_N : SIDE_W/'
break_it 'one shore link for all rows' $walk 's/^        link \+= walk_shore_place\(t, trip, at\);$/        ;/'
break_it 'response past the end of time' $hop 's/if \(end == EV_PAST\)/if (0)/'

# -- statistics and memory ------------------------------------------------------------------
break_it 'utilization: a transaction that enters a link at this instant waits' runtime/engine/station.h \
    's/(queue_max\) & \(l->room - 1\)\]) > t\)/\1 >= t)/'
break_it 'utilization: a link that forgets its waits as its ring grows' runtime/engine/stations.c 's/l->next - l->room, l->room, sizeof/0, 0, sizeof/'
break_it 'usage: the node behind the last edge is not passed' $spread \
    's/^( +)(flow_sum_add\(node, &flow->by\[.\]\);)/\1if (hop->owner != LINK_NONE) \2/'
break_it 'utilization: a wait at the end of a run is none' $stats \
    's/fs \+= past_fs\(now_fs, \(uint64_t\)s->txns\[slot\]\.arrive_fs\)/fs += 0/'
break_it 'utilization: a link that is entered later has been waited for' $stats 's/fs -= past_fs\(l->enter/fs -= 0 \& past_fs(l->enter/'
break_it 'usage: bytes of ports at the PE that moves them' runtime/pe/pe_tcm.c \
    's/= work_is_dma\(work\) \?/= 0 ?/'
break_it 'a station above 100 % let pass' $check 's/<= \(double\)x->servers/<= 1e300 * (double)x->servers/'
break_it 'edges of reads counted forward' $spread 's/sp->edges\[link \^ !writes\]/sp->edges[link]/'
break_it 'queue_max not kept' runtime/engine/station.h 's/s->queue_max = s->queued;/;/'
break_it 'flow: tables never freed' runtime/engine/flow.c 's/^ +rows_unreserve\(\*rows, n, sizeof \*\*rows, left\);$/        ;/'
break_it 'flow: a corner in the wrong row' $flow 's/corner = from - column \+ to_column;/corner = to - to_column + column;/'
break_it 'flow: traffic for another SIP that leaves its row' $flow 's/corner = to;/corner = from;/'
break_it 'flow: traffic that never turns west' $flow 's/out = turn = to_column < column/out = to_column < column/'
break_it 'flow: what ends in a column goes on' $spread 's/flow_on\(&moving, &joins, &leaves\);/flow_on(\&moving, \&joins, \&(struct flow){0});/'
break_it 'flow: what comes from other SIPs left out' $spread 's/^ +spread_entering\(sp, first, &moving\);$/    ;/'
break_it 'flow: counts of an earlier call kept' runtime/engine/flow.c 's/^ +memset\(\*rows, 0, n \* sizeof \*\*rows\);$/        ;/'
break_it 'no memory for an event unnoticed' $how 's/^        fail\(s, KB_NO_MEMORY\);$/        ;/'
break_it 'offset past the end allowed' $add 's/r->offset <= r->dst->nbytes/true/'

# -- kernels --------------------------------------------------------------------------------
launch=runtime/kernels/launch.c launches=runtime/kernels/launches.c pe_cpu=runtime/pe/pe_cpu.c pe_dma=runtime/pe/pe_dma.c pe_tcm=runtime/pe/pe_tcm.c boxes=runtime/pe/boxes.h
scheduler=runtime/pe/pe_scheduler.c tl_check=runtime/kernels/tl_check.c tl_tensor=runtime/kernels/tl_tensor.c tl_memory=runtime/kernels/tl_memory.c
break_it 'kernels start as their launch arrives' $launches \
    's/begin, pe->number/(uint64_t)(l->ready_fs + launch_fs(s, pe)), pe->number/'
break_it 'the last response taken for the latest' $launches 's/if \(back > \(uint64_t\)l->result\.response_fs\)/if (1)/'
break_it 'the next launch before the last is back' $launches \
    's/follower->ready_fs = before->result\.response_fs;/follower->ready_fs = before->result.last_end_fs;/'
break_it 'TCMs that keep what an earlier kernel left' $launches 's/^        clear_tcm\(pe_of\(k, l, i\)\);$/        ;/'
break_it 'streams: a launch waits for the last of those alone' $launches 's/--next->lacks == 0/--next->lacks == next->n_before - 1/'
break_it 'streams: all launches are of one' $launch 's/->request\.stream == stream/->request.stream <= stream/'
break_it 'streams: a launch does not wait for its PEs' $launch 's/^        add_before\(l, k->last_on.*$/        ;/'
break_it 'streams: a launch does not wait for those it names' $launch 's/^        add_before\(l, k->launches\[r->after.*$/        ;/'
break_it 'streams: TCMs cleared as a launch sets out' $launches 's/^    l->sent = true;$/    l->sent = true; for (size_t i = 0; i < l->request.n_pes; i++) mem_clear(k->mem, pe_of(k, l, i)->tcm);/'
break_it 'streams: a PE of another launch is waited for as if of this' runtime/kernels/deadlock.c 's/if \(other->launch != k->pes\[row->pe\]\.launch\)/if (0)/'
break_it 'streams: what is left when all launches are done is not run' $launch 's/\(k->busy \|\| k->n_done/(k->n_done/'
break_it 'streams: a launch side by side comes after the other' runtime/record/race_launch.c 's/if \(r->under_way == 0 && follows_all\(r, seen\)\)/if (1)/'
break_it 'streams: a launch that was waited for may race' runtime/record/race_launch.c 's/ok = !e \|\| vclock_join\(&seen, e->seen\);/ok = true;/'
break_it 'streams: a launch ends the path of one beside it' runtime/explain/critical_path.c 's/if \(p->histories\[i\]\.launch == launch\)/if (1)/'
break_it 'woken by what was waited for before' $pe_cpu 's/^        pe->awaited = NULL;$//'
break_it 'a kernel ends with its commands under way' $pe_cpu 's/if \(pe->outstanding == 0\)$/if (1)/'
break_it 'DMA stamped at enqueue' $hop \
    's/s->heard->begin\(s, t, slot\)/s->heard->begin(s, (uint64_t)txn->issue_fs, slot)/'
break_it 'a load that sees memory at issue' runtime/pe/pe_cpu.c \
    's/^        pe_dma_issue\(s, t, c, true\);$/        pe_dma_bind_load(s, c), pe_dma_issue(s, t, c, true);/' \
    $boxes 's/if \(work->stage == STAGE_DMA_READ && !work->token\)/if (0)/'
break_it 'one operand for an epilogue step' runtime/kernels/kernels_command.h 's/2 \* TL_EPILOGUES_MAX\]/TL_EPILOGUES_MAX]/'
break_it 'elements of reductions counted after them' runtime/data/op.c 's/group == MATH_REDUCE \|\| //'
break_it 'tiles with one buffer for all' $scheduler 's/while \(\(c = pe->composites\) && /while ((c = pe->composites) \&\& !pe->buffer_taken[0] \&\& /'
break_it 'reads of a composite counted as those of a' $scheduler 's/token_part_bytes\(token, work->operand\)/token_part_bytes(token, 0)/'
break_it 'an own TCM that no other PE sees' $pe_tcm 's/if \(!tensor->hidden \|\| !tensor->view\.v \|\| tensor->dead\)/if (1)/'
break_it 'a gap of the TCM that fits passed over' runtime/kernels/gaps.c 's/bytes >= nbytes\)/bytes > nbytes)/'
break_it 'the end of the TCM passed over' $pe_tcm 's/room_at_end\(pe\) >= tensor/room_at_end(pe) > tensor/'
break_it 'a list is told by the rows of the command before' runtime/kernels/pool.c 's/ = c->joined = c->by_index = false/ = c->joined = false/'
break_it 'a command that was never used is not cleared' runtime/kernels/pool.c 's/memset\(c, 0, COMMAND_SHORT\)/(void)0/'
break_it 'an epilogue is not set before it is looked at' runtime/kernels/tl_product.c 's/^    \*e = \(struct op_epilogue\)\{\.math = \(uint8_t\)step->op\};$/    ;/'
break_it 'what is given back in the TCM is not found again' runtime/kernels/pool.c 's/gap_put\(&pe->gaps, before\)/(void)0/'
break_it 'a gap of the TCM that grows unseen' runtime/kernels/gaps.c 's/if \(shelf->most < bytes_behind\(b\)\)/if (!b->has_gap)/'
break_it 'gaps of the TCM by age' runtime/kernels/gaps.c 's/while \(\*link && \(\*link\)->offset < b->offset\)/while (0)/'
break_it 'tensors side by side in the TCM' $pe_tcm 's/TCM_ALIGN = 64/TCM_ALIGN = 1/'
break_it 'a crash of a kernel taken for another fault' runtime/kernels/co.c 's/\} else if \(is_crash\(signal, info, context\)\) \{/} else if (0) {/'
break_it 'a call by another thread taken for an overflow' runtime/kernels/tl_check.c 's/if \(!co_is_resumed\(pe->co\)\)/if (0)/'
break_it 'numbers written in the locale of the program' runtime/base/text.c 's/uselocale\(c_locale\(\)\)/uselocale((locale_t)0)/'
break_it 'numbers read in the locale of the program' runtime/base/text.c 's/strtod_l\(text, end, c_locale\(\)\)/strtod(text, end)/'
break_it 'a call that has the line of its end' runtime/include/tl.h 's/^#include "tl_clang.h".*$//'
break_it 'one call that has the line of its end' runtime/include/tl_clang.h 's/^#define tl_recv_async .*$//'
break_it 'a view that hides when its tensor is freed' $tl_tensor 's/^    view->hidden = tensor->hidden;$//'
break_it 'tensors of other PEs taken for the own' $tl_check 's/tensor->owner != call->pe->number/0/'
break_it 'a load used before it was waited for' $tl_check 's/tensor->loads && tensor->wait != WAIT_OVER/0/'
break_it 'waiting for what has ended' $tl_memory 's/if \(tensor->wait == WAIT_PENDING\) \{/if (tensor->wait != WAIT_OVER) {/'
break_it 'kernels woken together in the opposite order' runtime/kernels/wakes.h \
    's/\(uint32_t\)__builtin_ctzll\(w->set\[word\]\)/63 - (uint32_t)__builtin_clzll(w->set[word])/'
break_it 'other pieces taken for the same' runtime/data/shared.c 's/return memcmp\(a->pieces, b->pieces, a->n_pieces \* sizeof \*a->pieces\);/return 0;/'
break_it 'pieces taken for the same by their first' runtime/data/shared.c 's/a->n_pieces \* sizeof \*a->pieces\)/sizeof *a->pieces)/'
break_it 'equal pieces gathered twice' runtime/data/mem_parts.h 's/SHARED_LEAST = 16/SHARED_LEAST = 1 << 30/'
break_it 'pieces found after their last reader' runtime/data/mem_version.c 's/if \(v->shared\)/if (0)/'
mem=runtime/data/mem.c
break_it 'kept: what was read before, written or not' $mem 's/again->changes == memory->changes/true/'
break_it 'kept: what was read before of another memory' $mem 's/ && again->area == area//'
break_it 'kept: a shorter read of before' $mem 's/again->nbytes == nbytes && //'
break_it 'kept: what a memory held before it was cleared' $mem 's/^    m->areas\[area\]\.changes\+\+;$//'
break_it 'kept: the cost of a way to another memory' runtime/engine/inorder_way.h 's/ \|\| cost->dst != x->dst//'
break_it 'kept: the cost of other bytes' runtime/engine/inorder_way.h 's/cost->nbytes != x->nbytes/!cost->nbytes/'
break_it 'kept: the memory found first' $tl_check 's/if \(offset >= m->nbytes\)/if (!m->nbytes)/'
break_it 'kept: a load of other extents' $tl_memory 's/if \(\(int64_t\)moved->shape\.dim\[i\] != shape->dim\[i\]\)/if (0)/'
break_it 'kept: a load of another type' $tl_memory 's/moved->dtype != \(uint32_t\)dtype \|\| //'
break_it 'an own issue before the events of others' runtime/pe/pe_engine.c 's/return e < (calendar_first|first_of_all)\(.*/return true;/'
break_it 'a kernel that goes on before the events of others' runtime/pe/pe_engine.c 's/ev e = first_of_all\(s, how\);/ev e = ev_slot(k->wakes.next) == pe ? k->wakes.next : first_of_all(s, how);/'
break_it 'a bucket that begins behind a wake is due' $calendar 's/if \(next_bucket\(c\) > until_fs >> c->width\)/if (false)/'
break_it 'a port of another TCM' runtime/kernels/hooks.h 's/work_is_dma\(work\) \? pe_of_tcm\(.*\) : work/true ? work/'
break_it 'a link into a TCM as fast as into an SRAM' $program.c 's/= STEP_TCM_LINK;/= STEP_LINK;/'
break_it 'a TCM written as fast as it is read' $program.h 's/OF_TCMS \+ writes\]/OF_TCMS]/'
break_it 'an engine that is a component, free when it is done' runtime/network/component_engine.h 's/station->free_fs = \(int64_t\)free_fs;/station->free_fs = (int64_t)done_fs;/'
break_it 'a read that comes first where others are coming' runtime/engine/inorder_way.h 's/IN_CALLED && !memory->coming &&/IN_CALLED \&\&/'
break_it 'buckets that become narrower lose what is near' $calendar 's/^    take_lists\(&c->near, txns, &all\);/    ;/'
break_it 'a list of more than four events loses some' runtime/engine/calendar.h 's/(l->old >> 32 \|) \(uint64_t\)~txns.*/\1 0;/'
break_it 'one part pending, all pending' runtime/data/mem_version.c 's/nbytes < v->nbytes && !version_ready\(v\)/0/'

sweep=runtime/sim/sweep.c traffic=runtime/engine/traffic.c curve=runtime/sim/traffic_result.c
break_it 'a range without its last' runtime/machine/endpoint_text.c 's/first <= i && i <= last/first <= i \&\& i < last/'
break_it 'a pattern beyond the machine' runtime/machine/endpoint_text.c 's/c\.descending \|\| p->sip\.last >= t->sips/c.descending/'
break_it 'steps without the end that is hit' runtime/cli/in/in_lists.c 's/step > last - value/step >= last - value/'
break_it 'ops turn last in a sweep' runtime/cli/in/points.c \
    's/if \(\+\+at->inflight < p->inflight\.n\)/if (0)/'
break_it 'sources without a point not passed over' runtime/cli/in/points.c \
    's/while \(at->src < p->src\.n .*;/while (0);/'
break_it 'a compiled machine of rounder numbers than a loaded one' gen/emit_parts.c \
    's/text_put_double\(text, 1, x\);/sprintf(text, "%.9g", x);/'
break_it 'the YAML of a compiled machine is quoted once' gen/emit.c 's/\[\[\[\[(.*)\]\]\]\]/[[\1]]/'
break_it 'a picture of a net whose links around are lines' runtime/cli/view/scene_net.c 's/== \(int\)m->place\[a\]\.size\[\*d\] - 1/== -1/'
break_it 'a picture of a net whose links past cubes are lines' runtime/cli/view/scene_net.c 's/abs\(\*by\) > 1 \? WAY_BOW/0 ? WAY_BOW/'
break_it 'a picture of a net whose cubes are no grid' runtime/cli/view/scene_net.c 's/return m->place\[cube\]\.dims > 0/return m->place[cube].dims > 9/'
break_it 'a picture of a net: a cube of two grids is of the second' gen/net_items.c 's/if \(!place->grid\)/if (1)/'
break_it 'a picture of a net: all cubes of a grid have its first place' gen/net_items.c 's/\(uint16_t\)grids->n, \(uint16_t\)i\}/(uint16_t)grids->n, 0 * (uint16_t)i}/'
break_it 'a tray without links between cubes' runtime/cli/view/scene_tray.c 's/ && t->m->tiles\)/ \&\& false)/'
break_it 'each block the first of JSON' runtime/cli/out/out_json.c 's/bool first = from == 0;/bool first = true;/'
break_it 'a short block is not the last' runtime/cli/cmd_sweep.c 's/return b->n_run == b->n && /return /'
break_it 'all simulations of a rate with one seed' runtime/cli/cmd_load.c \
    's/opts\.seed \+ i % load->seeds/opts.seed/'
break_it 'rates that add up' runtime/cli/in/in_lists.c 's/\(double\)millionths \/ 1e6/(double)millionths * 1e-6/'
break_it 'a point that leaves its links taken' runtime/sim/again.c 's/^    if \(s->links\)$/    if (0)/'
break_it 'time goes on from point to point' runtime/sim/again.c 's/^    s->end_fs = s->child_end_fs = 0;$//'
break_it 'a lone copy without its response' $sweep \
    's/int64_t fs = kb_formula_fs\(&job->cost\);/int64_t fs = kb_formula_fs(\&job->cost) - job->cost.response_fs;/'
break_it 'percentiles one rank too high' runtime/base/percentiles.h 's|/ 1000 - 1;|/ 1000;|'
break_it 'buckets half as fine' runtime/base/percentiles.h 's/BUCKET_BITS = 10/BUCKET_BITS = 9/'
break_it 'latencies that are not sorted' runtime/base/percentiles.h 's/if \(!percentile_sorted\(values, n\)\)/if (0)/'
break_it 'columns for rows in transpose' $traffic 's/return tr->home_of\[pe % side \* side \+ pe \/ side\];/return tr->home_of[pe];/'
break_it 'neighbor to the other side' $traffic 's/\(pe \+ 1\) % n/(pe + n - 1) % n/'
break_it 'a hot spot that takes from the rest alone' $traffic \
    's/return any_slice\(tr, rng\);/return tr->slice_of[n > 1 ? 1 + below(rng, n - 1) : 0];/'
break_it 'logarithms that are a little off' $traffic 's/1\.0 \/ 3/1.0 \/ 2/'
break_it 'a transaction that waits counted from when it is taken' $traffic \
    's/\{\.issue_fs = source->next_fs,/{.issue_fs = source->next_fs < (int64_t)t ? (int64_t)t : source->next_fs,/'
break_it 'ids in the order of drawing' $traffic \
    's/\.id = \(source->n - 1\) \* tr->n_pes \* tr->kinds \+ number/.id = (uint32_t)tr->n_issued/'
break_it 'a matrix whose PEs all issue alike' runtime/engine/traffic_make.c 's/set_means\(tr, pe, fs \/ share\)/set_means(tr, pe, fs)/'
break_it 'the warm-up measured too' $curve 's/^    v\.from = find_warmup\(mean\);$//'
break_it 'a NULL that is not refused' $results 's/^    REFUSE_NULL\(s && r, .*$//'
break_it 'copies of outputs not compared' runtime/sim/bench_verify.c 's/^    while \(more\) \{/    while (0) {/'
break_it 'always steady' $curve 's/return grown > 3/return false \&\& grown > 3/'
break_it 'a short run called steady' $curve 's/return v->from <= WARMUP_MOST/return true || v->from <= WARMUP_MOST/'
break_it 'a short run called steady for its luck' $curve 's/ && is_long_for_its_waits\(&v, r\)//'
break_it 'fixed intervals with one transaction more' runtime/engine/traffic_make.c 's/tr->last_fs = \(int64_t\)\(horizon.*;/;/'
break_it 'confidence without Student' $curve 's/return n <= most \? t\[n - 1\]/return n <= most ? 1.96/'
break_it 'the middle of a bucket for what is exact' $curve 's/if \(!r->exact\)/if (1)/'
break_it 'accepted counted by issue' runtime/engine/traffic_end.h \
    's/tr->parts\[traffic_part_at\(tr, \(int64_t\)end\)\]\.completed/tr->parts[part].completed/'

# -- results --------------------------------------------------------------------------------
cells=runtime/cli/diff/cells.c moves=runtime/cli/diff/moves.c keys=runtime/cli/diff/diff_keys.c sqlite=runtime/cli/out/out_sqlite.c sqlite_file=runtime/cli/out/sqlite_file.c
break_it 'a relative change of b instead of a' $cells 's/exact_above\(delta, a, o->bound\)/exact_above(delta, b, o->bound)/'
break_it 'the smallest moves first' $moves 's/fabs\(x->pct\) > fabs\(y->pct\)\)/fabs(x->pct) < fabs(y->pct))/'
break_it 'larger moves after a cut forgotten' $moves 's/return d->is_cut && compare_moves\(m, .*$/return d->is_cut;/'
break_it 'another row taken for the same' $keys 's/PARAMETER \? !same_key\(a, b\)/PARAMETER ? 0/'
break_it 'rows behind one that is missing' $keys 's/if \(unique\)/if (0)/'
break_it 'a text that is a result taken for a key' $keys 's/return RESULT_TEXT;/return COMPARED;/'
break_it 'a kept row that loses its last cell' runtime/cli/diff/diff_results.c 's/size_t len = r->cells\[c\] \?/size_t len = r->cells[c] \&\& c + 1 < r->n_columns ?/'
break_it 'digits of JSON lost' runtime/cli/diff/results_json.c 's/number = number && n > 0;/number = false;/'
break_it 'a digit too few in an exact number' runtime/cli/diff/number.c 's/DECIMALS = 6,/DECIMALS = 5,/'
break_it 'a line end within quotes' runtime/cli/diff/diff_results.c 's/\*r->at != .". \|\| r->at\[1\] == .".\)/*r->at != 34 \&\& *r->at != 10)/'
# -- gates ----------------------------------------------------------------------------------
gate=runtime/cli/gate.c fail_if=runtime/cli/fail_if.c
break_it 'a bound that is no number' $gate 's/!is_finite\(bound\) \|\| //'
break_it 'a value that is NaN is below no bound' $gate 's/ \|\| isnan\(value->value\)//'
break_it 'what cannot be decided passes' $gate 's/return g->n_undecided > 0 \?/return 0 ?/'
break_it 'no rows are no question' $gate 's/cli->gates->n_rows > 0 \|\| o->shard/true || o->shard/'
break_it 'a verification that did not take place passed' $fail_if 's/strcmp\(cell->text, "off"\) == 0 \&\&/false \&\&/'
break_it 'what has become NaN has moved by nothing' $cells 's/return UNDECIDED;/return EQUAL;/'
break_it 'a formula without the way back' runtime/cli/cmd_route.c 's/if \(has_return\)/if (false)/'

# -- databases ------------------------------------------------------------------------------
break_it 'a run that is never committed' $sqlite 's/db_run\(db, "COMMIT"\);/;/'
break_it 'rows kept of what could not be printed' runtime/cli/cli_main.c \
    's/out_sqlite_close\(cli->sqlite, end\)/out_sqlite_close(cli->sqlite, SINK_KEEP)/'
break_it 'a run that does not wait for another' $sqlite_file 's/BUSY_S \* 1000/0/'
trace=runtime/cli/trace/trace.c timeline=runtime/cli/trace/timeline.c flights=runtime/cli/trace/flights.c
lanes=runtime/cli/trace/trace_lanes.c
break_it 'a slice on a lane that is taken' $lanes 's/c->lane\[i\]->busy \|\| //'
break_it 'a slice on a lane that was taken then' $lanes 's/ \|\| c->lane\[i\]->free_fs > begin_fs//'
break_it 'a flow without its end' $flights 's/s->flow_ends = is_last\(t, work, service\);/;/'
break_it 'parts of a transaction that are kernels' runtime/cli/trace/flights.h 's/KERNEL_KEY  \(UINT64_C\(1\) << 62\)/KERNEL_KEY (UINT64_C(1) << 32)/'
break_it 'parts of a transaction with one arrow' $flights 's/\(part == KB_NO_ID \? 0 : \(uint64_t\)part\) << 32 \| //'
break_it 'a flow that goes on behind routers after its end' $flights 's/if \(t->lanes\.routers\)/if (false)/'
break_it 'a window without what was open' $timeline 's/s = t->first; s; s = s->after/s = NULL; s; s = s->after/'
break_it 'a timeline without room for its end' runtime/cli/trace/trace_out.c 's/f->bytes \+ n \+ f->reserve >/f->bytes + n >/'
break_it 'what is early told at once' $trace 's/e->fs > t->now_fs && may_be_ahead\(t, e, place\)/false/'
break_it 'flights that are never forgotten' $trace 's/^            flight_end\(t, f\);$/            ;/'
break_it 'a wait that is not said' $flights 's/set_wait\(f, s, work->place\);/;/'
break_it 'what is open stays open' $trace 's/if \(t->opened && !t->stopped\)/if (0)/'
break_it 'counters told twice' $timeline 's/ \|\| c->value == c->shown\)/)/'
break_it 'a dispatch that ends with its command' runtime/cli/trace/trace_commands.c 's/slice_end\(t, f, s, command->issue_fs\)/slice_end(t, f, s, command->issue_fs + 1)/'
break_it 'a link that is held to no end' $trace 's/if \(service->end_fs < 0\)/if (true)/'
break_it 'a number of 72 memories that is 64' $lanes 's/return cube\.n_slices \+ 1;/return cube.n_slices;/'
break_it 'ends in another field' runtime/cli/trace/perfetto.proto 's/(terminating_flow_ids) = 48/\1 = 49/'
break_it 'a timeline of 1000 times as long' runtime/cli/trace/trace_json.c 's/fs \/ 1000\)/fs)/'

break_it 'times as whole ns' $sqlite 's|\(double\)cell->fs / KB_FS_PER_NS|(double)(cell->fs / KB_FS_PER_NS)|'

# -- observing ------------------------------------------------------------------------------
spans=runtime/explain/spans.c stations=runtime/explain/explain_stations.c messages=runtime/explain/messages.c commands=runtime/explain/commands.c
observe=runtime/explain/observe.c stages=runtime/explain/stages.c ways=runtime/explain/ways.c shares=runtime/explain/explain_shares.c why=runtime/explain/breakdown.c visits=runtime/explain/visits.c visitors=runtime/explain/visitors.c sums=runtime/explain/sums.c path=runtime/explain/critical_path.c causes=runtime/cli/rows/breakdown_rows.c
break_it 'watch: the engine that tells nothing' $observe 's/s->options\.engine = KB_HOP;/;/'
break_it 'watch: a channel whose first holder stays in front' $stations \
    's/w->channel_id\[place_index\(place\)\] = s->txns\[slot\]\.id;/;/'
break_it 'watch: an engine whose first holder stays in front' $stations \
    's/w->engine_id\[place_index\(place\)\] = s->txns\[slot\]\.id;/;/'
break_it 'watch: behind the source of the transaction that waits' $stations \
    's/\*source = spans_source\(&s->txns\[holder\]\);/*source = spans_source(txn);/'
break_it 'watch: no crossing of a NoC' $spans 's/^    if \(s->mask\.wire\)$/    if (0)/'
break_it 'watch: nodes told though their cost is left out' $spans \
    's/hop->overhead_fs & s->mask\.overhead;/hop->overhead_fs;/'
break_it 'watch: reads on the edges of their requests' $spans \
    's/return place_of\(KB_AT_LINK, link \^ !txn_writes\(txn\)\);/return place_of(KB_AT_LINK, link);/'
break_it 'watch: nodes of the other SIP in one of the first' $ways \
    's|hop->chiplet == AT_IO_TO\)|false)|'
break_it 'watch: a path alone takes the visits of sums' $why 's/w->visits = w->visits \? w->visits : &why->visits;/w->visits = \&why->visits;/'
break_it 'watch: no place of a wire, though sums are asked for' $stages 's/spans_of\(s\)->n_by_places \? pass : add_up/add_up/'
break_it 'watch: pieces that are added up count as one' $shares 's/row->count \+= piece->count;/row->count++;/'
break_it 'watch: a way without its crossings' $ways 's/tell\(KB_CAUSE_WIRE, node, .*;/;/'
break_it 'watch: ways of reads on the edges of their requests' $ways 's/ \^ back;/;/'
break_it 'watch: reads and writes on one way' $ways 's/ \| x->op\);/ | (x->op \& 2u));/'
break_it 'watch: ways that are lost as their table grows' $ways 's/if \(old\.way\[i\]\.how\)/if (old.way[i].how \& 1)/'
break_it 'watch: the last in line for a station taken for the one in front' $visitors 's/begin_fs <= t\) \{/begin_fs <= INT64_MAX) {/'
break_it 'watch: the first in line in front of all' $visitors 's/begin_fs <= t\) \{/begin_fs < 0) {/'
break_it 'watch: what waited for a station that is free now stays in front' $stations 's/visitors_forget\(line\.visitors\);/;/'
break_it 'watch: a line that is mixed up as it grows' $visitors 's/ring\[i\] = v->ring\[\(v->first \+ i\)/ring[i] = v->ring[(i)/'
break_it 'watch: a slot keeps the time of the one before' $visits 's/v->spent_fs\[slot\] = 0;/;/'
break_it 'watch: a component that is done early drains for all of its way' $visits 's/visit->drain_fs < served_fs \?/1 ?/'
break_it 'watch: waits at memories behind nothing' $visits 's/sums_part\(v->sums, \(struct key\)\{\.by = KB_BREAKDOWN_WAIT, \.of = wait\.place\}, &wait\);/;/'
break_it 'watch: a way counted before all of its visits' $visits 's/stay\(way, STAY_RESPONSE, way->response_fs\);/;/'
break_it 'watch: a stage does not follow from the one that it has waited for' $stages 's/v->stages\[last->slot\]\.follower = visit->slot \+ 1;/;/'
break_it 'watch: nor behind a channel' $stages 's/stations_follow\(s, \(uint64_t\)visit->begin_fs, visit->slot, true\);/;/'
break_it 'watch: a stage follows from one whose memory was free before' $stages 's/!stations_free_early\(s, visit->slot, stage->place\)/wait_fs \&\& last/'
break_it 'watch: a row of an L2 has a follower' $stages 's/last && !is_child\(s, last->slot\) &&/last \&\&/'
break_it 'watch: a stage takes over a chain of another command' $stations 's/from->chain\.command == chain->command/1/'
break_it 'watch: a wait for an engine that another command had is not followed' $stages 's/stage->service == KB_CAUSE_COMPUTE/false/'
break_it 'watch: a service of a stage is told as it begins' $stages 's/stage->stays\.fs\[STAY_MEMORY\] = 0; \/\* it is told \*\//stage->stays.fs[STAY_MEMORY] = 0; tell_service(s, stage, visit->slot); stage->stays = (struct stays){{0}};/' $stages 's/^static void tell_way\(/static void tell_service(struct kb_sim *s, const struct stage_visits *stage, uint32_t slot);\nstatic void tell_way(/'
break_it 'watch: waits of a way behind its wires' $stages 's/^    tell\(w, piece->cause, piece->place, piece->sum_fs\);/    (void)0;/' $stages 's/^    const struct stop \*stop = w->stop;/    const struct stop *stop = w->stop;\n    tell(w, piece->cause, piece->place, piece->sum_fs);/'
break_it 'watch: a node that is a component takes what the tables say, too' $ways 's/node_component\(t, hop, at\.cube\) \? 0 : hop->overhead_fs/hop->overhead_fs/'
break_it 'watch: a part of a kernel begins without its channel' runtime/engine/inorder_steps.h 's/OBSERVE\(s, split, whole, slot\);/;/'
break_it 'watch: no visit of an engine' runtime/engine/inorder_steps.h 's/observe_visit\(s, STATION_ENGINE,/observe_visit(s, STATION_CHANNEL,/'
break_it 'watch: a link is visited as it is entered' runtime/engine/inorder_way.h 's/slot, t, enter\);/slot, enter, enter);/'
break_it 'watch: a node of a way is a wire' $ways 's/tell\(KB_CAUSE_OVERHEAD, node,/tell(KB_CAUSE_WIRE, node,/'
break_it 'watch: ways not told though an observer hears of them' $observe 's/w->n_by_pieces == w->n_by_visits \&\& //'
break_it 'watch: reads for writes in names' runtime/machine/place.c 's/put_way\(t, place, i & 1, text\)/put_way(t, place, !(i \& 1), text)/'
break_it 'watch: an engine taken since its memory was' $stations \
    's/: spans_of\(s\)->slots\[slot\]\.engine_since_fs;/: spans_of(s)->slots[slot].memory_since_fs;/'
break_it 'watch: no response' $spans 's/^    if \(end > t && !is_whole\(s, slot\)\) \{/    if (0) {/'
break_it 'watch: memory overhead within the drain' $stations 's/^    if \(overhead_fs\) \{/    if (0) {/'
break_it 'watch: late traffic that has waited since it was let in' runtime/engine/traffic.c \
    's/observe_late\(s, \(uint64_t\)source->next_fs, slot\)/observe_late(s, t, slot)/'
break_it 'watch: a wait for a tile of the same composite not followed' $stations \
    's/from->chain\.command == chain->command/0/'
break_it 'watch: a stage that forgets the one before' $commands 's/if \(from->chain\.command == c->op\.id\)/if (0)/'
break_it 'watch: a tile that never waits for room' $commands \
    's/waited_fs = \(int64_t\)t - c->since_fs;/waited_fs = 0;/'
break_it 'watch: a turn on an accumulator is on no path' runtime/explain/commands.c 's/if \(c->task != TASK_ACC \|\|/if (true ||/'
break_it 'watch: a tile that waits for room behind itself' $commands \
    's/\.behind_id = from->chain\.command\}/.behind_id = c->op.id}/'
break_it 'watch: a wait for a link that follows what has ended last' $stations \
    's/x->cause != KB_CAUSE_LINK_WAIT\)/1)/; s/spans_of\(s\)->leaving\.chain\.command = KB_NO_ID;/;/'
break_it 'watch: the shortest wait for the longest' $shares \
    's/piece->longest_fs > row->longest_fs/piece->longest_fs < row->longest_fs/'
break_it 'watch: no dispatch' runtime/explain/messages.c 's/^    if \(dispatch\.sum_fs\)/    if (0)/'
break_it 'watch: waits that lead nowhere' $pe_cpu 's/if \(s->observer && \(wakes \|\|/if (s->observer \&\& (0 ||/'
break_it 'watch: the end of a kernel with its return alone' $pe_cpu \
    's/\|\| \(pe->outstanding == 0 && pe->state == PE_RETURNED\)\)/|| 0)/'
break_it 'watch: what is issued and not waited for leads nowhere' $pe_cpu \
    's/if \(async && pe->sim->observer\)/if (0)/'
break_it 'watch: the path of the first kernel to end' $path 's/run->end_fs > last->end_fs \|\|/0 ||/'
break_it 'watch: of several the path of the last PE' $path 's/run->pe < last->pe/run->pe > last->pe/'
break_it 'watch: a step that is left at its issue, whole' $path 's/^    if \(whole\) \{/    if (1) {/'
break_it 'watch: a path backwards' $path 's/turn_around\(path, launch\);/;/'
break_it 'watch: folded wires that forget time' $path 's/to\[at\]\.sum_fs \+= share->sum_fs;/;/'
break_it 'watch: wires of a credit that are overheads' $messages \
    's/talk->wire_fs \+= wire_fs;/talk->overhead_fs += wire_fs;/'
break_it 'watch: a wait for a slot that ends as its credit sets out' $messages \
    's/int64_t from_fs = set_out_fs > talk->since_fs \?/int64_t from_fs = 1 ?/'
break_it 'watch: a message that comes from nowhere' $messages 's/chain_follow\(chain, messages_leaving\(s\), .*\);//'
break_it 'watch: a send that returns at its issue' $commands \
    's/c->talk\.stretch = messages_stretch\(s, &x, \(int64_t\)t\);/;/'
break_it 'watch: a barrier without a last PE' $messages 's/chain_follow\(chain, last_stretch\(s, last, to, .*\);//'
break_it 'watch: the first of the last PEs' runtime/kernels/barrier.c 's/there_fs > b->last_fs\)/there_fs >= b->last_fs)/'
break_it 'watch: waits that are not told while they last' $messages 's/^    if \(c->piece < c->pieces\)/    if (0)/'
break_it 'watch: what others did forgotten' $path 's/if \(alone && !last\)/if (!last)/'
break_it 'trace: a bus that is a transaction' runtime/cli/trace/trace.c 's/ \|\| f->key & BUS_KEY//'
break_it 'trace: a send that keeps its kernel' runtime/cli/trace/trace.c 's/^                         \.go_on = on_go_on\}/                         }/'
break_it 'trace: an arrow that ends where it should go on' $flights 's/: flow_of\(work->message, KB_NO_ID\);/: flow_of(work->id, work->part);/'
break_it 'deadlock: circles that are none' runtime/kernels/deadlock.c 's/row\[i\]\.cycle = cycle\[.*;/row[i].cycle = 0;/'
break_it 'deadlock: all PEs that wait for a circle are in it' runtime/kernels/deadlock.c \
    's/if \(pe == KB_NO_ID \|\| seen\[pe\] != i \+ 1\)/if (pe == KB_NO_ID)/'
break_it 'watch: kernels counted by their pieces too' $why 's/^    if \(span->command != KB_NO_ID\)$/    if (0)/'
break_it 'watch: all sums behind another' $sums \
    's/of\.by == KB_BREAKDOWN_WAIT \|\| of\.by == KB_BREAKDOWN_PATH \?/1 ?/'
break_it 'watch: waits nowhere' $sums 's/cause != KB_CAUSE_RETURN;/cause != KB_CAUSE_RETURN \&\& cause != KB_CAUSE_LINK_WAIT;/'
break_it 'watch: the smallest sums first' $why \
    's/larger_first\(x->sum->fs, y->sum->fs\)/larger_first(y->sum->fs, x->sum->fs)/'
break_it 'watch: sums that are lost as their table grows' $sums 's/if \(old\.row\[i\]\.count\)/if (old.row[i].count > 1)/'
break_it 'watch: the longest steps hidden' $causes 's/return x < y \? 1 : x > y \? -1/return x < y ? -1 : x > y ? 1/'
break_it 'watch: causes cut alone, not what they are of' $causes 's/c->things > c->top \|\| //'
break_it 'watch: percent of the largest' $causes 's/percent\(row->sum_ns, row->all_ns\)/percent(row->sum_ns, c->row[0].all_ns)/'

# -- PEs that talk ---------------------------------------------------------------------------
ipcq=runtime/pe/pe_ipcq.c barrier=runtime/kernels/barrier.c
break_it 'talk: a credit takes no time' $ipcq 's/t \+ \(uint64_t\)q->credit_fs/t/'
break_it 'talk: a credit comes by the way there' runtime/pe/pe_ipcq_queue.c 's/word_fs\(s, &k->pes\[receiver\], &k->pes\[sender\]\)/word_fs(s, \&k->pes[sender], \&k->pes[receiver])/'
break_it 'talk: pieces without free slots' runtime/pe/pe_ipcq.c 's/ && ipcq_slot_of\(q, q->issued\)->free_fs < end//'
break_it 'talk: all tags are one queue' runtime/pe/pe_ipcq_queue.c 's/ \|\| q->tag != tag//; s/receiver\) \* 16 \+ tag;/receiver) * 16;/'
break_it 'talk: elements cut in two' runtime/pe/pe_ipcq_queue.c 's/~\(elem - 1\)/~((elem - 1) * 0)/'
break_it 'talk: any bytes are those expected' $ipcq 's/if \(slot->nbytes == nbytes && slot->last == last\)/if (last || !last)/'
break_it 'talk: two messages taken for one' $ipcq 's/slot->nbytes == nbytes && slot->last == last/slot->nbytes == nbytes/'
break_it 'talk: a slot is full before its piece is there' $ipcq 's/if \(!slot->full \|\| !fits/if (!fits/'
break_it 'talk: all slots are the first' runtime/pe/pe_ipcq_queue.c 's/\(uint64_t\)\(piece % q->n_slots\)/(uint64_t)(piece * 0)/'
break_it 'talk: queues on top of each other' runtime/pe/pe_ipcq_queue.c 's/r\.taken->bytes \+= nbytes;/r.taken->bytes = nbytes;/'
break_it 'talk: a piece as at the issue of the first' $ipcq 's/called && c->piece == 0/called/'
break_it 'talk: slots of an SRAM fetched from the TCM' $ipcq 's/^    bool tcm = pe_kind\(c->pe\)->pe\.ipcq_space == QUEUE_TCM;/    bool tcm = true;/'
break_it 'talk: a received tensor without a maker' $ipcq 's/^    c->result->maker = .*$//'
break_it 'talk: a tensor from its first byte' $ipcq 's/, c->op\.in\[0\]\.view\.offset\};/, 0};/'
break_it 'barrier: no way back' $barrier 's/word_fs\(s, lowest, c->pe\), slot/0, slot/'
break_it 'barrier: the last PE is the farthest' $barrier 's/if \(!b->last \|\| there_fs > b->last_fs\)/if (1)/'
break_it 'barrier: a group is its order' $barrier 's/^        qsort\(g->pes, g->n, sizeof \*g->pes, by_number\);/        ;/'
break_it 'barrier: once and never again' $barrier 's/^    b->arrived = 0;$//'
break_it 'atomic: the new value' $pe_dma 's/c->pe->atomic = old;/c->pe->atomic = (int64_t)total;/'
break_it 'atomic: every integer has a sign' $pe_dma 's/^    if \(dtype <= KB_I64\)$/    if (dtype <= KB_U64)/'
break_it 'atomic: added at the issue' $pe_cpu \
    's/^        pe_dma_issue\(s, t, c, called\);$/        pe_dma_add(s, c), pe_dma_issue(s, t, c, called);/' $boxes 's/^        pe_dma_add\(s, work->command\);/        ;/'
break_it 'deadlock: all in one circle' runtime/kernels/deadlock.c 's/\.cycle = cycle\[l->row\[i\]\.pe\];/.cycle = 1;/'
break_it 'deadlock: a PE that waits for a circle is in it' runtime/kernels/deadlock.c 's/seen\[pe\] != i \+ 1/0/'
break_it 'deadlock: what is under way beside holds up' runtime/kernels/deadlock.c 's/^    if \(holds_up\(c\)\)$/    if (holds_up(c) || true)/'
break_it 'deadlock: barriers wait for the lowest' runtime/kernels/deadlock.c 's/if \(leads_to\(l, pe, b\)\)/if (0)/'
break_it 'deadlock: ways over the first of a barrier alone' runtime/kernels/deadlock.c \
    's/come_to\(l, b->waiting->pe->number\);/;/'
break_it 'deadlock: messages that were received lie there' runtime/kernels/deadlock.c 's/ && o->issued != o->taken\)/)/'
break_it 'deadlock: no other tag' runtime/kernels/deadlock.c 's/return \(int\)tag;/return -1;/'
break_it 'deadlock: the first is named, in a circle or not' runtime/kernels/deadlock.c 's/if \(l->row\[i\]\.cycle\)/if (0)/'
break_it 'deadlock: kernels that have returned may send' runtime/kernels/deadlock.c 's/ && other->state != PE_RETURNED \? / ? /'
break_it 'deadlock: members that have come' runtime/kernels/deadlock.c 's/b->n - b->arrived/b->arrived/'

# -- one limit less -------------------------------------------------------------------------
knock=runtime/cli/why/why_limits.c rerun=runtime/cli/why/rerun.c
break_it 'knockout: links take the edge into a memory along' runtime/machine/cost.h 's/bare = memory->bare_gbs \+ m->memory_gbs/bare = memory->bare_gbs + m->memory_gbs + m->link_gbs/'
break_it 'by key: cubes keep what they have for themselves' gen/better.c 's/ok = make\(m, n, own\) && ok/(void)own/'
break_it 'by key: a value by two names is better twice' gen/better.c 's/if \(m->done\[i\] == value\)/if (0)/'
break_it '--set: a link keeps its number' gen/net_load.c 's/return load_link_value\(&r, doc->root, link_keys\[key\]\.name, &spec->links\.rows\[link\]\)/return load_link_value(\&r, doc->root, link_keys[key].name, \&(struct link_spec){.name = ""})/'
break_it 'by key: beside rails as without' gen/net_check.c 's/if \(rails && is_one_of/if (!rails \&\& is_one_of/'
break_it 'walks: each space has all PEs from the first' runtime/engine/traffic_walk.c 's/of_space\[space_of\(t, tr, pe\)\]\+\+;/(of_space[space_of(t, tr, pe)]++, 0);/'
break_it 'return: at no place' runtime/explain/router_pieces.c 's/KB_CAUSE_RETURN, source/KB_CAUSE_RETURN, KB_NOWHERE/'
break_it 'by key: whole numbers are not rounded up' gen/better.c 's/ceil\(to \* \(1 - rounding\)\)/floor(to)/; s/value \+ 1\)/value)/'
break_it 'by key: more traffic where pe_gbs is better' $rerun 's/rate \* there \/ here : rate/rate : rate/'
break_it 'by key: no pairs' runtime/cli/why/why_keys.c 's/for \(size_t b = 0; b < a; b\+\+\)/for (size_t b = a; b < a; b++)/'
break_it 'by key: data that come back are not seen' runtime/cli/why/series.c 's/link \? link : find_link\(s, to, from\)/link/'
break_it 'by key: pairs of candidates only' runtime/cli/why/why_keys.c 's/s->whole \|\| is_candidate/is_candidate/'
break_it 'by key: a pair called the best of some' runtime/cli/why/search_rows.c 's/search_pairs_run\(s\) == search_n_pairs\(s\) && best/best/'
break_it 'knockout: TCM ports are memories' runtime/pe/pe_fetch_store.c 's/tcm->gbs \+ s->mask\.tcm_gbs/tcm->gbs + s->mask.memory_gbs/'
break_it 'knockout: cycles that stay' runtime/pe/pe_gemm.c 's/drain_fs\(cycles, pe->gemm_clock_ghz\) & mask->compute/drain_fs(cycles, pe->gemm_clock_ghz)/'
break_it 'knockout: the smallest saving comes first' $knock 's/judged_fs\(w, w->order\[at - 1\]\) > judged_fs\(w, i\)/judged_fs(w, w->order[at - 1]) < judged_fs(w, i)/'
break_it 'knockout: the same limit each time' $knock 's/limit_at\(w->cli, i \+ 1\)->cost/limit_at(w->cli, 1)->cost/'
break_it 'knockout: chosen again without each limit' $rerun 's/words = j->first \? (.*) : .*;/words = \1;/; s/j->first \? (opts->n_operands - 1) : r->bench->n_args/\1/'
break_it 'knockout: a percentile of one less' $rerun 's/\(n \* 99 \+ 99\) \/ 100 - 1/n * 98 \/ 100/'

# -- comfort --------------------------------------------------------------------------------
inspect=runtime/explain/inspect.c complete=runtime/base/help_complete.c
break_it 'panels of a reference'"'"'s product from the last to the first' runtime/phase2/reference_product.c \
    's/for \(int64_t p = 0; p < x->k; p \+= DEPTH\)/for (int64_t p = (x->k - 1) \/ DEPTH * DEPTH; p >= 0; p -= DEPTH)/'
break_it 'the lower edge of a reference'"'"'s product not seen' runtime/phase2/reference_product.c \
    's/i \+ ROWS <= x->m \&\& //'
break_it 'a quotient by an inverse that is not corrected' benches/attention.h \
    's/y = _mm##BITS##_fmadd_pd\(rest, inverse, y\);/;/'
break_it 'sums of a reference cut off instead of rounded' benches/coll_bench.h \
    's/bits \+= \(\(UINT64_C\(1\) << \(dropped - 1\)\) - 1\) \+ \(bits >> dropped & 1\);/;/'
break_it 'a difference counted from the begin of its block' runtime/sim/bench_verify.c 's/first \+ d->index/d->index/'
break_it 'the wrong operation that is met first' runtime/phase2/exec.c \
    's/\(exec->status == KB_OK \|\| exec->status == KB_DIFFERENT\)/exec->status == KB_OK/'
break_it 'a stage taken for its command' $inspect 's/op_log_find\(in->sim->log, token\.parent,/op_log_find(in->sim->log, id,/'
break_it 'a consumer that is none' $inspect 's/return !has_id\(&op\.depends, in->op\.id\)/return has_id(\&op.depends, in->op.id)/'
break_it 'the mean of all, NaN too' runtime/cli/rows/inspection_rows.c 's/if \(!isfinite\(value\)\)/if (0)/'
break_it 'the bytes of a load forgotten' runtime/record/oplog.c 's/op->kind == OP_DMA_READ    \? &op->out/op->kind == OP_DMA_READ ? NULL/'
break_it 'inputs made although nothing reads them' runtime/data/host_fill.c 's/return tensor->host->fills_now \?/return true ?/'
break_it 'inputs not made before the threads of Phase 2' runtime/data/host.c 's/h->fills_now = true/h->fills_now = false/'
break_it 'a part of a fill that has left' runtime/data/host_fill.c 's/f->versions\[number\] = NULL;//'
break_it 'an element of a part, not of the whole' runtime/data/host.c 's/index\[axis\] = p->first\[axis\] \+ /index[axis] = /'
break_it 'arguments that were given offered again' runtime/cli/describe.c 's/else if \(!is_given\(c, arg\)\)/else/'
break_it 'options of other commands offered' $complete 's/if \(named && !\(o\.commands & bits_of\(c\)\)\)/if (0)/'
break_it 'a progress line left behind' runtime/cli/out/progress.c 's/"\\r%79s\\r"/"%.0s"/'
break_it 'a closing line in a file' runtime/cli/out/speed.c 's/ \|\| !isatty\(STDERR_FILENO\)//'
break_it 'a backslash that roff takes for its own' runtime/base/help_man.c 's/put_char\(\*text, to\);/fputc(*text, to);/'

# -- reports --------------------------------------------------------------------------------
break_it 'a script that a name can end' runtime/cli/report/report.c 's/memchr\(from, .<., /memchr(from, 0, /'
break_it 'zeros that belong to a number taken away' runtime/cli/report/report_json.c 's/!memchr\(from, .\.., \(size_t\)\(s->at - from\)\) \|\| //'
break_it 'rows of a page without an end' runtime/cli/report/report_json.c 's/n\+\+ >= REPORT_ROWS_KEPT/n++ >= 9 * REPORT_ROWS_KEPT/'
break_it 'lines of kernels without sums' runtime/cli/rows/breakdown_rows.c 's/ && row->by != KB_BREAKDOWN_PATH\)/)/'
break_it 'nothing for readers without scripts' runtime/cli/report/report.c 's/^    put_sink\(s, &r->figures\);//'
break_it 'a page that does not say what stderr says' runtime/cli/command.c \
    's/cli->page->note\(cli->report, line\);/(void)0;/'
break_it 'all requests have the pages of the first' benches/llm/llm_requests.c 's/r->before\[u - s->pes\] \+ pages_of/0 * pages_of/'
break_it 'a row is of the next request' benches/llm/llm_requests.c 's/r->request\[middle\]\.row <= row/r->request[middle].row < row/'
break_it 'each request is as long as the first' benches/llm/llm_place.h 's/op->requests->request\[i\]/op->requests->request[0]/'
break_it 'lengths count once for all layers' runtime/cli/llm/batches.c 's/size->rest_fs \+ b->graph\.layers \* alone/size->rest_fs + alone/'
break_it 'iterations without a head take what those with one do' runtime/cli/llm/batches.c 's/ && m->size\[i\]\.heads == r->heads//'
break_it 'operations of a model pay no launch' benches/llm/step.c 's/if \(i > 0\)/if (0)/'
break_it 'the largest of a model is that of one rank' benches/llm/step.c 's/reduce_in_place\(me, llm_same_index\(me\), v, TL_MAXIMUM\);//'
break_it 'a tied head counts twice' runtime/cli/llm/model.c 's/m->tied \? 1 : 2/2/'
break_it 'a prompt attends to what comes later' runtime/cli/llm/graph_work.c 's/q \* \(q \+ 1\) \/ 2/q * q/'
break_it 'a bound counts weights twice' runtime/cli/llm/llm_search.c 's/c->has_plain_memory \? n\.w/c->has_plain_memory ? 2 * n.w/'
break_it 'all PEs of a unit send to the first' benches/llm/llm_attention.c 's/pe_of\[-\(member & -member\)\]/pe_of[-member]/'
break_it 'vary: columns of the first machine' runtime/cli/vary/vary.c 's/v->routers = !code && varies_links/v->routers = false \&\& varies_links/'
break_it 'vary: no warnings of ideal links' runtime/cli/vary/vary.c 's/v->ideal = !code && has_ideal/v->ideal = false \&\& has_ideal/'
break_it 'vary: columns by their places' runtime/cli/vary/wide.c 's/by_number\[numbers\[i\]\] = from\[i\]/by_number[i] = from[i]/'
break_it 'sweep: rows without the way back' runtime/cli/cmd_sweep.c 's/if \(view->with_return\)/if (false)/'
break_it 'llm: pages are loaded before the room of queues is taken' benches/llm/llm_attention.c 's/return pages \* \(int64_t\)page_bytes.*/return false;/'
break_it 'a bound issues each command twice' runtime/cli/llm/llm_search.c 's/fmax\(n->commands \* /fmax(2 * n->commands * /'
break_it 'llm: figures of a PE are those of no cube' runtime/cli/llm/chip.c 's/kb_cube_keys\(c->topo, pe\.sip, pe\.cube, take_key, c\)/kb_topology_keys(c->topo, take_key, c)/'
break_it 'a cube has the keys of the machine' runtime/sim/topology.c 's/spec = cubes\.kinds\[cubes\.kind\[w->cube\]\];/(void)0;/'
break_it 'llm: a softmax sums no columns of other PEs' benches/llm/step.c 's/reduce_rows\(me, op, TL_ADD, exp_rows\);/by_rows(me, op, 4, exp_rows);/'
break_it 'llm: a bound counts deep tiles as many' runtime/cli/llm/llm_search.c 's/k > a->width \? a->whole : a->parts;/a->parts;/'
break_it 'an estimate forgets the ways of loads' runtime/cli/llm/llm_search.c 's/double channels = waits \+ /double channels = /'
break_it 'llm: a bound counts the weights of all PEs twice' runtime/cli/llm/llm_search.c 's/return a->weights \* over_m/return 2 * a->weights * over_m/'
break_it 'llm: a pause in a graph is none' benches/llm/step.c 's/tl_idle\(me->tl, op->idle_fs\);//'
break_it 'tokens per second are those of one request' runtime/cli/llm/llm_rows.c 's/\(double\)\(s->batch \* count_of\(s->micro\) \* count_of\(s->dp\)\)/1.0/'
break_it 'each piece of a prompt has a head' runtime/cli/llm/llm_iterate.c 's/with\.has_more = p\.kv < a->prompt/with.has_more = false/'
break_it 'all pages of tokens count alike' runtime/cli/llm/llm_iterate.c 's/sum_fs \+= p\.times \* fs/sum_fs += fs/'
break_it 'the first token is a decode step' runtime/cli/llm/llm_pieces.c 's/last = prompt \+ tokens - 1/last = prompt + tokens/'
break_it 'an operation of a model is left out of the total' runtime/cli/llm/run.c 's/t->all_fs \+= count/t->all_fs = count/'
break_it 'llm: links of a switch count for each rank' runtime/cli/llm/roofs.c 's/strcmp\(next\.edge, before\.edge\) == 0/0/'
break_it 'llm: links of a rank are those of one copy' runtime/cli/llm/llm_rows.c 's/roofs_of\(l->chip, \(uint32_t\)shape_ranks\(s\)\)/roofs_of(l->chip, (uint32_t)s->tp)/'
break_it 'llm: memories of all ranks are of one' runtime/cli/llm/roofs.c 's/kb_slice_count\(c->topo\) \/ c->units/kb_slice_count(c->topo)/'
break_it 'llm: energy: bytes are bits' runtime/cli/llm/energy.c 's/\+ 8 \* bits/+ bits/'
break_it 'llm: energy: watts are of one call' runtime/cli/llm/llm_rows.c 's/static_pj\(l, it->took->all\.fs\)/static_pj(l, it->took->all.op[0].fs)/'
break_it 'llm: energy: stages have the watts only' runtime/cli/llm/llm_rows.c 's/pj \+= \(double\)calls\[i\]/pj += 0 * (double)calls[i]/'
break_it 'llm: energy: a way is its last wire' runtime/cli/llm/energy.c 's/w->um \+= /w->um = /'
break_it 'llm: energy: edges between chiplets are wires' runtime/cli/llm/energy.c 's/common == 1;/common == 2;/'
break_it 'parts end as transactions do' runtime/explain/spans.c 's/\.is_part = is_part\(s, slot\)/.is_part = false/'
break_it 'llm: energy: packets and runs count beside their whole' runtime/cli/llm/energy.c 's/span->part == KB_NO_ID \|\| //'
break_it 'llm: energy: ports are memories' runtime/cli/llm/energy.c 's/use->kind == KB_AT_MEMORY && !of_tcm/use->kind == KB_AT_MEMORY || use->kind == KB_AT_PORT/'
break_it 'llm: energy: all products are of one type' runtime/cli/llm/energy.c 's/\[KB_F16\] = 3, \[KB_BF16\] = 4/[KB_F16] = 3, [KB_BF16] = 3/'
break_it 'llm: energy: one of several machines has the column' runtime/cli/llm/llm_asked.c 's/has = has \|\| strncmp\(vary/has = has \&\& strncmp(vary/'
break_it 'llm: chakra: durations are rounded one by one' runtime/cli/llm/chakra_path.c 's/return \(uint64_t\)\(\(end_fs \+ us \/ 2\) \/ us - \(begin_fs \+ us \/ 2\) \/ us\);/return (uint64_t)((end_fs - begin_fs + us \/ 2) \/ us);/'
break_it 'llm: chakra: an all_gather is of all ranks' runtime/cli/llm/chakra_write.c 's/\? op->bytes \/ n : op->bytes/? op->bytes : op->bytes/'
break_it 'llm: chakra: memory of the host is read as a PE reads' runtime/cli/llm/chip.c 's/load \? KB_H2D : KB_D2H/load ? KB_WRITE : KB_READ/'
break_it 'llm: a message counts for both ranks' runtime/cli/llm/energy.c 's/g->op\[i\]\.kind == LLM_TAKE/false/'
break_it 'llm: all ranks keep what is scattered' runtime/cli/llm/graph_nodes_moves.c 's/op->y\.rows \/= r->out->shape\.tp;/;/'
break_it 'llm: a share of mem is whole in each PE' benches/llm/llm_move.c 's/share\(op->bytes, me->index \+ 1, me->s->pes\)/op->bytes/'
break_it 'llm: chakra: an all_gather that is read, too' runtime/cli/llm/chakra_trace.c 's/to->what == REPLAY_ALL_GATHER &&/0 \&\&/'
break_it 'llm: chakra: a field has another number' runtime/cli/llm/chakra.proto 's/uint64 duration_micros = 7;/uint64 duration_micros = 6;/'
break_it 'llm: chakra: numbers as bool are none' runtime/cli/llm/chakra_read.c 's/\*out = a->bool_val;/*out = 0;/'
break_it 'llm: chakra: time stands still while ranks exchange' benches/llm/replay.c 's/while \(next_end\(r\) < r->came_fs\)/while (0)/'
break_it 'llm: chakra: the last ready node is first' benches/llm/replay.c 's/heap\[i\] < heap\[\(i - 1\) \/ 2\]/heap[i] > heap[(i - 1) \/ 2]/g'
break_it 'llm: chakra: messages are taken in the order of ids' benches/llm/replay.c 's/sent && sent->tag == node->tag &&/sent \&\&/'
break_it 'llm: chakra: a circle is waited for' runtime/cli/llm/chakra_trace.c 's/if \(done < f->n\)/if (0)/'
break_it 'llm: a leap takes no time' benches/llm/leap.c 's/s->end_fs\[last\] != end_fs/0/; s/    tl_idle\(me->tl, s->came_fs\[last\] - llm_now_fs\(me\)\);/    tl_idle(me->tl, 1);/'
break_it 'llm: the last layer counts for those that are left out' runtime/cli/llm/run.c 's/l == \*s->layers_done - s->repeats_since \?/l == *s->layers_done - 1 ?/'
break_it 'llm: layers on interleaved slices lie anywhere' runtime/cli/llm/llm_graph.c 's/op->is_layer && g->round > 0 \? g->round : 1/1/'
break_it 'llm: ranks that share interleaved slices are alone' runtime/cli/llm/chip.c 's/if \(c->round > 0 \|\|/if (/'
break_it 'llm: all ranks leap as the first does' runtime/cli/llm/run.c 's/c->has_like_units && ranks_do_the_same\(g\)/1/'
break_it 'llm: what ranks send that are ahead is in no way' benches/llm/leap.c 's/tl_met_fs\(me->tl\) < me->quiet_fs/0/'
break_it 'llm: products of all types have one tile' runtime/cli/llm/llm_search.c 's/a->op\.x\.dtype == b->x\.dtype && //'
break_it 'llm: a map has a product as often as it was met' runtime/cli/llm/tile_map.c 's/if \(is_among\(of, i, &of\[i\]\)\)/if (0)/; s/e->unit == 0 \|\| e->unit == op->y\.unit/1/; s/a->unit == b->unit && //'
break_it 'llm: queues of collectives have room when they come' benches/llm/step.c 's/^    tl_hold_for_slots\(.*$//'
break_it 'llm: a rehearsal hears the first operation only' benches/llm/step.c 's/heard = heard && !is_heard_in\(op, before\)/heard = false/'
break_it 'llm: PEs that join what attention gives are not heard' benches/llm/llm_attention.c 's/^            join_numbers\(.*$/            ;/'
break_it 'llm: each PE has its share of all slices' runtime/cli/llm/chip.c 's/has_room\(c, at \* ROOM_STEP\) \? &low : &high/at < all \/ kb_pe_count(c->topo) \/ ROOM_STEP ? \&low : \&high/; s/if \(has_room\(c, at \* ROOM_STEP\)\)/if (1)/'
break_it 'llm: rooms of PEs are rows of a tensor' runtime/cli/llm/run.c 's/KB_SHAPE\(room\), each/KB_SHAPE(w->step.ranks * w->step.pes, room), (kb_placement){KB_ROW_WISE, KB_ROW_WISE}/'
break_it 'a kernel holds no room for slots' runtime/pe/pe_tcm.c 's/larger\(pe->slot_room\.bytes, pe->held_for_slots\)/pe->slot_room.bytes/'
break_it 'what a kernel holds for slots stays' runtime/kernels/launches.c 's/^        pe->held_for_slots = 0;$//'
break_it 'those that are near send at once, whatever fits' runtime/kernels/coll_choose.c 's/sharers > 1 \|\| !coll_queues_fit\(c, 0\)/sharers > 1/'
break_it 'a message meets no PE that is idle' runtime/pe/pe_ipcq.c 's/^    meet\(s, .*$//'
break_it 'llm: a DMA keeps no time over a leap' benches/llm/leap.c 's/return tl_paced_fs\(me->tl\) > llm_now_fs\(me\);/return false;/'
break_it 'llm: what was left out is never wrong' runtime/cli/llm/run.c 's/^        how->was_wrong = how->was_hasty = true;$/        ;/'
break_it 'llm: without leaps, too, the last collective decides' benches/llm/step.c 's/size_t n = s->known \? l\.each : 0;/size_t n = l.each;/'
break_it 'llm: what has not ended yet is compared' benches/llm/step.c 's/if \(s->end_fs\[i\] > 0 && later_fs > 0 && fs != later_fs\)/if (later_fs > 0 \&\& fs != later_fs)/'
break_it 'llm: a leap takes no ids' benches/llm/leap.c 's/^    tl_skip\(.*$//'
break_it 'llm: a leap takes the ids of the barrier behind it' runtime/cli/llm/draws.c 's/return is_last && of_barrier \? 0 : leap;/return leap;/'
break_it 'llm: ids of one instant are left free in any order' runtime/kernels/skips.c 's/skip->pes\[skip->draw->index\] < pe/true/'
break_it 'llm: causes of one PE count leaps as issue' runtime/cli/llm/cause.c 's/    part->fs\[ISSUE\] -= leapt_fs;//g'
break_it 'llm: a try is simulated to its end' runtime/cli/llm/run.c 's/, \.until_fs = g->limit\.until_fs//'
break_it 'llm: a try ends before its answer has come' runtime/cli/llm/run.c 's/status == KB_STOPPED \&\& !is_done\(g, \&w->step\)/status == KB_STOPPED/'
break_it 'llm: a product gives up too early' benches/llm/llm_gemm.c 's/rest \* \(1 - ROUNDED\) > /rest * 2 > /'
break_it 'llm: bytes over slow links are of the memory' runtime/cli/llm/cause.c 's/return cost\.bottleneck_gbs < c->own\.gbs;/return false;/'
break_it 'llm: what was interrupted is silent' runtime/cli/cmd_llm.c 's/if \(code && code != EXIT_INTERRUPTED\)/if (code)/'
break_it 'llm: a layer too many would fit' runtime/cli/llm/llm_fits.c 's/            low = g\.layers;/            low = g.layers + 1;/'
break_it 'a path does not go on in what has made room' runtime/explain/commands.c 's/    cause->room = messages_leaving\(s\);/    cause->room = KB_NO_ID;/'
break_it 'a path takes room behind a wait for what made it' runtime/explain/commands.c 's/cause->after_end = ended;/cause->after_end = ended; return;/'
break_it 'a kernel that ends with its wait for room has a gap' runtime/explain/commands.c 's/\.end_stretch = cause \? cause->room : KB_NO_ID/.end_stretch = KB_NO_ID/'
break_it 'what was paid before a wait for room is paid again' runtime/explain/messages.c 's/called\.launch_fs = called\.collective_fs = 0;/;/'
break_it 'what was paid before a wait for room is no command'"'"'s' runtime/pe/pe_cpu.c 's/paid_last_fs \? 0 : paid_until\(pe, since_fs\)/0/'
break_it 'a barrier behind room without the way of its words' runtime/explain/messages.c 's/    messages_add_way\(s, &chain->since, way, to\);/    ;/'
break_it 'what follows from a FETCH follows from a later turn' runtime/explain/critical_path.c 's/x->told\.(maker|start_fs)/link->\1/g'
break_it 'a wait for room counts behind another wait' runtime/pe/pe_cpu.c 's/return pe->room_end_fs == now_fs \? now_fs - pe->room_fs : now_fs;/return now_fs - pe->room_fs;/'
break_it 'llm: bytes of collectives are what the file says' runtime/cli/llm/graph_check.c 's/op->bytes != needed/0/'
break_it 'llm: sizes of a graph wrap' runtime/cli/llm/graph_check.c 's/room_of\(op, s, \(double\)times\) > most/0/'
break_it 'llm: kernels find out that a type is no float' runtime/cli/llm/graph_check.c 's/key && !graph_floats/0 \&\& !graph_floats/'
break_it 'llm: in a repetition a node may wait for none' runtime/cli/llm/graph_read.c 's/^        check_deps\(r, at\);//'
break_it 'llm: a map of any machine is taken' runtime/cli/llm/tile_map.c 's/strcmp\(yaml_word\(r, at\), cli->info\.hash\) != 0/0/'
break_it 'llm: the tile of a map is not taken' runtime/cli/llm/llm_search.c 's/op->tile = e->tile;//'
break_it 'llm: a proof ends after as many tries as a search' runtime/cli/llm/llm_iterate.c 's/o->prove \? UINT64_MAX : o->tries/o->tries/'
break_it 'llm: a list of ranks is the first of them' runtime/cli/cmd_llm.c 's/l->tps\.value\[i \/ l->batches\.n\]/l->tps.value[0]/'
break_it 'llm: a graph loses what stays together' runtime/cli/llm/graph_write.c 's/op->y\.unit > 1/0/'
break_it 'llm: a graph takes matrices that do not fit' runtime/cli/llm/graph_values.c 's/if \(!is_as\(as, from\)\)/if (0)/'
break_it 'llm: experts: a product is found in the row of the first' benches/llm/experts.c 's/rank \* s->cap \+ i - first;/rank * s->cap;/'
break_it 'llm: experts: tokens of other ranks are not cleared' benches/llm/experts.c 's/clear_rows\(me, op, 0, from\);//'
break_it 'llm: experts: shares are scores' benches/llm/experts.c 's/tl_softmax\(me->tl, tl_cast\(me->tl, best, KB_F32\), -1\)/tl_cast(me->tl, best, KB_F32)/'
break_it 'llm: experts: groups of ranks are not neighbours' benches/llm/experts.c 's/\(me->rank \+ op->from_rank\) % op->ep/(me->rank + op->from_rank) \/ op->ep/'
break_it 'llm: experts: ranks leap over an exchange' benches/llm/step.h 's/ \|\| op->kind == LLM_DISPATCH \|\|/ || 0 ||/; s/op->kind == LLM_COLLECT/0/'
break_it 'llm: experts: a bound counts those without rows' runtime/cli/llm/llm_search.c 's/rows <= crowd\[i\]/rows >= crowd[i]/'
break_it 'llm: experts: matrices of experts without rows are read' runtime/cli/llm/graph_work.c 's/n \+= llm_slots_of\(op->routing, 0, e, 1\) > 0/n++/'
break_it 'llm: experts: the room is that of one' runtime/cli/llm/llm_graph.c 's/op->weight_bytes \*= \(uint64_t\)\(op->experts \/ op->ep\)/op->weight_bytes *= 1/'
break_it 'llm: experts: all layers are taken for alike' runtime/cli/llm/run.c 's/g->op\[i\]\.routing->stride > 0/0/'
break_it 'llm: experts: a token draws one twice' runtime/cli/llm/routing.c 's/while \(has\(expert \+ t \* x->chosen, i, e\)\)/while (0)/'
break_it 'llm: experts: active parameters are those of all' runtime/cli/llm/model.c 's/\(m->experts - m->chosen\) \* expert_parameters/0 * expert_parameters/'
break_it 'llm: experts: a graph gathers from rows of experts' runtime/cli/llm/graph_nodes.c 's/!of_rows \|\| was_sent\(r, from\)/true/'
break_it 'llm: stages: a send gives up what is added to the residual' benches/llm/step.c '/void send_sum/,/^}/s/by_rows\(me, op, 3, add_rows\);//'
break_it 'llm: stages: a send has ended when it has left' runtime/cli/llm/run.c 's/op->kind == LLM_SEND && pe < /0 \&\& pe < /'
break_it 'llm: stages: all run on the ranks of the first' runtime/cli/llm/pipeline.c 's/stage->number \* shape_ranks/0 * shape_ranks/'
break_it 'llm: experts of copies: collectives are of all ranks' benches/llm/llm_move.c 's/me->s->ranks \/ me->s->copies/me->s->ranks/'
break_it 'llm: experts of copies: rows go to those of the first copy' benches/llm/experts.c 's/own \* of_copy \+ token/token/'
break_it 'llm: leaps: SIPs of any net keep apart' runtime/machine/machine_ways.c 's/if \(!is_switch && /if (false \&\& /'
break_it 'llm: leaps: ids choose inside of no rank' runtime/cli/llm/chip.c 's/pair % n\) > 1/pair % n) > 64/'
break_it 'route: each way is the first' runtime/machine/route.c 's/trip->way = .uint8_t.way/trip->way = 0/'
break_it 'route: the last node has what the tables say' runtime/machine/route.c 's/held\.hop\.overhead_fs = held\.left_fs/held.hop.overhead_fs += 0 * held.left_fs/'
break_it 'route: a write goes on behind an L2' runtime/machine/route.c 's/op == KB_WRITE, &w/false, \&w/'
break_it 'route: the bottleneck is before an L2' runtime/machine/alone.c 's/if \(of->op == KB_READ\)/if (false)/'
break_it 'a crash of a component alone ends the program' runtime/machine/impl_code.c 's/if \(!t->impls\)/if (true)/'
break_it 'llm: stages: the last has what is left over' runtime/cli/llm/stage.c 's/stage < layers % stages/stages - stage <= layers % stages/'
break_it 'llm: stages: each has the head' runtime/cli/llm/stage.c 's/stage == 0 : stage == stages - 1/stage == 0 : true/'
break_it 'llm: stages: experts are those of the first layers' runtime/cli/llm/stage.c 's/first > 0\)/first < 0)/'
break_it 'llm: stages: a token is through when its stages are' runtime/cli/llm/pipeline.c 's/times \* p->slowest_fs : /p->sum_fs : /'
break_it 'llm: stages: a prompt has one part' runtime/cli/llm/pipeline.c 's/\(p->micro - 1\) \* p->slowest_fs/0 * p->slowest_fs/'
break_it 'llm: stages: operations are counted for one part' runtime/cli/llm/pipeline.c 's/p->micro \* took->op\[i\]\.count/took->op[i].count/'
break_it 'llm: stages: keys and values are those of one part' runtime/cli/llm/llm_graph.c 's/kv_layers \* \(uint64_t\)count_of\(s->micro\)/kv_layers/'
break_it 'llm: stages: a part of a batch may be a fraction' runtime/cli/llm/llm_asked.c 's/if \(requests % micro\)/if (0)/'
break_it 'llm: latents: a prompt sees what comes later' benches/llm/llm_attention.c 's/return tl_where\(tl, sees, x, tl_scalar\(tl, -INFINITY\)\);/return x;/'
break_it 'llm: latents: pieces of a prompt begin at its first token' benches/llm/llm_attention.c 's/\(double\)\(op->kv - op->q \+ b->row\)/(double)b->row/'
break_it 'llm: latents: keys that are made have the latents in place of what is turned' benches/llm/llm_attention.c 's/from - \(op->dim - own\), op->dim - own/0, op->dim - own/'
break_it 'llm: latents: what is kept is read from the pages of the first request' benches/llm/latent.c 's/row \/ op->kv, token \/ me->s->page\)/0, token \/ me->s->page)/'
break_it 'llm: latents: keys are made of new tokens only' runtime/cli/llm/graph_latent.c 's/kept\.rows = kv\.rows = f->s->batch \* f->s->kv/kept.rows = kv.rows = f->s->batch * f->s->q/'
break_it 'llm: a graph of rows that were sent does not gather them' runtime/cli/llm/graph_nodes.c 's/!of_rows \|\| was_sent\(r, from\)/!of_rows/'
break_it 'llm: a graph of heads multiplies each by all of x' runtime/cli/llm/graph_nodes_latent.c 's/op->depth = op->x\.cols;//'
break_it 'llm: a graph of latents has them in other units' runtime/cli/llm/graph_nodes_latent.c 's/graph_count\(r, node, "unit", 1\)/1/'
break_it 'llm: a config as YAML has numbers in quotes' runtime/cli/llm/model_yaml.c 's/is_plain \? value_of_word\(text\) : NULL/value_of_word(text)/'
break_it 'llm: a graph forgets its parts' runtime/cli/llm/graph_write.c 's/put_more\(&sink, "microbatches", s->micro\);//'
break_it 'llm: a graph sends what it likes' runtime/cli/llm/graph_check.c 's/return llm_between_ranks\(op\) \&\& op->kind/return op->kind == LLM_ALL_REDUCE \&\& op->kind/'
break_it 'llm: a graph of stages need not send' runtime/cli/llm/graph_read.c 's/if \(sends != \(pp > 1\)\)/if (0)/'
break_it 'llm: a search forgets copies' runtime/cli/llm/divide.c 's/units \/ tp \/ pp, 0, 0\};/1, 0, 0};/'
break_it 'llm: a search gives each copy all requests' runtime/cli/llm/divide.c 's/d\.batch = requests \/ d\.dp;/d.batch = requests;/'
break_it 'llm: a search of grids has rows without tokens' runtime/cli/llm/divide.c 's/d\.grid_p <= tokens && //'
break_it 'llm: a search of grids simulates one' runtime/cli/cmd_llm.c 's/l->chip\.grid_p = d\[i\]\.grid_p;//'
break_it 'llm: a search prints the rows of the first' runtime/cli/llm/llm_rows.c 's/l->row \+ l->total\[0\]\.first,/l->row,/'
break_it 'llm: a search tries what was not asked for' runtime/cli/llm/divide.c 's/!is_tp_asked\(l, d->tp\) \|\|//'
break_it 'llm: a search ends where a division does not fit' runtime/cli/cmd_llm.c 's/i < n \&\& \(!code \|\| l->too_large\)/i < n \&\& !code/'
break_it 'llm: a search takes bubbles for nothing' runtime/cli/llm/llm_rows.c 's/strcmp\(row\[i\]\.op, "bubble"\) == 0 \? "bubble" : //'
break_it 'llm: tiles of experts are those of another stage' runtime/cli/llm/llm_search.c 's/\.expert = r \? r->expert : NULL/.expert = NULL/'
break_it 'llm: types of less than a byte have no bytes' runtime/cli/llm/graph_check.c 's/kb_dtype_bytes\(dtype\) == 0 \?/false ?/'
break_it 'llm: energy of the first copy alone' runtime/cli/llm/llm_rows.c 's/count_of\(it->shape->dp\) \/ shape_copies\(it->shape\)/1/'
break_it 'llm: a trace takes what others exchange' runtime/cli/llm/chakra_trace.c 's/\*to = \(struct replay_node\)\{\.slot = REPLAY_NONE\};$/to->slot = REPLAY_NONE;/'
break_it 'llm: a trace for all of ranks that differ' runtime/cli/llm/llm_iterate.c 's/ranks_differ\(g, s\) && !strchr\(pattern, .%.\)/ranks_differ(g, s) \&\& !pattern/'
break_it 'llm: a rank may be in a group twice' runtime/cli/llm/chakra_groups.c 's/return !is_any_twice\(&g\);/return is_any_twice(\&g) || true;/'
break_it 'sqlite: tables are asked for each machine' runtime/cli/out/out_sqlite.c 's/bool has = known && db->known && strcmp\(known, db->known\) == 0;/bool has = false;/'
break_it 'llm: a search ends where parts do not divide' runtime/cli/llm/divide.c 's/o->microbatches > 0 \&\&/false \&\&/'
break_it 'llm: PEs without columns load some' benches/llm/step.c 's/i < all \&\& cols > 0/i < all/'
break_it 'llm: a graph of copies forgets them' runtime/cli/cmd_llm.c 's/if \(s\.dp > 1\)/if (s.dp > 65536)/'
break_it 'llm: a graph is told of options that were not given' runtime/cli/cmd_llm.c 's/if \(options\[i\]\.is_there\)/if (options[i].is_there || o->ep)/'
break_it 'llm: latents: a score is without what is turned' benches/llm/latent.c 's/\(head \+ 1\) \* wide - turned/head * wide/'
break_it 'llm: latents: all heads have the matrix of the first' benches/llm/llm_gemm.c 's/int64_t before = rows->col \*/int64_t before = 0 */'
break_it 'llm: latents: a head reads the columns of the first' benches/llm/llm_gemm.c 's/\.k = head \* \(op->x\.cols \/ op->heads\)/.k = 0/'
break_it 'llm: latents: values are read beside keys' runtime/cli/llm/graph_work.c 's/op->latent \? 0 : llm_v_dim\(op\)/llm_v_dim(op)/'
break_it 'llm: latents: there is room for one layer without experts' runtime/cli/llm/llm_graph.c 's/kv_layers \+= \(uint64_t\)\(op->is_layer \? g->layers : 1\)/kv_layers = (uint64_t)g->layers/'
break_it 'llm: a graph tells all its mistakes' runtime/cli/llm/yaml_read.c 's/SHOWN = 20/SHOWN = 200/'
break_it 'an idle kernel goes on at once' runtime/kernels/tl_program.c 's/kernel_pay\(tl, 0, fs\)/kernel_pay(tl, 0, fs \/ 2)/'
break_it 'a page of the last rate' runtime/cli/cmd_load.c 's/if \(!is_better\(load, i\)\)/if (0)/'

# -- what fails, and signals -----------------------------------------------------------------
newfile=runtime/base/newfile.c stop=runtime/cli/out/stop.c
break_it 'memory that lacks passed on' runtime/cli/out/memory.c 's/^    if \(!p\)/    if (0)/'
break_it 'a transaction left open without memory' $sqlite_file 's/memory_undo\(undo, db\);//'
break_it 'an empty database left behind' $sqlite_file 's/if \(db->is_new && is_empty_file/if (0 \&\& is_empty_file/'
break_it 'a mistake of JSON for a lack of memory' runtime/cli/diff/results_json.c 's/json_set_alloc_funcs\(allocate, free\);//'
break_it 'a file named before it is on the disk' $newfile 's/bool ok = sync_file\(f->fd\);/bool ok = true;/'
break_it 'the right to run as the owner kept' $newfile 's/st_mode & 0777\)/st_mode \& 07777)/'
break_it 'temporary files with a name' $newfile 's/f->fd = open_nameless\(f->temporary\);/f->fd = -1;/'
break_it 'a disk that fails for a bad file' runtime/base/fault.h 's/ENODEV, EINVAL/ENODEV, EIO/'
break_it 'messages as they come' runtime/base/text.c 's/size_t n = visible_bytes\(\*p, lines\);/size_t n = 1;/'
break_it 'messages of kbgen as they come' gen/diag.c 's/text_make_visible\(line, false, shown, sizeof shown\)/line/'
break_it 'cells of tables as they come' runtime/cli/out/out_table.c 's/s->at = text_put_visible\(sink_room\(s, 4\), &text\);/sink_char(s, *text++);/'
break_it 'cells of Markdown as they come' runtime/cli/out/out_md.c 's/s->at = text_put_visible\(sink_room\(s, 4\), &text\);/sink_char(s, *text++);/'
break_it 'tags in texts of pages' runtime/cli/view/svg.c 's/const char \*entity = entity_of\(\*utf8\);/const char *entity = NULL;/'
break_it 'words of a command that are not quoted' runtime/cli/options/words.c 's/plain = plain && is_plain\(\*w\);/;/'
break_it 'a line without an end read on' runtime/cli/in/lines.c 's/l->n_read - from > LINE_SKIP_MAX/false/'
break_it 'a stack that is too small' runtime/cli/cli_main.c 's/if \(!ask_for_stack\(\)\)/if (0)/'
break_it 'a part under the name of the whole' runtime/cli/command.c 's/EXIT_INTERRUPTED \? SINK_PARTIAL : SINK_DROP/EXIT_INTERRUPTED ? SINK_KEEP : SINK_DROP/'
break_it 'a part in a database that is not marked' $sqlite 's/if \(!partial \|\| db_finish/if (1 || db_finish/'
break_it 'a part taken for the whole' runtime/cli/diff/diff_results.c 's/if \(len > end && strcmp/if (0 \&\& strcmp/'
break_it 'a block waited for after Ctrl-C' runtime/base/parallel.c 's/if \(stopped && r->n_working > 0\)/if (0)/'
break_it 'a kernel waited for after Ctrl-C' $stop 's/set_timer\(HEARD_MS\)/set_timer(0)/'
break_it 'the writing ended by the timer' $stop 's/set_timer\(0\);$/;/'

# -- what is missing or has no way ----------------------------------------------------------
break_it 'kernels need the ways of all planes' runtime/kernels/ways_needed.c 's/ && plane_serves\(t, plane\)//'
break_it 'kernels need the shore of every IO chiplet' runtime/kernels/ways_needed.c 's/mesh_shore\(t, plane, 0, cube/mesh_shore(t, plane, t->chiplets - 1u, cube/'
break_it 'kernels need ways between memories' runtime/kernels/ways_needed.c 's/= mesh_has_cube\(t, cube\) && cube_pe_count\(t, cube\) > 0/= mesh_has_cube(t, cube)/'
break_it 'counts by pairs of cubes where NoCs are meshes' runtime/engine/flow.c 's/ && !t->has_noc_mesh//'
break_it 'slots in the slices of the own cube' runtime/pe/pe_ipcq_queue.c 's/kind_at\(t, dst_cube\(t, slice\)\)->hbm/kind->hbm/'
break_it 'cubes: a key twice' gen/overrides.c 's/o->text && strcmp\(o->text, last->text\) == 0/0/'
break_it 'cubes: too many kinds on the way' gen/cubes.c 's/KINDS_BETWEEN = 16 \* KINDS_MAX/KINDS_BETWEEN = KINDS_MAX/'
break_it 'kbgen --config: broken links not looked up' gen/main.c 's/return b->spec\.broken\.n == 0 \|\| build_tables\(b\);/return b->spec.sips > 0;/'
break_it 'probe: a case without a way is an error' runtime/cli/cmd_probe.c 's/ \|\| no_way\(cli, id, &request\)//'
break_it 'completion: as many slices as PEs' runtime/cli/describe.c 's/"slice", cube\.n_slices/"slice", cube.pe_places/'
break_it 'the plane of a request forgotten' $results 's/PLANE_BY_COLUMN \? txn->course \+ 1u : 0/PLANE_BY_COLUMN ? 0u : 0/'

# -- kb_coll.h ------------------------------------------------------------------------------
coll=runtime/kernels/coll
break_it 'coll: a ring pays for one part in a step' ${coll}.h 's/\(c->ring \? N_LANES : DOWN\)/DOWN/'
break_it 'coll: a step is paid before the one before has come' ${coll}_ring.c 's/c->all_came\[lane\] = pays/c->all_came[lane] = false \&\& pays/'
break_it 'coll: an all_to_all gives the part of the other lane' ${coll}_direct.c 's/part = part_in\(c, d->in, lane, item\.step, item\.step\);/part = part_in(c, d->in, lane, item.step, item.step - 1);/'
break_it 'coll: members choose by rows of their own' ${coll}_choose.c 's/first\.rank = 0;/first.rank = c->rank;/'
break_it 'coll: rings by rank' ${coll}_order.c 's/by < N_ORDERS;/by < BY_LAP;/'
break_it 'coll: two ways on a plane of one' ${coll}_order.c 's/return down > up \? .*;/return 1;/'
break_it 'coll: queues that do not fit' ${coll}_plan.c 's/c->writes = c->deal == DEAL_ALL \&\& .*;/c->writes = false;/'
break_it 'coll: a reduction to a root without its upper side' ${coll}_root.c 's/for \(int child = k->n; child-- > 0;\) \{/for (int child = k->n; child-- > 1;) {/'
break_it 'coll: a tree whose members all give to the next' ${coll}_root.c 's/reach = v \? v & -v : 1;/reach = v ? 1 : 1;/'
break_it 'coll: a rank with two below it takes from one' ${coll}_root.c 's/if \(v > 0 \&\& bit > 0\)/if (v < 0 \&\& bit > 0)/'
break_it 'coll: both halves go by one tree' ${coll}.c 's/c->second = half > 0;/c->second = false;/'
break_it 'coll: odd ranks stand as even ones' ${coll}_root.c 's/return c->second \&\& c->group\.n % 2 != 0;/return false;/'
break_it 'coll: those that are folded do not get the result' ${coll}_rows.c 's/if \(coll_begin\(&pair, &whole, DEAL_ROOT\)\)/if (c->rank < c->core \&\& coll_begin(\&pair, \&whole, DEAL_ROOT))/'
break_it 'coll: sums of the step before are loaded again' ${coll}_ring.c 's/load_own\(c, c->next, all, step \+ 1, first, i\)/load_own(c, c->next, all, step, first, i)/'
break_it 'coll: parts of far memories one by one' ${coll}_far.c 's/part \* c->order->memory_fs < c->order->piece_fs/part * c->order->memory_fs < 0/'
break_it 'coll: a block of far memories is not stored' ${coll}_far.c 's/if \(far->left\[block\] == 0\)/if (far->left[block] < 0)/'
break_it 'coll: blocks of far memories are made by a command' ${coll}_far.c 's/block_new\(c, n\);/tl_full_at(c->here, c->tl, c->dtype, KB_SHAPE(n), 0);/'
break_it 'coll: parts along axes one after the other' ${coll}_choose.c 's/one_fs \* AT_ONCE_GAINS/0/'
break_it 'coll: parts at once along one axis' ${coll}_rows.c 's/\(turn \+ k\) % c->at_once/turn % c->at_once/'
break_it 'coll: all blocks of a tile are the first' ${coll}_tiles.c 's/first \*= blocks \? t->stride\[t->cut\] : 1;/first *= blocks ? 0 : 1;/'
break_it 'coll: a slice of what is kept is the first of its group' ${coll}_tiles.c 's/piece\.place - share\(t->members, group, t->groups\)/0/'
break_it 'coll: parts of ranks go along axes one after the other' ${coll}_rows.c 's/level >= c->turning \|\| c->deal != DEAL_REDUCE/level >= c->turning \&\& c->deal == DEAL_REDUCE/'
break_it 'coll: uneven parts go along axes' ${coll}_choose.c 's/c->is_even = .*;/c->is_even = true;/'
break_it 'coll: blocks of an order are lost where memory ends' runtime/kernels/coll_order.h 's/free\(o->making\[i\]\);/(void)i;/'
break_it 'coll: groups are known by their first PE' ${coll}_order.c 's/order->stride == g->stride/true/'
break_it 'coll: a torus of three dimensions is a row' ${coll}_axes.c 's/cubes == t->cubes \&\& n > 1/cubes == t->cubes \&\& n > 3/'
break_it 'coll: uneven parts begin as even ones' ${coll}.h 's/begin = v\.begins \? v\.begins\[i\] : /begin = /'
break_it 'coll: uneven exchanges are written to the first place' ${coll}_direct.c 's/\(uint64_t\)c->theirs\[rank\]/(uint64_t)(0 * c->theirs[rank])/'
break_it 'coll: vectors are not held against their memory' ${coll}_parts.c 's/if \(bytes > size\)/if (0)/'
break_it 'coll: a pair in which both send' ${coll}.c 's/pes\[sends\] = pe_of/pes[0] = pe_of/'
break_it 'coll: exchanges along axes pay for each run' ${coll}.c 's/line\.is_next = run > 0;/line.is_next = false;/'
break_it 'coll: exchanges along axes all take the input' ${coll}.c 's/i < n; i\+\+, in = out\)/i < n; i++)/'
break_it 'coll: two levels that leave the other SIPs out' ${coll}_axes.c 's/rows\[1\] = row_new\(g->n \/ inside, inside\);/rows[1] = row_new(1, inside);/'
break_it 'coll: an estimate of what has no room' ${coll}_choose.c 's/if \(!coll_queues_fit\(c, 0\)\)/if (0)/'
break_it 'coll: waits for slots are not counted' runtime/pe/pe_ipcq.c 's/c->queue->lacks_fs = t;/(void)t;/'
break_it 'coll: waits for channels are not counted' runtime/pe/pe_ipcq.c 's/channel_wait_fs \+= start_fs - from;/channel_wait_fs += 0;/'
break_it 'coll: messages that wait at once for a channel count twice' runtime/pe/pe_ipcq.c 's/pe->waited_fs = start_fs;//'
break_it 'waits: slots are told as channels' runtime/cli/rows/binding.c 's/\{"cube\.pe\.pe_ipcq\.slots", "cube\.pe\.pe_ipcq\.slot_bytes"\}/{"cube.pe.pe_dma.write_channels"}/'
break_it 'coll: what is paid is not counted' runtime/kernels/tl_program.c 's/->software_fs \+= fs;/->software_fs += 0;/'
break_it 'tl_idle() is a cost of software' runtime/kernels/tl_program.c '/^void tl_idle_at/,/^}/s/kernel_pay\(tl, 0, fs\)/pay_collective(tl, fs)/'
break_it 'coll: a barrier of neighbours' ${coll}_root.c 's/by < c->group\.n; by \*= 2/by < 2; by *= 2/'

# -- collectives ----------------------------------------------------------------------------
choice=benches/coll_auto.h
break_it 'collective: maxima reduced as minima' benches/coll_bench.h 's/\{TL_ADD, TL_MAXIMUM, TL_MINIMUM\}/{TL_ADD, TL_MINIMUM, TL_MAXIMUM}/'
break_it 'collective: ranks of many PEs are tried' benches/coll_auto.h 's/kb_pe_count\(q\.topo\) <= TRIED_PES_MOST/ranks <= TRIED_PES_MOST/'
break_it 'collective: one rank not told of' benches/coll_bench.h 's/if \(sharing_of\(run\)\.ranks == 1\)/if (0)/'
break_it 'collective: axes of other PEs' benches/coll_bench.h 's/g\.first = tl_pe\(tl\) % g\.stride;/g.first = 0;/'
break_it 'auto: candidates of one rank' $choice 's/if \(ranks == 1\)/if (0)/'
break_it 'auto: all are tried' $choice 's/i < TRIALS_MOST && //'
break_it 'auto: only the estimate counts' $choice 's/#define NEAR 2\.0/#define NEAR 1.0/'
break_it 'auto: another chosen for want of memory' runtime/sim/bench.c 's/run->self->status = status;/(void)0;/'
break_it 'auto: a mistake of a kernel fails the run' runtime/sim/bench.c 's/ && status != KB_KERNEL_ERROR//'
break_it 'auto: the slowest' $choice 's/c\[next\]\.time_fs < c\[best\]\.time_fs/c[next].time_fs > c[best].time_fs/'

# -- races ----------------------------------------------------------------------------------
race=runtime/record/race.c shadow=runtime/record/shadow.c beyond=runtime/record/race_beyond.c
break_it 'a slot that orders nothing' runtime/record/race_seen.c 's/    if \(p->end <= slots\)$/    if (p->end)/'
break_it 'a slot of the receive after' runtime/record/race_seen.c 's/p->end - 1 - slots\)/p->end - slots)/'
break_it 'a message that orders nothing' runtime/record/race_seen.c 's/race_seen_skip\(&c->sends, end - 1\);/race_seen_skip(\&c->sends, end);/'
break_it 'a barrier that orders nothing' runtime/record/race_seen.c 's/p->seen = vclock_keep\(m->all\);/p->seen = vclock_keep(p->met);/'
break_it 'what comes after a send, seen too' runtime/record/race_seen.c 's/p->clock\+\+\)/p->clock)/'
break_it 'atomics that order nothing' runtime/record/race.c 's/!race_learn\(p, e->seen\) \|\| //'
break_it 'atomics that race' $shadow 's/ \|\| commute\(x->kind, y->kind\)//'
break_it 'a barrier of some taken for one of all' runtime/record/race_seen.c 's/if \(m->arrived == r->n_running\)/if (m->arrived)/'
break_it 'what was learned before a barrier lost' runtime/record/race_seen.c 's/    p->learned = true;/;/'
break_it 'an asynchronous access that ends at once' $race 's/access->clock = CLOCK_OPEN;/;/'
break_it 'an asynchronous access that never ends' $race 's/^            x->clock = p->clock;/        (void)p;/'
break_it 'a second access that ends the first' $shadow 's/if \(a->access\[i\]->clock == CLOCK_OPEN\)/if (0)/'
break_it 'only the last line kept of a PE' $shadow 's/return a->site->number < b->site->number \? -1 : 1;/;/'
break_it 'only the first of strided pieces' runtime/record/race_access.c 's/while \(ok && axis > 0\)/while (0)/'
break_it 'a store that does not see loads' $shadow 's/x->kind == ACCESS_READ \? a->n_writes : a->n;$/a->n_writes;/'
break_it 'a range that is not cut' $shadow 's/if \(at <= r->first \|\| /if (at <= r->first + 4 || /'
break_it 'ranges that shared their accesses once' $shadow 's/if \(e->same\[i\]\.before != before\)/if (!e->same[i].before)/'
break_it 'a part of a clock lost' runtime/record/vclock.c 's/is_other = is_other && part/is_other = part/'
break_it 'operands that are not touched' runtime/kernels/accesses.c 's/ok = ok && touch_operand\(c, i\);/ok = ok \&\& op;/'
break_it 'exit 0 in spite of races' runtime/cli/rows/race_rows.c 's/return cmd_say\(cli, EXIT_DIFFERENT,/return cmd_say(cli, EXIT_OK,/'
break_it 'exit 0 in spite of what lies beyond' runtime/cli/rows/race_rows.c 's/return saying.code/return code/'
break_it 'other parts of a tensor beyond it' $beyond 's/if \(s->span\[i\].tensor == l->tensor\)/if (0)/'
break_it 'gaps of strided accesses beyond' $beyond 's/if \(touch->strided\)/if (0)/'
break_it 'tensors of one launch only' runtime/data/host_spans.c 's/s->newest == h->tensors/s->newest/'

# -- floats of 8 bits -----------------------------------------------------------------------
break_it 'f8: ties go up' runtime/data/convert.c 's/part = \(int\)rintf\(/part = (int)roundf(/'
break_it 'f8: what is too large wraps' runtime/data/convert.c 's/if \(magnitude >= f32_of_f8\(type, type->largest\)\)/if (isinf(magnitude))/'
break_it 'f8: the rate of f16' runtime/pe/pe_gemm.c 's/return pe->rate_f8;/return pe->rate_f16;/'
break_it 'f8: anything is right beyond the largest' runtime/phase2/reference_number.c 's/^    want = fmin\(fmax\(want, -most\), most\);/    (void)most;/'
break_it 'f8: a file of bits has numbers' runtime/data/host_fill.c 's/^    if \(npy->dtype == tensor->dtype \|\| is_bits_of\(.*\) \|\|$/    if (npy->dtype == tensor->dtype ||/'
# -- operations of Triton --------------------------------------------------------------------
break_it 'triton: what helpers use is not counted' tools/triton.py 's/rest \+= \[c for c in called if c in everywhere and c not in seen\]/rest += []/'
break_it 'triton: an operation that is not listed has a call' tools/triton.py 's/calls\.get\(plain, "\?"\)/calls.get(plain, "-")/'
break_it 'triton: helpers of a table count' tools/triton.py 's/KERNELS = \{"kernel", "pointwise"\}/KERNELS = {"kernel", "pointwise", "helper"}/'
break_it 'triton: any reduction is one by or' tools/triton.py 's/ast\.Mult: "mul"/ast.Mult: "or"/'
break_it 'triton: a call that is none is listed' tools/triton_ops.txt 's/^tl_sigmoid:/tl_sigmoidal:/'
# -- integers of 4 bits ---------------------------------------------------------------------
break_it 'bound: an asynchronous command blocks' runtime/kernels/bound.c 's/b->now_fs = c->async \? issue_fs : end_fs;/b->now_fs = end_fs;/'
break_it 'bound: all channels are one' runtime/kernels/bound_launch.c 's/return channels_of\(pe->sim->topo, 2 \* pe->src \+ \(what == BUSY_WRITES\)\);/return 1;/'
break_it 'bound: an operand is there at once' runtime/kernels/bound.c 's/start_fs = larger\(start_fs, c->operand\[i\]->made_fs\);/;/'
break_it 'bound: what does not fit has a bound' runtime/kernels/bound_launch.c 's/if \(fails \|\| s->status != KB_OK\)/if (0)/'
break_it 'bound: parts of a transfer are weighed as a whole' runtime/kernels/bound.c 's/t->links != MODE_ROUTER && !t->splits && !s->splits && !s->chooses &&/true \&\&/'
break_it 'bound: a kernel is told a time that is none' runtime/kernels/tl_program.c 's/^    bound_ends\(&tl->kernels->pes\[tl->number\]\);//'
break_it 'bound: what takes half as long does not run' runtime/cli/cmd_tune.c 's/bound\[i\].fs > best_fs\(t\)/bound[i].fs > best_fs(t) \/ 2/'
break_it 'bound: what is left takes twice as long' runtime/kernels/bound_launch.c 's/left_fs \/ \(int64_t\)servers/2 * left_fs \/ (int64_t)servers/'
break_it 'bound: a run under way is what it was before' runtime/kernels/bound_launch.c 's/bound->fs > 0 && s->inorder/0/'
break_it 'bound: what is passed has a time' runtime/cli/cmd_tune.c 's/if \(s->tried.state == TRIED_OK && s->tried.time_fs > best\)/if (0)/'
break_it 'i4: the first element of a byte lies high' runtime/data/convert.h 's/i & 1 \? byte >> 4 : byte & 15/i \& 1 ? byte \& 15 : byte >> 4/'
break_it 'i4: the rate of i8' runtime/pe/pe_gemm.c 's/return pe->rate_i4;/return pe->rate_i8;/'
break_it 'i4: columns are cut inside a byte' runtime/data/host.c 's/ \? dtype_of_cell\(tensor->dtype\) : 1;/ ? 1 : 1;/'
break_it 'i4: a file of its bytes is refused' runtime/data/host_fill.c 's/return tensor->dtype == KB_I4 && npy/return tensor->dtype == KB_I8 \&\& npy/'
break_it 'i4: an odd extent is taken' runtime/kernels/tl_check.c 's/^    if \(dtype == KB_I4 && \(d->rank/    if (dtype == KB_DEFAULT \&\& (d->rank/'
break_it 'i4: a tile begins inside a byte' runtime/kernels/tl_product.c 's/if \(cut && part < line && part % 2\)/if (cut \&\& part > line \&\& part % 2)/'
break_it 'i4: a slice begins where as many bytes do' runtime/kernels/tl_tensor.c 's,view->cut_offset = \(uint64_t\)\(first / cell \*,view->cut_offset = (uint64_t)(first *,'

# -- lines of kernels -----------------------------------------------------------------------
break_it 'lines of a file as one' $why 's/^( *)\.line = \(uint32_t\)command->line\},/\1.line = 1},/'
break_it 'wires of no line' $why 's/^    sums_part\(sums, of->line, piece\);/    if (piece->cause != KB_CAUSE_WIRE) sums_part(sums, of->line, piece);/'
break_it 'lines shown unasked' runtime/cli/rows/breakdown_rows.c 's/: table < KB_BREAKDOWN_LINE \|\| /: table < KB_BREAKDOWN_REGION || /'
break_it 'regions shown unasked' runtime/cli/rows/breakdown_rows.c 's/: table < KB_BREAKDOWN_LINE \|\| /: table == KB_BREAKDOWN_REGION || table < KB_BREAKDOWN_LINE || /'
break_it 'regions as one' $why 's/command->region \? command->region : ""/""/'

break_it 'study: arguments of other commands' runtime/cli/study/study_machine.c 's/        c->takes\[key_number\] = true;/        memset(c->takes, 1, sizeof c->takes);/'
break_it 'full: no sign of zero' runtime/phase2/math.c 's/return -0\.0;/return 0;/'
break_it 'gdb: integers of 4 bits without a sign' tools/gdb.py 's/ \^ 8\) - 8 for/) for/'
break_it 'gdb: f64 in nine digits' tools/gdb.py "s/17 if dtype == 'f64' else 9/9/"
break_it 'gdb: rows that are one' tools/gdb.py 's/ if i % row else / if i else /'
break_it 'gdb: another field than that of the library' runtime/kernels/tl_print.c 's/offsetof\(struct tl_tensor, shape\.rank\)/offsetof(struct tl_tensor, users)/'

# -- several SIPs ---------------------------------------------------------------------------
break_it 'sips: parts for the cubes of each SIP again' runtime/data/host.c \
    's/cube_rank\(t, cube\), cube_rank\(t, sim_cubes\(t\)\)/cube_rank(t, cube) % t->cubes, t->cubes/'
break_it 'sips: a credit that is there at once' runtime/pe/pe_ipcq_queue.c 's/q->credit_fs = word_fs\(.*\);/q->credit_fs = 0;/'
break_it 'sips: a barrier that is told at once' runtime/kernels/barrier.c \
    's/there_fs = t \+ .*;/there_fs = t;/'
break_it 'sips: the first SIP for the own one' runtime/kernels/tl_messages.c 's/first = cube_first_pe\(t, sip \* t->cubes\);/first = 0;/; s/cube_first_pe\(t, \(sip \+ 1\) \* t->cubes\) - first/tl->kernels->n_pes/'
break_it 'sips: a launch that waits for the last named alone' runtime/kernels/launches.c 's/way = fs > way \? fs : way;/way = fs;/'
break_it 'even: cubes without PEs are ranks' benches/even.h 's/if \(cubes < info\.cubes_per_sip\)/if (0)/'
break_it 'even: as many cubes with PEs are not asked for' benches/even.h 's/if \(!\*text && n != wanted\)/if (0)/'
break_it 'ring: columns that always go south' runtime/machine/lap.h 's/if \(\*column % 2\)/if (0)/'
break_it 'ring: joined ends of columns not used' runtime/machine/lap.h 's/columns_joined \|\| w % 2 == 0/w % 2 == 0/'
break_it 'ring: a helix whose rows begin in one column' runtime/machine/lap.h 's/\(column \+ lap->w - row % lap->w\)/(column)/'

# -- benches --------------------------------------------------------------------------------
ring=benches/attention_ring.c
break_it 'ring: the last block left out' $ring 's/step <= x->ring\.n;/step < x->ring.n;/'
break_it 'ring: sums of before not scaled down' $ring 's/tl_fma\(tl, x, by, more\)/tl_add(tl, x, more)/'
break_it 'ring: nothing passed on by PEs without rows' $ring 's/if \(b\.k\) \{/if (b.k \&\& x->q) {/; s/wait_for\(tl_ctx \*tl,/wait_for(tl_ctx *tl, const struct part *x,/; s/free_block\(tl_ctx \*tl,/free_block(tl_ctx *tl, const struct part *x,/; s/(wait_for|free_block)\(tl, (now|next)/\1(tl, x, \2/'
break_it 'ring: a block of the wrong PE' $ring 's/ring_neighbour\(&x->ring, -steps\)/ring_neighbour(\&x->ring, steps)/'
break_it 'mlp_tp: the largest part for the sum' benches/mlp_tp.c 's/\.op = TL_ADD/.op = TL_MAXIMUM/'
break_it 'mlp_tp: only the first PE has the sum' benches/mlp_tp.c \
    's/if \(rounds\)/if (rounds \&\& tl_pe(tl) == 0)/'

# -- how it is done --------------------------------------------------------------------------

export CMOCKA_MESSAGE_OUTPUT=TAP KB_SEEDS=${KB_SEEDS:-150}
# -- tables and studies -----------------------------------------------------------------------
break_it 'tables wider than asked' runtime/cli/out/table_fit.h 's/TABLE_COLUMNS = 120/TABLE_COLUMNS = 140/'
break_it 'the peak is that of one PE' runtime/cli/rows/launch_rows.c 's/\(ns \* launch->/(ns \/ launch->pes * launch->/g'
break_it 'the first saturated rate that was asked, not the least' runtime/cli/rows/load_rows.c \
    's/\(\*saturated == SIZE_MAX \|\| rate\[i\] < rate\[\*saturated\]\)\)$/*saturated == SIZE_MAX)/'
break_it 'variants have the keys of the base machine' runtime/cli/study/study_machine.c 's/\.n_sets = n_sets\b/.n_sets = 0/'
break_it 'what costs more for the same is on the front' runtime/cli/study/study_rows.c 's/least < cheapest/least >= 0/'
break_it 'kept results of any machine' runtime/cli/out/out_kept.c 's/WHERE hash = \? AND/WHERE hash != ? AND/'

# -- building and installing ------------------------------------------------------------------
break_it 'targets written in place, not moved into it' Makefile \
    's/^NEW = .*/NEW = \$@/; s/^PUT = && mv -f \$\(NEW\) \$@/PUT =/'
break_it 'topologies installed over what others have' tools/taken.sh 's/^by_file\(\)/no_file()/; s/by_file "/: "/'
break_it 'the cost of a store is that of the load before' runtime/kernels/hooks.h 's/pe->cost\[work->stage\]/pe->cost[0]/'
break_it 'tiles of matrices by columns lie by rows' runtime/pe/token.h 's/bool col_major = gemm && \(i \? op->col_b : op->col_a\);/bool col_major = false;/'
break_it 'barriers of any two PEs are one' runtime/kernels/barrier.c 's/b->n == g->n && b->first == g->first && !b->pes == !g->pes &&/b->n == g->n \&\& !b->pes == !g->pes;/; s/^ *\(!b->pes \|\| memcmp\(b->pes, g->pes, .*$//'
break_it 'rows of a run added to a database one by one' runtime/cli/out/sqlite_file.c \
    's/"BEGIN IMMEDIATE"/"SELECT 1"/'
break_it 'the text of a key that was set is that of the base' gen/load.c 's/spec->texts\[to.key\] = NULL;//'
break_it 'memory that lacks leaves a YAML open' gen/build.c '/setjmp\(without\)/,/return false/s/load_close\(&b->spec\);//'
break_it 'the first key of --vary turns first' runtime/cli/vary/variants.c 's/for \(size_t last = v->n_keys - 1; last > k; last--\)/for (size_t last = 0; last < k; last++)/'
break_it 'a part of the points of each machine, too' runtime/cli/vary/vary_machine.c 's/cli\.opts\.shard = \(struct shard\)\{0\};/;/'
break_it 'a flush that doubles what is in memory' runtime/cli/out/sink.c 's/^    if \(s->fd >= 0\)$/    if (s->fd < 0)\n        grow(s);\n    else/'
break_it 'the machine after the one whose rows come back' runtime/cli/vary/all_rows.c 's/&part, sizeof part\);$/\&part, sizeof part), part.machine++;/'
break_it 'a temporary file that is full, and nothing said' runtime/cli/out/aside.c 's/a->error = errno \? errno : EIO;/;/'
break_it 'rows of a machine that failed are printed' runtime/cli/vary/vary_machine.c 's/return s->code == EXIT_OK \|\| s->code == EXIT_DIFFERENT;/return true;/'
break_it 'a journal of something else is taken' runtime/cli/plan/journal.c 's/begin \? provenance_differs\(&was, of\) : 0/0/'
break_it 'a record that is spoilt is taken' runtime/cli/plan/journal.c 's/sum_of\(h, to->bytes\) == h->sum/true/'
break_it 'a journal begins with the second result' runtime/cli/plan/plan.c 's/journal_take\(j, p->first \+ i,/journal_take(j, p->first + i + 1,/'
break_it 'a part of a study is all of it' runtime/cli/study/study_run.c 's/n = plan_count\(s->cli, all - begin\)/n = all - begin/'
break_it 'a search for the front that goes up only' runtime/cli/study/study_search.c 's/if \(level > 0\)/if (0)/'
break_it 'all keys of a Sobol point alike' runtime/cli/vary/sobol.c 's/unsigned s = directions\[k\]/unsigned s = directions[0 * k]/'
break_it 'a crash of a process is no failure' runtime/cli/plan/plan.c 's/enum exit_code code = EXIT_INTERNAL;/enum exit_code code = EXIT_OK;/'
break_it 'topologies installed under names of commands' tools/taken.sh 's/^\*\) taken .*/*) ;;/'
break_it 'the segment that is ready last goes first' runtime/network/network_router.c 's/return a->ready_fs < b->ready_fs;/return a->ready_fs > b->ready_fs;/'
break_it 'a request goes the way of its data' runtime/machine/cost.h 's/trip->back && t->links != MODE_ROUTER/trip->back/'
break_it 'an input server is free at once' runtime/network/network_router.c 's/port->server_fs\[server\] = until;/(void)until;/' runtime/network/router_train.h 's/from->server_fs\[0\] = x->free_fs;//'
break_it 'a VC has no owner between segments' runtime/network/network_router.c 's/vc->owned_until = ends \? until : ROUTER_NEVER;/vc->owned_until = 0, (void)until;/'
break_it 'segments take no room in a buffer' runtime/network/network_router.c 's/^    vc->credits -= nbytes;$//'
break_it 'a credit comes back without its last byte' runtime/network/router_inside.h 's/\(struct credit\)\{t, nbytes\};/(struct credit){t, nbytes - 1};/'
break_it 'halves of crossbars need two VCs of both classes' gen/shares.c 's/has_halves\(m->r, m->kind, t->answer_vcs\)/has_halves(m->r, m->kind, t->request_vcs)/'
break_it 'round robin begins at the same input each time' runtime/network/network_router.c 's/port->last = \(uint32_t\)offer->turn;/;/'
break_it 'a read has its data back at once' runtime/network/memory_behind.h 's/after\(turn\.start_fs, overhead_fs \+ latency_fs\);/turn.start_fs;/'

# routers: trains, their agenda, and beside the events of rows
train=runtime/network/router_train.h
break_it 'a train goes on past what may come' $train 's/x\.horizon = after\(t, \(int64_t\)port->lead_fs\);/x.horizon = EV_PAST - 1;/'
break_it 'a train does not see what is behind other packets' $train 's/vc->run == port->coming && //'
break_it 'a train takes a server that others may have' $train 's/ && vc->n == r->ports\[vc->port\]\.held//'
break_it 'a train needs no room' $train 's/x->row->endless \? 0 : room_at\(x->to, nbytes\)/0/'
break_it 'a train takes no room' $train 's/^        take_room\(to, nbytes\);$/        ;/'
break_it 'a train gives back no room' $train 's/^            train_credit\(.*\);$/            ;/'
break_it 'a train begins before its port decides' $train 's/larger\(vc->from_fs, t\)/vc->from_fs/'
break_it 'a train owns its VC behind its end' $train 's/to->owned_until = x->free_fs;//'
break_it 'what waits for the room of a train is not told' $train 's/if \(from->starved && !from->endless\)/if (false)/'
break_it 'a source goes on where others pass' runtime/engine/router.c 's/port->is_end = port->begins && .*;/port->is_end = port->begins;/'
break_it 'a router has a longer lead than its overhead' runtime/engine/router.c 's/\(uint64_t\)behind_alloc\(s->router, at->overhead_fs & s->mask\.overhead\)/2 * (uint64_t)at->overhead_fs + 1/'
break_it 'a segment behind the first takes all of the overhead' runtime/engine/router.c 's/return fs > r->alloc_fs \? fs - r->alloc_fs : 0/return fs/'
break_it 'a VC that is left is given again at once' runtime/network/network_router.c 's/at = after\(at, r->alloc_fs\)/at = after(at, 0)/'
break_it 'a packet behind another gets its VC at once' runtime/network/network_router.c 's/ends && r->alloc_fs \? after\(until, r->alloc_fs\) : t \+ 1/ends ? t + 1 : t + 1/'
break_it 'decisions of a bucket in any order' runtime/engine/agenda.c 's/^    sort_due\(a\);$//'
break_it 'decisions far away come when all else has' runtime/engine/agenda.h 's/return a->n_heap && .* \? /return a->n_heap \&\& first == \&none ? /'
break_it 'ports decide before arrivals of their instant' runtime/engine/inorder_loop.h 's/EV_ARBITER, UINT32_MAX, EV_MAX_SLOTS - 1\)/EV_DONE, 0, 0)/; s/EV_ARBITER\)$/EV_DONE \&\& e == first_of_ports(s))/'
break_it 'ports pass the events that they post' runtime/network/router_inside.h 's/s->router->until_fs = t;/;/'
break_it 'a packet is announced when the one before is' runtime/network/router_end.c 's/r->arrivals\[r->flights\[slot\]\.arrivals\]\.at_fs/r->arrivals[r->flights[slot].last_arrival].at_fs/'
break_it 'a stall of routers looks like an end' runtime/sim/stall.c 's/!s->over/true/'
break_it 'a segment keeps its own waits behind one of its transaction' runtime/explain/router_paths.c 's/net_path_copy\(&net->waits, &segment->path, &last->path\);/;/'
break_it 'a path may pass the same bytes twice' runtime/explain/router_paths.c 's/net->ports\[x->port\]\.number < x->number/true/'
break_it 'waits that made nothing later count' runtime/explain/router_pieces.c 's/wait->fs > \*slack \? wait->fs - \*slack : 0/wait->fs/'
break_it 'a buffer is left when the first byte goes' runtime/engine/router_tally.c 's/t \+ g->taken_fs\);/t);/'
break_it 'a VC is stalled though its segment is not ready' runtime/engine/router_tally.c 's/from = from > vc->went_fs \? from : vc->went_fs;/from = vc->went_fs;/'

# -- components that queue, tables of routes -----------------------------------------------------
break_it 'a component is woken at this instant' runtime/machine/queueing.c 's/if \(t_fs <= q->now_fs\)/if (t_fs < q->now_fs)/'
break_it 'wakes of one instant in no order of ids' runtime/machine/queueing.c 's/ && a->id < b->id\)/ \&\& a->id > b->id)/'
break_it 'a wait in a component that queues counts from its begin' runtime/network/banks_state.h 's/return s->chooses && cost_memory.*$/return banks_has(s, txn);/'
break_it 'what a front passes on is done a femtosecond late' runtime/network/banks_ends.c 's/^        serving_end\(s, end, slot\);/        serving_end(s, end + 1, slot);/'
break_it 'a request of a front drains by no bandwidth' runtime/network/network_queueing.c 's/int64_t drain = drain_fs\(due->bytes.*;/int64_t drain = 0;/'
break_it 'a front is alone before a memory that is never busy' runtime/machine/alone.c 's/&in->behind_fs, bytes/\&(int64_t){0}, bytes/'
break_it 'a front may send beyond the memory behind it' runtime/network/network_queueing.c 's/due->offset > memory->nbytes - due->bytes/false/'
break_it 'a list may have any component behind' gen/value.c 's/^    if \(behind\.name\)$/    if (false)/'
break_it 'what is behind one that holds without end is asked' runtime/network/component_memory.h 's/memory->free_fs == INT64_MAX,/false,/'
break_it 'a table of routes may lack pairs' gen/route_table.c 's/return read_lines\(&in\) && is_complete\(&in\);/return read_lines(\&in);/'
# memories that are components, behind routers
packets=runtime/machine/component_packets
break_it 'behind routers a packet is asked for the whole write' $packets.h 's/packet\.bytes = nbytes/packet.bytes = whole->bytes + 0 * nbytes/'
break_it 'behind routers each packet pays the overhead' $packets.h 's/from \? 0 : whole->overhead_fs/whole->overhead_fs/'
break_it 'behind routers a packet counts only when its data are in' $packets.h 's/answer\.hold_fs < drain_fs \? answer\.hold_fs : drain_fs/drain_fs/'
break_it 'behind routers data leave before their turn' $packets.h 's/return fs > 0 \? fs : 0/return fs/'
break_it 'behind routers a packet alone finds the memory free' runtime/machine/alone.c 's/larger\(free_fs, part\.t_fs\)/part.t_fs/'
break_it 'behind routers a write alone ends with its first packet' runtime/machine/alone.c 's/done_fs = larger\(done_fs, part\.from \?/done_fs = larger(done_fs, part.from ? done_fs :/'
break_it 'behind routers the end of other packets is no end' runtime/network/component_behind.h 's/turn->end_fs = \(uint64_t\)packet_end_fs\(asked, answer\);/turn->end_fs = 0;/'
break_it 'behind routers room comes back at the pace of the route' runtime/network/component_behind.h 's/hold_fs - asked->overhead_fs < asked->drain_fs/false/'
break_it 'behind routers a component queues packets as if each were the first' runtime/network/network_queueing.c 's/\} else if \(w->part\.from == 0\) \{/} else if (true) {/'
break_it 'tl_persisted: what was not found is not told' runtime/kernels/tl_tensor.c 's/persist_note_absent\(tl, name\);/;/'
break_it 'tune: a run that is as fast as the best is stopped' runtime/cli/cmd_tune.c 's/tried.time_fs > best\)/tried.time_fs >= best)/'
break_it 'tune: what has not passed the best is stopped' runtime/cli/cmd_tune.c 's/<= best_fs\(t\);/<= best_fs(t) - best_fs(t) \/ 4;/'
break_it 'tune: the head of a table of machines has names that are freed' runtime/cli/vary/captured.c 's/c->columns\[i\]\.name = column_name\(c->columns\[i\]\.name\);/;/'
break_it 'tune: the best of a machine does not say of which' runtime/cli/vary/vary_give.c 's/sink_text\(&v->notes, variants_word.*/(void)i;/'
break_it 'tune: a part of --shard has machines twice' runtime/cli/shard.h 's/shard_end\(shard, shard->i - 1, total\) : 0/shard_end(shard, 0, total) : 0/'
break_it 'behind routers packets of one transaction have one number' runtime/network/network_queueing.c 's/\(uint64_t\)part->number << 32/0/'
break_it 'behind routers a write that queues is not held for its tail' runtime/network/router_end.c 's/larger\(after\(flight->tail_fs, flight->behind_fs\), flight->least_fs\)/flight->least_fs/'
break_it 'a node lets what is behind a head go by its overhead' runtime/network/network_router.c 's/larger\(after\(segment\.ready_fs, vc->node_fs\), before\)/segment.begins ? larger(after(segment.ready_fs, vc->node_fs), before) : larger(segment.ready_fs, before)/'
break_it 'a node is passed before the packet ahead' runtime/network/network_router.c 's/vc->node_fs\), before\);/vc->node_fs), 0);/'
break_it 'each packet of a transaction is overhead in nodes' runtime/network/network_router.c 's/if \(head->number == 0\)/if (true)/'
break_it 'behind routers a wait of later packets has no piece' runtime/explain/router_pieces.c 's/behind_fs = slack < 0 \? -slack : 0/behind_fs = 0/'
break_it 'behind routers what never ends is a stall' runtime/sim/stall.c 's/at == UINT32_MAX && s->instances\.never/false/'
break_it 'an input from a file is filled as ever' runtime/sim/bench.c 's/    if \(!file\)$/    if (file)/'
break_it 'integers of a file wrap' runtime/data/host_fill.c 's/if \(integer_fits\(/if (true || integer_fits(/'
break_it 'doubles of a file pass by f32' runtime/data/host_fill.c 's/return from == to \|\| from == KB_F32 \|\| from == KB_F64/return from == to || from == KB_F32/'
break_it 'sums of floats commute' runtime/kernels/accesses.c 's/sums && dtype_is_float/false \&\& dtype_is_float/'
break_it 'what was there is the new version' runtime/pe/pe_dma.c 's/c->result->view = before\.view;/c->result->view = op->in[0].view;/'
break_it 'cas swaps whatever is there' runtime/pe/pe_dma.c 's/if \(c->swaps && old != c->expected\)/if (false)/'
break_it 'an atomic forgets what was there' runtime/pe/pe_dma.c 's/    op->in\[0\] = before;$/    op->in[0] = op->in[1];/'
break_it 'what is repeated is fetched again' runtime/kernels/compute.c 's/if \(s\.stride\[i\] == 0\)/if (false)/'
break_it 'views in flight have no order of axes' runtime/kernels/flight.c 's/    memcpy\(s\.stride, view->cut_stride, sizeof s\.stride\);//'
break_it 'a view has what an update is going to write over' runtime/kernels/flight.c 's/if \(!from\.v \|\| flight_has_past\(of\)\)/if (!from.v)/'
break_it 'a slice is reshaped wherever its elements lie' runtime/kernels/tl_tensor.c 's/if \(s->stride\[i - 1\] != s->dim\[i\] \* s->stride\[i\]\)/if (false)/'
break_it 'an axis may be named twice' runtime/kernels/tl_tensor.c 's/if \(seen & 1u << from\[i\]\)/if (false)/'
break_it 'cache: the youngest line is dropped' runtime/machine/cache_tags.c 's/if \(c->row->policy == DROPS_OLDEST \|\|/if (c->row->policy == DROPS_OLDEST) return 0; if (/'
break_it 'cache: a line that is on its way is there' runtime/network/awaited.c 's/if \(row->others_fs > end\)/if (0)/'
break_it 'cache: what is dropped is not written back' runtime/network/caches.c 's/if \(found->written\.all\)/if (0)/'
break_it 'cache: reads that miss do not wait for mshrs' runtime/network/caches.c 's/if \(!mshrs \|\|/if (true ||/'
break_it 'cache: a line that two runs share is looked up twice' runtime/machine/pieces.h 's/while \(w->n && w->at >> w->bits == \*number\)/for (bool once = true; once; once = false)/'
break_it 'cache: kernels have no place in it' runtime/pe/pe_dma.c 's/split_asks_where\(s\)/(s->banks || s->instances.served)/'
break_it 'cache: packets alone are kept for other lines' runtime/sim/lone_runs.c 's/hbm->model == MEMORY_CACHE/false/'
break_it 'cache: children have the numbers of parts' runtime/engine/children.h 's/\(1 \+ 2 \* k \+ writes\) << CHILD_BIT/(1 + 2 * k + writes) << 19/'
break_it 'cache: the end of what it asks banks is no record' runtime/network/caches.c 's/    record\(s, how, child->t_fs, EV_DONE, child->id, child->part\);//'
break_it 'cache: banks behind it are asked by the bytes between the first and the last' runtime/network/banks.c 's/if \(asked->of->n == 1\)/if (true)/'
break_it 'cache: a component behind it has a drain without its own bandwidth' runtime/network/in_order_behind.c 's/own_fs > asked->drain_fs \? own_fs : asked->drain_fs/asked->drain_fs/'
break_it 'cache: behind routers data set out at their end' runtime/network/caches.c 's/turn->end_fs = \(uint64_t\)\(end - drain\);/turn->end_fs = (uint64_t)end;/'
break_it 'cache: packets of a write have the bytes of its first' runtime/network/caches.c 's/row->offset \+ part->from/row->offset/'
break_it 'cache: packets of a tile have all of its bytes' runtime/network/caches.c 's/if \(part->nbytes < s->txns\[slot\]\.nbytes\)/if (0)/'
break_it 'cache: without caches a write waits for nothing' runtime/network/caches.c 's/writes && !s->mask\.caches_off \? 0/writes ? 0/'
break_it 'cache: without misses lines are looked up' runtime/network/caches.c 's/if \(!s->mask\.caches_hit\)/if (true)/'
break_it 'warm caches: dirty lines come clean' runtime/machine/cache_tags.c 's/        c->lines\[i\]\.fill = 0;/        c->lines[i].fill = 0, c->lines[i].dirty = false;/'
break_it 'warm caches: lines have no ages' runtime/machine/cache_tags.c 's/    memcpy\(c->ages, from->ages, lines_of\(c->row\)\);//'
break_it 'cache: dropped lines are not counted' runtime/network/caches.c 's/c->counts\.evictions\+\+;//'
break_it 'l2: a child is as fast as its own way' runtime/engine/child_rows.c 's/return gbs < first \? gbs : first;/(void)first; return gbs;/'
break_it 'l2: data of two slices pass one link at once' runtime/network/awaited.c 's/if \(row->first_fs != NOT_YET\)/if (0)/'
break_it 'l2: what waits for a child is done without it' runtime/network/awaited.c 's/    s->caches->rows\[w->slot\]\.left\+\+;//'
break_it 'l2: a slice is asked line by line' runtime/network/l2.c 's/split_part_in\(s, 0, piece->dst\)/split_new_part(s)/'
break_it 'l2: children of equal times in order of slots' runtime/engine/child_rows.c 's/if \(part_number\(s, slot\) < part_number\(s, least\)\)/if (slot < least)/'
break_it 'l2: what was dropped is written before what is read' runtime/engine/children.h 's/1 \+ 2 \* k \+ writes/2 + 2 * k - writes/'
break_it 'l2: a sweep finds the lines of the point before' runtime/sim/again.c 's/^        clear_all\(s\);/        ;/'
break_it 'l2: hosts go to it' runtime/engine/split.c 's/return !txn_of_host\(c->of\) && !c->bytes->past_l2/return !c->bytes->past_l2/'
break_it 'l2: atomics and messages go to it' runtime/pe/pe_dma.c 's/return \(c->task != TASK_PLAIN && c->task != TASK_ACC\) \|\| c->to_all;/return c->to_all;/'
break_it 'l2: a launch does not drop what it finds' runtime/network/l2.c 's/at_launch == LAUNCH_DROPS/at_launch > LAUNCH_DROPS/'
break_it 'l2: what a launch drops is not counted' runtime/network/l2.c 's/c->counts\.written_back \+= cache_tags_drop/(void)cache_tags_drop/'
break_it 'l2: a server does not wait for mshrs' runtime/network/caches.c 's/if \(end == NOT_YET\)\s+return false;//; s/^    if \(end == NOT_YET\)$/    if (0)/'
break_it 'a component is built in place' runtime/sim/component_open.c 's/cache_folder_remove\(m->folder\);/;/'
break_it 'data of a component that can be written is none' gen/component_object.c 's/return is_kind\(name, "\.data\.rel\.ro"\);/return true;/'
break_it 'constructors of a component run' gen/component_object.c 's/is_kind\(name, "\.eh_frame"\)/true/; s/return is_kind\(name, "\.data\.rel\.ro"\);/return is_kind(name, ".data.rel.ro") || is_kind(name, ".init_array");/'
break_it 'a component calls what it likes' gen/component_object.c 's/\|\| is_of_compiler\(name\) \|\|/|| true ||/'
break_it 'a component includes what it likes' gen/component_text.c 's/m->enters && !is_known\(r, m\)/false/'
break_it 'assembler text in a component' gen/component_code.c 's/poison asm __asm __asm__ section/poison section/'
break_it 'components of other users are trusted' gen/component_trust.c 's/st->st_mode & S_IWOTH/false/'
break_it 'a component that cannot be opened is not there' gen/component_file.c 's/errno == ENOENT \|\| errno == ENOTDIR \? 0/true ? 0/'
break_it 'a stage needs no event while messages come to the TCM' runtime/kernels/slots.c 's/!k->reaches_tcms/true/'
break_it 'machines: a default of the file is worth more than a preset' gen/presets.c 's/spec_is_default\(before, k\) &&/false \&\&/'
break_it 'machines: a preset is worth more than a key beside it' gen/presets.c 's/now->kind != PLACE_SET && //'
break_it 'machines: an SRAM of so many KiB has no resolved YAML' gen/check.c 's/\(!spec_is_default\(spec, KEY_cube_sram_size_mb\) \|\|/(true ||/'
break_it 'machines: peaks of PEs that differ are those of the last' runtime/kernels/launches.c 's/if \(kind && next != kind\)/if (kind \&\& !next)/'
break_it 'machines: limits are those of the first cube' runtime/machine/machine_components.c 's/kind \? kind : &t->kinds\[0\], memory \? memory/\&t->kinds[0], false ? memory/'
break_it 'machines: a switch has an SRAM' runtime/cli/trace/trace_lanes.c 's/\(cube\.pe_places == 0 && cube\.n_slices == 0\)/false/'
break_it 'machines: a PE beside an L2 stands beside a crossbar' runtime/cli/view/scene_pe.c 's/"l2"\) != SCENE_NONE/"l2") == UINT64_MAX/'
break_it 'a report has no waits for caches' runtime/cli/rows/breakdown_rows.c 's/^(    struct rows sums = .*;)$/\1\n    sums.n_columns -= 3;/'
break_it 'why: what caches save is told as a surprise' runtime/cli/why/why_limits.c 's/->cost != KB_COST_CACHES/->cost != ~0u/'
break_it 'a stage needs no event while a composite works' runtime/kernels/slots.c 's/pe->inside == 1/true/'

# Quick ones first; those that take long come last, when the others have not noticed.
of_engine=(ev sim null formula dependencies routes sweep traffic steady endpoint percentiles number lists guard)
of_kernels=(kernel tl pe_ipcq barrier deadlock repeated_loads kernel_memory launch sips exec inspect race)
long=(random kernel_random watch watch_kernel trace flow no_memory kernel_no_memory race_random)
all_tests=("${of_engine[@]}" "${of_kernels[@]}" "${long[@]}")
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT

# apply WAY: changes its files, here; false, with a message, if one stays as it is.
apply() {
    local words file

    eval "words=(${edits[$1]})"
    for ((file = 0; file < ${#words[@]}; file += 2)); do
        if [ ! -f "${words[file]}" ]; then
            echo "MISSED: ${names[$1]}: there is no ${words[file]}"
            return 1
        fi
        sed -E "${words[file + 1]}" "${words[file]}" >new
        if cmp -s new "${words[file]}"; then
            echo "MISSED: ${names[$1]}: nothing in ${words[file]} is changed by ${words[file + 1]}"
            return 1
        fi
        cat new >"${words[file]}"
    done
}

# The tests that a way is held to, by its files. Results that are printed have tests of their own.
choose_tests() {
    tests=("${all_tests[@]}") scripts=(inspect) limit=400
    case ${names[$1]} in
    'up, then down: SIPs '*) tests=(net_circles) scripts=() limit=30 && return ;; # a walk without an end
    'convert: '* | 'batch: '*) tests=(mixed kernel_random) scripts=() && return ;;
    'value: '*) tests=(update) scripts=() && return ;;
    'pieces that touch: '*) tests=(kernel_random) scripts=() && return ;;
    'wait_read: '*) tests=(wait_read) scripts=() && return ;;
    'notes: '*) tests=() scripts=(waits) && return ;;
    'rates: '*) tests=() scripts=(run f8) && return ;;
    'moe: '*) tests=() scripts=(cc) && return ;;
    'product: '*' it is read') tests=() scripts=(race) && return ;;
    'product: '*) tests=(product) scripts=() && return ;;
    'a picture of a net'*) tests=(net) scripts=(view) && return ;;
    'nets of several SIPs: '*) tests=(net net_circles random_routers) scripts=() && return ;;
    'nets: reads '*) tests=(net_circles random_routers) scripts=() && return ;;
    'rails: '*) tests=(gallery random) scripts=() && return ;;
    'mread: '*) tests=(branches random) scripts=() && return ;;
    'cache: '*packets* | 'cache: '*routers*) tests=(caches random_routers) scripts=() && return ;;
    'cache: a component '* | 'warm caches: '*) tests=() scripts=(chains) && return ;;
    'cache: '*) tests=(caches random kernel_random) scripts=() && return ;;
    'l2: '*launch*) tests=(l2_launch) scripts=() && return ;;
    'l2: '*) tests=(caches random kernel_random) scripts=() && return ;;
    'f8: '*) tests=(convert math) scripts=(f8) && return ;;
    'triton: '*) tests=() scripts=(triton) && return ;;
    'bound: '*) tests=(bound) scripts=(tune) && return ;;
    'tune: '*) tests=() scripts=(tune) && return ;;
    'i4: '*) tests=(i4 kernel_random) scripts=(i4) && return ;;
    'waits: '*) tests=() scripts=(waits) && return ;;
    'coll: parts a'* | 'coll: a torus '* | 'coll: blocks '*) tests=(collectives coll) scripts=() && return ;;
    'coll: what is paid '*) tests=(coll) scripts=() && return ;;
    'gdb: '*) tests=() scripts=(gdb) && return ;;
    'machines: limits '*) tests=(components) scripts=(machine report) && return ;;
    'machines: a switch '*) tests=() scripts=(trace) && return ;;
    'machines: a PE '*) tests=() scripts=(view) && return ;;
    'machines: '*) tests=() scripts=(machine) && return ;;
    'a report has '*) tests=() scripts=(report) && return ;;
    'llm: energy: '*) tests=() scripts=(energy) && return ;;
    'llm: chakra: '*) tests=() scripts=(chakra) && return ;;
    'regions '*) tests=() scripts=(why) && return ;;
    esac
    case " ${edits[$1]} " in
    *' Makefile '*) tests=() scripts=(killed_make) ;;
    *' runtime/phase2/math_ranks.c '* | *topk_width*) tests=(topk operations) scripts=() ;;
    *persist*) tests=(persist) scripts=() ;;
    *' runtime/phase2/kept.c '* | *KEPT_MOST*) tests=(kept) scripts=() ;;
    *op_updates* | *reads_block* | *'refs <= 2'*) tests=(update kernel_random) scripts=() ;;
    *fused* | *op_step*) tests=(fused operations) scripts=() ;;
    *PACKED_BYTES*) tests=(exec_memory) scripts=() ;;
    *'/math_random.c '* | *TL_TAKE* | *levels* | *'total = total'*) tests=(operations) scripts=() ;;
    *'addresses of version 3'*) tests=(host) scripts=() ;;
    *net_ways* | *trip-*way* | *is_switch* | *until*lane*) tests=(net net_circles gallery) scripts=() ;;
    *' runtime/machine/vcs.h '*) tests=(net net_circles channels random_routers) scripts=(routers) ;;
    *inorder_runs*) tests=(banks kernel_random) scripts=(banks chains) ;;
    *' runtime/engine/serving.c '*observer*) tests=(visits watch) scripts=(why banks) ;;
    *kernels_data_served* | *heard-*data*) tests=(router_content) scripts=() ;;
    *NO_PARCEL*) tests=(router_packets router random_routers) scripts=(routers) ;;
    *' runtime/machine/box_impl.h '* | *TXN_TO_NODE*) tests=(cubes random) scripts=(components) ;;
    *' tools/taken.sh '*) tests=() scripts=(install) ;;
    *' runtime/cli/out/out_md'* | *' runtime/cli/out/out_table'* | *' runtime/cli/view/svg.c '*entity* | *' runtime/cli/options/words.c '*is_plain*)
        tests=(number) scripts=(hostile)
        ;;
    *' runtime/base/newfile'* | *' runtime/base/fault'* | *visible* | *' runtime/cli/out/stop'* | *' runtime/cli/out/memory'* | *lines.c*LINE_SKIP*)
        tests=(number) scripts=(failures stops)
        ;;
    *to_all* | *n_runs*) tests=(store_all) scripts=() ;;
    *sum_sources* | *op-?sums* | *sum_now*) tests=(store_all) scripts=() ;;
    *traffic_cast*) tests=(traffic) scripts=() ;;
    *next_target*) tests=(many) scripts=() ;;
    *STAY_CACHE*) tests=(caches) scripts=() ;;
    *branch* | *' runtime/machine/tree.'* | *more-*bytes* | *'most\ ='* | *sorted*) tests=(branches packets random) scripts=() ;;
    *' runtime/kernels/skips.c '*) tests=(llm_repeat) scripts=() ;;
    *' runtime/cli/llm/'* | *' benches/llm/'*) tests=(llm_work llm_values llm_latents llm_stages llm_repeat llm_batches llm) scripts=(llm) ;;
    *' runtime/cli/trace/'*) tests=(trace) scripts=(trace talking) ;;
    *' runtime/cli/report/'*) tests=(number) scripts=(report) ;;
    *' runtime/kernels/deadlock.c'* | *' runtime/cli/rows/deadlock'*) tests=(deadlock) scripts=(deadlock) ;;
    *' runtime/cli/'* | *' runtime/base/help'* | *' runtime/base/parallel'* | *' runtime/base/workers'*)
        tests=(number lists)
        case ${edits[$1]} in # the script that is likeliest to notice comes first
        *sweep.c* | *points.c*) scripts=(sweep) ;;
        *cmd_load.c*) scripts=(load) ;;
        *cmd_llm.c*) scripts=(llm) ;;
        *cli/why/*) scripts=(knockout bykey pairs) ;;
        *cli/plan/* | *sobol.c* | *study_run.c* | *study_search.c* | *workers.c*) scripts=(vary plan search) ;;
        *cli/vary/* | *sink.c* | *aside.c*) scripts=(vary large shard) ;;
        *cli/study/* | *out_kept.c* | *launch_rows.c* | *load_rows.c*) scripts=(study load run) ;;
        *cli/view/*) scripts=(view) ;;
        *breakdown*) scripts=(why) ;;
        *inspection*) scripts=(inspect) ;;
        *describe.c* | *help*) scripts=(shells) ;;
        *progress.c* | *speed.c*) scripts=(terminal) ;;
        *race_rows.c*) scripts=(race) ;;
        *out_sqlite.c* | *sqlite_file.c*) scripts=(kill) ;;
        *) scripts=() ;;
        esac
        scripts+=(failures stops results sweep load why knockout inspect shells terminal report race)
        ;;
    *' runtime/data/host.c'*) tests=(host "${all_tests[@]}") ;;
    *' runtime/data/mem.c'* | *' runtime/data/shared.c'*) tests=(mem "${of_kernels[@]}" "${long[@]}" "${of_engine[@]}") ;;
    *' runtime/sim/bench.c'*) tests=(bench "${all_tests[@]}") ;;
    *' runtime/phase2/reference_product'*) tests=(reference_product) scripts=(run) ;;
    *' runtime/kernels/coll'*) tests=(coll coll_groups coll_parts) scripts=() ;;
    *' runtime/machine/lap.h'*) tests=(lap coll coll_groups collectives) scripts=() ;;
    *' benches/'*) tests=(reference collectives) scripts=(run numpy) ;;
    *race_beyond* | *host_spans*) tests=(beyond) scripts=(race) ;;
    *' runtime/record/race.c'* | *' runtime/record/race_access.c'* | *' runtime/record/shadow.c'* | *' runtime/record/vclock.c'* | *' runtime/kernels/accesses.c'*)
        tests=(race race_random) scripts=(race)
        ;;
    *' runtime/pe/'* | *' runtime/kernels/'*) tests=("${of_kernels[@]}" kernel_random "${of_engine[@]}" "${long[@]}") ;;
    *' runtime/base/text.c '*locale*) tests=(number) scripts=(locale) ;;
    *' runtime/include/tl'*) tests=(tl) scripts=(lines) ;;
    *' runtime/explain/spread.c'*) tests=(flow) ;;
    *node_component*) tests=() scripts=(components) ;;
    *' runtime/explain/stages.c '* | *OBSERVE*whole*) tests=(kernel_random) scripts=() ;;
    *' runtime/explain/router'* | *' runtime/engine/router_tally'*) tests=(router_paths router_buffers) ;;
    *'node_fs), '* | *'head->number'*) tests=(number) scripts=(components) ;;
    *'behind routers a component queues'* | *'behind routers packets of one'* | *'is not held for its tail'*) tests=(number) scripts=(components) ;;
    *' runtime/network/router'* | *' runtime/network/network_router'* | *' runtime/network/memory_behind'* | *' runtime/engine/router'* | *' runtime/engine/agenda'* | *' runtime/engine/inorder_loop'* | *'inorder->over'*)
        tests=(router random_routers router_packets) scripts=(stall)
        ;;
    *'before an L2 runtime/machine/alone.c'* | *'route: the last node'* | *'route: a write goes on'*) tests=(walk_alone) scripts=(route) ;;
    *' runtime/machine/impl_code.c'*) scripts=(components) ;;
    *' runtime/machine/alone.c'*behind* | *' runtime/machine/alone.c'*part*) tests=(number) scripts=(components) ;;
    *' runtime/machine/alone.c'*) tests=(banks random) ;;
    *' runtime/network/network_queueing.c'* | *due_kind* | *'(behind'*) tests=(number) scripts=(chains) ;;
    *bank* | *' runtime/engine/serving.c'*) tests=(banks random) ;;
    *' gen/pairs.c '*) tests=(pairs) scripts=() ;;
    *net_lost* | *' gen/net_routes.c '* | *' gen/net_search.c '* | *' gen/net_grid.c '* | *PORT_DOWN*) tests=(net_circles net net_mesh random_routers random) scripts=() ;;
    *' gen/sips.c '*) tests=(channels) scripts=(alike) ;;
    *' gen/presets.c '*) tests=(cubes) ;;
    *' gen/build.c '*) tests=(load_no_memory load) ;;
    *' gen/net_load.c '* | *' gen/spec.h '*) tests=(load) ;;
    *' gen/better.c '*) tests=(load) scripts=(bykey) ;;
    *' gen/emit.c '*) tests=(load) scripts=(generated vectors machine) ;;
    *' gen/component_'*) tests=(component_object load) scripts=(component_rules) ;;
    *' gen/load.c '*) tests=(load topology "${all_tests[@]}") ;;
    *' runtime/engine/split.'* | *split_by_packets* | *txn_start_fs* | *PACKET_MIN* | *ahead_fs* | *'p->packets'*)
        tests=(packets pace tiles split collectives kernel_random random load) scripts=(kbgen_bad)
        ;;
    *' runtime/engine/traffic'*) tests=(traffic split "${all_tests[@]}") scripts=(load) ;;
    *drain_fs*served_fs*) tests=(watch) scripts=(components) ;;
    *' runtime/explain/'[bcmsvw]* | *' runtime/machine/place.c'*) tests=(watch watch_kernel kernel_random) ;;
    esac
}

flags='-Og -DNDEBUG' # compiles twice as fast as -O1; assertions would notice before the tests

build() {
    local t

    for t in tests/machines/{cube8,tray32}.yaml tests/vectors/cube8_fifo.yaml; do
        make -s B=build PLACE=build/_m CFLAGS="$flags" "TOPO=$t" topology >>log 2>&1 || return
    done
    make -s B=build CFLAGS="$flags" "${tests[@]/#/build/_t/test_}" build/_t/{broken,hostile,talking,any_simulator} build/kernbench >>log 2>&1
}

# Prints the first test that fails; false if none does. On a busy machine processor time counts: a test
# that takes `limit` seconds of it has failed.
first_failure() {
    local t code name

    for t in "${tests[@]}"; do
        (ulimit -t $limit && timeout 1500 "build/_t/test_$t") >out 2>&1
        code=$?
        name=$(sed -n 's/^not ok [0-9]* - //p' out | head -n 1)
        if [ -z "$name" ] && [ "$code" != 0 ]; then
            name="test_$t, which ends with $code"
        fi
        [ -z "$name" ] && continue
        echo "$name"
        return 0
    done
    for t in "${scripts[@]}"; do
        name=$(ulimit -t 200 && B=build timeout 3000 bash "tests/e2e/$t.sh" 2>/dev/null |
            sed -n 's/^not ok [0-9]* - //p' | head -n 1)
        [ -z "$name" ] && continue
        echo "$name"
        return 0
    done
    return 1
}

# try WAY: breaks the tree here, builds what its tests need, and runs them.
try() {
    local by

    apply "$1" || return
    choose_tests "$1"
    if ! build; then
        echo "MISSED: ${names[$1]}: does not compile"
        tail -n 5 log
    elif by=$(first_failure); then
        echo "caught: ${names[$1]} by $by"
    else
        echo "MISSED: ${names[$1]}"
    fi
}

# Takes one way after the other, in a tree of its own: each time a copy of the one that was built.
worker() {
    local way

    trap - EXIT
    mkdir "$work/$1" && cd "$work/$1" && mkdir tree && cd tree || exit
    (cd "$tree" && git ls-files -co --exclude-standard | tar cf - --ignore-failed-read -T - 2>/dev/null) | tar xf -
    tests=("${all_tests[@]}") scripts=(inspect) limit=400
    if ! build; then
        cat log
        exit 1
    fi >&2
    if [ "$1" = 1 ] && by=$(first_failure); then
        echo "without any change $by fails" >&2
        exit 1
    fi
    cd .. && cp -a tree built || exit 1
    while way=$(flock "$work/next" sh -c 'read -r way <"$1" && echo "$way" && echo $((way + 1)) >"$1"' - "$work/next") &&
        [ "$way" -lt ${#names[@]} ]; do
        rm -rf tree && cp -a built tree && cd tree || exit 1
        try "$way" >"$work/result"."$1"
        mv "$work/result.$1" "$work/way.$way"
        cd ..
    done
}

failed=0
if [ "$dry" ]; then
    for way in "${!names[@]}"; do
        mkdir -p "$work/tree" && cd "$work/tree" || exit
        eval "words=(${edits[way]})"
        for ((i = 0; i < ${#words[@]}; i += 2)); do
            mkdir -p "$(dirname "${words[i]}")"
            cp "$tree/${words[i]}" "${words[i]}" 2>/dev/null
        done
        apply "$way" || failed=$((failed + 1))
        rm -rf "$work/tree"
    done
    echo "$((${#names[@]} - failed)) of ${#names[@]} change their files"
    [ $failed = 0 ]
    exit
fi

echo 0 >"$work/next"
for ((n = 1; n <= jobs; n++)); do
    worker $n &
done
for way in "${!names[@]}"; do
    until [ -f "$work/way.$way" ]; do
        [ "$(jobs -pr)" ] || [ -f "$work/way.$way" ] || exit 1
        sleep 0.1
    done
    cat "$work/way.$way"
    grep -q '^caught' "$work/way.$way" || failed=$((failed + 1))
done
wait
echo "$((${#names[@]} - failed)) of ${#names[@]} caught"
[ $failed = 0 ]
