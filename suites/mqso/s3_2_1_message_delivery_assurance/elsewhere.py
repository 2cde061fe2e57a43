"""Checks of other sections that judge rules of MS-MQSO 3.2.1 Message Delivery Assurance."""

CHECKED_ELSEWHERE = {
    "MQSO-3.2.1-01": (
        "test_a_message_is_locked_by_a_transaction_until_that_is_decided",
        "test_a_transactional_message_is_stored_once_and_acknowledged",
    ),
    "MQSO-3.2.1-D01": ("test_recoverable_and_transactional_messages_live_here",),
    "MQSO-3.2.1-D02": ("test_recoverable_and_transactional_messages_live_here",),
    "MQSO-3.2.1-D03": ("test_a_transactional_message_is_stored_once_and_acknowledged",),
}
