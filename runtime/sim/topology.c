/*
 * topology.c -- machines made at run time, by the code of kbgen, in memory.
 *
 * The tables are those that kbgen would print, so all that is computed from them is the same to the
 * digit. Only the engine differs: it is that for any topology, since none is compiled for these.
 *
 * A machine owns the arena of its tables and nothing else, and no one writes to it any more.
 */
#include "base/larger.h"
#include "kernbench.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

enum { FACTOR_MAX = 1000000 };

/* The messages of one machine: lines. */
struct messages {
    char *text; /* owned; NULL: none */
    size_t len;
    bool lost; /* for want of memory */
};

static void add_message(void *to, const char *line)
{
    struct messages *m = to;
    size_t n = strlen(line);
    char *text = realloc(m->text, m->len + n + 2);

    if (!text) {
        m->lost = true;
        return;
    }
    memcpy(text + m->len, line, n);
    memcpy(text + m->len + n, "\n", 2);
    m->text = text;
    m->len += n + 1;
}

static void free_messages(struct messages *m)
{
    free(m->text);
    *m = (struct messages){0};
}

/* Gives the messages to the caller, if it wants them. */
static void give_messages(struct messages *m, char **out)
{
    if (out)
        *out = m->text;
    else
        free_messages(m);
}

#ifdef KB_NO_YAML
kb_status kb_topology_load(const kb_topology_source *source, const kb_topology **out,
                           char **messages)
{
    struct messages said = {0};

    if (!source || !out)
        return KB_BAD_REQUEST;
    *out = NULL;
    add_message(&said, "this kernbench was built without libyaml: it has compiled machines only");
    give_messages(&said, messages);
    return KB_BAD_REQUEST;
}

kb_status kb_topology_load_until(const kb_topology_source *source, bool (*stop)(void *arg),
                                 void *arg, const kb_topology **out, char **messages)
{
    (void)stop, (void)arg;
    return kb_topology_load(source, out, messages);
}

void kb_topology_free(const kb_topology *topo)
{
    (void)topo;
}

kb_status kb_topology_keys(const kb_topology *topo, void (*each)(void *arg, const kb_key *key),
                           void *arg)
{
    (void)topo, (void)each, (void)arg;
    return KB_BAD_REQUEST;
}

kb_status kb_cube_keys(const kb_topology *topo, uint32_t sip, uint32_t cube,
                       void (*each)(void *arg, const kb_key *key), void *arg)
{
    (void)topo, (void)sip, (void)cube, (void)each, (void)arg;
    return KB_BAD_REQUEST;
}

kb_status kb_topology_numbers(const kb_topology *topo, double factor,
                              void (*each)(void *arg, const kb_better *number), void *arg)
{
    (void)topo, (void)factor, (void)each, (void)arg;
    return KB_BAD_REQUEST;
}

kb_status kb_topology_better(const kb_topology *topo, const char *const *names, size_t n,
                             double factor, const kb_topology **out, char **messages)
{
    kb_topology_source none = {0};

    (void)topo, (void)names, (void)n, (void)factor;
    return kb_topology_load(&none, out, messages);
}
#else
#include "gen/better.h"
#include "gen/build.h"
#include "gen/component_code.h"
#include "gen/component_told.h"
#include "gen/cubes.h"
#include "gen/keys.h"
#include "gen/resolve.h"
#include "sim/component_open.h"

/* The topology first: a pointer to it is one to the whole. */
struct loaded {
    struct kb_topology topo;
    struct spec *spec;  /* the arena's: for variants. NULL: it is one itself */
    struct arena arena; /* owned: all that `topo` points to */
};

/* What the messages mean to the caller. */
static kb_status status_of(const struct build *b)
{
    if (!diag_count(&b->diag))
        return KB_OK;
    if (b->spec.unreadable || b->diag.code == EXIT_SYSTEM)
        return KB_FILE_ERROR;
    return b->diag.code == EXIT_USAGE ? KB_BAD_REQUEST : KB_BAD_FILE;
}

struct making {
    struct source source;
    struct spec *spec; /* the arena's: what was read, for variants */
};

