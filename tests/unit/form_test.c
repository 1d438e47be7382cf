#include "app/form.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK_FILES 50
#define TYPE "multipart/form-data; boundary=b"

static struct arena arena;
static struct form *form;
static cg_fields fields;
static cg_files files;
static struct buffer body;

static void add_part(const char *filename, size_t len, char fill)
{
    buffer_printf(&body, "--b\r\nContent-Disposition: form-data; name=\"n\"%s%s%s\r\n\r\n",
                  filename ? "; filename=\"" : "", filename ? filename : "", filename ? "\"" : "");
    buffer_reserve(&body, len);
    memset(body.data + body.len, fill, len);
    body.len += len;
    buffer_text(&body, "\r\n");
}

static int take(size_t memory, size_t piece)
{
    buffer_text(&body, "--b--\r\n");
    ck_assert_int_eq(
        form_create(&arena, cg_string(TYPE), &(struct form_limits){1000, DISK_FILES, memory, "/tmp"}, &form),
        0);
    int error = 0;
    for (size_t at = 0; error == 0 && at < body.len; at += piece)
        error = form_feed(form, body.data + at, piece < body.len - at ? piece : body.len - at);
    return error ? error : form_end(form, &fields, &files);
}

static void end(void)
{
    form_destroy(form);
    arena_finish(&arena);
    buffer_finish(&body);
}

START_TEST(fields_and_small_files_stay_in_memory)
{
    add_part(NULL, 5, 'v');
    add_part("a.txt", 100, 'a');
    add_part("", 0, 'x');
    ck_assert_int_eq(take(1000, 7), 0);
    ck_assert_uint_eq(fields.count, 1);
    ck_assert_text(fields.items[0].value, "vvvvv");
    ck_assert_uint_eq(files.count, 2);
    ck_assert_text(files.items[0].filename, "a.txt");
    ck_assert_uint_eq(files.items[0].data.len, 100);
    ck_assert_int_eq(files.items[0].data.ptr[100], '\0');
    ck_assert_ptr_null(files.items[0].path.ptr);
    ck_assert_text(files.items[1].data, "");
    end();
}
END_TEST

START_TEST(a_large_file_is_on_disk_and_can_be_read_both_ways)
{
    static char content[300000];
    add_part("big", sizeof content, 'z');
    ck_assert_int_eq(take(1 << 20, 1000), 0);
    ck_assert_uint_eq(files.items[0].data.len, sizeof content);
    ck_assert_int_eq(files.items[0].data.ptr[0], 'z');
    ck_assert_int_eq(files.items[0].data.ptr[sizeof content], '\0');
    FILE *file = fopen(files.items[0].path.ptr, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(content, 1, sizeof content, file), sizeof content);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    end();
}
END_TEST

/* Whatever memory there is, files beyond it go to disk, and fields beyond it are refused. */
START_TEST(case_7_memory_is_bounded)
{
    for (int i = 0; i < 20; i++)
        add_part("f", 1000, 'f');
    ck_assert_int_eq(take(5000, 512), 0);
    size_t in_memory = 0;
    for (size_t i = 0; i < files.count; i++) {
        in_memory += files.items[i].path.ptr == NULL ? files.items[i].data.len : 0;
        ck_assert_uint_eq(files.items[i].data.len, 1000);
        ck_assert_int_eq(files.items[i].data.ptr[999], 'f');
    }
    ck_assert_uint_le(in_memory, 5000);
    end();
    for (int i = 0; i < 20; i++)
        add_part(NULL, 1000, 'v');
    ck_assert_int_eq(take(5000, 512), -413);
    end();
}
END_TEST

START_TEST(case_7_files_on_disk_are_bounded)
{
    for (int i = 0; i < DISK_FILES + 1; i++)
        add_part("f", 10, 'f');
    ck_assert_int_eq(take(5, 4096), -413);
    end();
}
END_TEST

START_TEST(what_is_no_form_is_refused)
{
    ck_assert_int_eq(form_create(&arena, cg_string("multipart/form-data"),
                                 &(struct form_limits){1000, DISK_FILES, 100, "/tmp"}, &form),
                     -400);
    ck_assert_int_eq(form_create(&arena, cg_string("text/plain"),
                                 &(struct form_limits){1000, DISK_FILES, 100, "/tmp"}, &form),
                     -415);
    ck_assert_int_eq(
        form_create(&arena, cg_string(TYPE), &(struct form_limits){1000, DISK_FILES, 100, "/tmp"}, &form), 0);
    ck_assert_int_eq(form_end(form, &fields, &files), -400);
    end();
}
END_TEST

START_TEST(a_disk_that_is_not_there_is_told)
{
    add_part("f", 5000, 'f');
    ck_assert_int_eq(
        form_create(&arena, cg_string(TYPE), &(struct form_limits){1000, DISK_FILES, 100, "/nowhere"}, &form),
        0);
    ck_assert_int_eq(form_feed(form, body.data, body.len), FORM_DISK);
    ck_assert_int_eq(form_error(form), -ENOENT);
    end();
}
END_TEST

/* From disk and from memory, with the mode asked for. */
START_TEST(keeping_replaces_at_once)
{
    char folder[] = "/tmp/cloudgate-test-XXXXXX", path[64], text[16];
    struct stat info;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kept", folder);
    for (size_t limit = 0; limit < 200; limit += 100) {
        struct spool spool = {.folder = "/tmp", .memory_limit = limit};
        ck_assert_int_eq(spool_write(&spool, "0123456789", 10), 0);
        ck_assert_int_eq(spool.on_disk, limit == 0);
        ck_assert_int_eq(spool_keep(&spool, path, 0640), 0);
        spool_finish(&spool);
        FILE *file = fopen(path, "r");
        ck_assert_uint_eq(fread(text, 1, sizeof text, file), 10);
        fclose(file);
        ck_assert_int_eq(stat(path, &info), 0);
        ck_assert_uint_eq(info.st_mode & 0777, 0640);
    }
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}
END_TEST

SUITE_MAIN("form", fields_and_small_files_stay_in_memory, a_large_file_is_on_disk_and_can_be_read_both_ways,
           case_7_memory_is_bounded, case_7_files_on_disk_are_bounded, what_is_no_form_is_refused,
           a_disk_that_is_not_there_is_told, keeping_replaces_at_once)
