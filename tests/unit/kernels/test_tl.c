/* test_tl.c -- mistakes of kernels: each ends the run, and says which kernel, PE, call and line. */
#include "support/kernels.h"
#include "tray32.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* -- how a mistake is told ------------------------------------------------------------------ */

/* Runs end once: whatever is asked again says the same. */
static void assert_ends(kb_sim *sim, kb_status status, const char *text)
{
    kb_launch_result r;

    for (int i = 0; i < 3; i++) {
        kb_error why = {""};

        assert_int_equal(kb_sim_run(sim, i == 1, &why), status);
        assert_string_equal(why.text, text);
        assert_int_equal(kb_sim_run(sim, 0, NULL), status);
        assert_int_equal(kb_launch_get(sim, 0, &r), KB_PENDING);
        assert_int_equal(kb_launch_done(sim), 0);
    }
}

/* The line of a call inside a macro's arguments: where these begin, or where it stands itself. */
static int line_of(const char *text, int first)
{
    const char *at = strstr(text, __FILE__ ":");
    int line = at ? atoi(at + sizeof __FILE__) : 0;

    assert_in_range(line, first, first + 8);
    return line;
}

/* `kernel` tells its mistake's line before it makes it. Both ways of running it say the same. */
static void assert_mistake(kb_kernel kernel, const char *call, const char *reason)
{
    const kb_options ways[] = {{0}, {.fingerprint = true, .engine = KB_HOP, .oplog = true}};

    for (size_t i = 0; i < LENGTH(ways); i++) {
        kb_sim *sim = new_sim(&cube8_topology, ways[i]);
        kb_error why = {""};
        char text[512];
        int line = 0;

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(launch(sim, kernel, &line, 2, &why), KB_OK);
        assert_int_not_equal(kb_sim_run(sim, 0, &why), KB_OK);
        snprintf(text, sizeof text, "kernel test on c0.pe0: %s at %s:%d: %s", call, __FILE__,
                 line_of(why.text, line), reason);
        assert_string_equal(why.text, text);
        assert_ends(sim, KB_KERNEL_ERROR, text);
        kb_sim_free(sim);
    }
}

/*
 * WRONG(name, call, reason, statements): a test of a kernel that PE 0 runs, whose last call is
 * wrong. PE 1 does something else meanwhile.
 */
#define WRONG(name, call, reason, ...)                                                             \
    static void name##_kernel(tl_ctx *tl, const kb_args *args)                                     \
    {                                                                                              \
        if (tl_pe(tl) == 1) {                                                                      \
            busy(tl);                                                                              \
            return;                                                                                \
        }                                                                                          \
        *(int *)(uintptr_t)args->user = __LINE__;                                                  \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_mistake(name##_kernel, call, reason);                                               \
    }

/* A load under way, a composite under way, results: there is something to be cleaned up. */
static void busy(tl_ctx *tl)
{
    tl_tensor *x = tl_ref(tl, SLICE(1), KB_F32, KB_SHAPE(64, 64));

    tl_region(tl, "busy");
    tl_alloc_host(tl, 100);
    tl_exp(tl, tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(4)));
    tl_composite(tl, .a = x, .b = x, .out = SLICE(1) + (1 << 20));
    for (int i = 0; i < 20; i++)
        tl_load_async(tl, SLICE(1), KB_F32, KB_SHAPE(64));
}

/* f32 [4, 4] */
static tl_tensor *load(tl_ctx *tl)
{
    return tl_load(tl, 0, KB_F32, KB_SHAPE(4, 4));
}

static tl_tensor *load_i32(tl_ctx *tl)
{
    return tl_load(tl, 0, KB_I32, KB_SHAPE(4, 4));
}

static tl_tensor *load_async(tl_ctx *tl)
{
    return tl_load_async(tl, 0, KB_F32, KB_SHAPE(4, 4));
}

static tl_tensor *bools(tl_ctx *tl)
{
    return tl_lt(tl, load(tl), tl_scalar(tl, 3));
}

static tl_tensor *freed(tl_ctx *tl)
{
    tl_tensor *x = load(tl);

    tl_free(tl, x);
    return x;
}

static tl_tensor *two(tl_ctx *tl)
{
    return tl_scalar(tl, 2);
}

static tl_tensor *ref(tl_ctx *tl)
{
    return tl_ref(tl, 0, KB_F32, KB_SHAPE(4, 4));
}

/* -- data ----------------------------------------------------------------------------------- */

#define PENDING                                                                                    \
    "the data are pending: they are results that Phase 2 computes; tl_value() "                    \
    "gives one"
#define UNWAITED    "an operand is a load or a receive that has not been waited for"
#define NULL_TENSOR "a tensor is NULL"
#define GIVEN_BACK  "a tensor was given back before"

WRONG(data_of_a_result, "tl_data", PENDING, tl_data(tl, tl_exp(tl, load(tl))))
WRONG(an_element_of_a_result, "tl_get", PENDING, tl_get(tl, tl_dot(tl, load(tl), load(tl)), 0))
WRONG(data_of_a_composite, "tl_data", PENDING,
      tl_tensor *c = tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = 1 << 20);
      tl_wait(tl, c); tl_data(tl, c))
WRONG(data_of_a_result_that_was_stored, "tl_get", PENDING,
      tl_store(tl, 1 << 20, tl_neg(tl, load(tl)));
      tl_get(tl, tl_load(tl, 1 << 20, KB_F32, KB_SHAPE(1)), 0))
WRONG(data_that_are_pending_in_part, "tl_get", PENDING,
      tl_store(tl, 64, tl_neg(tl, tl_load(tl, 0, KB_U8, KB_SHAPE(1))));
      tl_get(tl, tl_load(tl, 0, KB_U8, KB_SHAPE(65)), 0))
WRONG(data_not_waited_for, "tl_data", UNWAITED, tl_data(tl, load_async(tl)))
WRONG(data_of_a_scalar, "tl_data", "a scalar has no data", tl_data(tl, two(tl)))
WRONG(data_of_a_ref, "tl_data", "the tensor lies at address 0, not in the TCM: load it first",
      tl_data(tl, ref(tl)))
WRONG(data_of_a_store, "tl_data", "the tensor lies at address 4096, not in the TCM: load it first",
      tl_tensor *x = tl_store_async(tl, 4096, load(tl));
      tl_wait(tl, x); tl_data(tl, x))
WRONG(data_that_were_not_written, "tl_data", "bytes at address 137438953472 were never written",
      tl_data(tl, tl_alloc(tl, KB_F32, KB_SHAPE(4))))
WRONG(data_of_null, "tl_data", NULL_TENSOR, tl_data(tl, NULL))
WRONG(data_of_a_freed_tensor, "tl_data", GIVEN_BACK, tl_data(tl, freed(tl)))
WRONG(an_element_past_the_end, "tl_get", "element 16 is none of 0..15", tl_get(tl, load(tl), 16))
WRONG(an_element_before_the_first, "tl_get", "element -1 is none of 0..15",
      tl_get(tl, load(tl), -1))

/* -- ranges --------------------------------------------------------------------------------- */

WRONG(load_of_bytes_never_written, "tl_load",
      "bytes 1048576..1048591 of c0.slice0 (address 1048576) were never written",
      tl_load(tl, 1 << 20, KB_F32, KB_SHAPE(4)))
WRONG(load_of_bytes_in_part_never_written, "tl_load",
      "bytes 65536..65543 of c0.slice3 (address 19327418368) were never written",
      tl_load(tl, SLICE(3) + FILLED - 8, KB_F32, KB_SHAPE(4)))
