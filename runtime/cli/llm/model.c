/*
 * model.c -- reads config.json, as Hugging Face's models have it, by jansson; or the same keys as
 * YAML.
 *
 * A key decides shapes, or makes no difference to time, or would change the structure: the first
 * are read, the second ignored, the third refused unless they have the value that changes nothing.
 * Any other key is named once, and not refused, as such files get new keys all the time.
 */
#include "base/text.h"
#include "cli/llm/model.h"
#include "cli/out/say.h"
#include <stdlib.h>
#include <string.h>

static const char *const families[] = {"llama",     "mistral",     "qwen2",
                                       "qwen3",     "falcon",      "mixtral",
                                       "qwen3_moe", "deepseek_v2", "deepseek_v3"};

enum { N_FAMILIES = sizeof families / sizeof *families };

const char *model_family_name(const struct model *m)
{
    return families[m->family];
}

#ifdef KB_NO_JANSSON
enum exit_code model_read(const char *program, const char *name, bool quiet, struct model *out)
{
    (void)quiet, (void)out;
    return say(program, EXIT_SYSTEM, "cannot read %s: this build has no jansson, for JSON", name);
}
#else
#include "cli/llm/model_yaml.h"
#include <jansson.h>
#include <sys/stat.h>

/* Keys that are read, and those that change no time. */
static const char *const known[] = {
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "tie_word_embeddings",
    "hidden_act",
    "torch_dtype",
    "dtype",
    "attention_bias",
    "mlp_bias",
    "sliding_window",
    "use_sliding_window",
    "ffn_hidden_size",
    "num_kv_heads",
    "multi_query",
    "new_decoder_architecture",
    "parallel_attn",
    "alibi",
    "bias",
    "activation",
    "attn_logit_softcapping",
    "quantization_config",
    "num_local_experts",
    "n_routed_experts",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
    "first_k_dense_replace",
    "decoder_sparse_step",
    "mlp_only_layers",
    "moe_layer_freq",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
    /* ignored */
    "architectures",
    "attention_dropout",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "hidden_dropout",
    "initializer_range",
    "layer_norm_epsilon",
    "max_position_embeddings",
    "max_window_layers",
    "pretraining_tp",
    "rms_norm_eps",
    "rope_scaling",
    "rope_theta",
    "transformers_version",
    "use_cache",
    "_name_or_path",
    "auto_map",
    "apply_residual_connection_post_layernorm",
    "aux_loss_alpha",
    "ep_size",
    "n_group",
    "norm_topk_prob",
    "num_nextn_predict_layers",
    "output_router_logits",
    "routed_scaling_factor",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "scoring_func",
    "seq_aux",
    "topk_group",
    "topk_method",
};

struct config {
    const char *program, *name;
    json_t *json; /* owned */
    enum exit_code code;
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), of_end = strlen(end);

    return n > of_end && strcmp(name + n - of_end, end) == 0;
}

static json_t *value_of(const struct config *c, const char *key)
{
    json_t *value = json_object_get(c->json, key);

    return json_is_null(value) ? NULL : value;
}

static void fail(struct config *c, const char *key, const char *what)
{
    if (!c->code)
        c->code = say(c->program, EXIT_INPUT, "%s: %s %s", c->name, key, what);
}

/* A number from 1; `otherwise` if it is absent, 0: it is needed. */
static int64_t count_of(struct config *c, const char *key, int64_t otherwise)
{
    json_t *value = value_of(c, key);

    if (!value && otherwise > 0)
        return otherwise;
    if (!value)
        fail(c, key, "is missing");
    else if (!json_is_integer(value) || json_integer_value(value) < 1 ||
             json_integer_value(value) > (int64_t)1 << 40)
        fail(c, key, "is not a whole number from 1");
    else
        return json_integer_value(value);
    return 1;
}

/* A number from 0, which is also that of an absent key. */
static int64_t count_from_0(struct config *c, const char *key)
{
    json_t *value = value_of(c, key);

    if (!value || (json_is_integer(value) && json_integer_value(value) == 0))
        return 0;
    return count_of(c, key, 0);
}

static bool flag_of(struct config *c, const char *key, bool otherwise)
{
    json_t *value = value_of(c, key);

    if (value && !json_is_boolean(value))
        fail(c, key, "is not true or false");
    return value ? json_is_true(value) : otherwise;
}

