#include "parse/date.h"

#include "parse/bytes.h"

#include <errno.h>
#include <stdbool.h>

#define DAY 86400
#define FIRST_SECOND (-62135596800)
#define LAST_SECOND 253402300799

static const char days[7][10] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                 "Thursday", "Friday", "Saturday"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct date {
    int64_t year;
    unsigned month, day, hour, minute, second; /* month 0 to 11, day 1 to 31 */
};

/* Years are counted from March, so that the leap day is the last of its year, and in eras of 400 years, which
   all have the same number of days. */
#define ERA_DAYS 146097
#define EPOCH_DAYS 719468 /* 1970-01-01 since 0000-03-01 */

static int64_t days_of(const struct date *date)
{
    int64_t year = date->month < 2 ? date->year - 1 : date->year; /* never negative here */
    int64_t month = (date->month + 10) % 12;
    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date->day - 1 -
           EPOCH_DAYS;
}

static void set_day(struct date *date, int64_t day)
{
    int64_t since = day + EPOCH_DAYS; /* never negative here */
    int64_t era = since / ERA_DAYS, of_era = since % ERA_DAYS;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    date->day = (unsigned)(of_year - (153 * month + 2) / 5) + 1;
    date->month = (unsigned)(month + 2) % 12;
    date->year = 400 * era + year + (date->month < 2);
}

static char *put2(char *out, unsigned value)
{
    out[0] = (char)('0' + value / 10 % 10);
    out[1] = (char)('0' + value % 10);
    return out + 2;
}

void date_format(int64_t seconds, char out[DATE_SIZE])
{
    struct date date;
    if (seconds < FIRST_SECOND)
        seconds = FIRST_SECOND;
    if (seconds > LAST_SECOND)
        seconds = LAST_SECOND;
    int64_t since = seconds - FIRST_SECOND; /* a Monday, and positive */
    unsigned of_day = (unsigned)(since % DAY), weekday = (unsigned)((since / DAY + 1) % 7);
    set_day(&date, (seconds - of_day) / DAY);

    memcpy(out, "Sun, 06 Nov 1994 08:49:37 GMT", DATE_SIZE);
    memcpy(out, days[weekday], 3);
    put2(out + 5, date.day);
    memcpy(out + 8, months[date.month], 3);
    put2(put2(out + 12, (unsigned)date.year / 100), (unsigned)date.year % 100);
    put2(out + 17, of_day / 3600);
    put2(out + 20, of_day / 60 % 60);
    put2(out + 23, of_day % 60);
}

/* Takes exactly `digits` digits. */
static bool take_number(cg_str *rest, unsigned digits, unsigned *ret)
{
    unsigned value = 0;
    if (rest->len < digits)
        return false;
    for (unsigned i = 0; i < digits; i++) {
        if (!byte_is_digit(rest->ptr[i]))
            return false;
        value = 10 * value + (unsigned)(rest->ptr[i] - '0');
    }
    *rest = cg_bytes(rest->ptr + digits, rest->len - digits);
    *ret = value;
    return true;
}

static bool take_text(cg_str *rest, const char *text, size_t len)
{
    if (rest->len < len || memcmp(rest->ptr, text, len) != 0)
        return false;
    *rest = cg_bytes(rest->ptr + len, rest->len - len);
    return true;
}

static bool take_month(cg_str *rest, unsigned *ret_month)
{
    for (unsigned i = 0; i < 12; i++) {
        if (take_text(rest, months[i], 3)) {
            *ret_month = i;
            return true;
        }
    }
    return false;
}

static bool take_time(cg_str *rest, struct date *date)
{
    return take_number(rest, 2, &date->hour) && take_text(rest, ":", 1) &&
           take_number(rest, 2, &date->minute) && take_text(rest, ":", 1) &&
           take_number(rest, 2, &date->second) && date->hour < 24 && date->minute < 60 && date->second <= 60;
}

static bool take_year(cg_str *rest, unsigned digits, struct date *date)
{
    unsigned year;
    if (!take_number(rest, digits, &year))
        return false;
    date->year = digits == 4 ? year : year < 70 ? 2000 + year : 1900 + year;
    return date->year > 0;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", behind the name of the day; the obsolete form has hyphens and a short
   year. */
static bool take_fixdate(cg_str *rest, const char *between, unsigned year_digits, struct date *date)
{
    return take_text(rest, ", ", 2) && take_number(rest, 2, &date->day) && take_text(rest, between, 1) &&
           take_month(rest, &date->month) && take_text(rest, between, 1) &&
           take_year(rest, year_digits, date) && take_text(rest, " ", 1) && take_time(rest, date) &&
           take_text(rest, " GMT", 4);
}

/* "Sun Nov  6 08:49:37 1994", behind the name of the day. */
static bool take_asctime(cg_str *rest, struct date *date)
{
    if (!take_text(rest, " ", 1) || !take_month(rest, &date->month) || !take_text(rest, " ", 1))
        return false;
    bool one_digit = take_text(rest, " ", 1);
    return take_number(rest, one_digit ? 1 : 2, &date->day) && take_text(rest, " ", 1) &&
           take_time(rest, date) && take_text(rest, " ", 1) && take_year(rest, 4, date);
}

static bool take_date(cg_str *rest, struct date *date)
{
    for (int i = 0; i < 7; i++) {
        if (take_text(rest, days[i], strlen(days[i])))
            return take_fixdate(rest, "-", 2, date);
        if (take_text(rest, days[i], 3))
            return rest->len > 0 && rest->ptr[0] == ',' ? take_fixdate(rest, " ", 4, date)
                                                        : take_asctime(rest, date);
    }
    return false;
}

static unsigned month_days(const struct date *date)
{
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (date->year % 4 == 0 && date->year % 100 != 0) || date->year % 400 == 0;
    return lengths[date->month] + (date->month == 1 && leap);
}

int date_parse(cg_str text, int64_t *ret_seconds)
{
    struct date date = {0};
    if (!take_date(&text, &date) || text.len > 0 || date.day == 0 || date.day > month_days(&date))
        return -EINVAL;
    *ret_seconds = days_of(&date) * DAY + date.hour * 3600 + date.minute * 60 + date.second;
    return 0;
}
