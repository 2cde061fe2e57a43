"""Checks of other sections that judge rules of MS-MQDMPR 3.1.1.1 QueueManager."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.1.1-27": ("test_the_sites_of_the_queue_manager_are_those_of_the_directory",),
    "MQDMPR-3.1.1.1-D02": ("test_in_hardened_security_mode_nothing_is_transferred",),
    "MQDMPR-3.1.1.1-D04": ("test_sequential_identifiers_go_on_after_a_restart",),
}
