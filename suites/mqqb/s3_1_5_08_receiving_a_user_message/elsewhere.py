"""Checks of other sections that judge rules of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.8-03": ("test_a_message_that_comes_again_is_discarded",),
    "MQQB-3.1.5.8-04": ("test_messages_are_counted_and_acknowledged_half_the_timeout_after_the_first",),
    "MQQB-3.1.5.8-08": ("test_messages_of_a_sequence_are_accepted_in_order_and_once",),
    "MQQB-3.1.5.8-09": ("test_the_message_after_32_is_acknowledged_at_once",),
    "MQQB-3.1.5.8-10": ("test_a_message_is_in_its_queue_as_it_was_sent",),
    "MQQB-3.1.5.8-11": ("test_a_traced_message_that_arrives_is_reported",),
    "MQQB-3.1.5.8-12": ("test_arrival_is_acknowledged_when_asked_for",),
    "MQQB-3.1.5.8.10-01": ("test_arrival_is_acknowledged_when_asked_for",),
    "MQQB-3.1.5.8.10-02": ("test_arrival_is_acknowledged_when_asked_for",),
}
