#include "app/seal.h"
#include "suite.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW 1000000

static struct arena arena;
static struct seal_key key;

static void setup(void)
{
    ck_assert_int_ge(sodium_init(), 0);
    arena_init(&arena, NULL);
    randombytes_buf(key.bytes, sizeof key.bytes);
}

START_TEST(what_is_sealed_opens_whatever_its_length)
{
    char data[300];
    setup();
    memset(data, 'x', sizeof data);
    for (size_t len = 0; len <= sizeof data; len += 13) {
        cg_str opened, text = seal(&key, &arena, data, len, NOW + 1);
        ck_assert_uint_eq(
            strspn(text.ptr, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), text.len);
        ck_assert_int_eq(unseal(&key, &arena, text, NOW, &opened), 0);
        ck_assert_uint_eq(opened.len, len);
        ck_assert_mem_eq(opened.ptr, data, len);
        ck_assert_int_eq(opened.ptr[len], '\0');
    }
    arena_finish(&arena);
}
END_TEST

START_TEST(every_forged_byte_and_every_cut_is_noticed)
{
    setup();
    cg_str opened = {"untouched", 9}, text = seal(&key, &arena, "ann", 3, NOW + 1);
    for (size_t i = 0; i < text.len; i++) {
        char *forged = (char *)arena_copy(&arena, text.ptr, text.len).ptr;
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        ck_assert_int_eq(unseal(&key, &arena, cg_bytes(forged, text.len), NOW, &opened), -EBADMSG);
        ck_assert_int_eq(unseal(&key, &arena, cg_bytes(text.ptr, i), NOW, &opened), -EBADMSG);
    }
    ck_assert_int_eq(unseal(&key, &arena, cg_string("no base64!"), NOW, &opened), -EBADMSG);
    ck_assert_str_eq(opened.ptr, "untouched");
    arena_finish(&arena);
}
END_TEST

START_TEST(it_ends_with_its_time_and_with_its_key)
{
    setup();
    cg_str opened, text = seal(&key, &arena, "ann", 3, NOW);
    ck_assert_int_eq(unseal(&key, &arena, text, NOW - 1, &opened), 0);
    ck_assert_int_eq(unseal(&key, &arena, text, NOW, &opened), -ETIME);
    key.bytes[0] ^= 1;
    ck_assert_int_eq(unseal(&key, &arena, text, NOW - 1, &opened), -EBADMSG);
    arena_finish(&arena);
}
END_TEST

START_TEST(the_key_is_made_once_and_only_for_its_owner)
{
    char folder[] = "/tmp/cloudgate-test-XXXXXX", state[64], path[80];
    struct seal_key again;
    struct stat info;
    setup();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(state, sizeof state, "%s/state", folder);
    snprintf(path, sizeof path, "%s/seal.key", state);
    ck_assert_int_eq(seal_key_load(state, &key), 0);
    ck_assert_int_eq(seal_key_load(state, &again), 0);
    ck_assert_mem_eq(&again, &key, sizeof key);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(truncate(path, 5), 0);
    ck_assert_int_eq(seal_key_load(state, &again), -EBADMSG);
    ck_assert_mem_ne(&again, &key, sizeof key);
    unlink(path);
    rmdir(state);
    rmdir(folder);
}
END_TEST

SUITE_MAIN("seal", what_is_sealed_opens_whatever_its_length, every_forged_byte_and_every_cut_is_noticed,
           it_ends_with_its_time_and_with_its_key, the_key_is_made_once_and_only_for_its_owner)
