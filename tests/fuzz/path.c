/* A raw path. */
#include "parse/path.h"

#include "tests/fuzz/fuzz.h"

/* One slash at the front, no empty, "." or ".." segment, no NUL. */
static void require_normal(const char *path, size_t len)
{
    require(len > 0 && path[0] == '/' && path[len] == '\0' && strlen(path) == len);
    require(strstr(path, "//") == NULL);
    for (const char *segment = path; segment != NULL; segment = strchr(segment, '/')) {
        size_t size = strcspn(++segment, "/");
        require(size != 1 || segment[0] != '.');
        require(size != 2 || segment[0] != '.' || segment[1] != '.');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    char *raw = exact_copy(data, size), *path = malloc(size + 1), *decoded = malloc(size + 1);
    size_t len;
    int r = path_normalise(raw, size, path, &len);
    require(r == 0 || r == -400);
    if (r == 0) {
        require(len <= size);
        require_normal(path, len);
        size_t shorter = path_decode(path, len, decoded);
        require(shorter <= len && decoded[shorter] == '\0');

        /* As a URL, it is the same path. */
        cg_str url = path_encode(&arena, cg_bytes(path, len));
        char *again = malloc(url.len + 1);
        size_t again_len;
        require_terminated(url);
        require(url.ptr[0] == '/' && url.ptr[1] != '/' && url.ptr[1] != '\\');
        require(path_normalise(url.ptr, url.len, again, &again_len) == 0);
        require(same_text(cg_bytes(again, again_len), cg_bytes(path, len)));
        free(again);
    }
    arena_finish(&arena);
    free(decoded);
    free(path);
    free(raw);
    return 0;
}
