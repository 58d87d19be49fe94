/*
 * study_read.c -- the file of a study: a base machine, variants, commands and costs, as YAML.
 *
 *     machine: topologies/cube8.yaml          # or the program's own
 *     set: {contention.links: fifo}           # of the base machine
 *     commands:
 *       - run gemm M=512 N=512 K=512
 *     variants:                               # by name, or ...
 *       d2d_x2: {sip.d2d.bw_gbs: 256}
 *     vary:                                   # ... every combination
 *       cube.noc.bw_gbs: [128, 256]
 *     sample: {sobol: 1000}                   # of these combinations so many points
 *     search: {front: 500}                    # or from there on towards the Pareto front
 *     cost:
 *       sip.d2d.bw_gbs: 0.5                   # for each GB/s more than in the base machine
 *       d2d_x2: 10                            # of a variant, besides
 *
 * Keys and values are texts here: the library knows what they may be, and judges them when
 * study_check() makes the machines with names, or a run its own. All mistakes are told in one run,
 * with their places. Combinations of `vary` come in the order of the file, the last key fastest.
 */
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/study/study.h"
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KB_NO_YAML
enum exit_code study_read(struct study *s, const struct cli *cli, const char *file)
{
    *s = (struct study){.cli = cli, .file = file};
    return say(cli->program, EXIT_SYSTEM, "cannot read %s: this build has no libyaml", file);
}
#else
#include "cli/study/study_yaml.h"

static const double COST_MOST = 1e15; /* so that sums of costs are numbers */

/* The reading of one file. */
struct reader {
    struct study *s;
    yaml_document_t doc;
    bool failed;
    bool crowded; /* it has named a key too many; the others would say the same */
};

/* -- places and mistakes -------------------------------------------------------------------- */

static void bad(struct reader *r, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void bad(struct reader *r, const yaml_node_t *at, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    text_vformat(line, sizeof line, format, args);
    va_end(args);
    say_line("%s:%zu:%zu: %s", r->s->file, at->start_mark.line + 1, at->start_mark.column + 1,
             line);
    r->failed = true;
}

static const yaml_node_t *node(struct reader *r, int id)
{
    return yaml_document_get_node(&r->doc, id);
}

static const char *text_of(const yaml_node_t *n)
{
    return (const char *)n->data.scalar.value;
}

/* A scalar without a zero byte; else a message. */
static bool is_scalar(struct reader *r, const yaml_node_t *n, const char *what)
{
    if (n->type == YAML_SCALAR_NODE && n->data.scalar.length > 0 &&
        strlen(text_of(n)) == n->data.scalar.length && n->data.scalar.length < 4096)
        return true;
    bad(r, n, "%s must be one word or number", what);
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(text_of(a), text_of(b));
}

static void leave(void *key)
{
    (void)key; /* of the document */
}

/* Calls `each` for every pair of a mapping; a message if it is none. */
static void each_pair(struct reader *r, const yaml_node_t *map, const char *what,
                      void (*each)(struct reader *r, const yaml_node_t *key,
                                   const yaml_node_t *value, void *arg),
                      void *arg)
{
    if (map->type != YAML_MAPPING_NODE) {
        bad(r, map, "%s must be a mapping, as NAME: VALUE", what);
        return;
    }
    void *seen = NULL;
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = node(r, p->key);

        if (!is_scalar(r, key, "a name"))
            continue;
        const yaml_node_t *const *first = tsearch(key, &seen, by_text);
        if (!first)
            memory_lacks();
        if (*first != key)
            bad(r, key, "'%s' again, see line %zu", text_of(key), (*first)->start_mark.line + 1);
        each(r, key, node(r, p->value), arg);
    }
    tdestroy(seen, leave);
}

/* The value of a word of the file; NULL: it is not there. */
static const yaml_node_t *find(struct reader *r, const char *name)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->doc);

    for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
         p < root->data.mapping.pairs.top; p++)
        if (node(r, p->key)->type == YAML_SCALAR_NODE &&
            strcmp(text_of(node(r, p->key)), name) == 0)
            return node(r, p->value);
    return NULL;
}

