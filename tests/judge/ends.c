/* ends.c -- endpoints and addresses, and what the judge does when it is wrong itself. */
#include "judge.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void judge_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("judge: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

void *judge_alloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes);

    if (!p)
        judge_die("out of memory");
    return p;
}

void *judge_grow(void *old, size_t n, size_t bytes)
{
    void *p = reallocarray(old, n ? n : 1, bytes);

    if (!p)
        judge_die("out of memory");
    return p;
}

/* `n` in decimal, in the last bytes of `digits`. */
static const char *decimal(char digits[11], uint32_t n)
{
    char *at = digits + 10;

    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    return at;
}

void judge_vname(char text[JUDGE_NAME_BYTES], const char *format, va_list args)
{
    size_t n = 0;

    for (const char *p = format; *p && n < JUDGE_NAME_BYTES; p++) {
        char digits[11];

        if (*p != '%') {
            text[n++] = *p;
            continue;
        }
        for (const char *part = *++p == 's' ? va_arg(args, const char *)
                                            : decimal(digits, va_arg(args, uint32_t));
             *part && n < JUDGE_NAME_BYTES; part++)
            text[n++] = *part;
    }
    if (n == JUDGE_NAME_BYTES)
        judge_die("a name is too long: %s", format);
    text[n] = 0;
}

void judge_name(char text[JUDGE_NAME_BYTES], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    judge_vname(text, format, args);
    va_end(args);
}

uint32_t judge_hash(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash ^ hash >> 15;
}

/* -- endpoints ------------------------------------------------------------------------------ */

/* Reads `word` and a number at *at; moves past both. */
static bool take(const char **at, const char *word, uint32_t *number)
{
    size_t len = strlen(word);
    const char *p = *at + len;
    uint64_t n = 0;

    if (strncmp(*at, word, len) != 0 || *p < '0' || *p > '9')
        return false;
    if (p[0] == '0' && p[1] >= '0' && p[1] <= '9')
        return false;
    while (*p >= '0' && *p <= '9' && n < UINT32_MAX)
        n = n * 10 + (uint64_t)(*p++ - '0');
    if (n >= UINT32_MAX)
        return false;
    *number = (uint32_t)n;
    *at = p;
    return true;
}

static bool take_dot(const char **at)
{
    if (**at != '.')
        return false;
    ++*at;
    return true;
}

static bool parse_end(const char *text, struct judge_end *out)
{
    const char *at = text;

    memset(out, 0, sizeof *out);
    if (take(&at, "s", &out->sip) && !take_dot(&at))
        return false;
    out->kind = JUDGE_HOST;
    if (strcmp(at, "host") == 0)
        return true;
    if (take(&at, "host", &out->unit))
        return *at == 0 && out->unit > 0;
    if (!take(&at, "c", &out->cube) || !take_dot(&at))
        return false;
    out->kind = JUDGE_SRAM;
    if (strcmp(at, "sram") == 0)
        return true;
    out->kind = JUDGE_SLICE;
    if (take(&at, "slice", &out->unit))
        return *at == 0;
    if (!take(&at, "pe", &out->unit))
        return false;
    out->kind = *at ? JUDGE_TCM : JUDGE_PE;
    return *at == 0 || strcmp(at, ".tcm") == 0;
}

bool judge_is_there(const struct judge_topo *t, const struct judge_end *e)
{
    if (e->sip >= t->sips)
        return false;
    if (e->kind == JUDGE_HOST)
        return judge_chiplet_side(t, e->unit) != 0;
    if (!judge_has_cube(t, e->sip, e->cube))
        return false;
    if (e->kind == JUDGE_SLICE)
        return e->unit < judge_slices(t, e->sip, e->cube);
    if (e->kind == JUDGE_SRAM)
        return e->unit == 0;
    return judge_has_pe(t, e->sip, e->cube, e->unit);
}

bool judge_end_parse(const struct judge_topo *t, const char *text, struct judge_end *out)
{
    return parse_end(text, out) && judge_is_there(t, out);
}

void judge_end_name(const struct judge_end *end, char text[JUDGE_NAME_BYTES])
{
    char sip[16] = "";

    if (end->sip > 0)
        snprintf(sip, sizeof sip, "s%u.", end->sip);
    if (end->kind == JUDGE_PE)
        snprintf(text, JUDGE_NAME_BYTES, "%sc%u.pe%u", sip, end->cube, end->unit);
    if (end->kind == JUDGE_HOST && end->unit == 0)
        snprintf(text, JUDGE_NAME_BYTES, "%shost", sip);
    if (end->kind == JUDGE_HOST && end->unit > 0)
        snprintf(text, JUDGE_NAME_BYTES, "%shost%u", sip, end->unit);
    if (end->kind == JUDGE_SLICE)
        snprintf(text, JUDGE_NAME_BYTES, "%sc%u.slice%u", sip, end->cube, end->unit);
    if (end->kind == JUDGE_SRAM)
        snprintf(text, JUDGE_NAME_BYTES, "%sc%u.sram", sip, end->cube);
    if (end->kind == JUDGE_TCM)
        snprintf(text, JUDGE_NAME_BYTES, "%sc%u.pe%u.tcm", sip, end->cube, end->unit);
}

