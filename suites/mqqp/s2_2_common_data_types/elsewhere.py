"""Checks of other sections that judge rules of MS-MQQP 2.2 Common Data Types."""

CHECKED_ELSEWHERE = {
    "MQQP-1.8-D01": ("test_a_failure_has_the_severity_bit_and_a_code_of_its_own_the_customer_bit",),
    "MQQP-2.2-D01": ("test_a_failure_has_the_severity_bit_and_a_code_of_its_own_the_customer_bit",),
}
