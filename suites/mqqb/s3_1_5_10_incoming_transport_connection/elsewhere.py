"""Checks of other sections that judge rules of MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.10-03": ("test_a_connection_without_a_request_is_closed",),
}