/* What a machine has that has this part, with a state of so many bytes. */
static void add_part(struct impls *impls, const struct part *part, size_t bytes)
{
    switch (part->component->kind) {
    case COMPONENT_NODE:
        impls->nodes = true;
        impls->node_bytes = larger(impls->node_bytes, bytes);
        return;
    case COMPONENT_ENGINE:
        impls->engines = true;
        impls->engine_bytes = larger(impls->engine_bytes, bytes);
        return;
    case COMPONENT_FRONT:
        impls->fronts = true; /* fall through */
    case COMPONENT_QUEUEING:
        impls->queueing = true;
        break;
    case COMPONENT_MEMORY:
    case N_COMPONENT_KINDS:
        impls->memories = true;
    }
    impls->memory_bytes = larger(impls->memory_bytes, bytes);
}

/* Compiles the components, or finds them compiled, and gives their calls to the topology. */
static void take_components(struct build *b)
{
    const struct part *first = diag_count(&b->diag) ? NULL : b->spec.parts;
    struct component_opening *o;
    struct impls *impls;
    size_t i = 0;

    if (!first)
        return;
    if (!components_open) {
        diag_error(&b->diag, spec_place(&b->spec, first->key),
                   "'%s: %s' is a component, which this program cannot load: link it with "
                   "-Wl,-u,kb_rt_components_open, not -static",
                   key_rows[first->key].path, first->component->name);
        return;
    }
    o = arena_alloc(&b->arena, sizeof *o);
    components_open(component_code(&b->spec), o);
    if (o->what != OPEN_OK) {
        component_tell(&b->spec, o);
        return;
    }
    impls = arena_alloc(&b->arena, sizeof *impls);
    *impls = (struct impls){.of = o->of, .in = b->routes.boxes, .compiler = o->compiler};
    for (const struct part *p = first; p; p = p->next)
        add_part(impls, p, o->of[++i].bytes);
    b->routes.topo.impls = impls;
}

/* All that needs memory of the arena. */
static void make(struct build *b, void *arg)
{
    struct making *m = arg;

    build_all(b, &m->source);
    take_components(b);
    if (m->source.base || diag_count(&b->diag))
        return;
    m->spec = arena_alloc(&b->arena, sizeof *m->spec);
    *m->spec = b->spec;
    resolve_keep_texts(m->spec);
}

/* The keys of `base`: as they were read, or from its resolved YAML. */
static void take_base(struct source *source, const kb_topology *base)
{
    source->base = base->release ? NULL : ((const struct loaded *)base)->spec;
    source->file = base->name;
    source->text = base->config;
    source->len = strlen(base->config);
}

static kb_status load(const struct source *source, struct loaded *out, struct build *b)
{
    struct messages *said = b->diag.to;
    struct making m = {.source = *source};
    bool whole = build_guarded(b, make, &m);
    kb_status status = b->ended ? KB_STOPPED : whole && !said->lost ? status_of(b) : KB_NO_MEMORY;

    if (status == KB_OK) {
        out->topo = b->routes.topo;
        out->spec = m.spec;
        out->arena = b->arena;
    } else {
        arena_release(&b->arena);
    }
    return status;
}

/* When to give up; all zero: never. */
struct giving_up {
    bool (*stop)(void *arg);
    void *arg;
};

static kb_status load_told(const struct source *source, struct giving_up until,
                           const kb_topology **out, char **messages)
{
    struct messages said = {0};
    struct loaded *loaded = calloc(1, sizeof *loaded);
    struct build *b = calloc(1, sizeof *b);
    kb_status status = KB_NO_MEMORY;

    if (loaded && b) {
        b->diag = (struct diag){.say = add_message, .to = &said};
        b->arena.stop = until.stop;
        b->arena.stop_arg = until.arg;
        status = load(source, loaded, b);
    }
    free(b);
    if (status != KB_OK) {
        free(loaded);
        loaded = NULL;
    }
    if (status == KB_NO_MEMORY || status == KB_STOPPED)
        free_messages(&said);
    *out = loaded ? &loaded->topo : NULL;
    give_messages(&said, messages);
    return status;
}

kb_status kb_topology_load(const kb_topology_source *from, const kb_topology **out, char **messages)
{
    return kb_topology_load_until(from, NULL, NULL, out, messages);
}

kb_status kb_topology_load_until(const kb_topology_source *from, bool (*stop)(void *arg), void *arg,
                                 const kb_topology **out, char **messages)
{
    struct source source;

    if (!from || (!from->base && !from->file) || !out || (from->n_sets && !from->sets))
        return KB_BAD_REQUEST;
    source = (struct source){.file = from->file,
                             .text = from->text,
                             .len = from->text ? from->nbytes : 0,
                             .sets = from->sets,
                             .n_sets = from->n_sets};
    if (from->base)
        take_base(&source, from->base);
    return load_told(&source, (struct giving_up){stop, arg}, out, messages);
}

