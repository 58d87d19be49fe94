/* test_endpoint.c -- endpoints: the canonical forms, and what is said about all others. */
#include "machine/tables.h"
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* All that endpoints need of a topology. */
static const struct kind_row eight = {.pes = 8, .slices = 8}, one = {.pes = 1, .slices = 1};

#define KIND .kinds = &eight, .n_kinds = 1, .alike = true, .chiplets = 1
#define ONE  .kinds = &one, .n_kinds = 1, .alike = true, .chiplets = 1

static const kb_topology cube8 = {KIND, .sips = 1, .cubes = 8, .pes = 8, .slices = 8};
static const kb_topology cube1 = {ONE, .sips = 1, .cubes = 1, .pes = 1, .slices = 1};
static const kb_topology tray32 = {KIND, .sips = 2, .cubes = 16, .pes = 8, .slices = 8};

/* SIP 0 may be left out; the canonical form is what is printed. */
static void every_form_is_read_and_printed(void **state)
{
    static const struct {
        const char *text, *canonical;
        kb_endpoint end;
    } rows[] = {
        {"host", "host", {KB_HOST, 0, 0, 0}},
        {"s0.host", "host", {KB_HOST, 0, 0, 0}},
        {"s1.host", "s1.host", {KB_HOST, 1, 0, 0}},
        {"c0.pe0", "c0.pe0", {KB_PE, 0, 0, 0}},
        {"s0.c15.pe7", "c15.pe7", {KB_PE, 0, 15, 7}},
        {"s1.c10.pe3", "s1.c10.pe3", {KB_PE, 1, 10, 3}},
        {"c0.slice4", "c0.slice4", {KB_SLICE, 0, 0, 4}},
        {"s1.c2.slice4", "s1.c2.slice4", {KB_SLICE, 1, 2, 4}},
        {"c3.sram", "c3.sram", {KB_SRAM, 0, 3, 0}},
        {"s1.c3.sram", "s1.c3.sram", {KB_SRAM, 1, 3, 0}},
        {"c0.pe1.tcm", "c0.pe1.tcm", {KB_TCM, 0, 0, 1}},
        {"s1.c0.pe1.tcm", "s1.c0.pe1.tcm", {KB_TCM, 1, 0, 1}},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char name[KB_ENDPOINT_BYTES];
        kb_endpoint end;

        assert_int_equal(kb_endpoint_parse(&tray32, rows[i].text, strlen(rows[i].text), &end, NULL),
                         KB_OK);
        assert_int_equal(end.kind, rows[i].end.kind);
        assert_int_equal(end.sip, rows[i].end.sip);
        assert_int_equal(end.cube, rows[i].end.cube);
        assert_int_equal(end.unit, rows[i].end.unit);
        assert_int_equal(kb_endpoint_name(&end, name), strlen(rows[i].canonical));
        assert_string_equal(name, rows[i].canonical);
    }
}

