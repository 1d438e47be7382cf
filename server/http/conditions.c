#include "http/conditions.h"

#include "parse/date.h"
#include "parse/etag.h"

#include <string.h>

static bool is(const cg_field *field, const char *name)
{
    return memcmp(field->name.ptr, name, field->name.len) == 0;
}

static void set_once(const cg_field **slot, const cg_field *field)
{
    static const cg_field twice = {{"", 0}, {"", 0}};
    *slot = *slot == NULL ? field : &twice;
}

/* Every line of a list counts. */
static void read_match(struct conditions *conditions, const cg_field *field, cg_str etag)
{
    conditions->match = true;
    conditions->matched = conditions->matched || etag_matches_strongly(field->value, etag);
}

static void read_none_match(struct conditions *conditions, const cg_field *field, cg_str etag)
{
    conditions->none_match = true;
    conditions->none_matched = conditions->none_matched || etag_matches(field->value, etag);
}

void conditions_read(struct conditions *conditions, const struct request *request, cg_str etag)
{
    *conditions = (struct conditions){0};
    for (size_t i = 0; i < request->field_count; i++) {
        const cg_field *field = &request->fields[i];
        switch (field->name.len) {
        case 5:
            if (is(field, "range"))
                set_once(&conditions->range, field);
            break;
        case 8:
            if (is(field, "if-match"))
                read_match(conditions, field, etag);
            else if (is(field, "if-range"))
                set_once(&conditions->if_range, field);
            break;
        case 13:
            if (is(field, "if-none-match"))
                read_none_match(conditions, field, etag);
            break;
        case 17:
            if (is(field, "if-modified-since"))
                set_once(&conditions->modified_since, field);
            break;
        case 19:
            if (is(field, "if-unmodified-since"))
                set_once(&conditions->unmodified_since, field);
            break;
        }
    }
}

/* A field that is no date is as if it were not there. */
static bool has_date(const cg_field *field, int64_t *ret_date)
{
    return field != NULL && date_parse(field->value, ret_date) == 0;
}

enum verdict conditions_judge(const struct conditions *conditions, int64_t modified)
{
    int64_t date;
    bool dated = modified != STATIC_UNDATED;
    if (conditions->match) {
        if (!conditions->matched)
            return VERDICT_FAILED;
    } else if (has_date(conditions->unmodified_since, &date) && (!dated || modified > date)) {
        return VERDICT_FAILED;
    }
    if (conditions->none_match)
        return conditions->none_matched ? VERDICT_UNCHANGED : VERDICT_SEND;
    if (dated && has_date(conditions->modified_since, &date) && modified <= date)
        return VERDICT_UNCHANGED;
    return VERDICT_SEND;
}

/* A date says which of two contents it means only when its second is over (RFC 9110, 8.8.2.2). */
const cg_field *conditions_range(const struct conditions *conditions, cg_str etag, int64_t modified,
                                 int64_t now)
{
    int64_t date;
    const cg_field *wanted = conditions->if_range;
    if (conditions->range == NULL || wanted == NULL)
        return conditions->range;
    bool same = wanted->value.len == etag.len && memcmp(wanted->value.ptr, etag.ptr, etag.len) == 0;
    if (has_date(wanted, &date))
        same = date == modified && modified < now;
    return same ? conditions->range : NULL;
}
