#include "shm/layout.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/crypto_shorthash.h>
#include <string.h>
#include <unistd.h>

/* Stays empty where there is no /proc. */
static void read_boot_id(char boot_id[40])
{
    memset(boot_id, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, boot_id, 36) != 36)
        memset(boot_id, 0, 40);
    close(fd);
}

/* Deadlines are kept by a clock that no one can set. After a reboot the wall clock tells how long that
   took. */
void shm_clock_init(struct shm_segment *segment, bool restarted)
{
    char boot_id[40];
    read_boot_id(boot_id);
    if (!restarted)
        segment->clock_shift = 0;
    else if (boot_id[0] == '\0' || memcmp(boot_id, segment->boot_id, sizeof boot_id) != 0)
        segment->clock_shift = wall_ms() - segment->clock_epoch - clock_ms(CLOCK_BOOTTIME);
    memcpy(segment->boot_id, boot_id, sizeof boot_id);
    segment->clock_epoch = wall_ms() - clock_ms(CLOCK_BOOTTIME) - segment->clock_shift;
}

int64_t shm_now(const struct shm *shm)
{
    return clock_ms(CLOCK_BOOTTIME) + shm->segment->clock_shift;
}

uint64_t shm_hash(const struct shm *shm, const void *data, size_t len)
{
    uint64_t hash;
    crypto_shorthash((unsigned char *)&hash, data, len, shm->segment->hash_key);
    return hash != 0 ? hash : 1;
}

int shm_name_length(const char *name, size_t max)
{
    size_t len = name != NULL ? strnlen(name, max + 1) : 0;
    if (len > max)
        return -E2BIG;
    return len > 0 ? (int)len : -EINVAL;
}
