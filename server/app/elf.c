#include "app/elf.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The linker puts it at our own header, which says what this machine can load. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool extends_beyond(uint64_t offset, uint64_t len, size_t size)
{
    return offset > size || len > size - offset;
}

static const char *segments_problem(const unsigned char *data, const ElfW(Ehdr) * header, size_t size)
{
    bool loads = false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, data + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NULL)
            continue;
        if (extends_beyond(segment.p_offset, segment.p_filesz, size))
            return "truncated";
        if (segment.p_type == PT_LOAD && segment.p_memsz < segment.p_filesz)
            return "damaged";
        loads = loads || segment.p_type == PT_LOAD;
    }
    return loads ? NULL : "damaged";
}

const char *elf_problem(const void *data, size_t size)
{
    ElfW(Ehdr) header;
    const ElfW(Ehdr) *own = &__ehdr_start;
    if (size == 0)
        return "empty";
    if (memcmp(data, ELFMAG, size < SELFMAG ? size : SELFMAG) != 0)
        return "no shared object";
    if (size < sizeof header)
        return "truncated";
    memcpy(&header, data, sizeof header);
    if (header.e_ident[EI_CLASS] != own->e_ident[EI_CLASS] ||
        header.e_ident[EI_DATA] != own->e_ident[EI_DATA] || header.e_machine != own->e_machine)
        return "made for another kind of machine";
    if (header.e_type != ET_DYN)
        return "no shared object (compile it with -shared)";
    if (header.e_phentsize != sizeof(ElfW(Phdr)))
        return "damaged";
    if (extends_beyond(header.e_phoff, (uint64_t)header.e_phnum * sizeof(ElfW(Phdr)), size))
        return "truncated";
    /* The loader needs no section headers, but they stand at the end: a file that is still being written has
       none. */
    if (header.e_shoff != 0 &&
        extends_beyond(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, size))
        return "truncated";
    return segments_problem(data, &header, size);
}
