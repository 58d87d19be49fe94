/* bench.c -- benches by name: arguments, tensors, launches, and whether they computed right. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "machine/endpoint.h"
#include "base/text.h"

enum { VALUE_BYTES = 32, SHOWN_BYTES = 64, ALL_BYTES = 256 };

/* The value of an argument. */
struct value {
    bool given;
    int64_t integer; /* INT; DTYPE: kb_dtype; CHOICE: its place */
    double real;
    char text[VALUE_BYTES];
};

enum role { ROLE_INPUT, ROLE_OUTPUT, ROLE_SCRATCH };

struct kb_bench_run {
    const kb_bench *bench;   /* borrowed */
    const kb_topology *topo; /* borrowed */
    kb_sim *sim;             /* owned */
    struct value *values;    /* owned; bench->n_args */
    kb_tensor *tensors[KB_BENCH_TENSORS_MAX];
    enum role roles[KB_BENCH_TENSORS_MAX];
    size_t n_tensors;
    uint64_t seed, random;
    size_t stack_bytes; /* of the options */
    char *notes;        /* owned; NULL: none */
    kb_status status;   /* of the first call of setup() that failed */
    kb_error why;
    struct kb_bench_run *self; /* to note that in */
};

/* -- arguments ------------------------------------------------------------------------------ */

/* The `i`-th of the words of `choices`; its length to *len, 0: there are no more. */
static const char *choice(const char *choices, size_t i, size_t *len)
{
    for (;; i--) {
        *len = strcspn(choices, " ");
        if (i == 0 || *len == 0)
            return choices;
        choices += *len + (choices[*len] == ' ');
    }
}

/* "not 'f61', did you mean 'f16'?", of words with blanks between them. */
static kb_status refuse_choice(const kb_bench_arg *arg, const char *text, const char *shown,
                               kb_error *why)
{
    char words[ALL_BYTES];
    const char *names[64], *near;
    size_t n = 0;

    snprintf(words, sizeof words, "%s", arg->choices);
    for (char *rest = words; n < sizeof names / sizeof *names && rest;)
        names[n++] = strsep(&rest, " ");
    near = text_nearest(text, strlen(text), names, n);
    return endpoint_error(why, "%s must be one of '%s', not '%s'%s%s%s", arg->name, arg->choices,
                          shown, near ? ", did you mean '" : "", near ? near : "",
                          near ? "'?" : "");
}

static kb_status refuse_value(const kb_bench_arg *arg, const char *text, kb_error *why)
{
    char shown[SHOWN_BYTES];

    text_show(text, strlen(text), shown, sizeof shown);
    if (arg->type == KB_ARG_INT)
        return endpoint_error(why, "%s must be an integer in %.0f..%.0f, not '%s'", arg->name,
                              arg->min, arg->max, shown);
    if (arg->type == KB_ARG_REAL)
        return endpoint_error(why, "%s must be a number in %g..%g, not '%s'", arg->name, arg->min,
                              arg->max, shown);
    return refuse_choice(arg, text, shown, why);
}

static kb_status read_int(const kb_bench_arg *arg, const char *text, struct value *out,
                          kb_error *why)
{
    bool negative = text[0] == '-';
    uint64_t n;

    if (!text_read_count(text + negative, strlen(text + negative), &n) || n > INT64_MAX)
        return refuse_value(arg, text, why);
    out->integer = negative ? -(int64_t)n : (int64_t)n;
    if ((double)out->integer < arg->min || (double)out->integer > arg->max)
        return refuse_value(arg, text, why);
    snprintf(out->text, sizeof out->text, "%lld", (long long)out->integer);
    return KB_OK;
}

/* Decimal alone: strtod() would take hexadecimal, blanks, infinities and NaN as well. */
static kb_status read_real(const kb_bench_arg *arg, const char *text, struct value *out,
                           kb_error *why)
{
    char *end;

    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return refuse_value(arg, text, why);
    out->real = strtod(text, &end);
    if (*end || !(out->real >= arg->min && out->real <= arg->max))
        return refuse_value(arg, text, why);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out->text, sizeof out->text, "%.*g", digits, out->real);
        if (strtod(out->text, NULL) == out->real)
            break;
    }
    return KB_OK;
}