WRONG(load_of_sram_never_written, "tl_load",
      "bytes 8..15 of c0.sram (address 68719476744) were never written",
      tl_load(tl, SRAM + 8, KB_F64, KB_SHAPE(1)))
WRONG(load_of_a_tcm_never_written, "tl_load",
      "bytes 0..7 of c0.pe1.tcm (address 137455730688) were never written",
      tl_load(tl, TCM(1), KB_F64, KB_SHAPE(1)))
WRONG(load_async_of_bytes_never_written, "tl_load_async",
      "bytes 1048576..1048591 of c0.slice0 (address 1048576) were never written",
      tl_wait(tl, tl_load_async(tl, 1 << 20, KB_F32, KB_SHAPE(4))))
WRONG(strides_to_bytes_never_written, "tl_load_strided",
      "bytes 65536..65539 of c0.slice0 (address 65536) were never written",
      tl_load_strided(tl, 0, KB_F32, KB_SHAPE(3), ((int64_t[]){32768})))
WRONG(ref_of_bytes_never_written, "tl_composite",
      "bytes 65536..131071 of c0.slice0 (address 65536) were never written",
      tl_tensor *x = tl_ref(tl, 0, KB_F64, KB_SHAPE(128, 128));
      tl_composite(tl, .a = x, .b = x, .out = 1 << 20))
WRONG(operand_that_was_not_written, "tl_exp",
      "bytes 0..15 of c0.pe0.tcm (address 137438953472) were never written",
      tl_exp(tl, tl_alloc(tl, KB_F32, KB_SHAPE(4))))
WRONG(load_from_two_slices, "tl_load",
      "16 bytes from offset 6442450936 pass the end of c0.slice0, which holds 6442450944",
      tl_load(tl, SLICE(1) - 8, KB_F64, KB_SHAPE(2)))
WRONG(store_to_two_slices, "tl_store_async",
      "64 bytes from offset 6442450904 pass the end of c0.slice1, which holds 6442450944",
      tl_store_async(tl, SLICE(2) - 40, load(tl)))
WRONG(composite_of_shapes_that_differ, "tl_composite",
      "operands of shapes [4, 4] and [2, 8]: those of a composite are equal",
      tl_composite(tl, .op = TL_ADD, .a = load(tl), .b = tl_reshape(tl, load(tl), KB_SHAPE(2, 8)),
                   .out = 4096))
WRONG(composite_into_two_slices, "tl_composite",
      "64 bytes from offset 6442450904 pass the end of c0.slice1, which holds 6442450944",
      tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = SLICE(2) - 40))
WRONG(ref_past_the_end_of_a_sram, "tl_ref",
      "8 bytes from offset 33554428 pass the end of c0.sram, which holds 33554432",
      tl_ref(tl, SRAM + (32 << 20) - 4, KB_F32, KB_SHAPE(2)))
WRONG(store_past_the_end_of_a_tcm, "tl_store",
      "64 bytes from offset 16777208 pass the end of c0.pe1.tcm, which holds 16777216",
      tl_store(tl, TCM(2) - 8, load(tl)))
WRONG(strides_past_the_end, "tl_load_strided",
      "8589934596 bytes from offset 0 pass the end of c0.slice0, which holds 6442450944",
      tl_load_strided(tl, 0, KB_F32, KB_SHAPE(2), ((int64_t[]){INT64_C(1) << 33})))
WRONG(strides_past_any_memory, "tl_load_strided", "the strides pass the end of any memory",
      tl_load_strided(tl, 0, KB_F32, KB_SHAPE(257, 2), ((int64_t[]){INT64_C(1) << 56, 4})))
WRONG(strides_past_64_bits, "tl_load_strided_async", "the strides pass the end of any memory",
      tl_load_strided_async(tl, 0, KB_F32, KB_SHAPE((1 << 25) + 1),
                            ((int64_t[]){INT64_C(1) << 39})))
WRONG(a_negative_stride, "tl_load_strided", "stride -4 of axis 1: strides are multiples of 4 bytes, from 0 on",
      tl_load_strided(tl, 64, KB_F32, KB_SHAPE(2, 2), ((int64_t[]){8, -4})))
WRONG(an_odd_stride, "tl_store_strided", "stride 6 of axis 0: strides are multiples of 4 bytes, from 0 on",
      tl_store_strided(tl, 0, load(tl), ((int64_t[]){6, 4})))
WRONG(no_such_sip, "tl_load", "there is no memory at address 4503599627370496",
      tl_load(tl, UINT64_C(1) << 52, KB_F32, KB_SHAPE(1)))
WRONG(no_such_cube, "tl_store", "there is no memory at address 2199023255552",
      tl_store(tl, UINT64_C(8) << 38, load(tl)))
WRONG(no_such_region, "tl_ref", "there is no memory at address 206158430208",
      tl_ref(tl, UINT64_C(3) << 36, KB_F32, KB_SHAPE(1)))
WRONG(no_such_tcm, "tl_load", "there is no memory at address 137573171200",
      tl_load(tl, TCM(8), KB_F32, KB_SHAPE(1)))
WRONG(a_row_behind_all, "tl_load_rows",
      "row 1, of index 1048576, is not in a memory: 64 bytes at address 4503599627370496",
      tl_load_rows(tl, 0, KB_F32, KB_SHAPE(16), INT64_C(1) << 32, ((int64_t[]){0, 1 << 20}), 2))
WRONG(a_row_over_an_end, "tl_load_rows",
      "row 0, of index 1, is not in a memory: 64 bytes at address 6442450912",
      tl_load_rows(tl, 6442450848, KB_F32, KB_SHAPE(16), 64, ((int64_t[]){1}), 1))
WRONG(a_row_in_another_memory, "tl_load_rows",
      "row 2, of index 3: bytes 3145728..3145791 of c0.slice3 (address 19330498560) were never "
      "written",
      tl_load_rows(tl, 0, KB_F32, KB_SHAPE(16), (INT64_C(6) << 30) + (1 << 20),
                   ((int64_t[]){0, 0, 3}), 3))
WRONG(a_list_after_rows, "tl_load_list",
      "bytes 1048576..1048591 of c0.slice0 (address 1048576) were never written",
      tl_load_rows(tl, 0, KB_F32, KB_SHAPE(16), 64, ((int64_t[]){0}), 1);
      tl_load(tl, 0, KB_F32, KB_SHAPE(4));
      tl_load_list(tl, ((tl_run[]){{1 << 20, 16}}), 1, KB_F32, KB_SHAPE(4)))
WRONG(a_row_in_a_tcm, "tl_load_rows", "row 1, of index 2, lies in a TCM, not in a slice or an SRAM",
      tl_load_rows(tl, 0, KB_F32, KB_SHAPE(16), INT64_C(1) << 36, ((int64_t[]){0, 2}), 2))
WRONG(composite_into_nowhere, "tl_composite", "there is no memory at address 18446744073709551615",
      tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = UINT64_MAX))
WRONG(load_misaligned, "tl_load", "address 2 is not aligned to 4 bytes",
      tl_load(tl, 2, KB_F32, KB_SHAPE(1)))
WRONG(store_misaligned, "tl_store", "address 6442450946 is not aligned to 4 bytes",
      tl_store(tl, SLICE(1) + 2, load(tl)))
WRONG(ref_misaligned, "tl_ref", "address 68719476740 is not aligned to 8 bytes",
      tl_ref(tl, SRAM + 4, KB_I64, KB_SHAPE(1)))
