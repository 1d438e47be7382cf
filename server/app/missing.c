#include "app/missing.h"

#include "base/alloc.h"

static const struct {
    const char *name; /* '*' at the end stands for anything */
    const char *feature;
} functions[] = {
    {"cg_ws_*", "WebSockets"},
    {"cg_subscribe_ws", "WebSockets"},
    {"cg_unsubscribe", "WebSockets"},
};

const char *missing_function(const char *symbol)
{
    size_t len = strcspn(symbol, ",: ");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t fixed = strcspn(functions[i].name, "*");
        if (functions[i].name[fixed] == '*' ? len >= fixed : len == fixed)
            if (memcmp(functions[i].name, symbol, fixed) == 0)
                return functions[i].feature;
    }
    return NULL;
}

char *missing_hooks(const cg_module *hooks)
{
    uint64_t unknown = hooks->flags & ~(uint64_t)CG_BLOCKING;
    if (unknown != 0)
        return xsprintf("the flag 0x%llx", (unsigned long long)unknown);
    const char *websocket = hooks->upgrade   ? "upgrade"
                            : hooks->open    ? "open"
                            : hooks->message ? "message"
                            : hooks->drain   ? "drain"
                            : hooks->close   ? "close"
                                             : NULL;
    return websocket ? xsprintf(".%s (WebSockets)", websocket) : NULL;
}
