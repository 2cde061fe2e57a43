"""MS-MQQP 3.2.4: without a control channel, the harness reads and empties the queues of a SUT by remote reading."""

from __future__ import annotations

import pytest
from harness_made import sut_file

from harness.environment import VirtualEnvironment
from harness.environment.core_host import CoreHost
from harness.errors import HarnessError
from harness.faults.registry import wrap
from harness.sut.control import ControlRefused, Unsupported
from harness.sut.remote_control import FACILITIES_OF_REMOTE_CONTROL, RemoteControl
from harness.sut.view import SutIdentity, build_sut_view
from harness.wire import PrivateQueueFormatNameId, user_message
from reference_qm.codec import NULL_GUID
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.surface.commands import SendMessage
from reference_qm.surface.entropy import SeededEntropy, generate_guid
from reference_qm.surface.inputs import Endpoint

FILE = sut_file()
PLAIN = FILE.queues.plain


@pytest.fixture
def remote() -> RemoteControl:
    """Return the remote reading of a SUT that has two messages."""
    return reading_control()


def reading_control(*faults: str) -> RemoteControl:
    """Return the remote reading of a SUT that has two messages and the given faults."""
    environment, entropy = VirtualEnvironment(), SeededEntropy("sut")
    config = QueueManagerConfig(
        generate_guid(entropy), addresses=(FILE.driver.address,), queues=(QueueSettings(PLAIN),)
    )
    host = CoreHost(environment, wrap(lambda: QueueManager(config, entropy), faults), FILE.driver.address)
    host.start()
    host.listen_rpc(FILE.driver.rpc_port)
    for body in (b"one", b"two"):
        host.ask(SendMessage(f"DIRECT=TCP:{FILE.driver.address}\\{PLAIN}", body))
    return RemoteControl(environment, FILE, FILE.driver.rpc_port)


def bodies(remote: RemoteControl, **more: int) -> list[str]:
    return [one["body"] for one in remote.call("peek", queue=PLAIN, **more)["messages"]]


def test_remote_control_peeks_in_order_receives_and_purges_messages(remote: RemoteControl) -> None:
    assert bodies(remote) == bodies(remote) == ["one", "two"]
    assert bodies(remote, limit=1) == ["one"]
    assert remote.call("receive", queue=PLAIN)["message"]["body"] == "one"
    assert bodies(remote) == ["two"]
    remote.call("purge", queue=PLAIN)
    assert bodies(remote) == []
    assert remote.call("receive", queue=PLAIN, timeout_ms=5)["message"] is None


def test_remote_control_reads_by_handle_cursor_and_lookup_identifier(remote: RemoteControl) -> None:
    handle = remote.call("open_queue", queue=PLAIN, access="receive")["handle"]
    cursor = remote.call("open_cursor", handle=handle)["cursor"]
    first = remote.call("peek_message", cursor=cursor)["message"]
    assert first["body"] == "one"
    assert remote.call("peek_next", cursor=cursor)["message"]["body"] == "two"
    by_identifier = {"queue": PLAIN, "lookup_id": first["lookup_id"]}
    assert remote.call("peek_by_lookup_id", **by_identifier, seek="next")["message"]["body"] == "two"
    assert remote.call("receive_by_lookup_id", **by_identifier)["message"]["body"] == "one"
    assert remote.call("receive", handle=handle)["message"]["body"] == "two"
    remote.call("close_cursor", cursor=cursor)
    remote.call("close_queue", handle=handle)
    with pytest.raises(ControlRefused):
        remote.call("receive", handle=handle)


def test_waiting_read_of_remote_control_is_answered_later_and_not_cancelled(remote: RemoteControl) -> None:
    remote.call("purge", queue=PLAIN)
    waiting = remote.begin("receive", queue=PLAIN, timeout_ms=600_000)
    assert remote.answer(waiting) is None
    with pytest.raises(Unsupported, match="cancel"):  # the tester's own queue manager would answer
        remote.call("cancel", request=waiting)


