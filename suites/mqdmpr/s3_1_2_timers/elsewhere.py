"""Checks of other sections that judge rules of MS-MQDMPR 3.1.2 Timers."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.2.1-01": ("test_sites_and_gates_are_read_again_in_their_times",),
    "MQDMPR-3.1.2.2-01": ("test_sites_and_gates_are_read_again_in_their_times",),
    "MQDMPR-3.1.2.3-01": ("test_each_call_has_a_timer_of_its_own",),
    "MQDMPR-3.1.2.3-02": ("test_each_call_has_a_timer_of_its_own",),
    "MQDMPR-3.1.2.3-03": ("test_an_infinite_time_out_waits_for_a_message",),
    "MQDMPR-3.1.2.3-D01": ("test_each_call_has_a_timer_of_its_own",),
    "MQDMPR-3.1.2.4-01": ("test_a_message_lives_as_many_seconds_as_it_says",),
    "MQDMPR-3.1.2.4-D01": ("test_a_message_lives_as_many_seconds_as_it_says",),
    "MQDMPR-3.1.2.4-D02": ("test_a_message_lives_as_many_seconds_as_it_says",),
    "MQDMPR-3.1.2.5-01": ("test_a_directory_that_is_away_is_looked_for_every_minute",),
    "MQDMPR-3.1.2.5-D01": ("test_a_directory_that_is_away_is_looked_for_every_minute",),
}
