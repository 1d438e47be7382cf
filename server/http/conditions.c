#include "http/conditions.h"

#include "base/str.h"
#include "parse/date.h"
#include "parse/etag.h"

static void set_once(const cg_field **slot, const cg_field *field)
{
    static const cg_field twice = {STR(""), STR("")};
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
        if (str_is(field->name, "range"))
            set_once(&conditions->range, field);
        else if (str_is(field->name, "if-match"))
            read_match(conditions, field, etag);
        else if (str_is(field->name, "if-range"))
            set_once(&conditions->if_range, field);
        else if (str_is(field->name, "if-none-match"))
            read_none_match(conditions, field, etag);
        else if (str_is(field->name, "if-modified-since"))
            set_once(&conditions->modified_since, field);
        else if (str_is(field->name, "if-unmodified-since"))
            set_once(&conditions->unmodified_since, field);
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
    bool same = str_equal(wanted->value, etag);
    if (has_date(wanted, &date))
        same = date == modified && modified < now;
    return same ? conditions->range : NULL;
}
