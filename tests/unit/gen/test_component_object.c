/*
 * test_component_object.c -- which objects keep the rules of components, by their sections and
 * symbols: of each compiler that is here, with any optimisation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gen/component_object.h"

static char top[] = "/tmp/test_component_object.XXXXXX";

static const char *const compilers[] = {"gcc", "clang", "aarch64-linux-gnu-gcc",
                                        "clang --target=aarch64-linux-gnu"};
static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};

enum { N_COMPILERS = 4, N_LEVELS = 5, OBJECT_BYTES = 1 << 20 };

static unsigned char bytes[OBJECT_BYTES];

/* Compiles `text`; the bytes of what it made, 0: there is no such compiler. */
static size_t made(const char *compiler, const char *flags, const char *text)
{
    char command[1000];
    size_t len = 0;
    FILE *file;

    snprintf(command, sizeof command, "%s/t.c", top);
    file = fopen(command, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    snprintf(command, sizeof command,
             "cd %s && rm -f t.o && %s -std=c11 -fPIC -w -o t.o t.c %s 2>said", top, compiler,
             flags);
    if (system(command) == 0) {
        snprintf(command, sizeof command, "%s/t.o", top);
        file = fopen(command, "rb");
        len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    return len;
}

static void is(enum object_fault fault, const char *name, const char *text)
{
    static struct object_judged judged;
    char flags[16];

    for (int i = 0; i < N_COMPILERS * N_LEVELS; i++) {
        const char *compiler = compilers[i / N_LEVELS];
        size_t len;

        snprintf(flags, sizeof flags, "%s -c", levels[i % N_LEVELS]);
        len = made(compiler, flags, text);
        if (len == 0 && i >= N_LEVELS)
            continue; /* not installed, or that processor has no such thing */
        assert_true(len > 0);
        memset(&judged, 0, sizeof judged);
        if (object_has_only_code(bytes, len, &judged) != (fault == OBJECT_OK) ||
            judged.fault != fault || !strstr(judged.name, name))
            fail_msg("%s %s: %d '%s' of %s", compiler, flags, judged.fault, judged.name, text);
    }
}

static void code_and_constants_keep_the_rules(void **state)
{
    (void)state;
    is(OBJECT_OK, "", "static const double t[] = {1, 2}; double f(int i) { return t[i & 1]; }");
    is(OBJECT_OK, "",
       "static const char *const t[] = {\"one\", \"two\"};\n"
       "const char *f(int i) { return t[i & 1]; }");
    is(OBJECT_OK, "",
       "static int a(void) { return 1; } static int b(void) { return 2; }\n"
       "int (*const all[])(void) = {a, b}; int f(int i) { return all[i & 1](); }");
    is(OBJECT_OK, "", "struct s { long of[99]; } f(struct s s) { s.of[3]++; return s; }");
    is(OBJECT_OK, "",
       "int f(int i) { switch (i) { case 0: return 7; case 1: return 3; case 2: return "
       "9; case 3: return 1; case 4: return 66; default: return 0; } }");
    is(OBJECT_OK, "", "__attribute__((cold, noinline)) int f(int i) { return i / 3; }");
}

static void data_that_can_be_written_is_found(void **state)
{
    (void)state;
    is(OBJECT_DATA, "n", "int f(void) { static int n; return n++; }");
    is(OBJECT_DATA, "_n", "static int _n = 3; int f(void) { return _n++; }");
    is(OBJECT_DATA, "_n", "int _n; int f(void) { return _n++; }");
    is(OBJECT_DATA, "n",
       "static int n __attribute__((section(\"mine\"))) = 1; int f(void) { return n++; }");
    is(OBJECT_DATA, "n", "static _Thread_local int n; int f(void) { return n++; }");
    is(OBJECT_DATA, "n", "static _Thread_local int n = 2; int f(void) { return n++; }");
    is(OBJECT_DATA, "n", "__attribute__((weak)) int n; int f(void) { return n++; }");
    is(OBJECT_DATA, "n", "__attribute__((common)) int n; int f(void) { return n++; }");
}

static void sections_of_their_own_are_found(void **state)
{
    (void)state;
    is(OBJECT_SECTION, "mine",
       "const int n __attribute__((section(\"mine\"))) = 1; int f(void) { return n; }");
    is(OBJECT_SECTION, ".init", "__attribute__((section(\".init\"))) int f(void) { return 1; }");
    is(OBJECT_SECTION, "_array", "__attribute__((constructor)) void f(void) { __builtin_trap(); }");
    is(OBJECT_SECTION, ".ctors",
       "void f(void) {}\n"
       "__attribute__((section(\".ctors\"), used)) static void (*p)(void) = f;");
}

static void functions_that_are_chosen_are_found(void **state)
{
    (void)state;
    is(OBJECT_IFUNC, "f",
       "static int one(void) { return 1; } static void *choose(void) { return "
       "(void *)one; } __attribute__((ifunc(\"choose\"))) int f(void);");
}

/* A function inside a function, whose address is given away, has code on the stack: gcc alone has
 * it. */
static void a_stack_that_is_code_is_found(void **state)
{
    struct object_judged judged;
    size_t len;

    (void)state;
    len = made("gcc", "-O0 -c",
               "int g(int (*)(void)); int f(int i) { int in(void) { return i; } return g(in); }");
    assert_true(len > 0);
    assert_false(object_has_only_code(bytes, len, &judged));
    assert_int_equal(judged.fault, OBJECT_STACK);
}

static void what_is_missing_is_found(void **state)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"rand", "int rand(void); int f(void) { return rand(); }"},
        {"environ", "extern char **environ; char **f(void) { return environ; }"},
        {"__errno_location",
         "int *__errno_location(void); int f(void) { return *__errno_location(); }"},
        {"", "struct s { long of[999]; }; void f(struct s *a, struct s *b) { *a = *b; }"},
        {"",
         "__extension__ typedef unsigned __int128 wide; wide f(wide a, wide b) { return a / b; }"}};
    struct object_judged judged;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int c = 0; c < N_COMPILERS; c++) {
            char text[400];
            size_t len;

            snprintf(text, sizeof text, "%s\n", rows[i].text);
            len = made(compilers[c], "-O2 -shared -nostdlib -lgcc", text);
            if (len == 0 && c)
                continue;
            judged = (struct object_judged){0};
            assert_int_equal(object_is_whole(bytes, len, &judged), !*rows[i].name);
            assert_string_equal(judged.name, rows[i].name);
            assert_int_equal(judged.fault, *rows[i].name ? OBJECT_CALL : OBJECT_OK);
        }
}

