// report_sections.js -- what the sections of a report's page show: causes, plots, parts of time, distances, banks.
const sections = (() => {
    const { html, svg, text, fixed, short, least, most } = draw;
    const { Frame, rows, sums, breakdown, use, place, CAUSES, keysAt, partsOf, total, tile, table, data } = report;
    const { page, limits, notes, distances } = data;

    // -- what takes the time ------------------------------------------------------------------------------

    function gbsOf(name) {
        const row = use.rows.find((r) => use.get(r, "name") === name);

        return row ? use.get(row, "gbs") : null;
    }

    // Causes of what rows `by`, `of` of the breakdown are of, with the places where most of each was.
    function causes(row, by, of) {
        const all = total(partsOf(sums, row)),
              parts = partsOf(sums, row).filter((part) => part.value > 0).sort((a, b) => b.value - a.value);
        const places = breakdown.where("by", by).filter((r) => by === "all" || breakdown.get(r, "of") === of);

        return parts.map((part) => {
            const where = places.find((r) => breakdown.get(r, "cause") === part.cause && breakdown.get(r, "place")) ??
                breakdown.where("by", "wait").find((r) => breakdown.get(r, "cause") === part.cause);
            const at = where ? breakdown.get(where, "place") ?? "" : "";
            return {
                ...part,
                pct: 100 * part.value / all,
                at,
                words: `${fixed(part.value, 2)} ns` + (at ? `, most at ${place(at)}` : ""),
                keys: keysAt(CAUSES[part.cause][2](at), at, gbsOf(at))
            };
        });
    }

    const isLine = (of) => /^\S+ .*:\d+$/.test(of);

    // Of `run`: the critical path of each kernel, by cause and by line.
    function kernelPath() {
        const all = sums.where("by", "path"), kernels = all.filter((row) => !isLine(sums.get(row, "of")));
        const longest =
            kernels.reduce((a, b) => !a || total(partsOf(sums, b)) > total(partsOf(sums, a)) ? b : a, undefined);

        if (!longest)
            return null;
        const kernel = sums.get(longest, "of"), whole = total(partsOf(sums, longest));
        const lines = all.filter((row) => isLine(sums.get(row, "of")))
                          .map((row) => {
                              const parts = partsOf(sums, row).sort((a, b) => b.value - a.value),
                                    [call, ...where] = sums.get(row, "of").split(" ");
                              return {
                                  name: where.join(" "),
                                  pct: 100 * total(parts) /
                                      (kernels.length > 1 ? total(kernels.flatMap((k) => partsOf(sums, k))) : whole),
                                  colour: parts[0]?.colour,
                                  words: `${call}: ${fixed(total(parts), 2)} ns, most of it ${parts[0]?.name ?? ""}`
                              };
                          })
                          .sort((a, b) => b.pct - a.pct);
        return { kernel, causes: causes(longest, "path", kernel), lines, several: kernels.length > 1 };
    }

    const worth = (command) => `The critical path is the chain of steps that the end waited for. \u201c${
        command}\u201d measures what each limit costs.`;

    function bindsTile(cause, of) {
        return cause ? tile(
                           "what binds", fixed(cause.pct, 1), "%",
                           `of ${of} is ${cause.name}${cause.at ? ", most at " + place(cause.at) : ""}`, cause.pct) :
                       null;
    }

    // -- plots ------------------------------------------------------------------------------------------

    // The eight curves that differ most: the lowest, then again and again the one farthest from all drawn.
    function differing(curves, most_ = 8) {
        const level = (c) => c.points.reduce((sum, p) => sum + Math.log(p[1]), 0) / c.points.length;
        const apart = (a, b) =>
            a.points.reduce((sum, p, i) => sum + Math.abs(Math.log(p[1] / (b.points[i] ?? p)[1])), 0) / a.points.length;
        const near = new Map(curves.map((c) => [c, Infinity])), drawn = [];
        let next = curves.reduce((a, b) => !a || level(b) < level(a) ? b : a, null);

        while (next && drawn.length < most_) {
            drawn.push(next);
            near.delete(next);
            for (const [c, distance] of near)
                near.set(c, Math.min(distance, apart(c, next)));
            next = [...near].reduce((a, b) => !a || b[1] > a[1] ? b : a, null)?.[0];
        }
        return drawn;
    }

    // Points of rows, a curve for each label.
    function curvesOf(all, x, y, label) {
        const curves = new Map();

        for (const row of all) {
            const point = [rows.get(row, x), rows.get(row, y)], name = label(row);
            if (!(point[0] > 0 && point[1] > 0))
                continue;
            if (!curves.has(name))
                curves.set(name, { name, points: [] });
            curves.get(name).points.push(point);
        }
        return [...curves.values()].map((c) => ({...c, points: c.points.sort((a, b) => a[0] - b[0]) }));
    }

    function curvePlots() {
        const ofBytes = rows.varies("nbytes"), x = ofBytes ? "nbytes" : "inflight";
        const all = page.command === "probe" ? rows.where("case", "saturation") : rows.rows;
        const across = {
            label: ofBytes ? "bytes of a transaction" : "transactions at once",
            ...ofBytes ? { log: true, powers: true } : { log: false }
        };
        const label = (row) => [`${rows.get(row, "src")} \u2192 ${rows.get(row, "dst")}`,
                                ofBytes && rows.varies("inflight") ? rows.get(row, "inflight") + " at once" : [],
                                rows.varies("op") ? rows.get(row, "op") : []]
                                   .flat()
                                   .join(", ");

        if (!all.length || (page.command === "sweep" && !ofBytes && !rows.varies("inflight")))
            return { left: partsPlot(), right: distanceMap() };
        if (page.command === "probe")
            return {
                right: distanceMap(),
                left: draw.plot(
                    "Throughput of transactions one after the other", curvesOf(all, x, "eff_bw_gbs", label),
                    { x: across, y: { label: "GB/s" } })
            };
        const latency = curvesOf(all, x, "mean_ns", label), drawn = differing(latency);
        const gbs = new Map(curvesOf(all, x, "gbs", label).map((c) => [c.name, c]));

        return {
            left: [
                draw.plot("Latency", drawn, { x: across, y: { label: "mean latency, ns" } }),
                latency.length > drawn.length ?
                    html("p", { class: "detail" }, `There are ${latency.length} lines; these differ most.`) :
                    null
            ],
            right: draw.plot(
                "Throughput", drawn.map((c) => gbs.get(c.name)).filter(Boolean), { x: across, y: { label: "GB/s" } })
        };
    }

    function loadPlot(calm) {
        const offered = (row) => rows.get(row, "offered_gbs"),
              drawn = calm.filter((_, i) => i % Math.ceil(calm.length / 2000) === 0)
                          .sort((a, b) => offered(a) - offered(b));
        const full = drawn.findIndex((row) => rows.get(row, "saturated"));

        if (!drawn.length)
            return null;
        const curve = (name, column) =>
            ({ name, points: drawn.map((row) => [offered(row), Math.max(rows.get(row, column), 1e-6)]) });
        return draw.plot(
            "Latency over offered load",
            [curve("99 % of transactions", "p99_ns"), curve("mean", "mean_ns"), curve("half of them", "p50_ns")], {
                x: { label: "GB/s offered", log: false },
                y: { label: "latency, ns", log: true },
                more(x, y, box) {
                    if (full < 0)
                        return null;
                    const from = x.at(full ? (offered(drawn[full - 1]) + offered(drawn[full])) / 2 : offered(drawn[0]));
                    return svg(
                        "g", { "data-saturated": offered(drawn[full]) }, svg("rect", {
                            class: "shade",
                            x: from,
                            y: box.top,
                            width: box.right - from,
                            height: box.bottom - box.top
                        }),
                        text(
                            box.right - 6, box.bottom - 8, `saturated at ${short(offered(drawn[full]))} GB/s`,
                            { class: "dim", "text-anchor": "end" }));
                }
            });
    }

    // The roofs of engine, math, memories and, of a run, links, and what leads up to them.
    function roofs({ gemm, math, slope, links }) {
        return (x, y, box) => {
            const roof = (peak, name, i) =>
                svg("g", { "data-roof": peak }, svg("path", {
                        class: "line p" + i,
                        d: `M${x.at(Math.max(peak / slope, x.from))} ${y.at(peak)}H${box.right}`
                    }),
                    text(box.right - 4, y.at(peak) - 5, `${name}: ${short(peak)} GOP/s`, { "text-anchor": "end" }));
            const top = Math.max(gemm, math);
            const way = (gbs, name, i, below) => {
                const left = Math.max(x.from, y.from / gbs);
                return svg("g", { ["data-" + (below ? "links" : "slope")]: gbs }, svg("path", {
                        class: "line p" + i,
                        d: `M${x.at(left)} ${y.at(left * gbs)}L${x.at(top / gbs)} ${y.at(top)}`
                    }),
                    text(x.at(left) + 8, y.at(left * gbs) + (below ? 16 : -8), `${name}: ${short(gbs)} GB/s`));
            };
            return [
                roof(gemm, "GEMM", 1), roof(math, "MATH", 3), way(slope, "memories", 0, false),
                links ? way(links, "links", 2, true) : null
            ];
        };
    }

    // Points {name, x: operations a byte, y: operations a ns} under them; `marks`: more, drawn by itself.
    function underRoofs(title, of, all, high, marks = () => []) {
        const points = all.filter((p) => p.y > 0 && isFinite(p.y)), ridge = high.gemm / high.slope;
        const right = most([ridge * 10, ...points.map((p) => p.x).filter(isFinite)]), drawn = roofs(high);

        if (!points.length)
            return null;
        points.forEach((p) => {
            p.x = Math.min(p.x, right);
        });
        const low = Math.min(ridge / 10, ...points.map((p) => p.x));
        return draw.scatter(title, points, {
            x: { label: "operations a byte of " + of, log: true, around: [low, right] },
            y: { label: "operations a ns (GOP/s)", log: true, around: [high.math / 10, high.gemm * 1.2] },
            more: (x, y, box) => [...drawn(x, y, box), ...marks(points, x, y)]
        });
    }

    // What DMA moves in a ns, as this run spreads it over links, if the busiest one never waits.
    function linksGbs() {
        const bytes = rows.rows.reduce(
            (sum, row) => sum + rows.get(row, "dma_read_bytes") + rows.get(row, "dma_write_bytes"), 0);
        const busiest = most([
            0, ...use.where("kind", "edge").filter((row) => use.get(row, "gbs") > 0).map(
                (row) => use.get(row, "bytes") / use.get(row, "gbs"))
        ]);

        return busiest > 0 ? bytes / busiest : 0;
    }

    // The lowest roof above a point, and how much of it that is.
    function lowestRoof(p, { gemm, math, slope, links }) {
        const all = [[p.products ? "GEMM" : "MATH", p.products ? gemm : math], ["memories", p.x * slope]];

        if (links)
            all.push(["links", p.x * links]);
        return all.reduce((a, b) => b[1] < a[1] ? b : a);
    }

    // Launches under the roofs of the machine: operations per byte of DMA and per ns.
    function roofline() {
        const high = {
            gemm: limits.gemm_gops,
            math: limits.math_gops,
            slope: limits.memory_gbs,
            links: linksGbs()
        };

        return underRoofs("Roofline: a product and a sum are two operations", "DMA", rows.rows.map((row) => {
            const operations = 2 * rows.get(row, "gemm_macs") + rows.get(row, "math_elements");
            const bytes = rows.get(row, "dma_read_bytes") + rows.get(row, "dma_write_bytes");
            return {
                name: rows.get(row, "kernel"),
                x: bytes ? operations / bytes : Infinity,
                y: operations / rows.get(row, "kernel_ns"),
                products: rows.get(row, "gemm_macs") > 0,
                strong: true
            };
        }), high, (points, x, y) => points.map((p) => {
            const [name, peak] = lowestRoof(p, high);
            return text(x.at(p.x) + 8, y.at(p.y) + 14, `${fixed(100 * p.y / peak, 1)} % of the roof of ${name}`,
                        { class: "dim", "data-lowest": name });
        }));
    }

    // Operations of a model under the roofs of a rank, each with the time that none can be below as a mark.
    function modelRoofline() {
        const high = data.rows.totals?.[0];

        if (!high)
            return null;
        return underRoofs(
            "Roofline of a rank: operations, and what no run of their tiles can be above", "the operation",
            rows.rows.filter((row) => rows.get(row, "flops")).map((row) => ({
                name: rows.get(row, "op"),
                x: rows.get(row, "flops") / rows.get(row, "bytes"),
                y: rows.get(row, "flops") / rows.get(row, "us") / 1000,
                bound: rows.get(row, "bound_us") && rows.get(row, "flops") / rows.get(row, "bound_us") / 1000,
                strong: true
            })),
            { gemm: high.peak_gops, math: high.math_gops, slope: high.memory_gbs },
            (points, x, y) => points.filter((p) => p.bound).map((p) => svg("path", {
                class: "line p2",
                "data-bound": p.bound,
                d: `M${x.at(p.x) - 6} ${y.at(p.bound)}h12`
            })));
    }

    // The roof of a rank that an operation comes nearest to: what binds it, if anything but latency does.
    function nearestRoof(row, of) {
        const roof = (name, amount, high, unit) => {
            const rate = amount / rows.get(row, "us") / 1000, pct = high ? 100 * rate / high : 0;
            return { name, pct, words: `${name}: ${short(rate)} of ${short(high)} ${unit}, ${fixed(pct, 1)} %` };
        };

        return [
            roof("engine", rows.get(row, "flops") ?? 0, of.peak_gops, "GOP/s"),
            roof("memory", rows.get(row, "bytes") ?? 0, of.memory_gbs, "GB/s"),
            roof("fabric", rows.get(row, "link_bytes") ?? 0, of.fabric_gbs, "GB/s")
        ].reduce((best, one) => one.pct > best.pct ? one : best);
    }

    // Each operation of the model, products or not, and the roof that it comes nearest to.
    function roofBars() {
        const bars = rows.rows.flatMap((row) => {
            const of = data.rows.totals?.find((t) => t.tp === rows.get(row, "tp"));
            const best = of && rows.get(row, "bytes") !== null && rows.get(row, "us") > 0 && nearestRoof(row, of);
            return best && best.pct > 0 ? [{ label: rows.get(row, "op"), value: best.pct, words: best.words }] : [];
        });

        return bars.length ? draw.bars("The roof that each operation comes nearest to, and how near in %", bars) : null;
    }

    function studyPlots() {
        const made = [[], []];

        for (const command of new Set(rows.values("command"))) {
            const gains = rows.where("command", command).filter((row) => rows.get(row, "gain_pct") !== null),
                  of = `: ${command}`;
            const gain = (row) => rows.get(row, "gain_pct"), cost = (row) => rows.get(row, "cost");
            if (!gains.length)
                continue;
            made[0].push(draw.bars(
                "Gain by variant, %" + of, gains.slice(0, 40).map((row) => ({
                                                                      label: rows.get(row, "variant"),
                                                                      value: gain(row),
                                                                      words: rows.show(row, "gain_pct") + " %",
                                                                      bad: gain(row) < 0
                                                                  }))));
            if (gains.some((row) => cost(row) === null) || new Set(gains.map(cost)).size < 2)
                continue;
            const front = gains.filter((row) => rows.get(row, "on_front")).sort((a, b) => cost(a) - cost(b));
            made[1].push(draw.scatter(
                "Cost against gain, and the Pareto front" + of, gains.map((row) => ({
                                                                              name: rows.get(row, "variant"),
                                                                              x: cost(row),
                                                                              y: gain(row),
                                                                              strong: rows.get(row, "on_front") > 0
                                                                          })),
                {
                    x: { label: "cost", log: false },
                    y: { label: "gain, % of the base machine's time", log: false },
                    named: gains.length <= 60,
                    more: (x, y) => front.length ? svg("path", {
                        class: "line p1",
                        d: front
                               .map(
                                   (row, i) => i ? `H${x.at(cost(row))}V${y.at(gain(row))}` :
                                                   `M${x.at(cost(row))} ${y.at(gain(row))}`)
                               .join("")
                    }) :
                                                   null
                }));
        }
        for (const key of rows.columns.filter(
                 (name) => name.includes(".") && new Set(rows.values(name)).size >= 3 &&
                     rows.values(name).every((v) => typeof v === "number"))) {
            const others = rows.columns.filter((name) => name.includes(".") && name !== key && rows.varies(name));
            const curves = differing(curvesOf(
                rows.rows, key, "time_ns",
                (row) => [...others.map((name) => `${name}=${rows.get(row, name)}`), rows.get(row, "command")].join(
                    " ")));
            made[1].push(
                draw.plot("Time over " + key, curves, { x: { label: key, log: false }, y: { label: "time, ns" } }));
        }
        return made;
    }

    // -- where the time goes ----------------------------------------------------------------------------

    const BARS = 24;

    // Rows with the same label are one bar: the mean of each part, weighted by `count`.
    function barsOf(label) {
        const bars_ = new Map();

        for (const row of rows.rows) {
            const count = rows.get(row, "count") ?? 1, name = label(row);
            if (!count || name === "saturation")
                continue;
            const bar_ = bars_.get(name) ?? bars_.set(name, { label: name, count: 0, sums: new Map() }).get(name);
            bar_.count += count;
            for (const part of partsOf(rows, row))
                bar_.sums.set(part.cause, (bar_.sums.get(part.cause) ?? 0) + count * part.value);
        }
        return [...bars_.values()]
            .map(({ label: name, count, sums: of }) => ({
                     label: name,
                     parts: [...of].map(
                         ([cause, value]) =>
                             ({ cause, name: CAUSES[cause][0], colour: CAUSES[cause][1], value: value / count }))
                 }))
            .filter((b) => b.parts.length);
    }

    function stacked(title, made, absolute) {
        const sized = made.slice(0, BARS)
                          .map((b) => ({...b, value: total(b.parts), words: fixed(total(b.parts), 2) + " ns" }))
                          .filter((b) => b.value > 0);

        const drawn = (b) => total(b.parts.filter((part) => part.value > 0));
        return sized.length ? draw.stacks(title, sized, absolute ? most(sized.map(drawn)) : 0) : null;
    }

    // The same numbers as the bars, so that nothing is shown by colour alone. The smallest are left out first.
    function partsTable(id, caption, made) {
        const names = [...new Set(made.flatMap((b) => b.parts.map((part) => part.name)))];
        const size = (name) =>
            total(made.flatMap((b) => b.parts).filter((part) => part.name === name).map((part) => ({ value: Math.abs(part.value) })));
        const bySize = [...names].sort((a, b) => size(a) - size(b));

        return table(id, caption, new Frame({
                         columns: ["of", "ns", ...names.map((name) => name + " %")],
                         types: "tn" +
                             "p".repeat(names.length),
                         ranks: [-1, -1, ...names.map((name) => bySize.indexOf(name))],
                         all: made.length,
                         rows: made.map(
                             (b) =>
                                 [b.label, total(b.parts),
                                  ...names.map(
                                      (name) => 100 * (b.parts.find((part) => part.name === name)?.value ?? 0) /
                                          total(b.parts))])
                     }));
    }

    const labels = {
        probe: (row) => rows.get(row, "case"),
        load: (row) => "rate " + rows.show(row, "rate"),
        replay: (row) => rows.get(row, "op"),
        sweep: (row) => `${rows.get(row, "src")} \u2192 ${rows.get(row, "dst")}`,
    };
    const partBars = () => labels[page.command] ? barsOf(labels[page.command]) : [];
    // Once in the page: on the first screen if it has nothing else.
    let isDrawn = false;
    function partsPlot() {
        if (isDrawn)
            return null;
        isDrawn = true;
        return stacked("Mean latency, and its parts", partBars(), page.command === "probe");
    }

    function timeGoes() {
        const ops = [...sums.where("by", "all"), ...sums.where("by", "op")].map(
            (row) => ({ label: sums.get(row, "of") || "all commands", parts: partsOf(sums, row) }));
        const steps = breakdown.where("by", "step"), colours = new Map();
        const items = steps.map((row) => {
            const [lane, ...what] = breakdown.get(row, "of").split(" "), cause = breakdown.get(row, "cause");
            const [name, colour] = CAUSES[cause] ?? ["", "c-wire"];
            colours.set(name, colour);
            return {
                lane,
                colour,
                from: breakdown.get(row, "begin_ns"),
                to: breakdown.get(row, "end_ns"),
                words: `${what.join(" ")}\n${breakdown.show(row, "begin_ns")} to ${
                    breakdown.show(row, "end_ns")} ns\nmost of it: ${name}`
            };
        });
        const lines = kernelPath()?.lines.length ?
            sums.where("by", "path").map((row) => ({ label: sums.get(row, "of"), parts: partsOf(sums, row) })) :
            [];

        if (page.command === "llm")
            return [modelRoofline(), roofBars()];
        if (page.command === "run")
            return [
                items.length ?
                    draw.timeline(
                        "The critical path over time: each step in the colour of its largest cause", items, colours) :
                    null,
                html(
                    "div", { class: "pair" }, stacked("Shares of the time of commands, by operation", ops), roofline()),
                partsTable("lines", "Parts of the critical path, by kernel and line", lines),
                partsTable("sums", "Parts of the time of commands, by operation", ops)
            ];
        const made = partBars();
        return [partsPlot(), partsTable("shares", "Parts of latency", made)];
    }

    // -- from every PE to every memory ------------------------------------------------------------------

    const cubeOf = (name) =>
        name.includes(".pe") || name.includes(".slice") ? name.replace(/\.(pe|slice)\d+$/, "") : name;

    let isMapped = false;  // once in the page, too
    function distanceMap() {
        if (isMapped || !distances)
            return null;
        isMapped = true;
        return draw.map("Zero-load latency of a read: rows are PEs, columns memories", {
            from: distances.from,
            to: distances.to,
            values: distances.mean,
            cube: cubeOf,
            side: distances.from.length
        });
    }

    function distanceFrame() {
        const side = distances.from.length, { mean, best = mean, worst = mean } = distances;
        const part = (values, i) => values.slice(i * side, (i + 1) * side);

        return new Frame({
            columns: ["from", "best_ns", "mean_ns", "worst_ns", "farthest"],
            types: "tnnnt",
            ranks: [-1, -1, -1, -1, 0],
            all: side,
            rows: distances.from.map((name, i) => {
                const far = part(worst, i), high = most(far);
                return [
                    name, least(part(best, i)), part(mean, i).reduce((a, b) => a + b, 0) / side, high,
                    distances.to[far.indexOf(high)]
                ];
            })
        });
    }

    // -- notes, machine, banks ------------------------------------------------------------------------------

    // "rate 0.2: TEXT" and "rate 0.3: TEXT" are one note.
    function mergedNotes() {
        const merged = new Map();

        for (const line of notes) {
            const found = line.match(/^(.*?rate )([\d.]+)(:.*)$/), key = found ? found[1] + found[3] : line;
            merged.set(key, [...merged.get(key) ?? [], found ? found[2] : line]);
        }
        return [...merged].map(([key, [first, ...others]]) => {
            const found =
                notes.find((line) => line.replace(/^(.*?rate )([\d.]+)(:.*)$/, "$1$3") === key && line.includes(first));
            return found + (others.length ? "; also at rate " + others.join(", ") : "");
        });
    }

    function banks() {
        const channels = use.where("kind", "hbm_channel"), slices = use.where("kind", "memory");
        const kinds = [
            ["row hits", "c-drain", "row_hits"], ["row misses", "c-channel", "row_misses"],
            ["row conflicts", "c-memory", "row_conflicts"]
        ];
        const all = (row) => kinds.reduce((sum, [, , column]) => sum + (use.get(row, column) ?? 0), 0);
        const served = slices.filter(all).sort((a, b) => all(b) - all(a));

        if (!served.length)
            return [];
        const conflicts = served.reduce((sum, row) => sum + use.get(row, "row_conflicts"), 0),
              segments = served.reduce((sum, row) => sum + all(row), 0);
        return [
            `${fixed(100 * conflicts / segments, 1)} % of all segments closed another row of their bank${page.when}.`,
            draw.stacks(
                "Segments of each slice by what they found",
                served.slice(0, 16).map(
                    (row) => ({
                        label: place(use.get(row, "name")),
                        value: all(row),
                        words: fixed(100 * use.get(row, "row_conflicts") / all(row), 1) + " % conflicts",
                        parts: kinds.map(([name, colour, column]) => ({ name, colour, value: use.get(row, column) }))
                    })),
                0),
            table(
                "channels", "Channels of memories with banks",
                use.only(channels.sort((a, b) => use.get(b, "row_conflicts") - use.get(a, "row_conflicts"))))
        ];
    }

    return {
        causes,
        kernelPath,
        worth,
        bindsTile,
        curvePlots, loadPlot,
        studyPlots,
        timeGoes,
        distanceMap,
        distanceFrame,
        mergedNotes,
        banks
    };
})();
