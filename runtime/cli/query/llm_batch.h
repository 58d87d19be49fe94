/* llm_batch.h -- iterations that a program asks `llm` for, one after the other. */
#ifndef LLM_BATCH_H
#define LLM_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest iteration that will be asked for: room is left for its activations. */
typedef struct kb_llm_limits {
    int64_t tokens, requests;
} kb_llm_limits;

/* An iteration: of each request the new tokens, the tokens with these, and whether a token follows.
 */
typedef struct kb_llm_batch {
    size_t n;
    const int64_t *q, *kv;
    const bool *has_head;
    bool only_attention; /* of one layer, alone on one rank: its time is asked for */
} kb_llm_batch;

typedef struct kb_llm_answer {
    int64_t fs;                      /* of the last iteration; 0: there was none */
    int64_t room_bytes, token_bytes; /* of a rank: left for keys and values; those of a token */
    int64_t n_whole;                 /* iterations so far whose operations were all simulated */
} kb_llm_answer;

#endif
