// report.js -- makes a report's page of its data: the answers first, then plots, tables, the machine.
(() => {
    const { html, svg, text, fixed, shown, short, decimalsOf, least, most } = draw;
    const data = JSON.parse(document.getElementById("data").textContent);
    const { page, limits, notes, distances } = data;
    const main = document.getElementById("main");
    const ROWS_SHOWN = 100, ROWS_MORE = 1000;

    // -- rows by the names of their columns ---------------------------------------------------------

    class Frame {
        constructor(table) {
            Object.assign(this, { columns: [], rows: [], types: "", ranks: [], all: 0 }, table);
            this.index = new Map(this.columns.map((name, i) => [name, i]));
        }
        has(name) { return this.index.has(name); }
        get(row, name) { return this.index.has(name) ? row[this.index.get(name)] : null; }
        show(row, name) { return shown(this.get(row, name), this.types[this.index.get(name)]); }
        values(name) { return this.rows.map((row) => this.get(row, name)).filter((value) => value !== null); }
        varies(name) { return new Set(this.values(name)).size > 1; }
        // The row with the largest (sign 1) or least (-1) value; undefined: no row has one.
        best(name, sign = 1) {
            return this.rows.reduce((found, row) => this.get(row, name) !== null && (found === undefined ||
                sign * this.get(row, name) > sign * this.get(found, name)) ? row : found, undefined);
        }
        where(name, value) { return this.rows.filter((row) => this.get(row, name) === value); }
        // The same columns, fewer rows.
        only(rows) { return new Frame({ ...this, rows, all: rows.length }); }
    }
    const rows = new Frame(data.rows), sums = new Frame(data.sums);
    const breakdown = new Frame(data.breakdown), use = new Frame(data.use);

    // -- names of places: "c1 > c2", "c1: noc > ucie-E", "c0.slice3", as place_text.c has them -------

    function end(name) {
        return name.replace(/^sip0\./, "").replace(/^sip(\d+)\b/, "s$1").replace(/\bcube(\d+)\b/, "c$1").replace("hbm_ctrl.", "");
    }
    function place(name) {
        const [from, to] = name.split(" -> ").map(end);
        const cube = (part) => part.replace(/\.[^.]*$/, "");

        if (to === undefined)
            return from;
        if (/\.ucie-[NESW]$/.test(from) && /\.ucie-[NESW]/.test(to))
            return `${cube(from)} \u2192 ${cube(to)}`;
        return cube(from) === cube(to) ? `${cube(from)}: ${from.slice(cube(from).length + 1)} \u2192 ${to.slice(cube(to).length + 1)}`
                                       : `${from} \u2192 ${to}`;
    }
    const PLACES = new Set(["name", "place", "behind", "of", "busiest_link", "busiest_memory"]);

    // A row by the columns that tell it apart: "c0.pe0 > c0.slice0, 4096 bytes", "rate 0.8".
    function nameOf(row) {
        const get = (name) => rows.get(row, name);

        if (get("rate") !== null)
            return "rate " + get("rate");
        return [get("id") === null ? [] : "id " + get("id"), get("case") ?? [], `${get("src")} \u2192 ${get("dst")}`,
                get("nbytes") + " bytes", rows.varies("inflight") ? get("inflight") + " at once" : []].flat().join(", ");
    }

    // -- causes of time: name, colour, what of the machine is behind it -------------------------------

    const memory = ["cube.hbm.bw_gbs", "cube.noc.bw_gbs"];
    const links = (at) => /xbar/.test(at) ? ["cube.xbar.pe_gbs", "cube.xbar.chain_gbs"] : /bridge/.test(at) ? ["cube.bridge.bw_gbs"] :
        /io/.test(at) ? ["sip.io.link.bw_gbs", "sip.io.shore.bw_gbs"] : ["sip.d2d.bw_gbs", "cube.noc.bw_gbs", "cube.noc.mesh.bw_gbs"];
    const engine = (at) => /gemm/.test(at) ? ["cube.pe.pe_gemm.mac", "cube.pe.pe_gemm.clock_ghz"] :
        /math/.test(at) ? ["cube.pe.pe_math.lanes", "cube.pe.pe_math.clock_ghz"] : ["cube.m_cpu.dma_read", "cube.m_cpu.dma_write"];
    const port = (at) => /write/.test(at) ? ["cube.pe.pe_tcm.write_gbs"] : ["cube.pe.pe_tcm.read_gbs"];
    const CAUSES = {
        overhead: ["overhead of nodes", "c-overhead", () => ["cube.ucie.overhead_ns", "cube.xbar.overhead_ns"]],
        wire: ["wire", "c-wire", () => ["ns_per_mm"]],
        drain: ["bytes at the bottleneck", "c-drain", () => memory],
        response: ["response", "c-response", () => []],
        channel_wait: ["wait for a DMA channel", "c-channel", (at) => [`cube.pe.pe_dma.${/write/.test(at) ? "write" : "read"}_channels`]],
        engine_wait: ["wait for an engine", "c-engine", engine],
        link_wait: ["wait for a link", "c-link", links],
        memory_wait: ["wait for a memory", "c-memory", () => memory.slice(0, 1)],
        port_wait: ["wait for a TCM port", "c-queue-port", port],
        port: ["bytes through a TCM port", "c-port", port],
        compute: ["compute", "c-compute", engine],
        dispatch: ["dispatch of commands", "c-dispatch", () => ["cube.pe.pe_cpu.overhead_ns", "cube.pe.pe_scheduler.overhead_ns"]],
        queue_wait: ["wait for other PEs", "c-queue-pe", () => ["cube.pe.pe_ipcq.slots"]],
        barrier_wait: ["wait at a barrier", "c-barrier", () => []],
        refresh_wait: ["wait for a refresh", "c-barrier", () => ["cube.hbm.timing_ns.rfc"]],
        row_wait: ["wait for a row", "c-queue-pe", () => ["cube.hbm.map"]],
        bus_wait: ["wait for the memory's bus", "c-queue-port", () => ["cube.hbm.channels"]],
        return: ["way back of data", "c-response", () => []],
        router_wait: ["wait in a router", "c-link", () => ["contention.vcs", ...links("")]],
        credit_wait: ["wait for buffer room", "c-engine", () => ["contention.buffer_bytes"]],
        kernel: ["kernel", "c-drain", () => []],
        launch: ["launch and response", "c-overhead", () => []],
    };
    // The column of a cause in sums, rows of replay, load, sweep and probe.
    const COLUMN_OF = { channel_wait: "queue_channel_ns", engine_wait: "queue_engine_ns", link_wait: "queue_link_ns",
                        memory_wait: "queue_memory_ns", port_wait: "queue_port_ns", queue_wait: "queue_pe_ns", barrier_wait: "barrier_ns",
                        refresh_wait: "queue_refresh_ns", row_wait: "queue_row_ns", bus_wait: "queue_bus_ns",
                        router_wait: "queue_router_ns", credit_wait: "queue_credit_ns" };
    const columnOf = (cause) => COLUMN_OF[cause] ?? cause + "_ns";

    // Keys of the machine with their values, of its YAML: "cube.hbm.bw_gbs" -> "256.0".
    const keys = new Map();
    const path = [];
    for (const [, indent, key, value] of (data.rows?.topology?.config ?? "").matchAll(/^( *)([\w.]+): ?(.*)$/gm)) {
        path.splice(indent.length / 2, 9, key);
        if (value)
            keys.set(path.join("."), value);
    }

    // The parts of a row of `frame`, in ns.
    function partsOf(frame, row) {
        return Object.keys(CAUSES).filter((cause) => frame.get(row, columnOf(cause))).map((cause) =>
            ({ cause, name: CAUSES[cause][0], colour: CAUSES[cause][1], value: frame.get(row, columnOf(cause)) }));
    }
    const total = (parts) => parts.reduce((sum, part) => sum + part.value, 0);

    // -- elements of the page ---------------------------------------------------------------------------

    function section(id, title, lead, ...content) {
        const made = html("section", { id }, html("h2", {}, title), lead ? html("p", { class: "lead" }, lead) : null, ...content);

        if (content.flat().some(Boolean))
            main.append(made);
    }

    // A key figure; `share` in per cent draws a bar.
    function tile(label, value, unit, detail, share) {
        return html("div", { class: "tile" }, html("dt", {}, label),
            html("dd", {}, html("span", { class: "figure" }, value), unit ? html("span", { class: "unit" }, " " + unit) : null,
                share === undefined || share === null ? null : bar(share),
                html("span", { class: "detail" }, detail ?? "")));
    }
    function bar(pct, colour = "c-accent") {
        const drawn = svg("svg", { class: "kb meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("rect", { class: "track", width: 100, height: 6 }),
            svg("rect", { class: colour, width: Math.max(0, Math.min(pct, 100)), height: 6 }));
        return drawn;
    }

    // A list of shares, the largest first: {name, pct, words, colour, keys}.
    function ranking(title, items, note) {
        if (!items.length)
            return null;
        return html("div", { class: "ranking" }, html("h3", {}, title), html("ol", {}, items.map((item) => html("li", {},
            html("span", { class: "share" }, fixed(item.pct, 1) + " %"), html("div", {},
                html("strong", {}, item.name), item.words ? html("span", { class: "detail" }, " " + item.words) : null,
                bar(item.pct, item.colour),
                item.keys?.length ? html("span", { class: "detail" }, "to try: ", item.keys.map((key, i) =>
                    [i ? ", " : "", html("code", {}, `${key}: ${keys.get(key)}`)])) : null)))),
            note ? html("p", { class: "detail" }, note) : null);
    }

    // -- tables ---------------------------------------------------------------------------------------

    function compare(a, b) {
        return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    }

    // Columns without a value are left out; those with one value for all rows are said above the
    // table; of the rest those stay for which there is room, by their ranks.
    class Table {
        constructor(id, caption, frame) {
            Object.assign(this, { id, frame, column: -1, descending: false, limit: ROWS_SHOWN, shownColumns: [] });
            this.input = html("input", { type: "search", placeholder: "words", "aria-label": "Filter: " + caption, "aria-controls": id });
            this.digits = html("input", { type: "checkbox" });
            this.every = html("input", { type: "checkbox" });
            this.output = html("output");
            this.more = html("button", { type: "button", class: "more", hidden: true }, "More rows");
            this.same = html("p", { class: "same" });
            this.head = html("tr");
            this.body = html("tbody");
            this.table = html("table", { id }, html("caption", {}, caption), html("thead", {}, this.head), this.body);
            this.scroll = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, this.table);
            this.box = html("div", { class: "rows" }, html("div", { class: "tools" },
                html("label", {}, "Filter ", this.input), html("label", {}, this.digits, " all digits"),
                html("label", {}, this.every, " all columns"), this.output), this.same, this.scroll, this.more);
            this.input.addEventListener("input", () => this.show());
            this.digits.addEventListener("change", () => this.show());
            this.every.addEventListener("change", () => this.fit());
            this.more.addEventListener("click", () => { this.limit += ROWS_MORE; this.show(); });
            this.find();
        }
        // Columns with values that differ, and what is the same in all rows.
        find() {
            const { columns, rows: all } = this.frame;
            const kinds = columns.map((_, c) => new Set(all.slice(0, 2000).map((row) => row[c])));

            this.full = columns.map((_, c) => c).filter((c) => all.length < 2 ? all[0]?.[c] !== null : kinds[c].size > 1);
            const fixedOnes = columns.map((_, c) => c).filter((c) => all.length > 1 && kinds[c].size === 1 && all[0][c] !== null && all[0][c] !== 0);
            this.same.textContent = fixedOnes.length ? "The same in all rows: " +
                fixedOnes.map((c) => `${columns[c]} ${this.words(all[0], c)}`).join(", ") + "." : "";
            if (!this.full.length)
                this.full = columns.map((_, c) => c);
        }
        cell(row, c) { return shown(row[c], this.frame.types[c], this.digits.checked); }
        isPlace(c) { return PLACES.has(this.frame.columns[c]) && !this.isNumber(c); }
        words(row, c) { return this.isPlace(c) && row[c] !== null ? place(row[c]) : this.cell(row, c); }
        isNumber(c) { return this.frame.types[c] !== "t"; }
        heads() {
            this.head.replaceChildren(...this.shownColumns.map((c) => {
                const button = html("button", { type: "button" }, this.frame.columns[c].split(/(?<=_)/).flatMap(
                    (part, i) => i ? [html("wbr"), part] : [part]));
                const order = c !== this.column ? "none" : this.descending ? "descending" : "ascending";
                button.addEventListener("click", () => this.sort(c));
                return html("th", { scope: "col", class: this.isNumber(c) ? "n" : undefined, "aria-sort": order }, button);
            }));
        }
        // As many columns as there is room for; all are measured once, then left out by rank.
        fit() {
            this.shownColumns = this.every.checked ? this.frame.columns.map((_, c) => c) : this.full;
            this.heads();
            this.show();
            if (this.every.checked)
                return;
            this.table.classList.add("measured");
            const width = new Map([...this.head.cells].map((cell, i) => [this.shownColumns[i], cell.offsetWidth]));
            this.table.classList.remove("measured");
            const order = [...this.full].reverse().filter((c) => this.frame.ranks[c] >= 0)
                .sort((a, b) => this.frame.ranks[a] - this.frame.ranks[b]);
            let sum = [...width.values()].reduce((a, b) => a + b, 0);
            const gone = new Set();
            while (sum > this.scroll.clientWidth && order.length) {
                const c = order.shift();
                sum -= width.get(c);
                gone.add(c);
            }
            if (gone.size) {
                this.shownColumns = this.full.filter((c) => !gone.has(c));
                this.heads();
                this.show();
            }
        }
        sort(column) {
            this.descending = column === this.column && !this.descending;
            this.column = column;
            [...this.head.cells].forEach((head, i) => head.setAttribute("aria-sort",
                this.shownColumns[i] !== column ? "none" : this.descending ? "descending" : "ascending"));
            this.show();
        }
        sorted() {
            const at = this.column, way = this.descending ? -1 : 1;

            if (at < 0)
                return this.frame.rows;
            return [...this.frame.rows].sort((a, b) => a[at] === null || b[at] === null
                ? (a[at] === null) - (b[at] === null) : way * compare(a[at], b[at]));
        }
        show() {
            const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
            const found = this.sorted().filter((row) => !words.length || words.every((word) =>
                row.some((_, c) => this.cell(row, c).toLowerCase().includes(word))));

            this.body.replaceChildren(...found.slice(0, this.limit).map((row) => html("tr", {}, this.shownColumns.map((c) => {
                return html("td", { class: this.isNumber(c) ? "n" : undefined, title: this.isPlace(c) ? this.cell(row, c) : undefined },
                            this.words(row, c));
            }))));
            const { all, rows: kept, columns } = this.frame;
            const hidden = this.full.length - this.shownColumns.length;
            this.more.hidden = found.length <= this.limit;
            this.output.textContent = `${found.length} of ${kept.length} rows` +
                (found.length > this.limit ? `, the first ${this.limit} are shown` : "") +
                (kept.length < all ? `; the page has the first ${kept.length} of ${all}` : "") +
                (hidden > 0 ? `; ${this.shownColumns.length} of ${columns.length} columns` : "");
        }
    }

    const tables = [];
    function table(id, caption, frame) {
        if (!frame.rows.length)
            return null;
        tables.push(new Table(id, caption, frame));
        return tables.at(-1).box;
    }

    // -- the machine ------------------------------------------------------------------------------------

    const pictures = new Map([...document.querySelectorAll("#pictures > figure")].map((figure) => [figure.id.slice(8), figure]));
    const PLACE_KINDS = { edge: "link", hbm_channel: "HBM channel", vc: "virtual channel" };

    // The outermost picture that has links, cropped to its components, with numbers at the busiest links.
    function busiestLinks() {
        const [copy, links] = ["system", "sip"].filter((name) => pictures.has(name)).map((name) => {
            const drawn = pictures.get(name).querySelector("svg").cloneNode(true);
            return [drawn, [...drawn.querySelectorAll("g[data-level] g.edge[data-pct]")].filter((edge) => Number(edge.dataset.pct) >= 1)
                .sort((a, b) => b.dataset.pct - a.dataset.pct).slice(0, 5)];
        }).sort((a, b) => (b[1].length > 0) - (a[1].length > 0))[0] ?? [];
        const level = copy?.querySelector("g[data-level]");

        if (!level)
            return null;
        copy.querySelectorAll("[id]").forEach((e) => e.removeAttribute("id"));
        copy.removeAttribute("aria-labelledby");
        copy.setAttribute("aria-label", "The machine" + (use.rows.length ? ", coloured by how busy it was" : ""));
        const figure = html("figure", { class: "map" }, html("div", { class: "picture" }, copy));
        main.append(figure); // so that it can be measured
        copy.querySelectorAll("text.strong").forEach((label) => label.remove()); // their place is that of the numbers
        const box = level.getBBox(), [, dx, dy] = level.getAttribute("transform").match(/translate\(([\d.-]+) ([\d.-]+)/).map(Number);
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
            level.append(svg("g", { class: "badge" }, svg("circle", { cx: taken[i].x, cy: taken[i].y, r: R }),
                text(taken[i].x, taken[i].y + R * 0.4, String(i + 1), { "text-anchor": "middle", style: `font-size:${R * 1.2}px` })));
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
            return { name: place(name), pct: row ? use.get(row, "util_pct") : Number(edge.dataset.pct), colour: "c-link",
                     words: row && use.get(row, "queue_max") ? `queue of ${use.show(row, "queue_mean")} on average, ${use.get(row, "queue_max")} at most` : "" };
        });
        return [figure, html("div", { class: "links" }, ranking(`The busiest links${page.when}`, list)), ranking("The busiest of each other kind", busiestKinds())];
    }

    function busiestKinds() {
        const kinds = [...new Set(use.values("kind"))].filter((kind) => !["edge", "vc", "hbm_channel"].includes(kind));

        return kinds.map((kind) => use.only(use.where("kind", kind)).best("util_pct")).filter((row) => row && use.get(row, "util_pct") >= 1)
            .map((row) => ({ pct: use.get(row, "util_pct"), name: use.get(row, "kind"), words: place(use.get(row, "name")), colour: "c-overhead" }))
            .sort((a, b) => b.pct - a.pct);
    }

    // The busiest place; DMA channels do not count, which are held while transactions wait elsewhere.
    function busiestTile() {
        const first = use.rows.find((row) => use.get(row, "kind") !== "channel"), pct = first && use.get(first, "util_pct");

        if (!pct)
            return null;
        const like = use.rows.filter((row) => use.get(row, "util_pct") === pct).length - 1;
        const kind = use.get(first, "kind");
        return tile(`busiest ${PLACE_KINDS[kind] ?? kind}${page.when}`, fixed(pct, 1), "%",
            place(use.get(first, "name")) + (like ? `, and ${like} more that are as busy` : "") + (pct > 100 ? "; ideal links do not queue" : ""), pct);
    }

    // -- what takes the time ------------------------------------------------------------------------------

    // Causes of what rows `by`, `of` of the breakdown are of, with the places where most of each was.
    function causes(row, by, of) {
        const parts = partsOf(sums, row).filter((part) => part.value > 0).sort((a, b) => b.value - a.value), all = total(parts);
        const places = breakdown.where("by", by).filter((r) => by === "all" || breakdown.get(r, "of") === of);

        return parts.map((part) => {
            const where = places.find((r) => breakdown.get(r, "cause") === part.cause && breakdown.get(r, "place")) ??
                breakdown.where("by", "wait").find((r) => breakdown.get(r, "cause") === part.cause);
            const at = where ? breakdown.get(where, "place") ?? "" : "";
            return { ...part, pct: 100 * part.value / all, at, words: `${fixed(part.value, 2)} ns` + (at ? `, most at ${place(at)}` : ""),
                     keys: CAUSES[part.cause][2](at).filter((key) => keys.has(key)) };
        });
    }

    const isLine = (of) => /^\S+ .*:\d+$/.test(of);

    // Of `run`: the critical path of each kernel, by cause and by line.
    function kernelPath() {
        const all = sums.where("by", "path"), kernels = all.filter((row) => !isLine(sums.get(row, "of")));
        const longest = kernels.reduce((a, b) => !a || total(partsOf(sums, b)) > total(partsOf(sums, a)) ? b : a, undefined);

        if (!longest)
            return null;
        const kernel = sums.get(longest, "of"), whole = total(partsOf(sums, longest));
        const lines = all.filter((row) => isLine(sums.get(row, "of"))).map((row) => {
            const parts = partsOf(sums, row).sort((a, b) => b.value - a.value), [call, ...where] = sums.get(row, "of").split(" ");
            return { name: where.join(" "), pct: 100 * total(parts) / (kernels.length > 1 ? total(kernels.flatMap((k) => partsOf(sums, k))) : whole),
                     colour: parts[0]?.colour, words: `${call}: ${fixed(total(parts), 2)} ns, most of it ${parts[0]?.name ?? ""}` };
        }).sort((a, b) => b.pct - a.pct);
        return { kernel, causes: causes(longest, "path", kernel), lines, several: kernels.length > 1 };
    }

    const worth = (command) => `The critical path is the chain of steps that the end waited for. \u201c${command}\u201d measures what each limit costs.`;

    function bindsTile(cause, of) {
        return cause ? tile("what binds", fixed(cause.pct, 1), "%", `of ${of} is ${cause.name}${cause.at ? ", most at " + place(cause.at) : ""}`, cause.pct)
                     : null;
    }

    // -- the first screen, by command -----------------------------------------------------------------------

    const summaries = {
        run() {
            const path = kernelPath(), longest = rows.best("kernel_ns"), launches = rows.rows.length;
            const get = (name) => rows.get(longest, name), words = (name) => rows.show(longest, name);

            if (!longest)
                return null;
            const peak = get("peak_pct"), gbs = get("gbs"), memoryPct = gbs === null ? null : 100 * gbs / limits.memory_gbs;
            const verify = get("verify");
            return {
                tiles: [tile(launches > 1 ? "longest kernel" : "kernel time", words("kernel_ns"), "ns",
                        `${get("kernel")} on ${get("pes")} PEs; ${words("total_ns")} ns with launch and response` +
                        (launches > 1 ? `; ${launches} launches` : "") + (verify && verify !== "off" ? `; verify: ${verify}` : "")),
                    peak === null ? null : tile("of the peak", words("peak_pct"), "%", words("tflops") + " TFLOP/s", peak),
                    memoryPct === null ? null : tile("of the memories' bandwidth", fixed(memoryPct, 1), "%",
                        `${words("gbs")} of ${short(limits.memory_gbs)} GB/s` + (get("ops_per_byte") ? `; ${words("ops_per_byte")} operations a byte` : ""), memoryPct),
                    bindsTile(path?.causes[0], "the critical path"), busiestTile()],
                left: path ? [ranking(`What the critical path of ${path.kernel} is made of`, path.causes.slice(0, 5)),
                    ranking(path.several ? "Lines of the kernels on their critical paths" : "Lines of the kernel on it", path.lines.slice(0, 4),
                            worth(`why ${page.subject}`) )] : [ranking("What the time of all commands is made of", sums.rows.length ? causes(sums.rows[0], "all").slice(0, 6) : [])],
                right: busiestLinks(),
            };
        },
        replay() {
            const slow = rows.best("actual_ns"), values = rows.values("actual_ns"), made = sums.rows.length ? causes(sums.rows[0], "all") : [];
            const slowest = [...rows.rows].filter((row) => rows.get(row, "actual_ns") !== null)
                .sort((a, b) => rows.get(b, "actual_ns") - rows.get(a, "actual_ns")).slice(0, 4);

            if (!slow)
                return null;
            return {
                tiles: [tile("last end", fixed(most(rows.values("end_ns")), 2), "ns", `${values.length} of ${rows.all} transactions complete`),
                    tile("mean latency", fixed(values.reduce((a, b) => a + b, 0) / values.length, 2), "ns",
                        `${rows.show(rows.best("actual_ns", -1), "actual_ns")} at least, ${rows.show(slow, "actual_ns")} at most`),
                    bindsTile(made[0], "all time"), busiestTile()],
                left: [ranking("What the latencies are made of", made.slice(0, 5), "\u201cwhy\u201d of the same file measures what each limit costs."),
                    ranking("The slowest transactions", slowest.map((row) => ({ name: nameOf(row), pct: 100 * rows.get(row, "actual_ns") / rows.get(slow, "actual_ns"),
                        words: rows.show(row, "actual_ns") + " ns", colour: "c-overhead" })), "Shares of the slowest one.")],
                right: busiestLinks(),
            };
        },
        load() {
            const at = rows.best("saturation_rate") ?? rows.best("rate"), accepted = rows.best("accepted_gbs");
            const calm = rows.rows.filter((row) => rows.get(row, "mean_ns") !== null), first = rows.only(calm).best("rate", -1);

            return {
                tiles: [at && rows.get(at, "saturation_rate") !== null ? tile("saturates at rate", rows.show(at, "saturation_rate"), "", notes.find((line) => /saturation/.test(line)))
                        : tile("saturates at rate", "none", "", notes.find((line) => /saturat/.test(line)) ?? "no rate of the list saturates the machine"),
                    accepted ? tile("most accepted", rows.show(accepted, "accepted_gbs"), "GB/s", `at rate ${rows.show(accepted, "rate")}, where ${rows.show(accepted, "offered_gbs")} are offered`,
                        100 * rows.get(accepted, "accepted_gbs") / rows.get(accepted, "offered_gbs")) : null,
                    first ? tile("mean latency", rows.show(first, "mean_ns"), "ns", `at ${nameOf(first)}; ${rows.show(first, "p99_ns")} ns for 99 %` +
                        (rows.has("zero_load_ns") ? `; ${rows.show(first, "zero_load_ns")} alone` : "")) : null, busiestTile()],
                left: loadPlot(calm), right: busiestLinks(),
            };
        },
        sweep: () => extremes("mean_ns", "gbs"),
        probe: () => extremes("actual_ns", "eff_bw_gbs"),
        study() {
            const gains = rows.rows.filter((row) => rows.get(row, "gain_pct") !== null), best = rows.best("gain_pct"), front = rows.where("on_front", 1);

            return best ? {
                tiles: [tile("best gain", rows.show(best, "gain_pct"), "%", `${rows.get(best, "variant")}: ${rows.show(best, "time_ns")} ns`, Math.max(0, rows.get(best, "gain_pct"))),
                    tile("faster than the base", gains.filter((row) => rows.get(row, "gain_pct") > 0).length, "of " + gains.length, rows.rows.length > gains.length ? `${rows.rows.length - gains.length} without a result` : "variants and commands"),
                    front.length ? tile("on the Pareto front", front.length, "", front.slice(0, 3).map((row) => rows.get(row, "variant")).join(", ") + (front.length > 3 ? ", ..." : "")) : null,
                    rows.get(best, "bound") ? tile("then binds", rows.show(best, "bound_pct"), "%", place(rows.get(best, "bound")), rows.get(best, "bound_pct")) : null],
                left: studyPlots()[0], right: studyPlots()[1],
            } : null;
        },
        why() {
            const key = rows.columns[0], time = rows.has("kernel_ns") ? "kernel_ns" : "mean_ns", base = rows.rows[0], best = rows.only(rows.rows.slice(1)).best("saved_pct");
            const others = rows.rows.slice(1, 31).map((row) => ({ label: String(rows.get(row, key)).replace(/\s+/g, " "), value: rows.get(row, "saved_pct") ?? 0,
                words: rows.show(row, "saved_pct") + " %", bad: rows.get(row, "saved_pct") < 0 }));

            return base ? {
                tiles: [tile(time === "kernel_ns" ? "kernel time" : "mean latency", rows.show(base, time), "ns", "as the machine is"),
                    best ? tile("most saved", rows.show(best, "saved_pct"), "%", `${key === "removed" ? "without " : "by "}${rows.get(best, key)}: ${rows.show(best, time)} ns`, rows.get(best, "saved_pct")) : null],
                left: others.length ? draw.bars(key === "removed" ? "Time saved without a limit, %" : "Time saved by a better key, %", others) : null, right: busiestLinks(),
            } : null;
        },
    };

    function extremes(latency, throughput) {
        const low = rows.best(latency, -1), high = rows.best(latency), fast = rows.best(throughput);

        return low ? {
            tiles: [tile("lowest latency", rows.show(low, latency), "ns", nameOf(low)), tile("highest latency", rows.show(high, latency), "ns", nameOf(high)),
                fast ? tile("highest throughput", rows.show(fast, throughput), "GB/s", nameOf(fast)) : null,
                tile(page.command === "sweep" ? "points" : "cases", rows.all, "", keysThatVary())],
            ...curvePlots(),
        } : null;
    }
    const keysThatVary = () => ["src", "dst", "nbytes", "inflight", "op"].filter((name) => rows.varies(name))
        .map((name) => `${new Set(rows.values(name)).size} ${name}`).join(", ");

    // -- plots ------------------------------------------------------------------------------------------

    // The eight curves that differ most: the lowest, then again and again the one farthest from all drawn.
    function differing(curves, most_ = 8) {
        const level = (c) => c.points.reduce((sum, p) => sum + Math.log(p[1]), 0) / c.points.length;
        const apart = (a, b) => a.points.reduce((sum, p, i) => sum + Math.abs(Math.log(p[1] / (b.points[i] ?? p)[1])), 0) / a.points.length;
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
        return [...curves.values()].map((c) => ({ ...c, points: c.points.sort((a, b) => a[0] - b[0]) }));
    }

    function curvePlots() {
        const ofBytes = rows.varies("nbytes"), x = ofBytes ? "nbytes" : "inflight";
        const all = page.command === "probe" ? rows.where("case", "saturation") : rows.rows;
        const across = { label: ofBytes ? "bytes of a transaction" : "transactions at once", ...ofBytes ? { log: true, powers: true } : { log: false } };
        const label = (row) => [`${rows.get(row, "src")} \u2192 ${rows.get(row, "dst")}`, ofBytes && rows.varies("inflight") ? rows.get(row, "inflight") + " at once" : [],
                                rows.varies("op") ? rows.get(row, "op") : []].flat().join(", ");

        if (!all.length || (page.command === "sweep" && !ofBytes && !rows.varies("inflight")))
            return { left: partsPlot(), right: distanceMap() };
        if (page.command === "probe")
            return { right: distanceMap(), left: draw.plot("Throughput of transactions one after the other", curvesOf(all, x, "eff_bw_gbs", label), { x: across, y: { label: "GB/s" } }) };
        const latency = curvesOf(all, x, "mean_ns", label), drawn = differing(latency);
        const gbs = new Map(curvesOf(all, x, "gbs", label).map((c) => [c.name, c]));

        return { left: [draw.plot("Latency", drawn, { x: across, y: { label: "mean latency, ns" } }),
                        latency.length > drawn.length ? html("p", { class: "detail" }, `There are ${latency.length} lines; these differ most.`) : null],
                 right: draw.plot("Throughput", drawn.map((c) => gbs.get(c.name)).filter(Boolean), { x: across, y: { label: "GB/s" } }) };
    }

    // A rate is saturated if it is not steady, or less than 97 % of its offer is accepted.
    function loadPlot(calm) {
        const offered = (row) => rows.get(row, "offered_gbs"), drawn = calm.filter((_, i) => i % Math.ceil(calm.length / 2000) === 0)
            .sort((a, b) => offered(a) - offered(b));
        const full = drawn.findIndex((row) => !rows.get(row, "steady") || rows.get(row, "accepted_gbs") < 0.97 * offered(row));

        if (!drawn.length)
            return null;
        const curve = (name, column) => ({ name, points: drawn.map((row) => [offered(row), Math.max(rows.get(row, column), 1e-6)]) });
        return draw.plot("Latency over throughput", [curve("99 % of transactions", "p99_ns"), curve("mean", "mean_ns"), curve("half of them", "p50_ns")],
            { x: { label: "GB/s offered", log: false }, y: { label: "latency, ns", log: true }, more(x, y, box) {
                if (full < 0)
                    return null;
                const from = x.at(full ? (offered(drawn[full - 1]) + offered(drawn[full])) / 2 : offered(drawn[0]));
                return svg("g", { "data-saturated": offered(drawn[full]) }, svg("rect", { class: "shade", x: from, y: box.top, width: box.right - from, height: box.bottom - box.top }),
                    text(box.right - 6, box.bottom - 8, `saturated at ${short(offered(drawn[full]))} GB/s`, { class: "dim", "text-anchor": "end" }));
            } });
    }

    // Launches under the roofs of the machine: operations per byte of DMA and per ns.
    function roofline() {
        const points = rows.rows.map((row) => {
            const operations = 2 * rows.get(row, "gemm_macs") + rows.get(row, "math_elements");
            const bytes = rows.get(row, "dma_read_bytes") + rows.get(row, "dma_write_bytes");
            return { name: rows.get(row, "kernel"), x: bytes ? operations / bytes : Infinity, y: operations / rows.get(row, "kernel_ns"), strong: true };
        }).filter((p) => p.y > 0 && isFinite(p.y));
        const { gemm_gops: gemm, math_gops: math, memory_gbs: slope } = limits, ridge = gemm / slope;
        const right = most([ridge * 10, ...points.map((p) => p.x).filter(isFinite)]);

        if (!points.length)
            return null;
        points.forEach((p) => { p.x = Math.min(p.x, right); });
        return draw.scatter("Roofline: a product and a sum are two operations", points, {
            x: { label: "operations a byte of DMA", log: true, around: [ridge / 10, right] },
            y: { label: "operations a ns (GOP/s)", log: true, around: [math / 10, gemm * 1.2] }, more(x, y, box) {
                const roof = (peak, name, i) => svg("g", { "data-roof": peak }, svg("path", { class: "line p" + i, d: `M${x.at(Math.max(peak / slope, x.from))} ${y.at(peak)}H${box.right}` }),
                    text(box.right - 4, y.at(peak) - 5, `${name}: ${short(peak)} GOP/s`, { "text-anchor": "end" }));
                const left = Math.max(x.from, y.from / slope), top = Math.max(gemm, math);
                return [roof(gemm, "GEMM", 1), roof(math, "MATH", 3), svg("g", { "data-slope": slope },
                    svg("path", { class: "line p0", d: `M${x.at(left)} ${y.at(left * slope)}L${x.at(top / slope)} ${y.at(top)}` }),
                    text(x.at(left) + 8, y.at(left * slope) - 8, `memories: ${short(slope)} GB/s`))];
            } });
    }

    function studyPlots() {
        const made = [[], []];

        for (const command of new Set(rows.values("command"))) {
            const gains = rows.where("command", command).filter((row) => rows.get(row, "gain_pct") !== null), of = `: ${command}`;
            const gain = (row) => rows.get(row, "gain_pct"), cost = (row) => rows.get(row, "cost");
            if (!gains.length)
                continue;
            made[0].push(draw.bars("Gain by variant, %" + of, gains.slice(0, 40).map((row) => ({ label: rows.get(row, "variant"), value: gain(row), words: rows.show(row, "gain_pct") + " %", bad: gain(row) < 0 }))));
            if (gains.some((row) => cost(row) === null) || new Set(gains.map(cost)).size < 2)
                continue;
            const front = gains.filter((row) => rows.get(row, "on_front")).sort((a, b) => cost(a) - cost(b));
            made[1].push(draw.scatter("Cost against gain, and the Pareto front" + of,
                gains.map((row) => ({ name: rows.get(row, "variant"), x: cost(row), y: gain(row), strong: rows.get(row, "on_front") > 0 })),
                { x: { label: "cost", log: false }, y: { label: "gain, % of the base machine's time", log: false }, named: gains.length <= 60,
                  more: (x, y) => front.length ? svg("path", { class: "line p1", d: front.map((row, i) => i ? `H${x.at(cost(row))}V${y.at(gain(row))}` : `M${x.at(cost(row))} ${y.at(gain(row))}`).join("") }) : null }));
        }
        for (const key of rows.columns.filter((name) => name.includes(".") && new Set(rows.values(name)).size >= 3 && rows.values(name).every((v) => typeof v === "number"))) {
            const others = rows.columns.filter((name) => name.includes(".") && name !== key && rows.varies(name));
            const curves = differing(curvesOf(rows.rows, key, "time_ns", (row) => [...others.map((name) => `${name}=${rows.get(row, name)}`), rows.get(row, "command")].join(" ")));
            made[1].push(draw.plot("Time over " + key, curves, { x: { label: key, log: false }, y: { label: "time, ns" } }));
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
        return [...bars_.values()].map(({ label: name, count, sums: of }) => ({ label: name, parts: [...of].map(([cause, value]) =>
            ({ cause, name: CAUSES[cause][0], colour: CAUSES[cause][1], value: value / count })) })).filter((b) => b.parts.length);
    }

    function stacked(title, made, absolute) {
        const sized = made.slice(0, BARS).map((b) => ({ ...b, value: total(b.parts), words: fixed(total(b.parts), 2) + " ns" })).filter((b) => b.value > 0);

        return sized.length ? draw.stacks(title, sized, absolute ? most(sized.map((b) => b.value)) : 0) : null;
    }

    // The same numbers as the bars, so that nothing is shown by colour alone.
    function partsTable(id, caption, made) {
        const names = [...new Set(made.flatMap((b) => b.parts.map((part) => part.name)))];

        return table(id, caption, new Frame({ columns: ["of", "ns", ...names.map((name) => name + " %")], types: "tn" + "p".repeat(names.length),
            ranks: [-1, -1, ...names.map((_, i) => i)], all: made.length, rows: made.map((b) => [b.label, total(b.parts), ...names.map((name) =>
                100 * (b.parts.find((part) => part.name === name)?.value ?? 0) / total(b.parts))]) }));
    }

    const labels = {
        probe: (row) => rows.get(row, "case"), load: (row) => "rate " + rows.show(row, "rate"), replay: (row) => rows.get(row, "op"),
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
        const ops = [...sums.where("by", "all"), ...sums.where("by", "op")].map((row) => ({ label: sums.get(row, "of") || "all commands", parts: partsOf(sums, row) }));
        const steps = breakdown.where("by", "step"), colours = new Map();
        const items = steps.map((row) => {
            const [lane, ...what] = breakdown.get(row, "of").split(" "), cause = breakdown.get(row, "cause");
            const [name, colour] = CAUSES[cause] ?? ["", "c-wire"];
            colours.set(name, colour);
            return { lane, colour, from: breakdown.get(row, "begin_ns"), to: breakdown.get(row, "end_ns"),
                     words: `${what.join(" ")}\n${breakdown.show(row, "begin_ns")} to ${breakdown.show(row, "end_ns")} ns\nmost of it: ${name}` };
        });
        const lines = kernelPath()?.lines.length ? sums.where("by", "path").map((row) => ({ label: sums.get(row, "of"), parts: partsOf(sums, row) })) : [];

        if (page.command === "run")
            return [items.length ? draw.timeline("The critical path over time: each step in the colour of its largest cause", items, colours) : null,
                html("div", { class: "pair" }, stacked("Shares of the time of commands, by operation", ops), roofline()),
                partsTable("lines", "Parts of the critical path, by kernel and line", lines), partsTable("sums", "Parts of the time of commands, by operation", ops)];
        const made = partBars();
        return [partsPlot(), partsTable("shares", "Parts of latency", made)];
    }

    // -- from every PE to every memory ------------------------------------------------------------------

    const cubeOf = (name) => name.includes(".pe") || name.includes(".slice") ? name.replace(/\.(pe|slice)\d+$/, "") : name;

    let isMapped = false; // once in the page, too
    function distanceMap() {
        if (isMapped || !distances)
            return null;
        isMapped = true;
        return draw.map("Zero-load latency of a read: rows are PEs, columns memories", { from: distances.from, to: distances.to, values: distances.mean,
                                                                                                   cube: cubeOf, side: distances.from.length });
    }

    function distanceFrame() {
        const side = distances.from.length, { mean, best = mean, worst = mean } = distances;
        const part = (values, i) => values.slice(i * side, (i + 1) * side);

        return new Frame({ columns: ["from", "best_ns", "mean_ns", "worst_ns", "farthest"], types: "tnnnt", ranks: [-1, -1, -1, -1, 0], all: side,
            rows: distances.from.map((name, i) => {
                const far = part(worst, i), high = most(far);
                return [name, least(part(best, i)), part(mean, i).reduce((a, b) => a + b, 0) / side, high, distances.to[far.indexOf(high)]];
            }) });
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
            const found = notes.find((line) => line.replace(/^(.*?rate )([\d.]+)(:.*)$/, "$1$3") === key && line.includes(first));
            return found + (others.length ? "; also at rate " + others.join(", ") : "");
        });
    }

    function banks() {
        const channels = use.where("kind", "hbm_channel"), slices = use.where("kind", "memory");
        const kinds = [["row hits", "c-drain", "row_hits"], ["row misses", "c-channel", "row_misses"], ["row conflicts", "c-memory", "row_conflicts"]];
        const all = (row) => kinds.reduce((sum, [, , column]) => sum + (use.get(row, column) ?? 0), 0);
        const served = slices.filter(all).sort((a, b) => all(b) - all(a));

        if (!served.length)
            return [];
        const conflicts = served.reduce((sum, row) => sum + use.get(row, "row_conflicts"), 0), segments = served.reduce((sum, row) => sum + all(row), 0);
        return [`${fixed(100 * conflicts / segments, 1)} % of all segments closed another row of their bank${page.when}.`,
            draw.stacks("Segments of each slice by what they found", served.slice(0, 16).map((row) => ({ label: place(use.get(row, "name")), value: all(row),
                words: fixed(100 * use.get(row, "row_conflicts") / all(row), 1) + " % conflicts", parts: kinds.map(([name, colour, column]) => ({ name, colour, value: use.get(row, column) })) })), 0),
            table("channels", "Channels of memories with banks", use.only(channels.sort((a, b) => use.get(b, "row_conflicts") - use.get(a, "row_conflicts"))))];
    }

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
        } catch { // a browser may refuse storage to a file
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
            } catch { // not allowed: select it instead
                getSelection().selectAllChildren(code);
                button.textContent = "Selected";
            }
        });
    }

    function contents() {
        const links_ = [...main.querySelectorAll(":scope > section")].map((made) =>
            html("li", {}, html("a", { href: "#" + made.id }, made.querySelector("h2").textContent)));
        main.before(html("nav", { "aria-label": "Contents" }, html("ol", {}, links_)));
    }

    function sections() {
        const summary = summaries[page.command]?.() ?? null, lines = mergedNotes();
        const noted = lines.length ? html("div", { id: "notes" }, html("h3", {}, "To know before you use the numbers"), html("ul", {}, lines.map((line) => html("li", {}, line)))) : null;

        section("summary", "At a glance", data.deadlock ?? null, summary ? html("dl", { class: "tiles" }, summary.tiles) : null,
            summary ? html("div", { class: "pair" }, html("div", {}, summary.left), summary.right ? html("div", {}, summary.right) : null) : null, noted);
        if (page.command !== "why" && page.command !== "study" && !data.deadlock)
            section("causes", "Where the time goes", null, timeGoes());
        section("results", "Results", null, table("rows", data.deadlock ? "Deadlocked commands" : "Rows of the results", rows));
        section("breakdown", "Causes, places, and what was ahead", null, table("why", "Time by cause and place; pct is of what column \u201cof\u201d names", breakdown));
        section("machine", "The machine", use.rows.length ? `Coloured by how busy each part was${page.when}; closer views are of where it was busiest.` :
            `${limits.pes} PEs and ${limits.slices} HBM slices.`, [...pictures].filter(([name]) => !name.startsWith("buffers")).map(([, figure]) => figure));
        section("buffers", "Buffers of routers", `Coloured by how full they were${page.when}, in the mean: of each router its fullest one.`,
            [...pictures].filter(([name]) => name.startsWith("buffers")).map(([, figure]) => figure));
        section("busy", "How busy it was", `What carried traffic${page.when}, the busiest first.`, table("use", "Memories, channels, engines, ports, links", use));
        section("banks", "Rows of memories", ...banks());
        if (distances)
            section("distances", "From every PE to every memory", `A read of ${distances.bytes} bytes, alone on the machine, takes ${fixed(least(distances.best ?? distances.mean), 2)} to ` +
                `${fixed(most(distances.worst ?? distances.mean), 2)} ns.` + (distances.every > 1 ? ` The map shows one cube in ${distances.every}.` : ""),
                html("div", { class: "pair" }, distanceMap(),
                     table("nearest", "Latency from each row of the map", distanceFrame())));
        section("config", "Configuration", null, html("details", {}, html("summary", {}, "All keys, with their defaults: " + (data.rows?.topology?.hash ?? "")),
            html("pre", { tabindex: 0 }, data.rows?.topology?.config ?? "")));
    }

    // Arguments of a bench, also those that have their default.
    const args = Object.entries(data.rows?.args ?? {}).map(([name, value]) => `${name}=${value}`).join(" ");
    if (args)
        document.getElementById("facts").append(html("div", {}, html("dt", {}, "arguments"), html("dd", {}, args)));
    sections();
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
    addEventListener("beforeprint", () => { document.body.style.width = "1040px"; fitAll(); });
    addEventListener("afterprint", () => { document.body.style.width = ""; fitAll(); });
    for (const box of document.querySelectorAll(".picture, .scroll"))
        new ResizeObserver(() => box.parentElement.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1)).observe(box);
})();
