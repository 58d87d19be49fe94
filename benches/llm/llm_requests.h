/* llm_requests.h -- the requests of an iteration that are not alike, and where their pages lie. */
#ifndef LLM_REQUESTS_H
#define LLM_REQUESTS_H
#include <stdbool.h>
#include <stdint.h>

struct llm_request {
    int64_t row;   /* the first of its rows */
    int64_t q, kv; /* new tokens; tokens with the new ones */
    bool has_head; /* a token follows: its prompt ends here */
};

/* Made by llm_requests_new(). */
struct llm_requests {
    int64_t n, heads, tokens;    /* requests; those that have a head; new tokens of all */
    int64_t longest;             /* kv of one */
    struct llm_request *request; /* owned, as all below */
    int64_t *last;               /* [n, of those that have a head]: its last row */
    int64_t *before;             /* [unit]: pages of the units before it in its PE; by
                                    llm_lay_pages() */
    int64_t units, pages;        /* that there is room for; pages in the fullest PE */
};

/* Of so many requests, whose q, kv and has_head the caller sets before llm_requests_end(). */
struct llm_requests *llm_requests_new(int64_t n, int64_t kv_heads);
void llm_requests_end(struct llm_requests *r);
void llm_requests_free(struct llm_requests *r);

#endif
