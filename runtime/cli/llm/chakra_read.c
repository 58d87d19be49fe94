/*
 * chakra_read.c -- the nodes of a Chakra file, with the attributes that a replay needs.
 *
 * Numbers come in any type of number: one generator writes is_cpu_op as int32, another as bool. So
 * an attribute is the value that is set, whatever its type; a number as a text is one, too.
 */
#include "cli/llm/chakra.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

const char *chakra_key_name(enum chakra_key key)
{
    static const char *const names[CHAKRA_KEYS] = {
        [CHAKRA_IS_CPU] = "is_cpu_op",    [CHAKRA_OPS] = "num_ops",
        [CHAKRA_SIZE] = "tensor_size",    [CHAKRA_COMM_TYPE] = "comm_type",
        [CHAKRA_COMM_SIZE] = "comm_size", [CHAKRA_SRC] = "comm_src",
        [CHAKRA_DST] = "comm_dst",        [CHAKRA_TAG] = "comm_tag",
        [CHAKRA_GROUP] = "comm_group",
    };

    return names[key];
}

void chakra_file_free(struct chakra_file *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->node[i].name);
        free(f->node[i].deps);
        free(f->node[i].group);
        free(f->node[i].values);
    }
    free(f->node);
    free(f->name);
}

#ifdef KB_NO_PROTOBUF
enum exit_code chakra_read(const struct cli *cli, char *name, struct chakra_file *out)
{
    *out = (struct chakra_file){.name = name};
    return cmd_say(cli, EXIT_SYSTEM, "cannot read %s: this build has no protobuf-c", name);
}
#else
#include "chakra.pb-c.h"
#include <errno.h>
#include <stdio.h>

typedef ChakraProtoMsg__Node proto_node;
typedef ChakraProtoMsg__AttributeProto proto_attr;

/* -- bytes ------------------------------------------------------------------------------------ */

struct bytes {
    uint8_t *at; /* owned */
    size_t n, room, next;
};

static bool read_all(const char *name, struct bytes *b)
{
    FILE *f = fopen(name, "rb");
    size_t n = 1;

    while (f && n > 0) {
        while (b->room - b->n < 4096)
            b->at = memory_room(b->at, b->room, &b->room, 1);
        n = fread(b->at + b->n, 1, b->room - b->n, f);
        b->n += n;
    }
    bool failed = !f || ferror(f);
    int error = errno;
    if (f)
        fclose(f);
    errno = error;
    return !failed;
}

/* The next message; *size < 0: the file ends within it. */
static const uint8_t *next_message(struct bytes *b, int64_t *size)
{
    uint64_t n = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;

    for (*size = -1; byte >= 0x80; shift += 7) {
        if (b->next == b->n || shift > 56)
            return NULL;
        byte = b->at[b->next++];
        n |= (uint64_t)(byte & 0x7f) << shift;
    }
    if (n > b->n - b->next)
        return NULL;
    *size = (int64_t)n;
    b->next += n;
    return b->at + b->next - n;
}

/* -- attributes ------------------------------------------------------------------------------- */

#define VALUE(word) CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_##word##_VAL

/* False: it is no number. */
static bool number_of(const proto_attr *a, int64_t *out)
{
    char *end;

    switch (a->value_case) {
    case VALUE(INT32):
    case VALUE(SINT32):
    case VALUE(SFIXED32):
        *out = a->int32_val;
        return true;
    case VALUE(UINT32):
    case VALUE(FIXED32):
        *out = a->uint32_val;
        return true;
    case VALUE(INT64):
    case VALUE(SINT64):
    case VALUE(SFIXED64):
    case VALUE(UINT64):
    case VALUE(FIXED64):
        *out = a->int64_val;
        return true;
    case VALUE(BOOL):
        *out = a->bool_val;
        return true;
    case VALUE(FLOAT):
        *out = (int64_t)a->float_val;
        return a->float_val >= 0 && a->float_val < 0x1p62F;
    case VALUE(DOUBLE):
        *out = (int64_t)a->double_val;
        return a->double_val >= 0 && a->double_val < 0x1p62;
    case VALUE(STRING):
        *out = strtoll(a->string_val, &end, 10);
        return end != a->string_val && *end == '\0';
    default:
        return false;
    }
}

