/*
 * study_yaml.c -- the file of a study as a tree of YAML.
 *
 * libyaml takes a time that grows with the square of how deep brackets are nested, so the tokens
 * are counted before a tree is built, as gen/doc.c does for machines.
 */
#ifdef KB_NO_YAML
typedef int study_yaml_is_empty;
#else
#include "cli/study/study_yaml.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 64, READ_BYTES = 1 << 16 };

/* What is read. */
struct file {
    const char *program, *name;
    char *text; /* owned */
    size_t len, room;
};

static enum exit_code read_text(struct file *f)
{
    FILE *from = fopen(f->name, "rb");
    size_t n = 1;
    int error = 0;

    if (!from)
        return say_unreadable(f->program, f->name, errno);
    while (n > 0) {
        if (f->room - f->len < READ_BYTES) {
            f->room = 2 * f->room + READ_BYTES;
            f->text = memory_resize(f->text, f->room, 1);
        }
        n = fread(f->text + f->len, 1, READ_BYTES, from);
        f->len += n;
    }
    error = ferror(from) ? errno : 0;
    fclose(from);
    return error ? say_unreadable(f->program, f->name, error) : EXIT_OK;
}

static void begin(yaml_parser_t *p, const struct file *f)
{
    if (!yaml_parser_initialize(p))
        memory_lacks();
    yaml_parser_set_input_string(p, (const unsigned char *)f->text, f->len);
}

static enum exit_code refuse(const struct file *f, yaml_mark_t at, const char *why)
{
    say_line("%s:%zu:%zu: %s", f->name, at.line + 1, at.column + 1, why);
    return EXIT_INPUT;
}

/* How a token changes the number of what is open. */
static int opens(const yaml_token_t *t)
{
    switch (t->type) {
    case YAML_BLOCK_SEQUENCE_START_TOKEN:
    case YAML_BLOCK_MAPPING_START_TOKEN:
    case YAML_FLOW_SEQUENCE_START_TOKEN:
    case YAML_FLOW_MAPPING_START_TOKEN:
        return 1;
    case YAML_BLOCK_END_TOKEN:
    case YAML_FLOW_SEQUENCE_END_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN:
        return -1;
    default:
        return 0;
    }
}

/* Up to the first mistake, which loading finds again. */
static enum exit_code check_nesting(const struct file *f)
{
    yaml_parser_t p;
    yaml_token_t t;
    int nesting = 0;
    bool more = true;
    yaml_mark_t at = {0};

    begin(&p, f);
    while (more && nesting <= NESTING_MAX && yaml_parser_scan(&p, &t)) {
        more = t.type != YAML_STREAM_END_TOKEN;
        nesting += opens(&t);
        at = t.start_mark;
        yaml_token_delete(&t);
    }
    yaml_parser_delete(&p);
    return nesting > NESTING_MAX ? refuse(f, at, "nested more than 64 deep") : EXIT_OK;
}

static enum exit_code load_tree(const struct file *f, yaml_document_t *out)
{
    yaml_parser_t p;
    enum exit_code code = EXIT_OK;

    begin(&p, f);
    if (!yaml_parser_load(&p, out)) {
        if (p.error == YAML_MEMORY_ERROR)
            memory_lacks();
        code = refuse(f, p.problem_mark, p.problem ? p.problem : "no YAML");
    }
    yaml_parser_delete(&p);
    return code;
}

enum exit_code study_load(const char *program, const char *file, yaml_document_t *out)
{
    struct file f = {.program = program, .name = file};
    enum exit_code code = read_text(&f);

    memset(out, 0, sizeof *out);
    if (!code)
        code = check_nesting(&f);
    if (!code)
        code = load_tree(&f, out);
    free(f.text);
    return code;
}
#endif
