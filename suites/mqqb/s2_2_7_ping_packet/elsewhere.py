"""Checks of other sections that judge rules of MS-MQQB 2.2.7 Ping Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-2.2.7-05": ("test_ping_request_comes_first_and_is_well_formed",),
    "MQQB-2.2.7-23": ("test_response_with_another_cookie_is_ignored",),
}
