/* /proc/net/tcp and tcp6 give the inode of each listening socket, /proc/PID/fd the sockets of each
   process. */
#include "process/port_owner.h"

#include "base/alloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sockets of one SO_REUSEPORT group belong to the same owner, mostly: some are enough. */
#define INODES_MAX 64
#define LISTENING 0x0a

struct inodes {
    unsigned long items[INODES_MAX];
    size_t count;
};

/* Whether a socket bound to theirs keeps us from binding ours; the ports are known to be the same. */
static bool collide(const struct address *ours, const struct address *theirs)
{
    bool same_family = ours->socket.any.sa_family == theirs->socket.any.sa_family;
    if (same_family)
        return address_is_everywhere(ours) || address_is_everywhere(theirs) || address_equal(ours, theirs);
    const struct address *v6 = ours->socket.any.sa_family == AF_INET6 ? ours : theirs;
    return address_is_everywhere(v6);
}

/* The kernel prints an address as 32 bit words in the byte order of the machine. */
static bool read_address(const char *hex, int port, struct address *ret)
{
    uint32_t words[4];
    size_t len = strlen(hex), count = len / 8;
    if (len % 8 != 0 || (count != 1 && count != 4))
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned int word;
        if (sscanf(hex + 8 * i, "%8x", &word) != 1)
            return false;
        words[i] = word;
    }
    *ret = count == 1 ? address_everywhere_v4(port) : address_everywhere_v6(port);
    if (count == 1)
        ret->socket.v4.sin_addr.s_addr = words[0];
    else
        memcpy(&ret->socket.v6.sin6_addr, words, sizeof words);
    return true;
}

static void find_inodes(const char *table, const struct address *ours, struct inodes *inodes)
{
    char line[512], hex[33];
    FILE *file = fopen(table, "re");
    if (file == NULL)
        return;
    while (inodes->count < INODES_MAX && fgets(line, sizeof line, file) != NULL) {
        unsigned int port, state;
        unsigned long inode;
        struct address theirs;
        /* sl local remote state queues timer retransmits uid timeout inode */
        if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[^ ] %x %*s %*s %*s %*u %*d %lu", hex, &port, &state,
                   &inode) != 4)
            continue;
        if (state == LISTENING && (int)port == address_port(ours) && read_address(hex, (int)port, &theirs) &&
            collide(ours, &theirs))
            inodes->items[inodes->count++] = inode;
    }
    fclose(file);
}

static bool is_one_of(const char *link, const struct inodes *inodes)
{
    unsigned long inode;
    if (sscanf(link, "socket:[%lu]", &inode) != 1)
        return false;
    for (size_t i = 0; i < inodes->count; i++) {
        if (inodes->items[i] == inode)
            return true;
    }
    return false;
}

static bool holds(long pid, const struct inodes *inodes)
{
    char path[32], link[64];
    bool found = false;
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%ld/fd", pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return false;
    while (!found && (entry = readdir(dir)) != NULL) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (len < 0)
            continue;
        link[len] = '\0';
        found = is_one_of(link, inodes);
    }
    closedir(dir);
    return found;
}

static long find_holder(const struct inodes *inodes)
{
    long holder = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc");
    if (dir == NULL)
        return 0;
    while (holder == 0 && (entry = readdir(dir)) != NULL) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && *end == '\0' && holds(pid, inodes))
            holder = pid;
    }
    closedir(dir);
    return holder;
}

static char *describe(long pid)
{
    char path[32], name[32];
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    if (len <= 0)
        return xsprintf("the process with pid %ld", pid);
    name[len] = '\0';
    name[strcspn(name, "\n")] = '\0';
    return xsprintf("'%s' (pid %ld)", name, pid);
}

char *port_owner(const struct address *address)
{
    struct inodes inodes = {.count = 0};
    find_inodes("/proc/net/tcp", address, &inodes);
    find_inodes("/proc/net/tcp6", address, &inodes);
    long holder = inodes.count > 0 ? find_holder(&inodes) : 0;
    if (holder == 0)
        return xstrdup("another process");
    if (holder == getpid())
        return xstrdup("this server itself");
    return describe(holder);
}
