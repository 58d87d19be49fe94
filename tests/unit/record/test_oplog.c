/*
 * test_oplog.c -- the op log: what a record of each kind says, their order, the file, Phase 2.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "cube8.h"
#include "support/failing.h"
#include "record/oplog.h"
#include "support/rig.h"
#include "engine/state.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- logs and what they print --------------------------------------------------------------- */

static struct op_log *new_log(uint64_t limit_bytes, bool keep)
{
    struct op_log *log = op_log_new(&cube8_topology, limit_bytes, keep);

    assert_non_null(log);
    return log;
}

/* The text of an export, to be freed. */
static char *text_of(struct op_log *log, enum op_format format)
{
    kb_error why = {""};
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    if (op_log_export(log, format, NULL, 7, out, &why) != KB_OK)
        fail_msg("%s", why.text);
    fclose(out);
    return text;
}

/* Its lines after the first. */
static const char *after_header(const char *text)
{
    return strchr(text, '\n') + 1;
}

static void assert_prints(struct op_log *log, enum op_format format, const char *lines)
{
    char *text = text_of(log, format);

    assert_string_equal(after_header(text), lines);
    free(text);
}

static void assert_op_prints(const struct op *op, const char *line)
{
    struct op_log *log = new_log(0, false);

    assert_true(op_log_add(log, op, 3000000, 4500001));
    assert_prints(log, OP_JSONL, line);
    op_log_free(log);
}

static void assert_token_prints(const struct op_token *token, const char *line)
{
    struct op_log *log = new_log(0, false);

    assert_true(op_log_add_token(log, token, 3000000, 4500001));
    assert_prints(log, OP_JSONL, line);
    op_log_free(log);
}

#define DIMS(...)                                                                                  \
    {                                                                                              \
        KB_COUNT(__VA_ARGS__),                                                                     \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define TIMES "\"t_start\":3.000000,\"t_end\":4.500001,"

/* -- records: the table of docs/formats.md "Op log" ----------------------------------------- */

static const struct op_tensor in_hbm = {.address = (UINT64_C(1) << 38) + 4096,
                                        .shape = DIMS(32, 64),
                                        .dtype = KB_F16,
                                        .space = SPACE_HBM,
                                        .maker = OP_NONE};
static const struct op_tensor in_tcm = {.address = (UINT64_C(2) << 36) + 64,
                                        .shape = DIMS(64, 16),
                                        .dtype = KB_F16,
                                        .space = SPACE_TCM,
                                        .maker = 4};
static const struct op_tensor in_sram = {.address = UINT64_C(1) << 36,
                                         .shape = DIMS(32, 16),
                                         .dtype = KB_F32,
                                         .space = SPACE_SRAM,
                                         .maker = 6};

static void a_dma_read(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 12, .pe = 9, .kind = OP_DMA_READ, .n_in = 1};

    (void)state;
    op.in[0] = in_hbm;
    op.out = in_tcm;
    op.depends = (struct op_ids){.n = 2, .few = {3, 7}};
    assert_op_prints(
        &op, "{\"op_id\":12," TIMES "\"component_id\":\"sip0.cube1.pe1.pe_dma\","
             "\"op_kind\":\"memory\",\"op_name\":\"dma_read\",\"params\":{\"t_issue\":2.000000,"
             "\"src_space\":\"hbm\",\"src_addr\":274877911040,\"dst_space\":\"tcm\","
             "\"dst_addr\":137438953536,\"shape\":[32,64],\"dtype\":\"f16\",\"nbytes\":4096,"
             "\"handle_id\":\"h12\",\"src_strides\":null},\"dependency_ids\":[3,7]}\n");
    op.strided = true;
    op.stride[0] = 256;
    op.stride[1] = -2;
    op.region = "warm up";
    op.depends.n = 0;
    assert_op_prints(
        &op, "{\"op_id\":12," TIMES "\"component_id\":\"sip0.cube1.pe1.pe_dma\","
             "\"op_kind\":\"memory\",\"op_name\":\"dma_read\",\"params\":{\"t_issue\":2.000000,"
             "\"src_space\":\"hbm\",\"src_addr\":274877911040,\"dst_space\":\"tcm\","
             "\"dst_addr\":137438953536,\"shape\":[32,64],\"dtype\":\"f16\",\"nbytes\":4096,"
             "\"handle_id\":\"h12\",\"src_strides\":[256,-2],\"region\":\"warm up\"},"
             "\"dependency_ids\":[]}\n");
}

static void a_dma_write(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 12, .kind = OP_DMA_WRITE, .n_in = 1};

    (void)state;
    op.in[0] = in_tcm;
    op.out = in_hbm;
    op.depends = (struct op_ids){.n = 1, .few = {4}};
    assert_op_prints(
        &op, "{\"op_id\":12," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_dma\","
             "\"op_kind\":\"memory\",\"op_name\":\"dma_write\",\"params\":{\"t_issue\":2.000000,"
             "\"src_space\":\"tcm\",\"src_addr\":137438953536,\"shape\":[64,16],\"dtype\":\"f16\","
             "\"dst_space\":\"hbm\",\"dst_addr\":274877911040,\"nbytes\":2048,"
             "\"handle_id\":\"h4\",\"dst_strides\":null,\"snapshot\":4},"
             "\"dependency_ids\":[4]}\n");
    op.in[0].maker = OP_NONE;
    op.in[0].shape.rank = 0;
    op.strided = true;
    op.depends.n = 0;
    assert_op_prints(
        &op, "{\"op_id\":12," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_dma\","
             "\"op_kind\":\"memory\",\"op_name\":\"dma_write\",\"params\":{\"t_issue\":2.000000,"
             "\"src_space\":\"tcm\",\"src_addr\":137438953536,\"shape\":[],\"dtype\":\"f16\","
             "\"dst_space\":\"hbm\",\"dst_addr\":274877911040,\"nbytes\":2,"
             "\"handle_id\":null,\"dst_strides\":[],\"snapshot\":null},\"dependency_ids\":[]}\n");
}

/* `ipcq_copy` of docs/formats.md "Op log": the issue comes first; `snapshot` is the maker of the
 * bytes. */
