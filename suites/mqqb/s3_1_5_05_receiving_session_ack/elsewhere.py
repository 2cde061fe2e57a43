"""Checks of other sections that judge rules of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.5-03": ("test_acknowledged_messages_make_room_for_those_held_back",),
    "MQQB-3.1.5.5-04": ("test_only_unacknowledged_express_messages_come_again",),
    "MQQB-3.1.5.5-05": ("test_only_unacknowledged_recoverable_messages_come_again",),
    "MQQB-3.1.5.5-06": (
        "test_acknowledged_messages_that_ask_for_it_are_journaled",
        "test_recoverable_messages_are_journaled_whole_when_they_are_on_disk",
    ),
    "MQQB-3.1.5.5-07": (
        "test_wrong_message_count_closes_a_session_of_the_sut",
        "test_wrong_message_count_closes_the_session",
    ),
}