/* Takes an attribute if it is one that is read. */
static bool take(struct chakra_node *node, const proto_attr *a)
{
    if (strcmp(a->name, "pg_name") == 0 && a->value_case == VALUE(STRING)) {
        free(node->group);
        node->group = memory_text(a->string_val);
        return true;
    }
    for (enum chakra_key key = 0; key < CHAKRA_KEYS; key++)
        if (strcmp(a->name, chakra_key_name(key)) == 0)
            return node->has[key] = number_of(a, &node->value[key]);
    return false;
}

/* -- nodes ------------------------------------------------------------------------------------ */

static void add_node(struct chakra_file *f, const proto_node *from)
{
    struct chakra_node *node;

    if (f->n == f->room)
        f->node = memory_room(f->node, f->n, &f->room, sizeof *f->node);
    node = &f->node[f->n++];
    *node = (struct chakra_node){.id = from->id,
                                 .micros = from->duration_micros,
                                 .name = memory_text(from->name),
                                 .type = (int)from->type,
                                 .n_deps = from->n_ctrl_deps + from->n_data_deps};
    node->deps = memory_new(node->n_deps + 1, sizeof *node->deps);
    for (size_t i = 0; i < from->n_ctrl_deps; i++)
        node->deps[i] = from->ctrl_deps[i];
    for (size_t i = 0; i < from->n_data_deps; i++)
        node->deps[from->n_ctrl_deps + i] = from->data_deps[i];
    if (from->inputs && from->inputs->values[0])
        node->values = memory_text(from->inputs->values);
    for (size_t i = 0; i < from->n_attr; i++)
        f->unread += !take(node, from->attr[i]);
}

static int by_id(const void *a, const void *b)
{
    const struct chakra_node *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static enum exit_code sort_nodes(const struct cli *cli, struct chakra_file *f)
{
    if (f->n > 0)
        qsort(f->node, f->n, sizeof *f->node, by_id);
    for (size_t i = 1; i < f->n; i++)
        if (f->node[i].id == f->node[i - 1].id)
            return cmd_say(cli, EXIT_INPUT, "%s: two nodes have the id %llu", f->name,
                           (unsigned long long)f->node[i].id);
    return EXIT_OK;
}

/* The first message. */
static enum exit_code read_head(const struct cli *cli, struct bytes *b, const struct chakra_file *f)
{
    int64_t size;
    const uint8_t *at = next_message(b, &size);
    ChakraProtoMsg__GlobalMetadata *head =
        at ? chakra_proto_msg__global_metadata__unpack(NULL, (size_t)size, at) : NULL;

    if (!head)
        return cmd_say(cli, EXIT_INPUT, "%s: is no Chakra trace", f->name);
    if (strcmp(head->version, "0.0.4") != 0 && strcmp(head->version, "1.0.0") != 0)
        cmd_note(cli, "%s: is of Chakra '%s'; 0.0.4 and 1.0.0 are known, and it is read as these",
                 f->name, head->version);
    chakra_proto_msg__global_metadata__free_unpacked(head, NULL);
    return EXIT_OK;
}

static enum exit_code read_nodes(const struct cli *cli, struct bytes *b, struct chakra_file *f)
{
    enum exit_code code = read_head(cli, b, f);

    while (!code && b->next < b->n) {
        size_t begin = b->next;
        int64_t size;
        const uint8_t *at = next_message(b, &size);
        proto_node *node = at ? chakra_proto_msg__node__unpack(NULL, (size_t)size, at) : NULL;

        if (!node)
            return cmd_say(cli, EXIT_INPUT,
                           at ? "%s: what begins at byte %zu is no node"
                              : "%s: ends within the node that begins at byte %zu",
                           f->name, begin);
        add_node(f, node);
        chakra_proto_msg__node__free_unpacked(node, NULL);
    }
    return code;
}

enum exit_code chakra_read(const struct cli *cli, char *name, struct chakra_file *out)
{
    struct bytes b = {0};
    enum exit_code code;

    *out = (struct chakra_file){.name = name};
    if (!read_all(name, &b))
        code = cmd_say(cli, EXIT_INPUT, "cannot read %s: %s", name, strerror(errno));
    else
        code = read_nodes(cli, &b, out);
    free(b.at);
    return code ? code : sort_nodes(cli, out);
}
#endif