static void an_ipcq_copy(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 12, .kind = OP_DMA_WRITE, .ipcq = true, .n_in = 1};

    (void)state;
    op.in[0] = in_tcm;
    op.out = in_hbm;
    op.depends = (struct op_ids){.n = 1, .few = {4}};
    assert_op_prints(
        &op, "{\"op_id\":12," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_dma\","
             "\"op_kind\":\"memory\",\"op_name\":\"ipcq_copy\",\"params\":{\"t_issue\":2.000000,"
             "\"src_space\":\"tcm\",\"src_addr\":137438953536,"
             "\"dst_space\":\"hbm\",\"dst_addr\":274877911040,\"shape\":[64,16],"
             "\"dtype\":\"f16\",\"nbytes\":2048,\"snapshot\":4},\"dependency_ids\":[4]}\n");
}

static struct op gemm(void)
{
    struct op op = {.t_issue_fs = 2000000, .id = 20, .pe = 63, .kind = OP_GEMM, .n_in = 2};

    op.in[0] = in_hbm;
    op.in[1] = in_tcm;
    op.out = in_sram;
    op.dtype_acc = KB_F64;
    op.m = 32;
    op.k = 64;
    op.n = 16;
    op.transpose_b = op.col_a = op.col_out = true;
    op.depends = (struct op_ids){.n = 1, .few = {4}};
    return op;
}

#define G                                                                                          \
    "\"src_a_addr\":274877911040,\"src_b_addr\":137438953536,\"dst_addr\":68719476736,"            \
    "\"shape_a\":[32,64],\"shape_b\":[64,16],\"shape_out\":[32,16],\"dtype_in\":\"f16\","          \
    "\"dtype_acc\":\"f64\",\"dtype_out\":\"f32\",\"m\":32,\"k\":64,\"n\":16,"                      \
    "\"transpose_a\":false,\"transpose_b\":true,\"layout_a\":\"col_major\","                       \
    "\"layout_b\":\"row_major\",\"layout_out\":\"col_major\",\"src_a_space\":\"hbm\","             \
    "\"src_b_space\":\"tcm\",\"dst_space\":\"sram\""

static void a_gemm(void **state)
{
    struct op op = gemm();

    (void)state;
    assert_op_prints(&op, "{\"op_id\":20," TIMES "\"component_id\":\"sip0.cube7.pe7.pe_gemm\","
                          "\"op_kind\":\"gemm\",\"op_name\":\"gemm_f16\","
                          "\"params\":{\"t_issue\":2.000000," G "},\"dependency_ids\":[4]}\n");
}

static void a_composite_gemm(void **state)
{
    struct op op = gemm();

    (void)state;
    op.composite = true;
    op.tile[0] = 32, op.tile[1] = 64, op.tile[2] = 8;
    op.tokens = 2;
    op.n_epilogues = 3;
    op.epilogue[0] = (struct op_epilogue){TL_ADD, 1, {in_sram}};
    op.epilogue[1] = (struct op_epilogue){TL_FMA, 2, {{.is_scalar = true, .scalar = 0.1}, in_tcm}};
    op.epilogue[2] = (struct op_epilogue){TL_SIGMOID, 0, {{0}}};
    assert_op_prints(
        &op,
        "{\"op_id\":20," TIMES "\"component_id\":\"sip0.cube7.pe7.pe_scheduler\","
        "\"op_kind\":\"gemm\",\"op_name\":\"composite_gemm\",\"params\":{\"t_issue\":2.000000,"
        "\"op\":\"gemm\",\"out_addr\":68719476736,\"out_nbytes\":2048,\"tile\":[32,64,8],"
        "\"tokens\":2,\"epilogue\":["
        "{\"op\":\"add\",\"scalars\":[null],\"input_addr\":68719476736,\"input_space\":\"sram\","
        "\"input_shape\":[32,16],\"input_dtype\":\"f32\"},"
        "{\"op\":\"fma\",\"scalars\":[0.1,null],\"input_addr\":137438953536,"
        "\"input_space\":\"tcm\",\"input_shape\":[64,16],\"input_dtype\":\"f16\"},"
        "{\"op\":\"sigmoid\",\"scalars\":[],\"input_addr\":null,\"input_space\":null,"
        "\"input_shape\":null,\"input_dtype\":null}]," G "},\"dependency_ids\":[4]}\n");
    op.n_epilogues = 0;
    assert_op_prints(
        &op, "{\"op_id\":20," TIMES "\"component_id\":\"sip0.cube7.pe7.pe_scheduler\","
             "\"op_kind\":\"gemm\",\"op_name\":\"composite_gemm\",\"params\":{\"t_issue\":2.000000,"
             "\"op\":\"gemm\",\"out_addr\":68719476736,\"out_nbytes\":2048,\"tile\":[32,64,8],"
             "\"tokens\":2,\"epilogue\":[]," G "},\"dependency_ids\":[4]}\n");
}

static void a_reduction(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 1, .kind = OP_MATH, .math = TL_SUM, .n_in = 1};
    static const char with_axis[] =
        "{\"op_id\":1," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_math\",\"op_kind\":\"math\","
        "\"op_name\":\"sum\",\"params\":{\"t_issue\":2.000000,\"op\":\"sum\","
        "\"input_addrs\":[137438953536],\"input_shapes\":[[64,16]],\"input_spaces\":[\"tcm\"],"
        "\"input_dtypes\":[\"f16\"],\"scalars\":[null],\"dst_addr\":68719476736,"
        "\"dst_space\":\"sram\",\"shape_out\":[32,16],\"dtype\":\"f32\",\"axis\":1,"
        "\"keepdims\":true,\"input_snapshots\":[4]},\"dependency_ids\":[]}\n";
    static const char all_axes[] =
        "{\"op_id\":1," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_math\",\"op_kind\":\"math\","
        "\"op_name\":\"sum\",\"params\":{\"t_issue\":2.000000,\"op\":\"sum\","
        "\"input_addrs\":[137438953536],\"input_shapes\":[[64,16]],\"input_spaces\":[\"tcm\"],"
        "\"input_dtypes\":[\"f16\"],\"scalars\":[null],\"dst_addr\":68719476736,"
        "\"dst_space\":\"sram\",\"shape_out\":[32,16],\"dtype\":\"f32\",\"axis\":null,"
        "\"keepdims\":false,\"input_snapshots\":[4]},\"dependency_ids\":[]}\n";

    (void)state;
    op.in[0] = in_tcm;
    op.out = in_sram;
    op.has_axis = op.keepdims = true;
    op.axis = 1;
    assert_op_prints(&op, with_axis);
    op.has_axis = op.keepdims = false;
    op.all_axes = true;
    assert_op_prints(&op, all_axes);
}

