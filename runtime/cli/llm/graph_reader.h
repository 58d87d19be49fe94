/* graph_reader.h -- a graph that is being read from YAML: what its files share. */
#ifndef GRAPH_READER_H
#define GRAPH_READER_H
#include "cli/llm/graph_check.h"
#include "cli/llm/graph_yaml.h"
#include "cli/llm/yaml_read.h"
#ifndef KB_NO_YAML

enum { NAME_BYTES = 16, GRAPH_EXPERTS_MAX = MODEL_EXPERTS_MAX };

/* A matrix that was written, by name. */
struct written {
    char name[NAME_BYTES];
    struct llm_matrix matrix;  /* `at`: its number */
    const yaml_node_t *reader; /* that has read it before a node wrote it; NULL: it is written */
};

struct graph_reader {
    struct yaml_read yaml;
    struct graph_file *out;
    struct written written[GRAPH_MATRICES];
    size_t n_written;
    char repeated[NAME_BYTES]; /* the name of the nodes that repeat; "": none */
    bool is_layer, was_layer;
    bool has_lengths; /* of requests: shape is known */
    bool has_stream;
    int64_t n_kv; /* of attention, before nodes that repeat */
};

/* -- matrices and values: graph_values.c -- */

/* A name of a node or a matrix; "" after a message. */
const char *graph_name(struct graph_reader *r, const yaml_node_t *at);

struct written *graph_written(struct graph_reader *r, const char *name);

/* What the node writes: a matrix that has its name, or the node's. */
void graph_write_matrix(struct graph_reader *r, const yaml_node_t *node, const char *id,
                        struct llm_matrix *m);

/* [rows, cols] that the node reads by `key`. In a repetition it may be written behind it. */
struct llm_matrix graph_read_as(struct graph_reader *r, const yaml_node_t *node, const char *key,
                                struct llm_matrix as);

/* What the node reads as x, whatever it is; NULL: nothing. */
const struct llm_matrix *graph_read_x(struct graph_reader *r, const yaml_node_t *node);

int64_t graph_count(struct graph_reader *r, const yaml_node_t *node, const char *key,
                    int64_t otherwise);
kb_dtype graph_dtype(struct graph_reader *r, const yaml_node_t *node, const char *key,
                     kb_dtype otherwise);

/* Item `at` of a list: N or NxC, C copies of N; false after a message. */
bool graph_copies(struct graph_reader *r, const yaml_node_t *at, int64_t least, int64_t *n,
                  int64_t *copies);

/* Experts of an operation: those of the graph. */
void graph_set_experts(const struct graph_reader *r, struct llm_op *op);

/* Rows of a token in a rank, of which it chooses `each`: no more than the rank has experts. */
int64_t graph_rows_of_token(const struct graph_reader *r, int64_t each);

/* -- operations: graph_nodes.c -- */

/* What the operation of this kind is made of. */
void graph_read_kind(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);

/* Requests of an operation on heads: those of the graph. */
void graph_read_lengths(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);

/* -- between ranks, and of memories: graph_nodes_moves.c -- */

void graph_read_exchange(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_send(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_collective(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_pause(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);

/* -- of latents: graph_nodes_latent.c -- */

void graph_read_by_heads(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_wide(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_q_rope(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_kv_rope(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_kv_read(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);

/* What attention reads: how many columns x has, and behind that z and `keys`. */
int64_t graph_read_values(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);
void graph_read_z(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op);

#endif
#endif
