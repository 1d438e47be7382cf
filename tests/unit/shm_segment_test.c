#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/shm.h"
#include "shm/table.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB ((size_t)1 << 20)

static char folder[64];
static char path[96];

static void make_folder(void)
{
    strcpy(folder, "/tmp/shm_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/segment", folder);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static struct shm *create(const char *file, size_t size)
{
    struct shm *shm = NULL;
    ck_assert_int_eq(shm_create(file, size, &shm), 0);
    return shm;
}

static void write_file(const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

START_TEST(a_second_mapping_sees_the_same)
{
    struct shm *one = create(NULL, MB), *two;
    struct shm_counter *first, *second;
    ck_assert_int_eq(shm_attach(dup(shm_fd(one)), &two), 0);
    ck_assert_int_eq(shm_counter_open(one, "n", &first), 0);
    ck_assert_int_eq(shm_counter_open(two, "n", &second), 0);
    ck_assert_ptr_ne(first, second);
    ck_assert_int_eq(shm_counter_add(one, first, 5), 5);
    ck_assert_int_eq(shm_counter_get(second), 5);
    shm_close(one);
    shm_close(two);
    shm_close(NULL);
}
END_TEST

START_TEST(sizes_out_of_bounds_are_refused)
{
    struct shm *shm = NULL;
    ck_assert_int_eq(shm_create(NULL, SHM_SIZE_MIN - 1, &shm), -EINVAL);
    ck_assert_int_eq(shm_create(NULL, 0, &shm), -EINVAL);
    ck_assert_int_eq(shm_create(NULL, SIZE_MAX, &shm), -EINVAL);
    ck_assert_ptr_null(shm);
}
END_TEST

START_TEST(a_memfd_segment_cannot_shrink)
{
    struct shm *shm = create(NULL, MB);
    ck_assert_int_eq(ftruncate(shm_fd(shm), 4096), -1);
    ck_assert_int_eq(errno, EPERM);
    struct stat status;
    ck_assert_int_eq(fstat(shm_fd(shm), &status), 0);
    ck_assert_int_ge(status.st_blocks * 512, (long)MB);
    shm_close(shm);
}
END_TEST

START_TEST(only_segments_can_be_attached)
{
    struct shm *shm = NULL, *other = NULL;
    int fd = open("/dev/null", O_RDWR);
    ck_assert_int_eq(shm_attach(fd, &shm), -EPROTO);
    close(fd);
    ck_assert_int_eq(shm_attach(-1, &shm), -EBADF);
    struct shm *good = create(NULL, MB);
    good->segment->layout++;
    ck_assert_int_eq(shm_attach(shm_fd(good), &other), -EPROTONOSUPPORT);
    good->segment->layout--;
    good->segment->size += 4096;
    ck_assert_int_eq(shm_attach(shm_fd(good), &other), -EMSGSIZE);
    good->segment->size -= 4096;
    good->segment->plan.heap.offset += 64;
    ck_assert_int_eq(shm_attach(shm_fd(good), &other), -EUCLEAN);
    good->segment->plan.heap.offset -= 64;
    good->segment->magic++;
    ck_assert_int_eq(shm_attach(shm_fd(good), &other), -EPROTO);
    ck_assert_ptr_null(other);
    shm_close(good);
}
END_TEST

START_TEST(a_file_goes_on_after_a_restart)
{
    struct shm_counter *counter, *gauge;
    char value[16];
    size_t len;
    struct shm *shm = create(path, 2 * MB);
    ck_assert_int_eq(shm_worker_join(shm), 0);
    ck_assert_int_eq(shm_counter_open(shm, "hits", &counter), 0);
    ck_assert_int_eq(shm_gauge_open(shm, "online", &gauge), 0);
    shm_counter_add(shm, counter, 7);
    shm_counter_add(shm, gauge, 3);
    ck_assert_int_eq(shm_key_set(shm, "notes", "a", "hello", 5, 0), 0);
    ck_assert_int_eq(shm_lock(shm, "job", 1, 0), 0);
    shm_close(shm);

    shm = create(path, 2 * MB);
    ck_assert_int_eq(shm_worker_join(shm), 0);
    ck_assert_int_eq(shm_counter_open(shm, "hits", &counter), 0);
    ck_assert_int_eq(shm_gauge_open(shm, "online", &gauge), 0);
    ck_assert_int_eq(shm_counter_get(counter), 7);
    ck_assert_int_eq(shm_counter_get(gauge), 0);
    ck_assert_int_eq(shm_key_read(shm, "notes", "a", value, sizeof value, &len), 0);
    ck_assert_mem_eq(value, "hello", 5);
    ck_assert_int_eq(shm_lock(shm, "job", 2, 0), 0);
    shm_close(shm);
}
END_TEST

START_TEST(a_file_that_does_not_fit_is_refused_and_left_alone)
{
    struct shm *shm = NULL;
    write_file("my diary", 8);
    ck_assert_int_eq(shm_create(path, MB, &shm), -EPROTO);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, 8);
    unlink(path);

    char *text = malloc(MB);
    memset(text, 'x', MB);
    write_file(text, MB);
    free(text);
    ck_assert_int_eq(shm_create(path, MB, &shm), -EPROTO);
    unlink(path);

    shm_close(create(path, MB));
    ck_assert_int_eq(shm_create(path, 2 * MB, &shm), -EMSGSIZE);
    ck_assert_int_eq(shm_create(folder, MB, &shm), -EISDIR);
    ck_assert_int_eq(shm_create("/dev/null", MB, &shm), -EINVAL);

    struct shm *holder = create(path, MB);
    ck_assert_int_eq(shm_create(path, MB, &shm), -EBUSY);
    holder->segment->layout++;
    shm_close(holder);
    ck_assert_int_eq(shm_create(path, MB, &shm), -EPROTONOSUPPORT);
    ck_assert_ptr_null(shm);
}
END_TEST

START_TEST(a_half_made_file_is_made_anew)
{
    struct shm *shm = create(path, MB);
    ck_assert_int_eq(shm_key_set(shm, "a", "old", "c", 1, 0), 0);
    memset(shm->segment, 0, SHM_PAGE);
    shm_close(shm);
    shm = create(path, MB);
    ck_assert_int_eq(shm_key_delete(shm, "a", "old"), -ENOENT);
    ck_assert_int_eq(shm_key_set(shm, "a", "b", "c", 1, 0), 0);
    shm_close(shm);
}
END_TEST

START_TEST(what_was_in_flight_at_a_crash_is_freed_at_the_restart)
{
    struct shm_stats before, after;
    uint64_t offset;
    struct shm *shm = create(path, MB);
    ck_assert_int_eq(shm_key_set(shm, "a", "b", "c", 1, 0), 0);
    shm_stats(shm, &before);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(shm_heap_alloc(shm, 1000, false, &offset), 0);
    shm_close(shm);
    shm = create(path, MB);
    shm_stats(shm, &after);
    ck_assert_uint_eq(after.store_used, before.store_used);
    ck_assert_uint_eq(after.keys, 1);
    ck_assert_int_eq(shm_key_delete(shm, "a", "b"), 0);
    shm_stats(shm, &after);
    ck_assert_uint_eq(after.store_used, 0);
    shm_close(shm);
}
END_TEST

/* As if the machine had been off for an hour: its boot clock starts anew, the wall clock has gone on. */
START_TEST(deadlines_go_on_over_a_reboot)
{
    const int64_t hour = 3600000;
    size_t len;
    struct shm *shm = create(path, MB);
    ck_assert_int_eq(shm_key_set(shm, "a", "short", "1", 1, hour / 2), 0);
    ck_assert_int_eq(shm_key_set(shm, "a", "long", "1", 1, 2 * hour), 0);
    int64_t then = shm_now(shm);
    memset(shm->segment->boot_id, 'x', 8);
    shm->segment->clock_epoch -= hour;
    shm_close(shm);
    shm = create(path, MB);
    ck_assert_int_ge(shm_now(shm), then + hour - 1000);
    ck_assert_int_eq(shm_key_read(shm, "a", "short", NULL, 0, &len), -ENOENT);
    ck_assert_int_eq(shm_key_read(shm, "a", "long", NULL, 0, &len), 0);
    shm_close(shm);
}
END_TEST

static int count_key(void *data, const char *key, size_t len)
{
    (void)key;
    (void)len;
    ++*(int *)data;
    return 0;
}

/* Whatever a damaged file holds, it is refused or can be used, without a crash or an endless loop. */
START_TEST(damaged_files_do_no_harm)
{
    unsigned seed = 7;
    for (int round = 0; round < 60; round++) {
        char key[16], value[300] = {0};
        struct shm *shm = create(path, MB);
        for (int i = 0; i < 400; i++) {
            snprintf(key, sizeof key, "k%d", i);
            ck_assert_int_eq(shm_key_set(shm, "a", key, value, (size_t)rand_r(&seed) % sizeof value, 0), 0);
        }
        uint64_t start = shm->segment->plan.buckets.offset;
        if (round % 2)
            start = shm->segment->plan.heap.offset + 5000;
        for (int i = 0; i < 1 << round % 8; i++)
            ((char *)shm->segment)[start + (uint64_t)rand_r(&seed) % 60000] ^= (char)(1 << rand_r(&seed) % 8);
        shm_close(shm);
        int error = shm_create(path, MB, &shm);
        ck_assert(error == 0 || error == -EUCLEAN);
        if (error == 0) {
            int keys = 0;
            struct shm_stats stats;
            ck_assert_int_eq(shm_keys_each(shm, "a", count_key, &keys), 0);
            shm_stats(shm, &stats);
            ck_assert_uint_eq(stats.keys, (unsigned)keys);
            ck_assert_int_eq(shm_keys_clear(shm, "a"), 0);
            shm_stats(shm, &stats);
            ck_assert_uint_eq(stats.store_used, 0);
            shm_close(shm);
        }
        unlink(path);
    }
}
END_TEST

START_TEST(case_103_more_than_a_file_may_hold_is_an_error)
{
    struct shm *shm = NULL;
    struct rlimit limit = {.rlim_cur = MB / 2, .rlim_max = MB / 2};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(shm_create(path, MB, &shm), -EFBIG);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, 0);
    ck_assert_int_eq(shm_create(NULL, MB, &shm), -EFBIG);
    ck_assert_ptr_null(shm);
    ck_assert_ptr_nonnull(strstr(shm_explain(-EFBIG), "larger"));
}
END_TEST

