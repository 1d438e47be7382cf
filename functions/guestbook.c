/* /api/guestbook: what guests have written, in SQLite. GET lists the latest; POST with name and text adds.
   It waits for the disk, so it runs on the pool, with one connection for each thread of that. GUESTBOOK names
   the file. */
// cloudgate: pkgs=sqlite3
#include <cloudgate.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>

#define DEFAULT_FILE "guestbook.db"
#define LATEST "20"
#define BUSY_MS 5000

static __thread sqlite3 *db;

static int open_db(void)
{
    const char *file = cg_env("GUESTBOOK");
    if (cg_loop() >= 0) /* an event loop never asks */
        return 0;
    if (sqlite3_open(file ? file : DEFAULT_FILE, &db) != SQLITE_OK ||
        sqlite3_busy_timeout(db, BUSY_MS) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS entry (name TEXT, text TEXT)",
                     NULL, NULL, NULL) != SQLITE_OK)
        cg_log(NULL, CG_ERROR, "guestbook: %s", sqlite3_errmsg(db));
    return 0; /* the others can do without it */
}

static void close_db(void)
{
    sqlite3_close(db);
    db = NULL;
}

static void fail(cg_event *event)
{
    cg_log(event, CG_ERROR, "%s", sqlite3_errmsg(db));
    cg_reply(event, 503, "application/json", "{\"error\":\"the guestbook can't be opened\"}\n");
}

static void list(cg_event *event)
{
    sqlite3_stmt *query = NULL;
    json_t *entries = json_array();
    int result = sqlite3_prepare_v2(db, "SELECT name, text FROM entry ORDER BY rowid DESC LIMIT " LATEST, -1,
                                    &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
        json_array_append_new(entries,
                              json_pack("{s:s, s:s}", "name", (const char *)sqlite3_column_text(query, 0),
                                        "text", (const char *)sqlite3_column_text(query, 1)));
    sqlite3_finalize(query);
    if (result == SQLITE_OK) {
        cg_reply_json(event, 200, entries);
        return;
    }
    json_decref(entries);
    fail(event);
}

static void add(cg_event *event)
{
    const char *name = cg_param(event, "name"), *text = cg_param(event, "text");
    sqlite3_stmt *insert = NULL;
    if (name == NULL || *name == '\0' || text == NULL || strlen(text) > 1000) {
        cg_reply(event, 400, "application/json", "{\"error\":\"a name, and a text of up to 1000 bytes\"}\n");
        return;
    }
    bool good = sqlite3_prepare_v2(db, "INSERT INTO entry VALUES (?, ?)", -1, &insert, NULL) == SQLITE_OK &&
                sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
                sqlite3_bind_text(insert, 2, text, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
                sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_finalize(insert);
    if (good)
        cg_redirect(event, 303, "/api/guestbook");
    else
        fail(event);
}

CG_MODULE(.flags = CG_BLOCKING, .thread_init = open_db, .thread_fini = close_db, .get = list, .post = add);
