"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.8-17": ("test_several_queues_have_an_opening_of_their_openings",),
    "MQDMPR-3.1.7.3.8-23": ("test_several_queues_have_an_opening_of_their_openings",),
}
