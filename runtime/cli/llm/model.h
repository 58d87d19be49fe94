/* model.h -- a language model as its config.json describes it. */
#ifndef MODEL_H
#define MODEL_H
#include "cli/exit.h"
#include "kernbench.h"

enum model_family { MODEL_LLAMA, MODEL_MISTRAL, MODEL_QWEN2, MODEL_QWEN3, MODEL_FALCON };

struct model {
    const char *name; /* borrowed: the operand */
    enum model_family family;
    int64_t hidden, layers, heads, kv_heads, head_dim, inter, vocab;
    bool tied;      /* the head is the table of the embedding */
    bool layernorm; /* norms have a bias; the MLP has gelu and no gate (falcon) */
    bool parallel;  /* attention and MLP side by side */
    int64_t norms;  /* of a layer */
    bool qk_norm;   /* norms of each head of q and k */
    bool qkv_bias, o_bias, mlp_bias;
    kb_dtype dtype;
};

/* A shipped model; the array ends with a NULL name. */
struct model_file {
    const char *name, *json;
};
extern const struct model_file model_files[];

/*
 * Reads FILE.json, or the shipped model of that name. Keys that are not known are named in one line
 * on stderr, unless `quiet`.
 *
 * returns  EXIT_OK; after a message EXIT_USAGE (no shipped model of that name), EXIT_INPUT
 */
enum exit_code model_read(const char *program, const char *name, bool quiet, struct model *out);

const char *model_family_name(const struct model *m);

/* Numbers in weights, each once. */
int64_t model_parameters(const struct model *m);

/* Bytes of keys and values of one token, of all heads and layers. */
int64_t model_kv_bytes(const struct model *m, kb_dtype dtype);

#endif
