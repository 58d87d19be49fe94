/* study_results.h -- what all runs of a study have come to, in few bytes each. */
#ifndef STUDY_RESULTS_H
#define STUDY_RESULTS_H
#include "cli/study/study.h"

struct study_result {
    int64_t time_fs;
    double bound_pct;
    uint32_t bound, algorithm, metric, failed; /* texts, see study_text() */
    uint16_t code;
    uint8_t state; /* of struct study_outcome */
};

/* All zero is none. */
struct study_results {
    struct study_result *result; /* owned: of variant v and command c at v * n_commands + c */
    uint64_t n;
    enum exit_code failed; /* of the first run that has failed, or EXIT_OK; */
    bool lacks;            /* one lacked memory, or a file: it could run the next time */
    char **text;           /* owned, of the tree: every text once, from 1 on */
    size_t n_texts, texts_room;
    void *tree; /* owned: by tsearch() */
    struct explained explained;
};

/* So that there are results of `n` runs; new ones wait. */
void study_results_resize(struct study_results *r, uint64_t n);
void study_results_free(struct study_results *r);

/* Keeps an outcome; `failed` says why, if it has failed. */
void study_results_put(struct study_results *r, uint64_t i, const struct study_outcome *o,
                       const char *failed);

/* A text of a result; NULL: it is empty. */
static inline const char *study_text(const struct study_results *r, uint32_t number)
{
    return number ? r->text[number] : NULL;
}

#endif
