/* net_search.h -- how far the cubes of a net are from one of them, and by which port. */
#ifndef NET_SEARCH_H
#define NET_SEARCH_H
#include "routes.h"

/* How far a cube is from the target. */
struct far {
    int64_t weight; /* INT64_MAX: there is no way */
    uint32_t links;
};

/* A step to a state: from which one, and over which port. */
struct step_in {
    uint32_t state : 24, port : 8;
};

enum { COLUMNS = 64 };

/* The steps of one weight to a state: those from in[first] to before the first of the next run. */
struct run {
    uint32_t line, first;
};

/* Steps to a state that is reached, which are not taken yet. */
struct found {
    uint32_t level, run;
};

/* The states to which steps of one weight lead and that are reached, the nearest first. */
struct line {
    int64_t weight;
    struct found *found;
    uint32_t first, end, room;
};

/* The level of a state and, in the last 8 bits, the lowest port of a way of the least weight. */
#define NOT_REACHED UINT32_MAX

/* The search among the cubes of one SIP, or among all. Cubes count from the first of them. */
struct search {
    struct routes *r;
    uint32_t first, n;    /* the first of them, over all, and how many */
    uint32_t states;      /* n; or twice as many, of which the second n have come down */
    const uint32_t *rank; /* [cube]: of its tree; NULL: routes may go up and down as they like */
    int64_t *weights;     /* [cube][port]: of a step; -1: there is none */
    bool *passes;         /* [state]: routes may */
    struct step_in *in;   /* those to each state, by weight */
    struct run *runs;     /* of them, and one more */
    uint32_t *first_run;  /* [state], and one more: its first one */
    struct line *lines;   /* one for each weight that there is */
    uint32_t n_lines, lines_cap;
    struct far *levels; /* how far states are, the nearest first */
    uint32_t n_levels;
    uint32_t *found;             /* [state]: its level and exit, or NOT_REACHED */
    uint16_t *reached;           /* the states that are, the nearest first: 2 * 16384 at most */
    uint32_t n_there, n_reached; /* states */
    uint8_t *row;         /* [from][to]: '0' + the exit; of those that have come down behind all */
    size_t row_down;      /* where these begin */
    uint8_t *columns;     /* [COLUMNS][state]: of the last targets, before they are put there */
    uint32_t *paths;      /* [from][to]: its first way; NULL: all have one */
    const uint8_t *exits; /* of a table; NULL */
};

struct search net_search_new(struct routes *r, uint32_t n, const uint8_t *exits);

/* Gives back what it has made, except what is in the tables. */
void net_search_drop(struct search *s);

/* The weights of all steps, and the steps to each state. */
void net_search_weights(struct search *s);
void net_search_list(struct search *s);

/* The cube that a port leads to, if the search is among such. */
uint32_t net_search_to(const struct search *s, uint32_t cube, uint32_t port);

bool net_is_nearer(struct far a, struct far b);

/* How far all states are from cube `to`, and their exits. */
void net_search_measure(struct search *s, uint32_t to);

static inline bool net_search_reaches(const struct search *s, uint32_t state)
{
    return s->found[state] != NOT_REACHED;
}

/* How far a state is from that cube. */
static inline struct far net_search_far(const struct search *s, uint32_t state)
{
    return net_search_reaches(s, state) ? s->levels[s->found[state] >> 8]
                                        : (struct far){INT64_MAX, 0};
}

/* The port by which a route leaves a state for that cube; NO_EXIT: none does. */
static inline uint8_t net_search_exit(const struct search *s, uint32_t state)
{
    return (uint8_t)s->found[state];
}

#endif
