"""Checks of other sections that judge rules of MS-MQSO 5.1.1.1 Queue Manager States, with 5.1.1."""

CHECKED_ELSEWHERE = {
    "MQSO-5.1.1-D01": ("test_a_cursor_has_a_place_of_its_own_until_a_restart",),
    "MQSO-5.1.1.1-01": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-5.1.1.1-02": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-5.1.1.1-03": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-5.1.1.1-05": ("test_it_is_throttled_while_resources_are_short",),
    "MQSO-5.1.1.1-06": ("test_it_is_throttled_while_resources_are_short",),
    "MQSO-5.1.1.1-D02": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-5.1.1.1-D03": ("test_later_attempts_are_further_apart",),
    "MQSO-5.1.1.1-D04": ("test_it_is_throttled_while_resources_are_short",),
    "MQSO-5.1.1.1-D06": ("test_a_directory_that_goes_away_comes_back",),
    "MQSO-5.1.1.1-D07": ("test_a_directory_that_goes_away_comes_back",),
}
