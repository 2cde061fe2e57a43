"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.11-04": ("test_a_queue_that_is_deleted_is_read_no_more",),
    "MQDMPR-3.1.7.1.11-07": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.1.11-10": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.11-12": ("test_a_receive_that_waits_is_cancelled",),
    "MQDMPR-3.1.7.1.11-14": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.1.11-15": ("test_a_message_is_peeked_then_received",),
}
