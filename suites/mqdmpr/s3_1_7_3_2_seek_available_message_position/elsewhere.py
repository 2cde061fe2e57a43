"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.2-03": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.2-04": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.2-06": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.3.2-09": ("test_the_ends_of_the_queue_have_identifiers",),
    "MQDMPR-3.1.7.3.2-11": ("test_a_cursor_stays_where_its_message_was",),
    "MQDMPR-3.1.7.3.2-12": (
        "test_a_message_locked_by_another_is_passed_over",
        "test_a_message_that_is_locked_received_or_purged_is_not_found",
    ),
    "MQDMPR-3.1.7.3.2-16": ("test_a_message_locked_by_another_is_passed_over",),
    "MQDMPR-3.1.7.3.2-19": ("test_the_ends_of_the_queue_have_identifiers",),
    "MQDMPR-3.1.7.3.2-21": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.2-22": ("test_a_message_that_is_locked_received_or_purged_is_not_found",),
    "MQDMPR-3.1.7.3.2-26": ("test_a_message_that_is_locked_received_or_purged_is_not_found",),
    "MQDMPR-3.1.7.3.2-27": ("test_a_message_that_is_locked_received_or_purged_is_not_found",),
}
