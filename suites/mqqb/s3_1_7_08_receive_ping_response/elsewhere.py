"""Checks of other sections that judge rules of MS-MQQB 3.1.7.8 Receive Ping Response."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.8-01": ("test_positive_response_opens_the_session",),
    "MQQB-3.1.7.8-05": ("test_positive_response_opens_the_session",),
}
