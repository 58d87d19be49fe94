/*
 * topology.c -- machines made at run time, by the code of kbgen, in memory.
 *
 * The tables are those that kbgen would print, so all that is computed from them is the same to the
 * digit. Only the engine differs: it is that for any topology, since none is compiled for these.
 *
 * A machine owns the arena of its tables and nothing else, and no one writes to it any more.
 */
#include "kernbench.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

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

void kb_topology_free(const kb_topology *topo)
{
    (void)topo;
}
#else
#include "gen/build.h"

/* The topology first: a pointer to it is one to the whole. */
struct loaded {
    struct kb_topology topo;
    struct arena arena; /* owned: all that `topo` points to */
};

/* What the messages mean to the caller. */
static kb_status status_of(const struct build *b)
{
    if (!diag_count(&b->diag))
        return KB_OK;
    if (b->spec.unreadable)
        return KB_FILE_ERROR;
    return b->diag.code == EXIT_USAGE ? KB_BAD_REQUEST : KB_BAD_FILE;
}

static kb_status load(const kb_topology_source *from, struct loaded *out, struct build *b)
{
    struct messages *said = b->diag.to;
    struct source source = {.file = from->file,
                            .text = from->text,
                            .len = from->text ? from->nbytes : 0,
                            .sets = from->sets,
                            .n_sets = from->n_sets};
    kb_status status = build_all(b, &source) && !said->lost ? status_of(b) : KB_NO_MEMORY;

    if (status == KB_OK) {
        out->topo = b->routes.topo;
        out->arena = b->arena;
    } else {
        arena_release(&b->arena);
    }
    return status;
}

kb_status kb_topology_load(const kb_topology_source *source, const kb_topology **out,
                           char **messages)
{
    struct messages said = {0};
    struct loaded *loaded;
    struct build *b;
    kb_status status = KB_NO_MEMORY;

    if (!source || !source->file || !out || (source->n_sets && !source->sets))
        return KB_BAD_REQUEST;
    loaded = calloc(1, sizeof *loaded);
    b = calloc(1, sizeof *b);
    if (loaded && b) {
        b->diag = (struct diag){.say = add_message, .to = &said};
        status = load(source, loaded, b);
    }
    free(b);
    if (status != KB_OK) {
        free(loaded);
        loaded = NULL;
    }
    if (status == KB_NO_MEMORY)
        free_messages(&said);
    *out = loaded ? &loaded->topo : NULL;
    give_messages(&said, messages);
    return status;
}

void kb_topology_free(const kb_topology *topo)
{
    struct loaded *loaded = (struct loaded *)topo;

    if (loaded)
        arena_release(&loaded->arena);
    free(loaded);
}
#endif
