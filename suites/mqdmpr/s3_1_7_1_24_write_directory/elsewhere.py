"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.24 Write Directory."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.24-03": ("test_a_public_queue_is_in_the_directory_while_it_is_there",),
    "MQDMPR-3.1.7.1.24-05": ("test_a_change_that_fails_makes_the_queue_manager_offline",),
    "MQDMPR-3.1.7.1.24-06": ("test_a_change_that_fails_makes_the_queue_manager_offline",),
    "MQDMPR-3.1.7.1.24-07": ("test_without_the_directory_nothing_public_is_changed",),
    "MQDMPR-3.1.7.1.24-09": ("test_a_public_queue_is_in_the_directory_while_it_is_there",),
    "MQDMPR-3.1.7.1.24-11": ("test_changes_of_a_public_queue_are_notified",),
    "MQDMPR-3.1.7.1.24-12": ("test_changes_of_a_public_queue_are_notified",),
}
