"""MS-MQQB 3.1.5.8.2, 3.1.5.8.6, 3.1.6.9, 3.1.7.2.2, 3.1.7.17: what the receiver of transactional messages does."""

import pytest
from core_network import TRANSACTIONAL, Network
from core_ordering import SEQUENCE, in_sequence
from core_raw import RAW, Raw

from reference_qm.codec import (
    OrderAckBody,
    UserHeader,
)
from reference_qm.core.transfer.order_acks import is_order_ack
from reference_qm.surface.inputs import Persisted, PersistFailed

JP, JN = UserHeader.flags(JP=1), UserHeader.flags(JN=1)


@pytest.fixture
def raw():
    return Raw.open(Network().host(1))


def order_acks(raw):
    return [OrderAckBody.parse(one.MessagePropertiesHeader.MessageBody) for one in raw.messages if is_order_ack(one)]


def transfer(raw):
    queues = raw.host.adm()["QueueManager"]["QueueCollection"]
    (info,) = queues[1]["IncomingTransactionalTransferInfoCollection"]
    return info


def bodies(raw):
    return raw.host.bodies(TRANSACTIONAL)


def test_the_count_of_rejections_survives_session_and_crash(raw):
    """MS-MQQB 3.1.1.3.1, 3.1.5.8.6."""
    raw.feed(in_sequence(1), in_sequence(3))
    again = Raw.open(raw.host)
    again.feed(in_sequence(3))
    assert transfer(raw)["RejectCount"] == 2
    raw.host.restart()
    later = Raw.open(raw.host)
    later.feed(in_sequence(3))
    assert (later.session["TxMessageRejectCount"], transfer(raw)["RejectCount"]) == (3, 3)
    later.feed(in_sequence(2))
    assert (later.session["TxMessageRejectCount"], transfer(raw)["RejectCount"]) == (0, 0)


# -- order acknowledgments --------------------------------------------------------------------------------------


def test_only_what_is_on_disk_is_acknowledged_and_in_order(raw):
    raw.host.disk = "slow"
    raw.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    tokens = [persist.token for persist in raw.host.persists]
    raw.host.network.advance(600)
    assert (order_acks(raw), bodies(raw)) == ([], [])
    raw.host.handle(Persisted(tokens[0]))
    raw.host.handle(Persisted(tokens[2]))
    raw.host.network.advance(600)
    assert [one.TxSequenceNumber for one in order_acks(raw)] == [1]
    assert bodies(raw) == ["1"], "3 is there, 2 is not"
    raw.host.handle(Persisted(tokens[1]))
    raw.host.network.advance(600)
    assert [one.TxSequenceNumber for one in order_acks(raw)] == [1, 3]


def test_the_record_has_the_place_in_the_sequence(raw):
    raw.feed(in_sequence(1, bits=JP))
    (persist,) = raw.host.persists
    transfer = f"transfer:2:{RAW}:DIRECT=OS:host\\{TRANSACTIONAL}"
    message = persist.record[f"message:{persist.token}"]
    assert message["sequence"] == {"transfer": transfer, "at": [1, SEQUENCE.TimeStamp, 1], "follows": [0, 0, 0]}
    assert persist.record[transfer] == [0, 0, 0, 0], "nothing is known to be on disk yet"
    assert message["order_queue"] == "DIRECT=TCP:10.0.0.99\\PRIVATE$\\order_queue$"


def test_a_failing_disk_takes_the_sequence_back(raw):
    raw.host.disk = "slow"
    raw.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    one, two, three = (persist.token for persist in raw.host.persists)
    raw.host.handle(Persisted(one))
    raw.host.handle(PersistFailed(two, "disk full"))
    raw.host.handle(Persisted(three))
    assert "disk full" in raw.closed
    assert bodies(raw) == ["1"]
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(in_sequence(2, 0), in_sequence(3))
    assert bodies(raw) == ["1", "2", "3"]


def test_a_crash_leaves_what_is_on_disk_and_its_place(raw):
    raw.feed(in_sequence(1))
    raw.host.disk = "slow"
    raw.feed(in_sequence(2), in_sequence(3))
    raw.host.handle(Persisted(raw.host.persists[-1].token))
    raw.host.restart()
    assert bodies(raw) == ["1"]
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    assert bodies(raw) == ["1", "2", "3"]


# -- final acknowledgments --------------------------------------------------------------------------------------


# -- two cores --------------------------------------------------------------------------------------------------
