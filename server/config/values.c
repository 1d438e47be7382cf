#include "config/values.h"

#include <errno.h>
#include <stddef.h>
#include <strings.h>

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},          {"b", 1},         {"k", 1 << 10},    {"kb", 1 << 10},    {"kib", 1 << 10},
    {"m", 1 << 20},   {"mb", 1 << 20},  {"mib", 1 << 20},  {"g", 1 << 30},     {"gb", 1 << 30},
    {"gib", 1 << 30}, {"t", 1LL << 40}, {"tb", 1LL << 40}, {"tib", 1LL << 40}, {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}, {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the digits at *text and moves it behind them. A number too large to hold is INT64_MAX. */
static int take_digits(const char **text, int64_t *ret_number)
{
    const char *p = *text;
    int64_t number = 0;
    bool overflow = false;
    if (!is_digit(*p) || (p[0] == '0' && is_digit(p[1])))
        return -EINVAL;
    for (; is_digit(*p); p++)
        overflow = overflow || __builtin_mul_overflow(number, 10, &number) ||
                   __builtin_add_overflow(number, *p - '0', &number);
    *text = p;
    *ret_number = overflow ? INT64_MAX : number;
    return 0;
}

static int in_range(int64_t number, int64_t min, int64_t max, int64_t *ret_number)
{
    if (number < min || number > max)
        return -ERANGE;
    *ret_number = number;
    return 0;
}

int value_number(const char *text, int64_t min, int64_t max, int64_t *ret_number)
{
    int64_t number;
    bool negative = text[0] == '-';
    text += negative;
    if (take_digits(&text, &number) < 0 || *text != '\0')
        return -EINVAL;
    return in_range(negative ? -number : number, min, max, ret_number);
}

int value_bool(const char *text, bool *ret_on)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *ret_on = i % 2;
            return 0;
        }
    }
    return -EINVAL;
}

static int with_unit(const char *text, const struct unit *unit, int64_t min, int64_t max, int64_t *ret_number)
{
    int64_t number;
    if (take_digits(&text, &number) < 0)
        return -EINVAL;
    if (*text == ' ' && text[1] != '\0')
        text++;
    while (unit->name != NULL && strcasecmp(text, unit->name) != 0)
        unit++;
    if (unit->name == NULL)
        return -EINVAL;
    if (__builtin_mul_overflow(number, unit->factor, &number))
        return -ERANGE;
    return in_range(number, min, max, ret_number);
}

int value_size(const char *text, int64_t min, int64_t max, int64_t *ret_bytes)
{
    return with_unit(text, size_units, min, max, ret_bytes);
}

int value_duration(const char *text, int64_t min, int64_t max, int64_t *ret_ms)
{
    return with_unit(text, duration_units, min, max, ret_ms);
}

void value_print_size(struct buffer *out, int64_t bytes)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    while (i + 1 < sizeof names / sizeof *names && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    buffer_printf(out, "%lld %s", (long long)bytes, names[i]);
}

void value_print_duration(struct buffer *out, int64_t ms)
{
    if (ms == 0 || ms % 1000 != 0)
        buffer_printf(out, "%lld ms", (long long)ms);
    else
        buffer_printf(out, "%lld s", (long long)ms / 1000);
}
