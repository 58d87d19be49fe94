/* main.c -- kbgen: one topology YAML in, its tables out; reads as a table of contents. */
#include "check.h"
#include "emit.h"
#include "kernbench.h"
#include "load.h"
#include "resolve.h"
#include "route.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* What is asked for besides --set. */
enum output { OUTPUT_TABLES, OUTPUT_CONFIG, OUTPUT_KEYS, OUTPUT_NAME, OUTPUT_HASH };

/* The command line. Strings are borrowed from argv. */
struct options {
    enum output output;
    const char *file;
    const char **sets; /* in the order given */
    size_t n_sets;
};

static const char help[] =
    "Usage: kbgen [OPTION]... FILE\n"
    "Read a topology YAML and print its tables as m4 definitions for the templates.\n"
    "\n"
    "  --set KEY=VALUE  override a key, e.g. cube.hbm.bw_gbs=512; repeatable, the last one counts\n"
    "  --config         print the resolved YAML instead: every key with its value\n"
    "  --keys           print the same as lines KEY=VALUE instead\n"
    "  --hash           print the xxHash64 of the resolved YAML instead\n"
    "  --name           print the topology's name instead\n"
    "  --help           print this\n"
    "  --version        print the version\n"
    "\n"
    "Exit: 0 ok, 2 a mistake on the command line, 3 a bad or unreadable file, 5 out of memory or\n"
    "output that cannot be written.\n";

static _Noreturn void usage(const char *what, const char *arg)
{
    fprintf(stderr, "kbgen: %s%s\nTry 'kbgen --help'.\n", what, arg);
    exit(EXIT_USAGE);
}

/* Flush stdout; what could not be written is not a success. */
static enum exit_code finish(enum exit_code code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("kbgen: the output cannot be written\n", stderr);
    return EXIT_SYSTEM;
}

static _Noreturn void say(const char *text)
{
    fputs(text, stdout);
    exit((int)finish(EXIT_OK));
}

static void read_options(struct options *o, struct arena *arena, int argc, char **argv)
{
    static const struct option longs[] = {
        {"set", required_argument, NULL, 's'}, {"config", no_argument, NULL, 'c'},
        {"keys", no_argument, NULL, 'k'},      {"hash", no_argument, NULL, 'x'},
        {"name", no_argument, NULL, 'n'},      {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},   {NULL, 0, NULL, 0},
    };
    int c;

    o->sets = arena_alloc(arena, (size_t)argc * sizeof(*o->sets));
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 's':
            o->sets[o->n_sets++] = optarg;
            break;
        case 'c':
            o->output = OUTPUT_CONFIG;
            break;
        case 'k':
            o->output = OUTPUT_KEYS;
            break;
        case 'x':
            o->output = OUTPUT_HASH;
            break;
        case 'n':
            o->output = OUTPUT_NAME;
            break;
        case 'h':
            say(help);
        case 'v':
            say("kbgen " KB_VERSION "\n");
        default:
            fputs("Try 'kbgen --help'.\n", stderr);
            exit(EXIT_USAGE);
        }
    }
    if (optind == argc)
        usage("no topology file", "");
    if (optind + 1 < argc)
        usage("one topology file, not also ", argv[optind + 1]);
    o->file = argv[optind];
}

/* The file and the options into the spec, all of it even after a mistake, then the checks. */
static bool read_spec(struct spec *spec, const struct options *o)
{
    load(spec, o->file);
    for (size_t i = 0; i < o->n_sets; i++)
        load_set(spec, o->sets[i]);
    return check(spec);
}

static bool print_tables(const struct spec *spec, const char *file)
{
    const char *slash = strrchr(file, '/');
    struct emit_head head = {slash ? slash + 1 : file, resolve(spec), resolve_hash(spec)};
    struct routes routes;

    return route(&routes, spec, spec->arena) && emit(&routes, &head, stdout);
}

static bool print(const struct spec *spec, const struct options *o)
{
    switch (o->output) {
    case OUTPUT_TABLES:
        return print_tables(spec, o->file);
    case OUTPUT_CONFIG:
        return fputs(resolve(spec), stdout) >= 0;
    case OUTPUT_HASH:
        return puts(resolve_hash(spec)) >= 0;
    case OUTPUT_KEYS:
        return fputs(resolve_keys(spec), stdout) >= 0;
    case OUTPUT_NAME:
        return puts(spec->name) >= 0;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diag diag = {.out = stderr};
    struct options options = {0};
    struct spec spec;

    read_options(&options, &arena, argc, argv);
    spec_init(&spec, &arena, &diag);
    if (read_spec(&spec, &options))
        print(&spec, &options);
    arena_release(&arena);
    return (int)finish(diag.code);
}