static void refuse_structure(struct config *c, const struct model *m)
{
    const char *act = json_string_value(value_of(c, "hidden_act"));

    if (value_of(c, "attn_logit_softcapping"))
        fail(c, "attn_logit_softcapping", "is not supported");
    if (value_of(c, "sliding_window") && flag_of(c, "use_sliding_window", true))
        fail(c, "sliding_window", "is not supported");
    if (m->family == MODEL_FALCON && !flag_of(c, "parallel_attn", true))
        fail(c, "parallel_attn", "must be true");
    if (m->family == MODEL_FALCON && flag_of(c, "alibi", false))
        fail(c, "alibi", "must be false");
    if (m->family != MODEL_FALCON && act && strcmp(act, "silu") != 0)
        fail(c, "hidden_act", "must be silu");
}

static void read_falcon(struct config *c, struct model *m)
{
    bool is_new = flag_of(c, "new_decoder_architecture", false);

    m->kv_heads = is_new                             ? count_of(c, "num_kv_heads", m->heads)
                  : flag_of(c, "multi_query", false) ? 1
                                                     : m->heads;
    m->inter = count_of(c, "ffn_hidden_size", 4 * m->hidden);
    m->tied = flag_of(c, "tie_word_embeddings", true);
    m->layernorm = m->parallel = true;
    m->norms = is_new ? 2 : 1;
    m->qkv_bias = m->o_bias = m->mlp_bias = flag_of(c, "bias", false);
}

static void read_llama(struct config *c, struct model *m)
{
    bool bias = flag_of(c, "attention_bias", false);

    m->kv_heads = count_of(c, "num_key_value_heads", m->heads);
    m->inter = count_of(c, "intermediate_size", 0);
    m->tied = flag_of(c, "tie_word_embeddings", false);
    m->norms = 2;
    m->qk_norm = m->family == MODEL_QWEN3 || m->family == MODEL_QWEN3_MOE;
    m->qkv_bias = bias || m->family == MODEL_QWEN2;
    m->o_bias = bias;
    m->mlp_bias = flag_of(c, "mlp_bias", false);
}

/* What must be absent, or be this, or layers were not all alike. */
static void refuse_unlike_layers(struct config *c)
{
    json_t *only = value_of(c, "mlp_only_layers");

    if (count_of(c, "decoder_sparse_step", 1) != 1)
        fail(c, "decoder_sparse_step", "must be 1");
    if (count_of(c, "moe_layer_freq", 1) != 1)
        fail(c, "moe_layer_freq", "must be 1");
    if (only && (!json_is_array(only) || json_array_size(only) > 0))
        fail(c, "mlp_only_layers", "must be empty");
}

/* The first of these keys that is there; else the first. */
static const char *key_of_experts(const struct config *c)
{
    static const char *const keys[] = {"num_local_experts", "n_routed_experts", "num_experts"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (value_of(c, keys[i]))
            return keys[i];
    return keys[0];
}

static void read_experts(struct config *c, struct model *m)
{
    bool deepseek = model_has_latent(m);
    const char *key = key_of_experts(c);

    m->experts = count_of(c, key, 0);
    m->chosen = count_of(c, "num_experts_per_tok", 0);
    m->expert_inter =
        m->family == MODEL_MIXTRAL ? m->inter : count_of(c, "moe_intermediate_size", 0);
    m->shared_experts = deepseek ? count_from_0(c, "n_shared_experts") : 0;
    m->dense_layers = deepseek ? count_from_0(c, "first_k_dense_replace") : 0;
    m->gate_bias = m->family == MODEL_DEEPSEEK_V3;
    refuse_unlike_layers(c);
    if (m->chosen > m->experts)
        fail(c, "num_experts_per_tok", "is more than there are experts");
    if (m->experts > MODEL_EXPERTS_MAX)
        fail(c, key, "is more than 65535");
    if (m->dense_layers >= m->layers)
        fail(c, "first_k_dense_replace", "leaves no layer with experts");
    if (m->dense_layers > MODEL_DENSE_MAX)
        fail(c, "first_k_dense_replace", "is more than 4");
}

static void read_latent(struct config *c, struct model *m)
{
    m->q_latent = count_from_0(c, "q_lora_rank");
    m->latent = count_of(c, "kv_lora_rank", 0);
    m->nope_dim = count_of(c, "qk_nope_head_dim", 0);
    m->rope_dim = count_of(c, "qk_rope_head_dim", 0);
    m->v_dim = count_of(c, "v_head_dim", 0);
}

/* The type of the weights of products: fp8 is the one quantization that is read. */
static kb_dtype weights_of(struct config *c, kb_dtype otherwise)
{
    json_t *value = value_of(c, "quantization_config");
    const char *method = json_string_value(json_object_get(value, "quant_method"));

    if (value && (!method || strcmp(method, "fp8") != 0))
        fail(c, "quantization_config.quant_method", "is not fp8");
    return value ? KB_F8E4M3 : otherwise;
}

static kb_dtype dtype_of(struct config *c)
{
    static const char *const names[] = {"bfloat16", "float16", "float32"};
    static const kb_dtype types[] = {KB_BF16, KB_F16, KB_F32};
    const char *key = value_of(c, "torch_dtype") ? "torch_dtype" : "dtype";
    const char *word = json_string_value(value_of(c, key));

    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0)
            return types[i];
    if (value_of(c, key))
        fail(c, key, "is not bfloat16, float16 or float32");
    return KB_BF16;
}

