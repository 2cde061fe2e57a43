"""MS-MQQP 3.2.4.3 Receiving a Message."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqp.steps.reads import (
    RECEIVING,
    judge_entries,
    judge_fields,
    judge_message,
    judge_removal,
    judge_versions,
)


@needs("remote_read")
@covers(*RECEIVING.fields("old").values())
def test_what_an_old_server_is_asked_to_receive(peer, sut, judge):
    """The REMOTEREADDESC of a receive at a server of version 5.0."""
    judge_fields(peer, sut, judge, RECEIVING, "old")


@needs("remote_read")
@covers(*RECEIVING.fields("new").values())
def test_what_a_server_is_asked_to_receive(peer, sut, judge):
    """The REMOTEREADDESC2 of a receive at a server of version 6.1."""
    judge_fields(peer, sut, judge, RECEIVING, "new")


@needs("remote_read")
@covers(*RECEIVING.named("version", "check", "below_5", "below_5_1", "early_build", "old", "new"))
def test_the_version_of_the_server_decides_what_is_called(peer, sut, judge):
    """Servers of five versions: RemoteQMStartReceive is called below 5.1, else RemoteQMStartReceive2."""
    judge_versions(peer, sut, judge, RECEIVING)


@needs("remote_read")
@covers(*RECEIVING.named("create", "handle", "identifier", "unique", "add"))
def test_pending_reads_are_known_by_their_identifiers(peer, sut, judge):
    """Two reads wait; the second is cancelled: RemoteQMCancelReceive names it."""
    judge_entries(peer, sut, judge, RECEIVING)


@needs("remote_read", "inspect")
@covers(RECEIVING.rule("remove"))
def test_a_read_that_is_over_is_pending_no_more(peer, sut, judge):
    """One entry while the server lets the read wait, none when it has answered."""
    judge_removal(peer, sut, judge, RECEIVING)


@needs("remote_read")
@pytest.mark.parametrize("way", ["old", "new"])
@covers(*RECEIVING.named("message", "end", "read_handle", "context", "ack"))
def test_the_message_that_the_server_sent(peer, sut, judge, way):
    """What was read is what the server sent, and the server is told that it was received."""
    judge_message(peer, sut, judge, RECEIVING, way)
