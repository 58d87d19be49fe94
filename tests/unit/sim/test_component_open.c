/* test_component_open.c -- components that cannot be compiled or loaded: what failed, and nothing
 * left.
 *
 * link: -Wl,-u,kb_rt_components_open
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sim/component_open.h"

static char top[] = "/tmp/test_component_open.XXXXXX";

/* A file of `top`; a program, if it begins with #!. */
static const char *file(const char *name, const char *text)
{
    static char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", top, name);
    f = fopen(path, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
    assert_true(chmod(path, 0755) == 0);
    return path;
}

/* Names in the cache that begin with `first`. */
static int n_names(const char *first)
{
    char path[256];
    const struct dirent *entry;
    int n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/kernbench", top);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        n += strncmp(entry->d_name, first, strlen(first)) == 0;
    if (dir)
        closedir(dir);
    return n;
}

static void opens(const char *code, enum opened what, const char *said)
{
    static struct component_opening o;
    char whole[1000];

    snprintf(whole, sizeof whole,
             "#line 1 \"components\"\n%s\n#line 1 \"calls of all components\"\n", code);
    components_open(whole, &o);
    if (o.what != what || !strstr(o.said, said))
        fail_msg("%d: %s", o.what, o.said);
    assert_true((o.of != NULL) == (what == OPEN_OK));
    assert_int_equal(n_names("new"), 0);
}

/* Programs that stand for compilers; the name of the object is the last word but one or more. */
static void compilers_that_make_nothing(void **state)
{
    (void)state;
    setenv("CC", file("makes_nothing", "#!/bin/sh\nexit 0\n"), 1);
    opens("1", OPEN_SYSTEM, "the compiler has made no text");
    setenv("CC", file("makes_text", "#!/bin/sh\nfor out; do :; done\nseq 99 >\"$out\"\n"), 1);
    opens("1", OPEN_SYSTEM, "the compiler has made no text");
    setenv("CC",
           file("knows_text", "#!/bin/sh\nfor out; do :; done\ncase $* in *-E*) cc \"$@\" ;; "
                              "*) seq 99 >\"$out\" ;; esac\n"),
           1);
    opens("1", OPEN_SYSTEM, "the compiler has made no object");
    setenv("CC", file("is_not_there", "#!/bin/sh\nexit 127\n"), 1);
    opens("1", OPEN_NO_COMPILER, "is_not_there");
    setenv("CC", file("dies", "#!/bin/sh\necho oh no\nkill -9 $$\n"), 1);
    opens("1", OPEN_NOT_COMPILED, "oh no");
    setenv("CC", "/nowhere/cc", 1);
    opens("1", OPEN_NO_COMPILER, "/nowhere/cc");
    setenv("CC", "", 1); /* the system's */
    opens("int x = ;", OPEN_NOT_COMPILED, "error");
    unsetenv("CC");
}

#define TABLE "const void *const kb_rt_components[1] = {0};\n"

static void objects_that_are_refused(void **state)
{
    (void)state;
    opens(TABLE "int counter = 3;", OPEN_DATA, "counter");
    opens(TABLE "_Thread_local int own = 3;", OPEN_DATA, "own");
    opens(TABLE "_Thread_local int later;", OPEN_DATA, "later");
    opens(TABLE "int rand(void); int draw(void) { return rand(); }", OPEN_CALL, "rand");
    opens(TABLE "#include <time.h>\n", OPEN_READS, "line 2: '/usr/include/time.h'");
    opens(TABLE "#pragma weak rand\n", OPEN_READS, "line 2: '#pragma weak rand'");
    opens(TABLE "__attribute__((constructor)) void at_once(void) {}", OPEN_SECTION, ".init_array");
    assert_int_equal(n_names("."), 2); /* the folder's own */
    opens("const int other = 3;", OPEN_SYSTEM, " cannot be loaded");
}

static void break_objects(void)
{
    char path[600];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof path, "%s/kernbench", top);
    dir = opendir(path);
    while ((entry = readdir(dir)))
        if (strstr(entry->d_name, ".so")) {
            snprintf(path, sizeof path, "%s/kernbench/%s", top, entry->d_name);
            assert_true(unlink(path) == 0 && symlink("/dev/null", path) == 0);
        }
    closedir(dir);
}

static void an_object_is_kept_and_made_again_if_it_is_broken(void **state)
{
    (void)state;
    opens(TABLE "static const int a = 1;", OPEN_OK, "");
    setenv("CC", "/nowhere/cc", 1);
    opens(TABLE "static const int a = 1;", OPEN_OK, "");
    unsetenv("CC");
    break_objects();
    opens(TABLE "static const int a = 1;", OPEN_OK, "");
}

static void folders_that_cannot_be(void **state)
{
    static char path[5000], name[300];

    (void)state;
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    setenv("XDG_CACHE_HOME", path, 1);
    opens("2", OPEN_SYSTEM, "the path of the cache is too long");
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    opens("2", OPEN_SYSTEM, "/dev/null/kernbench cannot be made: ");
    setenv("XDG_CACHE_HOME", "here", 1);
    setenv("HOME", "there", 1);
    opens("2", OPEN_SYSTEM, "neither XDG_CACHE_HOME nor HOME is set");
    setenv("HOME", top, 1);
    opens("int x = ;", OPEN_NOT_COMPILED, "error");
    snprintf(name, sizeof name, "%s/.cache/kernbench", top);
    assert_true(rmdir(name) == 0);
    file(".cache/kernbench", "a file in its place\n");
    opens("2", OPEN_SYSTEM, "/.cache/kernbench is no folder");
}

static int begin(void **state)
{
    (void)state;
    unsetenv("CC");
    return !mkdtemp(top) || setenv("XDG_CACHE_HOME", top, 1) != 0;
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
        cmocka_unit_test(compilers_that_make_nothing),
        cmocka_unit_test(objects_that_are_refused),
        cmocka_unit_test(an_object_is_kept_and_made_again_if_it_is_broken),
        cmocka_unit_test(folders_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
