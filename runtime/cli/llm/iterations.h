/* iterations.h -- iterations of requests that are not alike: of a file, or one by one of a program.
 */
#ifndef ITERATIONS_H
#define ITERATIONS_H
#include "benches/llm/llm_requests.h"
#include "cli/command.h"
#include "cli/query/llm_batch.h"

/* Rows of a file: one request of one iteration each. */
struct iteration_row {
    int64_t iteration, request, q, kv;
    bool has_head;
    uint64_t line;
};

struct iterations {
    struct iteration_row *row; /* owned */
    size_t n, room;
    size_t of_iterations; /* how many there are */
};

/* Reads `path`: iteration,request,q,kv and, if wanted, head. EXIT_INPUT after messages. */
enum exit_code iterations_read(const struct cli *cli, const char *path, struct iterations *out);

/* One of a program. */
struct llm_requests *iterations_of_program(const struct kb_llm_batch *batch, int64_t kv_heads);

/* The largest that such limits allow. */
struct llm_requests *iterations_largest(const struct kb_llm_limits *limits, int64_t kv_heads);
void iterations_free(struct iterations *its);

/* The requests of the iteration whose first row is *at, which becomes the first of the next; owned
 * by the caller. NULL: there is none. */
struct llm_requests *iterations_next(const struct iterations *its, size_t *at, int64_t kv_heads,
                                     int64_t *number);

#endif