def test_remote_control_reads_queues_at_a_separate_qm2qm_port() -> None:
    assert bodies(reading_control("server-interfaces-on-separate-ports-tolerated")) == ["one", "two"]


def test_cursor_that_does_not_advance_is_abandoned() -> None:
    with pytest.raises(ControlRefused, match=r"returns message [0-9]+ of .* again"):
        bodies(reading_control("server-peek-next-does-not-move-cursor"))


def test_refused_remote_read_gives_one_line_error_with_status(remote: RemoteControl) -> None:
    with pytest.raises(ControlRefused, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        remote.call("peek", queue="private$\\nowhere")


def test_remote_control_offers_no_other_verb(remote: RemoteControl) -> None:
    with pytest.raises(Unsupported, match="restart is not possible for a SUT without a control channel"):
        remote.call("restart")
    with pytest.raises(Unsupported, match="restart is not possible for a SUT without a control channel"):
        remote.begin("restart")
    with pytest.raises(Unsupported, match="in a transaction"):
        remote.call("receive", queue=PLAIN, transaction="1")
    with pytest.raises(HarnessError):
        remote.answer(1)


def test_remote_control_empties_the_queue_of_a_check_once(remote: RemoteControl) -> None:
    sut = build_sut_view(
        FILE,
        remote.host.environment,
        remote,
        SutIdentity(None, FACILITIES_OF_REMOTE_CONTROL),
        1801,
        3527,
        FILE.driver.rpc_port,
    )
    assert sut.has("receive")
    assert not sut.has("queue_control")
    assert sut.queue() == PLAIN
    assert sut.messages() == []
    assert sut.queue() == PLAIN
    sut.close()


@pytest.mark.parametrize("known", [True, False])
def test_a_private_queue_of_the_sut_is_named_by_its_identifier(known: bool) -> None:
    """A private response queue in a message to a direct name gets the identifier of the queue manager that is read,
    because the message has no QueueManagerAddress.
    """
    identifier = generate_guid(SeededEntropy("sut"))
    remote = RemoteControl(VirtualEnvironment(), FILE, FILE.driver.rpc_port, identifier if known else None)
    core = remote.host.core
    assert isinstance(core, QueueManager)
    address = Endpoint(FILE.driver.address, FILE.driver.rpc_port)
    queue = RemoteQueue(number=1, FormatName=f"DIRECT=TCP:{FILE.driver.address}\\{PLAIN}", RemoteServer=address)
    number = PrivateQueueFormatNameId(PrivateQueueIdentifier=11)
    packet = user_message(destination=f"TCP:{FILE.driver.address}\\{PLAIN}", user={"RQ": 3, "ResponseQueue": number})
    results = {"lpRemoteReadDesc": {"lpBuffer": bytes(packet), "dwArriveTime": 0}}
    found = core.client_message_reading.reconstruct_message(results, core.server_names.find_server_identifier(queue))
    assert found.message.ResponseQueueFormatName.lower() == f"private={identifier if known else NULL_GUID}\\0000000b"


class Silent:
    """A server that accepts a connection and never answers."""

    def on_connection_open(self) -> None: ...

    def on_bytes(self, data: bytes) -> None: ...

    def on_failed(self, error: str) -> None: ...

    def on_closed(self, reason: str) -> None: ...


def test_remote_read_without_answer_counts_as_refusal_by_the_sut() -> None:
    environment = VirtualEnvironment()
    environment.listen(Endpoint(FILE.driver.address, FILE.driver.rpc_port), lambda stream: Silent())
    silent = RemoteControl(environment, FILE, FILE.driver.rpc_port)
    with pytest.raises(ControlRefused, match=r"did not end .*: RemoteOpen was not answered within 60000 ms$"):
        silent.call("peek", queue=PLAIN)