WRONG(composite_misaligned, "tl_composite", "address 1048578 is not aligned to 4 bytes",
      tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = (1 << 20) + 2))

#define OWN_TCM                                                                                    \
    "address 137438953472 lies in the PE's own TCM, which it uses without loads and stores"

WRONG(load_from_the_own_tcm, "tl_load", OWN_TCM, tl_load(tl, TCM(0), KB_F32, KB_SHAPE(1)))
WRONG(store_to_the_own_tcm, "tl_store", OWN_TCM, tl_store(tl, TCM(0), load(tl)))
WRONG(ref_to_the_own_tcm, "tl_ref", OWN_TCM, tl_ref(tl, TCM(0), KB_F32, KB_SHAPE(1)))
WRONG(composite_into_the_own_tcm, "tl_composite", OWN_TCM,
      tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = TCM(0)))

/* -- room in the TCM ------------------------------------------------------------------------ */

WRONG(no_room_for_a_load, "tl_load",
      "the TCM is exhausted: no 65 bytes in one piece are free of its 16777216",
      tl_alloc(tl, KB_U8, KB_SHAPE((16 << 20) - 64));
      tl_load(tl, 0, KB_U8, KB_SHAPE(65)))
WRONG(no_room_for_an_async_load, "tl_load_async",
      "the TCM is exhausted: no 16777217 bytes in one piece are free of its 16777216",
      tl_load_async(tl, 0, KB_U8, KB_SHAPE((16 << 20) + 1)))
WRONG(no_room_for_a_tensor, "tl_alloc",
      "the TCM is exhausted: no 8 bytes in one piece are free of its 16777216",
      tl_alloc(tl, KB_U8, KB_SHAPE((16 << 20) - 63));
      tl_alloc(tl, KB_F64, KB_SHAPE(1)))
WRONG(no_room_for_a_product, "tl_dot",
      "the TCM is exhausted: no 67108864 bytes in one piece are free of its 16777216",
      tl_dot(tl, tl_full(tl, KB_F32, KB_SHAPE(4096, 1), 1),
             tl_full(tl, KB_F32, KB_SHAPE(1, 4096), 1)))
WRONG(no_room_in_one_piece, "tl_neg",
      "the TCM is exhausted: no 64 bytes in one piece are free of its 16777216",
      tl_tensor *x = load(tl);
      tl_tensor *y = tl_alloc(tl, KB_U8, KB_SHAPE(32));
      tl_alloc(tl, KB_U8, KB_SHAPE((16 << 20) - 160)); tl_free(tl, y);
      tl_alloc(tl, KB_U8, KB_SHAPE(8)); tl_neg(tl, x))

/* -- shapes and types ----------------------------------------------------------------------- */

WRONG(too_many_axes, "tl_load", "a shape has 0 to 6 axes, not 7",
      tl_load(tl, 0, KB_F32, ((kb_shape){7, {1, 1, 1, 1, 1, 1}})))
WRONG(fewer_axes_than_none, "tl_alloc", "a shape has 0 to 6 axes, not -1",
      tl_alloc(tl, KB_F32, ((kb_shape){.rank = -1})))
WRONG(an_axis_of_nothing, "tl_load", "axis 1 of the shape has 0 elements",
      tl_load(tl, 0, KB_F32, KB_SHAPE(4, 0)))
WRONG(an_axis_of_less_than_nothing, "tl_reshape", "axis 0 of the shape has -4 elements",
      tl_reshape(tl, load(tl), KB_SHAPE(-4, -4)))
WRONG(an_axis_too_long, "tl_ref", "axis 0 of the shape has 4294967296 elements",
      tl_ref(tl, 0, KB_U8, KB_SHAPE(INT64_C(1) << 32)))
WRONG(a_shape_too_large, "tl_load", "the shape has more elements than any memory",
      tl_load(tl, 0, KB_U8, KB_SHAPE(1 << 20, 1 << 20)))
WRONG(a_shape_of_64_bits_and_more, "tl_ref", "the shape has more elements than any memory",
      tl_ref(tl, 0, KB_U8, KB_SHAPE(1 << 20, 1 << 19, 1 << 25)))
WRONG(full_of_too_much, "tl_full", "the shape has more elements than any memory",
      tl_full(tl, KB_U8, KB_SHAPE(1 << 20, 1 << 19, 1 << 25), 1))
WRONG(no_dtype, "tl_load", "0 is not a dtype", tl_load(tl, 0, KB_DEFAULT, KB_SHAPE(1)))
WRONG(no_such_dtype, "tl_full", "17 is not a dtype", tl_full(tl, (kb_dtype)17, KB_SHAPE(1), 0))
WRONG(cast_to_no_such_dtype, "tl_cast", "99 is not a dtype", tl_cast(tl, load(tl), (kb_dtype)99))
WRONG(reshape_to_more_elements, "tl_reshape", "[3, 6] does not hold the elements of [4, 4]",
      tl_reshape(tl, load(tl), KB_SHAPE(3, 6)))
WRONG(reshape_of_a_scalar, "tl_reshape", "a scalar has no shape",
      tl_reshape(tl, two(tl), KB_SHAPE(1)))
WRONG(reshape_of_a_load_not_waited_for, "tl_reshape", UNWAITED,
      tl_reshape(tl, load_async(tl), KB_SHAPE(16)))
WRONG(reshape_of_a_composite_under_way, "tl_reshape",
      "a tensor is reshaped before it was waited for",
      tl_reshape(tl, tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = 1 << 20), KB_SHAPE(16)))

/* -- waiting and giving back ---------------------------------------------------------------- */

WRONG(waiting_twice, "tl_wait", "it was waited for before", tl_tensor *x = load_async(tl);
      tl_wait(tl, x); tl_wait(tl, x))
WRONG(waiting_twice_for_a_store, "tl_wait", "it was waited for before",
      tl_tensor *x = tl_store_async(tl, 0, load(tl));
      tl_wait(tl, x); tl_wait(tl, x))
WRONG(waiting_for_a_load_that_waits_itself, "tl_wait", "there is nothing to wait for",
      tl_wait(tl, load(tl)))
WRONG(waiting_for_a_scalar, "tl_wait", "there is nothing to wait for", tl_wait(tl, two(tl)))
WRONG(waiting_for_a_ref, "tl_wait", "there is nothing to wait for", tl_wait(tl, ref(tl)))
WRONG(waiting_for_null, "tl_wait", NULL_TENSOR, tl_wait(tl, NULL))
WRONG(waiting_for_a_freed_tensor, "tl_wait", GIVEN_BACK, tl_wait(tl, freed(tl)))
WRONG(giving_back_a_store_that_ended_and_was_not_waited_for, "tl_free", GIVEN_BACK,
      tl_tensor *x = tl_store_async(tl, 4096, load(tl));
      for (int i = 0; i < 9; i++) load(tl); tl_free(tl, x); tl_free(tl, x))
WRONG(giving_back_twice, "tl_free", GIVEN_BACK, tl_free(tl, freed(tl)))
WRONG(giving_back_null, "tl_free", NULL_TENSOR, tl_free(tl, NULL))

#define NOT_WAITED "a tensor is given back that has not been waited for"

WRONG(giving_back_a_load_under_way, "tl_free", NOT_WAITED, tl_free(tl, load_async(tl)))
WRONG(giving_back_a_load_not_waited_for, "tl_free", NOT_WAITED, tl_tensor *x = load_async(tl);
      load(tl); load(tl); tl_free(tl, x))