/* -- keys ----------------------------------------------------------------------------------- */

/* The number of the key, which is added; STUDY_KEYS_MAX after a message: there are too many. */
static size_t key_number(struct reader *r, const yaml_node_t *at)
{
    struct study *s = r->s;
    size_t i = 0;

    while (i < s->n_keys && strcmp(s->key[i].name, text_of(at)) != 0)
        i++;
    if (i < s->n_keys)
        return i;
    if (s->n_keys == STUDY_KEYS_MAX) {
        if (!r->crowded)
            bad(r, at, "a study changes at most %d keys", STUDY_KEYS_MAX);
        r->crowded = true;
        return STUDY_KEYS_MAX;
    }
    s->key[s->n_keys++] = (struct study_key){.name = memory_text(text_of(at)),
                                             .cost = NAN,
                                             .line = (int)at->start_mark.line + 1,
                                             .column = (int)at->start_mark.column + 1};
    return i;
}

/* The name of the machine is part of its hash, and of nothing that is simulated; the version
 * decides what a file leaves out, and a base machine has all its keys. */
static bool is_key(struct reader *r, const yaml_node_t *key)
{
    bool is_name = strcmp(text_of(key), "name") == 0;

    if (is_name)
        bad(r, key, "variants have names of their own: 'name' cannot be changed");
    else if (strcmp(text_of(key), "kernbench") != 0)
        return true;
    else
        bad(r, key, "'kernbench' is the version of the machine's file, and cannot be changed");
    return false;
}

/* A word in quotes, of a list: as it stands there, `c1.pe[4-7]` would be no word. */
static void put_word(struct sink *to, const yaml_node_t *n)
{
    bool quoted = n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;

    if (quoted)
        sink_char(to, '\'');
    for (const char *c = text_of(n); *c; c++)
        sink_text(to, quoted && *c == '\'' ? "''" : (char[]){*c, '\0'});
    if (quoted)
        sink_char(to, '\'');
}

/* A list in one line. False after a message. */
static bool put_list(struct reader *r, struct sink *to, const yaml_node_t *list, const char *key)
{
    const yaml_node_item_t *first = list->data.sequence.items.start;

    sink_char(to, '[');
    for (const yaml_node_item_t *i = first; i < list->data.sequence.items.top; i++) {
        if (!is_scalar(r, node(r, *i), key))
            return false;
        sink_text(to, i > first ? ", " : "");
        put_word(to, node(r, *i));
    }
    sink_char(to, ']');
    return true;
}

/* A value as --set takes it, owned; NULL after a message. */
static char *value_text(struct reader *r, const yaml_node_t *value, const char *key)
{
    struct sink to;
    char *text = NULL;

    if (value->type == YAML_SCALAR_NODE)
        return is_scalar(r, value, key) ? memory_text(text_of(value)) : NULL;
    if (value->type != YAML_SEQUENCE_NODE) {
        bad(r, value, "'%s' must be one value: in quotes, as \"{c1: {pes: 4}}\"", key);
        return NULL;
    }
    sink_open_memory(&to);
    if (put_list(r, &to, value, key))
        text = memory_part(to.buffer, (size_t)(to.at - to.buffer));
    sink_free(&to);
    return text;
}

/* -- variants ------------------------------------------------------------------------------- */

static struct study_named *add_named(struct reader *r, const yaml_node_t *at, const char *name)
{
    struct study *s = r->s;

    s->named = memory_room(s->named, s->n_named, &s->named_room, sizeof *s->named);
    s->named[s->n_named] = (struct study_named){.name = memory_text(name),
                                                .own_cost = NAN,
                                                .line = at ? (int)at->start_mark.line + 1 : 1,
                                                .column = at ? (int)at->start_mark.column + 1 : 1};
    return &s->named[s->n_named++];
}

