"""Checks of other sections that judge rules of MS-MQSO 4.3.1 Black Box Relationship Diagram."""

CHECKED_ELSEWHERE = {
    "MQSO-4.3.1-01": ("test_recoverable_and_transactional_messages_live_here",),
    "MQSO-4.3.1.2-04": ("test_what_could_not_be_delivered_is_kept_where_it_was_asked_for",),
    "MQSO-4.3.1.2-D03": ("test_messages_are_transferred_when_the_network_is_back",),
    "MQSO-4.3.1.2-D05": ("test_a_message_is_transferred_when_it_is_acknowledged",),
    "MQSO-4.3.1.2-D06": ("test_a_message_is_locked_by_a_transaction_until_that_is_decided",),
    "MQSO-4.3.1.2-D07": ("test_a_message_is_locked_by_a_transaction_until_that_is_decided",),
    "MQSO-4.3.1.3-03": ("test_a_message_for_another_site_comes_to_the_gate",),
    "MQSO-4.3.1.3-D02": ("test_a_message_for_another_site_comes_to_the_gate",),
}
