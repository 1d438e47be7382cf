/* The control socket in STATE_DIR: how `cloudgate reload | status | stop` reach the supervisor. A client says
   one word and gets text that begins with "ok" or "failed", then the end. */
#ifndef PROCESS_CONTROL_H
#define PROCESS_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define CONTROL_CLIENTS 8
#define CONTROL_WORD_SIZE 32
#define CONTROL_POLLS (1 + CONTROL_CLIENTS)

struct control_client {
    int fd; /* -1: none */
    size_t len;
    char word[CONTROL_WORD_SIZE]; /* what it says; terminated once its line is whole */
    bool waits;                   /* for the answer */
};

struct control {
    int fd; /* -1: closed */
    char *path;
    struct control_client clients[CONTROL_CLIENTS];
};

/* Makes state_dir (0700) and the socket (0600) in it. A negative errno; -EADDRINUSE: another server has it.
 */
int control_open(struct control *control, const char *state_dir);
void control_close(struct control *control); /* clients that wait see the end */

/* For poll: writes CONTROL_POLLS entries. */
void control_polls(const struct control *control, struct pollfd polls[CONTROL_POLLS]);
/* What poll has found: takes clients and their words, and hands each whole word over, once. */
void control_take(struct control *control, const struct pollfd polls[CONTROL_POLLS],
                  void (*said)(void *arg, struct control_client *client), void *arg);
/* Tells a client, and ends with it unless it shall wait for the end of the server. */
void control_answer(struct control_client *client, const char *text, bool end);
/* The same for all that have said this word and wait. */
void control_answer_all(struct control *control, const char *word, const char *text);

/* The other end: says the word and prints what comes until the end. 0; -EPROTO: the answer was not "ok"; a
   negative errno: there is no such server. */
int control_ask(const char *state_dir, const char *word);

#endif
