"""The virtual system has a directory only in the checks that need one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest
from harness_made import sut_file

from harness.errors import ConformanceFailure
from harness.sut.control import ControlRefused
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from harness.sut.virtual_driver import VirtualDriver

HOUR_MS = 3_600_000


def opened(*needs: str) -> Sut:
    """Return a virtual system that can have a directory, opened for a check with the given needs."""
    file = replace(sut_file(), capabilities=MappingProxyType({"directory": True, "security": True}))
    return VirtualDriver(file, raises=True).open("a check", needs=needs)


def test_check_without_directory_gets_system_in_workgroup_mode():
    sut = opened()
    assert not sut.has("directory")
    assert not sut.inspect()["QueueManager"]["DirectoryIntegrated"]
    assert "directory" not in sut.control.call("environment")
    with pytest.raises(ControlRefused, match="no directory"):
        sut.control.call("published")


def test_check_with_directory_gets_system_in_directory():
    sut = opened("directory")
    assert sut.has("directory")
    assert sut.control.call("environment")["directory"] is True
    assert sut.control.call("published")["published"]["identifier"] == str(sut.identifier)
    sut.create_queue("orders", label="of today")
    assert sut.control.call("published", queue="orders")["published"]["label"] == "of today"


def test_directory_loss_is_noticed_soon_and_return_by_timer():
    sut = opened("directory")
    sut.change_environment(directory=False)
    sut.environment.run_until(lambda: False, 1_000)
    assert sut.inspect()["QueueManager"]["DirectoryOffline"]
    sut.restore_state()
    sut.environment.run_until(lambda: False, HOUR_MS)
    assert not sut.inspect()["QueueManager"]["DirectoryOffline"]


def test_route_to_other_site_leads_over_peer():
    sut = opened("directory")
    to = f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}"
    sut.send(to, body="for the other site")
    sut.environment.run_until(lambda: False, HOUR_MS)
    hops = sut.control.call("get_outgoing_queue", to=to)["outgoing"][0]["NextHops"]
    assert hops == [f"IP={sut.file.driver.peer_address}"]
    assert sut.file.driver.peer_identifier != GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE


def test_unchangeable_attribute_is_refused_in_one_line():
    with pytest.raises(ConformanceFailure, match="has no attribute label"):
        opened("directory").control.call("published", label="x")


def test_published_objects_are_not_shown_without_the_verb():
    sut = opened("directory")
    sut.controls_environment = False
    with pytest.raises(NotShown, match="control channel does not show the objects"):
        sut.read_directory_object()
