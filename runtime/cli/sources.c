/*
 * sources.c -- what a command's results are made of: the record that they are kept with.
 *
 * Results that are kept, or joined, or looked at later are those of another run if anything here is
 * another: the machine and its components, the bytes of a bench's object, the files that the
 * command line names, the line itself, this program, and the compiler that built components while
 * it ran. Parts of --shard, rows of a database and DataFrames carry the record (base/provenance.h),
 * which is compared before they are used again.
 *
 * A file is one that an operand names, as a whole or behind = or :, and the matrix of --pattern.
 * A bench that opens other files by itself, and the libraries that it is linked with, are beyond
 * what can be seen here.
 */
#include "cli/sources.h"
#include "cli/benches.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/query/query.h"
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- this program ----------------------------------------------------------------------------- */

/* The object that has this code, and that of the library, which may be another one. */
struct search {
    uintptr_t address[2];
    const char *found[2];
};

static int look(struct dl_phdr_info *object, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        for (int k = 0; k < 2 && part->p_type == PT_LOAD; k++)
            if (s->address[k] >= begin && s->address[k] < begin + part->p_memsz)
                s->found[k] = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    }
    return 0;
}

static char program[DIGEST_CHARS + 1];
static int program_error; /* why it is not known; 0: it is */

static void find_program(void)
{
    struct search s = {.address = {(uintptr_t)find_program, (uintptr_t)kb_topology_info}};
    struct digest d;

    dl_iterate_phdr(look, &s);
    digest_begin(&d);
    for (int k = 0; k < 2; k++)
        if (s.found[k] && (k == 0 || strcmp(s.found[0], s.found[1]) != 0) &&
            !digest_add_file(&d, s.found[k]))
            program_error = errno;
    digest_end(&d, program);
}

/* Once a process, as it takes some 20 ms. */
static bool take_program(struct provenance *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_program);
    memcpy(p->of[PROVENANCE_PROGRAM], program, sizeof program);
    errno = program_error;
    return !program_error;
}

/* -- files ------------------------------------------------------------------------------------ */

/* `word` as a file, or what is behind a = or : in it. */
static bool add_files(struct digest *d, const char *word)
{
    bool ok = digest_add_file(d, word);

    for (const char *at = word; ok && (at = strpbrk(at, "=:")); at++)
        ok = digest_add_file(d, at + 1);
    return ok;
}

/* The columns that are there, number by number, and the texts that they are of. */
static void add_frame(struct digest *d, const kb_frame *f)
{
    const struct {
        const void *values;
        size_t bytes;
    } columns[] = {{f->issue_fs, 8}, {f->op, 4},    {f->src, 4},   {f->dst, 4},     {f->offset, 8},
                   {f->nbytes, 8},   {f->after, 4}, {f->plane, 4}, {f->think_fs, 8}};
    const struct {
        const char *const *texts;
        size_t n;
    } lists[] = {{f->ops, f->n_ops},
                 {f->srcs, f->n_srcs},
                 {f->dsts, f->n_dsts},
                 {f->afters, f->n_afters},
                 {f->planes, f->n_planes}};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        digest_add_bulk(d, columns[i].values, columns[i].values ? f->n * columns[i].bytes : 0);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i].n; k++)
            digest_add_text(d, lists[i].texts[k]);
}

/* FILE of FILE.so:NAME; of another word nothing. */
static bool take_bench(struct provenance *p, const char *word)
{
    size_t len = bench_file_length(word);
    struct digest d;

    if (len == 0)
        return true;
    char *file = memory_part(word, len);
    digest_begin(&d);
    bool ok = digest_add_file(&d, file);
    digest_end(&d, p->of[PROVENANCE_BENCH]);
    free(file);
    return ok;
}

static bool take_inputs(struct provenance *p, const struct opts *o)
{
    struct digest d;
    bool ok = true;

    digest_begin(&d);
    for (size_t i = 0; i < o->n_operands && ok; i++)
        if (i > 0 || bench_file_length(o->operand[i]) == 0)
            ok = add_files(&d, o->operand[i]);
    ok = ok && (!o->pattern || add_files(&d, o->pattern));
    if (session_here() && session_here()->frame)
        add_frame(&d, session_here()->frame);
    digest_end(&d, p->of[PROVENANCE_INPUTS]);
    return ok;
}

/* -- the whole -------------------------------------------------------------------------------- */

void sources_of_machine(struct provenance *p, const kb_topology *topo)
{
    kb_info info;

    if (!topo)
        return;
    kb_topology_info(topo, &info);
    digest_of(info.config, strlen(info.config), p->of[PROVENANCE_MACHINE]);
    digest_of(info.hash, strlen(info.hash), p->of[PROVENANCE_COMPONENTS]);
    snprintf(p->of[PROVENANCE_COMPILER], sizeof *p->of, "%s", kb_topology_compiler(topo));
}

enum exit_code sources_of_command(struct provenance *p, const struct opts *o, const char *name)
{
    digest_of(o->command_line, strlen(o->command_line), p->of[PROVENANCE_COMMAND]);
    if ((o->n_operands == 0 || take_bench(p, o->operand[0])) && take_inputs(p, o) &&
        take_program(p))
        return EXIT_OK;
    return say(name, EXIT_SYSTEM, "cannot read what the results are made of: %s", strerror(errno));
}

enum exit_code sources_of(const struct cli *cli, struct provenance *p)
{
    sources_of_machine(p, cli->topo);
    return sources_of_command(p, &cli->opts, cli->program);
}
