/* Runs a fuzz target on files, or on all files of folders, instead of on what a fuzzer makes up:
   replay/NAME [FILE or FOLDER...]. A finding ends the program, so coming to the end is to have passed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned checks;

/* The input is a block of its own size, so that a sanitizer sees every read behind it. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    uint8_t *data = NULL;
    int r = -1;
    if (file == NULL || fstat(fileno(file), &status) < 0)
        goto out;
    size_t size = (size_t)status.st_size;
    data = malloc(size ? size : 1);
    if (data == NULL || fread(data, 1, size, file) != size)
        goto out;
    r = LLVMFuzzerTestOneInput(data, size);
    checks++;
out:
    if (r != 0)
        perror(path);
    free(data);
    if (file != NULL)
        fclose(file);
    return r;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
    struct dirent **entries;
    int r = 0, count = scandir(folder, &entries, is_input, alphasort);
    if (count < 0) {
        perror(folder);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) >= (int)sizeof path ||
            replay_file(path) != 0)
            r = -1;
        free(entries[i]);
    }
    free(entries);
    return r;
}

int main(int count, char **paths)
{
    int r = LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    checks++;
    for (int i = 1; i < count; i++) {
        struct stat status;
        if (stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode))
            r |= replay_folder(paths[i]);
        else
            r |= replay_file(paths[i]);
    }
    if (r != 0)
        return EXIT_FAILURE;
    printf("100%%: Checks: %u, Failures: 0, Errors: 0\n", checks);
    return EXIT_SUCCESS;
}