WRONG(giving_back_a_store_under_way, "tl_free", NOT_WAITED,
      tl_free(tl, tl_store_async(tl, 0, load(tl))))
WRONG(releasing_a_composite_under_way, "tl_release", NOT_WAITED, uint64_t m = tl_mark(tl);
      tl_composite(tl, .a = ref(tl), .b = ref(tl), .out = 1 << 20); tl_release(tl, m))

/* -- stores --------------------------------------------------------------------------------- */

WRONG(storing_a_scalar, "tl_store", "a scalar cannot be stored, make a tensor of it by tl_full()",
      tl_store(tl, 0, two(tl)))
WRONG(storing_a_ref, "tl_store", "an operand lies at address 0, not in the TCM: load it first",
      tl_store(tl, 4096, ref(tl)))
WRONG(storing_a_load_not_waited_for, "tl_store", UNWAITED, tl_store(tl, 0, load_async(tl)))
WRONG(storing_null, "tl_store_async", NULL_TENSOR, tl_store_async(tl, 0, NULL))
WRONG(storing_a_freed_tensor, "tl_store", GIVEN_BACK, tl_store(tl, 0, freed(tl)))

/* -- products ------------------------------------------------------------------------------- */

WRONG(product_of_a_vector, "tl_dot", "the operands of a product are matrices",
      tl_dot(tl, tl_reshape(tl, load(tl), KB_SHAPE(16)), load(tl)))
WRONG(product_of_a_scalar, "tl_dot", "the operands of a product are matrices",
      tl_dot(tl, load(tl), two(tl)))
WRONG(product_of_two_types, "tl_dot", "operands of f32 and i32", tl_dot(tl, load(tl), load_i32(tl)))
WRONG(product_that_does_not_fit, "tl_dot", "shapes [4, 4] and [2, 8] do not fit",
      tl_dot(tl, load(tl), tl_reshape(tl, load(tl), KB_SHAPE(2, 8))))
WRONG(product_that_does_not_fit_transposed, "tl_dot",
      "shapes [2, 8] transposed and [4, 4] transposed do not fit",
      tl_dot(tl, tl_reshape(tl, load(tl), KB_SHAPE(2, 8)), load(tl), .transpose_a = true,
             .transpose_b = true))
WRONG(product_of_bools, "tl_dot", "a product of bool is not defined",
      tl_dot(tl, bools(tl), bools(tl)))
WRONG(product_of_floats_as_ints, "tl_dot", "a product of f32 cannot be i32",
      tl_dot(tl, load(tl), load(tl), .dtype_out = KB_I32))
WRONG(product_of_ints_as_bool, "tl_dot", "a product of i32 cannot be bool",
      tl_dot(tl, load_i32(tl), load_i32(tl), .dtype_out = KB_BOOL))
WRONG(product_in_a_wrong_accumulator, "tl_dot", "f32 is accumulated in f32, not in f64",
      tl_dot(tl, load(tl), load(tl), .dtype_acc = KB_F64))
WRONG(product_of_ints_in_a_wrong_accumulator, "tl_dot", "i32 is accumulated in i32, not in i64",
      tl_dot(tl, load_i32(tl), load_i32(tl), .dtype_acc = KB_I64))
WRONG(product_of_f64_in_a_wrong_accumulator, "tl_dot", "f64 is accumulated in f64, not in f32",
      tl_tensor *x = tl_cast(tl, load(tl), KB_F64);
      tl_dot(tl, x, x, .dtype_acc = KB_F32))
WRONG(product_in_no_such_accumulator, "tl_dot", "dtype_acc or dtype_out is not a dtype",
      tl_dot(tl, load(tl), load(tl), .dtype_acc = (kb_dtype)77))
WRONG(product_with_a_vector, "tl_dot", "the operands of a product are matrices",
      tl_dot(tl, load(tl), tl_reshape(tl, load(tl), KB_SHAPE(16))))
WRONG(product_of_no_such_type, "tl_dot", "dtype_acc or dtype_out is not a dtype",
      tl_dot(tl, load(tl), load(tl), .dtype_out = (kb_dtype)77))
WRONG(product_of_a_load_not_waited_for, "tl_dot", UNWAITED, tl_dot(tl, load(tl), load_async(tl)))
WRONG(product_of_a_ref, "tl_dot", "an operand lies at address 0, not in the TCM: load it first",
      tl_dot(tl, ref(tl), load(tl)))
WRONG(product_of_null, "tl_dot", NULL_TENSOR, tl_dot(tl, load(tl), NULL))

/* -- math ----------------------------------------------------------------------------------- */

WRONG(shapes_that_do_not_broadcast, "tl_add", "shape [2, 8] does not broadcast with the others",
      tl_add(tl, load(tl), tl_reshape(tl, load(tl), KB_SHAPE(2, 8))))
WRONG(three_shapes_that_do_not_broadcast, "tl_where",
      "shape [8, 2] does not broadcast with the others",
      tl_where(tl, bools(tl), two(tl), tl_reshape(tl, load(tl), KB_SHAPE(8, 2))))
WRONG(sum_of_two_types, "tl_add", "operands of f32 and i32", tl_add(tl, load(tl), load_i32(tl)))
WRONG(sum_of_scalars, "tl_add", "add needs a tensor among its operands",
      tl_add(tl, two(tl), two(tl)))
WRONG(a_choice_between_scalars, "tl_where", "where needs a tensor among its operands",
      tl_where(tl, bools(tl), two(tl), two(tl)))
WRONG(a_condition_that_is_none, "tl_where", "the condition is not a bool tensor",
      tl_where(tl, load(tl), load(tl), load(tl)))
WRONG(a_condition_that_is_a_scalar, "tl_where", "the condition is not a bool tensor",
      tl_where(tl, two(tl), load(tl), load(tl)))
WRONG(bool_arithmetic, "tl_mul", "mul does not take bool", tl_mul(tl, bools(tl), two(tl)))
WRONG(argmax_of_bools, "tl_argmax", "argmax does not take bool", tl_argmax(tl, bools(tl), 0, false))
WRONG(exp_of_ints, "tl_exp", "exp takes floats, not i32", tl_exp(tl, load_i32(tl)))
WRONG(fma_of_ints, "tl_fma", "fma takes floats, not i32",
      tl_fma(tl, load_i32(tl), two(tl), two(tl)))
WRONG(mean_of_ints, "tl_mean", "mean takes floats, not i32", tl_mean(tl, load_i32(tl), 0, true))
WRONG(softmax_of_ints, "tl_softmax", "softmax takes floats, not i32",
      tl_softmax(tl, load_i32(tl), 0))
WRONG(math_without_an_operand, "tl_fma", NULL_TENSOR, tl_fma(tl, load(tl), load(tl), NULL))
WRONG(math_on_a_freed_tensor, "tl_neg", GIVEN_BACK, tl_neg(tl, freed(tl)))
WRONG(math_on_a_load_not_waited_for, "tl_sub", UNWAITED, tl_sub(tl, load(tl), load_async(tl)))
WRONG(math_on_a_ref, "tl_abs", "an operand lies at address 0, not in the TCM: load it first",
      tl_abs(tl, ref(tl)))
WRONG(cast_of_a_scalar, "tl_cast", "cast needs a tensor", tl_cast(tl, two(tl), KB_F16))
WRONG(sum_of_a_scalar, "tl_max", "max needs a tensor", tl_max(tl, two(tl), 0, false))
WRONG(an_axis_behind_the_last, "tl_sum", "axis 2 is none of shape [4, 4]",
      tl_sum(tl, load(tl), 2, false))
