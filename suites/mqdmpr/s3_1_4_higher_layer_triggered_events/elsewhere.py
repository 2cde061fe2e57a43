"""Checks of other sections that judge rules of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.4.3-06": ("test_first_and_last_message_of_a_transaction",),
    "MQDMPR-3.1.4.3-07": ("test_first_and_last_message_of_a_transaction",),
    "MQDMPR-3.1.4.5-08": ("test_what_is_purged_while_a_transaction_has_it_is_acknowledged",),
    "MQDMPR-3.1.4.9-D01": ("test_what_was_prepared_is_sent_when_it_is_committed_after_a_restart",),
    "MQDMPR-3.1.4.10-D01": ("test_what_was_prepared_is_sent_when_it_is_committed_after_a_restart",),
    "MQDMPR-3.1.4.14-03": ("test_a_pause_holds_what_waits_for_room_in_the_window",),
    "MQDMPR-3.1.4.15-03": (
        "test_a_resumed_queue_sends_what_waits_on_its_session",
        "test_a_resumed_queue_without_a_session_establishes_one",
    ),
}
