"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.4-05": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
    "MQDMPR-3.1.7.1.4-13": ("test_a_public_queue_is_in_the_directory_as_long_as_it_is",),
    "MQDMPR-3.1.7.1.4-14": ("test_a_public_queue_is_in_the_directory_as_long_as_it_is",),
    "MQDMPR-3.1.7.1.4-16": (
        "test_a_machine_that_left_its_domain_deletes_no_public_queue",
        "test_a_public_queue_is_in_the_directory_as_long_as_it_is",
    ),
}
