// report_plots.js -- what a report's page draws: elements, numbers, plots of curves, bars, a map.
"use strict";
const draw = (() => {
    // -- elements -----------------------------------------------------------------------------------

    // Texts are only ever set as text: no name of a kernel or a file becomes HTML.
    function fill(element, attributes, children) {
        for (const [name, value] of Object.entries(attributes))
            if (value !== undefined && value !== false)
                element.setAttribute(name, value === true ? "" : value);
        element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
        return element;
    }
    const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
    const svg = (tag, attributes = {}, ...children) =>
        fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
    const text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, words);

    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

    // -- numbers ------------------------------------------------------------------------------------

    // From the six decimals of the data, halves up.
    function fixed(value, decimals) {
        const unit = 10 ** (6 - decimals);

        return (Math.floor((Math.round(value * 1e6) + unit / 2) / unit) * (unit / 1e6)).toFixed(decimals);
    }

    // As a cell of that type: n a time in ns, f another number, p per cent; others have all digits.
    const decimalsOf = { n: 2, f: 2, p: 1 };
    function shown(value, type, allDigits = false) {
        if (value === null)
            return "";
        if (typeof value !== "number" || !(type in decimalsOf))
            return String(value);
        return allDigits ? value.toFixed(6) : fixed(value, decimalsOf[type]);
    }

    function short(value) {
        if (value === 0)
            return "0";
        const large = Math.abs(value);
        for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])
            if (large >= unit)
                return Number((value / (letter === "k" ? 1e3 : unit)).toPrecision(3)) + letter;
        return String(Number(value.toPrecision(4)));
    }

    function bytes(value) {
        let i = 0;

        for (; i < 3 && value >= 1024 && value % 1024 === 0; i++)
            value /= 1024;
        return value + ["", "K", "M", "G"][i];
    }

    // -- pictures -----------------------------------------------------------------------------------

    let pictures = 0;
    function picture(title, width, height, ...children) {
        const id = "plot" + ++pictures;
        const drawn =
            svg("svg",
                { class: "kb", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": id },
                svg("title", { id }, title), ...children);

        return html(
            "figure", {}, html("figcaption", {}, title),
            html("div", { class: "picture", tabindex: 0, role: "region", "aria-label": title }, drawn));
    }
    const tip = (words) => svg("title", {}, words);
    const width = (words) => 6.6 * words.length;  // of a text, at most

    // -- axes ---------------------------------------------------------------------------------------

    function step(span) {
        const ten = 10 ** Math.floor(Math.log10(span / 6));

        return ten * [1, 2, 5, 10].find((digit) => span / (ten * digit) <= 6.5);
    }

    // Round ends around all values; `log` if they are more than a factor of 20 apart, or as asked.
    function axis(values, { label, log, from0 = true, powers = false, px }) {
        const low = least(values), high = most(values);
        const ticks = [];

        log = log ?? high > 20 * low;
        if (log) {
            const digits = powers ? [1, 2, 4, 8] : high / low > 1e4 ? [1] : [1, 2, 5];
            const base = powers ? 16 : 10;
            const all = [];
            for (let ten = Math.floor(Math.log(low) / Math.log(base)); base ** ten <= high * base; ten++)
                all.push(...digits.map((digit) => digit * base ** ten));
            const first = all.findLastIndex((tick) => tick <= low * 1.000001);
            const last = Math.max(all.findIndex((tick) => tick >= high * 0.999999), first + 1);
            ticks.push(...all.slice(first, last + 1));
        } else {
            const bottom = from0 ? Math.min(low, 0) : low, top = high > bottom ? high : bottom + 1;
            const each = step(top - bottom);
            for (let i = Math.floor(bottom / each); i <= Math.ceil(top / each - 1e-9); i++)
                ticks.push(i * each);
        }
        const [from, to] = [ticks[0], ticks.at(-1)];
        const part = (v) => log ? Math.log(v / from) / Math.log(to / from) : (v - from) / (to - from);
        return {
            label,
            log,
            ticks,
            from,
            to,
            at: (v) => px[0] + part(v) * (px[1] - px[0]),
            name: powers ? bytes : short
        };
    }

    function axes(x, y, box) {
        const drawn = [];
        let free = -Infinity;

        for (const tick of x.ticks) {
            const at = x.at(tick), wide = width(x.name(tick)) / 2;
            drawn.push(svg("path", { class: "grid", d: `M${at} ${box.top}V${box.bottom}` }));
            if (at - wide > free) {
                drawn.push(text(at, box.bottom + 16, x.name(tick), { class: "dim", "text-anchor": "middle" }));
                free = at + wide + 3;
            }
        }
        for (const tick of y.ticks)
            drawn.push(
                svg("path", { class: "grid", d: `M${box.left} ${y.at(tick)}H${box.right}` }),
                text(box.left - 6, y.at(tick) + 4, y.name(tick), { class: "dim", "text-anchor": "end" }));
        drawn.push(
            svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
            text((box.left + box.right) / 2, box.bottom + 34, x.label, { "text-anchor": "middle" }),
            text(box.left, box.top - 8, y.label));
        return drawn;
    }

    // -- plots --------------------------------------------------------------------------------------

    const BOX = { left: 56, top: 26, right: 600, bottom: 290 };
    const LEGEND = 18;

    // Curves of points [x, y], each with a name; `more`: further elements, made of both axes.
    function plot(title, curves, { x, y, more = () => [], dots = true }) {
        const points = curves.flatMap((curve) => curve.points);
        const across = axis([...points.map((p) => p[0]), ...x.around ?? []], {...x, px: [BOX.left, BOX.right] });
        const up = axis([...points.map((p) => p[1]), ...y.around ?? []], {...y, px: [BOX.bottom, BOX.top] });
        const lines = curves.map(
            (curve, i) => svg(
                "g", { "data-curve": curve.name }, svg("path", {
                    class: "line p" + i % 8,
                    d: "M" +
                        curve.points.map((p) => `${across.at(p[0]).toFixed(2)} ${up.at(p[1]).toFixed(2)}`).join("L")
                }),
                dots && curve.points.length <= 64 ?
                    curve.points.map(
                        (p) => svg(
                            "circle",
                            { class: "q" + i % 8, cx: across.at(p[0]).toFixed(2), cy: up.at(p[1]).toFixed(2), r: 3 },
                            tip(`${curve.name}\n${x.label} ${across.name(p[0])}\n${y.label} ${fixed(p[1], 2)}`))) :
                    []));
        const legend = curves.map(
            (curve, i) =>
                [svg("path", { class: "line p" + i % 8, d: `M${BOX.left} ${BOX.bottom + 52 + LEGEND * i}h18` }),
                 text(BOX.left + 26, BOX.bottom + 56 + LEGEND * i, curve.name)]);

        return picture(
            title, 620, BOX.bottom + 46 + LEGEND * curves.length, axes(across, up, BOX), more(across, up, BOX), lines,
            legend);
    }

    // Points {x, y, name, strong}, with the names of those for which there is room.
    function scatter(title, points, { x, y, more = () => [], named = true }) {
        const across = axis([...points.map((p) => p.x), ...x.around ?? []], {...x, px: [BOX.left, BOX.right] });
        const up = axis([...points.map((p) => p.y), ...y.around ?? []], {...y, px: [BOX.bottom, BOX.top] });
        const taken = [];
        const dots = points.map((p) => {
            const cx = across.at(p.x), cy = up.at(p.y), wide = width(p.name), left = cx + wide + 12 > BOX.right;
            const box = [left ? cx - wide - 8 : cx + 8, cy - 8, wide, 14];
            const room = named && taken.length < 100 &&
                !taken.some(
                    (b) => box[0] < b[0] + b[2] && b[0] < box[0] + box[2] && box[1] < b[1] + b[3] &&
                        b[1] < box[1] + box[3]);
            if (room)
                taken.push(box);
            return svg(
                "g", { class: "point", "data-name": p.name, "data-x": p.x, "data-y": p.y },
                tip(`${p.name}\n${x.label} ${short(p.x)}\n${y.label} ${short(p.y)}`),
                svg("circle", { class: p.strong ? "q1" : "q7", cx, cy, r: p.strong ? 5 : 3 }),
                room ? text(box[0], cy + 4, p.name) : null);
        });

        return picture(title, 620, BOX.bottom + 46, axes(across, up, BOX), more(across, up, BOX), dots);
    }

    // -- bars ---------------------------------------------------------------------------------------

    // Bars {label, parts: [{name, colour, value}], value}: stacked; `longest` 0: each is 100 %.
    function stacks(title, bars, longest) {
        const parts = new Map(
            bars.flatMap((bar) => bar.parts).filter((part) => part.value > 0).map((part) => [part.name, part.colour]));
        const left = Math.min(most(bars.map((bar) => width(bar.label))) + 14, 260);
        const room = 620 - left - 8 - Math.max(76, most(bars.map((bar) => width(bar.words))));
        let x = 0, y = 4;
        const legend = [...parts].map(([name, colour]) => {
            if (x + width(name) + 30 > 620)
                [x, y] = [0, y + 18];
            const drawn = [svg("rect", { class: colour, x, y, width: 12, height: 12 }), text(x + 17, y + 10, name)];
            x += width(name) + 30;
            return drawn;
        });
        const drawn = bars.map((bar, i) => {
            const top = y + 26 + 24 * i, positive = bar.parts.filter((part) => part.value > 0);
            const sum = positive.reduce((all, part) => all + part.value, 0);
            let at = left;
            return [
                text(left - 8, top + 12, bar.label.slice(0, 38), { "text-anchor": "end" }), positive.map((part) => {
                    const wide = room * part.value / (longest || sum);
                    at += wide;
                    return svg(
                        "rect", { class: part.colour, x: at - wide, y: top, width: wide, height: 16 },
                        tip(`${part.name}: ${fixed(part.value, 2)} ns, ${fixed(100 * part.value / bar.value, 1)} %`));
                }),
                text(at + 8, top + 12, bar.words)
            ];
        });

        return picture(title, 620, y + 30 + 24 * bars.length, legend, drawn);
    }

    // Items {label, value, words, bad}: one bar each, from 0 to either side.
    function bars(title, items) {
        const left = Math.min(most(items.map((item) => width(item.label))) + 14, 300);
        const words = Math.min(Math.max(64, most(items.map((item) => width(item.words))) + 14), 280);
        const low = Math.min(0, least(items.map((item) => item.value))),
              high = Math.max(0, most(items.map((item) => item.value)));
        const at = (value) => left + (value - low) / (high - low || 1) * (620 - left - words);

        return picture(
            title, 620, 22 * items.length + 6,
            items.map(
                (item, i) =>
                    [text(left - 8, 22 * i + 15, item.label.slice(0, 46), { "text-anchor": "end" }, tip(item.label)),
                     svg("rect", {
                         class: item.bad ? "c-link" : "c-compute",
                         x: Math.min(at(0), at(item.value)),
                         y: 22 * i + 3,
                         width: Math.abs(at(item.value) - at(0)),
                         height: 16
                     },
                         tip(item.label)),
                     text(Math.max(at(0), at(item.value)) + 6, 22 * i + 15, item.words)]));
    }

    // Items {lane, from, to, colour, words} over time, a line for each lane.
    function timeline(title, items, colours) {
        const lanes = [...new Set(items.map((item) => item.lane))];
        const left = most(lanes.map(width)) + 14;
        const box = { left, top: 26, right: 1300, bottom: 26 + 20 * lanes.length };
        const x = axis(
            items.flatMap((item) => [item.from, item.to]),
            { label: "time, ns", log: false, from0: false, px: [left, 1300] });
        const drawn = items.map(
            (item) =>
                svg("rect", {
                    class: item.colour,
                    x: x.at(item.from).toFixed(2),
                    y: box.top + 20 * lanes.indexOf(item.lane) + 2,
                    height: 16,
                    width: Math.max(x.at(item.to) - x.at(item.from), 0.5).toFixed(2)
                },
                    tip(item.words)));
        let at = left;
        const legend = [...colours].map(([name, colour]) => {
            at += width(name) + 30;
            return [
                svg("rect", { class: colour, x: at - width(name) - 30, y: 4, width: 12, height: 12 }),
                text(at - width(name) - 13, 14, name)
            ];
        });
        const names = lanes.map((lane, i) => text(left - 8, box.top + 20 * i + 14, lane, { "text-anchor": "end" }));

        return picture(title, 1320, box.bottom + 44, axes(x, { ticks: [], label: "" }, box), legend, names, drawn);
    }

    // A square map of values by rank: as many cells have each of nine colours.
    function map(title, { from, to, values, cube, side }) {
        const px = 560 / side, left = 60, top = 30, classes = 9;
        const sorted = [...values].sort((a, b) => a - b);
        const bounds = [...Array(classes).keys()].map((i) => sorted[Math.floor(i * sorted.length / classes)]);
        const rank = (value) => bounds.findLastIndex((bound) => bound <= value);
        const cells = from.map(
            (_, row) => svg("g", { transform: `translate(0 ${(top + row * px).toFixed(2)})` }, to.map((_, column) => {
                const value = values[row * side + column];
                return svg(
                    "rect", {
                        class: "h" + rank(value),
                        x: (left + column * px).toFixed(2),
                        width: px.toFixed(2),
                        height: px.toFixed(2)
                    },
                    tip(`${from[row]} reads ${to[column]}: ${fixed(value, 2)} ns`));
            })));
        let free = -Infinity;
        const starts =
            from.map((name, i) => [cube(name), i]).filter(([name, i]) => i === 0 || cube(from[i - 1]) !== name);
        const labels = starts.map(([name, i], k) => {
            const middle = (i + ((starts[k + 1] ?? [0, side])[1] - i) / 2) * px;
            if (middle - 16 < free)
                return [];
            free = middle + 16;
            return [
                text(left + middle, top - 6, name, { "text-anchor": "middle" }),
                text(left - 8, top + middle + 4, name, { "text-anchor": "end" })
            ];
        });
        const cuts = starts.length < side ?
            starts.slice(1).map(
                ([, i]) =>
                    svg("path", { class: "cut", d: `M${left + i * px} ${top}v560M${left} ${top + i * px}h560` })) :
            [];
        const legend = bounds.map((bound, i) => bound === bounds[i + 1] ? [] : [
            svg("rect",
                { class: "h" + i, x: left + i * 560 / classes, y: top + 570, width: 560 / classes, height: 12 }),
            text(left + i * 560 / classes, top + 597, fixed(bound, 2), { class: "dim" })
        ]);

        return picture(
            title, left + 570, top + 606, cells, cuts, labels, legend,
            text(left - 8, top + 597, "ns from", { class: "dim", "text-anchor": "end" }));
    }

    return {
        least,
        most,
        html,
        svg,
        text,
        fixed,
        shown,
        short,
        decimalsOf,
        plot,
        scatter,
        stacks,
        bars,
        timeline,
        map
    };
})();
