"""Checks of other sections that judge rules of MS-MQDMPR 3.1.1 Abstract Data Model."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.1.3-07": ("test_in_hardened_security_mode_nothing_is_transferred",),
    "MQDMPR-3.1.1.3-D01": ("test_messages_that_must_survive_are_sent_after_a_restart",),
}
