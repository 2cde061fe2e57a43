"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.3-03": ("test_only_a_receive_that_succeeds_brings_a_handle",),
    "MQDMPR-3.1.7.3.3-04": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-08": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-10": ("test_the_ends_of_the_queue_have_identifiers",),
    "MQDMPR-3.1.7.3.3-15": ("test_the_ends_of_the_queue_have_identifiers",),
    "MQDMPR-3.1.7.3.3-17": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-22": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-24": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-29": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-41": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-46": ("test_the_action_and_the_identifier_say_which_message",),
    "MQDMPR-3.1.7.3.3-48": ("test_the_ends_of_the_queue_have_identifiers",),
    "MQDMPR-3.1.7.3.3-53": ("test_the_ends_of_the_queue_have_identifiers",),
}