#define X                                                                                          \
    "\"op\":\"clamp\",\"input_addrs\":[274877911040,null,null],"                                   \
    "\"input_shapes\":[[32,64],null,null],\"input_spaces\":[\"hbm\",null,null],"                   \
    "\"input_dtypes\":[\"f16\",null,null],\"scalars\":[null,-1e-09,\"inf\"],"                      \
    "\"dst_addr\":68719476736,\"dst_space\":\"sram\",\"shape_out\":[32,16],\"dtype\":\"f32\","     \
    "\"axis\":null,\"keepdims\":false,\"input_snapshots\":[null,null,null]"

static void math_with_scalars(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 1, .kind = OP_MATH, .math = TL_CLAMP, .n_in = 3};

    (void)state;
    op.in[0] = in_hbm;
    op.in[1] = (struct op_tensor){.is_scalar = true, .scalar = -1e-9, .maker = OP_NONE};
    op.in[2] = (struct op_tensor){.is_scalar = true, .scalar = INFINITY, .maker = OP_NONE};
    op.out = in_sram;
    assert_op_prints(&op, "{\"op_id\":1," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_math\","
                          "\"op_kind\":\"math\",\"op_name\":\"clamp\","
                          "\"params\":{\"t_issue\":2.000000," X "},\"dependency_ids\":[]}\n");
    op.composite = true;
    op.tile[0] = 32, op.tile[2] = 8;
    op.tokens = UINT64_C(5000000000);
    assert_op_prints(&op, "{\"op_id\":1," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_scheduler\","
                          "\"op_kind\":\"math\",\"op_name\":\"composite_math\","
                          "\"params\":{\"t_issue\":2.000000,\"out_addr\":68719476736,"
                          "\"out_nbytes\":2048,\"tile\":[32,0,8],\"tokens\":5000000000," X "},"
                          "\"dependency_ids\":[]}\n");
}

/* Its operands are the start and the step, both scalars. */
static void an_arange(void **state)
{
    struct op op = {.t_issue_fs = 2000000, .id = 1, .kind = OP_MATH, .math = TL_ARANGE, .n_in = 2};

    (void)state;
    op.in[0] = (struct op_tensor){.is_scalar = true, .scalar = 3};
    op.in[1] = (struct op_tensor){.is_scalar = true, .scalar = 1.0 / 3};
    op.out = in_tcm;
    assert_op_prints(
        &op, "{\"op_id\":1," TIMES "\"component_id\":\"sip0.cube0.pe0.pe_math\","
             "\"op_kind\":\"math\",\"op_name\":\"arange\",\"params\":{\"t_issue\":2.000000,"
             "\"op\":\"arange\",\"input_addrs\":[null,null],\"input_shapes\":[null,null],"
             "\"input_spaces\":[null,null],\"input_dtypes\":[null,null],"
             "\"scalars\":[3,0.3333333333333333],\"dst_addr\":137438953536,\"dst_space\":\"tcm\","
             "\"shape_out\":[64,16],\"dtype\":\"f16\",\"axis\":null,\"keepdims\":false,"
             "\"input_snapshots\":[null,null]},\"dependency_ids\":[]}\n");
}

#define TOKEN(stage, component)                                                                    \
    "{\"op_id\":31," TIMES "\"component_id\":\"sip0.cube1.pe2." component "\","                    \
    "\"op_kind\":\"unknown\",\"op_name\":\"TileToken/" stage                                       \
    "\",\"params\":{\"stage_type\":\"" stage "\",\"parent\":30,\"token\":5,\"tile\":[1,2,3],"

static void tokens_of_every_stage(void **state)
{
    struct op_token t = {.id = 31, .parent = 30, .pe = 10, .token = 5, .tile = {1, 2, 3}};

    (void)state;
    t.stage = STAGE_DMA_READ;
    t.operand = 1;
    t.space = SPACE_SRAM;
    t.address = in_sram.address;
    t.nbytes = UINT64_C(1) << 33;
    assert_token_prints(
        &t,
        TOKEN("DMA_READ", "pe_dma") "\"operand\":1,\"src_space\":\"sram\",\"src_addr\":68719476736,"
                                    "\"nbytes\":8589934592},\"dependency_ids\":[]}\n");
    t.stage = STAGE_DMA_WRITE;
    assert_token_prints(
        &t, TOKEN("DMA_WRITE", "pe_dma") "\"dst_space\":\"sram\",\"dst_addr\":68719476736,"
                                         "\"nbytes\":8589934592},\"dependency_ids\":[]}\n");
    t.stage = STAGE_FETCH;
    assert_token_prints(
        &t, TOKEN("FETCH", "pe_fetch_store") "\"nbytes\":8589934592},\"dependency_ids\":[]}\n");
    t.stage = STAGE_STORE;
    assert_token_prints(
        &t, TOKEN("STORE", "pe_fetch_store") "\"nbytes\":8589934592},\"dependency_ids\":[]}\n");
    t.stage = STAGE_GEMM;
    t.m = 32, t.k = 64, t.n = 8;
    assert_token_prints(
        &t, TOKEN("GEMM", "pe_gemm") "\"m\":32,\"k\":64,\"n\":8},\"dependency_ids\":[]}\n");
    t.stage = STAGE_MATH;
    t.math = TL_EXP;
    t.elements = 512;
    t.region = "a";
    assert_token_prints(
        &t, TOKEN("MATH", "pe_math") "\"op\":\"exp\",\"elements\":512,\"region\":\"a\"},"
                                     "\"dependency_ids\":[]}\n");
}

