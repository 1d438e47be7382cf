#include "app/source_line.h"

#include "base/alloc.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct source_lines {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Dwarf_Addr start;
};

static char *no_debug_folder = NULL;
static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_debug_folder,
};

struct source_lines *source_lines_open(int fd)
{
    struct source_lines *lines = xzalloc(sizeof *lines);
    int copy = dup(fd); /* which libdw takes over */
    lines->dwfl = dwfl_begin(&callbacks);
    if (lines->dwfl != NULL && copy >= 0)
        lines->module = dwfl_report_offline(lines->dwfl, "", "", copy);
    if (lines->module == NULL) {
        if (copy >= 0)
            close(copy);
        source_lines_close(lines);
        return NULL;
    }
    dwfl_report_end(lines->dwfl, NULL, NULL);
    dwfl_module_info(lines->module, NULL, &lines->start, NULL, NULL, NULL, NULL, NULL);
    return lines;
}

void source_lines_close(struct source_lines *lines)
{
    if (lines == NULL)
        return;
    if (lines->dwfl != NULL)
        dwfl_end(lines->dwfl);
    free(lines);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void source_lines_describe(struct source_lines *lines, size_t offset, struct buffer *out)
{
    const Dwarf_Addr address = lines->start + offset;
    const char *function = dwfl_module_addrname(lines->module, address);
    Dwfl_Line *line = dwfl_module_getsrc(lines->module, address);
    int number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (file != NULL)
        buffer_printf(out, "%s:%d", last_part(file), number);
    else
        buffer_printf(out, "0x%zx", offset);
    if (function != NULL)
        buffer_printf(out, " in %s", function);
}
