"""Checks of other sections that judge rules of MS-MQQB 3.1.5.2 Establish a Protocol Session."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.2.2-02": ("test_ping_request_comes_first_and_is_well_formed",),
    "MQQB-3.1.5.2.2-04": ("test_positive_response_opens_the_session",),
    "MQQB-3.1.5.2.2-08": (
        "test_negative_response_puts_the_session_off_until_the_retry_time",
        "test_no_response_puts_the_session_off_until_the_retry_time",
    ),
}
