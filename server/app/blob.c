#include "app/blob.h"

#include "base/alloc.h"

#include <sodium.h>
#include <stdlib.h>

#define HASH_SIZE 16
#define HASH_TEXT sodium_base64_VARIANT_URLSAFE_NO_PADDING

static void make_etag(struct blob *blob)
{
    unsigned char hash[HASH_SIZE];
    _Static_assert(sizeof blob->etag == sodium_base64_ENCODED_LEN(HASH_SIZE, HASH_TEXT) + 2, "two quotes");
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)blob->bytes, blob->len, NULL, 0);
    sodium_bin2base64(blob->etag + 1, sizeof blob->etag - 2, hash, sizeof hash, HASH_TEXT);
    blob->etag[0] = blob->etag[sizeof blob->etag - 2] = '"';
    blob->etag[sizeof blob->etag - 1] = '\0';
}

struct blob *blob_create(char *bytes, size_t len)
{
    struct blob *blob = xalloc(sizeof *blob);
    blob->refs = 1;
    blob->bytes = bytes;
    blob->len = len;
    make_etag(blob);
    return blob;
}

struct blob *blob_keep(struct blob *blob)
{
    if (blob != NULL)
        blob->refs++;
    return blob;
}

void blob_drop(struct blob *blob)
{
    if (blob == NULL || --blob->refs > 0)
        return;
    free(blob->bytes);
    free(blob);
}
