"""MS-MQQB 3.1.7.1.4 Signing the Packet, from the command to the queue of the receiver."""

import pytest
from core_secure import (
    MALLORY,
    PLAIN_2,
    arrived,
    secure_pair,
)

from reference_qm.surface.commands import SendMessage


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"authentication_level": "sig40"}, "authentication_level"),
        ({"authentication_level": "sig20", "hash_algorithm": "sha3"}, "hash_algorithm"),
        ({"authentication_level": "sig20", "sender": "bob"}, "sender"),
        ({"authentication_level": "sig20", "certificate": "bob"}, "certificate"),
        ({"privacy_level": "total"}, "privacy_level"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(arguments, named):
    sender, _ = secure_pair()
    said = sender.refusal(SendMessage(PLAIN_2, **arguments))
    assert said.startswith(f"{named}: ")


def test_a_local_message_is_signed_and_checked_as_well():
    sender, _ = secure_pair()
    sender.send("DIRECT=OS:.\\private$\\plain", body=b"here", authentication_level="sig20")
    (message,) = arrived(sender)
    assert message["security"]["authentication_level"] == "sig20"
    said = sender.refusal(
        SendMessage("DIRECT=OS:.\\private$\\plain", authentication_level="sig20", certificate=MALLORY.name)
    )
    assert "not registered for its SecurityID" in said
