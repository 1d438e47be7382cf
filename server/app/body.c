#include "app/body.h"

#include "app/context.h"
#include "app/event.h"
#include "parse/query.h"

#include <errno.h>

int body_begin(struct body *body, struct event *event)
{
    const struct settings *settings = context.settings;
    const char *type = event_header(event, "content-type");
    *body = (struct body){.spool = {.folder = settings->temp_dir, .memory_limit = settings->body_memory}};
    if (event->action->module->hooks.body != NULL) {
        body->kind = BODY_STREAMED;
    } else if (event_type_is(event, "multipart/form-data")) {
        body->kind = BODY_FORM;
        const struct form_limits limits = {settings->form_parts, settings->form_files, settings->body_memory,
                                           settings->temp_dir};
        return form_create(event->arena, cg_string(type), &limits, &body->form);
    }
    return 0;
}

/* A negative errno as the status that a client gets for it. */
static int disk_status(struct body *body, int error)
{
    body->error = error;
    if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG)
        return -507;
    return error == -EMFILE || error == -ENFILE ? -503 : -500;
}

static int form_status(struct body *body, int result)
{
    return result == FORM_DISK ? disk_status(body, form_error(body->form)) : result;
}

static int take_streamed(struct event *event, const char *data, size_t len)
{
    int refusal = event_call_body(event, data, len);
    if (refusal == 0)
        return event->answer.fault != NULL ? -500 : 0;
    if (refusal < 400 || refusal > 599) {
        answer_fault(&event->answer, ".body returned %d, which is neither 0 nor a status of 400 to 599",
                     refusal);
        return -500;
    }
    return -refusal;
}

int body_take(struct body *body, struct event *event, const char *data, size_t len)
{
    if (body->kind == BODY_STREAMED)
        return take_streamed(event, data, len);
    body->begun = true;
    if (body->kind == BODY_FORM)
        return form_status(body, form_feed(body->form, data, len));
    int error = spool_write(&body->spool, data, len);
    return error != 0 ? disk_status(body, error) : 0;
}

int body_end(struct body *body, struct event *event)
{
    cg_event *public = &event->public;
    if (!body->begun)
        return 0; /* a form's type without a form */
    if (body->kind == BODY_FORM)
        return form_status(body, form_end(body->form, &public->form, &public->files));
    if (body->kind == BODY_STREAMED)
        return 0;
    int error = spool_bytes(&body->spool, &public->body);
    if (error != 0)
        return disk_status(body, error);
    if (public->body.len > 0 && event_type_is(event, "application/x-www-form-urlencoded") &&
        query_parse(public->body, EVENT_MAX_PAIRS, event->arena, &public->form) != 0)
        return -413;
    return 0;
}

void body_finish(struct body *body)
{
    if (body == NULL)
        return;
    spool_finish(&body->spool);
    form_destroy(body->form);
    body->form = NULL;
}
