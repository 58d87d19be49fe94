/* bench.c -- a run of a bench: its tensors and launches, and values that setup() finds by trying.
 *
 * A bench (struct kb_bench) is a table: a name, arguments with ranges, setup() and reference().
 * kb_bench_new() reads the arguments (bench_args.c), makes a simulation, and calls setup(), which
 * declares tensors and launches kernels by the functions here. Then the caller runs the simulation
 * as any other, has Phase 2 compute if it wants results, and may verify (bench_verify.c) or dump
 * them (bench_dump.c).
 *
 * Functions that setup() calls return nothing, so that it reads as a plain list. The first failure
 * stays in run->status and run->why, all later calls do nothing, and kb_bench_new() returns it.
 *
 * Inputs depend only on the seed and on the names, types and sizes of tensors, so all topologies
 * and engines compute with the same bytes. One that a word "name=@path" names is read from a file
 * instead, whatever the bench fills it with; reference and verification see what was read.
 *
 * algorithm=auto is kb_bench_try(): a second run of the same bench with one argument changed and
 * without Phase 2, of which only the time of its kernels is taken. Each try begins on an idle
 * machine of its own. That a value is refused, or breaks a rule of kernels, is for setup() to
 * weigh; but if memory is short, another value must not be chosen for it, and the run fails.
 * Which are worth a try it may ask a kernel: kb_bench_ask(). The fastest is set by kb_bench_set(),
 * and the run goes on as if the user had given that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/cast.h"
#include "base/guard.h"
#include "base/text.h"
#include "machine/endpoint.h"
#include "sim/bench.h"

/* -- tensors and launches ------------------------------------------------------------------- */

const kb_topology *kb_bench_topology(const kb_bench_run *run)
{
    return run->topo;
}

/* NULL after a failure. */
static kb_tensor *declare(kb_bench_run *run, kb_bench_role role, const char *name, kb_dtype dtype,
                          kb_shape shape, kb_placement placement)
{
    size_t i = run->n_tensors;

    if (run->status)
        return NULL;
    if (i == KB_BENCH_TENSORS_MAX)
        run->status = endpoint_error(&run->why, "bench %s has more than %d tensors",
                                     run->bench->name, KB_BENCH_TENSORS_MAX);
    else
        run->status =
            kb_tensor_new(run->sim, name, dtype, shape, placement, &run->tensors[i], &run->why);
    if (run->status)
        return NULL;
    run->roles[i] = role;
    run->n_tensors++;
    return run->tensors[i];
}

kb_tensor *kb_bench_tensor(const kb_bench_run *run, size_t i, kb_bench_role *role)
{
    if (i >= run->n_tensors)
        return NULL;
    if (role)
        *role = run->roles[i];
    return run->tensors[i];
}

/* The file that is given for the input `name`, or NULL. */
static struct input_file *file_of(const kb_bench_run *run, const char *name)
{
    for (size_t i = 0; i < run->n_files; i++)
        if (strlen(name) == run->files[i].name_len &&
            strncmp(run->files[i].word, name, run->files[i].name_len) == 0)
            return &run->files[i];
    return NULL;
}

/* Is there a file for the input? Then it is read. */
static bool fill_from_file(kb_bench_run *run, kb_tensor *t, const char *name)
{
    struct input_file *file = file_of(run, name);

    if (!file)
        return false;
    file->used = true;
    run->status = kb_tensor_fill_npy(t, file->word + file->name_len + 2, &run->why);
    if (run->status == KB_FILE_ERROR) /* a mistake of the input, as of a topology's */
        run->status = KB_BAD_FILE;
    return true;
}

