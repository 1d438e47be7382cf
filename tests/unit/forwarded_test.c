#include "parse/forwarded.h"
#include "suite.h"

#include <string.h>

static struct network trusted[4];
static size_t count;

static void trust(const char *text)
{
    ck_assert_int_eq(network_parse(cg_string(text), &trusted[count]), 0);
    count++;
}

static void setup(void)
{
    count = 0;
    trust("127.0.0.0/8");
    trust("10.0.0.0/8");
    trust("2001:db8::/32");
}

static const char *client(const char *peer, const char *first, const char *second)
{
    static char out[64];
    const cg_field items[] = {{cg_string("x-forwarded-for"), cg_string(first)},
                              {cg_string("x-real-ip"), cg_string("198.51.100.1")},
                              {cg_string("x-forwarded-for"), cg_string(second)}};
    cg_str found = forwarded_client(cg_string(peer),
                                    &(cg_fields){items, second  ? 3
                                                        : first ? 2
                                                                : 0},
                                    trusted, count);
    snprintf(out, sizeof out, "%.*s", (int)found.len, found.ptr);
    return out;
}

START_TEST(networks)
{
    static const char *const good[] = {"0.0.0.0/0", "::/0",      "192.0.2.7",    "192.0.2.7/32",
                                       "::1",       "fe80::/10", "::ffff:0:0/96"};
    static const char *const bad[] = {"",
                                      "x",
                                      "10.0.0.1/8",
                                      "10.0.0.0/33",
                                      "10.0.0.0/",
                                      "10.0.0.0/08",
                                      "10.0.0.0/-1",
                                      "::/129",
                                      "2001:db8::1/32",
                                      "10.0.0",
                                      "1.2.3.4/8/8",
                                      "010.0.0.0/8",
                                      "10.0.0.0/ 8",
                                      "1.2.3.4.5",
                                      "::1%lo"};
    struct network network;
    for (size_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(network_parse(cg_string(good[i]), &network) == 0, "%s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(network_parse(cg_string(bad[i]), &network) != 0, "%s", bad[i]);
    ck_assert_int_ne(network_parse(cg_bytes("10.0.0.0\0/8", 11), &network), 0);
}
END_TEST

START_TEST(what_a_network_contains)
{
    static const struct {
        const char *network, *address;
        bool inside;
    } rows[] = {
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.0/9", "10.128.0.1", false},
        {"0.0.0.0/0", "203.0.113.1", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "203.0.113.1", true},
        {"10.0.0.0/8", "::ffff:10.1.1.1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"::1", "::1", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct network network;
        struct address address;
        ck_assert_int_eq(network_parse(cg_string(rows[i].network), &network), 0);
        ck_assert_int_eq(address_parse(cg_string(rows[i].address), &address), 0);
        ck_assert_msg(network_contains(&network, &address) == rows[i].inside, "%s %s", rows[i].network,
                      rows[i].address);
    }
}
END_TEST

START_TEST(case_84_a_stranger_is_not_believed)
{
    setup();
    ck_assert_str_eq(client("203.0.113.5", "198.51.100.9", NULL), "203.0.113.5");
    count = 0;
    ck_assert_str_eq(client("127.0.0.1", "198.51.100.9", NULL), "127.0.0.1");
}
END_TEST

START_TEST(case_85_from_the_right)
{
    static const struct {
        const char *first, *second, *client;
    } rows[] = {
        {NULL, NULL, "127.0.0.1"},
        {"203.0.113.66, 198.51.100.7, 10.0.0.5", NULL, "198.51.100.7"},
        {"10.0.0.9,10.0.0.8 ,\t10.0.0.7", NULL, "10.0.0.9"},
        {"", NULL, "127.0.0.1"},
        {"198.51.100.7, garbage", NULL, "127.0.0.1"},
        {"198.51.100.7, garbage, 10.0.0.5", NULL, "10.0.0.5"},
        {"198.51.100.7,", NULL, "127.0.0.1"},
        {"203.0.113.66", "198.51.100.7, 10.0.0.5", "198.51.100.7"},
        {"198.51.100.7", "10.0.0.6, 10.0.0.5", "198.51.100.7"},
        {"198.51.100.7, garbage", "10.0.0.5", "10.0.0.5"},
        {"198.51.100.7:4711", NULL, "198.51.100.7"},
        {"[2001:db8:1::1]:443, 10.0.0.5", NULL, "2001:db8:1::1"},
        {"2a00::1, 2001:db8::1", NULL, "2a00::1"},
        {"198.51.100.7, [::1", NULL, "127.0.0.1"},
        {"unknown, 10.0.0.5", NULL, "10.0.0.5"},
    };
    setup();
    for (size_t i = 0; i < COUNT(rows); i++)
        ck_assert_msg(strcmp(client("127.0.0.1", rows[i].first, rows[i].second), rows[i].client) == 0,
                      "row %zu: %s", i, client("127.0.0.1", rows[i].first, rows[i].second));
}
END_TEST

SUITE_MAIN("forwarded", networks, what_a_network_contains, case_84_a_stranger_is_not_believed,
           case_85_from_the_right)
