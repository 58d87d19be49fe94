/*
 * query.h -- a command of the command line, run by a program: its rows in memory, by columns.
 *
 * What a command prints as CSV becomes tables of numbers here; its messages become texts. It runs
 * on a thread of its own, neither prints nor exits, and any number of them may run at a time. The
 * package in python/ is built on this. Like kernbench.h, but not installed: only for programs that
 * are built together with the library.
 */
#ifndef QUERY_H
#define QUERY_H
#include "cli/query/llm_batch.h"
#include "kernbench.h"

typedef struct kb_query kb_query;

/*
 * Transactions in memory, as columns: what `replay -` and `why -` read in place of standard input.
 * All is borrowed until the query has ended. Texts are numbered: op[i] is the number of a text in
 * `ops`.
 */
typedef struct kb_frame {
    uint64_t n;
    const int64_t *issue_fs;
    const uint32_t *op, *src, *dst;
    const uint64_t *offset; /* of a dst that is an address 0x... it is 0 */
    const uint64_t *nbytes;
    const uint32_t *after, *plane;        /* NULL: the column is not there */
    const int64_t *think_fs;              /* the same */
    const uint64_t *prio, *rows, *stride; /* the same; 0: the cell is empty */
    const char *const *ops, *const *srcs, *const *dsts, *const *afters, *const *planes;
    size_t n_ops, n_srcs, n_dsts, n_afters, n_planes;
} kb_frame;

typedef struct kb_query_request {
    const kb_topology *topo;  /* borrowed until the query is freed; NULL: none */
    const char *const *words; /* of the command line, without the program: "probe"; copied */
    size_t n_words;
    const kb_frame *frame;            /* NULL: none; borrowed */
    bool keep_run;                    /* of `run`: kb_query_run() */
    const kb_topology_source *source; /* a machine is made of it, in place of a command; borrowed
                                         until the query has ended. NULL: none */
    const kb_llm_limits *limits;      /* `llm` asks for each iteration, by kb_query_batch_wait();
                                         borrowed. NULL: it runs those of its options */
} kb_query_request;

/* What the values of a column are. */
typedef enum kb_cell_kind {
    KB_CELL_NONE,   /* nothing: an empty cell */
    KB_CELL_TEXT,   /* uint64_t: the number of a text */
    KB_CELL_COUNT,  /* uint64_t */
    KB_CELL_REAL,   /* double; times in ns. An empty cell is NAN */
    KB_CELL_NUMBER, /* uint64_t: the number of a text, which is a number as JSON has it */
} kb_cell_kind;

typedef struct kb_query_column {
    const char *name;
    kb_cell_kind kind;    /* of all cells if `kinds` is NULL, else of most */
    const uint8_t *kinds; /* kb_cell_kind of each cell; NULL: all have `kind` */
    const void *values;   /* 8 bytes each */
    /* From the data dictionary; NULL: it has none, as of keys of a machine. */
    const char *unit, *group, *meaning;
} kb_query_column;

typedef struct kb_query_table {
    const char *name; /* "replay", "causes" */
    uint64_t n_rows;
    size_t n_columns, n_texts;
    const kb_query_column *columns;
    const char *const *texts; /* that cells have the numbers of */
    const char *note;         /* below the table; NULL: none */
} kb_query_table;

/*
 * Begins a command on a thread of its own. Free it by kb_query_free().
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_query_new(const kb_query_request *request, kb_query **out);

/* Waits for its end for at most so many ms. True: it has ended, and the calls below may be used. */
bool kb_query_wait(kb_query *query, int ms);

/*
 * Waits for at most so many ms until `llm` asks for an iteration, with the answer to the last one.
 * Give it the next by kb_query_batch_give(), borrowed until it asks again; one without requests
 * ends the command.
 *
 * returns  false: not yet, or it has ended: kb_query_wait() tells
 */
bool kb_query_batch_wait(kb_query *query, int ms, kb_llm_answer *out);
void kb_query_batch_give(kb_query *query, const kb_llm_batch *batch);

/* Asks it to stop, from any thread; it ends within a second, with what is complete. */
void kb_query_stop(kb_query *query);

/* The limit that has asked it to stop, as long as nothing has looked: "stopped by --limit-s"; NULL:
 * none. A kernel may compute for long without a look; the caller may then leave it to its thread.
 */
const char *kb_query_unheard(kb_query *query);

/* How far it is: `*done` of `*total` (0: not known); what is counted is returned, or "". */
const char *kb_query_progress(kb_query *query, uint64_t *done, uint64_t *total);

/* What a call of the library has returned, as such a code. */
int kb_query_code_of(kb_status status);

/* The exit code of docs/exit-codes.md, and the lines that the command has on stderr. */
int kb_query_code(const kb_query *query);

/* After its end: has it left a thread behind, which did not stop in time? Then what the request
 * borrowed is needed for good. */
bool kb_query_left(const kb_query *query);
const char *kb_query_messages(const kb_query *query);

/* What it has on stdout that is no rows, `*n` bytes: pictures, pages, YAML. */
const char *kb_query_text(const kb_query *query, size_t *n);

/* The tables that it wrote, which live as long as the query. */
size_t kb_query_table_count(const kb_query *query);
void kb_query_table_get(const kb_query *query, size_t i, kb_query_table *out);

/* What the rows are made of: the line that base/provenance.h has; "": it made none. */
const char *kb_query_provenance(const kb_query *query);

/* The bench that `run` ran, owned by the query; NULL: keep_run was not set, or it failed. */
kb_bench_run *kb_query_run(const kb_query *query);

/* What kb_topology_load() returned for `source`; the machine is given to the caller. */
typedef struct kb_query_machine {
    kb_status status;
    const kb_topology *topo; /* with KB_OK; to be freed by kb_topology_free() */
    const char *messages;    /* the query's; NULL: none */
} kb_query_machine;
void kb_query_machine_take(kb_query *query, kb_query_machine *out);

void kb_query_free(kb_query *query);

/* The query on one of whose threads this is called, as from a bench's setup(). NULL: none. */
kb_query *kb_query_here(void);

/*
 * A bench that the program has made: commands find it by its name, until it is taken back.
 * Borrowed.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_query_bench_give(const kb_bench *bench);
void kb_query_bench_take_back(const kb_bench *bench);

typedef struct kb_query_object {
    char path[8192];  /* of the object */
    char said[16384]; /* the compiler's messages; if it cannot be run, its name */
    bool no_compiler;
} kb_query_object;

/*
 * Compiles a bench in C, which messages call `name`, with these flags, up to NULL; what was
 * compiled before is taken from the cache, if no byte of it would be another one.
 *
 * returns  an exit code of docs/exit-codes.md: 3: it does not compile
 */
int kb_query_compile(const char *text, const char *name, const char *const *flags,
                     kb_query_object *out);

#endif
