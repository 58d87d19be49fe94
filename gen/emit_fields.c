/* emit_fields.c -- writes the fields of struct kb_topology as m4 definitions. */
#include <inttypes.h>
#include "emit_parts.h"

enum form {
    FORM_NUMBER,
    FORM_REAL,
    FORM_TRIPLE,
    FORM_MEMORY,
    FORM_PE,
    FORM_BANKS,
    FORM_CACHE,
    FORM_TEXT,
    FORM_TABLE
};

/* One row of topology.def. */
struct field {
    const char *name, *c;
    enum form form;
    size_t offset, bytes;
};

#define MEMBER(type, name) offsetof(type, name), sizeof(((type *)0)->name)

static const struct field fields[] = {
#define FIELD(form, type, name, c) {#name, c, FORM_##form, MEMBER(struct kb_topology, name)},
#include "machine/topology.def"
};

static const struct field kind_fields[] = {
#define KIND_FIELD(form, type, name) {#name, NULL, FORM_##form, MEMBER(struct kind_row, name)},
#include "machine/topology.def"
};

static const struct field bank_fields[] = {
#define BANK_FIELD(form, type, name) {#name, NULL, FORM_##form, MEMBER(struct bank_row, name)},
#include "machine/topology.def"
};

static const struct field cache_fields[] = {
#define CACHE_FIELD(form, type, name) {#name, NULL, FORM_##form, MEMBER(struct cache_row, name)},
#include "machine/topology.def"
};

static const struct field pe_fields[] = {
#define PE_FIELD(form, type, name) {#name, NULL, FORM_##form, MEMBER(struct pe_row, name)},
#include "machine/topology.def"
};

/* An integer of any width; none is negative. */
static uint64_t integer(const void *at, size_t bytes)
{
    switch (bytes) {
    case sizeof(uint8_t):
        return *(const uint8_t *)at;
    case sizeof(uint16_t):
        return *(const uint16_t *)at;
    case sizeof(uint32_t):
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

static void put_memory(FILE *out, const struct memory_row *m)
{
    static const char *const holds[] = {"HOLD_ROUTE", "HOLD_OWN", "HOLD_BY_COMPONENT"};
#define MODEL_NAME(NAME, word, name) "MEMORY_" #NAME,
    static const char *const models[] = {"MEMORY_SERVER", MEMORY_MODELS(MODEL_NAME) "MEMORY_CACHE",
                                         "MEMORY_QUEUEING"};
    char gbs[40], own_gbs[40], edge_gbs[40], bare_gbs[40];

    fprintf(out,
            "{.overhead_fs = %" PRId64 ", .gbs = %s, .nbytes = %" PRIu64 ", .wire_fs = %" PRId64
            ",\n            .latency_fs = %" PRId64 ", .own_gbs = %s, .edge_gbs = %s,"
            "\n            .bare_gbs = %s, .hold = %s, .model = %s%s%s",
            m->overhead_fs, emit_real(m->gbs, gbs), m->nbytes, m->wire_fs, m->latency_fs,
            emit_real(m->own_gbs, own_gbs), emit_real(m->edge_gbs, edge_gbs),
            emit_real(m->bare_gbs, bare_gbs), holds[m->hold], models[m->model],
            m->behind ? ", .behind = " : "", m->behind ? models[m->behind] : "");
    if (m->ports)
        fprintf(out, ", .ports = %d", m->ports);
    if (m->atomic)
        fputs(", .atomic = ATOMIC_READ_WRITE", out);
    if (m->late)
        fputs(", .late = 1", out);
    if (m->access_bytes)
        fprintf(out, ", .access_bytes = %" PRIu32, m->access_bytes);
    fputc('}', out);
}

static void put_value(FILE *out, const struct field *f, const void *row);

static void put_pe(FILE *out, const struct pe_row *pe)
{
    fputs("{\n", out);
    for (size_t i = 0; i < LENGTH(pe_fields); i++) {
        fprintf(out, "            .%s = ", pe_fields[i].name);
        put_value(out, &pe_fields[i], pe);
        fputs(",\n", out);
    }
    fputs("        }", out);
}

/* Row `at`, which has the `n` fields; all zero where the machine has no such thing. */
static void put_row(FILE *out, const struct field *fields_of, size_t n, const void *at,
                    bool is_there)
{
    if (!is_there) {
        fputs("{0}", out);
        return;
    }
    fputs("{", out);
    for (size_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            fputs("\n           ", out);
        fprintf(out, " .%s = ", fields_of[i].name);
        put_value(out, &fields_of[i], at);
        fputs(",", out);
    }
    fputs("\n        }", out);
}

/* Field `f` of `row`, as topo.c initialises it. */
static void put_value(FILE *out, const struct field *f, const void *row)
{
    const void *at = (const char *)row + f->offset;
    const uint32_t *three = at;
    char text[40];

    if (f->form == FORM_TABLE && !*(void *const *)at) {
        fputs("NULL", out);
        return;
    }
    if (f->c) {
        fputs(f->c, out);
        return;
    }
    switch (f->form) {
    case FORM_NUMBER:
        fprintf(out, "%" PRIu64, integer(at, f->bytes));
        break;
    case FORM_REAL:
        fputs(emit_real(*(const double *)at, text), out);
        break;
    case FORM_TRIPLE:
        fprintf(out, "{%u, %u, %u}", three[0], three[1], three[2]);
        break;
    case FORM_MEMORY:
        if (((const struct memory_row *)at)->nbytes)
            put_memory(out, at);
        else
            fputs("{0}", out);
        break;
    case FORM_PE:
        put_pe(out, at);
        break;
    case FORM_BANKS:
        put_row(out, bank_fields, LENGTH(bank_fields), at, ((const struct bank_row *)at)->burst_fs);
        break;
    case FORM_CACHE:
        put_row(out, cache_fields, LENGTH(cache_fields), at, ((const struct cache_row *)at)->sets);
        break;
    case FORM_TEXT:
    case FORM_TABLE: /* always by a name, or NULL */
        break;
    }
}

void emit_kinds(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "kinds");
    for (uint32_t kind = 0; kind < r->topo.n_kinds; kind++) {
        fprintf(out, "$1(%u, [[", kind);
        for (size_t i = 0; i < LENGTH(kind_fields); i++) {
            fprintf(out, "        .%s = ", kind_fields[i].name);
            put_value(out, &kind_fields[i], &r->kinds[kind]);
            fputs(",\n", out);
        }
        fputs("]])m4_dnl\n", out);
    }
    emit_end_map(out);
}

/* Each number as a macro, for topo.h, and the initialiser of struct kb_topology. */
void emit_fields(FILE *out, const struct kb_topology *t)
{
    for (size_t i = 0; i < LENGTH(fields); i++)
        if (fields[i].form == FORM_NUMBER)
            emit_define_int(out, fields[i].name,
                            integer((const char *)t + fields[i].offset, fields[i].bytes));
    emit_begin_map(out, "fields");
    for (size_t i = 0; i < LENGTH(fields); i++) {
        fprintf(out, "$1([[%s]], [[", fields[i].name);
        put_value(out, &fields[i], t);
        fputs("]])m4_dnl\n", out);
    }
    emit_end_map(out);
}
