"""Checks of other sections that judge rules of MS-MQQB 3.1.5.9 Closing a Session."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.9-04": (
        "test_a_resumed_queue_without_a_session_establishes_one",
        "test_initiator_connects_again_when_messages_are_left",
    ),
}
