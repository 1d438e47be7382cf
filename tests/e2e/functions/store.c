/* POST ?do=create|cas|incr|keys|clear|lock&key=&old=&n= with a body -> the result as text. */
#include <cloudgate.h>
#include <errno.h>

static void keys(cg_event *event)
{
    cg_fields list = cg_shm_keys(event, "store");
    for (size_t i = 0; i < list.count; i++)
        cg_print(event, "%s\n", list.items[i].name.ptr);
    cg_print(event, "%zu\n", list.count);
}

static void lock(cg_event *event)
{
    int first = cg_shm_lock(event, "store", 10000), second = cg_shm_lock(event, "store", 0);
    cg_reply(event, 200, "text/plain", "%d %d", first, second == -EDEADLK);
}

static void store(cg_event *event)
{
    const char *act = cg_query(event, "do"), *key = cg_query(event, "key"), *old = cg_query(event, "old");
    int64_t n = 0, sum = 0;
    int error = 0;
    if (cg_query(event, "n") && cg_parse_int(cg_query(event, "n"), -1000, 1000, &n) != 0)
        error = -EINVAL;
    else if (strcmp(act, "create") == 0)
        error = cg_shm_create("store", key, event->body.ptr, event->body.len, 0);
    else if (strcmp(act, "cas") == 0)
        error = cg_shm_cas("store", key, cg_string(old), event->body, 0);
    else if (strcmp(act, "incr") == 0)
        error = cg_shm_incr("store", key, n, 0, &sum);
    else if (strcmp(act, "clear") == 0)
        sum = cg_shm_clear("store");
    else if (strcmp(act, "keys") == 0)
        return keys(event);
    else if (strcmp(act, "lock") == 0)
        return lock(event);
    cg_reply(event, 200, "text/plain", "%d %lld", error, (long long)sum);
}

CG_MODULE(.post = store);
