"""Checks of other sections that judge rules of MS-MQSO 5.1.1.1 Queue Manager States, with 5.1.1."""

CHECKED_ELSEWHERE = {
    "MQSO-5.1.1-D01": ("test_a_cursor_has_a_place_of_its_own_until_a_restart",),
    "MQSO-5.1.1.1-D06": ("test_a_directory_that_goes_away_comes_back",),
    "MQSO-5.1.1.1-D07": ("test_a_directory_that_goes_away_comes_back",),
}
