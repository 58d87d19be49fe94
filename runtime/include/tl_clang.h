/* tl_clang.h -- the calls of tl.h and tl_math.h once more, for clang; included by tl.h alone.
 *
 * In a macro with arguments __LINE__ is the line of the macro's name for gcc, and the line of the
 * closing parenthesis for clang. A call over several lines would have another line with each of
 * them, and lines are in results. So for clang the name alone is a macro: it writes the call up to
 * its place, and the arguments that follow are those of a second macro, which closes the
 * parenthesis. `tl_get(tl, x, 3)` becomes `tl_get_at(` TL_HERE `,` and `tl, x, 3)`. (gcc would give
 * the line of the outer call to one among its arguments.)
 */
#ifndef TL_CLANG_H
#define TL_CLANG_H

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmacro-redefined"

#define TL_BEGIN(function)  function(TL_HERE,
#define TL_END(...)         __VA_ARGS__)
#define TL_END_NULL(...)    __VA_ARGS__, NULL)
#define TL_END_NULLS(...)   __VA_ARGS__, NULL, NULL)
#define TL_END_FALSE(...)   __VA_ARGS__, false)
#define TL_END_TRUE(...)    __VA_ARGS__, true)
#define TL_END_PLAIN(...)   __VA_ARGS__, NULL, false)
#define TL_END_ASYNC(...)   __VA_ARGS__, NULL, true)
#define TL_END_DOT(tl, a, b, ...)  tl, a, b, TL_DOT_OPTIONS(__VA_ARGS__))
#define TL_END_DOT_ACC(tl, acc, a, b, ...) tl, acc, a, b, TL_DOT_OPTIONS(__VA_ARGS__))
#define TL_END_ACC_STORE(tl, acc, dtype, ...) tl, acc, dtype, TL_EPILOGUES(__VA_ARGS__))
#ifdef __cplusplus
#define TL_END_COMPOSITE(tl, ...)  tl, tl_composite_args{__VA_ARGS__})
#else
#define TL_END_COMPOSITE(tl, ...)  tl, (tl_composite_args){__VA_ARGS__})
#endif
#ifdef __cplusplus
#define TL_END_FUSED(tl, ...)  tl, tl_fused_args{__VA_ARGS__})
#else
#define TL_END_FUSED(tl, ...)  tl, (tl_fused_args){__VA_ARGS__})
#endif
#define TL_MATH(op)   TL_BEGIN(tl_math_at) op,
#define TL_REDUCE(op) TL_BEGIN(tl_reduce_at) op,

