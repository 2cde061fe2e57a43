"""MS-MQMQ 2.2.20.6 SecurityHeader: its fields and the items of SecurityData, byte by byte."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE
from suites.mqmq.steps.layout import ABSENT, SECURITY, SECURITY_DATA, Layout
from suites.mqmq.steps.outgoing import Outgoing
from suites.mqqb.steps.opening import private_name

HEADER = "SecurityHeader."
NOBODY, SID, QUEUE_MANAGER = 0, 1, 2
FIXED_SIZE = sum(size for _, size in SECURITY if isinstance(size, int))
TAG = 0x7A6B_5C4D
TAG_FIELD = "MessagePropertiesHeader.ApplicationTag"
SIMPLE_BLOB = "0102"
PROVIDER_TYPE_SIZE = 4


def _sent(outgoing: Outgoing, **how: Any) -> Frame:
    return outgoing.send(body="signed", application_tag=TAG, **how)


def _items_at(frame: Frame) -> dict[str, int | str]:
    """Return where the items begin that are known beforehand, and what ProviderInfo is where it should begin."""
    start = frame.data.find(ALICE.security_id) - FIXED_SIZE
    places: dict[str, int | str] = {
        "SecurityID": FIXED_SIZE,
        "SenderCert": frame.data.find(ALICE.certificate) - start,
    }
    info = Layout(frame).fields.get(f"{HEADER}ProviderInfo")
    return places if info is None else places | {"ProviderInfo": _provider(bytes.fromhex(info))}


def _aligned(frame: Frame) -> dict[str, int | str]:
    """Return where these items should begin by their sizes: each at the next multiple of 4 behind the one before."""
    found, at = Layout(frame).fields, FIXED_SIZE
    places: dict[str, int | str] = {}
    for name, size in SECURITY_DATA:
        if name in ("SecurityID", "SenderCert"):
            places[name] = at
        elif name == "ProviderInfo" and found.get(f"{HEADER}{size}"):
            places[name] = PROVIDER
        at += found.get(f"{HEADER}{size}", 0) + -found.get(f"{HEADER}{size}", 0) % 4
    return places


PROVIDER = "a type, and a name with one null at its end"


def _provider(info: bytes) -> str:
    """Describe the parts of ProviderInfo."""
    kind = int.from_bytes(info[:PROVIDER_TYPE_SIZE], "little")
    name = info[PROVIDER_TYPE_SIZE:].decode("utf-16-le", "replace")
    whole = 0 < kind < 0x1_0000 and name.find("\0") == len(name) - 1 and name[:-1].isprintable()
    return PROVIDER if whole and len(name) > 1 else info.hex()


@needs("security", "send", "private_names")
@covers(
    "MQMQ-2.2.20.6-D01",
    "MQDMPR-3.1.7.1.32-D03",
    "MQMQ-2.2.20.6-D02",
    "MQMQ-2.2.20.6-D03",
    "MQMQ-2.2.20.6-D05",
    "MQMQ-2.2.20.6-21",
)
@pytest.mark.parametrize("level", ["none", "base", "enhanced", "advanced"])
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_a_signed_message_field_by_field(peer, sut, judge, level, delivery):
    """A signed message, encrypted at every level, has its user, key, signature, certificate and provider in order."""
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    frame = _sent(outgoing, sender="alice", authentication_level="sig20", privacy_level=level, delivery=delivery)
    outgoing.end()
    found = Layout(frame)
    secret = level != "none"
    header = {
        f"{HEADER}Flags.ST": SID,
        f"{HEADER}Flags.AU": 0,
        f"{HEADER}Flags.EB": int(secret),
        f"{HEADER}Flags.AS": 0,
        f"{HEADER}SenderIdSize": len(ALICE.security_id),
        f"{HEADER}SenderCertSize": len(ALICE.certificate),
    }
    if not secret:
        header[f"{HEADER}EncryptionKeySize"] = 0
    judge(
        "MQMQ-2.2.20.6-D01",
        "MQDMPR-3.1.7.1.32-D03",
        expected=fields(header),
        observed=found,
        evidence=frame,
    )
    blob = str(found.fields.get(f"{HEADER}EncryptionKey", ABSENT))[: len(SIMPLE_BLOB)]
    items = {
        f"{HEADER}SecurityID": ALICE.security_id.hex(),
        f"{HEADER}SenderCert": ALICE.certificate.hex(),
        TAG_FIELD: TAG,
        "EncryptionKey": SIMPLE_BLOB if secret else ABSENT[: len(SIMPLE_BLOB)],
    }
    observed = found.of(*items) | {"EncryptionKey": blob}
    judge("MQMQ-2.2.20.6-D02", "MQMQ-2.2.20.6-D03", expected=fields(items), observed=observed, evidence=frame)
    judge("MQMQ-2.2.20.6-21", expected=_aligned(frame), observed=_items_at(frame), evidence=frame)
    info = found.fields.get(f"{HEADER}ProviderInfo")
    if info is None:
        judge.mark_not_exercised("MQMQ-2.2.20.6-D05", reason="no ProviderInfo was sent", evidence=frame)
    else:
        judge("MQMQ-2.2.20.6-D05", expected=PROVIDER, observed=_provider(bytes.fromhex(info)), evidence=frame)


@needs("security", "send")
@covers("MQMQ-2.2.20.6-D03", "MQMQ-2.2.20.6-02", "MQDMPR-3.1.1.12-D54")
def test_what_is_not_there_takes_no_room(peer, sut, judge):
    """Signed by nobody there is no SecurityID and no key: the signature follows the fixed fields at once."""
    outgoing = Outgoing(peer, sut)
    frame = _sent(outgoing, sender="none", authentication_level="sig20")
    outgoing.end()
    found = Layout(frame)
    wanted = {
        f"{HEADER}Flags.ST": NOBODY,
        f"{HEADER}SenderIdSize": 0,
        f"{HEADER}SecurityID": ABSENT,
        f"{HEADER}EncryptionKeySize": 0,
        f"{HEADER}EncryptionKey": ABSENT,
        TAG_FIELD: TAG,
        "bytes left": 0,
    }
    judge.all(expected=fields(wanted), observed=found, evidence=frame)


ALGORITHMS = {"md2": 0x8001, "md4": 0x8002, "md5": 0x8003, "sha1": 0x8004, "sha256": 0x800C, "sha512": 0x800E}


@needs("security", "send")
@covers("MQMQ-2.2.19.3-D02", "MQDMPR-3.1.7.1.32-D13", "MQMQ-2.2.19.3-23")
def test_every_hash_has_its_number(peer, sut, judge):
    """A message that is signed with a hash says so with the number of the table; one that is refused is not sent."""
    outgoing = Outgoing(peer, sut)
    field = "MessagePropertiesHeader.HashAlgorithm"
    usual = _sent(outgoing, sender="alice", authentication_level="sig20")
    usually = fields({field: ALGORITHMS["sha512"]})
    judge("MQMQ-2.2.19.3-23", expected=usually, observed=Layout(usual), evidence=usual)
    sent = 0
    for name, number in ALGORITHMS.items():
        try:
            frame = _sent(outgoing, sender="alice", authentication_level="sig20", hash_algorithm=name)
        except ControlRefused:
            continue
        sent += 1
        judge(
            "MQMQ-2.2.19.3-D02",
            "MQDMPR-3.1.7.1.32-D13",
            expected=fields({field: number}),
            observed=Layout(frame),
            evidence=frame,
        )
    outgoing.end()
    if not sent:
        raise ConformanceFailure("the SUT signs with no hash of the table")
