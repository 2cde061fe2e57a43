"""Checks of other sections that judge rules of MS-MQQB 3.1.1.6.1 Session Acknowledgment."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.1.6.1-D01": ("test_what_was_received_is_acknowledged_when_the_delay_is_over",),
}
