#include "http/http2_credit.h"

static void earn(struct http2_credit *credit, int64_t more)
{
    credit->left = credit->left + more > HTTP2_CREDIT_MOST ? HTTP2_CREDIT_MOST : credit->left + more;
}

void http2_credit_init(struct http2_credit *credit, int64_t now)
{
    *credit = (struct http2_credit){.left = HTTP2_CREDIT_MOST, .since = now};
}

bool http2_credit_spend(struct http2_credit *credit, int64_t now, int cost)
{
    int64_t earned = (now - credit->since) * HTTP2_CREDIT_PER_S / 1000;
    if (earned > 0) {
        credit->since = now;
        earn(credit, earned);
    }
    credit->left -= cost;
    return credit->left >= 0;
}

void http2_credit_answered(struct http2_credit *credit)
{
    earn(credit, HTTP2_CREDIT_PER_ANSWER);
}

void http2_credit_sent(struct http2_credit *credit, uint64_t bytes)
{
    credit->bytes += bytes;
    earn(credit, (int64_t)(credit->bytes / HTTP2_CREDIT_BYTES));
    credit->bytes %= HTTP2_CREDIT_BYTES;
}