/*
 * What is multiplied later must stay below 2^63: 2^20 requests of 2^20 tokens by a row, and the
 * weights of all layers, of which the widest is hidden x `most`, or there is one for each expert.
 */
static void refuse_huge(struct config *c, const struct model *m)
{
    double heads = (double)m->heads, each = (double)m->nope_dim + (double)m->rope_dim;
    const double wide[] = {(double)m->hidden,
                           (double)m->vocab,
                           (double)m->inter,
                           (double)m->expert_inter * (double)m->shared_experts,
                           (double)m->expert_inter * (double)m->chosen,
                           heads * (double)m->head_dim,
                           heads * each,
                           heads * (double)m->latent,
                           heads * (double)m->v_dim,
                           (double)m->q_latent};
    double most = 0;

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        most = wide[i] > most ? wide[i] : most;
    if (most > 0x1p20)
        fail(c, "a matrix", "has more than 2^20 columns");
    if ((double)m->layers * (double)(m->experts + 1) * (double)m->hidden * most > 0x1p50)
        fail(c, "num_hidden_layers", "is too many: weights have more than 2^50 numbers");
}

static void read_shapes(struct config *c, struct model *m)
{
    m->hidden = count_of(c, "hidden_size", 0);
    m->layers = count_of(c, "num_hidden_layers", 0);
    m->heads = count_of(c, "num_attention_heads", 0);
    m->vocab = count_of(c, "vocab_size", 0);
    m->dtype = dtype_of(c);
    if (m->family == MODEL_FALCON)
        read_falcon(c, m);
    else
        read_llama(c, m);
    if (!value_of(c, "head_dim") && m->hidden % m->heads)
        fail(c, "head_dim", "is missing, and num_attention_heads does not divide hidden_size");
    m->head_dim = count_of(c, "head_dim", m->hidden / m->heads > 0 ? m->hidden / m->heads : 1);
    if (m->heads % m->kv_heads)
        fail(c, "num_key_value_heads", "does not divide num_attention_heads");
    if (m->family >= MODEL_MIXTRAL)
        read_experts(c, m);
    if (model_has_latent(m))
        read_latent(c, m);
    m->weights = weights_of(c, m->dtype);
    refuse_structure(c, m);
    refuse_huge(c, m);
}

static void read_family(struct config *c, struct model *m)
{
    json_t *value = value_of(c, "model_type");
    const char *word = json_string_value(value);
    char shown[32], what[160];

    if (!word) {
        fail(c, "model_type",
             value                         ? "is no text"
             : ends_with(c->name, ".yaml") ? "is missing (a graph has kernbench_graph)"
                                           : "is missing");
        return;
    }
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(word, families[i]) == 0) {
            m->family = (enum model_family)i;
            return;
        }
    text_format(what, sizeof what,
                "is %s, not llama, mistral, qwen2, qwen3, falcon, mixtral, qwen3_moe, deepseek_v2 "
                "or deepseek_v3",
                text_show(word, strlen(word), shown, sizeof shown));
    fail(c, "model_type", what);
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], key) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One line of all keys that are not known, sorted. */
static void name_unknown(const struct config *c)
{
    enum { SHOWN = 64 };
    const char *names[SHOWN], *key;
    char line[2048] = "";
    size_t n = 0, at = 0;
    json_t *value;

    json_object_foreach(c->json, key, value)
    {
        if (n < SHOWN && !is_known(key))
            names[n++] = key;
    }
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n && at < sizeof line; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%s", i ? ", " : "", names[i]);
    if (n)
        say(c->program, EXIT_OK, "%s: keys that are not read: %s", c->name, line);
}

