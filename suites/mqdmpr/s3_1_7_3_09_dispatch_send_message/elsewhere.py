"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.9-04": ("test_what_waits_is_sent_by_priority_each_once",),
    "MQDMPR-3.1.7.3.9-06": ("test_what_waits_is_sent_by_priority_each_once",),
    "MQDMPR-3.1.7.3.9-07": ("test_what_waits_is_sent_by_priority_each_once",),
}
