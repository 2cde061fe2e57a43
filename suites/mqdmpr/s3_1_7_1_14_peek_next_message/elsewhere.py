"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.14 Peek Next Message."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.14-04": ("test_a_queue_that_is_deleted_is_read_no_more",),
    "MQDMPR-3.1.7.1.14-07": ("test_a_read_without_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.1.14-08": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.14-10": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.14-11": ("test_a_cursor_goes_along_the_queue",),
    "MQDMPR-3.1.7.1.14-13": ("test_the_next_message_is_that_behind_one_that_was_read",),
    "MQDMPR-3.1.7.1.14-14": ("test_the_next_message_is_that_behind_one_that_was_read",),
    "MQDMPR-3.1.7.1.14-16": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.1.14-17": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.1.14-24": (
        "test_a_read_with_a_time_out_waits_for_a_message",
        "test_any_message_ends_a_wait_for_the_next",
    ),
    "MQDMPR-3.1.7.1.14-33": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
}