/* A region is what a kernel says it is; JSON is UTF-8. */
static void regions_may_be_any_bytes(void **state)
{
    struct op_token t = {.stage = STAGE_FETCH, .region = "\"\\\n\x01,\xc3\xbc\xff\xe2\x82"};
    struct op_log *log = new_log(0, false);

    (void)state;
    assert_true(op_log_add_token(log, &t, 0, 0));
    assert_prints(log, OP_JSONL,
                  "{\"op_id\":0,\"t_start\":0.000000,\"t_end\":0.000000,"
                  "\"component_id\":\"sip0.cube0.pe0.pe_fetch_store\",\"op_kind\":\"unknown\","
                  "\"op_name\":\"TileToken/FETCH\",\"params\":{\"stage_type\":\"FETCH\","
                  "\"parent\":0,\"token\":0,\"tile\":[0,0,0],\"nbytes\":0,"
                  "\"region\":\"\\\"\\\\\\n\\u0001,\xc3\xbc\\ufffd\\ufffd\\ufffd\"},"
                  "\"dependency_ids\":[]}\n");
    assert_prints(log, OP_CSV,
                  "0,0.000000,0.000000,sip0.cube0.pe0.pe_fetch_store,unknown,TileToken/FETCH,"
                  "\"{\"\"stage_type\"\":\"\"FETCH\"\",\"\"parent\"\":0,\"\"token\"\":0,"
                  "\"\"tile\"\":[0,0,0],\"\"nbytes\"\":0,"
                  "\"\"region\"\":\"\"\\\"\"\\\\\\n\\u0001,\xc3\xbc\\ufffd\\ufffd\\ufffd\"\"}\","
                  "\"[]\"\n");
    op_log_free(log);
}

static void the_first_line_says_whence_it_comes(void **state)
{
    struct op_log *log = new_log(0, false);
    char *text = NULL, *end;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    assert_int_equal(op_log_export(log, OP_JSONL, "cube8 run 'a b'", 7, out, NULL), KB_OK);
    fclose(out);
    assert_non_null(strstr(text, "{\"schema\":\"kernbench.oplog/1\","
                                 "\"topology\":{\"name\":\"cube8\",\"hash\":\"") == text
                        ? text
                        : NULL);
    end = strstr(text, "\"},\"version\":\"" KB_VERSION
                       "\",\"command\":\"cube8 run 'a b'\",\"seed\":7}\n");
    assert_non_null(end);
    free(text);
    text = text_of(log, OP_JSONL);
    assert_null(strstr(text, "\"command\""));
    free(text);
    text = text_of(log, OP_CSV);
    assert_string_equal(text, "op_id,t_start,t_end,component_id,op_kind,op_name,params,"
                              "dependency_ids\n");
    free(text);
    op_log_free(log);
}

/* -- order ---------------------------------------------------------------------------------- */

static void ties_go_by_end_and_then_by_id(void **state)
{
    static const int64_t rows[][3] = {/* id, start, end: as added */
                                      {7, 50, 60}, {6, 50, 55}, {0, 10, 90}, {3, 50, 60},
                                      {1, 10, 10}, {5, 0, 99},  {2, 50, 55}};
    static const uint32_t order[] = {5, 1, 0, 2, 6, 3, 7};
    struct op_log *log = new_log(0, false);
    struct op_token t = {.stage = STAGE_FETCH};
    const char *line;
    char *text;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        t.id = (uint32_t)rows[i][0];
        assert_true(op_log_add_token(log, &t, rows[i][1], rows[i][2]));
    }
    text = text_of(log, OP_CSV);
    line = after_header(text);
    for (size_t i = 0; i < LENGTH(order); i++, line = after_header(line))
        assert_int_equal(strtoul(line, NULL, 10), order[i]);
    assert_true(*line == '\0');
    free(text);
    op_log_free(log);
}

/* -- random logs ---------------------------------------------------------------------------- */

enum { N_VERSIONS = 16, DEPENDS_MAX = 40 };

static struct version versions[N_VERSIONS]; /* the test has one reference to each */

static void reset_versions(void)
{
    for (uint32_t i = 0; i < N_VERSIONS; i++)
        versions[i] = (struct version){.refs = 1, .op = i, .nbytes = 64};
}

static void assert_no_references(void)
{
    for (uint32_t i = 0; i < N_VERSIONS; i++)
        assert_int_equal(versions[i].refs, 1);
}

static uint32_t below(uint64_t *dice, uint32_t n)
{
    return (uint32_t)(draw(dice) % n);
}

static struct op_tensor random_tensor(uint64_t *dice, bool may_be_scalar)
{
    struct op_tensor t = {.dtype = (uint8_t)(1 + below(dice, KB_F8E5M2)), .maker = OP_NONE};

    if (may_be_scalar && below(dice, 3) == 0) {
        t.is_scalar = true;
        t.scalar = (double)(int64_t)draw(dice) * 1e-12;
        return t;
    }
    t.address = draw(dice) >> 4;
    t.space = (uint8_t)below(dice, 3);
    t.view = (struct view){&versions[below(dice, N_VERSIONS)], draw(dice)};
    t.shape.rank = below(dice, KB_RANK_MAX + 1);
    for (uint32_t i = 0; i < t.shape.rank; i++)
        t.shape.dim[i] = (uint32_t)draw(dice);
    if (below(dice, 2))
        t.maker = (uint32_t)draw(dice);
    return t;
}

static void random_epilogues(uint64_t *dice, struct op *op)
{
    op->n_epilogues = (uint8_t)below(dice, TL_EPILOGUES_MAX + 1);
    for (uint32_t i = 0; i < op->n_epilogues; i++) {
        struct op_epilogue *e = &op->epilogue[i];

        e->math = (uint8_t)(TL_ADD + below(dice, TL_FULL));
        e->n_operands = (uint8_t)below(dice, 3);
        for (uint32_t j = 0; j < e->n_operands; j++)
            e->operand[j] = random_tensor(dice, true);
    }
}

static void random_gemm(uint64_t *dice, struct op *op)
{
    op->n_in = 2;
    op->in[0] = random_tensor(dice, false);
    op->in[1] = random_tensor(dice, false);
    op->dtype_acc = (uint8_t)(1 + below(dice, KB_F8E5M2));
    op->transpose_a = below(dice, 2);
    op->transpose_b = below(dice, 2);
    op->col_a = below(dice, 2);
    op->col_b = below(dice, 2);
    op->col_out = below(dice, 2);
    op->m = (uint32_t)draw(dice);
    op->k = (uint32_t)draw(dice);
    op->n = (uint32_t)draw(dice);
    if (op->composite)
        random_epilogues(dice, op);
}

