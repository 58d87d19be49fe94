// report.js -- a report's page: the machine, the first screen, then the sections.
(() => {
    const { html, svg, text, fixed, short, least, most } = draw;
    const { rows, sums, breakdown, use, place, nameOf, section, tile, ranking, tables, table, data } = report;
    const {
        causes,
        kernelPath,
        worth,
        bindsTile,
        curvePlots,
        loadPlot,
        studyPlots,
        timeGoes,
        distanceMap,
        distanceFrame,
        mergedNotes,
        banks
    } = sections;
    const { page, limits, notes, distances } = data;
    const main = document.getElementById("main");

    // -- the machine ------------------------------------------------------------------------------------

    const pictures =
        new Map([...document.querySelectorAll("#pictures > figure")].map((figure) => [figure.id.slice(8), figure]));
    const PLACE_KINDS = { edge: "link", hbm_channel: "HBM channel", vc: "virtual channel" };

    // The outermost picture that has links, cropped to its components, with numbers at the busiest links.
    function busiestLinks() {
        const [copy, links] = ["system", "sip"]
                                  .filter((name) => pictures.has(name))
                                  .map((name) => {
                                      const drawn = pictures.get(name).querySelector("svg").cloneNode(true);
                                      return [
                                          drawn,
                                          [...drawn.querySelectorAll("g[data-level] g.edge[data-pct]")]
                                              .filter((edge) => Number(edge.dataset.pct) >= 1)
                                              .sort((a, b) => b.dataset.pct - a.dataset.pct)
                                              .slice(0, 5)
                                      ];
                                  })
                                  .sort((a, b) => (b[1].length > 0) - (a[1].length > 0))[0] ??
            [];
        const level = copy?.querySelector("g[data-level]");

        if (!level)
            return null;
        copy.querySelectorAll("[id]").forEach((e) => e.removeAttribute("id"));
        copy.removeAttribute("aria-labelledby");
        copy.setAttribute("aria-label", "The machine" + (use.rows.length ? ", coloured by how busy it was" : ""));
        const figure = html("figure", { class: "map" }, html("div", { class: "picture" }, copy));
        main.append(figure);                                                      // so that it can be measured
        copy.querySelectorAll("text.strong").forEach((label) => label.remove());  // their place is that of the numbers
        const box = level.getBBox(),
              [, dx, dy] = level.getAttribute("transform").match(/translate\(([\d.-]+) ([\d.-]+)/).map(Number);
        const taken = [];
        const R = Math.max(8, box.width / 90);
        links.forEach((edge, i) => {
            const wire = edge.querySelector("path.wire"), middle = wire.getPointAtLength(wire.getTotalLength() / 2);
            const across = edge.getBBox().width >= edge.getBBox().height;
            for (let k = 1; taken.length <= i; k++) {
                const off = R * (0.4 + 1.1 * Math.ceil(k / 2)) * (k % 2 ? -1 : 1);
                const at = { x: middle.x + (across ? 0 : off), y: middle.y + (across ? off : 0) };
                if (taken.every((b) => Math.hypot(b.x - at.x, b.y - at.y) > 2 * R))
                    taken.push(at);
            }
            level.append(
                svg("g", { class: "badge" }, svg("circle", { cx: taken[i].x, cy: taken[i].y, r: R }),
                    text(
                        taken[i].x, taken[i].y + R * 0.4, String(i + 1),
                        { "text-anchor": "middle", style: `font-size:${R * 1.2}px` })));
        });
        const view = [box.x + dx - 4, box.y + dy - 4, box.width + 8, box.height + 8];
        copy.setAttribute("viewBox", view.map((v) => v.toFixed(2)).join(" "));
        copy.setAttribute("width", "100%");
        copy.removeAttribute("height");
        copy.style.maxHeight = "24rem";
        copy.style.aspectRatio = `${view[2]} / ${view[3]}`;
        figure.remove();
        const list = links.map((edge) => {
            const name = `${edge.dataset.from} -> ${edge.dataset.to}`;
            const row = use.where("name", name)[0];
            return {
                name: place(name),
                pct: row ? use.get(row, "util_pct") : Number(edge.dataset.pct),
                colour: "c-link",
                words: row && use.get(row, "queue_max") ?
                    `queue of ${use.show(row, "queue_mean")} on average, ${use.get(row, "queue_max")} at most` :
                    ""
            };
        });
        return [
            figure, html("div", { class: "links" }, ranking(`The busiest links${page.when}`, list)),
            ranking("The busiest of each other kind", busiestKinds())
        ];
    }

    function busiestKinds() {
        const kinds = [...new Set(use.values("kind"))].filter((kind) => !["edge", "vc", "hbm_channel"].includes(kind));

        return kinds.map((kind) => use.only(use.where("kind", kind)).best("util_pct"))
            .filter((row) => row && use.get(row, "util_pct") >= 1)
            .map((row) => ({
                     pct: use.get(row, "util_pct"),
                     name: use.get(row, "kind"),
                     words: place(use.get(row, "name")),
                     colour: "c-overhead"
                 }))
            .sort((a, b) => b.pct - a.pct);
    }

    // The busiest place; DMA channels do not count, which are held while transactions wait elsewhere.
    function busiestTile() {
        const first = use.rows.find((row) => use.get(row, "kind") !== "channel"),
              pct = first && use.get(first, "util_pct");

        if (!pct)
            return null;
        const like = use.rows.filter((row) => use.get(row, "util_pct") === pct).length - 1;
        const kind = use.get(first, "kind");
        return tile(
            `busiest ${PLACE_KINDS[kind] ?? kind}${page.when}`, fixed(pct, 1), "%",
            place(use.get(first, "name")) + (like ? `, and ${like} more that are as busy` : "") +
                (pct > 100 ? "; ideal links do not queue" : ""),
            pct);
    }

    // -- the first screen, by command -----------------------------------------------------------------------

    const summaries = {
        llm() {
            const t = data.rows.totals?.[0], ms = (value) => fixed(value, 3);

            return t ? {
                tiles: [
                    t.ttft_ms === null ? null :
                                         tile("time to the first token", ms(t.ttft_ms), "ms", `batch ${t.batch}`),
                    t.tpot_ms === null ? null :
                                         tile("time of a token", ms(t.tpot_ms), "ms",
                                              `${short(t.tokens_per_s)} tokens a second, batch ${t.batch}`)
                ],
                left: []
            } :
                       null;
        },
        run() {
            const path = kernelPath(), longest = rows.best("kernel_ns"), launches = rows.rows.length;
            const get = (name) => rows.get(longest, name), words = (name) => rows.show(longest, name);

            if (!longest)
                return null;
            const peak = get("peak_pct"), gbs = get("gbs"),
                  memoryPct = gbs === null ? null : 100 * gbs / limits.memory_gbs;
            const verify = get("verify");
            return {
                tiles: [
                    tile(
                        launches > 1 ? "longest kernel" : "kernel time", words("kernel_ns"), "ns",
                        `${get("kernel")} on ${get("pes")} PEs; ${words("total_ns")} ns with launch and response` +
                            (launches > 1 ? `; ${launches} launches` : "") +
                            (verify && verify !== "off" ? `; verify: ${verify}` : "")),
                    peak === null ? null :
                                    tile("of the peak", words("peak_pct"), "%", words("tflops") + " TFLOP/s", peak),
                    memoryPct === null ?
                        null :
                        tile(
                            "of the memories' bandwidth", fixed(memoryPct, 1), "%",
                            `${words("gbs")} of ${short(limits.memory_gbs)} GB/s` +
                                (get("ops_per_byte") ? `; ${words("ops_per_byte")} operations a byte` : ""),
                            memoryPct),
                    bindsTile(path?.causes[0], "the critical path"), busiestTile()
                ],
                left: path ?
                    [
                        ranking(`What the critical path of ${path.kernel} is made of`, path.causes.slice(0, 5)),
                        ranking(
                            path.several ? "Lines of the kernels on their critical paths" : "Lines of the kernel on it",
                            path.lines.slice(0, 4), worth(`why ${page.subject}`))
                    ] :
                    [ranking(
                        "What the time of all commands is made of",
                        sums.rows.length ? causes(sums.rows[0], "all").slice(0, 6) : [])],
                right: busiestLinks(),
            };
        },
        replay() {
            const slow = rows.best("actual_ns"), values = rows.values("actual_ns"),
                  made = sums.rows.length ? causes(sums.rows[0], "all") : [];
            const slowest = [...rows.rows]
                                .filter((row) => rows.get(row, "actual_ns") !== null)
                                .sort((a, b) => rows.get(b, "actual_ns") - rows.get(a, "actual_ns"))
                                .slice(0, 4);

            if (!slow)
                return null;
            return {
                tiles: [
                    tile(
                        "last end", fixed(most(rows.values("end_ns")), 2), "ns",
                        `${values.length} of ${rows.all} transactions complete`),
                    tile(
                        "mean latency", fixed(values.reduce((a, b) => a + b, 0) / values.length, 2), "ns",
                        `${rows.show(rows.best("actual_ns", -1), "actual_ns")} at least, ${
                            rows.show(slow, "actual_ns")} at most`),
                    bindsTile(made[0], "all time"), busiestTile()
                ],
                left: [
                    ranking(
                        "What the latencies are made of", made.slice(0, 5),
                        "\u201cwhy\u201d of the same file measures what each limit costs."),
                    ranking(
                        "The slowest transactions",
                        slowest.map((row) => ({
                                        name: nameOf(row),
                                        pct: 100 * rows.get(row, "actual_ns") / rows.get(slow, "actual_ns"),
                                        words: rows.show(row, "actual_ns") + " ns",
                                        colour: "c-overhead"
                                    })),
                        "Shares of the slowest one.")
                ],
                right: busiestLinks(),
            };
        },
        load() {
            const at = rows.best("saturation_rate") ?? rows.best("rate"), accepted = rows.best("accepted_gbs");
            const calm = rows.rows.filter((row) => rows.get(row, "mean_ns") !== null),
                  first = rows.only(calm).best("rate", -1);

            return {
                tiles: [
                    at && rows.get(at, "saturation_rate") !== null ?
                        tile(
                            "saturates at rate", rows.show(at, "saturation_rate"), "",
                            notes.find((line) => /saturation/.test(line))) :
                        tile(
                            "saturates at rate", "none", "",
                            notes.find((line) => /saturat/.test(line)) ?? "no rate of the list saturates the machine"),
                    accepted ? tile(
                                   "most accepted", rows.show(accepted, "accepted_gbs"), "GB/s",
                                   `at rate ${rows.show(accepted, "rate")}, where ${
                                       rows.show(accepted, "offered_gbs")} are offered`,
                                   100 * rows.get(accepted, "accepted_gbs") / rows.get(accepted, "offered_gbs")) :
                               null,
                    first ? tile(
                                "mean latency", rows.show(first, "mean_ns"), "ns",
                                `at ${nameOf(first)}; ${rows.show(first, "p99_ns")} ns for 99 %` +
                                    (rows.has("zero_load_ns") ? `; ${rows.show(first, "zero_load_ns")} alone` : "")) :
                                                                null,
                    busiestTile()
                ],
                left: loadPlot(calm),
                right: busiestLinks(),
            };
        },
        sweep: () => extremes("mean_ns", "gbs"),
        probe: () => extremes("actual_ns", "eff_bw_gbs"),
        study() {
            const gains = rows.rows.filter((row) => rows.get(row, "gain_pct") !== null), best = rows.best("gain_pct"),
                  front = rows.where("on_front", 1);

            return best ? {
                tiles: [
                    tile(
                        "best gain", rows.show(best, "gain_pct"), "%",
                        `${rows.get(best, "variant")}: ${rows.show(best, "time_ns")} ns`,
                        Math.max(0, rows.get(best, "gain_pct"))),
                    tile(
                        "faster than the base", gains.filter((row) => rows.get(row, "gain_pct") > 0).length,
                        "of " + gains.length,
                        rows.rows.length > gains.length ? `${rows.rows.length - gains.length} without a result` :
                                                          "variants and commands"),
                    front.length ? tile(
                                       "on the Pareto front", front.length, "",
                                       front.slice(0, 3).map((row) => rows.get(row, "variant")).join(", ") +
                                           (front.length > 3 ? ", ..." : "")) :
                                   null,
                    rows.get(best, "bound") ? tile(
                                                  "then binds", rows.show(best, "bound_pct"), "%",
                                                  place(rows.get(best, "bound")), rows.get(best, "bound_pct")) :
                                              null
                ],
                left: studyPlots()[0],
                right: studyPlots()[1],
            } :
                          null;
        },
        why() {
            const times = {
                kernel_ns: "kernel time",
                mean_ns: "mean latency",
                time_ns: "time of a token, or of prompts"
            };
            const key = rows.columns[0], time = Object.keys(times).find((name) => rows.has(name)), base = rows.rows[0],
                  best = rows.only(rows.rows.slice(1)).best("saved_pct");
            const others = rows.rows.slice(1, 31).map((row) => ({
                                                          label: String(rows.get(row, key)).replace(/\s+/g, " "),
                                                          value: rows.get(row, "saved_pct") ?? 0,
                                                          words: rows.show(row, "saved_pct") + " %",
                                                          bad: rows.get(row, "saved_pct") < 0
                                                      }));

            return base ? {
                tiles: [
                    tile(times[time], rows.show(base, time), "ns", "as the machine is"),
                    best ? tile(
                               "most saved", rows.show(best, "saved_pct"), "%",
                               `${key === "removed" ? "without " : "by "}${rows.get(best, key)}: ${
                                   rows.show(best, time)} ns`,
                               rows.get(best, "saved_pct")) :
                           null
                ],
                left: others.length ?
                    draw.bars(
                        key === "removed" ? "Time saved without a limit, %" : "Time saved by a better key, %", others) :
                    null,
                right: busiestLinks(),
            } :
                          null;
        },
    };

    function extremes(latency, throughput) {
        const low = rows.best(latency, -1), high = rows.best(latency), fast = rows.best(throughput);

        return low ? {
            tiles: [
                tile("lowest latency", rows.show(low, latency), "ns", nameOf(low)),
                tile("highest latency", rows.show(high, latency), "ns", nameOf(high)),
                fast ? tile("highest throughput", rows.show(fast, throughput), "GB/s", nameOf(fast)) : null,
                tile(page.command === "sweep" ? "points" : "cases", rows.all, "", keysThatVary())
            ],
            ...curvePlots(),
        } :
                     null;
    }
    const keysThatVary = () => ["src", "dst", "nbytes", "inflight", "op"]
                                   .filter((name) => rows.varies(name))
                                   .map((name) => `${new Set(rows.values(name)).size} ${name}`)
                                   .join(", ");

    // -- the page ---------------------------------------------------------------------------------------

    function themes(button) {
        const names = ["system", "light", "dark"];
        let at = 0;
        const set = (name) => {
            at = Math.max(names.indexOf(name), 0);
            if (at > 0)
                document.documentElement.dataset.theme = names[at];
            else
                delete document.documentElement.dataset.theme;
            button.textContent = "Theme: " + names[at];
        };

        try {
            set(localStorage.getItem("kernbench-theme"));
        } catch {  // a browser may refuse storage to a file
            set("system");
        }
        button.hidden = false;
        button.addEventListener("click", () => {
            set(names[(at + 1) % names.length]);
            try {
                localStorage.setItem("kernbench-theme", names[at]);
            } catch {
                // then the choice lasts until the page is closed
            }
        });
    }

    function copies(button, code) {
        button.hidden = false;
        button.addEventListener("click", async () => {
            try {
                await navigator.clipboard.writeText(code.textContent);
                button.textContent = "Copied";
            } catch {  // not allowed: select it instead
                getSelection().selectAllChildren(code);
                button.textContent = "Selected";
            }
        });
    }

    function contents() {
        const links_ = [...main.querySelectorAll(":scope > section")].map(
            (made) => html("li", {}, html("a", { href: "#" + made.id }, made.querySelector("h2").textContent)));
        main.before(html("nav", { "aria-label": "Contents" }, html("ol", {}, links_)));
    }

    function putSections() {
        const summary = summaries[page.command]?.() ?? null, lines = mergedNotes();
        const noted = lines.length ? html(
                                         "div", { id: "notes" }, html("h3", {}, "Notes"),
                                         html("ul", {}, lines.map((line) => html("li", {}, line)))) :
                                     null;

        section(
            "summary", "At a glance", data.deadlock ?? null,
            summary ? html("dl", { class: "tiles" }, summary.tiles) : null,
            summary ? html(
                          "div", { class: "pair" }, html("div", {}, summary.left),
                          summary.right ? html("div", {}, summary.right) : null) :
                      null,
            noted);
        if (page.command !== "why" && page.command !== "study" && !data.deadlock)
            section("causes", "Where the time goes", null, timeGoes());
        section(
            "results", "Results", null,
            table("rows", data.deadlock ? "Deadlocked commands" : "Rows of the results", rows));
        section(
            "breakdown", "Causes, places, and what was ahead", null,
            table("why", "Time by cause and place; pct is of what column \u201cof\u201d names", breakdown));
        section(
            "machine", "The machine",
            use.rows.length ?
                `Coloured by how busy each part was${page.when}; closer views are of where it was busiest.` :
                `${limits.pes} PEs and ${limits.slices} HBM slices.`,
            [...pictures].filter(([name]) => !name.startsWith("buffers")).map(([, figure]) => figure));
        section(
            "buffers", "Buffers of routers",
            `Coloured by how full they were${page.when}, in the mean: of each router its fullest one.`,
            [...pictures].filter(([name]) => name.startsWith("buffers")).map(([, figure]) => figure));
        section(
            "busy", "How busy it was", `What carried traffic${page.when}, the busiest first.`,
            table("use", "Memories, channels, engines, ports, links", use));
        section("banks", "Rows of memories", ...banks());
        if (distances)
            section(
                "distances", "From every PE to every memory",
                `A read of ${distances.bytes} bytes, alone on the machine, takes ${
                    fixed(least(distances.best ?? distances.mean), 2)} to ` +
                    `${fixed(most(distances.worst ?? distances.mean), 2)} ns.` +
                    (distances.every > 1 ? ` The map shows one cube in ${distances.every}.` : ""),
                html(
                    "div", { class: "pair" }, distanceMap(),
                    table("nearest", "Latency from each row of the map", distanceFrame())));
        section(
            "config", "Configuration", null,
            html(
                "details", {},
                html("summary", {}, "All keys, with their defaults: " + (data.rows?.topology?.hash ?? "")),
                html("pre", { tabindex: 0 }, data.rows?.topology?.config ?? "")));
    }

    // Arguments of a bench, also those that have their default.
    const args = Object.entries(data.rows?.args ?? {}).map(([name, value]) => `${name}=${value}`).join(" ");
    if (args)
        document.getElementById("facts").append(html("div", {}, html("dt", {}, "arguments"), html("dd", {}, args)));
    putSections();
    document.getElementById("pictures").remove();
    contents();
    themes(document.getElementById("theme"));
    copies(document.getElementById("copy"), document.getElementById("command"));
    const fitAll = () => tables.forEach((made) => made.fit());
    let width_ = 0;
    new ResizeObserver(() => {
        if (main.clientWidth !== width_)
            fitAll();
        width_ = main.clientWidth;
    }).observe(main);
    fitAll();
    addEventListener("beforeprint", () => {
        document.body.style.width = "1040px";
        fitAll();
    });
    addEventListener("afterprint", () => {
        document.body.style.width = "";
        fitAll();
    });
    for (const box of document.querySelectorAll(".picture, .scroll"))
        new ResizeObserver(() => box.parentElement.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1))
            .observe(box);
})();
