/* facts.c -- what a model is, without a simulation: layers, parameters, bytes of a token. */
#include "cli/llm/facts.h"
#include "cli/llm/model.h"

struct fact_row {
    const char *model, *family;
    uint64_t layers, parameters, kv_token_bytes, active;
    bool has_experts;
};

static const struct column fact_columns[] = {
    COLUMN("model", CELL_TEXT, struct fact_row, model),
    COLUMN("family", CELL_TEXT, struct fact_row, family),
    COLUMN("layers", CELL_COUNT, struct fact_row, layers),
    COLUMN("parameters", CELL_COUNT, struct fact_row, parameters),
    COLUMN("kv_token_bytes", CELL_COUNT, struct fact_row, kv_token_bytes),
    COLUMN_IF("active", CELL_COUNT, struct fact_row, active, has_experts),
};

/* The model that was named, or all shipped ones. */
struct facts {
    const struct cli *cli;
    const char *one;
    kb_dtype kv;
    struct fact_row row;
};

static bool fact_row(void *arg, uint64_t i, struct cell *cells)
{
    struct facts *f = arg;
    struct model m;

    if (model_read(f->cli->program, f->one ? f->one : model_files[i].name, true, &m))
        return false;
    f->row =
        (struct fact_row){.model = m.name,
                          .family = model_family_name(&m),
                          .layers = (uint64_t)m.layers,
                          .parameters = (uint64_t)model_parameters(&m),
                          .kv_token_bytes = (uint64_t)model_kv_bytes(&m, f->kv ? f->kv : m.dtype),
                          .active = (uint64_t)model_active_parameters(&m),
                          .has_experts = m.experts > 0};
    record_cells(fact_columns, sizeof fact_columns / sizeof *fact_columns, &f->row, cells);
    return true;
}

enum exit_code print_facts(const struct cli *cli, kb_dtype kv)
{
    struct facts f = {
        .cli = cli, .one = cli->opts.n_operands ? cli->opts.operand[0] : NULL, .kv = kv};
    struct rows rows = {ROWS_COLUMNS(fact_columns), .n_rows = 1, .row = fact_row, .arg = &f};

    while (!f.one && model_files[rows.n_rows].name)
        rows.n_rows++;
    return cmd_print(cli, &rows);
}