void kb_topology_free(const kb_topology *topo)
{
    struct loaded *loaded = (struct loaded *)topo;

    if (loaded)
        arena_release(&loaded->arena);
    free(loaded);
}

enum { NO_CUBE = -1 };

struct walk {
    const kb_topology *topo;
    int64_t cube; /* whose keys: SIP by SIP; or NO_CUBE */
    void (*each)(void *arg, const kb_key *key);
    void *arg;
};

/* The keys are in the resolved YAML, which every topology has. */
static void walk_keys(struct build *b, void *arg)
{
    const struct walk *w = arg;
    struct source source = {
        .file = w->topo->name, .text = w->topo->config, .len = strlen(w->topo->config)};
    const struct spec *spec = &b->spec;
    struct cubes cubes;

    build_read(b, &source);
    if (w->cube == NO_CUBE) {
        keys_walk_named(spec, w->each, w->arg);
        return;
    }
    if (spec->cubes.n && find_cubes(spec, &cubes))
        spec = cubes.kinds[cubes.kind[w->cube]];
    keys_walk(spec, w->each, w->arg);
}

static kb_status guarded_walk(struct walk *walk)
{
    struct build *b = calloc(1, sizeof *b);
    kb_status status = KB_NO_MEMORY;

    if (b && build_guarded(b, walk_keys, walk))
        status = KB_OK;
    if (b)
        arena_release(&b->arena);
    free(b);
    return status;
}

kb_status kb_topology_keys(const kb_topology *topo, void (*each)(void *arg, const kb_key *key),
                           void *arg)
{
    struct walk walk = {topo, NO_CUBE, each, arg};

    return topo && each ? guarded_walk(&walk) : KB_BAD_REQUEST;
}

kb_status kb_cube_keys(const kb_topology *topo, uint32_t sip, uint32_t cube,
                       void (*each)(void *arg, const kb_key *key), void *arg)
{
    struct walk walk = {topo, NO_CUBE, each, arg};
    kb_cube found;

    if (!topo || !each || kb_cube_get(topo, sip, cube, &found) != KB_OK)
        return KB_BAD_REQUEST;
    walk.cube = (int64_t)sip * topo->cubes + cube;
    return guarded_walk(&walk);
}

/* -- better ones ---------------------------------------------------------------------------- */

/* What `topo` was made from. */
static struct source source_of(const kb_topology *topo)
{
    return (struct source){.file = topo->name, .text = topo->config, .len = strlen(topo->config)};
}

static bool is_factor(double factor)
{
    return factor > 1 && factor <= FACTOR_MAX;
}

struct telling {
    const kb_topology *topo;
    double factor;
    void (*each)(void *arg, const kb_better *number);
    void *arg;
};

static void tell_numbers(struct build *b, void *arg)
{
    const struct telling *t = arg;
    struct source source = source_of(t->topo);

    build_read(b, &source);
    better_each(&b->spec, t->factor, t->each, t->arg);
}

kb_status kb_topology_numbers(const kb_topology *topo, double factor,
                              void (*each)(void *arg, const kb_better *number), void *arg)
{
    struct telling telling = {topo, factor, each, arg};
    struct build *b;
    kb_status status = KB_NO_MEMORY;

    if (!topo || !each || !is_factor(factor))
        return KB_BAD_REQUEST;
    b = calloc(1, sizeof *b);
    if (b && build_guarded(b, tell_numbers, &telling))
        status = KB_OK;
    if (b)
        arena_release(&b->arena);
    free(b);
    return status;
}

/* Read again from its text: values that some cubes have are changed in place, and are not shared.
 */
kb_status kb_topology_better(const kb_topology *topo, const char *const *names, size_t n,
                             double factor, const kb_topology **out, char **messages)
{
    struct source source;

    if (!topo || !out || (n && !names) || !is_factor(factor))
        return KB_BAD_REQUEST;
    source = source_of(topo);
    source.better = names;
    source.n_better = n;
    source.factor = factor;
    return load_told(&source, (struct giving_up){0}, out, messages);
}
#endif
