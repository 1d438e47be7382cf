#include "parse/ws_deflate.h"

#include "tests/unit/suite.h"

static int accepted(const char *offers)
{
    struct ws_deflate deflate = {0};
    return ws_deflate_accept(cg_string(offers), &deflate) ? deflate.bits : 0;
}

START_TEST(offers_that_can_be_met)
{
    ck_assert_int_eq(accepted("permessage-deflate"), 15);
    ck_assert_int_eq(accepted("Permessage-Deflate ; Client_Max_Window_Bits"), 15);
    ck_assert_int_eq(accepted("permessage-deflate;server_max_window_bits=\"12\";client_max_window_bits=8"),
                     12);
    ck_assert_int_eq(accepted("foo; bar=1, permessage-deflate; server_max_window_bits=9"), 9);
    ck_assert_int_eq(accepted("permessage-deflate; server_max_window_bits=8, permessage-deflate"), 15);
}
END_TEST

START_TEST(offers_that_can_not)
{
    static const char *const offers[] = {
        "",
        "permessage",
        "permessage-deflate2",
        "permessage-deflate; =",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=",
        "permessage-deflate; server_max_window_bits=09",
        "permessage-deflate; server_max_window_bits=\"9",
        "permessage-deflate; server_max_window_bits=20",
        "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
        "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_no_context_takeover=true",
        "permessage-deflate; mystery=1",
    };
    for (size_t i = 0; i < COUNT(offers); i++)
        ck_assert_msg(accepted(offers[i]) == 0, "accepted: %s", offers[i]);
}
END_TEST

SUITE_MAIN("ws_deflate", offers_that_can_be_met, offers_that_can_not)
