// report.js -- sorts and filters the tables of a report, copies its command, changes its theme.
"use strict";
(() => {
    const ROWS_SHOWN = 1000; // REPORT_ROWS_SHOWN of report_parts.h

    // -- numbers, as report_table.c rounds them -------------------------------------------------

    function shown(value, decimals, allDigits) {
        if (value === null)
            return "";
        if (typeof value !== "number" || decimals === "")
            return String(value);
        if (allDigits)
            return value.toFixed(6);
        const unit = 10 ** (6 - decimals);
        const rounded = Math.floor((Math.round(value * 1e6) + unit / 2) / unit) * (unit / 1e6);
        return rounded.toFixed(decimals);
    }

    // Orders two cells that are not empty; sorted() puts empty ones last, in either direction.
    function compare(a, b) {
        if (typeof a === "number" && typeof b === "number")
            return a - b;
        return String(a).localeCompare(String(b), "en", { numeric: true });
    }

    // -- tables -----------------------------------------------------------------------------------

    class Table {
        constructor(box) {
            this.table = box.querySelector("table");
            this.body = this.table.tBodies[0];
            this.heads = [...this.table.tHead.rows[0].cells];
            this.decimals = this.heads.map((head) => head.dataset.decimals);
            this.input = box.querySelector("input[type=search]");
            this.digits = box.querySelector("input[type=checkbox]");
            this.output = box.querySelector("output");
            this.rows = null; // arrays of values, read when first needed
            this.column = -1;
            this.descending = false;
            this.heads.forEach((head, i) => {
                head.setAttribute("aria-sort", "none");
                head.firstElementChild.addEventListener("click", () => this.sort(i));
            });
            this.input.addEventListener("input", () => this.show());
            this.digits.addEventListener("change", () => this.show());
            box.querySelector(".tools").hidden = false;
        }

        read() {
            const json = JSON.parse(document.getElementById(this.table.id + "-json").textContent);

            this.rows = json.rows.map((row) => Object.values(row));
        }

        sort(column) {
            this.descending = column === this.column && !this.descending;
            this.column = column;
            this.heads.forEach((head, i) => {
                const way = this.descending ? "descending" : "ascending";
                head.setAttribute("aria-sort", i === column ? way : "none");
            });
            this.show();
        }

        sorted() {
            if (this.column < 0)
                return this.rows;
            const way = this.descending ? -1 : 1;
            const at = this.column;

            return [...this.rows].sort((a, b) => {
                if (a[at] === null || b[at] === null)
                    return (a[at] === null) - (b[at] === null);
                return way * compare(a[at], b[at]);
            });
        }

        show() {
            if (!this.rows)
                this.read();
            const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
            const found = [];
            let count = 0;

            for (const row of this.sorted()) {
                const texts = row.map((value, i) => shown(value, this.decimals[i], this.digits.checked));
                const line = texts.join(" ").toLowerCase();
                if (!words.every((word) => line.includes(word)))
                    continue;
                if (++count <= ROWS_SHOWN)
                    found.push(texts);
            }
            this.body.replaceChildren(...found.map((texts) => this.row(texts)));
            this.output.textContent = this.counted(count);
        }

        row(texts) {
            const tr = document.createElement("tr");

            texts.forEach((text, i) => {
                const td = document.createElement("td");
                td.textContent = text;
                td.className = this.heads[i].className;
                tr.append(td);
            });
            return tr;
        }

        counted(count) {
            const all = this.rows.length;
            const first = count > ROWS_SHOWN ? `, the first ${ROWS_SHOWN} are shown` : "";

            return `${count} of ${all} rows${first}`;
        }
    }

    // -- the head of the page ---------------------------------------------------------------------

    function themes(button) {
        const names = ["system", "light", "dark"];
        let at = 0;

        function set(name) {
            at = Math.max(names.indexOf(name), 0);
            if (at > 0)
                document.documentElement.dataset.theme = names[at];
            else
                delete document.documentElement.dataset.theme;
            button.textContent = "Theme: " + names[at];
        }

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

    // -- pictures and tables that are wider than the page ------------------------------------------

    function hints(boxes) {
        const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => {
            target.parentElement.classList.toggle("wide", target.scrollWidth > target.clientWidth);
        }));

        boxes.forEach((box) => watch.observe(box));
    }

    hints(document.querySelectorAll(".picture, .scroll"));
    themes(document.getElementById("theme"));
    copies(document.getElementById("copy"), document.getElementById("command"));
    document.querySelectorAll(".rows").forEach((box) => new Table(box));
})();
