"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.17-05": ("test_the_read_that_is_named_is_cancelled",),
    "MQDMPR-3.1.7.1.17-06": ("test_a_receive_that_waits_is_cancelled",),
    "MQDMPR-3.1.7.1.17-07": ("test_a_receive_that_waits_is_cancelled",),
    "MQDMPR-3.1.7.1.17-10": ("test_a_receive_that_waits_is_cancelled",),
}
