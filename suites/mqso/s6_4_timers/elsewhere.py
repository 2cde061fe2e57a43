"""Checks of other sections that judge rules of MS-MQSO 6.4 Timers and its sections."""

CHECKED_ELSEWHERE = {
    "MQSO-6.4.3.1-01": ("test_old_entries_leave_the_caches",),
    "MQSO-6.4.3.1-D01": ("test_old_entries_leave_the_caches",),
    "MQSO-6.4.3.1-D02": ("test_old_entries_leave_the_caches",),
    "MQSO-6.4.4.1-01": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-6.4.4.1-D01": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
}
