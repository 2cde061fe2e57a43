"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.6 Close Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.6-07": ("test_several_queues_have_an_opening_of_their_openings",),
    "MQDMPR-3.1.7.1.6-10": ("test_every_read_that_waits_is_cancelled",),
    "MQDMPR-3.1.7.1.6-17": ("test_each_way_to_open_beside_each_other",),
}
