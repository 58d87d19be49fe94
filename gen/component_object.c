/*
 * component_object.c -- what the compiler has made of components: does it keep the rules?
 *
 * A component has a state that it is given, and keeps nothing else. So its object is code and
 * constants. Sections are judged by a list of those that are allowed: whatever keeps a value from
 * one call to the next, or runs by itself, is in another one. Names of variables play no part; they
 * are looked up for the message.
 *
 *     .text*                       code that cannot be written
 *     .rodata*  .eh_frame  .note*  constants, and what describes the code
 *     .data.rel.ro*                constants with addresses, which are protected once they are set
 *
 * Not in the list are .data and .bss, .tdata and .tbss, sections that the file names itself, and
 * .init_array, .ctors, .init and the like, which run before main().
 */
#include "component_object.h"
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The file, and its table of sections, all of which lies inside. */
struct object {
    const unsigned char *bytes;
    size_t len;
    const Elf64_Shdr *sections;
    size_t n;
    struct object_judged *out;
};

static bool finds(const struct object *o, enum object_fault fault, const char *name)
{
    o->out->fault = fault;
    snprintf(o->out->name, sizeof o->out->name, "%s", name);
    return false;
}

static bool is_inside(const struct object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->len && size <= o->len - offset;
}

/* The bytes of this processor, in 64 bits. */
static bool is_of_here(const Elf64_Ehdr *head)
{
    const uint16_t one = 1;
    unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;

    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == order && head->e_shentsize == sizeof(Elf64_Shdr);
}

static bool open_object(struct object *o, uint16_t type)
{
    const Elf64_Ehdr *head = (const void *)o->bytes;

    o->out->fault = OBJECT_OK;
    if (o->len < sizeof *head || !is_of_here(head) || head->e_type != type ||
        !is_inside(o, head->e_shoff, head->e_shnum * sizeof(Elf64_Shdr)) ||
        head->e_shoff % sizeof(uint64_t) || head->e_shstrndx >= head->e_shnum)
        return finds(o, OBJECT_UNKNOWN, "");
    o->sections = (const void *)(o->bytes + head->e_shoff);
    o->n = head->e_shnum;
    for (size_t i = 0; i < o->n; i++)
        if (o->sections[i].sh_type != SHT_NOBITS &&
            !is_inside(o, o->sections[i].sh_offset, o->sections[i].sh_size))
            return finds(o, OBJECT_UNKNOWN, "");
    return true;
}

/* A text of a table of texts; "?": there is none. */
static const char *text_at(const struct object *o, const Elf64_Shdr *table, uint32_t offset)
{
    const char *text;

    if (table->sh_type != SHT_STRTAB || offset >= table->sh_size)
        return "?";
    text = (const char *)o->bytes + table->sh_offset + offset;
    return memchr(text, 0, table->sh_size - offset) ? text : "?";
}

static const char *section_name(const struct object *o, const Elf64_Shdr *section)
{
    const Elf64_Ehdr *head = (const void *)o->bytes;

    return text_at(o, &o->sections[head->e_shstrndx], section->sh_name);
}

/* -- symbols ---------------------------------------------------------------------------------- */

/* Calls `each` for every symbol of the tables of that type, until it says false. */
static bool each_symbol(const struct object *o, uint32_t type,
                        bool (*each)(const struct object *o, const Elf64_Sym *symbol,
                                     const char *name, void *arg),
                        void *arg)
{
    for (size_t i = 0; i < o->n; i++) {
        const Elf64_Shdr *table = &o->sections[i];
        const Elf64_Sym *symbols;

        if (table->sh_type != type)
            continue;
        if (table->sh_offset % sizeof(uint64_t) || table->sh_link >= o->n)
            return finds(o, OBJECT_UNKNOWN, "");
        symbols = (const void *)(o->bytes + table->sh_offset);
        for (size_t k = 1; k < table->sh_size / sizeof *symbols; k++)
            if (!each(o, &symbols[k], text_at(o, &o->sections[table->sh_link], symbols[k].st_name),
                      arg))
                return false;
    }
    return true;
}

