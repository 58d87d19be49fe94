/* helpers.c -- loops that Python would be slow in; part of the module kernbench._native. */

/*
 * Numbers what `n` pointers point to: out[i] is the number of the first pointer that equals
 * pointers[i], and first[number] where that stands. Returns how many there are; 0: more than
 * `most`. `slots`, n_slots of them (a power of two, more than 2 * most), are all 0.
 */
static uint32_t kernbench_number_pointers(const uintptr_t *pointers, size_t n, uint32_t *out,
                                          uint64_t *first, uint32_t most, uint32_t *slots,
                                          size_t n_slots)
{
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)((uint64_t)pointers[i] * 0x9e3779b97f4a7c15 >> 32) & (n_slots - 1);

        while (slots[at] && pointers[first[slots[at] - 1]] != pointers[i])
            at = (at + 1) & (n_slots - 1);
        if (!slots[at]) {
            if (count == most)
                return 0;
            first[count++] = i;
            slots[at] = count;
        }
        out[i] = slots[at] - 1;
    }
    return count;
}

/* Rounds what a reference has computed to what a type holds: the nearest, ties to even. */
static void kernbench_round(kb_dtype dtype, double *values, size_t n)
{
    uint64_t bits;

    for (size_t i = 0; i < n; i++) {
        kb_element_set(dtype, &bits, 0, values[i]);
        values[i] = kb_element(dtype, &bits, 0);
    }
}

/* -- observers of simulations ------------------------------------------------------------------ */

/* A piece of the time of a transaction. */
struct kernbench_span {
    uint32_t id, cause;
    uint64_t place, behind;
    int64_t begin_fs, end_fs;
};

/* All of them, as they end. */
struct kernbench_recorder {
    struct kernbench_span *spans; /* owned */
    size_t n, room;
};

static void keep_span(void *arg, const kb_span *span)
{
    struct kernbench_recorder *r = arg;

    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 1024;
        struct kernbench_span *moved = realloc(r->spans, room * sizeof *moved);

        if (!moved)
            return;
        r->spans = moved;
        r->room = room;
    }
    r->spans[r->n++] = (struct kernbench_span){span->id,     span->cause,    span->place,
                                               span->behind, span->begin_fs, span->end_fs};
}

static struct kernbench_recorder *kernbench_recorder_new(void)
{
    return calloc(1, sizeof(struct kernbench_recorder));
}

static void kernbench_recorder_free(struct kernbench_recorder *r)
{
    free(r->spans);
    free(r);
}

static void kernbench_recorder_watch(kb_observer *watch)
{
    watch->close = keep_span;
}

static const struct kernbench_span *kernbench_recorder_spans(const struct kernbench_recorder *r,
                                                             size_t *n)
{
    *n = r->n;
    return r->spans;
}

/* -- the Arrow C data interface ----------------------------------------------------------------- */

/* As https://arrow.apache.org/docs/format/CDataInterface.html has them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* For each kind: an empty struct in a capsule of that name, and the end of the capsule, which
 * releases what is still in it. */
#define ARROW_CAPSULE(STRUCT, kind, name)                                                          \
    static void kind##_gone(PyObject *capsule)                                                     \
    {                                                                                              \
        struct STRUCT *shown = PyCapsule_GetPointer(capsule, name);                                \
                                                                                                   \
        if (shown->release)                                                                        \
            shown->release(shown);                                                                 \
        free(shown);                                                                               \
    }
ARROW_CAPSULE(ArrowSchema, schema, "arrow_schema")
ARROW_CAPSULE(ArrowArray, array, "arrow_array")
ARROW_CAPSULE(ArrowArrayStream, stream, "arrow_array_stream")

static void *kernbench_schema_gone_at(void)
{
    return (void *)schema_gone;
}

static void *kernbench_array_gone_at(void)
{
    return (void *)array_gone;
}

static void *kernbench_stream_gone_at(void)
{
    return (void *)stream_gone;
}

static struct ArrowSchema *kernbench_arrow_schema_new(void)
{
    return calloc(1, sizeof(struct ArrowSchema));
}

static struct ArrowArray *kernbench_arrow_array_new(void)
{
    return calloc(1, sizeof(struct ArrowArray));
}

static struct ArrowArrayStream *kernbench_arrow_stream_new(void)
{
    return calloc(1, sizeof(struct ArrowArrayStream));
}
