"""Checks of other sections that judge rules of MS-MQQP 2.2.2.1 REMOTEREADDESC."""

CHECKED_ELSEWHERE = {
    "MQQP-2.2.2.1-01": ("test_a_closed_cursor_is_gone_and_another_is_not",),
    "MQQP-2.2.2.1-04": ("test_a_cancelled_read_ends_and_its_queue_stays_open", "test_what_the_client_sets"),
    "MQQP-2.2.2.1-D01": ("test_each_call_has_a_timer_of_its_own",),
}
