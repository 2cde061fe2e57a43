"""Checks of other sections that judge rules of MS-MQQB 3.1.7.1 Send User Message Event."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.1-03": ("test_the_window_is_full_after_as_many_messages_as_it_has_room_for",),
    "MQQB-3.1.7.1-06": (
        "test_a_message_that_expired_after_it_was_sent_is_not_sent_again",
        "test_a_message_that_expired_while_it_waited_is_not_sent",
    ),
    "MQQB-3.1.7.1-07": ("test_messages_are_signed_as_asked",),
    "MQQB-3.1.7.1-08": (
        "test_a_body_that_is_sent_again_is_encrypted_again",
        "test_bodies_are_encrypted_as_asked",
    ),
    "MQQB-3.1.7.1-09": ("test_transactional_messages_get_their_place_in_the_sequence",),
}