START_TEST(case_103_more_than_the_file_system_has_is_an_error)
{
    struct shm *shm = NULL;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", folder, "tmpfs", 0, "size=2m") < 0) {
        fprintf(stderr, "skipped: a tmpfs cannot be mounted here (%s)\n", strerror(errno));
        return;
    }
    ck_assert_int_eq(shm_create(path, 256 * MB, &shm), -ENOSPC);
    ck_assert_ptr_null(shm);
    ck_assert_ptr_nonnull(strstr(shm_explain(-ENOSPC), "room"));
    shm = create(path, MB);
    /* All of it is ours: it can be written after somebody else has taken what is left. */
    char *filling = malloc(2 * MB);
    char other[96];
    memset(filling, 1, 2 * MB);
    snprintf(other, sizeof other, "%s/other", folder);
    int fd = open(other, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_lt(write(fd, filling, 2 * MB), (ssize_t)(2 * MB));
    close(fd);
    char key[16];
    int error = 0;
    for (int i = 0; error == 0; i++) {
        snprintf(key, sizeof key, "%d", i);
        error = shm_key_set(shm, "a", key, filling, 5000, 0);
    }
    ck_assert_int_eq(error, -ENOSPC);
    struct shm_counter *counter;
    ck_assert_int_eq(shm_counter_open(shm, "still works", &counter), 0);
    ck_assert_int_eq(shm_counter_add(shm, counter, 1), 1);
    free(filling);
    shm_close(shm);
    umount(folder);
}
END_TEST

