"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.10 Dequeue Message."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.10-02": ("test_nack_gives_the_message_back_and_ack_takes_it",),
    "MQDMPR-3.1.7.1.10-06": ("test_a_queue_that_is_deleted_is_read_no_more",),
    "MQDMPR-3.1.7.1.10-08": ("test_a_read_without_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.1.10-09": ("test_a_read_is_kept_while_it_waits",),
    "MQDMPR-3.1.7.1.10-12": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.10-15": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.10-16": ("test_a_cursor_stays_where_its_message_was",),
    "MQDMPR-3.1.7.1.10-17": ("test_a_cursor_stays_where_its_message_was",),
    "MQDMPR-3.1.7.1.10-19": ("test_what_fails_brings_no_handle",),
    "MQDMPR-3.1.7.1.10-20": ("test_what_fails_brings_no_handle",),
    "MQDMPR-3.1.7.1.10-22": ("test_of_receives_that_wait_each_message_goes_to_one",),
    "MQDMPR-3.1.7.1.10-23": ("test_of_receives_that_wait_each_message_goes_to_one",),
    "MQDMPR-3.1.7.1.10-27": ("test_a_receive_that_waits_is_cancelled",),
    "MQDMPR-3.1.7.1.10-30": (
        "test_any_message_ends_a_wait_by_a_cursor",
        "test_of_receives_that_wait_each_message_goes_to_one",
    ),
    "MQDMPR-3.1.7.1.10-31": ("test_a_cursor_that_waited_to_receive_is_at_what_came",),
    "MQDMPR-3.1.7.1.10-34": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
    "MQDMPR-3.1.7.1.10-35": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
    "MQDMPR-3.1.7.1.10-38": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.1.10-D01": (
        "test_a_read_with_a_time_out_waits_for_a_message",
        "test_of_receives_that_wait_each_message_goes_to_one",
    ),
    "MQDMPR-3.1.7.1.10-D02": (
        "test_a_read_that_waits_in_vain_ends_when_its_time_is_over",
        "test_a_read_with_a_time_out_waits_for_a_message",
        "test_of_receives_that_wait_each_message_goes_to_one",
    ),
    "MQDMPR-3.1.7.1.10-D03": ("test_what_is_received_within_a_transaction_is_locked_until_it_ends",),
    "MQDMPR-3.1.7.1.10-D04": ("test_what_is_received_within_a_transaction_is_locked_until_it_ends",),
    "MQDMPR-3.1.7.1.10-D05": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.1.10-D06": ("test_a_message_is_acknowledged_however_it_is_received",),
    "MQDMPR-3.1.7.1.10-D07": ("test_a_message_is_peeked_then_received",),
}
