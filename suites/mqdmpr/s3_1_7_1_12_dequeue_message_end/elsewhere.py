"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.12-04": ("test_a_queue_that_is_deleted_is_read_no_more",),
    "MQDMPR-3.1.7.1.12-13": ("test_nack_gives_the_message_back_and_ack_takes_it",),
    "MQDMPR-3.1.7.1.12-18": ("test_nack_gives_the_message_back_and_ack_takes_it",),
    "MQDMPR-3.1.7.1.12-21": ("test_nack_gives_the_message_back_and_ack_takes_it",),
}
