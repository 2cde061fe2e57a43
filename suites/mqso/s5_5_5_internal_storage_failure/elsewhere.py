"""Checks of other sections that judge rules of MS-MQSO 5.5.5 Internal Storage Failure."""

CHECKED_ELSEWHERE = {
    "MQSO-5.5.6-01": ("test_a_directory_that_knows_the_machine_as_another_is_not_used",),
    "MQSO-5.5.6-02": ("test_a_directory_that_knows_the_machine_as_another_is_not_used",),
    "MQSO-5.5.6-03": ("test_a_directory_that_knows_the_machine_as_another_is_not_used",),
}
