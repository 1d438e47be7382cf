/* POST: the body as it arrives, its size and digest in the answer. X-Return: what .body returns for it from
   the first byte on. A body that begins with "reply" is refused after an answer was made. */
#include <cloudgate.h>
#include <stdlib.h>

typedef struct {
    size_t bytes, calls;
    uint64_t digest;
} tally;

static int chunk(cg_event *event, const char *data, size_t len)
{
    const char *result = cg_header(event, "x-return");
    tally *sum = event->data;
    if (sum == NULL) {
        sum = event->data = cg_alloc(event, sizeof *sum);
        sum->digest = 0xcbf29ce484222325u;
    }
    for (size_t i = 0; i < len; i++)
        sum->digest = (sum->digest ^ (unsigned char)data[i]) * 0x100000001b3u;
    sum->bytes += len;
    sum->calls++;
    cg_log(event, CG_INFO, "chunk");
    return result ? atoi(result) : 0;
}

static void end(cg_event *event)
{
    const tally *sum = event->data;
    cg_reply(event, 200, "text/plain", "%zu %016llx %zu", sum ? sum->bytes : 0,
             sum ? (unsigned long long)sum->digest : 0, event->body.len);
}

CG_MODULE(.body = chunk, .post = end);