WRONG(an_axis_before_the_first, "tl_softmax", "axis -3 is none of shape [4, 4]",
      tl_softmax(tl, load(tl), -3))
WRONG(softmax_over_all_axes, "tl_softmax", "axis -1000 is none of shape [4, 4]",
      tl_softmax(tl, load(tl), TL_ALL_AXES))
WRONG(an_axis_of_one_element, "tl_argmax", "axis 0 is none of shape []",
      tl_argmax(tl, tl_sum(tl, load(tl), TL_ALL_AXES, false), 0, false))
WRONG(transpose_of_a_vector, "tl_transpose", "shape [16] has no two axes",
      tl_transpose(tl, tl_reshape(tl, load(tl), KB_SHAPE(16))))
WRONG(arange_of_nothing, "tl_arange", "axis 0 of the shape has 0 elements",
      tl_arange(tl, KB_F32, 0, 0, 1))
WRONG(arange_of_less_than_nothing, "tl_arange", "axis 0 of the shape has -5 elements",
      tl_arange(tl, KB_F32, -5, 0, 1))
WRONG(arange_of_bools, "tl_arange", "arange does not take bool", tl_arange(tl, KB_BOOL, 2, 0, 1))
WRONG(an_operation_that_is_none, "tl_math_at", "operation 200 is not elementwise",
      tl_math_at(TL_HERE, (tl_op)200, tl, load(tl), NULL, NULL))
WRONG(an_operation_below_all, "tl_math_at", "operation -1 is not elementwise",
      tl_math_at(TL_HERE, (tl_op)-1, tl, load(tl), NULL, NULL))
WRONG(a_product_as_math, "tl_math_at", "operation 0 is not elementwise",
      tl_math_at(TL_HERE, TL_GEMM, tl, load(tl), load(tl), NULL))
WRONG(a_reduction_as_elementwise, "tl_sum", "operation 26 is not elementwise",
      tl_math_at(TL_HERE, TL_SUM, tl, load(tl), NULL, NULL))
WRONG(an_elementwise_operation_as_a_reduction, "tl_add", "operation 1 does not reduce",
      tl_reduce_at(TL_HERE, TL_ADD, tl, load(tl), 0, false))

/* A broadcast of little to 2^66 bytes. */
static tl_tensor *long_axis(tl_ctx *tl, int axis)
{
    kb_shape shape = KB_SHAPE(1, 1, 1);

    shape.dim[axis] = 1 << 22;
    return tl_full(tl, KB_U8, shape, 1);
}

WRONG(a_result_of_64_bits_and_more, "tl_clamp",
      "the result [4194304, 4194304, 4194304] has more bytes than any memory",
      tl_clamp(tl, long_axis(tl, 0), long_axis(tl, 1), long_axis(tl, 2)))

/* -- composites ----------------------------------------------------------------------------- */

#define GEMM .a = ref(tl), .b = ref(tl), .out = 1 << 20

WRONG(composite_of_shapes_that_do_not_fit, "tl_composite", "shapes [4, 4] and [2, 8] do not fit",
      tl_composite(tl, .a = ref(tl), .b = tl_ref(tl, 0, KB_F32, KB_SHAPE(2, 8)), .out = 1 << 20))
WRONG(composite_of_two_types, "tl_composite", "operands of f32 and i32",
      tl_composite(tl, .a = ref(tl), .b = load_i32(tl), .out = 1 << 20))
WRONG(composite_of_null, "tl_composite", NULL_TENSOR,
      tl_composite(tl, .a = ref(tl), .out = 1 << 20))
WRONG(composite_of_a_load_not_waited_for, "tl_composite", UNWAITED,
      tl_composite(tl, .a = load_async(tl), .b = ref(tl), .out = 1 << 20))
WRONG(composite_of_a_scalar, "tl_composite", "the operands of a product are matrices",
      tl_composite(tl, .a = two(tl), .b = ref(tl), .out = 1 << 20))
WRONG(composite_beyond_64_bits, "tl_composite",
      "the result [2147483648, 2147483648] has more bytes than any memory",
      tl_composite(tl, .a = tl_ref(tl, 0, KB_I8, KB_SHAPE(INT64_C(1) << 31, 1)),
                   .b = tl_ref(tl, 0, KB_I8, KB_SHAPE(1, INT64_C(1) << 31)), .out = 1 << 20))
WRONG(composite_of_an_operation_that_is_none, "tl_composite",
      "a composite is a GEMM or an elementwise operation", tl_composite(tl, GEMM, .op = (tl_op)-1))
WRONG(composite_of_a_reduction, "tl_composite", "a composite is a GEMM or an elementwise operation",
      tl_composite(tl, GEMM, .op = TL_SUM))
WRONG(composite_of_two_shapes, "tl_composite",
      "operands of shapes [4, 4] and [16]: those of a composite are equal",
      tl_composite(tl, .op = TL_ADD, .a = ref(tl), .b = tl_ref(tl, 0, KB_F32, KB_SHAPE(16)),
                   .out = 1 << 20))
WRONG(composite_of_scalars, "tl_composite", "mul needs a tensor among its operands",
      tl_composite(tl, .op = TL_MUL, .a = two(tl), .b = two(tl), .out = 1 << 20))
WRONG(composite_without_an_operand, "tl_composite", NULL_TENSOR,
      tl_composite(tl, .op = TL_ADD, .a = ref(tl), .out = 1 << 20))
WRONG(composite_with_bools, "tl_composite", "neg does not take bool",
      tl_composite(tl, .op = TL_NEG, .a = bools(tl), .out = 1 << 20))
WRONG(composite_with_a_false_condition, "tl_composite", "the condition is not a bool tensor",
      tl_composite(tl, .op = TL_WHERE, .a = ref(tl), .b = ref(tl), .c = ref(tl), .out = 1 << 20))
WRONG(composite_of_too_many_rows, "tl_composite",
      "shape [65536, 65536, 1] has more than 4294967295 rows",
      tl_composite(tl, .op = TL_NEG, .a = tl_ref(tl, 0, KB_U8, KB_SHAPE(65536, 65536, 1)),
                   .out = SLICE(1)))
WRONG(math_with_an_epilogue, "tl_composite", "only a GEMM has epilogues",
      tl_composite(tl, .op = TL_NEG, .a = ref(tl), .out = 1 << 20, .epilogue = {{.op = TL_NEG}}))

#define NO_EPILOGUE "an epilogue is an elementwise operation that keeps the type"

WRONG(epilogue_that_compares, "tl_composite", NO_EPILOGUE,
      tl_composite(tl, GEMM, .epilogue = {{TL_LT, two(tl), NULL}}))
WRONG(epilogue_that_chooses, "tl_composite", NO_EPILOGUE,
      tl_composite(tl, GEMM, .epilogue = {{TL_WHERE, two(tl), two(tl)}}))
WRONG(epilogue_that_reduces, "tl_composite", NO_EPILOGUE,
      tl_composite(tl, GEMM, .epilogue = {{.op = TL_NEG}, {.op = TL_SUM}}))
WRONG(epilogue_that_is_none, "tl_composite", NO_EPILOGUE,
      tl_composite(tl, GEMM, .epilogue = {{.op = (tl_op)1000}}))
WRONG(epilogue_below_all, "tl_composite", NO_EPILOGUE,
      tl_composite(tl, GEMM, .epilogue = {{.op = (tl_op)-2}}))
