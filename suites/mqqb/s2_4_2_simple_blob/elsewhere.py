"""Checks of other sections that judge rules of MS-MQQB 2.4.2 SIMPLEBLOB."""

CHECKED_ELSEWHERE = {
    "MQQB-2.4.2-D02": ("test_bodies_are_encrypted_as_asked",),
}
