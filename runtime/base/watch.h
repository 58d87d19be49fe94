/* watch.h -- looks at the time and the memory that a run takes, on a thread of its own. */
#ifndef WATCH_H
#define WATCH_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What is told of a run. */
enum watch_news {
    WATCH_LONG,   /* it has worked for WATCH_WORD_S; told once */
    WATCH_LARGE,  /* it has WATCH_WORD_BYTES; told once */
    WATCH_TIME,   /* a limit is passed; told until the end, every WATCH_MS */
    WATCH_MEMORY, /* the same */
};

/* What is worth a word while the end is waited for. Sanitizers take many times as much. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define WATCH_WORD_S 100.0
#else
#define WATCH_WORD_S 1.0
#endif
#define WATCH_WORD_BYTES (UINT64_C(256) << 20)

enum { WATCH_MS = 20 };

/* What it has taken since watch_begin(). */
struct watch_taken {
    double s;       /* of time */
    double work_s;  /* of these it worked: a machine under load makes no difference */
    uint64_t bytes; /* of memory; 0 where it cannot be told */
};

struct watch {
    double limit_s;       /* 0: none */
    uint64_t limit_bytes; /* 0: none */
    bool from_now;        /* only memory that comes from now on counts */
    /* On the watching thread. */
    void (*tell)(void *arg, enum watch_news news, const struct watch_taken *taken);
    void *arg;
    /* its own: */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ended, told_long, told_large;
    int memory; /* a file that tells it; -1: none */
    uint64_t bytes;
    double begin_s, cpu_s;
    double children_s, owed_s; /* of processes that have ended; of these not counted yet */
    struct watch_taken taken;
};

/* Begins to look; the members up to `arg` are set, all others zero. False: no thread could be
 * started. */
bool watch_begin(struct watch *w);

/* Tells no more, once it returns. */
void watch_end(struct watch *w);

#endif
