/* One folder served twice, plain and over TLS, for tests that hold whichever way a request comes. */
#ifndef E2E_SITE_H
#define E2E_SITE_H

#include "harness.h"

#define TRANSPORT_COUNT 3 /* HTTP1, TLS1, HTTP2 */

struct site {
    struct folder *folder;
    struct server *plain, *tls;
};

/* Starts both on the folder, with the same environment. With one loop each: of several, one may have adopted
   a change that another has not yet heard of. */
struct site *site_start(struct folder *folder, const char *const environment[]);
void site_stop(struct site *site); /* NULL: nothing */

/* The one that is reached that way. */
struct server *site_server(const struct site *site, enum transport transport);

/* fields: "name: value", the last one NULL. */
struct answer *site_send(const struct site *site, enum transport transport, const char *method,
                         const char *path, const char *const fields[]);
struct answer *site_get(const struct site *site, enum transport transport, const char *path);
struct answer *site_get_with(const struct site *site, enum transport transport, const char *path,
                             const char *field);

/* Asks again until the field has that value (NULL: is not there), for what is made or seen in the background;
   fails the test when that does not come to pass. */
struct answer *site_await_field(const struct site *site, enum transport transport, const char *path,
                                const char *request_field, const char *name, const char *value);
/* The same, for a status and (unless NULL) a body. */
struct answer *site_await(const struct site *site, enum transport transport, const char *path, int status,
                          const char *body);

/* The body without its content coding, which must be gzip, br or none. */
char *answer_unpack(const struct answer *answer, size_t *ret_len);

#endif
