"""Checks of other sections that judge rules of MS-MQQB 3.1.5.8.2 General Processing."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.8.2-11": (
        "test_a_duplicate_is_remembered_anew",
        "test_old_entries_are_deleted_each_time_that_the_timer_expires",
    ),
    "MQQB-3.1.5.8.5-D01": ("test_a_message_is_in_its_queue_as_it_was_sent",),
}
