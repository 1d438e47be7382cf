/* Host: there once, or the request is refused; and what may stand in it. */
#include "harness.h"
#include "mutations.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct expectation hosts[] = {
    {"x.test", TAKEN},
    {"X.TEST", TAKEN},
    {"x", TAKEN},
    {"x.test.", TAKEN},
    {"x.test:80", TAKEN},
    {"x.test:", TAKEN},
    {"x.test:0", TAKEN},
    {"x.test:65535", TAKEN},
    {"x.test:00080", TAKEN},
    {"192.0.2.1", TAKEN},
    {"192.0.2.1:80", TAKEN},
    {"[::1]", TAKEN},
    {"[::1]:80", TAKEN},
    {"[2001:db8::1]", TAKEN},
    {"[::ffff:192.0.2.1]", TAKEN},
    {"", TAKEN},
    {"xn--bcher-kva.test", TAKEN},
    {"a_b.test", TAKEN},
    {"~a.test", TAKEN},
    {"-", TAKEN},
    {"1", TAKEN},
    {"x..test", TAKEN},
    {" \t x.test \t ", TAKEN},
    {"x.test:65536", REFUSED},
    {"x.test:99999", REFUSED},
    {"x.test:4294967376", REFUSED},
    {"x.test:000080", REFUSED},
    {"x.test:-1", REFUSED},
    {"x.test:+80", REFUSED},
    {"x.test:http", REFUSED},
    {"x.test:80x", REFUSED},
    {"x.test:8 0", REFUSED},
    {"x.test: 80", REFUSED},
    {"x.test :80", REFUSED},
    {"x.test:80:80", REFUSED},
    {"x.test::80", REFUSED},
    {":80", REFUSED},
    {":", REFUSED},
    {"x test", REFUSED},
    {"x\ttest", REFUSED},
    {"x.test, y.test", REFUSED},
    {"x.test,y.test", REFUSED},
    {"x.test y.test", REFUSED},
    {"x/y", REFUSED},
    {"x.test/", REFUSED},
    {"/", REFUSED},
    {"x?y", REFUSED},
    {"x#y", REFUSED},
    {"x\\y", REFUSED},
    {"a@x.test", REFUSED},
    {"a:b@x.test", REFUSED},
    {"http://x.test", REFUSED},
    {"//x.test", REFUSED},
    {"[::1", REFUSED},
    {"::1", REFUSED},
    {"::1]", REFUSED},
    {"[]", REFUSED},
    {"[x]", REFUSED},
    {"[::1]x", REFUSED},
    {"[::1]:x", REFUSED},
    {"[::1]]", REFUSED},
    {"[[::1]]", REFUSED},
    {"[::1%lo]", REFUSED},
    {"[::1 ]", REFUSED},
    {"[12345::]", REFUSED},
    {"[192.0.2.1]", REFUSED},
    {"\"x.test\"", REFUSED},
    {"<x>", REFUSED},
    {"{x}", REFUSED},
    {"x|y", REFUSED},
    {"x%", REFUSED},
    {"x%zz", REFUSED},
    {"b\xc3\xbc"
     "cher.test",
     REFUSED},
    /* What RFC 3986 would allow in a registered name and no name in use has. */
    {"x%2etest", REFUSED},
    {"x%00", REFUSED},
    {"a!b", REFUSED},
    {"a$b", REFUSED},
    {"a&b", REFUSED},
    {"a'b", REFUSED},
    {"a(b)", REFUSED},
    {"a*b", REFUSED},
    {"*.test", REFUSED},
    {"a+b", REFUSED},
    {"a;b", REFUSED},
    {"a=b", REFUSED},
};

void mutations_add_hosts(struct mutations *mutations)
{
    static const struct expectation fields[] = {
        {"", REFUSED},
        {"Host : x.test\r\n", REFUSED},
        {"Host\t: x.test\r\n", REFUSED},
        {" Host: x.test\r\n", REFUSED},
        {"Host: x.test\r\n\t\r\n", REFUSED},
        {"Host:\r\n x.test\r\n", REFUSED},
        {"Host: x\r\n .test\r\n", REFUSED},
        {"Hos: x.test\r\n", REFUSED},
        {"Hostt: x.test\r\n", REFUSED},
        {"X-Host: x.test\r\n", REFUSED},
        {"X-Forwarded-Host: x.test\r\n", REFUSED},
        {"H\xc3\xb6st: x.test\r\n", REFUSED},
        {"HOST: x.test\r\n", TAKEN},
        {"host: x.test\r\n", TAKEN},
        {"hOsT:x.test\r\n", TAKEN},
        {"Host:\tx.test\r\n", TAKEN},
        {"X: y\r\nHost: x.test\r\n", TAKEN},
        {"X-Host: y\r\nHost: x.test\r\n", TAKEN},
    };
    for (size_t i = 0; i < COUNT(fields); i++)
        mutations_add_text(mutations, "host-field", i,
                           text_print("GET /probe HTTP/1.1\r\n%s\r\n" CANARY, fields[i].text),
                           fields[i].expected, 0);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        const char *text = hosts[i].text;
        mutations_add_text(mutations, "host", i,
                           text_print("GET /probe HTTP/1.1\r\nHost: %s\r\n\r\n" CANARY, text),
                           hosts[i].expected, 0);
        mutations_add_text(
            mutations, "host-1.0", i,
            text_print("GET /probe HTTP/1.0\r\nHost: %s\r\nConnection: keep-alive\r\n\r\n" CANARY, text),
            hosts[i].expected, 0);
        mutations_add_text(mutations, "host-absolute", i,
                           text_print("GET http://x.test/probe HTTP/1.1\r\nHost: %s\r\n\r\n" CANARY, text),
                           hosts[i].expected, 0);
        mutations_add_text(mutations, "host-twice", i,
                           text_print("GET /probe HTTP/1.1\r\nHost: x.test\r\nHost: %s\r\n\r\n" CANARY, text),
                           REFUSED, -1);
        mutations_add_text(
            mutations, "host-apart", i,
            text_print("GET /probe HTTP/1.1\r\nHost: %s\r\nX: y\r\nhost: x.test\r\n\r\n" CANARY, text),
            REFUSED, -1);
    }
}
