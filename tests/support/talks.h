/* talks.h -- what tests of PEs that talk share: one kernel on several PEs, run in every way. */
#ifndef TALKS_H
#define TALKS_H
#include "any_topology.h"
#include "kernels.h"
#include "tray32.h"

enum { MARKS = 24 };

/* When PEs have passed which point, from their start; and what they have seen there. */
struct marks {
    int64_t fs[256][MARKS];
    double value[256][MARKS];
    int64_t start_fs;
    int line; /* of a call in question */
};

static inline struct marks *marks_of(const kb_args *args)
{
    return (struct marks *)(uintptr_t)args->user;
}

static inline void mark(tl_ctx *tl, const kb_args *args, unsigned i)
{
    marks_of(args)->fs[tl_pe(tl)][i] = now_fs(tl);
}

static inline void mark_value(tl_ctx *tl, const kb_args *args, unsigned i, double value)
{
    mark(tl, args, i);
    marks_of(args)->value[tl_pe(tl)][i] = value;
}

/* f32 first + 1, first + 2, ... of the own slice. */
static inline tl_tensor *numbers(tl_ctx *tl, int64_t first, int64_t n)
{
    kb_endpoint slice = {KB_SLICE, (uint32_t)tl_program_id(tl, 2), (uint32_t)tl_program_id(tl, 1),
                         (uint32_t)tl_program_id(tl, 0)};
    uint64_t address = kb_address(tl_topology(tl), &slice, 4 * (uint64_t)first);

    return tl_load(tl, address, KB_F32, KB_SHAPE(n));
}

/* On PEs in ascending order, in slices that are filled. */
static inline void launch_talk(kb_sim *sim, kb_kernel kernel, const void *user, const uint32_t *pes,
                               size_t n)
{
    kb_launch_request r = {
        .name = "talk", .kernel = kernel, .args.user = user, .pes = pes, .n_pes = n};
    kb_error why = {""};

    if (kb_launch_count(sim) == 0)
        assert_int_equal(fill_slices(sim, &why), KB_OK);
    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
}

/* One run; its log if there is one, to be freed. */
static inline char *talk_once(const kb_topology *topo, kb_options options, kb_kernel kernel,
                              struct marks *m, const uint32_t *pes, size_t n, uint64_t *fingerprint)
{
    kb_sim *sim = new_sim(topo, options);
    char *log;

    memset(m, 0, sizeof *m);
    launch_talk(sim, kernel, m, pes, n);
    m->start_fs = run_launched(sim, 0).start_fs;
    *fingerprint = kb_sim_fingerprint(sim);
    log = options.oplog ? log_of(sim) : NULL;
    kb_sim_free(sim);
    return log;
}

/* Runs `kernel` on PEs in ascending order, by both engines: all is the same. The log, to be freed.
 */
static inline char *talk(const kb_topology *topo, kb_kernel kernel, struct marks *m,
                         const uint32_t *pes, size_t n)
{
    struct marks plain, hop;
    uint64_t none, fused_print, hop_print;
    kb_options watched = {.fingerprint = true, .oplog = true};
    char *log, *hop_log;

    talk_once(topo, (kb_options){0}, kernel, &plain, pes, n, &none);
    log = talk_once(topo, watched, kernel, m, pes, n, &fused_print);
    watched.engine = KB_HOP;
    hop_log = talk_once(topo, watched, kernel, &hop, pes, n, &hop_print);
    assert_memory_equal(&plain, m, sizeof plain);
    assert_memory_equal(&hop, m, sizeof hop);
    if (strcmp(hop_log, log) != 0)
        fail_msg("the engines' logs differ");
    assert_true(hop_print == fused_print);
    free(hop_log);
    return log;
}

#define FS(ns) llround((ns)*1e6)

/* Times are counted from here. */
static inline void count_from(struct marks *m, uint32_t pe, unsigned i)
{
    m->start_fs = m->fs[pe][i];
}

/* PE `pe` has come to mark `i` after so many ns. */
static inline void assert_at(const struct marks *m, uint32_t pe, unsigned i, double ns)
{
    int64_t fs = m->fs[pe][i] - m->start_fs;

    if (fs != FS(ns))
        fail_msg("PE %u is at mark %u after %.6f ns, not %.6f", pe, i, (double)fs / 1e6, ns);
}

