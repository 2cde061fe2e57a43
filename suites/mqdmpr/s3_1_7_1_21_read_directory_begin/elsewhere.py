"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.21 Read Directory Begin."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.21-02": ("test_a_message_for_another_site_comes_to_the_gate",),
    "MQDMPR-3.1.7.1.21-03": ("test_a_message_for_another_site_comes_to_the_gate",),
    "MQDMPR-3.1.7.1.21-05": ("test_a_message_for_another_site_comes_to_the_gate",),
    "MQDMPR-3.1.7.1.22-02": ("test_a_message_for_another_site_comes_to_the_gate",),
}
