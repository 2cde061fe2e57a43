"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.19 Delete Directory Object."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.19-03": ("test_changes_of_a_public_queue_are_notified",),
    "MQDMPR-3.1.7.1.19-04": ("test_changes_of_a_public_queue_are_notified",),
    "MQDMPR-3.1.7.1.19-07": ("test_a_public_queue_is_in_the_directory_while_it_is_there",),
    "MQDMPR-3.1.7.1.19-09": ("test_a_change_that_fails_makes_the_queue_manager_offline",),
    "MQDMPR-3.1.7.1.19-10": ("test_a_change_that_fails_makes_the_queue_manager_offline",),
    "MQDMPR-3.1.7.1.19-11": ("test_without_the_directory_nothing_public_is_changed",),
    "MQDMPR-3.1.7.1.19-13": ("test_a_public_queue_is_in_the_directory_while_it_is_there",),
}