static const char *shipped(const char *name)
{
    for (const struct model_file *f = model_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->json;
    return NULL;
}

static enum exit_code unknown_name(const char *program, const char *name)
{
    const char *names[64];
    size_t n = 0;

    while (n < 64 && model_files[n].name) {
        names[n] = model_files[n].name;
        n++;
    }
    return say_unknown(program, "model", "", name, names, n);
}

static bool is_folder(const char *name)
{
    struct stat s;

    return stat(name, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_file(const char *name)
{
    return strchr(name, '/') || ends_with(name, ".json") || ends_with(name, ".yaml");
}

static enum exit_code load_json(const char *program, const char *name, const char *text,
                                json_t **out)
{
    json_error_t why;

    *out = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why)
                : json_load_file(name, JSON_REJECT_DUPLICATES, &why);
    if (*out)
        return EXIT_OK;
    return why.line < 0
               ? say(program, EXIT_INPUT, "%s", why.text)
               : say(program, EXIT_INPUT, "%s:%d:%d: %s", name, why.line, why.column, why.text);
}

/* The keys of a shipped model, or of a file. */
static enum exit_code load(const char *program, const char *name, json_t **out)
{
    const char *text = is_file(name) ? NULL : shipped(name);

    if (!text && is_folder(name))
        return say(program, EXIT_INPUT, "%s is a folder: a MODEL is the config.json in it", name);
    if (!text && !is_file(name))
        return unknown_name(program, name);
    return !text && ends_with(name, ".yaml") ? model_of_yaml(program, name, out)
                                             : load_json(program, name, text, out);
}

enum exit_code model_read(const char *program, const char *name, bool quiet, struct model *out)
{
    struct config c = {.program = program, .name = name};
    enum exit_code code = load(program, name, &c.json);

    if (code)
        return code;
    *out = (struct model){.name = name};
    if (!json_is_object(c.json))
        fail(&c, "the text", ends_with(name, ".yaml") ? "is not a mapping" : "is not an object");
    else
        read_family(&c, out);
    if (!c.code)
        read_shapes(&c, out);
    if (!c.code && !quiet)
        name_unknown(&c);
    json_decref(c.json);
    return c.code;
}
#endif

/* -- parameters ------------------------------------------------------------------------------- */

bool model_has_latent(const struct model *m)
{
    return m->family == MODEL_DEEPSEEK_V2 || m->family == MODEL_DEEPSEEK_V3;
}

static int64_t attention_parameters(const struct model *m)
{
    int64_t q = m->heads * m->head_dim, kv = 2 * m->kv_heads * m->head_dim;

    return m->hidden * (q + kv) + q * m->hidden + (m->qkv_bias ? q + kv : 0) +
           (m->o_bias ? m->hidden : 0) + (m->qk_norm ? 2 * m->head_dim : 0);
}

/* Queries by way of a latent, with its norm, or straight; keys and values from one latent. */
static int64_t latent_parameters(const struct model *m)
{
    int64_t dim = m->nope_dim + m->rope_dim, q = m->heads * dim;
    int64_t n = m->q_latent ? m->q_latent * (m->hidden + 1 + q) : m->hidden * q;

    n += m->hidden * (m->latent + m->rope_dim) + m->latent;
    n += m->latent * m->heads * (m->nope_dim + m->v_dim);
    return n + m->heads * m->v_dim * m->hidden;
}

static int64_t mlp_parameters(const struct model *m, int64_t inter)
{
    return (m->layernorm ? 2 : 3) * m->hidden * inter +
           (m->mlp_bias ? (m->layernorm ? 1 : 2) * inter + m->hidden : 0);
}

static int64_t expert_parameters(const struct model *m)
{
    return 3 * m->hidden * m->expert_inter;
}

static int64_t moe_layers(const struct model *m)
{
    return m->experts ? m->layers - m->dense_layers : 0;
}

/* Of a layer with experts, beside attention and norms. */
static int64_t moe_parameters(const struct model *m)
{
    return (m->experts + m->shared_experts) * expert_parameters(m) + m->hidden * m->experts +
           (m->gate_bias ? m->experts : 0);
}

int64_t model_parameters(const struct model *m)
{
    int64_t norm = m->hidden * (m->layernorm ? 2 : 1), moe = moe_layers(m);
    int64_t each =
        (model_has_latent(m) ? latent_parameters(m) : attention_parameters(m)) + m->norms * norm;

    return m->vocab * m->hidden * (m->tied ? 1 : 2) + m->layers * each + moe * moe_parameters(m) +
           (m->layers - moe) * mlp_parameters(m, m->inter) + norm;
}

int64_t model_active_parameters(const struct model *m)
{
    return model_parameters(m) - moe_layers(m) * (m->experts - m->chosen) * expert_parameters(m) -
           (m->tied ? 0 : m->vocab * m->hidden);
}

int64_t model_kv_bytes(const struct model *m, kb_dtype dtype)
{
    int64_t each = model_has_latent(m) ? m->latent + m->rope_dim : 2 * m->kv_heads * m->head_dim;

    return m->layers * each * (int64_t)kb_dtype_bytes(dtype);
}