/* Each byte of the head and of the table of sections changed, and each length. */
static void broken_objects_are_read_without_harm(void **state)
{
    struct object_judged judged;
    size_t len = made("gcc", "-O2 -c", "static int n; int f(void) { return n++; }");

    (void)state;
    assert_true(len > 0);
    for (size_t i = 0; i < len; i++) {
        unsigned char *exact = malloc(i + 1), before = bytes[i];

        memcpy(exact, bytes, i);
        object_has_only_code(exact, i, &judged);
        object_is_whole(exact, i, &judged);
        free(exact);
        exact = malloc(len);
        bytes[i] = (unsigned char)(before ^ 0x81);
        memcpy(exact, bytes, len);
        object_has_only_code(exact, len, &judged);
        free(exact);
        bytes[i] = before;
    }
}

static int begin(void **state)
{
    (void)state;
    return !mkdtemp(top);
}

static int end(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", top);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_constants_keep_the_rules),
        cmocka_unit_test(data_that_can_be_written_is_found),
        cmocka_unit_test(sections_of_their_own_are_found),
        cmocka_unit_test(functions_that_are_chosen_are_found),
        cmocka_unit_test(a_stack_that_is_code_is_found),
        cmocka_unit_test(what_is_missing_is_found),
        cmocka_unit_test(broken_objects_are_read_without_harm),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
