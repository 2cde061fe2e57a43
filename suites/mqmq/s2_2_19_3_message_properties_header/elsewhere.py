"""Checks of other sections that judge rules of MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.19.3-23": ("test_every_hash_has_its_number",),
    "MQMQ-2.2.19.3-D02": ("test_every_hash_has_its_number",),
}