static void the_longest_name_fits(void **state)
{
    kb_endpoint end = {KB_TCM, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    char name[KB_ENDPOINT_BYTES];

    (void)state;
    kb_endpoint_name(&end, name);
    assert_string_equal(name, "s4294967295.c4294967295.pe4294967295.tcm");
}

#define FORMS                                                                                      \
    " is no endpoint: host, c0.pe0, c0.slice0, c0.sram or c0.pe0.tcm, with s1. before it on SIP 1"

static void others_are_refused_with_the_reason(void **state)
{
    static const struct {
        const kb_topology *topo;
        const char *text, *why;
    } rows[] = {
        {&cube8, "c0.slice9", "c0.slice9: a cube has slices 0..7"},
        {&cube8, "c0.pe8", "c0.pe8: a cube has PEs 0..7"},
        {&cube8, "c0.pe8.tcm", "c0.pe8.tcm: a cube has PEs 0..7"},
        {&cube8, "c8.sram", "c8.sram: a SIP has cubes 0..7"},
        {&cube8, "s1.host", "s1.host: the topology has only SIP 0"},
        {&tray32, "s2.c0.pe0", "s2.c0.pe0: the topology has SIPs 0..1"},
        {&cube1, "c0.pe1", "c0.pe1: a cube has only PE 0"},
        {&cube8, "c0.pe99999999999999999999", "c0.pe99999999999999999999: a cube has PEs 0..7"},
        {&cube8, "c4294967296.pe0", "c4294967296.pe0: a SIP has cubes 0..7"},
        {&cube8, "c0.sclice4", "'c0.sclice4' is no endpoint, did you mean 'c0.slice4'?"},
        {&cube8, "c0.pee3", "'c0.pee3' is no endpoint, did you mean 'c0.pe3'?"},
        {&cube8, "C0.PE3", "'C0.PE3' is no endpoint, did you mean 'c0.pe3'?"},
        {&cube8, "hots", "'hots' is no endpoint, did you mean 'host'?"},
        {&cube8, "c00.pe0", "'c00.pe0' is no endpoint, did you mean 'c0.pe0'?"},
        {&cube8, "c0.pe01", "'c0.pe01' is no endpoint, did you mean 'c0.pe1'?"},
        {&cube8, " c0.pe0", "' c0.pe0' is no endpoint, did you mean 'c0.pe0'?"},
        {&cube8, "c0.pe0 ", "'c0.pe0 ' is no endpoint, did you mean 'c0.pe0'?"},
        {&cube8, "c0.pe", "'c0.pe' is no endpoint, did you mean 'c0.pe0'?"},
        {&cube8, "c0.sram0", "'c0.sram0' is no endpoint, did you mean 'c0.sram'?"},
        {&cube8, "s0host", "'s0host' is no endpoint, did you mean 's0.host'?"},
        {&cube8, "", "''" FORMS},
        {&cube8, "banana", "'banana'" FORMS},
        {&cube8, "1.2.3.4.5", "'1.2.3.4.5'" FORMS},
        {&cube8, "\x1b[2J", "'?[2J'" FORMS},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        kb_endpoint end = {KB_TCM, 7, 7, 7};
        kb_error why = {""};
        size_t len = strlen(rows[i].text);

        assert_int_equal(kb_endpoint_parse(rows[i].topo, rows[i].text, len, &end, &why),
                         KB_BAD_REQUEST);
        assert_string_equal(why.text, rows[i].why);
        assert_int_equal(kb_endpoint_parse(rows[i].topo, rows[i].text, len, &end, NULL),
                         KB_BAD_REQUEST);
        assert_int_equal(end.kind, KB_TCM); /* a call that fails changes nothing */
        assert_int_equal(end.sip, 7);
    }
}

/* Every prefix and every one-byte change of a name: no crash, and no name read as another. */
static void what_is_read_is_what_would_be_printed(void **state)
{
    static const char word[] = "s1.c12.pe3.tcm";
    enum { N = sizeof word - 1 };

    (void)state;
    for (size_t len = 0; len <= N; len++)
        for (size_t i = 0; i < N; i++)
            for (int c = 0; c < 256; c++) {
                char text[N], name[KB_ENDPOINT_BYTES];
                kb_endpoint end;
                kb_error why;

                memcpy(text, word, N);
                text[i] = (char)c;
                if (kb_endpoint_parse(&tray32, text, len, &end, &why) != KB_OK)
                    continue;
                size_t n = kb_endpoint_name(&end, name);
                size_t skip = memcmp(text, "s0.", 3) == 0 ? 3 : 0;
                assert_int_equal(n, len - skip);
                assert_memory_equal(name, text + skip, n);
            }
}

/* -- patterns ------------------------------------------------------------------------------- */

enum { SELECTED_MAX = 4096 };

struct selected {
    kb_endpoint end[SELECTED_MAX];
    size_t n;
};

static void add_selected(void *arg, const kb_endpoint *end)
{
    struct selected *s = arg;

    assert_true(s->n < SELECTED_MAX);
    s->end[s->n++] = *end;
}

static kb_status select_into(struct selected *s, const char *pattern, kb_error *why)
{
    s->n = 0;
    return kb_endpoint_select(&tray32, pattern, strlen(pattern), add_selected, s, why);
}

/* A set of numbers as a bit mask, and a way to write it. */
struct written {
    const char *text;
    uint32_t mask;
};

/* Every endpoint of the machine in order, and those that the masks have, must be the same. */
static void selects(const struct written *sip, const struct written *cube,
                    const struct written *unit, kb_endpoint_kind kind)
{
    static const char *const middles[] = {".pe", "", ".slice", ".sram", ".pe"};
    bool of_cube = kind != KB_HOST, of_unit = of_cube && kind != KB_SRAM;
    static struct selected s;
    char pattern[128] = "";
    size_t n = 0;

    if (*sip->text)
        strcat(strcat(strcat(pattern, "s"), sip->text), ".");
    strcat(strcat(strcat(pattern, of_cube ? "c" : "host"), of_cube ? cube->text : ""),
           middles[kind]);
    strcat(strcat(pattern, of_unit ? unit->text : ""), kind == KB_TCM ? ".tcm" : "");
    assert_int_equal(select_into(&s, pattern, NULL), KB_OK);
    for (uint32_t i = 0; i < tray32.sips; i++)
        for (uint32_t c = 0; c < (of_cube ? tray32.cubes : 1); c++)
            for (uint32_t u = 0; u < (of_unit ? tray32.pes : 1); u++) {
                if (!(sip->mask >> i & 1) || (of_cube && !(cube->mask >> c & 1)) ||
                    (of_unit && !(unit->mask >> u & 1)))
                    continue;
                assert_true(n < s.n);
                assert_int_equal(s.end[n].kind, kind);
                assert_int_equal(s.end[n].sip, i);
                assert_int_equal(s.end[n].cube, c);
                assert_int_equal(s.end[n].unit, u);
                n++;
            }
    assert_int_equal(s.n, n);
}

static void a_pattern_selects_what_its_numbers_allow(void **state)
{
    static const struct written sips[] = {{"", 1}, {"1", 2}, {"*", 3}, {"[0-1]", 3}, {"[1]", 2}};
    static const struct written cubes[] = {{"0", 1},
                                           {"15", 1 << 15},
                                           {"*", 0xffff},
                                           {"[0,2-3]", 0xd},
                                           {"[14-15,3,3,2-4]", 0xc01c},
                                           {"[10]", 1 << 10}};
    static const struct written units[] = {
        {"7", 0x80}, {"*", 0xff}, {"[0-7]", 0xff}, {"[5,1]", 0x22}, {"[0-0,6]", 0x41}};

    (void)state;
    for (size_t i = 0; i < LENGTH(sips); i++)
        for (size_t c = 0; c < LENGTH(cubes); c++)
            for (size_t u = 0; u < LENGTH(units); u++)
                for (int kind = KB_PE; kind <= KB_TCM; kind++)
                    selects(&sips[i], &cubes[c], &units[u], (kb_endpoint_kind)kind);
}

/* Whatever kb_endpoint_parse() takes, a pattern means the same. */
static void a_name_selects_itself(void **state)
{
    static const char *const names[] = {"host", "s1.host", "c3.sram", "s1.c15.pe7.tcm",
                                        "c1.slice2"};
    static struct selected s;

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++) {
        char name[KB_ENDPOINT_BYTES];

        assert_int_equal(select_into(&s, names[i], NULL), KB_OK);
        assert_int_equal(s.n, 1);
        kb_endpoint_name(&s.end[0], name);
        assert_string_equal(name, names[i]);
    }
}