/* The time in the log, after the start. */
static inline void assert_logged(const struct marks *m, const char *log, unsigned id,
                                 const char *key, double ns)
{
    int64_t fs = llround(logged(log, id, key) * 1e6) - m->start_fs;

    if (fs != FS(ns))
        fail_msg("%s of op %u is %.6f ns, not %.6f", key, id, (double)fs / 1e6, ns);
}

/* The text with which a kernel's mistake, or a deadlock, ends a run. */
static inline kb_error mistake_of(const kb_topology *topo, kb_kernel kernel, const void *user,
                                  const uint32_t *pes, size_t n, kb_status expected)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};
    kb_status status;

    launch_talk(sim, kernel, user, pes, n);
    status = kb_sim_run(sim, 0, &why);
    if (status != expected)
        fail_msg("status %d, not %d: %s", (int)status, (int)expected, why.text);
    kb_sim_free(sim);
    return why;
}

/* The call that `text` names, "CALL at FILE:LINE: ...", is in that line of that file; or a macro
 * WRONG() is, whose kernels make it. */
static inline void assert_place(const char *text)
{
    char call[64], name[256], line[256] = "";
    unsigned number;
    FILE *file;

    if (sscanf(text, "%63s at %255[^:]:%u: ", call, name, &number) != 3)
        fail_msg("no place in %s", text);
    file = fopen(name, "r");
    if (!file)
        fail_msg("no file %s", name);
    for (unsigned i = 0; i < number && fgets(line, sizeof line, file); i++) {
    }
    fclose(file);
    if (!strstr(line, call) && !strstr(line, "WRONG("))
        fail_msg("%s: that line is %s", text, line);
}

/* A kernel of one PE, and what stands in the text with which it ends a run. */
struct mistake {
    kb_kernel kernel;
    const char *text;
};

static inline void assert_mistakes(const struct mistake *cases, size_t n)
{
    static const uint32_t first[] = {0};

    for (size_t i = 0; i < n; i++) {
        kb_error why =
            mistake_of(&cube8_topology, cases[i].kernel, NULL, first, 1, KB_KERNEL_ERROR);

        if (!strstr(why.text, cases[i].text) ||
            strncmp(why.text, "kernel talk on c0.pe0: tl_", 26) != 0)
            fail_msg("%s", why.text);
        assert_place(why.text + strlen("kernel talk on c0.pe0: "));
    }
}

/* The mistake of c0.pe0 in `call`, called in `file`, is told by `reason`. */
static inline void assert_says(const kb_error *why, const char *file, const char *call,
                               const char *reason)
{
    char text[sizeof why->text];
    size_t n;

    snprintf(text, sizeof text, "kernel talk on c0.pe0: %s at %s:", call, file);
    if (strncmp(why->text, text, strlen(text)) != 0)
        fail_msg("%s\ndoes not begin with\n%s", why->text, text);
    n = strlen(text) + strspn(why->text + strlen(text), "0123456789");
    snprintf(text, sizeof text, ": %s", reason);
    assert_string_equal(why->text + n, text);
}

/* A kernel of c0.pe0, on the machine of `yaml`, ends with a mistake whose message has `text`. */
static inline void assert_talk_refused(const char *yaml, kb_kernel kernel, const char *text)
{
    static const uint32_t first[] = {0};
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct marks m = {.line = 0};
    kb_error why = {""};

    launch_talk(sim, kernel, &m, first, 1);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    if (!strstr(why.text, text))
        fail_msg("'%s' has no '%s'", why.text, text);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* From mark 0 to mark 1 of c0.pe0 it takes `fs`, by both engines, on each of two machines. */
static inline void assert_talk_takes(const char *const machines[2], kb_kernel kernel, int64_t fs)
{
    static const uint32_t first[] = {0};

    for (size_t i = 0; i < 2; i++) {
        const kb_topology *topo = any_topology(machines[i]);
        struct marks m;

        assert_non_null(topo);
        free(talk(topo, kernel, &m, first, 1));
        any_topology_free(topo);
        if (m.fs[0][1] - m.fs[0][0] != fs)
            fail_msg("%.6f ns, not %.6f", (double)(m.fs[0][1] - m.fs[0][0]) / 1e6,
                     (double)fs / 1e6);
    }
}

#endif
