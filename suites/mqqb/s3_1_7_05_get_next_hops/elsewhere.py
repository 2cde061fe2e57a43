"""Checks of other sections that judge rules of MS-MQQB 3.1.7.5 Get Next Hops."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.5-D01": ("test_a_private_name_tells_the_queue_manager",),
    "MQQB-3.1.7.5-D02": ("test_a_private_name_tells_the_queue_manager",),
    "MQQB-3.1.7.5-D03": ("test_a_queue_manager_without_a_way_to_it_is_tried_again_later",),
}
