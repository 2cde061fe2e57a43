"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.2.3-03": ("test_a_pause_holds_what_waits_for_room_in_the_window",),
    "MQDMPR-3.1.7.2.4-03": ("test_a_resumed_queue_without_a_session_establishes_one",),
}
