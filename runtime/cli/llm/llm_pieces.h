/* llm_pieces.h -- the iterations that a prompt and the tokens behind it are made of. */
#ifndef LLM_PIECES_H
#define LLM_PIECES_H
#include <stdbool.h>
#include <stdint.h>

/* An iteration. */
struct piece {
    int64_t q, kv; /* new tokens of each request; tokens with the new ones */
    int64_t times; /* how many iterations take as long */
};

/*
 * The next piece of a prompt, of at most `chunk` tokens (0: all), behind those before it.
 *
 * returns  false: there is none. Begin with {0}.
 */
bool piece_of_prompt(int64_t prompt, int64_t chunk, struct piece *p);

/*
 * The next decode steps for all but the first of `tokens` tokens behind a prompt: an iteration
 * with kv tokens reads whole pages, so it takes as long as that of the last token of its page.
 *
 * returns  false: there is none. Begin with {0}.
 */
bool piece_of_tokens(int64_t prompt, int64_t tokens, int64_t page, struct piece *p);

#endif