WRONG(epilogue_without_its_operand, "tl_composite",
      "epilogue clamp takes 2 operands besides the accumulator",
      tl_composite(tl, GEMM, .epilogue = {{TL_CLAMP, two(tl), NULL}}))
WRONG(epilogue_with_two_tensors, "tl_composite",
      "epilogue fma has two tensors; one is read with a tile",
      tl_composite(tl, GEMM, .epilogue = {{TL_FMA, load(tl), load(tl)}}))
WRONG(epilogue_of_another_type, "tl_composite", "an epilogue's operand is i32, not f32",
      tl_composite(tl, GEMM, .epilogue = {{TL_ADD, load_i32(tl), NULL}}))
WRONG(epilogue_of_another_shape, "tl_composite",
      "an epilogue's operand [16] does not broadcast to [4, 4]",
      tl_composite(tl, GEMM, .epilogue = {{TL_ADD, tl_reshape(tl, load(tl), KB_SHAPE(16)), NULL}}))
WRONG(epilogue_of_too_many_axes, "tl_composite",
      "an epilogue's operand [1, 4, 4] does not broadcast to [4, 4]",
      tl_composite(tl, GEMM,
                   .epilogue = {{TL_ADD, tl_reshape(tl, load(tl), KB_SHAPE(1, 4, 4)), NULL}}))
WRONG(epilogue_of_a_ref, "tl_composite",
      "an operand lies at address 0, not in the TCM: load it first",
      tl_composite(tl, GEMM, .epilogue = {{TL_ADD, ref(tl), NULL}}))
WRONG(epilogue_of_ints_that_takes_floats, "tl_composite", "exp takes floats, not i32",
      tl_composite(tl, .a = load_i32(tl), .b = load_i32(tl), .out = 1 << 20,
                   .epilogue = {{.op = TL_EXP}}))

/* -- where am I ----------------------------------------------------------------------------- */

WRONG(a_fourth_axis_of_programs, "tl_program_id", "axis 3 is none of 0, 1, 2", tl_program_id(tl, 3))
WRONG(an_axis_of_programs_below_0, "tl_num_programs", "axis -1 is none of 0, 1, 2",
      tl_num_programs(tl, -1))
WRONG(a_mistake_of_its_own, "tl_fail", "the index is 100 %s", tl_fail(tl, "the index is 100 %s"))
WRONG(a_mistake_without_words, "tl_fail", "", tl_fail(tl, NULL))

/* -- what is another PE's ------------------------------------------------------------------- */

static tl_ctx *of_pe_1;
static tl_tensor *made_by_pe_1;

/* PE 1 tells what it has made, and PE 0 uses it. */
static bool told_by_pe_1(tl_ctx *tl)
{
    if (tl_pe(tl) == 1) {
        of_pe_1 = tl;
        made_by_pe_1 = tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(4, 4));
        for (int i = 0; i < 10; i++)
            load(tl);
        return true;
    }
    for (int i = 0; i < 4; i++)
        load(tl);
    return false;
}

#define ANOTHERS "a tensor belongs to another PE"

#define WRONG_WITH_ANOTHERS(name, call, reason, ...)                                               \
    static void name##_kernel(tl_ctx *tl, const kb_args *args)                                     \
    {                                                                                              \
        if (told_by_pe_1(tl))                                                                      \
            return;                                                                                \
        *(int *)(uintptr_t)args->user = __LINE__;                                                  \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_mistake(name##_kernel, call, reason);                                               \
    }

WRONG_WITH_ANOTHERS(giving_back_another_pes_tensor, "tl_free", ANOTHERS, tl_free(tl, made_by_pe_1))
WRONG_WITH_ANOTHERS(waiting_for_another_pes_tensor, "tl_wait", ANOTHERS, tl_wait(tl, made_by_pe_1))
WRONG_WITH_ANOTHERS(math_on_another_pes_tensor, "tl_neg", ANOTHERS, tl_neg(tl, made_by_pe_1))
WRONG_WITH_ANOTHERS(data_of_another_pes_tensor, "tl_data", ANOTHERS, tl_data(tl, made_by_pe_1))
WRONG_WITH_ANOTHERS(a_call_in_another_pes_name, "tl_mark",
                    "the kernel is not the one that this tl_ctx was given to", tl_mark(of_pe_1))

/* -- the run -------------------------------------------------------------------------------- */

static void endless(tl_ctx *tl, const kb_args *args)
{
    for (*(int *)(uintptr_t)args->user = __LINE__ + 1;;)
        tl_load(tl, 0, KB_F32, KB_SHAPE(4));
}

/* --max-events is there for kernels that never end. */
static void a_kernel_that_never_ends(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.max_events = 1000});
    kb_error why = {""};
    char text[512];
    int line = 0;

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, endless, &line, 3, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    snprintf(text, sizeof text,
             "kernel test on c0.pe0: tl_load at %s:%d: the kernel has not ended after 1000 events",
             __FILE__, line);
    assert_string_equal(why.text, text);
    assert_ends(sim, KB_KERNEL_ERROR, text);
    kb_sim_free(sim);
}

static void one_command(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_full(tl, KB_F32, KB_SHAPE(4), 1);
}

/* As many events as a kernel needs do not end it. */
static void max_events_is_reached_and_not_passed(void **state)
{
    uint64_t n = 0;
    kb_status status = KB_KERNEL_ERROR;

    (void)state;
    for (; status == KB_KERNEL_ERROR && n < 100; n++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.max_events = n + 1});
        kb_error why = {""};

        assert_int_equal(launch(sim, one_command, NULL, 1, &why), KB_OK);
        status = kb_sim_run(sim, 0, &why);
        kb_sim_free(sim);
    }
    assert_int_equal(status, KB_OK);
    assert_int_equal(n, 5); /* engine and STORE, each arrives and ends; then it goes on */
}

#ifndef SANITIZED
static int fall(int depth)
{
    volatile char room[1024];

    room[depth % 1024] = (char)depth;
    return depth > 1 << 30 ? 0 : fall(depth + 1) + room[depth % 1024];
}

static int falls_line; /* of its last call */

static void falls(tl_ctx *tl, const kb_args *args)
{
    volatile int sum;

    (void)args;
    load(tl);
    falls_line = __LINE__ + 1;
    tl_mark(tl);
    sum = fall(0);
    (void)sum;
}
#endif

/* A frame larger than stack and guard: the call is made far below both, on another PE's stack. */
static __attribute__((noinline)) int64_t call_far_below(tl_ctx *tl)
{
    volatile char frame[600000];

    __asm__ volatile("" : : "r"(frame)); /* all of it is needed */
    frame[sizeof frame - 1] = 1;
    return tl_program_id(tl, 0) + frame[sizeof frame - 1];
}

static void jumps(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_full(tl, KB_F32, KB_SHAPE(1), 0); /* all have a stack by then */
    if (tl_pe(tl) == 5)
        call_far_below(tl);
}

static void a_frame_that_jumps_over_the_guard(void **state)
{
#ifdef SANITIZED
    (void)state;
    skip();
#else
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, jumps, NULL, 0, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "kernel test on c0.pe5: tl_program_id at "));
    assert_non_null(strstr(why.text, ": stack overflow"));
    kb_sim_free(sim);
#endif
}

static void a_stack_that_overflows(void **state)
{
#ifdef SANITIZED
    (void)state;
    skip();
#else
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};
    char text[256];

    (void)state;
    assert_true(kb_catch_overflow());
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, falls, NULL, 2, &why), KB_OK);
    kb_sim_run(sim, 0, NULL);
    snprintf(text, sizeof text, "kernel test on c0.pe0: stack overflow, last call tl_mark at %s:%d",
             __FILE__, falls_line);
    assert_ends(sim, KB_KERNEL_ERROR, text);
    kb_sim_free(sim);
