"""Checks of other sections that judge rules of MS-MQQB 3.1.5.8.2 General Processing."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.8.2-11": ("test_old_entries_are_deleted_each_time_that_the_timer_expires",),
}
