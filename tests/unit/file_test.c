#include "base/file.h"

#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

static int read_scratch(const char *name, uint64_t limit, char **ret_data, struct stat *ret_stat)
{
    char *path = scratch_path(name);
    int result = file_read(path, limit, ret_data, ret_stat);
    free(path);
    return result;
}

static struct stat stat_of(const char *name)
{
    struct stat status;
    char *path = scratch_path(name);
    ck_assert_int_eq(stat(path, &status), 0);
    free(path);
    return status;
}

START_TEST(reads_all_bytes)
{
    char *data;
    struct stat status;
    scratch_setup();
    scratch_write("some", "a\0b\n", 4);
    ck_assert_int_eq(read_scratch("some", 4, &data, &status), 0);
    ck_assert_int_eq(status.st_size, 4);
    ck_assert_mem_eq(data, "a\0b\n", 5);
    free(data);
    scratch_write("empty", "", 0);
    ck_assert_int_eq(read_scratch("empty", 0, &data, &status), 0);
    ck_assert_int_eq(status.st_size, 0);
    ck_assert_str_eq(data, "");
    free(data);
    scratch_teardown();
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
    char *data = NULL;
    struct stat status;
    scratch_setup();
    scratch_text("folder/large", "12345");
    ck_assert_int_eq(read_scratch("folder/large", 4, &data, &status), -EFBIG);
    ck_assert_int_eq(read_scratch("folder", 4, &data, &status), -ENOTSUP);
    ck_assert_int_eq(read_scratch("nothing", 4, &data, &status), -ENOENT);
    char *fifo = scratch_path("fifo");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(file_read(fifo, 4, &data, &status), -ENOTSUP);
    free(fifo);
    ck_assert_ptr_null(data);
    scratch_teardown();
}
END_TEST

START_TEST(reads_a_part)
{
    char out[8] = {0};
    scratch_setup();
    scratch_text("some", "0123456789");
    char *path = scratch_path("some");
    int fd = open(path, O_RDONLY);
    ck_assert_int_eq(file_read_at(fd, out, 4, 3), 4);
    ck_assert_str_eq(out, "3456");
    ck_assert_int_eq(file_read_at(fd, out, 8, 8), 2);
    ck_assert_mem_eq(out, "89", 2);
    ck_assert_int_eq(file_read_at(fd, out, 8, 20), 0);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(file_read_at(fd, out, 8, 0), -EBADF);
    free(path);
    scratch_teardown();
}
END_TEST

/* More than a pipe holds, so that write takes it in several goes. */
START_TEST(writes_all_of_it)
{
    enum { SIZE = 1 << 20 };
    int ends[2];
    char *data = xzalloc(SIZE);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(file_write_all(ends[1], data, SIZE) == 0 ? 0 : 1);
    }
    close(ends[1]);
    size_t total = 0;
    ssize_t got;
    while ((got = read(ends[0], data, SIZE)) > 0)
        total += (size_t)got;
    ck_assert_uint_eq(total, SIZE);
    close(ends[0]);
    ck_assert_int_eq(file_write_all(-1, data, 1), -EBADF);
    ck_assert_int_eq(file_write_all(-1, data, 0), 0);
    free(data);
}
END_TEST

START_TEST(full_disks_are_told)
{
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        return;
    ck_assert_int_eq(file_write_all(fd, "x", 1), -ENOSPC);
    close(fd);
}
END_TEST

START_TEST(tells_changes)
{
    scratch_setup();
    scratch_text("a", "1");
    scratch_text("b", "1");
    struct stat a = stat_of("a"), b = stat_of("b"), other;
    ck_assert(file_is_same(&a, &a) && file_is_unchanged(&a, &a));
    ck_assert(!file_is_same(&a, &b) && !file_is_unchanged(&a, &b));
    other = a;
    other.st_size++;
    ck_assert(file_is_same(&a, &other) && !file_is_unchanged(&a, &other));
    other = a;
    other.st_mtim.tv_nsec++;
    ck_assert(!file_is_unchanged(&a, &other));
    other = a;
    other.st_mtim.tv_sec++;
    ck_assert(!file_is_unchanged(&a, &other));
    other = a;
    other.st_ctim.tv_sec++; /* a new name or owner */
    ck_assert(file_is_unchanged(&a, &other));
    scratch_teardown();
}
END_TEST

SUITE_MAIN("file", reads_all_bytes, refuses_what_is_no_file, reads_a_part, writes_all_of_it,
           full_disks_are_told, tells_changes)