#endif
}

static int *volatile nowhere = (int *)64;

static void crashes(tl_ctx *tl, const kb_args *args)
{
    *(int *)(uintptr_t)args->user = __LINE__ + 1;
    if (tl_program_id(tl, 0) == 5)
        *nowhere = 1;
}

/* In a process of its own: what the handlers were is not given back. */
static void a_crash_is_a_status_if_asked_for(void **state)
{
    (void)state;
#ifdef SANITIZED
    skip();
#else
    int status;
    pid_t child = fork();

    if (child == 0) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        kb_error why = {""};
        char text[256];
        int line = 0;

        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
        if (!kb_catch_crashes() || launch(sim, crashes, &line, 0, &why) != KB_OK ||
            kb_sim_run(sim, 0, &why) != KB_KERNEL_CRASHED)
            _exit(1);
        snprintf(text, sizeof text,
                 "kernel test on c0.pe5: crashed by an access to address 0x40 (SIGSEGV), last call "
                 "tl_program_id at %s:%d",
                 __FILE__, line);
        if (strcmp(why.text, text) != 0)
            _exit(2);
        *nowhere = 1; /* outside of kernels all is as it was */
        _exit(3);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#endif
}

static void takes_all_memory(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_alloc_host(tl, SIZE_MAX - 7);
}

static void more_memory_than_there_is(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, takes_all_memory, NULL, 2, &why), KB_OK);
    assert_ends(sim, KB_NO_MEMORY, "out of memory while kernels ran");
    kb_sim_free(sim);
}

static void fails_late(tl_ctx *tl, const kb_args *args)
{
    *(int *)(uintptr_t)args->user = __LINE__ + 2;
    if (tl_program_id(tl, 2) == 1 && tl_program_id(tl, 1) == 2 && tl_program_id(tl, 0) == 3)
        tl_fail(tl, "late");
}

/* The PE that made the mistake is named, also on another SIP. */
static void the_pe_is_named(void **state)
{
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    int line = 0;
    kb_launch_request r = {.name = "a_name", .kernel = fails_late, .args.user = &line};
    kb_error why = {""};
    char text[512];

    (void)state;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    snprintf(text, sizeof text, "kernel a_name on s1.c2.pe3: tl_fail at %s:%d: late", __FILE__,
             line);
    assert_ends(sim, KB_KERNEL_ERROR, text);
    kb_sim_free(sim);
}

static void fails(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_fail(tl, "now");
}

static void returns(tl_ctx *tl, const kb_args *args)
{
    (void)tl;
    (void)args;
}

/* What ran before a mistake stays; what would come after it does not run. */
/* A kernel that asks the library for what only its host may do. */
static void meddles(tl_ctx *tl, const kb_args *args)
{
    kb_sim *sim = (kb_sim *)(uintptr_t)args->user;
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_tensor *x;
    kb_error why = {""};

    (void)tl;
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "a kernel cannot run the simulation that runs it");
    assert_int_equal(kb_tensor_new(sim, "x", KB_F16, KB_SHAPE(2), copies, &x, &why),
                     KB_BAD_REQUEST);
    assert_string_equal(why.text, "a launch is under way");
    assert_int_equal(kb_compute(sim, NULL, &why), KB_BAD_REQUEST);
}

static void a_kernel_cannot_do_what_its_host_does(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, meddles, sim, 0, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    kb_sim_free(sim);
}