/* Refuses a file whose name is no input. */
static kb_status check_files(const kb_bench_run *run, kb_error *why)
{
    const char *names[KB_BENCH_TENSORS_MAX] = {NULL};
    char shown[SHOWN_BYTES], all[ALL_BYTES];
    size_t n = 0, i = 0;

    while (i < run->n_files && run->files[i].used)
        i++;
    if (i == run->n_files)
        return KB_OK;
    for (size_t k = 0; k < run->n_tensors; k++)
        if (run->roles[k] == KB_BENCH_INPUT)
            names[n++] = kb_tensor_name(run->tensors[k]);
    text_join(names, n, "", all, sizeof all);
    text_show(run->files[i].word, run->files[i].name_len, shown, sizeof shown);
    return endpoint_error(why, "'%s' is neither an argument nor an input of %s: inputs are %s",
                          shown, run->bench->name, n ? all : "none");
}

void kb_bench_input(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                    kb_placement placement, double scale)
{
    kb_tensor *t = declare(run, KB_BENCH_INPUT, name, dtype, shape, placement);

    if (t && !fill_from_file(run, t, name))
        run->status = kb_tensor_fill_random(t, run->seed, scale, &run->why);
}

/* Writes `values` into `t` in its type. */
static kb_status write_values(kb_tensor *t, const double *values, kb_error *why)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    uint64_t n = bench_n_elements(kb_tensor_shape(t));
    void *bytes = malloc(kb_dtype_size(dtype, n));
    kb_status status = KB_NO_MEMORY;

    if (bytes) {
        if (dtype_is_float(dtype))
            cast_elements(dtype, bytes, KB_F64, values, n);
        for (uint64_t i = 0; !dtype_is_float(dtype) && i < n; i++) /* a cast truncates */
            kb_element_set(dtype, bytes, i, values[i]);
        status = kb_tensor_write(t, bytes, why);
    }
    free(bytes);
    return status;
}

void kb_bench_input_by(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                       kb_placement placement,
                       void (*fill)(kb_bench_run *run, double *values, uint64_t n))
{
    kb_tensor *t = declare(run, KB_BENCH_INPUT, name, dtype, shape, placement);
    uint64_t n = t ? bench_n_elements(shape) : 0;
    double *values;

    if (!t || fill_from_file(run, t, name))
        return;
    values = calloc(n, sizeof *values);
    if (values) {
        fill(run, values, n);
        run->status = write_values(t, values, &run->why);
    } else {
        run->status = KB_NO_MEMORY;
    }
    free(values);
}

void kb_bench_output(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                     kb_placement placement)
{
    declare(run, KB_BENCH_OUTPUT, name, dtype, shape, placement);
}

void kb_bench_scratch(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                      kb_placement placement)
{
    declare(run, KB_BENCH_SCRATCH, name, dtype, shape, placement);
}

void kb_bench_launch(kb_bench_run *run, const char *name, kb_kernel kernel, const uint32_t *pes,
                     size_t n_pes)
{
    const kb_launch_request request = {
        .name = name, .kernel = kernel, .pes = n_pes ? pes : NULL, .n_pes = n_pes};

    kb_bench_launch_request(run, &request);
}

void kb_bench_launch_request(kb_bench_run *run, const kb_launch_request *request)
{
    kb_launch_request own = *request;

    own.args.tensors = run->tensors;
    own.args.n_tensors = run->n_tensors;
    if (!own.args.user)
        own.args.user = run;
    if (!run->status)
        run->status = kb_launch(run->sim, &own, &run->why);
}

