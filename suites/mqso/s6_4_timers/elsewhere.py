"""Checks of other sections that judge rules of MS-MQSO 6.4 Timers and its sections."""

CHECKED_ELSEWHERE = {
    "MQSO-6.4.3.1-D01": ("test_old_entries_leave_the_caches",),
    "MQSO-6.4.3.1-D02": ("test_old_entries_leave_the_caches",),
}
