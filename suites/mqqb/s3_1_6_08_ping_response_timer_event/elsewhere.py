"""Checks of other sections that judge rules of MS-MQQB 3.1.6.8 Ping Response Timer Event."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.6.8-01": ("test_no_response_puts_the_session_off_until_the_retry_time",),
}
