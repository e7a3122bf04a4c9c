/* Header text from C. */
#include "check.h"

#define NOW INT64_C(1796083200) /* Tue, 01 Dec 2026 00:00:00 GMT */

static uint64_t wait;

static sw_status parse(const char *text)
{
    return sw_parse_retry_after(text, strlen(text), NOW, &wait);
}

static void retry_after_in_seconds_and_as_a_date(void)
{
    EQUAL(parse("120"), SW_OK);
    EQUAL(wait, 120 * SECOND);
    EQUAL(parse("Tue, 01 Dec 2026 00:00:30 GMT"), SW_OK);
    EQUAL(wait, 30 * SECOND);
    EQUAL(parse("Tuesday, 01-Dec-26 00:00:30 GMT"), SW_OK);
    EQUAL(wait, 30 * SECOND);
    EQUAL(parse("Tue Dec  1 00:00:30 2026"), SW_OK);
    EQUAL(wait, 30 * SECOND);
    EQUAL(parse("Sun, 06 Nov 1994 08:49:37 GMT"), SW_OK);
    EQUAL(wait, 0);
    EQUAL(parse("1000000000000000000000000000000"), SW_OK);
    CHECK(wait == UINT64_C(18446744073) * SECOND);
}

static void what_is_no_wait_says_so(void)
{
    static const char *const none[] = {"", "-1", "+1", "1.5", "soon", "1e3", "Sun, 6 Nov 1994 08:49:37 GMT"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        wait = 7;
        EQUAL(parse(none[i]), SW_EMPTY);
        CHECK(wait == UINT64_MAX);
    }
    EQUAL(sw_parse_retry_after(NULL, 0, NOW, &wait), SW_EMPTY);
    EQUAL(sw_parse_retry_after(NULL, 1, NOW, &wait), SW_ERR_NULL);
    EQUAL(sw_parse_retry_after("1", 1, NOW, NULL), SW_ERR_NULL);
    EQUAL(sw_parse_retry_after("1", SIZE_MAX, NOW, &wait), SW_ERR_VALUE);
}

static void it_is_written_rounded_up(void)
{
    char text[32];
    EQUAL(sw_format_retry_after(2 * SECOND + 1, text, sizeof text), 1);
    TEXT(text, "3");
    EQUAL(sw_format_retry_after(0, text, sizeof text), 1);
    TEXT(text, "1");
    EQUAL(sw_format_retry_after(UINT64_MAX, text, 4), 11);
    TEXT(text, "184");
}

static void dates_lead_back(void)
{
    char text[32];
    int64_t unix = 0;
    EQUAL(sw_format_http_date(784111777, text, sizeof text), 29);
    TEXT(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    EQUAL(sw_parse_http_date(text, 29, NOW, &unix), SW_OK);
    EQUAL(unix, 784111777);
    EQUAL(sw_parse_http_date(text, 28, NOW, &unix), SW_EMPTY);
    EQUAL(unix, 0);
}

int main(void)
{
    RUN(retry_after_in_seconds_and_as_a_date);
    RUN(what_is_no_wait_says_so);
    RUN(it_is_written_rounded_up);
    RUN(dates_lead_back);
    return check_end();
}