static void other_patterns_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"c*.slice[0-8]", "c*.slice[0-8]: a cube has slices 0..7"},
        {"c[0,16].pe*", "c[0,16].pe*: a SIP has cubes 0..15"},
        {"s[1-2].host", "s[1-2].host: the topology has SIPs 0..1"},
        {"c*.pe[4294967296]", "c*.pe[4294967296]: a cube has PEs 0..7"},
        {"c0.pe[3-0]", "c0.pe[3-0]: a range goes upwards, as in [0-3]"},
        {"c*.sclice[0-3]", "'c*.sclice[0-3]' is no endpoint, did you mean 'c*.slice[0-3]'?"},
        {"C[0,2-3].SRAM", "'C[0,2-3].SRAM' is no endpoint, did you mean 'c[0,2-3].sram'?"},
        {"*.host", "'*.host' is no endpoint, did you mean 's*.host'?"},
        {"c*", "'c*'" FORMS},
        {"*", "'*'" FORMS},
        {"", "''" FORMS},
        {"c0.pe[0-3", "'c0.pe[0-3' is no endpoint, did you mean 'c0.pe0'?"},
    };
    static struct selected s;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        kb_error why = {""};

        assert_int_equal(select_into(&s, rows[i].text, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, rows[i].why);
        assert_int_equal(select_into(&s, rows[i].text, NULL), KB_BAD_REQUEST);
        assert_int_equal(s.n, 0);
    }
}

/* Lists that are not lists; and only patterns have any. */
static void half_a_list_is_none(void **state)
{
    static const char *const texts[] = {"c[].sram",   "c[,].sram",  "c[1,].sram", "c[,1].sram",
                                        "c[1-].sram", "c[-1].sram", "c[1 ].sram", "c[1-2-3].sram",
                                        "c[*].sram",  "c1].sram",   "c**.sram",   "c[01].sram"};
    static struct selected s;
    kb_endpoint end;

    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++)
        assert_int_equal(select_into(&s, texts[i], NULL), KB_BAD_REQUEST);
    assert_int_equal(kb_endpoint_parse(&tray32, "c*.sram", 7, &end, NULL), KB_BAD_REQUEST);
    assert_int_equal(kb_endpoint_parse(&tray32, "c[0].sram", 9, &end, NULL), KB_BAD_REQUEST);
}

/* What was meant is not told if it were longer than what is shown. */
static void a_number_too_long_is_not_repeated(void **state)
{
    char text[200] = "c0.sclice";
    kb_endpoint end;
    kb_error why = {""};

    (void)state;
    memset(text + strlen(text), '4', sizeof text - strlen(text) - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(kb_endpoint_parse(&cube8, text, strlen(text), &end, &why), KB_BAD_REQUEST);
    assert_null(strstr(why.text, "did you mean"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read_and_printed),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(others_are_refused_with_the_reason),
        cmocka_unit_test(what_is_read_is_what_would_be_printed),
        cmocka_unit_test(a_pattern_selects_what_its_numbers_allow),
        cmocka_unit_test(a_name_selects_itself),
        cmocka_unit_test(other_patterns_are_refused_with_the_reason),
        cmocka_unit_test(half_a_list_is_none),
        cmocka_unit_test(a_number_too_long_is_not_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
