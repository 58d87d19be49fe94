/*
 * chakra_write.c -- an iteration as Chakra traces, for simulators that take compute times as given.
 *
 * A file is a sequence of messages, each behind its length as a varint: GlobalMetadata with the
 * version, then a Node for each operation of each layer, in order, each behind the one before.
 * Durations are whole microseconds on the iteration's clock: those of 0.4 us three times in a row
 * are 0, 1 and 0, so that their sum stays right. A reader that computes times itself (a roofline)
 * has operations and bytes, too.
 *
 * Sizes are as ASTRA-sim takes them: of an all_gather the part of one rank, of all others the array
 * of a rank. What one rank does alone is compute.
 */
#include "base/text.h"
#include "cli/llm/chakra.h"

#ifdef KB_NO_PROTOBUF
enum exit_code chakra_write(const struct cli *cli, const char *pattern, const struct graph *g,
                            const struct shape *s, const int64_t *each_fs)
{
    (void)g, (void)s, (void)each_fs;
    return cmd_say(cli, EXIT_SYSTEM, "cannot write %s: this build has no protobuf-c", pattern);
}
#else
#include "chakra.pb-c.h"
#include "cli/out/memory.h"
#include "cli/out/sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ChakraProtoMsg__Node proto_node;
typedef ChakraProtoMsg__AttributeProto proto_attr;

enum { ATTRIBUTES = 8, VARINT_BYTES = 10 };

/* Where nodes of a rank go. */
struct out {
    struct sink sink;
    const struct shape *shape;
    int64_t rank;
    uint64_t id;   /* of the node before; 0: none */
    int64_t at_fs; /* its end */
};

/* A node that is made, with room for what it points to. */
struct made {
    proto_node node;
    proto_attr attr[ATTRIBUTES], *attrs[ATTRIBUTES];
    uint64_t dep;
    char group[24];
};

/* -- messages --------------------------------------------------------------------------------- */

static void put_message(struct out *o, const ProtobufCMessage *message)
{
    size_t n = protobuf_c_message_get_packed_size(message), rest = n, k = 0;
    uint8_t length[VARINT_BYTES], *bytes = memory_new(n + 1, 1);

    for (; rest >= 0x80; rest >>= 7)
        length[k++] = (uint8_t)(rest | 0x80);
    length[k++] = (uint8_t)rest;
    sink_bytes(&o->sink, length, k);
    protobuf_c_message_pack(message, bytes);
    sink_bytes(&o->sink, bytes, n);
    free(bytes);
}

static proto_attr *new_attribute(struct made *m, const char *name)
{
    proto_attr *a = &m->attr[m->node.n_attr];

    *a = (proto_attr)CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__INIT;
    a->name = (char *)name;
    m->attrs[m->node.n_attr++] = a;
    m->node.attr = m->attrs;
    return a;
}

