"""Checks of other sections that judge rules of MS-MQDMPR 1.8 Vendor-Extensible Fields."""

CHECKED_ELSEWHERE = {
    "MQDMPR-1.8-D01": ("test_a_failure_has_the_severity_bit_and_a_code_of_its_own_the_customer_bit",),
}
