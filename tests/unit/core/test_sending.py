"""MS-MQQB 3.1.7.1.1, 3.1.7.1.6: identifiers of messages, and the effect of a failed transport on messages."""

from __future__ import annotations

import pytest
from core_network import Network, direct
from core_raw import Raw

from reference_qm.surface.inputs import TransportLost

TO = direct(9)


@pytest.fixture
def raw() -> Raw:
    return Raw.accepted(Network().host(1))


def test_sent_message_is_marked_until_session_changes(raw):
    raw.host.send(TO)
    (position,) = raw.host.core.adm.OutgoingQueues[TO.lower()].session.OutgoingMessageTable
    assert position.Transmitted
    raw.host.handle(TransportLost("out-1", "reset"))
    assert position in list(raw.host.core.adm.OutgoingQueues[TO.lower()].session.OutgoingMessageTable)
    raw.host.network.advance(5_000)
    assert not position.Transmitted


def test_a_message_keeps_its_identifier_when_it_is_sent_again(raw):
    message_id = raw.host.send(TO)
    raw.host.handle(TransportLost("out-1", "reset"))
    raw.host.network.advance(5_000)
    (position,) = raw.host.core.adm.OutgoingQueues[TO.lower()].session.OutgoingMessageTable
    assert message_id.endswith(f"\\{position.UserMessage.UserHeader.MessageID}")