static void read_change(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                        void *variant)
{
    size_t k = is_key(r, key) ? key_number(r, key) : STUDY_KEYS_MAX;

    if (k == STUDY_KEYS_MAX)
        return;
    struct study_named *v = &r->s->named[*(size_t *)variant];
    free(v->value[k]); /* a key that stands twice was told */
    v->value[k] = value_text(r, value, text_of(key));
    r->s->key[k].is_changed = true;
}

static void read_variant(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                         void *arg)
{
    const char *name = text_of(key);
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+");
    size_t number = r->s->n_named;

    (void)arg;
    if (name[n] || n >= STUDY_NAME_BYTES)
        bad(r, key, "'%s' is no name of a variant: letters, digits, _, - and +, at most %d", name,
            STUDY_NAME_BYTES - 1);
    else if (strcmp(name, "base") == 0)
        bad(r, key, "'base' is the machine without changes, it is always there");
    add_named(r, key, name);
    each_pair(r, value, "a variant", read_change, &number);
}

/* -- vary ----------------------------------------------------------------------------------- */

/* Where a value stands. */
struct value_place {
    struct reader *r;
    const yaml_node_t *at;
};

static void bad_value(void *arg, const char *text)
{
    const struct value_place *place = arg;

    bad(place->r, place->at, "%s", text);
}

static void read_item(struct reader *r, const yaml_node_t *at, struct varied_key *v)
{
    struct value_place place = {r, at};
    char *text = value_text(r, at, "a value");
    size_t first = v->n, longest = 0;

    if (text)
        variants_add(v, text, bad_value, &place);
    for (size_t i = first; i < v->n; i++)
        if (strlen(v->words[i] + v->value_at) > longest)
            longest = strlen(v->words[i] + v->value_at);
    if (longest >= STUDY_VALUE_BYTES)
        bad(r, at, "a value has at most %d characters", STUDY_VALUE_BYTES - 1);
    free(text);
}

static void read_axis(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
    struct variants *points = &r->s->points;
    size_t k = is_key(r, key) ? key_number(r, key) : STUDY_KEYS_MAX;

    (void)arg;
    if (k == STUDY_KEYS_MAX || points->n_keys == VARY_KEYS_MAX)
        return;
    r->s->point_key[points->n_keys] = k;
    r->s->key[k].is_changed = true;
    struct varied_key *v = &points->key[points->n_keys++];
    v->path = memory_text(text_of(key));
    v->value_at = strlen(v->path) + 1;
    if (value->type == YAML_SEQUENCE_NODE)
        for (const yaml_node_item_t *i = value->data.sequence.items.start;
             i < value->data.sequence.items.top; i++)
            read_item(r, node(r, *i), v);
    else
        read_item(r, value, v);
    if (v->n == 0 && !r->failed)
        bad(r, value, "'%s' has no values", text_of(key));
}

static void read_vary(struct reader *r, const yaml_node_t *value)
{
    struct variants *points = &r->s->points;
    double n = 1;

    each_pair(r, value, "'vary'", read_axis, NULL);
    r->s->vary_line = (int)value->start_mark.line + 1;
    r->s->vary_column = (int)value->start_mark.column + 1;
    for (size_t a = 0; a < points->n_keys; a++)
        n *= (double)points->key[a].n;
    if (n > 1e18) /* they are numbered */
        bad(r, value, "%.0f combinations are more than can be numbered", n);
    else
        points->n = points->n_grid = points->n_keys > 0 ? (uint64_t)n : 0;
    if (n > VARIANTS_MAX && !find(r, "sample") && !find(r, "search") && !r->failed)
        bad(r, value, "%.0f combinations; a study runs at most %d of them, see 'sample'", n,
            VARIANTS_MAX);
}

/* -- sample, search ------------------------------------------------------------------------- */

