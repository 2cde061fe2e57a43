"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.27-10": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQDMPR-3.1.7.1.27-12": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQDMPR-3.1.7.1.27-13": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQDMPR-3.1.7.1.27-14": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
}
