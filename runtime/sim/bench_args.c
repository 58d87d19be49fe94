/* bench_args.c -- arguments of benches: "M=256" read, checked and asked for.
 *
 * A bench declares its arguments with type, initial value and range (struct kb_bench_arg), so words
 * are checked before setup() runs, and all benches refuse in the same way. An initial value goes
 * through the same reader as a given one. A value keeps its text in one canonical form, for the
 * output: M=0256 is 256, eps=0.00001 is 1e-05.
 *
 * "x=@file.npy" is no argument but an input: it waits until setup() declares one of that name.
 *
 * A message suggests the nearest word, by letters: dtype for `run gemm dtpe=f16`, f16 for
 * `dtype=f61`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "machine/endpoint.h"
#include "sim/bench.h"

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
    out->real = text_to_double(text, &end);
    if (*end || !(out->real >= arg->min && out->real <= arg->max))
        return refuse_value(arg, text, why);
    text_put_double(out->text, 1, out->real);
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

kb_status bench_read_value(const kb_bench_arg *arg, const char *text, struct value *out,
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

int bench_find_argument(const kb_bench *bench, const char *name, size_t len)
{
    for (size_t i = 0; i < bench->n_args; i++)
        if (strlen(bench->args[i].name) == len && strncmp(bench->args[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The same letters, small or capital, in any locale. */
static bool same_letters(const char *a, const char *b, size_t len)
{
    size_t i = 0;

    while (i < len && small(a[i]) == small(b[i]))
        i++;
    return i == len;
}

/* The name that was probably meant, or NULL. Of single letters, all are a letter apart. */
static const char *meant(const char *word, size_t len, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && same_letters(names[i], word, len))
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
    if (n == 0)
        return endpoint_error(why, "unknown argument '%s': %s takes none", shown, bench->name);
    text_join(names, n, "", all, sizeof all);
    return endpoint_error(why, "unknown argument '%s' of %s: it is one of %s", shown, bench->name,
                          all);
}

/* Keeps "name=@path" until an input of that name is declared. */
static kb_status add_file(kb_bench_run *run, const char *word, size_t len, kb_error *why)
{
    char *copy = strdup(word);
    struct input_file *files = realloc(run->files, (run->n_files + 1) * sizeof *files);

    if (files)
        run->files = files;
    for (size_t i = 0; i < run->n_files && copy; i++)
        if (files[i].name_len == len && strncmp(files[i].word, word, len) == 0) {
            free(copy);
            return endpoint_error(why, "input %.*s is given twice", (int)len, word);
        }
    if (!copy || !files) {
        free(copy);
        return KB_NO_MEMORY;
    }
    files[run->n_files++] = (struct input_file){.word = copy, .name_len = len};
    return KB_OK;
}

/* Reads "name=value". */
static kb_status read_word(kb_bench_run *run, const char *word, kb_error *why)
{
    size_t len = strcspn(word, "=");
    char shown[SHOWN_BYTES];
    int i = bench_find_argument(run->bench, word, len);

    if (i < 0 && word[len] && word[len + 1] == '@')
        return add_file(run, word, len, why);
    if (i < 0)
        return unknown_argument(run->bench, word, len, why);
    if (!word[len])
        return endpoint_error(why, "'%s' has no value, write %s=%s",
                              text_show(word, len, shown, sizeof shown), run->bench->args[i].name,
                              run->bench->args[i].initial);
    if (run->values[i].given)
        return endpoint_error(why, "%s is given twice", run->bench->args[i].name);
    run->values[i].given = true;
    return bench_read_value(&run->bench->args[i], word + len + 1, &run->values[i], why);
}

/* Has each argument of a bench what its type needs? */
static kb_status check_declared(const kb_bench *bench, kb_error *why)
{
    for (size_t i = 0; i < bench->n_args; i++) {
        const kb_bench_arg *arg = &bench->args[i];

        if (!arg->name || !arg->initial)
            return endpoint_error(why, "argument %zu of bench %s has no %s", i, bench->name,
                                  arg->name ? "default" : "name");
        if ((arg->type == KB_ARG_DTYPE || arg->type == KB_ARG_CHOICE) && !arg->choices)
            return endpoint_error(why, "argument %s of bench %s has no choices", arg->name,
                                  bench->name);
    }
    return KB_OK;
}

kb_status bench_read_words(kb_bench_run *run, const char *const *words, size_t n_words,
                           kb_error *why)
{
    kb_status status = check_declared(run->bench, why);

    for (size_t i = 0; i < n_words && !status; i++)
        status = read_word(run, words[i], why);
    for (size_t i = 0; i < run->bench->n_args && !status; i++)
        if (!run->values[i].given)
            status = bench_read_value(&run->bench->args[i], run->bench->args[i].initial,
                                      &run->values[i], why);
    return status;
}

/* A bench may ask only for arguments it has declared; anything else makes setup() fail. */
static const struct value *value_of(const kb_bench_run *run, const char *name, kb_arg_type type)
{
    static const struct value none;
    int i = bench_find_argument(run->bench, name, strlen(name));

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

const char *kb_bench_word(const kb_bench_run *run, const char *name)
{
    return value_of(run, name, KB_ARG_CHOICE)->text;
}

const char *kb_bench_value(const kb_bench_run *run, size_t i)
{
    return run->values[i].text;
}
