/* Sealed text: XChaCha20-Poly1305 (libsodium's AEAD), base64url without padding, so that it fits into a
   cookie. Inside: a nonce of 24 bytes, then encrypted: the end of its life (ms since 1970, little endian) and
   the data. */
#ifndef APP_SEAL_H
#define APP_SEAL_H

#include "base/arena.h"

#include <stdint.h>

#define SEAL_KEY_SIZE 32

struct seal_key {
    unsigned char bytes[SEAL_KEY_SIZE];
};

/* Reads state_dir/seal.key, or makes it (mode 0600) with a new random key. 0; or a negative errno, and the
   key is a random one that lasts as long as the process. -EBADMSG: the file is no key. */
int seal_key_load(const char *state_dir, struct seal_key *ret_key);

cg_str seal(const struct seal_key *key, struct arena *arena, const void *data, size_t len,
            int64_t expires_ms);
/* 0 and the data; -EBADMSG: forged or malformed; -ETIME: its life has ended by now_ms. */
int unseal(const struct seal_key *key, struct arena *arena, cg_str text, int64_t now_ms, cg_str *ret_data);

#endif