static kb_status read_choice(const kb_bench_arg *arg, const char *text, struct value *out,
                             kb_error *why)
{
    size_t len;

    for (size_t i = 0;; i++) {
        const char *word = choice(arg->choices, i, &len);

        if (len == 0)
            return refuse_value(arg, text, why);
        if (len != strlen(text) || strncmp(word, text, len) != 0)
            continue;
        snprintf(out->text, sizeof out->text, "%s", text);
        out->integer = arg->type == KB_ARG_DTYPE ? (int64_t)kb_dtype_parse(text) : (int64_t)i;
        return KB_OK;
    }
}

static kb_status read_value(const kb_bench_arg *arg, const char *text, struct value *out,
                            kb_error *why)
{
    switch (arg->type) {
    case KB_ARG_INT:
        return read_int(arg, text, out, why);
    case KB_ARG_REAL:
        return read_real(arg, text, out, why);
    case KB_ARG_DTYPE:
    case KB_ARG_CHOICE:
        break;
    }
    return read_choice(arg, text, out, why);
}

/* The place of the argument called `name` (`len` bytes) among those of `bench`, or -1. */
static int find(const kb_bench *bench, const char *name, size_t len)
{
    for (size_t i = 0; i < bench->n_args; i++)
        if (strlen(bench->args[i].name) == len && strncmp(bench->args[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

/* The name that was probably meant, or NULL. Of single letters, all are a letter apart. */
static const char *meant(const char *word, size_t len, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], word, len) == 0)
            return names[i];
    return len > 1 ? text_nearest(word, len, names, n) : NULL;
}

static kb_status unknown_argument(const kb_bench *bench, const char *name, size_t len,
                                  kb_error *why)
{
    const char *names[64], *near;
    char shown[SHOWN_BYTES], all[ALL_BYTES];
    size_t n = 0;

    for (; n < bench->n_args && n < sizeof names / sizeof *names; n++)
        names[n] = bench->args[n].name;
    text_show(name, len, shown, sizeof shown);
    near = meant(name, len, names, n);
    if (near)
        return endpoint_error(why, "unknown argument '%s' of %s, did you mean '%s'?", shown,
                              bench->name, near);
    text_join(names, n, "", all, sizeof all);
    return endpoint_error(why, "unknown argument '%s' of %s: it is one of %s", shown, bench->name,
                          all);
}

/* Reads "name=value". */
static kb_status read_word(kb_bench_run *run, const char *word, kb_error *why)
{
    size_t len = strcspn(word, "=");
    char shown[SHOWN_BYTES];
    int i = find(run->bench, word, len);

    if (i < 0)
        return unknown_argument(run->bench, word, len, why);
    if (!word[len])
        return endpoint_error(why, "'%s' has no value, write %s=%s",
                              text_show(word, len, shown, sizeof shown), run->bench->args[i].name,
                              run->bench->args[i].initial);
    if (run->values[i].given)
        return endpoint_error(why, "%s is given twice", run->bench->args[i].name);
    run->values[i].given = true;
    return read_value(&run->bench->args[i], word + len + 1, &run->values[i], why);
}

static kb_status read_words(kb_bench_run *run, const char *const *words, size_t n_words,
                            kb_error *why)
{
    kb_status status = KB_OK;

    for (size_t i = 0; i < n_words && !status; i++)
        status = read_word(run, words[i], why);
    for (size_t i = 0; i < run->bench->n_args && !status; i++)
        if (!run->values[i].given)
            status =
                read_value(&run->bench->args[i], run->bench->args[i].initial, &run->values[i], why);
    return status;
}

/* A bench may ask only for arguments it has declared; anything else makes setup() fail. */
static const struct value *value_of(const kb_bench_run *run, const char *name, kb_arg_type type)
{
    static const struct value none;
    int i = find(run->bench, name, strlen(name));

    if (i >= 0 && run->bench->args[i].type == type)
        return &run->values[i];
    if (run->self->status == KB_OK)
        run->self->status = endpoint_error(&run->self->why,
                                           "bench %s has no argument '%.64s' of the type asked for",
                                           run->bench->name, name);
    return &none;
}

int64_t kb_bench_int(const kb_bench_run *run, const char *name)
{
    return value_of(run, name, KB_ARG_INT)->integer;
}

double kb_bench_real(const kb_bench_run *run, const char *name)
{
    return value_of(run, name, KB_ARG_REAL)->real;
}

kb_dtype kb_bench_dtype(const kb_bench_run *run, const char *name)
{
    return (kb_dtype)value_of(run, name, KB_ARG_DTYPE)->integer;
}

int kb_bench_choice(const kb_bench_run *run, const char *name)
{
    return (int)value_of(run, name, KB_ARG_CHOICE)->integer;
}

const char *kb_bench_value(const kb_bench_run *run, size_t i)
{
    return run->values[i].text;
}

/* -- tensors and launches ------------------------------------------------------------------- */

const kb_topology *kb_bench_topology(const kb_bench_run *run)
{
    return run->topo;
}

/* NULL after a failure. */
static kb_tensor *declare(kb_bench_run *run, enum role role, const char *name, kb_dtype dtype,
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

void kb_bench_input(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                    kb_placement placement, double scale)
{
    kb_tensor *t = declare(run, ROLE_INPUT, name, dtype, shape, placement);

    if (t)
        run->status = kb_tensor_fill_random(t, run->seed, scale, &run->why);
}

static uint64_t n_elements(kb_shape shape)
{
    uint64_t n = 1;

    for (int64_t i = 0; i < shape.rank; i++)
        n *= (uint64_t)shape.dim[i];
    return n;
}

/* Writes `values` into `t` in its type. */
static kb_status write_values(kb_tensor *t, const double *values, kb_error *why)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    uint64_t n = n_elements(kb_tensor_shape(t));
    void *bytes = malloc(n * kb_dtype_bytes(dtype));
    kb_status status = KB_NO_MEMORY;

    if (bytes) {
        for (uint64_t i = 0; i < n; i++)
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
    kb_tensor *t = declare(run, ROLE_INPUT, name, dtype, shape, placement);
    uint64_t n = t ? n_elements(shape) : 0;
    double *values = t ? calloc(n, sizeof *values) : NULL;

    if (values) {
        fill(run, values, n);
        run->status = write_values(t, values, &run->why);
    } else if (t) {
        run->status = KB_NO_MEMORY;
    }
    free(values);
}

void kb_bench_output(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                     kb_placement placement)
{
    declare(run, ROLE_OUTPUT, name, dtype, shape, placement);
}

void kb_bench_scratch(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                      kb_placement placement)
{
    declare(run, ROLE_SCRATCH, name, dtype, shape, placement);
}

void kb_bench_launch(kb_bench_run *run, const char *name, kb_kernel kernel, const uint32_t *pes,
                     size_t n_pes)
{
    kb_launch_request request = {
        .name = name,
        .kernel = kernel,
        .args = {.tensors = run->tensors, .n_tensors = run->n_tensors, .user = run},
        .pes = n_pes ? pes : NULL,
        .n_pes = n_pes};

    if (!run->status)
        run->status = kb_launch(run->sim, &request, &run->why);
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

/* How long the kernels of `run`, which has not begun, take. */
static kb_status run_kernels(kb_bench_run *run, int64_t *kernels_fs, kb_error *why)
{
    kb_status status = kb_sim_run(run->sim, 0, why);
    kb_launch_result r;

    *kernels_fs = 0;
    for (size_t i = 0; !status && i < kb_launch_count(run->sim); i++) {
        status = kb_launch_get(run->sim, i, &r);
        *kernels_fs += r.last_end_fs - r.start_fs;
    }
    return status;
}

kb_status kb_bench_try(const kb_bench_run *run, const char *name, const char *value,
                       int64_t *kernels_fs, kb_error *why)
{
    size_t n = run->bench->n_args, room = ALL_BYTES + VALUE_BYTES;
    kb_options options = {.stack_bytes = run->stack_bytes};
    char *texts = malloc((n + 1) * room);
    const char **words = calloc(n + 1, sizeof *words);
    kb_bench_run *other = NULL;
    kb_status status = texts && words ? KB_OK : KB_NO_MEMORY;

    for (size_t i = 0; i < n && !status; i++) {
        const char *arg = run->bench->args[i].name;

        words[i] = texts + i * room;
        snprintf(texts + i * room, room, "%s=%s", arg,
                 strcmp(arg, name) == 0 ? value : run->values[i].text);
    }
    if (!status && find(run->bench, name, strlen(name)) < 0)
        status = endpoint_error(why, "bench %s has no argument '%.64s'", run->bench->name, name);
    if (!status)
        status = kb_bench_new(run->bench, run->topo, &options, run->seed, words, n, &other, why);
    if (!status)
        status = run_kernels(other, kernels_fs, why);
    kb_bench_free(other);
    free(words);
    free(texts);
    return status;
}

void kb_bench_set(kb_bench_run *run, const char *name, const char *value)
{
    int i = find(run->bench, name, strlen(name));

    if (run->status)
        return;
    run->status = i < 0 ? endpoint_error(&run->why, "bench %s has no argument '%.64s'",
                                         run->bench->name, name)
                        : read_value(&run->bench->args[i], value, &run->values[i], &run->why);
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

/* Fills `run`, which is freed by the caller if it fails. */
static kb_status begin(kb_bench_run *run, const kb_options *options, const char *const *words,
                       size_t n_words, kb_error *why)
{
    kb_status status;

    run->values = calloc(run->bench->n_args + 1, sizeof *run->values);
    if (!run->values)
        return KB_NO_MEMORY;
    status = read_words(run, words, n_words, why);
    if (!status)
        status = kb_sim_new(run->topo, options, &run->sim);
    if (status)
        return status;
    if (!run->bench->setup)
        return endpoint_error(why, "bench %s has no setup", run->bench->name);
    run->bench->setup(run);
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
    if (status)
        kb_bench_free(run);
    else
        *out = run;
    return status;
}

void kb_bench_free(kb_bench_run *run)
{
    if (!run)
        return;
    if (run->sim)
        kb_sim_free(run->sim);
    free(run->values);
    free(run->notes);
    free(run);
}

kb_sim *kb_bench_sim(const kb_bench_run *run)
{
    return run->sim;
}

/* -- verification --------------------------------------------------------------------------- */

/* The tensors that outputs are compared with: t[i] as kb_bench.reference has them. */
struct expected {
    double *t[KB_BENCH_TENSORS_MAX]; /* owned */
};

static void expected_free(struct expected *e)
{
    for (size_t i = 0; i < KB_BENCH_TENSORS_MAX; i++)
        free(e->t[i]);
}

/* The whole of `t` as its type has it, to be freed. NULL after *status is set. */
static void *read_bytes(const kb_tensor *t, kb_status *status, kb_error *why)
{
    void *bytes = malloc(n_elements(kb_tensor_shape(t)) * kb_dtype_bytes(kb_tensor_dtype(t)));

    *status = bytes ? kb_tensor_read(t, bytes, why) : KB_NO_MEMORY;
    if (!*status)
        return bytes;
    free(bytes);
    return NULL;
}

static kb_status read_input(const kb_tensor *t, double *values, kb_error *why)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    kb_status status;
    void *bytes = read_bytes(t, &status, why);

    for (uint64_t i = 0; !status && i < n_elements(kb_tensor_shape(t)); i++)
        values[i] = kb_element(dtype, bytes, i);
    free(bytes);
    return status;
}

/* Inputs as they are, zeros for outputs. */
static kb_status expected_new(const kb_bench_run *run, struct expected *e, kb_error *why)
{
    kb_status status = KB_OK;

    for (size_t i = 0; i < run->n_tensors && !status; i++) {
        const kb_tensor *t = run->tensors[i];

        if (run->roles[i] == ROLE_SCRATCH)
            continue;
        e->t[i] = calloc(n_elements(kb_tensor_shape(t)), sizeof *e->t[i]);
        if (!e->t[i])
            return KB_NO_MEMORY;
        if (run->roles[i] == ROLE_INPUT)
            status = read_input(t, e->t[i], why);
    }
    return status;
}

/* "c[3,17]": element `index` in C order. */
static void name_element(const kb_tensor *t, uint64_t index, char *text, size_t room)
{
    kb_shape shape = kb_tensor_shape(t);
    uint64_t rest = n_elements(shape);
    size_t n = (size_t)snprintf(text, room, "%s", kb_tensor_name(t));

    for (int64_t i = 0; i < shape.rank && n < room; i++) {
        rest /= (uint64_t)shape.dim[i];
        n += (size_t)snprintf(text + n, room - n, "%c%llu", i > 0 ? ',' : '[',
                              (unsigned long long)(index / rest));
        index %= rest;
    }
    if (n < room)
        snprintf(text + n, room - n, "]");
}

/* Compares one output. Its bytes may lack: a kernel that did not write them computed wrong. */
static kb_status compare(const kb_tensor *t, double *want, double *max_abs_err, kb_error *why)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    uint64_t n = n_elements(kb_tensor_shape(t)), rounded[1];
    kb_difference d;
    kb_status status;
    char name[2 * SHOWN_BYTES];
    void *got = read_bytes(t, &status, why);

    if (status)
        return status == KB_BAD_REQUEST ? KB_DIFFERENT : status;
    for (uint64_t i = 0; i < n; i++) {
        kb_element_set(dtype, rounded, 0, want[i]);
        want[i] = kb_element(dtype, rounded, 0);
    }
    status = kb_compare(dtype, got, want, n, &d);
    free(got);
    if (!(d.max_abs_err <= *max_abs_err))
        *max_abs_err = d.max_abs_err;
    if (status != KB_DIFFERENT)
        return status;
    name_element(t, d.index, name, sizeof name);
    endpoint_error(why, "%s is %.12g, expected %.12g; %llu of %llu elements differ", name, d.got,
                   d.want, (unsigned long long)d.n_bad, (unsigned long long)n);
    return KB_DIFFERENT;
}

/* The first difference is the one to tell; the largest is of all outputs. */
kb_status kb_bench_verify(const kb_bench_run *run, double *max_abs_err, kb_error *why)
{
    struct expected e = {{NULL}};
    kb_error other;
    kb_status status = expected_new(run, &e, why), all = status;

    *max_abs_err = 0;
    if (!run->bench->reference) {
        expected_free(&e);
        return endpoint_error(why, "bench %s has no reference to verify with", run->bench->name);
    }
    if (!status)
        run->bench->reference(run, e.t);
    for (size_t i = 0; i < run->n_tensors && (all == KB_OK || all == KB_DIFFERENT); i++) {
        if (run->roles[i] != ROLE_OUTPUT)
            continue;
        status = compare(run->tensors[i], e.t[i], max_abs_err, all ? &other : why);
        if (status)
            all = status;
    }
    expected_free(&e);
    return all;
}

/* -- dumps ---------------------------------------------------------------------------------- */

static kb_status file_error(kb_error *why, const char *path)
{
    endpoint_error(why, "%s: %s", path, strerror(errno));
    return KB_FILE_ERROR;
}

/* Makes `folder` and those above it, so far as they lack. */
static kb_status make_folder(const char *folder, kb_error *why)
{
    char *path = malloc(strlen(folder) + 1);
    kb_status status = path ? KB_OK : KB_NO_MEMORY;

    if (path)
        strcpy(path, folder);
    for (char *p = path; !status && *p;) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char end = *p;
        *p = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            status = file_error(why, path);
        *p = end;
    }
    free(path);
    return status;
}

static kb_status dump(const kb_tensor *t, enum role role, const char *folder, kb_error *why)
{
    const char *format = kb_tensor_dtype(t) == KB_BF16 ? "%s/%s.%s.bf16.npy" : "%s/%s.%s.npy";
    size_t room = strlen(folder) + strlen(kb_tensor_name(t)) + 32;
    char *path = malloc(room);
    kb_status status = KB_NO_MEMORY;

    if (path) {
        snprintf(path, room, format, folder, role == ROLE_INPUT ? "in" : "out", kb_tensor_name(t));
        status = kb_tensor_save_npy(t, path, why);
    }
    free(path);
    return status;
}

kb_status kb_bench_dump(const kb_bench_run *run, const char *folder, kb_error *why)
{
    kb_status status =
        *folder ? make_folder(folder, why) : endpoint_error(why, "a folder for dumps needs a name");

    for (size_t i = 0; i < run->n_tensors && !status; i++)
        if (run->roles[i] != ROLE_SCRATCH)
            status = dump(run->tensors[i], run->roles[i], folder, why);
    return status;
}
