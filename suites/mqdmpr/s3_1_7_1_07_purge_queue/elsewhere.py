"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.7 Purge Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.7-05": (
        "test_a_message_that_a_reader_holds_is_removed_too",
        "test_a_message_that_was_received_is_purged_when_that_ends",
    ),
    "MQDMPR-3.1.7.1.7-07": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
}