static void random_math(uint64_t *dice, struct op *op)
{
    op->math = (uint8_t)(TL_ADD + below(dice, TL_FULL));
    op->n_in = (uint8_t)below(dice, 4);
    for (uint32_t i = 0; i < op->n_in; i++)
        op->in[i] = random_tensor(dice, true);
    op->all_axes = below(dice, 2);
    op->keepdims = below(dice, 2);
    op->has_axis = below(dice, 2);
    if (op->has_axis)
        op->axis = (int8_t)below(dice, KB_RANK_MAX);
}

static void random_compute(uint64_t *dice, struct op *op)
{
    op->composite = below(dice, 2);
    if (op->kind == OP_GEMM)
        random_gemm(dice, op);
    else
        random_math(dice, op);
    if (op->composite) {
        for (int i = 0; i < 3; i++)
            op->tile[i] = (uint32_t)draw(dice);
        op->tokens = draw(dice);
    }
}

/* `many` has room for DEPENDS_MAX. */
static struct op random_op(uint64_t *dice, uint32_t id, uint32_t *many)
{
    struct op op = {.id = id, .pe = below(dice, 64), .kind = (uint8_t)below(dice, OP_MATH + 1)};

    op.t_issue_fs = (int64_t)(draw(dice) >> 1);
    op.region = below(dice, 4) ? NULL : "a region";
    op.out = random_tensor(dice, false);
    if (op.kind == OP_GEMM || op.kind == OP_MATH) {
        random_compute(dice, &op);
    } else {
        op.n_in = 1;
        op.in[0] = random_tensor(dice, false);
        op.strided = below(dice, 2);
        for (uint32_t i = 0; op.strided && i < op.in[0].shape.rank; i++)
            op.stride[i] = (int64_t)draw(dice);
    }
    op.depends.n = below(dice, 10) ? below(dice, 7) : below(dice, DEPENDS_MAX);
    if (op.depends.n > LENGTH(op.depends.few))
        op.depends.ids = many;
    for (uint32_t i = 0; i < op.depends.n; i++)
        (op.depends.ids ? many : op.depends.few)[i] = (uint32_t)draw(dice);
    return op;
}

static struct op_token random_token(uint64_t *dice, uint32_t id)
{
    struct op_token t = {.id = id, .parent = (uint32_t)draw(dice), .pe = below(dice, 64)};

    t.stage = (uint8_t)below(dice, STAGE_STORE + 1);
    t.operand = (uint8_t)below(dice, 2);
    t.space = (uint8_t)below(dice, 3);
    t.math = (uint8_t)(TL_ADD + below(dice, TL_FULL));
    t.token = (uint32_t)draw(dice);
    t.tile[2] = (uint32_t)draw(dice);
    t.address = draw(dice);
    t.nbytes = t.elements = draw(dice);
    t.m = (uint32_t)draw(dice);
    t.region = below(dice, 4) ? NULL : "another";
    return t;
}

/* Record `id` of the log that `seed` stands for; times overlap, and many are equal. */
static bool add_random(struct op_log *log, uint64_t *dice, uint32_t id, struct op *out,
                       uint32_t *many)
{
    int64_t end = (int64_t)id * 5 + below(dice, 20), start = end - below(dice, 40);

    if (below(dice, 1000) == 0)
        start -= below(dice, 1000000); /* a composite */
    if (below(dice, 2)) {
        struct op_token t = random_token(dice, id);

        return op_log_add_token(log, &t, start, end);
    }
    *out = random_op(dice, id, many);
    return op_log_add(log, out, start, end);
}

static void fill(struct op_log *log, uint64_t seed, uint32_t n)
{
    uint32_t many[DEPENDS_MAX];
    struct op op;
    kb_error why = {""};

    for (uint32_t id = 0; id < n; id++)
        if (!add_random(log, &seed, id, &op, many)) {
            op_log_error(log, &why);
            fail_msg("%s", why.text);
        }
    assert_int_equal(op_log_count(log), n);
}

enum { N_RANDOM = 100000 };

/* Each record once, in order of its two times and its id. */
static void assert_sorted(const char *csv, uint32_t n)
{
    uint8_t *seen = calloc(n, 1);
    double before[3] = {-INFINITY, 0, 0};
    const char *line = after_header(csv);

    for (uint32_t i = 0; i < n; i++, line = after_header(line)) {
        double here[3]; /* start, end, id */
        bool later = false;
        char *end;

        here[2] = strtod(line, &end);
        here[0] = strtod(end + 1, &end);
        here[1] = strtod(end + 1, &end);
        assert_true(*end == ',');
        assert_true(here[2] < n && !seen[(uint32_t)here[2]]++);
        for (int k = 0; k < 3 && !later; k++) {
            assert_true(here[k] >= before[k]);
            later = here[k] > before[k];
        }
        assert_true(later);
        memcpy(before, here, sizeof here);
    }
    assert_true(*line == '\0');
    free(seen);
}

static void spilled_or_not_a_log_prints_the_same(void **state)
{
    static const uint64_t limits[] = {1, 20000, 300000, 4 << 20, 1 << 30};
    struct op_log *log = new_log(0, false);
    char *lines, *csv;

    (void)state;
    fill(log, 1, N_RANDOM);
    lines = text_of(log, OP_JSONL);
    csv = text_of(log, OP_CSV);
    assert_sorted(csv, N_RANDOM);
    op_log_free(log);
    for (size_t i = 0; i < LENGTH(limits); i++) {
        char *text;

        log = new_log(limits[i], i % 2);
        reset_versions();
        fill(log, 1, N_RANDOM);
        text = text_of(log, OP_JSONL);
        assert_true(strcmp(text, lines) == 0);
        free(text);
        op_log_free(log);
        assert_no_references();
    }
    free(lines);
    free(csv);
}