static void add_int(struct made *m, const char *name, int64_t value)
{
    proto_attr *a = new_attribute(m, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL;
    a->int64_val = value;
}

static void add_flag(struct made *m, const char *name, bool value)
{
    proto_attr *a = new_attribute(m, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL;
    a->bool_val = value;
}

static void add_size(struct made *m, const char *name, uint64_t value)
{
    proto_attr *a = new_attribute(m, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL;
    a->uint64_val = value;
}

static void add_text(struct made *m, const char *name, char *value)
{
    proto_attr *a = new_attribute(m, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL;
    a->string_val = value;
}

/* -- nodes ------------------------------------------------------------------------------------ */

/* Ranks that an operation is between; 1: none. */
static int64_t ranks_of(const struct llm_op *op, const struct shape *s)
{
    switch (op->kind) {
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_BARRIER:
        return s->tp;
    case LLM_DISPATCH:
    case LLM_COLLECT:
        return op->ep;
    default:
        return 1;
    }
}

/* Groups are neighbours, numbered from 1. */
static bool has_groups(const struct graph *g, const struct shape *s)
{
    for (size_t i = 0; i < g->n; i++)
        if (ranks_of(&g->op[i], s) > 1 && ranks_of(&g->op[i], s) < s->tp)
            return true;
    return false;
}

static int64_t comm_type(const struct llm_op *op)
{
    switch (op->kind) {
    case LLM_ALL_REDUCE:
    case LLM_BARRIER: /* ASTRA-sim has none: a word of each */
        return CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_REDUCE;
    case LLM_ALL_GATHER:
    case LLM_GATHER:
        return CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_GATHER;
    case LLM_SCATTER:
        return CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__REDUCE_SCATTER;
    case LLM_BROADCAST:
        return CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__BROADCAST;
    default:
        return CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_TO_ALL;
    }
}

/* Of a gathering the part of one rank. */
static int64_t comm_size(const struct llm_op *op, int64_t n)
{
    if (op->kind == LLM_BARRIER)
        return 8;
    return op->kind == LLM_ALL_GATHER || op->kind == LLM_GATHER ? op->bytes / n : op->bytes;
}

static void set_collective(struct made *m, const struct llm_op *op, const struct out *o)
{
    int64_t n = ranks_of(op, o->shape);

    m->node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE;
    add_int(m, "comm_type", comm_type(op));
    add_int(m, "comm_size", comm_size(op, n));
    if (n < o->shape->tp) {
        snprintf(m->group, sizeof m->group, "%lld", (long long)(o->rank / n + 1));
        add_text(m, "pg_name", m->group);
    }
}

static bool is_message(const struct llm_op *op)
{
    return op->kind == LLM_GIVE || op->kind == LLM_TAKE;
}

static void set_message(struct made *m, const struct llm_op *op)
{
    bool sends = op->kind == LLM_GIVE;

    m->node.type = sends ? CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE
                         : CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE;
    add_int(m, "comm_src", sends ? op->root : op->peer);
    add_int(m, "comm_dst", sends ? op->peer : op->root);
    add_int(m, "comm_tag", 0);
    add_int(m, "comm_size", op->bytes);
}

/* Of remote memory: loads and stores of the host. */
static void set_remote(struct made *m, const struct llm_op *op)
{
    m->node.type = op->stores ? CHAKRA_PROTO_MSG__NODE_TYPE__MEM_STORE_NODE
                              : CHAKRA_PROTO_MSG__NODE_TYPE__MEM_LOAD_NODE;
    add_size(m, "tensor_size", (uint64_t)op->bytes);
}

static void set_compute(struct made *m, const struct llm_op *op, const struct shape *s)
{
    uint64_t flops = op_flops(op);

    m->node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE;
    if (flops > 0)
        add_int(m, "num_ops", (int64_t)flops);
    add_size(m, "tensor_size", op_read_bytes(op, s) + op_written_bytes(op, s));
}

static void put_node(struct out *o, const struct llm_op *op, int64_t fs)
{
    struct made m = {.node = CHAKRA_PROTO_MSG__NODE__INIT, .dep = o->id};

    o->at_fs += fs;
    if (is_message(op) && op->root != o->rank) /* is of another rank */
        return;
    m.node.id = o->id + 1;
    m.node.name = (char *)op->id;
    m.node.duration_micros = chakra_micros(o->at_fs - fs, o->at_fs);
    if (o->id > 0) {
        m.node.data_deps = &m.dep;
        m.node.n_data_deps = 1;
    }
    add_flag(&m, "is_cpu_op", false);
    if (ranks_of(op, o->shape) > 1)
        set_collective(&m, op, o);
    else if (is_message(op))
        set_message(&m, op);
    else if (op->kind == LLM_MOVE && op->of_host)
        set_remote(&m, op);
    else
        set_compute(&m, op, o->shape);
    put_message(o, &m.node.base);
    o->id++;
}

static void put_nodes(struct out *o, const struct graph *g, const int64_t *each_fs)
{
    for (size_t i = 0, first, done = 0; i < g->n;) {
        bool is_layer = g->op[first = i].is_layer;

        for (int64_t l = 0; l < (is_layer ? g->layers : 1); l++)
            for (i = first; i < g->n && g->op[i].is_layer == is_layer; i++)
                put_node(o, &g->op[i], each_fs[done++]);
    }
}

/* -- files ------------------------------------------------------------------------------------ */

static enum exit_code write_groups(const struct cli *cli, const char *pattern, int64_t n,
                                   int64_t ranks)
{
    char *path = chakra_groups_path(pattern), text[32];
    struct sink sink;
    enum exit_code code = sink_open(&sink, cli->program, path);

    for (int64_t i = 0; i < ranks && !code; i++) {
        if (i % n == 0) {
            text_format(text, sizeof text, "%s\"%lld\": [", i > 0 ? "],\n " : "{",
                        (long long)(i / n + 1));
            sink_text(&sink, text);
        }
        text_format(text, sizeof text, "%s%lld", i % n > 0 ? ", " : "", (long long)i);
        sink_text(&sink, text);
    }
    if (!code) {
        sink_text(&sink, "]}\n");
        code = sink_close(&sink, cli->program, SINK_KEEP);
    }
    free(path);
    return code;
}

static enum exit_code write_rank(const struct cli *cli, const char *pattern, const struct graph *g,
                                 const struct shape *s, const int64_t *each_fs, int64_t rank)
{
    ChakraProtoMsg__GlobalMetadata head = CHAKRA_PROTO_MSG__GLOBAL_METADATA__INIT;
    struct out o = {.shape = s, .rank = rank};
    char *path = chakra_path(pattern, rank);
    enum exit_code code = sink_open(&o.sink, cli->program, path);

    if (!code) {
        head.version = "0.0.4";
        put_message(&o, &head.base);
        put_nodes(&o, g, each_fs);
        code = sink_close(&o.sink, cli->program, SINK_KEEP);
    }
    free(path);
    return code;
}

enum exit_code chakra_write(const struct cli *cli, const char *pattern, const struct graph *g,
                            const struct shape *s, const int64_t *each_fs)
{
    int64_t files = strchr(pattern, '%') ? s->tp : 1;
    enum exit_code code = EXIT_OK;

    if (has_groups(g, s))
        code = write_groups(cli, pattern, s->ep, s->tp);
    for (int64_t rank = 0; rank < files && !code; rank++)
        code = write_rank(cli, pattern, g, s, each_fs, rank);
    return code;
}
#endif
