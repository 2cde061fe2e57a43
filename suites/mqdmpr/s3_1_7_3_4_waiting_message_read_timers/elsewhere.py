"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start, with 3.1.7.3.5."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.3.4-03": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
    "MQDMPR-3.1.7.3.4-04": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
    "MQDMPR-3.1.7.3.5-03": ("test_a_read_that_waits_in_vain_ends_when_its_time_is_over",),
}