/* The word of a name that is the file's: "n" of gcc's "n.0", and of clang's "f.n" and "f.n.1". */
static size_t own_word(const char *name, const char **word)
{
    size_t len = strcspn(name, ".");

    *word = name;
    while (name[len] && (name[len + 1] < '0' || name[len + 1] > '9')) {
        *word = name += len + 1;
        len = strcspn(name, ".");
    }
    return len;
}

/* Names what lies in the section `arg`. */
static bool names_section(const struct object *o, const Elf64_Sym *symbol, const char *name,
                          void *arg)
{
    if (symbol->st_shndx != *(const size_t *)arg || *name == '.' || *name == '$' ||
        ELF64_ST_TYPE(symbol->st_info) == STT_SECTION)
        return true;
    size_t len = own_word(name, &name);

    snprintf(o->out->name, sizeof o->out->name, "%.*s", (int)len, name);
    return false;
}

static bool is_plain(const struct object *o, const Elf64_Sym *symbol, const char *name, void *arg)
{
    (void)arg;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return finds(o, OBJECT_IFUNC, name);
    return symbol->st_shndx != SHN_COMMON || finds(o, OBJECT_DATA, name);
}

/* Does the compiler call it by itself? */
static bool is_of_compiler(const char *name)
{
    static const char *const names[] = {"memcpy", "memset", "memmove", "memcmp", "bcmp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_defined(const struct object *o, const Elf64_Sym *symbol, const char *name, void *arg)
{
    (void)arg;
    return symbol->st_shndx != SHN_UNDEF || is_of_compiler(name) || finds(o, OBJECT_CALL, name);
}

/* -- sections --------------------------------------------------------------------------------- */

/* ".text" is `name`, or the beginning of it: ".text.unlikely" */
static bool is_kind(const char *name, const char *kind)
{
    size_t len = strlen(kind);

    return strncmp(name, kind, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

/* What is loaded of an object that keeps the rules. */
static bool is_allowed(const Elf64_Shdr *section, const char *name)
{
    switch (section->sh_flags & (SHF_WRITE | SHF_EXECINSTR | SHF_TLS)) {
    case SHF_EXECINSTR:
        return is_kind(name, ".text");
    case SHF_WRITE:
        return is_kind(name, ".data.rel.ro");
    case 0:
        return is_kind(name, ".rodata") || is_kind(name, ".note") || is_kind(name, ".eh_frame");
    default:
        return false;
    }
}

/* Variables are named by their own name, other things by that of their section. */
static bool blame(const struct object *o, size_t i, const char *name)
{
    uint32_t type = o->sections[i].sh_type;
    bool runs = type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY;

    if (runs || !(o->sections[i].sh_flags & SHF_WRITE) || is_kind(name, ".ctors") ||
        is_kind(name, ".dtors"))
        return finds(o, OBJECT_SECTION, name);
    finds(o, OBJECT_DATA, name);
    each_symbol(o, SHT_SYMTAB, names_section, &i);
    return false;
}

bool object_has_only_code(const unsigned char *bytes, size_t len, struct object_judged *out)
{
    struct object o = {.bytes = bytes, .len = len, .out = out};
    bool has_stack = false;

    if (!open_object(&o, ET_REL))
        return false;
    for (size_t i = 0; i < o.n; i++) {
        const Elf64_Shdr *section = &o.sections[i];
        const char *name = section_name(&o, section);

        has_stack |= strcmp(name, ".note.GNU-stack") == 0 && !(section->sh_flags & SHF_EXECINSTR);
        if (section->sh_flags & SHF_ALLOC && section->sh_size && !is_allowed(section, name))
            return blame(&o, i, name);
    }
    if (!each_symbol(&o, SHT_SYMTAB, is_plain, NULL))
        return false;
    return has_stack || finds(&o, OBJECT_STACK, "");
}

bool object_is_whole(const unsigned char *bytes, size_t len, struct object_judged *out)
{
    struct object o = {.bytes = bytes, .len = len, .out = out};

    return open_object(&o, ET_DYN) && each_symbol(&o, SHT_DYNSYM, is_defined, NULL);
}
