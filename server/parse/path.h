/* Paths. Those of request targets have one form for routing, rules, look-up and event->path.

   In that form every escape is decoded, and a '/' always separates. Two things can't be written so and stay
   escaped: an encoded slash is "%2F", and a '%' that would look like an escape of this form, because "2F",
   "2f" or "25" comes behind it, is "%25". All other '%' mean themselves:

       /a%20b      ->  /a b
       /100%25.txt ->  /100%.txt
       /a%2fb      ->  /a%2Fb: one segment, "a/b" once path_decode has seen it
       /a%252Fb    ->  /a%252Fb: "a%2Fb" once decoded

   So path_decode is exact, and nothing is decoded twice. */
#ifndef PARSE_PATH_H
#define PARSE_PATH_H

#include "base/arena.h"

#include <cloudgate.h>
#include <stdbool.h>

/* Brings a raw path into that form: "//" becomes "/", "." and ".." segments (however encoded) are resolved, a
   slash at the end stays, as do '+', '\' and upper case. out has room for len + 1 bytes and gets a NUL behind
   *ret_len. 0, or -400: no slash at the front, a broken escape, "%00", a byte that can't stand in a target,
   or above the root. */
int path_normalise(const char *raw, size_t len, char *out, size_t *ret_len);

/* Decodes a segment of a normalised path (for a `:name` of a route) into out, len + 1 bytes. Returns the
   length. */
size_t path_decode(const char *segment, size_t len, char *out);

/* A normalised path as it is written in a URL, as for Location: the inverse of path_normalise. */
cg_str path_encode(struct arena *arena, cg_str path);

/* Of a path on disk: whether it is relative, not empty and without a ".." segment. */
bool path_stays_below(const char *path);

#endif
