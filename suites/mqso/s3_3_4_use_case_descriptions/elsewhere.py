"""Checks of other sections that judge rules of MS-MQSO 3.3.4 Use Case Descriptions."""

CHECKED_ELSEWHERE = {
    "MQSO-3.3.4.3-D01": ("test_what_is_received_without_a_transaction_is_gone",),
    "MQSO-3.3.4.3-D02": ("test_what_is_received_without_a_transaction_is_gone",),
    "MQSO-3.3.4.3-D03": ("test_each_destination_has_an_outgoing_queue_of_its_own",),
    "MQSO-3.3.4.4-D01": (
        "test_a_message_is_sent_in_a_transaction_of_a_coordinator",
        "test_a_message_is_sent_in_a_transaction_of_the_queue_manager",
    ),
    "MQSO-3.3.4.4-D02": (
        "test_a_message_is_sent_in_a_transaction_of_a_coordinator",
        "test_a_message_is_sent_in_a_transaction_of_the_queue_manager",
        "test_a_message_leaves_when_its_transaction_commits",
    ),
    "MQSO-3.3.4.6-D01": ("test_who_receives_from_an_empty_queue_waits",),
    "MQSO-3.3.4.6-D02": ("test_what_is_received_without_a_transaction_is_gone",),
    "MQSO-3.3.4.7-D01": ("test_a_message_is_locked_by_a_transaction_until_that_is_decided",),
    "MQSO-3.3.4.7-D02": ("test_a_message_is_locked_by_a_transaction_until_that_is_decided",),
}