static uint64_t sram_bytes(const struct judge_topo *t, const struct judge_end *end)
{
    uint64_t kb = judge_cube_count(t, end->sip, end->cube, "cube.sram.size_kb");

    return kb ? kb << 10
              : (uint64_t)judge_cube_count(t, end->sip, end->cube, "cube.sram.size_mb") << 20;
}

uint64_t judge_memory_bytes(const struct judge_topo *t, const struct judge_end *end)
{
    uint64_t granule = judge_count(t, "addressing.granule"), bytes;

    if (end->kind == JUDGE_SLICE) {
        bytes = ((uint64_t)judge_cube_count(t, end->sip, end->cube, "cube.hbm.size_gb") << 30) /
                judge_slices(t, end->sip, end->cube);
        return granule ? bytes / granule * granule : bytes;
    }
    if (end->kind == JUDGE_SRAM)
        return sram_bytes(t, end);
    if (end->kind == JUDGE_TCM)
        return (uint64_t)judge_cube_count(t, end->sip, end->cube, "cube.pe.pe_tcm.size_mb") << 20;
    return 0;
}

/* The place of a cube among those of its SIP that have slices, and how many these are. */
static uint64_t rank_of(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint64_t *n)
{
    uint64_t rank = 0;

    *n = 0;
    for (uint32_t c = 0; c < t->cubes; c++) {
        bool has = judge_has_cube(t, sip, c) && judge_slices(t, sip, c) > 0;

        rank += has && c < cube;
        *n += has;
    }
    return rank;
}

/* The slice and the byte in it of byte `offset` of a cube's HBM: the address map. */
static bool find_byte(const struct judge_topo *t, uint64_t offset, struct judge_end *memory,
                      uint64_t *byte)
{
    uint64_t granule = judge_count(t, "addressing.granule");
    uint64_t n = judge_slices(t, memory->sip, memory->cube), size, block, row, cubes, k;

    memory->unit = 0;
    size = n ? n * judge_memory_bytes(t, memory) : 0;
    if (offset >= size)
        return false;
    if (granule == 0) {
        memory->unit = (uint32_t)(offset / (size / n));
        *byte = offset % (size / n);
        return true;
    }
    block = offset / granule;
    if (strcmp(judge_text(t, "addressing.over"), "sip") == 0) {
        k = rank_of(t, memory->sip, memory->cube, &cubes);
        block = (k * size + offset) / granule;
        k = block / n % cubes;
        row = block / n / cubes;
        memory->cube = 0;
        while (!judge_has_cube(t, memory->sip, memory->cube) ||
               judge_slices(t, memory->sip, memory->cube) == 0 || k-- > 0)
            memory->cube++;
    } else {
        row = block / n;
    }
    memory->unit = (uint32_t)(block % n);
    if (strcmp(judge_text(t, "addressing.hash"), "xor") == 0)
        memory->unit ^= (uint32_t)(row % n);
    *byte = row * granule + offset % granule;
    return true;
}

/* "[59:52] SIP, [51:38] cube, [37:36] region, [35:0] offset"; version 3: all 4 bits higher. */
static unsigned higher(const struct judge_topo *t)
{
    return judge_count(t, "kernbench") < 3 ? 0 : 4;
}

uint64_t judge_base(const struct judge_topo *t, uint64_t sip, uint64_t cube, uint64_t region)
{
    unsigned up = higher(t);

    return sip << (52 + up) | cube << (38 + up) | region << (36 + up);
}

bool judge_memory_at(const struct judge_topo *t, uint64_t address, struct judge_end *memory,
                     uint64_t *offset)
{
    static const enum judge_kind regions[] = {JUDGE_SLICE, JUDGE_SRAM, JUDGE_TCM};
    unsigned up = higher(t);
    uint64_t sip = address >> (52 + up), cube = (address >> (38 + up)) % 16384;
    uint64_t region = (address >> (36 + up)) % 4;
    uint64_t room;

    if (region == 3 || sip >= t->sips || !judge_has_cube(t, (uint32_t)sip, (uint32_t)cube))
        return false;
    *memory = (struct judge_end){.kind = regions[region], .sip = (uint32_t)sip};
    memory->cube = (uint32_t)cube;
    *offset = address % (UINT64_C(1) << (36 + up));
    if (memory->kind == JUDGE_SLICE)
        return find_byte(t, *offset, memory, offset);
    room = judge_memory_bytes(t, memory);
    memory->unit = (uint32_t)(*offset / room);
    *offset %= room;
    return judge_is_there(t, memory);
}