/* An export is not an end: more may follow, and be exported again. */
static void a_log_goes_on_after_an_export(void **state)
{
    struct op_log *log = new_log(30000, false), *whole = new_log(0, false);
    uint32_t many[DEPENDS_MAX];
    uint64_t dice = 3;
    char *a, *b;
    struct op op;

    (void)state;
    fill(whole, 3, 3000);
    for (uint32_t id = 0; id < 3000; id++) {
        assert_true(add_random(log, &dice, id, &op, many));
        if (id % 700 == 0)
            free(text_of(log, OP_CSV));
    }
    a = text_of(log, OP_JSONL);
    b = text_of(whole, OP_JSONL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    op_log_free(log);
    op_log_free(whole);
}

static void every_line_is_json(void **state)
{
    struct op_log *log = new_log(0, false);
    char path[] = "/tmp/kernbench-test-XXXXXX", command[128];
    int fd;
    FILE *out;

    (void)state;
    if (system("command -v jq >/dev/null") != 0)
        skip();
    fd = mkstemp(path);
    out = fdopen(fd, "w");
    assert_non_null(out);
    fill(log, 2, 2000);
    assert_int_equal(op_log_export(log, OP_JSONL, "a \xff b", 7, out, NULL), KB_OK);
    fclose(out);
    op_log_free(log);
    snprintf(command, sizeof command, "test \"$(jq -es 'map(.op_id) | length' %s)\" = 2001", path);
    assert_int_equal(system(command), 0);
    unlink(path);
}

/* -- Phase 2 -------------------------------------------------------------------------------- */

static void assert_same_tensor(const struct op_tensor *a, const struct op_tensor *b)
{
    assert_true(a->address == b->address);
    assert_ptr_equal(a->view.v, b->view.v);
    assert_true(a->view.offset == b->view.offset);
    assert_memory_equal(&a->shape, &b->shape, sizeof a->shape);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->is_scalar, b->is_scalar);
    assert_int_equal(a->maker, b->maker);
    assert_true(a->scalar == b->scalar);
}

static void assert_same_op(const struct op *a, const struct op *b)
{
    assert_true(a->t_issue_fs == b->t_issue_fs);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->pe, b->pe);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->math, b->math);
    assert_int_equal(a->composite, b->composite);
    assert_ptr_equal(a->region, b->region);
    assert_int_equal(a->n_in, b->n_in);
    for (uint32_t i = 0; i < a->n_in; i++)
        assert_same_tensor(&a->in[i], &b->in[i]);
    assert_same_tensor(&a->out, &b->out);
    assert_int_equal(a->dtype_acc, b->dtype_acc);
    assert_int_equal(a->transpose_a, b->transpose_a);
    assert_int_equal(a->transpose_b, b->transpose_b);
    assert_int_equal(a->col_a, b->col_a);
    assert_int_equal(a->col_b, b->col_b);
    assert_int_equal(a->col_out, b->col_out);
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->all_axes, b->all_axes);
    assert_int_equal(a->has_axis, b->has_axis);
    assert_int_equal(a->axis, b->axis);
    assert_int_equal(a->keepdims, b->keepdims);
    assert_memory_equal(a->tile, b->tile, sizeof a->tile);
    assert_true(a->tokens == b->tokens);
    assert_int_equal(a->n_epilogues, b->n_epilogues);
    for (uint32_t i = 0; i < a->n_epilogues; i++) {
        assert_int_equal(a->epilogue[i].math, b->epilogue[i].math);
        assert_int_equal(a->epilogue[i].n_operands, b->epilogue[i].n_operands);
        for (uint32_t j = 0; j < a->epilogue[i].n_operands; j++)
            assert_same_tensor(&a->epilogue[i].operand[j], &b->epilogue[i].operand[j]);
    }
    assert_int_equal(a->depends.n, b->depends.n);
    assert_memory_equal(op_ids_list(&a->depends), op_ids_list(&b->depends),
                        a->depends.n * sizeof(uint32_t));
}

enum { N_KEPT = 2000 };

/* Ids fall and rise, as records come when services end. */
static uint32_t mixed(uint32_t i)
{
    return i ^ 5;
}

static uint64_t computes(struct op_log *log)
{
    uint64_t n = UINT64_MAX;

    assert_int_equal(op_log_computes(log, &n, NULL), KB_OK);
    return n;
}

static void operations_come_back_as_they_were(void **state)
{
    static struct op ops[N_KEPT];
    static uint32_t many[N_KEPT][DEPENDS_MAX];
    static const uint64_t limits[] = {0, 1, 50000};

    (void)state;
    for (size_t k = 0; k < LENGTH(limits); k++) {
        struct op_log *log = new_log(limits[k], true);
        uint64_t dice = 9, n, i = 0;

        reset_versions();
        memset(ops, 0, sizeof ops);
        for (uint32_t j = 0; j < N_KEPT; j++)
            assert_true(add_random(log, &dice, mixed(j), &ops[mixed(j)], many[mixed(j)]));
        n = computes(log);
        for (uint32_t id = 0; id < N_KEPT; id++) {
            struct op op;

            if (ops[id].n_in == 0 && ops[id].kind != OP_MATH)
                continue; /* a token */
            if (ops[id].kind != OP_GEMM && ops[id].kind != OP_MATH)
                continue;
            assert_true(i < n);
            assert_int_equal(op_log_compute(log, i, &op, NULL), KB_OK);
            assert_same_op(&op, &ops[id]);
            op_log_computed(log, i++, &op);
        }
        assert_int_equal(i, n);
        assert_no_references();
        assert_int_equal(computes(log), 0);
        op_log_free(log);
        assert_no_references();
    }
}

static struct op kept_gemm(uint32_t id)
{
    struct op op = gemm();

    op.id = id;
    op.in[0].view.v = op.in[1].view.v = &versions[0];
    op.out.view.v = &versions[1];
    return op;
}

static void take(struct op_log *log, uint64_t i, uint32_t id)
{
    struct op op;

    assert_int_equal(op_log_compute(log, i, &op, NULL), KB_OK);
    assert_int_equal(op.id, id);
    op_log_computed(log, i, &op);
}

