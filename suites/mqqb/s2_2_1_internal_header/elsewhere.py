"""Checks of other sections that judge rules of MS-MQQB 2.2.1 InternalHeader."""

CHECKED_ELSEWHERE = {
    "MQQB-2.2.1-06": ("test_a_session_too_many_is_refused_and_closed",),
}
