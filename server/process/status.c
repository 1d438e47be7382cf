#include "process/status.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void status_note_outcome(struct status *status, const char *word, const char *what)
{
    snprintf(status->outcome, sizeof status->outcome, "%s: %s\n", word, what);
}

char *status_text(const struct status *status, const struct crew *crew)
{
    struct buffer out = {0};
    buffer_printf(&out, "ok: cloudgate " CLOUDGATE_VERSION ", process %d, up for %lld s\n", (int)getpid(),
                  (long long)(monotonic_ms() - status->began) / 1000);
    buffer_printf(&out, "root       %s\nreloads    %u", status->root, status->reloads);
    if (status->reloads > 0)
        buffer_printf(&out, ", the last one because of %s, %.*s", status->reason,
                      (int)strcspn(status->outcome, "\n"), status->outcome);
    buffer_text(&out, "\n");
    crew_describe(crew, &out);
    return buffer_detach(&out);
}
