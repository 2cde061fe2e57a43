"""Checks of other sections that judge rules of MS-MQQB 3.1.1.3.1 Session State."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.1.3.1-13": ("test_an_acknowledged_message_that_wants_journaling_is_kept_for_its_final_ack",),
    "MQQB-3.1.1.3.1-D01": ("test_the_new_session_brings_messages_of_every_delivery_in_their_order",),
    "MQQB-3.1.1.3.1.3-01": ("test_next_hops_are_what_the_destination_resolves_to",),
}
