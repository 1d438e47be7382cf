#include "crowd.h"

#include "harness.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct crowd {
    volatile bool *over; /* shared with the clients */
    int each, clients;
    pid_t pids[];
};

static void free_answer(struct answer *answer)
{
    free(answer->body);
    free(answer->head);
    free(answer);
}

static void ask(const struct crowd *crowd, int port, const char *path)
{
    int asked = 0;
    while (!*crowd->over) {
        struct wire *wire = wire_open(port);
        bool kept = true;
        while (kept && !*crowd->over) {
            wire_print(wire, "GET %s HTTP/1.1\r\nHost: x.test\r\n\r\n", path);
            struct answer *answer = wire_answer(wire, "GET");
            answer_expect(answer, 200);
            kept = answer_field(answer, "connection") == NULL;
            free_answer(answer);
            if (++asked == crowd->each)
                return;
        }
        wire_close(wire);
    }
}

struct crowd *crowd_start(const struct server *server, const char *path, int clients, int each)
{
    struct crowd *crowd = calloc(1, sizeof *crowd + (size_t)clients * sizeof *crowd->pids);
    ck_assert_ptr_nonnull(crowd);
    crowd->each = each;
    crowd->clients = clients;
    crowd->over = mmap(NULL, sizeof *crowd->over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne((void *)crowd->over, MAP_FAILED);
    for (int i = 0; i < clients; i++) {
        crowd->pids[i] = fork();
        ck_assert_int_ge(crowd->pids[i], 0);
        if (crowd->pids[i] == 0) {
            ask(crowd, server->port, path);
            _exit(0);
        }
    }
    return crowd;
}

void crowd_end(struct crowd *crowd)
{
    *crowd->over = crowd->each == 0;
    for (int i = 0; i < crowd->clients; i++) {
        int status;
        ck_assert_int_eq(waitpid(crowd->pids[i], &status, 0), crowd->pids[i]);
        ck_assert_msg(status == 0, "a client failed: %#x", (unsigned)status);
    }
    munmap((void *)crowd->over, sizeof *crowd->over);
    free(crowd);
}
