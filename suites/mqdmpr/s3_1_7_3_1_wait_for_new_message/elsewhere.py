"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.1 Wait For New Message."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.1-07": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.3.1-10": ("test_a_receive_that_waits_has_its_identifier",),
    "MQDMPR-3.1.7.3.1-14": ("test_a_receive_that_waits_has_its_identifier",),
    "MQDMPR-3.1.7.3.1-18": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.3.1-21": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.3.1-22": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.3.1-23": ("test_a_read_with_a_time_out_waits_for_a_message",),
    "MQDMPR-3.1.7.3.1-25": ("test_a_receive_that_waits_has_its_identifier",),
}
