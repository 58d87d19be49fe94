// report_tables.js -- the data of a report's page: rows by the names of their columns, names of places, causes
// of time with the keys of the machine behind them; and tables that are sorted, filtered, and fit the page.
const report = (() => {
    const { html, svg, fixed, shown } = draw;
    const data = JSON.parse(document.getElementById("data").textContent);
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
            return this.rows.reduce(
                (found, row) => this.get(row, name) !== null &&
                        (found === undefined || sign * this.get(row, name) > sign * this.get(found, name)) ?
                    row :
                    found,
                undefined);
        }
        where(name, value) { return this.rows.filter((row) => this.get(row, name) === value); }
        // The same columns, fewer rows.
        only(rows) { return new Frame({...this, rows, all: rows.length }); }
    }
    const rows = new Frame(data.rows), sums = new Frame(data.sums);
    const breakdown = new Frame(data.breakdown), use = new Frame(data.use);

    // -- names of places: "c1 > c2", "c1: noc > ucie-E", "c0.slice3", as place_text.c has them -------

    function end(name) {
        return name.replace(/^sip0\./, "")
            .replace(/^sip(\d+)\b/, "s$1")
            .replace(/\bcube(\d+)\b/, "c$1")
            .replace("hbm_ctrl.", "");
    }
    function place(name) {
        const [from, to] = name.split(" -> ").map(end);
        const cube = (part) => part.replace(/\.[^.]*$/, "");

        if (to === undefined)
            return from;
        if (/\.ucie-[NESW]$/.test(from) && /\.ucie-[NESW]/.test(to))
            return `${cube(from)} \u2192 ${cube(to)}`;
        return cube(from) === cube(to) ?
            `${cube(from)}: ${from.slice(cube(from).length + 1)} \u2192 ${to.slice(cube(to).length + 1)}` :
            `${from} \u2192 ${to}`;
    }
    const PLACES = new Set(["name", "place", "behind", "of", "busiest_link", "busiest_memory"]);

    // A row by the columns that tell it apart: "c0.pe0 > c0.slice0, 4096 bytes", "rate 0.8".
    function nameOf(row) {
        const get = (name) => rows.get(row, name);

        if (get("rate") !== null)
            return "rate " + get("rate");
        return [
            get("id") === null ? [] : "id " + get("id"), get("case") ?? [], `${get("src")} \u2192 ${get("dst")}`,
            get("nbytes") + " bytes", rows.varies("inflight") ? get("inflight") + " at once" : []
        ].flat()
            .join(", ");
    }

    // -- causes of time: name, colour, what of the machine is behind it -------------------------------

    const port = (at) =>
        ["read", "write"].filter((way) => !at || at.endsWith("." + way)).map((way) => `cube.pe.pe_tcm.${way}_gbs`);
    const memory = (at) => /pe_tcm/.test(at) ? port(at) :
        /sram/.test(at)                      ? ["cube.sram.bw_gbs"] :
        /\.l2$/.test(at)                     ? ["cube.l2.bw_gbs"] :
                                               ["cube.hbm.bw_gbs"];
    const links = (at) => /xbar/.test(at) ? ["cube.xbar.pe_gbs", "cube.xbar.chain_gbs"] :
        /bridge/.test(at)                 ? ["cube.bridge.bw_gbs"] :
        /io/.test(at)                     ? ["sip.io.link.bw_gbs", "sip.io.shore.bw_gbs"] :
                                            ["sip.d2d.bw_gbs", "cube.noc.bw_gbs", "cube.noc.mesh.bw_gbs"];
    // At the scheduler a command waits for what pe_gemm has before it: a product of its accumulator, other tiles.
    const engine = (at) => /gemm|scheduler/.test(at) ? ["cube.pe.pe_gemm.mac", "cube.pe.pe_gemm.clock_ghz"] :
        /math/.test(at)                              ? ["cube.pe.pe_math.lanes", "cube.pe.pe_math.clock_ghz"] :
        /m_cpu/.test(at)                             ? ["cube.m_cpu.dma_read", "cube.m_cpu.dma_write"] :
                                                       [];
    const OVERHEADS = ["xbar.overhead_ns", "ucie.overhead_ns", "noc.overhead_ns", "hbm.overhead_ns", "hbm.latency_ns",
                       "hbm.cache.latency_ns", "l2.latency_ns"].map((key) => "cube." + key);
    const CAUSES = {
        overhead: ["overhead of nodes", "c-overhead", () => [{ largest: OVERHEADS }]],
        wire: ["wire", "c-wire", () => [{ largest: ["links.latency_ns"] }, "ns_per_mm"]],
        // It is told at the memory, also where a link on the way is narrower.
        drain: [
            "bytes at the bottleneck", "c-drain",
            (at) => /\.l2$/.test(at) ? ["cube.l2.pe_gbs", "cube.l2.bw_gbs"] : [...memory(at), "cube.noc.bw_gbs"]
        ],
        response: ["response", "c-response", () => []],
        channel_wait: [
            "wait for a DMA channel", "c-channel",
            (at) => [`cube.pe.pe_dma.${/\.write$/.test(at) ? "write" : "read"}_channels`]
        ],
        engine_wait: ["wait for an engine", "c-engine", engine],
        link_wait: ["wait for a link", "c-link", links],
        memory_wait: ["wait for a memory", "c-memory", memory],
        port_wait: ["wait for a TCM port", "c-queue-port", port],
        port: ["bytes through a TCM port", "c-port", port],
        compute: ["compute", "c-compute", engine],
        dispatch: [
            "dispatch of commands", "c-dispatch",
            () => ["cube.pe.pe_cpu.overhead_ns", "cube.pe.pe_scheduler.overhead_ns"]
        ],
        queue_wait: ["wait for other PEs", "c-queue-pe", () => ["cube.pe.pe_ipcq.slots"]],
        barrier_wait: ["wait at a barrier", "c-barrier", () => []],
        refresh_wait: ["wait for a refresh", "c-barrier", () => ["cube.hbm.timing_ns.rfc"]],
        row_wait: ["wait for a row", "c-queue-pe", () => ["cube.hbm.map"]],
        bus_wait: ["wait for the memory's bus", "c-queue-port", () => ["cube.hbm.channels"]],
        cache_wait: [
            "wait for a cache", "c-queue-port",
            (at) => /\.l2$/.test(at) ? ["cube.l2.bw_gbs", "cube.l2.mshrs"] : ["cube.hbm.cache.bw_gbs", "cube.hbm.cache.mshrs"]
        ],
        pending_wait: ["wait for lines on their way", "c-queue-pe", () => []],
        return: ["way back of data", "c-response", () => []],
        router_wait: ["wait in a router", "c-link", (at) => ["contention.vcs", ...links(at)]],
        credit_wait: ["wait for buffer room", "c-engine", () => ["contention.buffer_bytes"]],
        operand_wait: ["wait for operands in flight", "c-queue-pe", () => []],
        room_wait: ["wait for room in the TCM", "c-queue-port", () => ["cube.pe.pe_tcm.size_mb"]],
        kernel: ["kernel", "c-drain", () => []],
        launch: ["launch by software", "c-overhead", () => ["software.launch_ns"]],
    };
    // The column of a cause in sums, rows of replay, load, sweep and probe.
    const COLUMN_OF = {
        channel_wait: "queue_channel_ns",
        engine_wait: "queue_engine_ns",
        link_wait: "queue_link_ns",
        memory_wait: "queue_memory_ns",
        port_wait: "queue_port_ns",
        queue_wait: "queue_pe_ns",
        barrier_wait: "barrier_ns",
        refresh_wait: "queue_refresh_ns",
        row_wait: "queue_row_ns",
        bus_wait: "queue_bus_ns",
        cache_wait: "queue_cache_ns",
        pending_wait: "queue_pending_ns",
        router_wait: "queue_router_ns",
        credit_wait: "queue_credit_ns",
        operand_wait: "queue_operand_ns",
        room_wait: "queue_room_ns"
    };
    const columnOf = (cause) => COLUMN_OF[cause] ?? cause + "_ns";

    const keysAt = machineKeys(data.rows?.topology?.config ?? "");

    // The parts of a row of `frame`, in ns.
    function partsOf(frame, row) {
        return Object.keys(CAUSES).filter((cause) => frame.get(row, columnOf(cause))).map((cause) => ({
                                                                                              cause,
                                                                                              name: CAUSES[cause][0],
                                                                                              colour: CAUSES[cause][1],
                                                                                              value: frame.get(
                                                                                                  row, columnOf(cause))
                                                                                          }));
    }
    const total = (parts) => parts.reduce((sum, part) => sum + part.value, 0);

    // -- elements of the page ---------------------------------------------------------------------------

    function section(id, title, lead, ...content) {
        const made = html(
            "section", { id }, html("h2", {}, title), lead ? html("p", { class: "lead" }, lead) : null, ...content);

        if (content.flat().some(Boolean))
            main.append(made);
    }

    // A key figure; `share` in per cent draws a bar.
    function tile(label, value, unit, detail, share) {
        return html(
            "div", { class: "tile" }, html("dt", {}, label),
            html(
                "dd", {}, html("span", { class: "figure" }, value),
                unit ? html("span", { class: "unit" }, " " + unit) : null,
                share === undefined || share === null ? null : bar(share),
                html("span", { class: "detail" }, detail ?? "")));
    }
    function bar(pct, colour = "c-accent") {
        const drawn =
            svg("svg", { class: "kb meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
                svg("rect", { class: "track", width: 100, height: 6 }),
                svg("rect", { class: colour, width: Math.max(0, Math.min(pct, 100)), height: 6 }));
        return drawn;
    }

    // A list of shares, the largest first: {name, pct, words, colour, keys}.
    function ranking(title, items, note) {
        if (!items.length)
            return null;
        return html(
            "div", { class: "ranking" }, html("h3", {}, title),
            html(
                "ol", {},
                items.map(
                    (item) => html(
                        "li", {}, html("span", { class: "share" }, fixed(item.pct, 1) + " %"),
                        html(
                            "div", {}, html("strong", {}, item.name),
                            item.words ? html("span", { class: "detail" }, " " + item.words) : null,
                            bar(item.pct, item.colour),
                            item.keys?.length ?
                                html(
                                    "span", { class: "detail" }, "to try: ",
                                    item.keys.map(
                                        ({ key, value }, i) => [i ? ", " : "", html("code", {}, `${key}: ${value}`)])) :
                                null)))),
            note ? html("p", { class: "detail" }, note) : null);
    }

    // -- tables ---------------------------------------------------------------------------------------

    function compare(a, b) {
        return typeof a === "number" && typeof b === "number" ?
            a - b :
            String(a).localeCompare(String(b), "en", { numeric: true });
    }

    // Columns without a value are left out; those with one value for all rows are said above the
    // table; of the rest those stay for which there is room, by their ranks.
    class Table {
        constructor(id, caption, frame) {
            Object.assign(this, { id, frame, column: -1, descending: false, limit: ROWS_SHOWN, shownColumns: [] });
            this.input = html(
                "input",
                { type: "search", placeholder: "words", "aria-label": "Filter: " + caption, "aria-controls": id });
            this.digits = html("input", { type: "checkbox" });
            this.every = html("input", { type: "checkbox" });
            this.output = html("output");
            this.more = html("button", { type: "button", class: "more", hidden: true }, "More rows");
            this.same = html("p", { class: "same" });
            this.head = html("tr");
            this.body = html("tbody");
            this.table = html("table", { id }, html("caption", {}, caption), html("thead", {}, this.head), this.body);
            this.scroll =
                html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, this.table);
            this.box = html(
                "div", { class: "rows" },
                html(
                    "div", { class: "tools" }, html("label", {}, "Filter ", this.input),
                    html("label", {}, this.digits, " all digits"), html("label", {}, this.every, " all columns"),
                    this.output),
                this.same, this.scroll, this.more);
            this.input.addEventListener("input", () => this.show());
            this.digits.addEventListener("change", () => this.show());
            this.every.addEventListener("change", () => this.fit());
            this.more.addEventListener("click", () => {
                this.limit += ROWS_MORE;
                this.show();
            });
            this.find();
        }
        // Columns with values that differ, and what is the same in all rows.
        find() {
            const { columns, rows: all } = this.frame;
            const kinds = columns.map((_, c) => new Set(all.slice(0, 2000).map((row) => row[c])));

            this.full =
                columns.map((_, c) => c).filter((c) => all.length < 2 ? all[0]?.[c] !== null : kinds[c].size > 1);
            const fixedOnes =
                columns.map((_, c) => c)
                    .filter((c) => all.length > 1 && kinds[c].size === 1 && all[0][c] !== null && all[0][c] !== 0);
            this.same.textContent = fixedOnes.length ?
                "The same in all rows: " + fixedOnes.map((c) => `${columns[c]} ${this.words(all[0], c)}`).join(", ") +
                    "." :
                "";
            if (!this.full.length)
                this.full = columns.map((_, c) => c);
        }
        cell(row, c) { return shown(row[c], this.frame.types[c], this.digits.checked); }
        isPlace(c) { return PLACES.has(this.frame.columns[c]) && !this.isNumber(c); }
        words(row, c) { return this.isPlace(c) && row[c] !== null ? place(row[c]) : this.cell(row, c); }
        isNumber(c) { return this.frame.types[c] !== "t"; }
        heads() {
            this.head.replaceChildren(...this.shownColumns.map((c) => {
                const button = html(
                    "button", { type: "button" },
                    this.frame.columns[c].split(/(?<=_)/).flatMap((part, i) => i ? [html("wbr"), part] : [part]));
                const order = c !== this.column ? "none" : this.descending ? "descending" : "ascending";
                button.addEventListener("click", () => this.sort(c));
                return html(
                    "th", { scope: "col", class: this.isNumber(c) ? "n" : undefined, "aria-sort": order }, button);
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
            const rank = (c) => this.frame.ranks[c] >= 0 ? this.frame.ranks[c] : Infinity;
            const order = this.full.slice(2).reverse().sort((a, b) => rank(a) === rank(b) ? 0 : rank(a) - rank(b));
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
            [...this.head.cells].forEach(
                (head, i) => head.setAttribute(
                    "aria-sort",
                    this.shownColumns[i] !== column ? "none" :
                        this.descending             ? "descending" :
                                                      "ascending"));
            this.show();
        }
        sorted() {
            const at = this.column, way = this.descending ? -1 : 1;

            if (at < 0)
                return this.frame.rows;
            return [...this.frame.rows].sort(
                (a, b) => a[at] === null || b[at] === null ? (a[at] === null) - (b[at] === null) :
                                                             way * compare(a[at], b[at]));
        }
        show() {
            const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
            const found = this.sorted().filter(
                (row) => !words.length ||
                    words.every((word) => row.some((_, c) => this.cell(row, c).toLowerCase().includes(word))));

            this.body.replaceChildren(
                ...found.slice(0, this.limit).map((row) => html("tr", {}, this.shownColumns.map((c) => {
                                                      return html(
                                                          "td", {
                                                              class: this.isNumber(c) ? "n" : undefined,
                                                              title: this.isPlace(c) ? this.cell(row, c) : undefined
                                                          },
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

    return {
        data,
        Frame,
        rows,
        sums,
        breakdown,
        use,
        place,
        nameOf,
        CAUSES,
        keysAt,
        partsOf,
        total,
        section,
        tile,
        bar,
        ranking,
        tables,
        table
    };
})();
