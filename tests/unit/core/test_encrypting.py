"""MS-MQQB 3.1.7.1.5, 3.1.7.1.5.1: encrypting the message body, from the command to the receiver's queue."""

from core_secure import (
    PLAIN_2,
    secure_pair,
)

from reference_qm.codec import MAX_PACKET_SIZE


def test_a_body_that_fits_a_packet_only_in_clear_is_not_sent():
    sender, receiver = secure_pair()
    sender.send(PLAIN_2, body=bytes(MAX_PACKET_SIZE - 400), privacy_level="advanced", sender="none")
    sender.send(PLAIN_2, body=b"small")
    assert receiver.bodies() == ["small"]
