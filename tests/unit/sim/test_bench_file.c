/* test_bench_file.c -- benches of shared objects, which are compiled again while the program runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kernbench.h"

static char top[] = "/tmp/test_bench_file.XXXXXX";

static const char *in_top(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof *paths, "%s/%s", top, name);
    return path;
}

static void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

/* An object NAME of which the one bench has that summary. */
static void make(const char *name, const char *summary)
{
    char command[1024];

    snprintf(
        command, sizeof command,
        "printf '#include <kernbench.h>\nconst kb_bench b = {.name = \"own\", .summary = \"%s\"};\n"
        "KB_BENCHES(&b);\n' | cc -x c -shared -fPIC -Iruntime/include -o %s -",
        summary, in_top(name));
    shell(command);
}

static const kb_bench_table *has(const char *name, const char *summary)
{
    const kb_bench_table *table = NULL;
    kb_error why = {""};

    if (kb_benches_open(in_top(name), &table, &why) != KB_OK)
        fail_msg("%s", why.text);
    assert_string_equal(table->benches[0]->summary, summary);
    return table;
}

static void copy_over(const char *from, const char *to)
{
    char command[600];

    snprintf(command, sizeof command, "cat %s >%s", in_top(from), in_top(to));
    shell(command);
}

static void what_is_compiled_again_is_what_runs(void **state)
{
    const kb_bench_table *first;

    (void)state;
    make("own.so", "one");
    first = has("own.so", "one");
    assert_ptr_equal(has("own.so", "one"), first);
    make("own.so", "two");
    has("own.so", "two");
    assert_string_equal(first->benches[0]->summary, "one");
    make("own.so", "six");
    has("own.so", "six");
    make("own.so", "one");
    assert_ptr_equal(has("own.so", "one"), first);
}

static void so_is_what_is_moved_there(void **state)
{
    (void)state;
    make("old.so", "old");
    has("old.so", "old");
    make("new.so", "new");
    assert_int_equal(rename(in_top("new.so"), in_top("old.so")), 0);
    has("old.so", "new");
}

/* What the loader has mapped of it is overwritten: only what is loaded next can be right. */
static void and_what_is_written_into_the_file(void **state)
{
    const kb_bench_table *table;

    (void)state;
    make("a.so", "aaa");
    make("b.so", "bbb");
    make("c.so", "ccc");
    has("a.so", "aaa");
    copy_over("b.so", "a.so");
    table = has("a.so", "bbb");
    copy_over("c.so", "a.so");
    has("a.so", "ccc");
    assert_string_equal(table->benches[0]->summary, "bbb");
}

static void a_file_that_is_no_object_any_more(void **state)
{
    const kb_bench_table *table;
    kb_error why = {""};
    FILE *f;

    (void)state;
    make("gone.so", "gone");
    has("gone.so", "gone");
    assert_int_equal(unlink(in_top("gone.so")), 0);
    f = fopen(in_top("gone.so"), "w");
    assert_true(f &&
                fputs("a text that is as long as any header of an object has to be, "
                      "and longer than that\n",
                      f) >= 0 &&
                fclose(f) == 0);
    assert_int_equal(kb_benches_open(in_top("gone.so"), &table, &why), KB_BAD_FILE);
    assert_true(strstr(why.text, "gone.so' cannot be loaded: invalid ELF header") != NULL);
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
        cmocka_unit_test(what_is_compiled_again_is_what_runs),
        cmocka_unit_test(so_is_what_is_moved_there),
        cmocka_unit_test(and_what_is_written_into_the_file),
        cmocka_unit_test(a_file_that_is_no_object_any_more),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
