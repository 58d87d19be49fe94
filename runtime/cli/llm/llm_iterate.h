/* llm_iterate.h -- the iterations of a batch, and what they take. */
#ifndef LLM_ITERATE_H
#define LLM_ITERATE_H
#include "cli/llm/llm_asked.h"
#include "cli/llm/llm_pieces.h"

enum { DEFAULT_TOKENS = 1024 };

/* What is asked of each batch, in tokens; 0: not this. */
struct llm_asked {
    int64_t prompt, chunk, tokens, kv;
};

/* With the decode step of that number in the list of --decode. */
struct llm_asked llm_asked_of(const struct llm *l, size_t decode);

/* The next of the decode steps: those of all tokens, or the one that was asked for. */
bool llm_next_decode(const struct llm_asked *a, int64_t page, struct piece *p);

/* `s` with tokens of a piece. */
struct shape llm_shape_of(const struct shape *s, const struct piece *p);

/* How many iterations a batch has, and the fewest tokens of a request in one of them. */
uint64_t llm_iterations_of_batch(const struct llm *l);
int64_t llm_least_tokens(const struct llm *l);

/* A grid that was asked for must have a row of tokens for each of its rows. EXIT_USAGE. */
enum exit_code llm_check_grid(const struct llm *l, int64_t tokens);

/* What no choice makes fit: queues between PEs, a row of attention in accumulators. EXIT_USAGE. */
enum exit_code llm_check_room(const struct llm *l, const struct graph *g);

/* Which experts the tokens of `layers` layers go to; *routing: NULL if there are none. */
enum exit_code llm_route_tokens(struct llm *l, const struct shape *s, int64_t layers,
                                const struct llm_routing **routing);

/* One that fits: keeps its rows, and *fs is its time. */
enum exit_code llm_iterate(struct llm *l, const struct shape *s, const char *phase, int64_t *fs);

/* The prompts, then each of the decode steps that are asked for; keeps rows and totals. */
enum exit_code llm_batch(struct llm *l, const struct shape *s);

#endif
