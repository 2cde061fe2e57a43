"""Checks of other sections that judge rules of MS-MQQB 3.1.7.1.5 Encrypting the Message Body."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.1.5-10": ("test_published_keys_are_those_that_decrypt",),
    "MQQB-3.1.7.1.5.2-02": ("test_published_keys_are_those_that_decrypt",),
}
