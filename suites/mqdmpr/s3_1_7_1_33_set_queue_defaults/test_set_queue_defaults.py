"""MS-MQDMPR 3.1.7.1.33 Set Queue Defaults: a queue that is created with only a name."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, QMCOMM
from harness.wire.rpc_propvariant import (
    GET_OBJECT_PROPERTIES_OPNUM,
    VT_NULL,
    PropVariant,
    build_get_object_properties_stub,
    read_object_properties,
)
from harness.wire.rpc_status import get_status_name
from harness.wire.wire_error import WireError
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.disposition import AcknowledgingReceiver, await_arrival

UNLIMITED_QUOTA_KB = 0xFFFF_FFFF
UNKNOWN_OPNUM_FAULT = 0x1C01_0002
"""The fault status nca_s_op_rng_error: the interface does not have the called method (C706, appendix N)."""
SHOWN_DEFAULT_PROPERTIES = {
    "label": "",
    "journaling": False,
    "quota_kb": UNLIMITED_QUOTA_KB,
    "journal_quota_kb": UNLIMITED_QUOTA_KB,
    "authenticated": False,
    "privacy": "optional",
    "transactional": False,
    "base_priority": 0,
}
"""The default properties, by their names on the control channel."""
NON_DEFAULT_PROPERTIES = {
    "label": "a label",
    "journaling": True,
    "quota_kb": 1_077,
    "journal_quota_kb": 1_078,
    "authenticated": True,
    "privacy": "body",
    "transactional": True,
    "base_priority": 3,
}
IDENTIFIER_AND_DEFAULT_BY_PROPERTY = {
    "Type": (102, UUID(int=0)),
    "Journaling": (104, 0),
    "Quota": (105, UNLIMITED_QUOTA_KB),
    "BasePriority": (106, 0),
    "JournalQuota": (107, UNLIMITED_QUOTA_KB),
    "Label": (108, ""),
    "Authentication": (111, 0),
    "PrivacyLevel": (112, 1),
    "Transactional": (113, 0),
    "MulticastAddress": (125, ""),
}
"""The attributes as R_QMGetObjectProperties shows them (MS-MQMP 3.1.4.9, MS-MQMQ 2.3.1): identifier and value."""


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")
def test_queue_created_by_name_has_defaults(sut, judge):
    """The control channel shows the default value of each property that the creator of a queue does not supply. The
    creator supplies only a name, or a name and one property. A queue whose properties all differ from the defaults was
    created before.
    """
    for given in (
        {},
        {name: value for name, value in NON_DEFAULT_PROPERTIES.items() if name != "transactional"},
        {},
        {"transactional": True},
        {"quota_kb": 77},
        {"journaling": True},
        {"label": "a label"},
        {"journal_quota_kb": 78},
    ):
        properties = sut.control.call("get_queue", name=sut.new_queue("defaults", **given))
        defaults = SHOWN_DEFAULT_PROPERTIES | given
        expected = {name: value for name, value in defaults.items() if name in properties}
        observed = {name: properties[name] for name in expected}
        judge.all(
            expected=expected, observed=observed, case=f"queue that is created with {', '.join(given) or 'a name'}"
        )


@needs("queue_control", "directory")
@covers("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")
def test_public_queue_created_by_name_has_defaults(peer, sut, judge):
    """The control channel shows the default of each property of a public queue that was created with only a name, and
    of a transactional public queue.
    """
    enterprise = Enterprise(peer, sut)
    for given in ({}, {"transactional": True}):
        properties = sut.control.call("get_queue", name=enterprise.create_queue(**given))
        defaults = SHOWN_DEFAULT_PROPERTIES | given
        expected = {name: value for name, value in defaults.items() if name in properties}
        judge.all(expected=expected, observed={name: properties[name] for name in expected})


@needs("queue_control", "qm2qm")
@covers("MQDMPR-3.1.7.1.33-D01")
def test_queue_properties_call_returns_defaults(remote, sut, judge):
    """R_QMGetObjectProperties returns the default of each property of a queue that was created with only a name."""
    queue = sut.new_queue("defaults")
    association = remote.associate(QMCOMM, transfers=(NDR,))
    identifiers = [identifier for identifier, _ in IDENTIFIER_AND_DEFAULT_BY_PROPERTY.values()]
    stub = build_get_object_properties_stub(
        False, rf"TCP:{sut.address}\{queue}", identifiers, [PropVariant(VT_NULL)] * len(identifiers)
    )
    call = association.call_raw(GET_OBJECT_PROPERTIES_OPNUM, stub, association.contexts[QMCOMM]).wait()
    if call.thrown == UNKNOWN_OPNUM_FAULT:
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.1.33-D01", reason="the SUT has no R_QMGetObjectProperties", evidence=call.evidence
        )
        return
    try:
        properties, result = read_object_properties(call.stub, False)
    except WireError as error:
        raise ConformanceFailure(f"the SUT's answer cannot be read: {error}") from error
    if result:
        raise ConformanceFailure(f"the SUT did not return the properties of the queue: {get_status_name(result)}")
    expected = {name: value for name, (_, value) in IDENTIFIER_AND_DEFAULT_BY_PROPERTY.items()}
    observed = {name: one.value for name, one in zip(IDENTIFIER_AND_DEFAULT_BY_PROPERTY, properties, strict=False)}
    judge("MQDMPR-3.1.7.1.33-D01", expected=expected, observed=observed, evidence=call.evidence)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")
def test_default_queue_accepts_message_of_other_queue_manager(peer, sut, judge):
    """A queue that was created with only a name stores a message whose sender is another queue manager."""
    queue = sut.new_queue("security")
    receiver = AcknowledgingReceiver(peer, sut)
    label = f"anybody {peer.next_message_id()}"
    security = {"ST": 2, "DE": 1, "SecurityID": peer.identifier.bytes_le}
    packet = receiver.build_message(
        {"DM": 1}, destination=rf"TCP:{sut.address}\{queue}", label=label, security=security
    )
    sent = receiver.send_packet(packet)
    is_stored = await_arrival(sut, receiver.session, label, queue)
    judge.all(expected="stored in its queue", observed=is_stored, evidence=sent, case="message")
    receiver.acknowledge_all()
