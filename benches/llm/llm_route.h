/* llm_route.h -- which experts the tokens of an iteration go to. */
#ifndef LLM_ROUTE_H
#define LLM_ROUTE_H
#include <stddef.h>
#include <stdint.h>

/* A slot is a token and one of its choices: token * chosen + choice. The choices of a token differ.
 */
struct llm_routing {
    int64_t experts, chosen, tokens; /* tokens: of all copies */
    const uint16_t *expert;          /* [layer][slot] */
    size_t stride;                   /* slots of a layer; 0: all layers are alike */
    int64_t copies;                  /* of the model that share experts, each with as many tokens */
};

/*
 * Slots of the tokens from `a` to `b` in the order of their experts, those of one expert in their
 * own; those of expert e from first[e] on.
 *
 * slot   has room for (b - a) * chosen; first for experts + 1
 */
void llm_sort_slots(const struct llm_routing *r, int64_t layer, int64_t a, int64_t b, int64_t *slot,
                    int64_t *first);

/* Slots of all tokens that go to `n` experts from `e` on. */
int64_t llm_slots_of(const struct llm_routing *r, int64_t layer, int64_t e, int64_t n);

/* The first of the tokens, of `tokens`, that rank i of `ep` has: what is left over is of the
 * lowest. */
int64_t llm_own_begin(int64_t tokens, int64_t i, int64_t ep);

/* Tokens of a copy. */
static inline int64_t llm_copy_tokens(const struct llm_routing *r)
{
    return r->tokens / r->copies;
}

#endif
