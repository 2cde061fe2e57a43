"""Checks of other sections that judge rules of MS-MQQB 3.1.4 Higher layer triggered events."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.4.1-01": ("test_what_the_queue_manager_begins_with",),
    "MQQB-3.1.4.1-02": ("test_messages_that_must_survive_are_sent_after_a_restart",),
}
