"""Checks of other sections that judge rules of MS-MQQB 3.1.7.9 Ping Response Processed."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.9-01": (
        "test_negative_response_puts_the_session_off_until_the_retry_time",
        "test_positive_response_opens_the_session",
    ),
}
