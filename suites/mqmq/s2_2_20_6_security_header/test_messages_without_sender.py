"""MS-MQMQ 2.2.20.6 SecurityHeader: messages for which the application requests that no sender is named."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import SECURITY_ITEM_AND_SIZE_FIELDS, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

ITEM_SIZE_FIELDS = tuple(f"SecurityHeader.{size}" for _, size in SECURITY_ITEM_AND_SIZE_FIELDS)
SEND_ARGUMENTS_OF_MESSAGES_WITHOUT_SENDER = (
    *({"delivery": delivery} for delivery in ("express", "recoverable", "transactional")),
    {"authentication_level": "none"},
    {"privacy_level": "none"},
    {"hash_algorithm": "sha512"},
    {"authentication_level": "sig20"},
)
"""The arguments of messages without a sender. Only the last message needs a SecurityHeader."""


@needs("security", "send")
@covers("MQMQ-2.2.20.6-19")
def test_security_header_of_message_without_sender_is_not_empty(peer, sut, judge):
    """The SUT sends messages that name no sender: six without security items, and a signed message. Each SecurityHeader
    that the SUT adds to a message contains at least one item.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frames = [
        outgoing.send(body="no sender", sender="none", **arguments)
        for arguments in SEND_ARGUMENTS_OF_MESSAGES_WITHOUT_SENDER
    ]
    outgoing.end()
    headers = {
        str(arguments): _list_item_sizes(frame)
        for arguments, frame in zip(SEND_ARGUMENTS_OF_MESSAGES_WITHOUT_SENDER, frames, strict=True)
    }
    judge(
        "MQMQ-2.2.20.6-19",
        expected=each(True, "SecurityHeader with an item"),
        observed={name: any(sizes) for name, sizes in headers.items() if sizes},
        evidence=frames,
    )


def _list_item_sizes(frame):
    """Return the five sizes in the SecurityHeader of a message, or an empty list if it has no SecurityHeader."""
    sizes = Layout(frame).of(*ITEM_SIZE_FIELDS).values()
    return [size for size in sizes if size != Layout.MISSING]
