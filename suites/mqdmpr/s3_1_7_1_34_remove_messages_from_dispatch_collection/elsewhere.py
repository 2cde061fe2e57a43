"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.34."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.34-03": (
        "test_a_pause_acknowledges_what_came_and_holds_what_is_to_be_sent",
        "test_a_pause_holds_what_waits_for_room_in_the_window",
    ),
}