/* A number from 1 to VARIANTS_MAX; 0 after a message. */
static uint64_t read_number(struct reader *r, const yaml_node_t *at, const char *what)
{
    uint64_t n = 0;

    if (is_scalar(r, at, what) &&
        (!text_read_count(text_of(at), strlen(text_of(at)), &n) || n < 1 || n > VARIANTS_MAX)) {
        bad(r, at, "'%s' is no number of points, 1 to %d", text_of(at), VARIANTS_MAX);
        return 0;
    }
    return n;
}

static void read_sample(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                        void *arg)
{
    struct variants *points = &r->s->points;
    bool sobol = strcmp(text_of(key), "sobol") == 0;

    (void)arg;
    if (strcmp(text_of(key), "seed") == 0) {
        if (is_scalar(r, value, "a seed") &&
            !text_read_count(text_of(value), strlen(text_of(value)), &points->seed))
            bad(r, value, "'%s' is no seed", text_of(value));
    } else if (!sobol && strcmp(text_of(key), "random") != 0) {
        bad(r, key, "unknown key '%s': a sample is sobol: N, or random: N with seed: S",
            text_of(key));
    } else if (points->n_keys == 0) {
        bad(r, key, "a sample is of the combinations of 'vary', and there are none");
    } else {
        points->kind = sobol ? POINTS_SOBOL : POINTS_RANDOM;
        points->n = read_number(r, value, "a sample");
    }
}

static void read_search(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                        void *arg)
{
    (void)arg;
    if (strcmp(text_of(key), "front") != 0)
        bad(r, key, "unknown key '%s': a search is front: N, the points that it may run",
            text_of(key));
    else if (r->s->points.n_keys == 0)
        bad(r, key, "a search is among the combinations of 'vary', and there are none");
    else
        r->s->n_searched = read_number(r, value, "a search");
}

/* -- commands ------------------------------------------------------------------------------- */

/* Cuts it at blanks. */
static void add_command(struct reader *r, const yaml_node_t *at)
{
    struct study *s = r->s;

    if (!is_scalar(r, at, "a command"))
        return;
    if (s->n_commands == STUDY_COMMANDS_MAX) {
        bad(r, at, "a study has at most %d commands", STUDY_COMMANDS_MAX);
        return;
    }
    struct study_command *c = &s->command[s->n_commands++];
    *c = (struct study_command){.line = memory_text(text_of(at)),
                                .n_words = 1,
                                .at_line = (int)at->start_mark.line + 1,
                                .column = (int)at->start_mark.column + 1};
    if (strpbrk(c->line, "\"'\\$`"))
        bad(r, at, "a command without quotes: it is cut at blanks, and nothing else is done to it");
    c->word = memory_new(strlen(c->line) + 3, sizeof *c->word);
    char *rest = memory_text(c->line);
    char *all = rest;
    for (char *word; (word = strsep(&rest, " \t\n"));)
        if (*word)
            c->word[c->n_words++] = memory_text(word);
    free(all);
}

static void read_commands(struct reader *r, const yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE) {
        add_command(r, value);
        return;
    }
    for (const yaml_node_item_t *i = value->data.sequence.items.start;
         i < value->data.sequence.items.top; i++)
        add_command(r, node(r, *i));
}

/* -- the rest ------------------------------------------------------------------------------- */

static void read_base_set(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                          void *arg)
{
    struct study *s = r->s;
    char *text = is_key(r, key) ? value_text(r, value, text_of(key)) : NULL;

    (void)arg;
    if (!text)
        return;
    size_t n = strlen(text_of(key)) + strlen(text) + 2;
    s->set = memory_resize(s->set, s->n_sets + 1, sizeof *s->set);
    s->set[s->n_sets] = memory_new(n, 1);
    snprintf(s->set[s->n_sets++], n, "%s=%s", text_of(key), text);
    free(text);
}

