"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.13-02": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.1.13-04": ("test_a_receive_is_kept_until_it_is_ended",),
    "MQDMPR-3.1.7.1.13-07": ("test_a_queue_that_is_deleted_is_read_no_more",),
    "MQDMPR-3.1.7.1.13-09": ("test_a_receive_is_kept_until_it_is_ended",),
    "MQDMPR-3.1.7.1.13-11": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.1.13-16": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.1.13-18": ("test_an_identifier_of_no_message_finds_none",),
    "MQDMPR-3.1.7.1.13-20": ("test_a_message_that_is_locked_received_or_purged_is_not_found",),
    "MQDMPR-3.1.7.1.13-24": ("test_what_is_received_within_a_transaction_is_locked_until_it_ends",),
    "MQDMPR-3.1.7.1.13-25": ("test_what_is_received_within_a_transaction_is_locked_until_it_ends",),
    "MQDMPR-3.1.7.1.13-29": ("test_what_is_received_within_a_transaction_is_locked_until_it_ends",),
    "MQDMPR-3.1.7.1.13-32": ("test_a_receive_is_kept_until_it_is_ended",),
    "MQDMPR-3.1.7.1.13-34": ("test_a_message_is_acknowledged_however_it_is_received",),
    "MQDMPR-3.1.7.1.13-38": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.1.13-39": ("test_only_a_receive_that_succeeds_brings_a_handle",),
}
