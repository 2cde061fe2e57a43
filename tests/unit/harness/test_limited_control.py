"""Systems with a limited control channel: with some of the facilities, or only with remote reading of their queues."""

from __future__ import annotations

from contextlib import closing

import pytest

from harness.errors import HarnessError
from harness.sut.control import Unsupported
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from harness.sut.sut_file import parse_sut_file
from harness.sut.virtual_driver import VirtualDriver


def view(*facilities: str, qm2qm: bool = True) -> Sut:
    tree = {
        "sut": {"name": "limited"},
        "driver": {"kind": "virtual"},
        "reference": {"facilities": list(facilities)},
        "capabilities": {"qm2qm": qm2qm},
    }
    return VirtualDriver(parse_sut_file(tree)).open("check")


def test_a_system_without_control_has_its_queues_read_remotely() -> None:
    with closing(view()) as sut:
        assert sut.facilities == {"receive"}
        assert sut.reads_remotely
        assert sut.messages() == []
        with pytest.raises(Unsupported, match="send"):
            sut.send(sut.format_name(), body="x")


def test_system_without_control_and_qm2qm_has_no_control_channel() -> None:
    with closing(view(qm2qm=False)) as sut:
        assert sut.facilities == frozenset()
        with pytest.raises(HarnessError, match="needs"):
            sut.messages()


def test_system_with_only_the_send_facility_has_its_queues_read_remotely() -> None:
    with closing(view("send")) as sut:
        assert sut.facilities == {"send", "receive"}
        assert sut.reads_remotely
        sut.send(sut.format_name(), body="here")
        (message,) = sut.messages()
        assert message["body"] == "here"
        sut.control.call("receive_by_lookup_id", queue=sut.queue(), lookup_id=message["lookup_id"])
        assert sut.messages() == []
        with pytest.raises(NotShown, match="more_queues"):
            sut.new_queue()


def test_remote_read_of_system_with_send_facility_is_not_cancelled_by_its_control_channel() -> None:
    with closing(view("send")) as sut:
        waiting = sut.control.begin("receive", queue=sut.queue(), timeout_ms=600_000)
        with pytest.raises(Unsupported, match="cancel"):
            sut.control.call("cancel", request=waiting)


def test_receive_facility_of_an_agent_includes_remote_read() -> None:
    with closing(view("receive", "queue_control", qm2qm=False)) as sut:
        assert sut.facilities == {"receive", "queue_control", "remote_read", "management"}
        assert not sut.reads_remotely
        assert sut.messages() == []