static void what_was_not_taken_comes_again(void **state)
{
    struct op_log *log = new_log(1, true);
    struct op op;

    (void)state;
    reset_versions();
    for (uint32_t id = 0; id < 200; id++) {
        op = kept_gemm(199 - id);
        assert_true(op_log_add(log, &op, id, id));
    }
    assert_int_equal(versions[0].refs, 401);
    assert_int_equal(versions[1].refs, 201);
    assert_int_equal(computes(log), 200);
    for (uint32_t i = 1; i < 200; i += 2)
        take(log, i, i);
    assert_int_equal(versions[0].refs, 201);
    op = kept_gemm(1000);
    assert_true(op_log_add(log, &op, 0, 0)); /* the next launch */
    assert_int_equal(computes(log), 101);
    for (uint32_t i = 0; i < 50; i++)
        take(log, i, 2 * i);
    take(log, 100, 1000);
    assert_int_equal(versions[0].refs, 101);
    op = kept_gemm(1001);
    assert_true(op_log_add(log, &op, 0, 0)); /* not even found */
    op_log_free(log);
    assert_no_references();
}

static void without_keep_nothing_is_kept(void **state)
{
    struct op_log *log = new_log(0, false);
    struct op op = kept_gemm(0);
    kb_error why = {""};
    uint64_t n;

    (void)state;
    reset_versions();
    assert_true(op_log_add(log, &op, 0, 0));
    assert_no_references();
    assert_int_equal(op_log_computes(log, &n, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "the op log keeps no operands");
    op_log_free(log);
}

/* Fields that a kind does not use are not set: they may have any value. */
static void fields_not_used_are_not_read(void **state)
{
    struct op_log *log = new_log(0, true);
    struct op op, back;

    (void)state;
    reset_versions();
    memset(&op, 0xa5, sizeof op);
    op.kind = OP_MATH;
    op.composite = op.atomic = op.sums = op.has_axis = op.all_axes = op.keepdims = false;
    op.region = NULL;
    op.math = TL_NEG;
    op.n_in = 1;
    op.in[0] = op.out = in_tcm;
    op.in[0].view.v = op.out.view.v = &versions[0];
    op.depends = (struct op_ids){0};
    assert_true(op_log_add(log, &op, 0, 0));
    assert_int_equal(versions[0].refs, 3);
    op.kind = OP_GEMM;
    op.transpose_a = op.transpose_b = op.col_a = op.col_b = op.col_out = false;
    op.n_in = 2;
    op.in[1] = op.in[0];
    assert_true(op_log_add(log, &op, 0, 0));
    assert_int_equal(versions[0].refs, 6);
    memset(&op.all_axes, 0xff, 1);
    op.kind = OP_DMA_READ;
    op.n_in = 1;
    op.strided = false;
    memset(&op.composite, 0xff, 1);
    assert_true(op_log_add(log, &op, 0, 0));
    assert_int_equal(computes(log), 2);
    assert_int_equal(op_log_compute(log, 0, &back, NULL), KB_OK);
    assert_int_equal(back.n_epilogues, 0);
    assert_int_equal(back.axis, 0);
    assert_int_equal(back.m, 0);
    op_log_free(log);
    assert_no_references();
}

/* -- what it takes, and what it lacks ------------------------------------------------------- */

static uint64_t bytes_of(const struct op *op)
{
    struct op_log *log = new_log(0, true);
    uint64_t bytes;

    assert_true(op_log_add(log, op, 0, 0));
    bytes = op_log_bytes(log);
    op_log_free(log);
    return bytes;
}

/* In memory, too: chunks have no gaps to speak of. */
static void records_are_small(void **state)
{
    struct op read = {.kind = OP_DMA_READ, .n_in = 1}, write = {.kind = OP_DMA_WRITE, .n_in = 1};
    struct op_token t = {.stage = STAGE_DMA_READ, .region = "region"};
    struct op_log *log = new_log(0, true);

    (void)state;
    read.in[0] = write.in[0] = in_hbm;
    read.out = write.out = in_tcm;
    read.region = write.region = "region";
    read.depends.n = write.depends.n = 4;
    assert_true(bytes_of(&read) < 128);
    assert_true(bytes_of(&write) < 128);
    read.region = NULL;
    read.depends.n = 1;
    assert_int_equal(bytes_of(&read), 80);
    assert_true(op_log_add_token(log, &t, 0, 0));
    assert_int_equal(op_log_bytes(log), 80);
    t = (struct op_token){.stage = STAGE_GEMM};
    assert_true(op_log_add_token(log, &t, 0, 0));
    assert_int_equal(op_log_bytes(log), 80 + 64);
    op_log_free(log);
}

/* A gather of everything, in a log of small chunks. */
static void dependencies_may_be_more_than_a_chunk(void **state)
{
    static uint32_t ids[50000];
    struct op op = gemm(), back;
    struct op_log *log = new_log(1, true);

    (void)state;
    for (uint32_t i = 0; i < LENGTH(ids); i++)
        ids[i] = 3 * i;
    op.depends = (struct op_ids){.n = LENGTH(ids), .cap = LENGTH(ids), .ids = ids};
    for (uint32_t i = 0; i < 3; i++) {
        op.id = i;
        assert_true(op_log_add(log, &op, i, i));
    }
    assert_int_equal(computes(log), 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(op_log_compute(log, i, &back, NULL), KB_OK);
        assert_int_equal(back.depends.n, LENGTH(ids));
        assert_memory_equal(back.depends.ids, ids, sizeof ids);
        op_log_computed(log, i, &back);
    }
    op_log_free(log);
}

/* A whole life; what comes first of its failures. */
static kb_status live(uint64_t limit)
{
    struct op_log *log = op_log_new(&cube8_topology, limit, true);
    uint32_t many[DEPENDS_MAX];
    uint64_t dice = 5, n = 0, before;
    kb_error why = {""};
    kb_status status = KB_OK;
    struct op op;
    FILE *out;

    if (!log)
        return KB_NO_MEMORY;
    for (uint32_t id = 0; status == KB_OK && id < 1500; id++) {
        before = op_log_count(log);
        if (!add_random(log, &dice, id, &op, many)) {
            status = op_log_error(log, &why);
            assert_true(status != KB_OK && why.text[0]);
            assert_true(op_log_count(log) == before);
        }
    }
    if (status == KB_OK) {
        out = fopen("/dev/null", "w");
        if (out) {
            status = op_log_export(log, OP_CSV, NULL, 7, out, &why);
            fclose(out);
        } else {
            status = KB_NO_MEMORY;
        }
    }
    if (status == KB_OK)
        status = op_log_computes(log, &n, &why);
    for (uint64_t i = 0; status == KB_OK && i < n; i++) {
        status = op_log_compute(log, i, &op, &why);
        if (status == KB_OK)
            op_log_computed(log, i, &op);
    }
    op_log_free(log);
    return status;
}

static void every_lack_of_memory_is_told(void **state)
{
    static const uint64_t limits[] = {0, 20000};

    (void)state;
    for (size_t i = 0; i < LENGTH(limits); i++) {
        kb_status status = KB_NO_MEMORY;
        uint64_t n_failures = 0;

        for (uint64_t n = 0; status != KB_OK; n++) {
            int64_t had = owned;

            reset_versions();
            blocks_left = n;
            status = live(limits[i]);
            blocks_left = UINT64_MAX;
            assert_true(status == KB_OK || status == KB_NO_MEMORY);
            assert_int_equal(owned, had);
            assert_no_references();
            n_failures += status != KB_OK;
        }
        assert_true(n_failures > 10);
    }
}

/* -- files ---------------------------------------------------------------------------------- */

/* SIGXFSZ is what a program that writes past RLIMIT_FSIZE gets, unless it ignores it. */
static void limit_files(rlim_t bytes)
{
    struct rlimit r;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static void a_full_disk_ends_the_log(void **state)
{
    struct op_log *log = new_log(1, true);
    uint32_t many[DEPENDS_MAX], id = 0;
    uint64_t dice = 1, n;
    kb_error why = {""};
    struct op op;

    (void)state;
    reset_versions();
    limit_files(20000);
    while (add_random(log, &dice, id, &op, many))
        id++;
    limit_files(RLIM_INFINITY);
    assert_true(id > 50);
    assert_int_equal(op_log_count(log), id);
    assert_int_equal(op_log_error(log, &why), KB_FILE_ERROR);
    assert_string_equal(why.text, "op log: cannot write a temporary file: File too large");
    assert_false(add_random(log, &dice, id, &op, many)); /* an end is an end */
    assert_int_equal(op_log_export(log, OP_CSV, NULL, 7, stdout, &why), KB_FILE_ERROR);
    assert_int_equal(op_log_computes(log, &n, &why), KB_FILE_ERROR);
    op_log_free(log);
    assert_no_references();
}

static void a_folder_that_is_not_there_is_told(void **state)
{
    struct op_log *log = new_log(1, false);
    struct op_token t = {.stage = STAGE_FETCH};
    kb_error why = {""};

    (void)state;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    while (op_log_add_token(log, &t, 0, 0))
        ;
    unsetenv("TMPDIR");
    assert_int_equal(op_log_error(log, &why), KB_FILE_ERROR);
    assert_string_equal(why.text,
                        "op log: cannot make a temporary file: No such file or directory");
    op_log_free(log);
}

static void a_full_output_is_told(void **state)
{
    struct op_log *log = new_log(0, false);
    FILE *out = fopen("/dev/full", "w");
    kb_error why = {""};

    (void)state;
    fill(log, 1, 100);
    assert_non_null(out);
    assert_int_equal(op_log_export(log, OP_JSONL, NULL, 7, out, &why), KB_FILE_ERROR);
    assert_string_equal(why.text, "cannot write the op log: No space left on device");
    fclose(out);
    op_log_free(log);
}

/* The first `n` bytes of a file, and a 0. */
static void read_start(const char *path, char *text, size_t n)
{
    FILE *in = fopen(path, "r");

    assert_non_null(in);
    text[fread(text, 1, n, in)] = '\0';
    fclose(in);
}

static void a_file_appears_when_it_is_whole(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    char folder[] = "/tmp/kernbench-test-XXXXXX", path[64], start[32];
    kb_error why = {""};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log.csv", folder);
    assert_int_equal(kb_oplog_write(sim, path, NULL, 0, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "the simulation keeps no op log: ask for it with its options");
    sim->log = new_log(0, false);
    fill(sim->log, 1, 100);
    assert_int_equal(kb_oplog_write(sim, path, NULL, 0, &why), KB_OK);
    read_start(path, start, 14);
    assert_string_equal(start, "op_id,t_start,");
    limit_files(1000);
    assert_int_equal(kb_oplog_write(sim, path, NULL, 0, &why), KB_FILE_ERROR);
    limit_files(RLIM_INFINITY);
    read_start(path, start, 14);
    assert_string_equal(start, "op_id,t_start,"); /* the old one */
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    assert_int_equal(kb_oplog_write(sim, path, "cube8 run", 0, &why), KB_OK);
    read_start(path, start, 12);
    assert_string_equal(start, "{\"schema\":\"k");
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/no/log", folder);
    assert_int_equal(kb_oplog_write(sim, path, NULL, 0, &why), KB_FILE_ERROR);
    assert_non_null(strstr(why.text, "/no/log: No such file or directory"));
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dma_read),
        cmocka_unit_test(a_dma_write),
        cmocka_unit_test(an_ipcq_copy),
        cmocka_unit_test(a_gemm),
        cmocka_unit_test(a_composite_gemm),
        cmocka_unit_test(a_reduction),
        cmocka_unit_test(math_with_scalars),
        cmocka_unit_test(an_arange),
        cmocka_unit_test(tokens_of_every_stage),
        cmocka_unit_test(regions_may_be_any_bytes),
        cmocka_unit_test(the_first_line_says_whence_it_comes),
        cmocka_unit_test(ties_go_by_end_and_then_by_id),
        cmocka_unit_test(spilled_or_not_a_log_prints_the_same),
        cmocka_unit_test(a_log_goes_on_after_an_export),
        cmocka_unit_test(every_line_is_json),
        cmocka_unit_test(operations_come_back_as_they_were),
        cmocka_unit_test(what_was_not_taken_comes_again),
        cmocka_unit_test(without_keep_nothing_is_kept),
        cmocka_unit_test(fields_not_used_are_not_read),
        cmocka_unit_test(records_are_small),
        cmocka_unit_test(dependencies_may_be_more_than_a_chunk),
        cmocka_unit_test(every_lack_of_memory_is_told),
        cmocka_unit_test(a_full_disk_ends_the_log),
        cmocka_unit_test(a_folder_that_is_not_there_is_told),
        cmocka_unit_test(a_full_output_is_told),
        cmocka_unit_test(a_file_appears_when_it_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
