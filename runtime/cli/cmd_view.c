/* cmd_view.c -- `view`: pictures of the topology, and of its utilization.
 *
 * A picture is of a level (system, sip, cube, pe; without a word the highest that the tray has), as
 * SVG or DOT, coloured by the file of --stats if there is one.
 *
 * --at says which part a level shows: "c3", "s1.c3", "c3.pe2". A part that does not exist is a
 * mistake before anything is drawn: "--at 'c9': a SIP has cubes 0..7".
 */
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "cli/out/say.h"
#include "base/text.h"
#include "cli/view/view.h"

enum { SHOWN_BYTES = 64 };

/* One run of the command. */
struct viewing {
    const struct cli *cli;
    enum view_level level;
    struct view_at at;
    struct view_utilization *utilization; /* owned; NULL: none */
    bool dot;
};

/* -- --at ----------------------------------------------------------------------------------- */

/* Reads `letters` and a number, and the point behind it if more follows. */
static bool take_number(const char **at, const char *letters, uint32_t *out)
{
    size_t len = strlen(letters),
           digits = strspn(*at + len * (strncmp(*at, letters, len) == 0), "0123456789");
    uint64_t value;

    if (strncmp(*at, letters, len) != 0 || digits == 0 ||
        !text_read_count(*at + len, digits, &value) || (digits > 1 && (*at)[len] == '0'))
        return false;
    const char *end = *at + len + digits;
    if (*end != '\0' && *end != '.')
        return false;
    *at = end + (*end == '.' && end[1] != '\0');
    *out = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return true;
}

static enum exit_code refuse(const struct viewing *v, const char *why)
{
    const char *word = v->cli->opts.at;
    char shown[SHOWN_BYTES];

    return say(v->cli->program, EXIT_USAGE, "--at '%s': %s",
               text_show(word, strlen(word), shown, sizeof shown), why);
}

static enum exit_code beyond(const struct viewing *v, const char *of, const char *what, uint32_t n)
{
    char why[SHOWN_BYTES];

    snprintf(why, sizeof why, n > 1 ? "%s has %ss 0..%u" : "%s has %s %u alone", of, what, n - 1);
    return refuse(v, why);
}

/* --at names a part that this level shows; a SIP or cube that it leaves out is the first. */
static enum exit_code read_at(struct viewing *v)
{
    static const char *const expected[] = {"this picture is of all SIPs, it has no --at",
                                           "a SIP is written s1", "a cube is written c3 or s1.c3",
                                           "a PE is written c3.pe2 or s1.c3.pe2"};
    const char *at = v->cli->opts.at;
    const kb_info *info = &v->cli->info;

    if (!at) {
        view_find_part(v->cli, v->level, &v->at);
        return EXIT_OK;
    }
    if (v->level == VIEW_SYSTEM)
        return refuse(v, expected[VIEW_SYSTEM]);
    bool any = take_number(&at, "s", &v->at.sip);
    if (v->level >= VIEW_CUBE && (!any || *at))
        any = take_number(&at, "c", &v->at.cube);
    if (v->level >= VIEW_PE && any && *at)
        any = take_number(&at, "pe", &v->at.pe);
    if (!any || *at)
        return refuse(v, expected[v->level]);
    if (v->at.sip >= info->sips)
        return beyond(v, "the tray", "SIP", info->sips);
    if (v->at.cube >= info->cubes_per_sip)
        return beyond(v, "a SIP", "cube", info->cubes_per_sip);
    if (info->pes_per_cube && v->at.pe >= info->pes_per_cube)
        return beyond(v, "a cube", "PE", info->pes_per_cube);
    return EXIT_OK;
}

/* A cube or PE that is shown must be there; in the pictures of SIPs its place is hatched. */
static enum exit_code check_there(const struct viewing *v)
{
    kb_endpoint pe = {KB_PE, v->at.sip, v->at.cube, v->at.pe};
    char name[KB_ENDPOINT_BYTES];
    kb_error why = {""};
    kb_cube cube;

    if (v->level == VIEW_PE &&
        kb_endpoint_parse(v->cli->topo, name, kb_endpoint_name(&pe, name), &pe, &why) != KB_OK)
        return say(v->cli->program, EXIT_USAGE, "%s; see --at", why.text);
    if (v->level == VIEW_CUBE && kb_cube_get(v->cli->topo, v->at.sip, v->at.cube, &cube) != KB_OK)
        return say(v->cli->program, EXIT_USAGE,
                   "that cube is missing from this topology, see --at");
    return EXIT_OK;
}

/* -- the request ---------------------------------------------------------------------------- */

static enum exit_code read_picture(struct viewing *v)
{
    const struct opts *o = &v->cli->opts;

    v->dot = o->format == FORMAT_DOT;
    v->level = o->n_operands > 0 ? view_find(o->operand[0]) : view_first(&v->cli->info);
    return v->level < N_VIEW_LEVELS ? EXIT_OK
                                    : say_unknown(v->cli->program, "picture", "", o->operand[0],
                                                  view_levels, N_VIEW_LEVELS);
}

/* -- the picture ---------------------------------------------------------------------------- */

static enum exit_code draw(void *arg, struct sink *s)
{
    const struct viewing *v = arg;

    if (v->dot)
        view_topology_dot(v->cli, v->level, v->at, v->utilization, s);
    else
        view_topology(v->cli, v->level, v->at, v->utilization, NULL, s);
    return EXIT_OK;
}

enum exit_code cmd_view(const struct cli *cli)
{
    struct viewing v = {.cli = cli};
    enum exit_code code = read_picture(&v);

    if (!code)
        code = read_at(&v);
    if (!code)
        code = check_there(&v);
    if (!code && cli->opts.stats)
        code = view_utilization_read(&v.utilization, cli, cli->opts.stats);
    if (!code)
        code = cmd_output(cli, draw, &v);
    view_utilization_free(v.utilization);
    return code;
}
