"""The receiver of the SUT's messages accepts and acknowledges them while the check waits for other events."""

from __future__ import annotations

from pathlib import Path

from harness.capture.recorder import Recorder
from harness.peer.peer import Peer
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.sut.drivers import create_driver
from harness.sut.sut_file import load_sut_file
from suites.mqqb.steps.disposition import AcknowledgingReceiver

LONGER_THAN_A_HANDSHAKE_MS = 70_000


def test_receiver_accepts_sessions_of_the_sut_while_a_check_waits(tmp_path: Path) -> None:
    file = tmp_path / "sut.toml"
    file.write_text(VIRTUAL_SUT_FILE_TEXT)
    sut = create_driver(load_sut_file(file), tmp_path, 0).open("receiver")
    peer = Peer(sut.environment, sut, Recorder(sut.environment, None), seed="receiver")
    receiver = AcknowledgingReceiver(peer, sut)
    receiver.send_packet(receiver.build_message(properties={"PA": 1}))
    peer.pass_time(LONGER_THAN_A_HANDSHAKE_MS)
    assert [one.record.sut_role for one in peer.inbox.accepted] == ["initiator"]
    assert len(receiver.list_admin_acks()) == 1
    peer.close()
