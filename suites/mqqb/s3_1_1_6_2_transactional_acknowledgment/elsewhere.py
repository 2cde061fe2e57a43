"""Checks of other sections that judge rules of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.1.6.2-D01": ("test_an_order_ack_names_the_last_message_in_order",),
    "MQQB-3.1.1.6.2-03": ("test_a_sequence_goes_on_with_the_last_message_accepted",),
    "MQQB-3.1.1.6.2-04": ("test_messages_put_the_order_ack_off_but_not_for_ever",),
    "MQQB-3.1.1.6.2-05": ("test_messages_put_the_order_ack_off_but_not_for_ever",),
    "MQQB-3.1.1.6.2-06": ("test_an_order_ack_is_sent_when_the_timer_expires",),
    "MQQB-3.1.1.6.2-07": ("test_an_order_ack_is_sent_when_the_timer_expires",),
    "MQQB-3.1.1.6.2-08": ("test_acknowledged_messages_are_gone_and_the_next_sequence_begins",),
    "MQQB-3.1.1.6.2-09": ("test_messages_without_order_ack_are_sent_again",),
    "MQQB-3.1.1.6.2-10": ("test_messages_without_order_ack_are_sent_again",),
    "MQQB-3.1.1.6.2-11": ("test_an_acknowledged_message_that_wants_journaling_is_kept_for_its_final_ack",),
}
