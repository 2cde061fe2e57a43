"""Checks of other sections that judge rules of MS-MQQP 3.1.1 Server data model."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.1.3-01": ("test_a_cancelled_read_ends_and_its_queue_stays_open",),
    "MQQP-3.1.1.3-02": ("test_every_read_that_waits_is_cancelled",),
    "MQQP-3.1.1.3-03": ("test_every_read_that_waits_is_cancelled",),
}