static void launches_before_a_mistake_stay(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_launch_result r;
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, returns, NULL, 0, &why), KB_OK);
    assert_int_equal(launch(sim, fails, NULL, 0, &why), KB_OK);
    assert_int_equal(launch(sim, returns, NULL, 0, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_int_equal(launch(sim, returns, NULL, 0, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "the simulation has ended");
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_int_equal(kb_launch_count(sim), 3);
    assert_int_equal(kb_launch_done(sim), 1);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_int_equal(kb_launch_get(sim, 1, &r), KB_PENDING);
    assert_int_equal(kb_launch_get(sim, 2, &r), KB_PENDING);
    assert_int_equal(kb_launch_get(sim, 4, &r), KB_BAD_REQUEST);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_of_a_result),
        cmocka_unit_test(an_element_of_a_result),
        cmocka_unit_test(data_of_a_composite),
        cmocka_unit_test(data_of_a_result_that_was_stored),
        cmocka_unit_test(data_that_are_pending_in_part),
        cmocka_unit_test(data_not_waited_for),
        cmocka_unit_test(data_of_a_scalar),
        cmocka_unit_test(data_of_a_ref),
        cmocka_unit_test(data_of_a_store),
        cmocka_unit_test(data_that_were_not_written),
        cmocka_unit_test(data_of_null),
        cmocka_unit_test(data_of_a_freed_tensor),
        cmocka_unit_test(an_element_past_the_end),
        cmocka_unit_test(an_element_before_the_first),
        cmocka_unit_test(load_of_bytes_never_written),
        cmocka_unit_test(load_of_bytes_in_part_never_written),
        cmocka_unit_test(load_of_sram_never_written),
        cmocka_unit_test(load_of_a_tcm_never_written),
        cmocka_unit_test(load_async_of_bytes_never_written),
        cmocka_unit_test(strides_to_bytes_never_written),
        cmocka_unit_test(ref_of_bytes_never_written),
        cmocka_unit_test(operand_that_was_not_written),
        cmocka_unit_test(load_from_two_slices),
        cmocka_unit_test(store_to_two_slices),
        cmocka_unit_test(composite_of_shapes_that_differ),
        cmocka_unit_test(composite_into_two_slices),
        cmocka_unit_test(ref_past_the_end_of_a_sram),
        cmocka_unit_test(store_past_the_end_of_a_tcm),
        cmocka_unit_test(strides_past_the_end),
        cmocka_unit_test(strides_past_any_memory),
        cmocka_unit_test(strides_past_64_bits),
        cmocka_unit_test(a_negative_stride),
        cmocka_unit_test(an_odd_stride),
        cmocka_unit_test(no_such_sip),
        cmocka_unit_test(no_such_cube),
        cmocka_unit_test(no_such_region),
        cmocka_unit_test(no_such_tcm),
        cmocka_unit_test(a_row_behind_all),
        cmocka_unit_test(a_row_over_an_end),
        cmocka_unit_test(a_row_in_another_memory),
        cmocka_unit_test(a_list_after_rows),
        cmocka_unit_test(a_row_in_a_tcm),
        cmocka_unit_test(composite_into_nowhere),
        cmocka_unit_test(load_misaligned),
        cmocka_unit_test(store_misaligned),
        cmocka_unit_test(ref_misaligned),
        cmocka_unit_test(composite_misaligned),
        cmocka_unit_test(load_from_the_own_tcm),
        cmocka_unit_test(store_to_the_own_tcm),
        cmocka_unit_test(ref_to_the_own_tcm),
        cmocka_unit_test(composite_into_the_own_tcm),
        cmocka_unit_test(no_room_for_a_load),
        cmocka_unit_test(no_room_for_an_async_load),
        cmocka_unit_test(no_room_for_a_tensor),
        cmocka_unit_test(no_room_for_a_product),
        cmocka_unit_test(no_room_in_one_piece),
        cmocka_unit_test(too_many_axes),
        cmocka_unit_test(fewer_axes_than_none),
        cmocka_unit_test(an_axis_of_nothing),
        cmocka_unit_test(an_axis_of_less_than_nothing),
        cmocka_unit_test(an_axis_too_long),
        cmocka_unit_test(a_shape_too_large),
        cmocka_unit_test(a_shape_of_64_bits_and_more),
        cmocka_unit_test(full_of_too_much),
        cmocka_unit_test(no_dtype),
        cmocka_unit_test(no_such_dtype),
        cmocka_unit_test(cast_to_no_such_dtype),
        cmocka_unit_test(reshape_to_more_elements),
        cmocka_unit_test(reshape_of_a_scalar),
        cmocka_unit_test(reshape_of_a_load_not_waited_for),
        cmocka_unit_test(reshape_of_a_composite_under_way),
        cmocka_unit_test(waiting_twice),
        cmocka_unit_test(waiting_twice_for_a_store),
        cmocka_unit_test(waiting_for_a_load_that_waits_itself),
        cmocka_unit_test(waiting_for_a_scalar),
        cmocka_unit_test(waiting_for_a_ref),
        cmocka_unit_test(waiting_for_null),
        cmocka_unit_test(waiting_for_a_freed_tensor),
        cmocka_unit_test(giving_back_a_store_that_ended_and_was_not_waited_for),
        cmocka_unit_test(giving_back_twice),
        cmocka_unit_test(giving_back_null),
        cmocka_unit_test(giving_back_a_load_under_way),
        cmocka_unit_test(giving_back_a_load_not_waited_for),
        cmocka_unit_test(giving_back_a_store_under_way),
        cmocka_unit_test(releasing_a_composite_under_way),
        cmocka_unit_test(storing_a_scalar),
        cmocka_unit_test(storing_a_ref),
        cmocka_unit_test(storing_a_load_not_waited_for),
        cmocka_unit_test(storing_null),
        cmocka_unit_test(storing_a_freed_tensor),
        cmocka_unit_test(product_of_a_vector),
        cmocka_unit_test(product_of_a_scalar),
        cmocka_unit_test(product_of_two_types),
        cmocka_unit_test(product_that_does_not_fit),
        cmocka_unit_test(product_that_does_not_fit_transposed),
        cmocka_unit_test(product_of_bools),
        cmocka_unit_test(product_of_floats_as_ints),
        cmocka_unit_test(product_of_ints_as_bool),
        cmocka_unit_test(product_in_a_wrong_accumulator),
        cmocka_unit_test(product_of_ints_in_a_wrong_accumulator),
        cmocka_unit_test(product_of_f64_in_a_wrong_accumulator),
        cmocka_unit_test(product_in_no_such_accumulator),
        cmocka_unit_test(product_with_a_vector),
        cmocka_unit_test(product_of_no_such_type),
        cmocka_unit_test(product_of_a_load_not_waited_for),
        cmocka_unit_test(product_of_a_ref),
        cmocka_unit_test(product_of_null),
        cmocka_unit_test(shapes_that_do_not_broadcast),
        cmocka_unit_test(three_shapes_that_do_not_broadcast),
        cmocka_unit_test(sum_of_two_types),
        cmocka_unit_test(sum_of_scalars),
        cmocka_unit_test(a_choice_between_scalars),
        cmocka_unit_test(a_condition_that_is_none),
        cmocka_unit_test(a_condition_that_is_a_scalar),
        cmocka_unit_test(bool_arithmetic),
        cmocka_unit_test(argmax_of_bools),
        cmocka_unit_test(exp_of_ints),
        cmocka_unit_test(fma_of_ints),
        cmocka_unit_test(mean_of_ints),
        cmocka_unit_test(softmax_of_ints),
        cmocka_unit_test(math_without_an_operand),
        cmocka_unit_test(math_on_a_freed_tensor),
        cmocka_unit_test(math_on_a_load_not_waited_for),
        cmocka_unit_test(math_on_a_ref),
        cmocka_unit_test(cast_of_a_scalar),
        cmocka_unit_test(sum_of_a_scalar),
        cmocka_unit_test(an_axis_behind_the_last),
        cmocka_unit_test(an_axis_before_the_first),
        cmocka_unit_test(softmax_over_all_axes),
        cmocka_unit_test(an_axis_of_one_element),
        cmocka_unit_test(transpose_of_a_vector),
        cmocka_unit_test(arange_of_nothing),
        cmocka_unit_test(arange_of_less_than_nothing),
        cmocka_unit_test(arange_of_bools),
        cmocka_unit_test(an_operation_that_is_none),
        cmocka_unit_test(an_operation_below_all),
        cmocka_unit_test(a_product_as_math),
        cmocka_unit_test(a_reduction_as_elementwise),
        cmocka_unit_test(an_elementwise_operation_as_a_reduction),
        cmocka_unit_test(a_result_of_64_bits_and_more),
        cmocka_unit_test(composite_of_shapes_that_do_not_fit),
        cmocka_unit_test(composite_of_two_types),
        cmocka_unit_test(composite_of_null),
        cmocka_unit_test(composite_of_a_load_not_waited_for),
        cmocka_unit_test(composite_of_a_scalar),
        cmocka_unit_test(composite_beyond_64_bits),
        cmocka_unit_test(composite_of_an_operation_that_is_none),
        cmocka_unit_test(composite_of_a_reduction),
        cmocka_unit_test(composite_of_two_shapes),
        cmocka_unit_test(composite_of_scalars),
        cmocka_unit_test(composite_without_an_operand),
        cmocka_unit_test(composite_with_bools),
        cmocka_unit_test(composite_with_a_false_condition),
        cmocka_unit_test(composite_of_too_many_rows),
        cmocka_unit_test(math_with_an_epilogue),
        cmocka_unit_test(epilogue_that_compares),
        cmocka_unit_test(epilogue_that_chooses),
        cmocka_unit_test(epilogue_that_reduces),
        cmocka_unit_test(epilogue_that_is_none),
        cmocka_unit_test(epilogue_below_all),
        cmocka_unit_test(epilogue_without_its_operand),
        cmocka_unit_test(epilogue_with_two_tensors),
        cmocka_unit_test(epilogue_of_another_type),
        cmocka_unit_test(epilogue_of_another_shape),
        cmocka_unit_test(epilogue_of_too_many_axes),
        cmocka_unit_test(epilogue_of_a_ref),
        cmocka_unit_test(epilogue_of_ints_that_takes_floats),
        cmocka_unit_test(a_fourth_axis_of_programs),
        cmocka_unit_test(an_axis_of_programs_below_0),
        cmocka_unit_test(a_mistake_of_its_own),
        cmocka_unit_test(a_mistake_without_words),
        cmocka_unit_test(giving_back_another_pes_tensor),
        cmocka_unit_test(waiting_for_another_pes_tensor),
        cmocka_unit_test(math_on_another_pes_tensor),
        cmocka_unit_test(data_of_another_pes_tensor),
        cmocka_unit_test(a_call_in_another_pes_name),
        cmocka_unit_test(a_kernel_that_never_ends),
        cmocka_unit_test(max_events_is_reached_and_not_passed),
        cmocka_unit_test(a_stack_that_overflows),
        cmocka_unit_test(a_crash_is_a_status_if_asked_for),
        cmocka_unit_test(a_frame_that_jumps_over_the_guard),
        cmocka_unit_test(more_memory_than_there_is),
        cmocka_unit_test(the_pe_is_named),
        cmocka_unit_test(launches_before_a_mistake_stay),
        cmocka_unit_test(a_kernel_cannot_do_what_its_host_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