START_TEST(workers_take_slots_and_give_them_back)
{
    struct shm *shm = create(NULL, MB);
    ck_assert_int_eq(shm_worker_join(shm), 0);
    int mine = shm->slot;
    ck_assert_int_eq(shm_worker_join(shm), 0);
    ck_assert_int_eq(shm->slot, mine);
    pid_t pids[SHM_WORKERS];
    int taken = 0, refused = 0;
    for (int i = 0; i < SHM_WORKERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(shm_worker_join(shm) == -EUSERS);
        int status;
        waitpid(pids[i], &status, 0);
        if (WEXITSTATUS(status) != 0)
            refused++;
        else
            taken++;
    }
    ck_assert_int_eq(taken, SHM_WORKERS - 2);
    ck_assert_int_eq(refused, 2);
    for (int i = 0; i < SHM_WORKERS; i++)
        shm_worker_gone(shm, pids[i]);
    pid_t pid = fork();
    if (pid == 0)
        _exit(shm_worker_join(shm) != 0);
    int status;
    waitpid(pid, &status, 0);
    ck_assert_int_eq(status, 0);
    shm_close(shm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_segment");
    TCase *tcase = tcase_create("segment");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_second_mapping_sees_the_same);
    tcase_add_test(tcase, sizes_out_of_bounds_are_refused);
    tcase_add_test(tcase, a_memfd_segment_cannot_shrink);
    tcase_add_test(tcase, only_segments_can_be_attached);
    tcase_add_test(tcase, a_file_goes_on_after_a_restart);
    tcase_add_test(tcase, a_file_that_does_not_fit_is_refused_and_left_alone);
    tcase_add_test(tcase, a_half_made_file_is_made_anew);
    tcase_add_test(tcase, what_was_in_flight_at_a_crash_is_freed_at_the_restart);
    tcase_add_test(tcase, deadlines_go_on_over_a_reboot);
    tcase_add_test(tcase, damaged_files_do_no_harm);
    tcase_add_test(tcase, case_103_more_than_a_file_may_hold_is_an_error);
    tcase_add_test(tcase, case_103_more_than_the_file_system_has_is_an_error);
    tcase_add_test(tcase, workers_take_slots_and_give_them_back);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
