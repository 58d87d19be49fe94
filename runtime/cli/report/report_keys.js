// report_keys.js -- keys of the machine with their values, and which of them says what a place has.
//
// Where cubes differ this is a key of a kind or of a row of `cubes`, and a link of a net has one of `links`. Example:
// `cubes: {'c[0-1]': iod}` and `kinds: {iod: {hbm: {bw_gbs: 333.0}}}` make cube.hbm.bw_gbs of c0.slice0 to
// kinds.iod.hbm.bw_gbs.
const machineKeys = (config) => {
    // "cube.hbm.bw_gbs" -> "256.0", of the resolved YAML.
    const given = new Map(), path = [];
    for (const [, indent, key, value] of config.matchAll(/^( *)([\w.]+): ?(.*)$/gm)) {
        path.splice(indent.length / 2, 9, key);
        if (value)
            given.set(path.join("."), value);
    }

    // A mapping in braces as Maps of Maps and texts; a list is a text.
    function mapping(text) {
        let at = 0;
        const word = () => {
            const [all, quoted, plain] = /^(?:'([^']*)'|(\[[^\]]*\]|[^:,}]*))/.exec(text.slice(at));

            at += all.length;
            return quoted ?? plain;
        };
        const value = () => {
            const made = new Map();

            if (text[at] !== "{")
                return word();
            at++;
            while (at < text.length && text[at] !== "}") {
                const key = word();

                at += ": ".length;
                made.set(key, value());
                if (text[at] === ",")
                    at += ", ".length;
            }
            at++;
            return made;
        };

        return text.startsWith("{") ? value() : new Map();
    }
    const [cubes, kinds, links] = ["cubes", "kinds", "links"].map((key) => mapping(given.get(key) ?? ""));
    const isNet = given.has("sip.net") || given.has("fabric.net");

    // Does "s*.c[0-3]", or "c5" of SIP 0, name the cube?
    const among = (numbers, n) => numbers === "*" || numbers.replace(/[[\]]/g, "").split(",").some((range) => {
        const [first, last = first] = range.split("-").map(Number);

        return first <= n && n <= last;
    });
    function names(pattern, sip, cube) {
        const [, sips = "0", numbers] = /^(?:s([^.]+)\.)?c(.+)$/.exec(pattern) ?? [];

        return numbers !== undefined && among(sips, sip) && among(numbers, cube);
    }

    const below = (map, rest) =>
        rest.split(".").reduce((found, part) => found instanceof Map ? found.get(part) : undefined, map);

    // What a key of `cube` is at a place: the last of the rows that name its cube and have the key. Without a place
    // it is the machine's, if no row has it.
    function ofCube(key, at) {
        const [, longSip, longCube, sip = longSip ?? 0, cube = longCube] =
            /sip(\d+)\.cube(\d+)|(?:s(\d+)\.)?\bc(\d+)/.exec(at) ?? [];
        const rest = key.slice("cube.".length);
        let found = given.has(key) ? [{ key, value: given.get(key) }] : [];

        for (const [pattern, own] of cubes) {
            const kind = own instanceof Map ? own.get("kind") : own;

            if (cube !== undefined && !names(pattern, Number(sip), Number(cube)))
                continue;
            for (const [name, keys] of [[`kinds.${kind}`, kinds.get(kind)], [`cubes.${pattern}`, own]])
                if (below(keys, rest) !== undefined)
                    found = cube === undefined ? [] : [{ key: `${name}.${rest}`, value: below(keys, rest) }];
        }
        return found;
    }

    // Kinds of links with the bandwidth of the link between two ports.
    const ofLink = (at, gbs) => [["sip.d2d", given.get("sip.d2d.bw_gbs")],
                                 ...[...links].map(([name, kind]) => [`links.${name}`, kind.get("bw_gbs")])]
                                    .filter(([, value]) => /port\S* -> \S*port/.test(at) && Number(value) === gbs)
                                    .map(([name, value]) => ({ key: name + ".bw_gbs", value }));

    // Where no place is told: the three largest of such keys of the machine, of its kinds of cubes and of links.
    function largest(asked) {
        const of = (word, maps) =>
            asked.filter((key) => key.startsWith(word + ".")).map((key) => key.slice(word.length + 1)).flatMap(
                (rest) => [...maps].map(([name, keys]) => ({ key: `${name}.${rest}`, value: below(keys, rest) })));
        const all = [...asked.map((key) => ({ key, value: given.get(key) })),
                     ...of("cube", [...kinds].map(([name, keys]) => ["kinds." + name, keys])),
                     ...of("links", [...links].map(([name, keys]) => ["links." + name, keys]))];

        return all.filter(({ value }) => Number(value) > 0).sort((a, b) => b.value - a.value).slice(0, 3);
    }

    // Keys with their values that say what `at` has, of those that say it where cubes are alike and stand in a mesh.
    // `gbs`: the bandwidth of the place.
    return (asked, at, gbs) => asked.flatMap(
               (key) => key.largest                  ? largest(key.largest) :
                   key.startsWith("cube.")           ? ofCube(key, at) :
                   key === "sip.d2d.bw_gbs" && isNet ? ofLink(at, gbs) :
                   given.has(key)                         ? [{ key, value: given.get(key) }] :
                                                            []);
};
