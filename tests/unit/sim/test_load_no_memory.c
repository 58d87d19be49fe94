/*
 * test_load_no_memory.c -- kb_topology_load() when the n-th allocation fails, for every n.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
 * link: -Wl,--wrap=free,--wrap=strdup
 */
#include "support/failing.h"
#include "support/rig.h"

/* libyaml, which is linked in, copies words by it. */
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = __wrap_malloc(n);

    return copy ? memcpy(copy, text, n) : NULL;
}

static const char GOOD[] =
    "kernbench: 2\nname: t\nsip: {cube_mesh: {w: 3, h: 2}, planes: [{name: x, "
    "dirs: [E, S]}, {name: y, dirs: [W, N]}], io_chiplets: [W, E]}\n"
    "missing: [c1]\nbroken: [c2-c5]\ncubes: {\"c[3-4]\": {pes: 4}}\n";
static const char BAD[] = "kernbench: 1\nname: t\nsip: {cube_mesh: {w: 3, h: 0}}\ncube: {pez: 1}\n";

/* One load; frees what it made. */
static kb_status load_once(const char *text, const char *set)
{
    kb_topology_source source = {
        .file = "t", .text = text, .nbytes = strlen(text), .sets = &set, .n_sets = set != NULL};
    const kb_topology *topo;
    char *messages;
    kb_status status = kb_topology_load(&source, &topo, &messages);

    assert_true((topo != NULL) == (status == KB_OK));
    if (status == KB_NO_MEMORY)
        assert_null(messages);
    else if (status != KB_OK)
        assert_non_null(messages);
    kb_topology_free(topo);
    __wrap_free(messages);
    return status;
}

enum { MANY = 1000000 };

/* Without the n-th allocation and those after it, or with `once` without that alone. */
static void each_fails(const char *text, const char *set, kb_status expected, bool once)
{
    uint64_t n;

    fails_once = once;
    blocks_left = MANY;
    assert_int_equal(load_once(text, set), expected);
    n = MANY - blocks_left;
    assert_true(n > 20);
    for (uint64_t i = 0; i < n; i++) {
        int64_t before = owned;

        blocks_left = i;
        kb_status status = load_once(text, set);
        blocks_left = UINT64_MAX;
        if (status != KB_NO_MEMORY || owned != before)
            fail_msg("allocation %" PRIu64 " of %" PRIu64 ": status %d, %" PRId64
                     " blocks are left",
                     i, n, (int)status, owned - before);
    }
}

static void each_allocation_fails(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        each_fails(GOOD, NULL, KB_OK, once);
        each_fails(GOOD, "cube.hbm.bw_gbs=64", KB_OK, once);
        each_fails(BAD, "cube.pes=x", KB_BAD_FILE, once);
        each_fails(GOOD, "cube.pez=[", KB_BAD_REQUEST, once);
    }
}

static void look_at(void *arg, const kb_key *key)
{
    (void)arg, (void)key;
}

static void keys_without_memory(void **state)
{
    kb_topology_source source = {.file = "t", .text = GOOD, .nbytes = sizeof GOOD - 1};
    const kb_topology *topo;
    int64_t before;
    uint64_t n;

    (void)state;
    assert_int_equal(kb_topology_load(&source, &topo, NULL), KB_OK);
    blocks_left = MANY;
    assert_int_equal(kb_topology_keys(topo, look_at, NULL), KB_OK);
    n = MANY - blocks_left;
    blocks_left = UINT64_MAX;
    before = owned;
    for (uint64_t i = 0; i < n; i++) {
        blocks_left = i;
        kb_status status = kb_topology_keys(topo, look_at, NULL);
        blocks_left = UINT64_MAX;
        assert_int_equal(status, KB_NO_MEMORY);
        assert_true(owned <= before + 1); /* libyaml may lose one */
        before = owned;
    }
    kb_topology_free(topo);
}

/* What libyaml loses then is counted above; a sanitizer need not say it again. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:__wrap_malloc\n";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails),
        cmocka_unit_test(keys_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