static void read_cost(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
    struct study *s = r->s;
    char *end;

    (void)arg;
    s->has_costs = true;
    if (!is_scalar(r, value, "a cost"))
        return;
    double cost = text_to_double(text_of(value), &end);
    if (*end || !(fabs(cost) <= COST_MOST)) {
        bad(r, value, "cost '%s' is not a number from -1e15 to 1e15", text_of(value));
        return;
    }
    for (size_t v = 0; v < s->n_named; v++)
        if (strcmp(s->named[v].name, text_of(key)) == 0) {
            s->named[v].own_cost = cost;
            return;
        }
    if (!strpbrk(text_of(key), "._") && strcmp(text_of(key), "sips") != 0) {
        bad(r, key, "there is no variant '%s', and no key of that name", text_of(key));
        return;
    }
    size_t k = key_number(r, key);
    if (k < STUDY_KEYS_MAX)
        s->key[k].cost = cost;
}

static void check_word(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                       void *arg)
{
    static const char *const words[] = {"machine", "set",    "command", "commands", "variants",
                                        "vary",    "sample", "search",  "cost"};
    enum { N_WORDS = sizeof words / sizeof *words };
    const char *near = text_nearest(text_of(key), strlen(text_of(key)), words, N_WORDS);

    (void)value;
    (void)arg;
    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(words[i], text_of(key)) == 0)
            return;
    if (near)
        bad(r, key, "unknown key '%s', did you mean '%s'?", text_of(key), near);
    else
        bad(r, key,
            "unknown key '%s': a study has machine, set, commands, variants, vary, sample, search "
            "and cost",
            text_of(key));
}

/* Costs come last: they name variants. */
static void read_document(struct reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->doc), *n;
    bool has_variants = find(r, "variants") || find(r, "vary");

    each_pair(r, root, "a study", check_word, NULL);
    add_named(r, NULL, "base");
    if ((n = find(r, "machine")) && is_scalar(r, n, "'machine'"))
        r->s->machine = memory_text(text_of(n));
    if ((n = find(r, "set")))
        each_pair(r, n, "'set'", read_base_set, NULL);
    if ((n = find(r, "command")))
        read_commands(r, n);
    if ((n = find(r, "commands")))
        read_commands(r, n);
    if ((n = find(r, "variants")))
        each_pair(r, n, "'variants'", read_variant, NULL);
    if ((n = find(r, "vary")))
        read_vary(r, n);
    if ((n = find(r, "sample")))
        each_pair(r, n, "'sample'", read_sample, NULL);
    if ((n = find(r, "search")))
        each_pair(r, n, "'search'", read_search, NULL);
    if ((n = find(r, "cost")))
        each_pair(r, n, "'cost'", read_cost, NULL);
    if (r->s->n_searched > 0 && !r->s->has_costs && !r->failed)
        bad(r, find(r, "search"), "a search for the front needs costs");
    if (r->s->n_commands == 0 && !r->failed)
        bad(r, root, "a study needs commands, as 'commands: [run gemm]'");
    if (!has_variants && !r->failed)
        bad(r, root,
            "a study needs variants, as 'variants: {noc_x2: {cube.noc.bw_gbs: 256}}', or "
            "'vary'");
}

/* The file as one document, a mapping; EXIT_OK, or after a message another code. */
static enum exit_code load_document(struct reader *r)
{
    enum exit_code code = study_load(r->s->cli->program, r->s->file, &r->doc);
    const yaml_node_t *root = code ? NULL : yaml_document_get_root_node(&r->doc);

    if (code || (root && root->type == YAML_MAPPING_NODE))
        return code;
    say_line("%s:1:1: a study is a mapping: machine, commands, variants, cost", r->s->file);
    return EXIT_INPUT;
}

enum exit_code study_read(struct study *s, const struct cli *cli, const char *file)
{
    struct reader r = {.s = s};

    *s = (struct study){.cli = cli, .file = file};
    enum exit_code code = load_document(&r);
    if (!code)
        read_document(&r);
    yaml_document_delete(&r.doc);
    return r.failed ? EXIT_INPUT : code;
}
#endif
