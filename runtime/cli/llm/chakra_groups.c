/*
 * chakra_groups.c -- groups of ranks: of comm_group.json, or of a node of a PyTorch trace.
 *
 *     {"1": [0, 1], "2": [2, 3]}
 *
 * A node of PyTorch has a list of objects with pg_name and ranks as a text, and may have that text
 * in a list once more.
 */
#include "cli/llm/chakra_trace.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct chakra_group *chakra_group_find(const struct chakra_groups *groups, int64_t name)
{
    for (size_t i = 0; i < groups->n; i++)
        if (groups->group[i].name == name)
            return &groups->group[i];
    return NULL;
}

void chakra_groups_free(struct chakra_groups *groups)
{
    for (size_t i = 0; i < groups->n; i++)
        free(groups->group[i].ranks);
    free(groups->group);
}

#ifdef KB_NO_JANSSON
enum exit_code chakra_groups_read(const struct cli *cli, const char *pattern,
                                  struct chakra_groups *out)
{
    char *path = chakra_groups_path(pattern);
    bool is_there = access(path, F_OK) == 0;

    (void)out;
    free(path);
    return is_there ? cmd_say(cli, EXIT_SYSTEM,
                              "cannot read comm_group.json: this build has no jansson, for JSON")
                    : EXIT_OK;
}

void chakra_groups_of_values(const char *values, struct chakra_groups *out)
{
    (void)values, (void)out;
}
#else
#include <jansson.h>

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool is_any_twice(const struct chakra_group *g)
{
    uint32_t *sorted = memory_new(g->n, sizeof *sorted);
    bool twice = false;

    memcpy(sorted, g->ranks, g->n * sizeof *sorted);
    qsort(sorted, g->n, sizeof *sorted, by_number);
    for (uint32_t i = 1; i < g->n; i++)
        twice = twice || sorted[i] == sorted[i - 1];
    free(sorted);
    return twice;
}

/* False: the name is no number, or the ranks are none, not numbers, or one is there twice. */
static bool add(struct chakra_groups *out, const char *name, const json_t *ranks)
{
    struct chakra_group g = {.n = (uint32_t)json_array_size(ranks)};
    char *end;

    g.name = strtoll(name, &end, 10);
    if (end == name || *end || g.n == 0)
        return false;
    for (uint32_t i = 0; i < g.n; i++) {
        json_int_t rank = json_integer_value(json_array_get(ranks, i));

        if (!json_is_integer(json_array_get(ranks, i)) || rank < 0 || rank > UINT32_MAX)
            return false;
    }
    if (chakra_group_find(out, g.name))
        return true;
    if (out->n == out->room)
        out->group = memory_room(out->group, out->n, &out->room, sizeof *out->group);
    g.ranks = memory_new(g.n, sizeof *g.ranks);
    for (uint32_t i = 0; i < g.n; i++)
        g.ranks[i] = (uint32_t)json_integer_value(json_array_get(ranks, i));
    out->group[out->n++] = g; /* owned, if it is bad, too */
    return !is_any_twice(&g);
}

static enum exit_code add_all(const struct cli *cli, const char *path, json_t *all,
                              struct chakra_groups *out)
{
    const char *name;
    json_t *ranks;

    if (!json_is_object(all))
        return cmd_say(cli, EXIT_INPUT, "%s: is not an object of lists", path);
    json_object_foreach(all, name, ranks) if (!add(out, name, ranks)) return cmd_say(
        cli, EXIT_INPUT, "%s: '%s' is not a number with a list of ranks, each once", path, name);
    return EXIT_OK;
}

enum exit_code chakra_groups_read(const struct cli *cli, const char *pattern,
                                  struct chakra_groups *out)
{
    char *path = chakra_groups_path(pattern);
    enum exit_code code = EXIT_OK;
    json_error_t why;

    if (access(path, F_OK) == 0) {
        json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &why);

        code = all ? add_all(cli, path, all, out)
                   : cmd_say(cli, EXIT_INPUT, "%s:%d:%d: %s", path, why.line, why.column, why.text);
        json_decref(all);
    }
    free(path);
    return code;
}

static void search(json_t *at, struct chakra_groups *out, int depth)
{
    const char *name = json_string_value(json_object_get(at, "pg_name"));
    size_t i;
    json_t *item;

    if (name)
        add(out, name, json_object_get(at, "ranks"));
    if (json_is_string(at) && depth > 0)
        chakra_groups_of_values(json_string_value(at), out);
    json_array_foreach(at, i, item) search(item, out, depth + 1);
}

void chakra_groups_of_values(const char *values, struct chakra_groups *out)
{
    json_t *all = json_loads(values, 0, NULL);

    if (all)
        search(all, out, 0);
    json_decref(all);
}
#endif
