"""Checks of other sections that judge rules of MS-MQSO 6.3.1 Transports Used Within the System, with 6.1.5.5."""

CHECKED_ELSEWHERE = {
    "MQSO-6.1.5.5-01": ("test_bodies_are_encrypted_as_asked",),
}