#define tl_program_id          TL_BEGIN(tl_program_id_at) TL_END
#define tl_num_programs        TL_BEGIN(tl_num_programs_at) TL_END
#define tl_region              TL_BEGIN(tl_region_at) TL_END
#define tl_alloc_host          TL_BEGIN(tl_alloc_host_at) TL_END
#define tl_ref                 TL_BEGIN(tl_ref_at) TL_END
#define tl_alloc               TL_BEGIN(tl_alloc_at) TL_END
#define tl_async               TL_BEGIN(tl_async_at) TL_END
#define tl_free                TL_BEGIN(tl_free_at) TL_END
#define tl_keep                TL_BEGIN(tl_keep_at) TL_END
#define tl_persist             TL_BEGIN(tl_persist_at) TL_END
#define tl_persisted           TL_BEGIN(tl_persisted_at) TL_END
#define tl_mark                TL_BEGIN(tl_mark_at) TL_END
#define tl_release             TL_BEGIN(tl_release_at) TL_END
#define tl_scalar              TL_BEGIN(tl_scalar_at) TL_END
#define tl_reshape             TL_BEGIN(tl_reshape_at) TL_END
#define tl_slice               TL_BEGIN(tl_slice_at) TL_END
#define tl_permute             TL_BEGIN(tl_permute_at) TL_END
#define tl_expand              TL_BEGIN(tl_expand_at) TL_END
#define tl_data                TL_BEGIN(tl_data_at) TL_END
#define tl_get                 TL_BEGIN(tl_get_at) TL_END
#define tl_value               TL_BEGIN(tl_value_at) TL_END
#define tl_print               TL_BEGIN(tl_print_at) TL_END
#define tl_values              TL_BEGIN(tl_values_at) TL_END
#define tl_load                TL_BEGIN(tl_load_at) TL_END_PLAIN
#define tl_load_async          TL_BEGIN(tl_load_at) TL_END_ASYNC
#define tl_load_strided        TL_BEGIN(tl_load_at) TL_END_FALSE
#define tl_load_strided_async  TL_BEGIN(tl_load_at) TL_END_TRUE
#define tl_store               (void)TL_BEGIN(tl_store_at) TL_END_PLAIN
#define tl_store_async         TL_BEGIN(tl_store_at) TL_END_ASYNC
#define tl_store_strided       (void)TL_BEGIN(tl_store_at) TL_END_FALSE
#define tl_store_strided_async TL_BEGIN(tl_store_at) TL_END_TRUE
#define tl_load_list           TL_BEGIN(tl_load_list_at) TL_END
#define tl_store_list          (void)TL_BEGIN(tl_store_list_at) TL_END
#define tl_store_all           (void)TL_BEGIN(tl_store_all_at) TL_END_FALSE
#define tl_store_all_async     TL_BEGIN(tl_store_all_at) TL_END_TRUE
#define tl_load_sum            TL_BEGIN(tl_load_sum_at) TL_END
#define tl_load_rows           TL_BEGIN(tl_load_rows_at) TL_END
#define tl_wait                TL_BEGIN(tl_wait_at) TL_END
#define tl_wait_all            TL_BEGIN(tl_wait_all_at) TL_END
#define tl_wait_read           TL_BEGIN(tl_wait_read_at) TL_END
#define tl_send                TL_BEGIN(tl_send_at) TL_END
#define tl_recv                TL_BEGIN(tl_recv_at) TL_END_FALSE
#define tl_recv_async          TL_BEGIN(tl_recv_at) TL_END_TRUE
#define tl_barrier             TL_BEGIN(tl_barrier_at) TL_END
#define tl_atomic_add          TL_BEGIN(tl_atomic_add_at) TL_END
#define tl_atomic_cas          TL_BEGIN(tl_atomic_cas_at) TL_END
#define tl_atomic              TL_BEGIN(tl_atomic_at) TL_END
#define tl_dot                 TL_BEGIN(tl_dot_at) TL_END_DOT
#define tl_acc_new             TL_BEGIN(tl_acc_new_at) TL_END
#define tl_dot_acc             TL_BEGIN(tl_dot_acc_at) TL_END_DOT_ACC
#define tl_acc_scale           TL_BEGIN(tl_acc_scale_at) TL_END
#define tl_acc_store           TL_BEGIN(tl_acc_store_at) TL_END_ACC_STORE
#define tl_composite           TL_BEGIN(tl_composite_at) TL_END_COMPOSITE
#define tl_add                 TL_MATH(TL_ADD) TL_END_NULL
#define tl_sub                 TL_MATH(TL_SUB) TL_END_NULL
#define tl_mul                 TL_MATH(TL_MUL) TL_END_NULL
#define tl_div                 TL_MATH(TL_DIV) TL_END_NULL
#define tl_neg                 TL_MATH(TL_NEG) TL_END_NULLS
#define tl_abs                 TL_MATH(TL_ABS) TL_END_NULLS
#define tl_maximum             TL_MATH(TL_MAXIMUM) TL_END_NULL
#define tl_minimum             TL_MATH(TL_MINIMUM) TL_END_NULL
#define tl_fma                 TL_MATH(TL_FMA) TL_END
#define tl_clamp               TL_MATH(TL_CLAMP) TL_END
#define tl_where               TL_MATH(TL_WHERE) TL_END
#define tl_lt                  TL_MATH(TL_LT) TL_END_NULL
#define tl_le                  TL_MATH(TL_LE) TL_END_NULL
#define tl_gt                  TL_MATH(TL_GT) TL_END_NULL
#define tl_ge                  TL_MATH(TL_GE) TL_END_NULL
#define tl_eq                  TL_MATH(TL_EQ) TL_END_NULL
#define tl_ne                  TL_MATH(TL_NE) TL_END_NULL
#define tl_exp                 TL_MATH(TL_EXP) TL_END_NULLS
#define tl_log                 TL_MATH(TL_LOG) TL_END_NULLS
#define tl_sqrt                TL_MATH(TL_SQRT) TL_END_NULLS
#define tl_rsqrt               TL_MATH(TL_RSQRT) TL_END_NULLS
#define tl_tanh                TL_MATH(TL_TANH) TL_END_NULLS
#define tl_sigmoid             TL_MATH(TL_SIGMOID) TL_END_NULLS
#define tl_erf                 TL_MATH(TL_ERF) TL_END_NULLS
#define tl_exp2                TL_MATH(TL_EXP2) TL_END_NULLS
#define tl_log2                TL_MATH(TL_LOG2) TL_END_NULLS
#define tl_sin                 TL_MATH(TL_SIN) TL_END_NULLS
#define tl_cos                 TL_MATH(TL_COS) TL_END_NULLS
#define tl_floor               TL_MATH(TL_FLOOR) TL_END_NULLS
#define tl_ceil                TL_MATH(TL_CEIL) TL_END_NULLS
#define tl_round               TL_MATH(TL_ROUND) TL_END_NULLS
#define tl_isnan               TL_MATH(TL_ISNAN) TL_END_NULLS
#define tl_not                 TL_MATH(TL_NOT) TL_END_NULLS
#define tl_and                 TL_MATH(TL_AND) TL_END_NULL
#define tl_or                  TL_MATH(TL_OR) TL_END_NULL
#define tl_xor                 TL_MATH(TL_XOR) TL_END_NULL
#define tl_shl                 TL_MATH(TL_SHL) TL_END_NULL
#define tl_shr                 TL_MATH(TL_SHR) TL_END_NULL
#define tl_mod                 TL_MATH(TL_MOD) TL_END_NULL
#define tl_pow                 TL_MATH(TL_POW) TL_END_NULL
#define tl_cast                TL_BEGIN(tl_cast_at) TL_END
#define tl_sum                 TL_REDUCE(TL_SUM) TL_END
#define tl_max                 TL_REDUCE(TL_MAX) TL_END
#define tl_min                 TL_REDUCE(TL_MIN) TL_END
#define tl_mean                TL_REDUCE(TL_MEAN) TL_END
#define tl_argmax              TL_REDUCE(TL_ARGMAX) TL_END
#define tl_argmin              TL_REDUCE(TL_ARGMIN) TL_END
#define tl_topk                TL_BEGIN(tl_topk_at) TL_END
#define tl_sort                TL_BEGIN(tl_sort_at) TL_END
#define tl_cumsum              TL_BEGIN(tl_cumsum_at) TL_END
#define tl_take                TL_BEGIN(tl_take_at) TL_END
#define tl_fused               TL_BEGIN(tl_fused_at) TL_END_FUSED
#define tl_update              TL_BEGIN(tl_update_at) TL_END
#define tl_random              TL_BEGIN(tl_random_at) TL_END
#define tl_softmax             TL_BEGIN(tl_softmax_at) TL_END
#define tl_transpose           TL_BEGIN(tl_transpose_at) TL_END
#define tl_arange              TL_BEGIN(tl_arange_at) TL_END
#define tl_full                TL_BEGIN(tl_full_at) TL_END
#define tl_pay                 TL_BEGIN(tl_pay_at) TL_END
#define tl_idle                TL_BEGIN(tl_idle_at) TL_END
#define tl_skip                TL_BEGIN(tl_skip_at) TL_END
#define tl_hold_for_slots      TL_BEGIN(tl_hold_for_slots_at) TL_END
#define tl_fail                TL_BEGIN(tl_fail_at) TL_END

#pragma clang diagnostic pop
#endif
