"""Checks of other sections that judge rules of MS-MQSO 4.3.1 Black Box Relationship Diagram."""

CHECKED_ELSEWHERE = {
    "MQSO-4.3.1.3-03": ("test_a_message_for_another_site_comes_to_the_gate",),
    "MQSO-4.3.1.3-D02": ("test_a_message_for_another_site_comes_to_the_gate",),
}