/* SplitMix64; the bias of the remainder is 2^-40 and less. */
uint64_t kb_bench_random(kb_bench_run *run, uint64_t below)
{
    uint64_t z = run->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* -- values that setup() finds -------------------------------------------------------------- */

/* How long the kernels of `run`, which has not begun, take: from the first start to the last end.
 */
static kb_status run_kernels(kb_bench_run *run, int64_t *kernels_fs, kb_error *why)
{
    kb_status status = kb_sim_run(run->sim, 0, why);
    int64_t first_fs = INT64_MAX, last_fs = 0;
    kb_launch_result r;

    *kernels_fs = 0;
    for (size_t i = 0; !status && i < kb_launch_count(run->sim); i++) {
        status = kb_launch_get(run->sim, i, &r);
        first_fs = r.start_fs < first_fs ? r.start_fs : first_fs;
        last_fs = r.last_end_fs > last_fs ? r.last_end_fs : last_fs;
    }
    if (!status && last_fs > first_fs)
        *kernels_fs = last_fs - first_fs;
    return status;
}

/* Runs the bench with these arguments; if its kernels want values, with them. */
static kb_status run_with(const kb_bench_run *run, const char *const *words, int64_t *kernels_fs,
                          kb_error *why)
{
    kb_options options = {.stack_bytes = run->stack_bytes};
    kb_bench_run *other = NULL;
    kb_status status;
    bool wants;

    do {
        status = kb_bench_new(run->bench, run->topo, &options, run->seed, words,
                              run->bench->n_args + run->n_files, &other, why);
        if (status)
            return status;
        status = run_kernels(other, kernels_fs, why);
        wants = status && kb_sim_wants_values(other->sim) && !options.values;
        options.values = true;
        kb_bench_free(other);
    } while (wants);
    return status;
}

/* Runs the bench with `name` set to `value`. */
static kb_status run_other(const kb_bench_run *run, const char *name, const char *value,
                           int64_t *kernels_fs, kb_error *why)
{
    size_t n = run->bench->n_args, room = ALL_BYTES + VALUE_BYTES;
    char *texts = malloc((n + 1) * room);
    const char **words = calloc(n + run->n_files + 1, sizeof *words);
    kb_status status = texts && words ? KB_OK : KB_NO_MEMORY;

    for (size_t i = 0; i < n && !status; i++) {
        const char *arg = run->bench->args[i].name;

        words[i] = texts + i * room;
        snprintf(texts + i * room, room, "%s=%s", arg,
                 strcmp(arg, name) == 0 ? value : run->values[i].text);
    }
    for (size_t i = 0; i < run->n_files && !status; i++)
        words[n + i] = run->files[i].word;
    if (!status && bench_find_argument(run->bench, name, strlen(name)) < 0)
        status = endpoint_error(why, "bench %s has no argument '%.64s'", run->bench->name, name);
    if (!status)
        status = run_with(run, words, kernels_fs, why);
    free(words);
    free(texts);
    return status;
}

/* What cannot be done with that value is an answer; any other failure is one of `run`, too. */
kb_status kb_bench_try(const kb_bench_run *run, const char *name, const char *value,
                       int64_t *kernels_fs, kb_error *why)
{
    REFUSE_NULL(run && name && value && kernels_fs, "run, name, value, kernels_fs", why);
    kb_error other = {""};
    kb_status status = run->status;

    if (status)
        other = run->why;
    else
        status = run_other(run, name, value, kernels_fs, &other);
    if (status && status != KB_BAD_REQUEST && status != KB_KERNEL_ERROR && !run->status) {
        run->self->status = status;
        run->self->why = other;
    }
    if (status && why)
        *why = other;
    return status;
}

void kb_bench_ask(kb_bench_run *run, kb_kernel kernel, const void *user)
{
    kb_options options = {.stack_bytes = run->stack_bytes};
    kb_launch_request request = {
        .name = "ask", .kernel = kernel, .args.user = user, .pes = &(uint32_t){0}, .n_pes = 1};
    kb_sim *sim = NULL;

    if (run->status)
        return;
    run->status = kb_sim_new(run->topo, &options, &sim);
    if (!run->status)
        run->status = kb_launch(sim, &request, &run->why);
    if (!run->status)
        run->status = kb_sim_run(sim, 0, &run->why);
    if (sim)
        kb_sim_free(sim);
}

void kb_bench_set(kb_bench_run *run, const char *name, const char *value)
{
    int i = bench_find_argument(run->bench, name, strlen(name));

    if (run->status)
        return;
    run->status = i < 0 ? endpoint_error(&run->why, "bench %s has no argument '%.64s'",
                                         run->bench->name, name)
                        : bench_read_value(&run->bench->args[i], value, &run->values[i], &run->why);
}

void kb_bench_note(kb_bench_run *run, const char *text)
{
    size_t had = run->notes ? strlen(run->notes) : 0, more = strlen(text);
    char *notes = realloc(run->notes, had + more + 2);

    if (!notes) {
        run->status = KB_NO_MEMORY;
        return;
    }
    if (had)
        notes[had++] = '\n';
    memcpy(notes + had, text, more + 1);
    run->notes = notes;
}

void kb_bench_refuse(kb_bench_run *run, const char *text)
{
    if (!run->status)
        run->status = endpoint_error(&run->why, "%s", text);
}

const char *kb_bench_notes(const kb_bench_run *run)
{
    return run->notes ? run->notes : "";
}

/* -- runs ----------------------------------------------------------------------------------- */

static void set_up(void *arg)
{
    kb_bench_run *run = arg;

    run->bench->setup(run);
}

kb_status bench_call(const kb_bench_run *run, const char *name, void (*call)(void *arg), void *arg,
                     kb_error *why)
{
    char text[CRASH_BYTES];
    struct crash crash;

    if (guard_call(call, arg, &crash))
        return KB_OK;
    crash_text(crash, text);
    if (why)
        snprintf(why->text, sizeof why->text, "%s of bench %s: %s", name, run->bench->name, text);
    return KB_KERNEL_CRASHED;
}

/* Fills `run`, which is freed by the caller if it fails. */
static kb_status begin(kb_bench_run *run, const kb_options *options, const char *const *words,
                       size_t n_words, kb_error *why)
{
    kb_status status;

    run->values = calloc(run->bench->n_args + 1, sizeof *run->values);
    if (!run->values)
        return KB_NO_MEMORY;
    status = bench_read_words(run, words, n_words, why);
    if (!status)
        status = kb_sim_new(run->topo, options, &run->sim);
    if (status)
        return status;
    if (!run->bench->setup)
        return endpoint_error(why, "bench %s has no setup", run->bench->name);
    status = bench_call(run, "setup()", set_up, run, why);
    if (status)
        return status;
    if (!run->status)
        run->status = check_files(run, &run->why);
    if (!run->status && !kb_launch_count(run->sim))
        run->status = endpoint_error(&run->why, "bench %s launches nothing", run->bench->name);
    if (run->status && why)
        *why = run->why;
    return run->status;
}

kb_status kb_bench_new(const kb_bench *bench, const kb_topology *topo, const kb_options *options,
                       uint64_t seed, const char *const *words, size_t n_words, kb_bench_run **out,
                       kb_error *why)
{
    REFUSE_NULL(bench && topo && out && (words || n_words == 0), "bench, topo, out, words", why);
    kb_bench_run *run = calloc(1, sizeof *run);
    kb_status status;

    if (!run)
        return KB_NO_MEMORY;
    run->self = run;
    run->bench = bench;
    run->topo = topo;
    run->seed = run->random = seed;
    run->stack_bytes = options ? options->stack_bytes : 0;
    status = begin(run, options, words, n_words, why);
    if (!status)
        *out = run;
    else if (status != KB_KERNEL_CRASHED) /* then the heap may be damaged: nothing is given back */
        kb_bench_free(run);
    return status;
}

void kb_bench_free(kb_bench_run *run)
{
    if (!run)
        return;
    if (run->sim)
        kb_sim_free(run->sim);
    for (size_t i = 0; i < run->n_files; i++)
        free(run->files[i].word);
    free(run->files);
    free(run->values);
    free(run->notes);
    free(run);
}

kb_sim *kb_bench_sim(const kb_bench_run *run)
{
    return run->sim;
}
