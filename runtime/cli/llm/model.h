/* model.h -- a language model as its config.json describes it. */
#ifndef MODEL_H
#define MODEL_H
#include "cli/exit.h"
#include "kernbench.h"

/* From mixtral on they have experts. */
enum model_family {
    MODEL_LLAMA,
    MODEL_MISTRAL,
    MODEL_QWEN2,
    MODEL_QWEN3,
    MODEL_FALCON,
    MODEL_MIXTRAL,
    MODEL_QWEN3_MOE,
    MODEL_DEEPSEEK_V2,
    MODEL_DEEPSEEK_V3,
};

enum { MODEL_EXPERTS_MAX = 65535, MODEL_DENSE_MAX = 4 };

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
    int64_t experts, chosen; /* of a layer, and of a token; 0: none */
    int64_t expert_inter;    /* `inter` of an expert */
    int64_t shared_experts;  /* that every token takes, too */
    int64_t dense_layers;    /* the first ones, which have no experts */
    bool gate_bias;
    /* Latent attention: of queries (0: none), of keys and values; parts of a head. */
    int64_t q_latent, latent, nope_dim, rope_dim, v_dim;
    kb_dtype dtype, weights; /* weights of products of layers */
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

/* Those that one token multiplies with: of experts its own, and no embedding. */
int64_t model_active_parameters(const struct model *m);

/* Are keys and values of all heads made of one latent of each token? */
bool model_has_latent(const struct model *m);

/* Bytes of keys and values of one token, of all heads and layers. */
int64_t model_kv_bytes(const struct model *m, kb_dtype dtype);

#endif