/* By trying all blocks that may be the one. */
uint64_t judge_address_of(const struct judge_topo *t, const struct judge_end *slice,
                          uint64_t offset, uint64_t *left)
{
    uint64_t granule = judge_count(t, "addressing.granule");
    uint64_t n = judge_slices(t, slice->sip, slice->cube), bytes = judge_memory_bytes(t, slice);
    uint64_t base = judge_base(t, slice->sip, slice->cube, 0), cubes = 1, other;
    bool over_sip = strcmp(judge_text(t, "addressing.over"), "sip") == 0;
    struct judge_end at;

    if (granule == 0) {
        *left = bytes - offset;
        return base + slice->unit * bytes + offset;
    }
    *left = granule - offset % granule;
    if (over_sip)
        rank_of(t, slice->sip, slice->cube, &cubes);
    for (uint64_t block = offset / granule * n * cubes;; block++) {
        uint64_t o = block * granule + offset % granule, address = base + o, k;

        if (over_sip) {
            uint32_t cube = 0;

            k = o / (n * bytes);
            while (!judge_has_cube(t, slice->sip, cube) || judge_slices(t, slice->sip, cube) == 0 ||
                   k-- > 0)
                cube++;
            address = judge_base(t, slice->sip, cube, 0) | o % (n * bytes);
        }
        if (judge_memory_at(t, address, &at, &other) && at.cube == slice->cube &&
            at.unit == slice->unit && other == offset)
            return address;
    }
}

/* The address of the next byte; over: sip goes on in the next cube that has slices. */
static bool next_address(const struct judge_topo *t, uint64_t *address)
{
    unsigned up = higher(t);
    uint32_t sip = (uint32_t)(*address >> (52 + up));
    uint32_t cube = (uint32_t)(*address >> (38 + up)) % 16384;
    struct judge_end any = {JUDGE_SLICE, sip, cube, 0};
    uint64_t size = judge_slices(t, sip, cube) * judge_memory_bytes(t, &any);

    if (++*address % (UINT64_C(1) << (36 + up)) < size)
        return true;
    if (strcmp(judge_text(t, "addressing.over"), "sip") != 0)
        return false;
    while (++cube < t->cubes)
        if (judge_has_cube(t, sip, cube) && judge_slices(t, sip, cube) > 0) {
            *address = judge_base(t, sip, cube, 0);
            return true;
        }
    return false;
}

size_t judge_split(const struct judge_topo *t, uint64_t address, uint64_t nbytes,
                   struct judge_piece **parts)
{
    uint64_t granule = judge_count(t, "addressing.granule");
    size_t n = 0;

    *parts = NULL;
    while (nbytes > 0) {
        struct judge_piece part = {.nbytes = nbytes}, *last = n ? &(*parts)[n - 1] : NULL;
        bool in_hbm = (address >> (36 + higher(t))) % 4 == 0;

        if (!judge_memory_at(t, address, &part.memory, &part.offset) ||
            part.offset + 1 > judge_memory_bytes(t, &part.memory)) {
            free(*parts);
            *parts = NULL;
            return 0;
        }
        if (in_hbm && granule && nbytes > granule - part.offset % granule)
            part.nbytes = granule - part.offset % granule;
        if (last && last->memory.cube == part.memory.cube &&
            last->memory.unit == part.memory.unit) {
            last->nbytes += part.nbytes;
        } else {
            *parts = judge_grow(*parts, n + 1, sizeof **parts);
            (*parts)[n++] = part;
        }
        nbytes -= part.nbytes;
        address += part.nbytes - 1;
        if (nbytes > 0 && (!in_hbm || !next_address(t, &address))) {
            free(*parts);
            *parts = NULL;
            return 0;
        }
    }
    if (!granule && n > 0 &&
        (*parts)[0].nbytes > judge_memory_bytes(t, &(*parts)[0].memory) - (*parts)[0].offset)
        n = 0;
    return n;
}

uint64_t judge_packet_bytes(const struct judge_topo *t, const struct judge_end *pe)
{
    return judge_cube_count(t, pe->sip, pe->cube, "cube.pe.pe_dma.packet_bytes");
}

size_t judge_cut(const struct judge_topo *t, const struct judge_end *pe,
                 const struct judge_piece *whole, const uint64_t *address,
                 struct judge_piece **parts)
{
    struct judge_piece *runs = NULL;
    size_t n_runs = address ? judge_split(t, *address, whole->nbytes, &runs) : 1, n = 0;
    uint64_t packet = pe ? judge_packet_bytes(t, pe) : 0, at = 0;

    *parts = NULL;
    for (size_t i = 0; i < n_runs; i++) {
        struct judge_piece rest = runs ? runs[i] : *whole;

        for (uint64_t left = rest.nbytes; left > 0; left -= rest.nbytes) {
            rest.packet = packet ? at / packet : 0;
            rest.nbytes = left;
            if (packet && packet - at % packet < left)
                rest.nbytes = packet - at % packet;
            *parts = judge_grow(*parts, n + 1, sizeof **parts);
            (*parts)[n++] = rest;
            at += rest.nbytes;
            rest.offset += rest.nbytes;
        }
    }
    free(runs);
    return n;
}

void judge_add_use(struct judge_use **uses, size_t *n, const struct judge_use *use)
{
    if ((*n & (*n - 1)) == 0)
        *uses = judge_grow(*uses, *n ? 2 * *n : 1, sizeof **uses);
    (*uses)[(*n)++] = *use;
}
