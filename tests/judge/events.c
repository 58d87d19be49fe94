/* events.c -- a heap of events by (time, class, id), and sums of times. */
#include "events.h"

#include <math.h>
#include <string.h>

static bool before(const struct judge_event *a, const struct judge_event *b)
{
    if (a->fs != b->fs)
        return a->fs < b->fs;
    if (a->class != b->class)
        return a->class < b->class;
    if (a->id != b->id)
        return a->id < b->id;
    if (a->part != b->part)
        return a->part < b->part;
    if (a->packet != b->packet)
        return a->packet < b->packet;
    return a->step < b->step;
}

static void swap(struct judge_event *a, struct judge_event *b)
{
    struct judge_event kept = *a;

    *a = *b;
    *b = kept;
}

void judge_post(struct judge_events *set, struct judge_event e)
{
    struct judge_event *h;
    size_t i = set->n++;

    if (i == set->room) {
        set->room = set->room ? 2 * set->room : 256;
        set->heap = judge_grow(set->heap, set->room, sizeof *set->heap);
    }
    h = set->heap;
    h[i] = e;
    for (; i > 0 && before(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&h[i], &h[(i - 1) / 2]);
}

struct judge_event judge_next(struct judge_events *set)
{
    struct judge_event *h = set->heap, first = h[0];
    size_t n = --set->n, i = 0;

    h[0] = h[n];
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++) {
            if (before(&h[child], &h[least]))
                least = child;
        }
        if (least == i)
            return first;
        swap(&h[i], &h[least]);
        i = least;
    }
}

uint64_t judge_fingerprint(uint64_t fingerprint, const struct judge_event *e)
{
    unsigned char bytes[17];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)((uint64_t)e->fs >> (8 * i));
        bytes[9 + i] = (unsigned char)(e->id >> (8 * i));
    }
    bytes[8] = (unsigned char)e->class;
    for (unsigned i = 0; i < 17; i++)
        fingerprint = (fingerprint ^ bytes[i]) * UINT64_C(0x100000001b3);
    return fingerprint;
}

int64_t judge_add_fs(int64_t a, int64_t b, bool *too_late)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    *too_late = true;
    return INT64_MAX;
}

int64_t judge_transfer_fs(uint64_t nbytes, double gbs, bool *too_late)
{
    double fs = (double)nbytes * 1e6 / gbs;

    if (fs < 9223372036854775807.0)
        return llround(fs);
    *too_late = true;
    return INT64_MAX;
}

void judge_add_wait(struct judge_waits *list, const struct judge_wait *wait)
{
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->waits = judge_grow(list->waits, list->room, sizeof *list->waits);
    }
    list->waits[list->n++] = *wait;
}

/* Copies at most 45 bytes of a name; returns their end. */
static char *put(char *at, const char *name)
{
    size_t n = strnlen(name, 45);

    return (char *)memcpy(at, name, n) + n;
}

void judge_name_link(const struct judge_topo *t, size_t from, size_t to,
                     char text[2 * JUDGE_NAME_BYTES])
{
    strcpy(put(put(put(text, t->nodes[from].name), " -> "), t->nodes[to].name), "");
}

void judge_name_station(const struct judge_topo *t, size_t node, const char *way,
                        char text[2 * JUDGE_NAME_BYTES])
{
    strcpy(put(put(text, t->nodes[node].name), way), "");
}

double judge_own_gbs(const struct judge_topo *t, const struct judge_end *at, bool write)
{
    double gbs;

    if (at->kind == JUDGE_TCM)
        return judge_cube_number(t, at->sip, at->cube,
                                 write ? "cube.pe.pe_tcm.write_gbs" : "cube.pe.pe_tcm.read_gbs");
    if (at->kind == JUDGE_SLICE)
        return judge_cube_number(t, at->sip, at->cube, "cube.hbm.bw_gbs") *
               judge_cube_number(t, at->sip, at->cube, "cube.hbm.efficiency");
    gbs = judge_cube_number(t, at->sip, at->cube, "cube.sram.bw_gbs");
    return gbs > 0.0 ? gbs : judge_cube_number(t, at->sip, at->cube, "cube.noc.bw_gbs");
}

int64_t judge_held_fs(const struct judge_topo *t, const struct judge_end *at, uint64_t nbytes,
                      bool write, int64_t overhead_fs, int64_t drain_fs, bool *too_late)
{
    const char *hold = at->kind == JUDGE_SLICE ? "cube.hbm.hold"
                       : at->kind == JUDGE_TCM ? "cube.pe.pe_tcm.hold"
                                               : "cube.sram.hold";

    if (strcmp(judge_cube_text(t, at->sip, at->cube, hold), "own") != 0)
        return judge_add_fs(overhead_fs, drain_fs, too_late);
    return judge_add_fs(overhead_fs,
                        judge_transfer_fs(nbytes, judge_own_gbs(t, at, write), too_late), too_late);
}

uint32_t judge_servers(const struct judge_topo *t, const struct judge_node *node, bool write)
{
    static const char *const keys[][2] = {
        {"cube.pe.pe_dma.read_channels", "cube.pe.pe_dma.write_channels"},
        {"cube.m_cpu.dma_read", "cube.m_cpu.dma_write"},
        {"cube.pe.pe_tcm.read_ports", "cube.pe.pe_tcm.write_ports"},
    };
    const char *key = strstr(node->name, ".pe_dma")   ? keys[0][write]
                      : strstr(node->name, ".m_cpu")  ? keys[1][write]
                      : strstr(node->name, ".pe_tcm") ? keys[2][write]
                                                      : NULL;
    unsigned sip, cube;

    if (!key || sscanf(node->name, "sip%u.cube%u.", &sip, &cube) != 2)
        return 1;
    return judge_cube_count(t, sip, cube, key);
}
