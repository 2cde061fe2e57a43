"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.7 Purge Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.7-07": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
}
