#include "app/seal.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONCE_SIZE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_SIZE crypto_aead_xchacha20poly1305_ietf_ABYTES
#define EXPIRY_SIZE 8
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(SEAL_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "the key's size");

static int read_key(const char *path, struct seal_key *key)
{
    struct seal_key found;
    char beyond;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, found.bytes, sizeof found.bytes);
    int whole = got == (ssize_t)sizeof found.bytes && read(fd, &beyond, 1) == 0;
    close(fd);
    if (!whole)
        return -EBADMSG;
    *key = found;
    sodium_memzero(&found, sizeof found);
    return 0;
}

/* Written beside and linked into place, so that of two processes that start at once one wins, with a whole
   file. */
static int write_key(const char *path, const struct seal_key *key)
{
    char temporary[PATH_MAX];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary)
        return -ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return -errno;
    int error = file_write_all(fd, key->bytes, sizeof key->bytes);
    if (error == 0 && fsync(fd) != 0)
        error = -errno;
    if (close(fd) != 0 && error == 0)
        error = -errno;
    if (error == 0 && link(temporary, path) != 0)
        error = -errno;
    unlink(temporary);
    return error;
}

int seal_key_load(const char *state_dir, struct seal_key *ret_key)
{
    char path[PATH_MAX];
    randombytes_buf(ret_key->bytes, sizeof ret_key->bytes);
    if ((size_t)snprintf(path, sizeof path, "%s/seal.key", state_dir) >= sizeof path)
        return -ENAMETOOLONG;
    int error = read_key(path, ret_key);
    if (error != -ENOENT)
        return error;
    if (mkdir(state_dir, 0700) != 0 && errno != EEXIST)
        return -errno;
    error = write_key(path, ret_key);
    return error == -EEXIST ? read_key(path, ret_key) : error;
}

static void put_expiry(unsigned char *out, int64_t expires)
{
    for (int i = 0; i < EXPIRY_SIZE; i++)
        out[i] = (unsigned char)((uint64_t)expires >> (8 * i));
}

static int64_t get_expiry(const unsigned char *in)
{
    uint64_t expires = 0;
    for (int i = 0; i < EXPIRY_SIZE; i++)
        expires |= (uint64_t)in[i] << (8 * i);
    return (int64_t)expires;
}

cg_str seal(const struct seal_key *key, struct arena *arena, const void *data, size_t len, int64_t expires_ms)
{
    size_t size = NONCE_SIZE + EXPIRY_SIZE + len + TAG_SIZE;
    unsigned char *raw = arena_alloc(arena, size);
    unsigned char *plain = raw + NONCE_SIZE;
    randombytes_buf(raw, NONCE_SIZE);
    put_expiry(plain, expires_ms);
    if (len > 0)
        memcpy(plain + EXPIRY_SIZE, data, len);
    crypto_aead_xchacha20poly1305_ietf_encrypt(plain, NULL, plain, EXPIRY_SIZE + len, NULL, 0, NULL, raw,
                                               key->bytes);
    size_t room = sodium_base64_encoded_len(size, VARIANT);
    char *text = arena_alloc(arena, room);
    sodium_bin2base64(text, room, raw, size, VARIANT);
    return cg_bytes(text, room - 1);
}

int unseal(const struct seal_key *key, struct arena *arena, cg_str text, int64_t now_ms, cg_str *ret_data)
{
    unsigned char *raw = arena_alloc(arena, text.len + 1);
    size_t size;
    if (sodium_base642bin(raw, text.len, text.ptr, text.len, NULL, &size, NULL, VARIANT) != 0)
        return -EBADMSG;
    if (size < NONCE_SIZE + EXPIRY_SIZE + TAG_SIZE)
        return -EBADMSG;
    unsigned char *plain = raw + NONCE_SIZE;
    unsigned long long len;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &len, NULL, plain, size - NONCE_SIZE, NULL, 0, raw,
                                                   key->bytes) != 0)
        return -EBADMSG;
    if (get_expiry(plain) <= now_ms)
        return -ETIME;
    plain[len] = '\0';
    *ret_data = cg_bytes(plain + EXPIRY_SIZE, (size_t)len - EXPIRY_SIZE);
    return 0;
}
