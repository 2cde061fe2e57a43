"""MS-MQDMPR 3.1.3 Initialization: keys, system queues and names."""

from __future__ import annotations

import base64

from harness.expectations import any_order, each, holds, none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    read_listed_blobs,
    read_listed_keys,
)
from harness.wire.rpc_qmcomm import DIRECT, PEEK_ACCESS, RECEIVE_ACCESS, queue_format
from suites.mqdmpr.steps import openings

KEY_BITS_BY_PROVIDER = {BASE_PROVIDER: 512, ENHANCED_PROVIDER: 1024, ADVANCED_PROVIDER: 1024}
SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal")
INTERNAL_QUEUE_NAMES = (r"private$\order_queue$", r"private$\notify_queue$")
LEAST_PUBLIC_EXPONENT = 3
KEY_BLOB_HEADER_SIZE = 20
"""The number of bytes of a PUBLICKEYBLOB before its modulus."""
SMALL_PRIMES = [prime for prime in range(3, 1_000) if all(prime % one for one in range(2, int(prime**0.5) + 1))]
ATTRIBUTES_OF_SYSTEM_QUEUES = {
    "SystemDeadletterQueue": {"QueueType": "System", "Transactional": False},
    "SystemTransactionalDeadletterQueue": {"QueueType": "System", "Transactional": True},
    "SystemJournalQueue": {"QueueType": "System", "Transactional": False},
}
"""For each attribute of the queue manager that refers to a system queue, the attributes of that queue."""
KEY_LIST_BY_RULE = {
    "MQDMPR-3.1.3-21": "public_encryption_keys_base64",
    "MQDMPR-3.1.3-24": "public_signing_keys_base64",
}
"""For the rule about each list of public keys, the property of the answer to ``identity`` that contains the list."""
ACTIVE_TRANSACTION_STATE = "active"


@needs("security", "queue_control")
@covers("MQDMPR-3.1.3-24", "MQDMPR-3.1.3-25", "MQDMPR-3.1.3-26", "MQDMPR-3.1.3-D07")
def test_each_provider_has_valid_signing_key(sut, judge):
    """The SUT shows one valid public signing key for each of the three providers; each key, and each public encryption
    key, has the length that its provider requires.
    """
    blob = base64.b64decode(sut.control.call("identity").get("public_signing_keys_base64") or "")
    if not blob:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT shows no keys for the verification of its signatures")
        return
    blobs = read_listed_blobs(blob)
    encryption = base64.b64decode(sut.control.call("identity").get("public_encryption_keys_base64") or "")
    for use, listed in (("signing", blobs), ("encryption", read_listed_blobs(encryption) if encryption else {})):
        judge(
            "MQDMPR-3.1.3-D07",
            expected={name: f"{KEY_BITS_BY_PROVIDER.get(name)} bits" for name in listed},
            observed={name: _describe_key_length(one) for name, one in listed.items()},
            case=f"lengths of the {use} keys",
        )
    keys = read_listed_keys(blob)
    judge(
        "MQDMPR-3.1.3-24",
        expected=holds("more than one"),
        observed=len(keys) > 1 or f"{len(keys)}",
        case="number of signing keys",
    )
    sizes = {name: key.modulus.bit_length() for name, key in keys.items()}
    judge(
        "MQDMPR-3.1.3-25", expected=any_order(*KEY_BITS_BY_PROVIDER), observed=list(sizes), case="providers with a key"
    )
    judge(
        "MQDMPR-3.1.3-D07",
        expected={name: KEY_BITS_BY_PROVIDER.get(name) for name in sizes},
        observed=sizes,
        case="bits of the keys",
    )
    invalid = [
        name
        for name, key in keys.items()
        if not (
            key.modulus % 2 and key.public_exponent % 2 and LEAST_PUBLIC_EXPONENT <= key.public_exponent < key.modulus
        )
        or key.modulus.bit_length() != 8 * (len(blobs[name]) - KEY_BLOB_HEADER_SIZE)
        or any(key.modulus % prime == 0 for prime in SMALL_PRIMES)
    ]
    judge("MQDMPR-3.1.3-26", expected=none("invalid RSA key"), observed=invalid)


def _describe_key_length(blob):
    """Return the length in bits that a PUBLICKEYBLOB states and that its modulus has; if they differ, return both."""
    stated, actual = int.from_bytes(blob[12:16], "little"), 8 * (len(blob) - KEY_BLOB_HEADER_SIZE)
    return f"{stated} bits" if stated == actual else f"{stated} bits, but the modulus has {actual} bits"


@needs("receive")
@covers("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12")
def test_three_system_queues_can_be_peeked(sut, judge):
    """An application can peek at messages in the dead-letter queue, in the transactional dead-letter queue, and in the
    journal.
    """
    peeks = {queue: sut.attempt("peek", queue=queue, limit=1) for queue in SYSTEM_QUEUES}
    judge.all(expected=each(Outcome.DONE, "peek of a system queue"), observed=peeks)


@needs("restart", "receive", "transactions", "queue_control")
@covers("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-21", "MQDMPR-3.1.3-24", "MQDMPR-3.1.3-D12")
def test_system_queues_and_keys_exist_after_restart(sut, judge):
    """After a restart the SUT has its three system queues, no active transaction, and public keys for the same
    providers as before the restart.
    """
    providers_before = _list_providers_with_key(sut)
    sut.restart()
    peeks = {queue: sut.attempt("peek", queue=queue, limit=1) for queue in SYSTEM_QUEUES}
    judge("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12", expected=each(Outcome.DONE, "peek of a system queue"), observed=peeks)
    active = [
        one["transaction"]
        for one in sut.control.call("list")["transactions"]
        if one["state"] == ACTIVE_TRANSACTION_STATE
    ]
    judge("MQDMPR-3.1.3-05", expected=none("active transaction after a restart"), observed=active)
    providers_after = _list_providers_with_key(sut)
    for rule, before in providers_before.items():
        if before:
            judge(rule, expected=any_order(*before), observed=providers_after[rule], case="providers with a public key")
        else:
            judge.mark_not_exercised(rule, reason="the SUT shows no list of public keys")


def _list_providers_with_key(sut: Sut) -> dict[str, list[str]]:
    """For the rule about each list of public keys, return the providers that have a key in this list."""
    identity = sut.control.call("identity")
    blobs = {rule: base64.b64decode(identity.get(name) or "") for rule, name in KEY_LIST_BY_RULE.items()}
    return {rule: list(read_listed_keys(blob)) if blob else [] for rule, blob in blobs.items()}


@needs("inspect", "restart")
@covers("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D03", "MQDMPR-3.1.3-D12")
def test_model_has_system_queues_and_names_after_restart(sut, judge):
    """Before and after a restart, the SUT's data model has three queues of the type System, one of which is
    transactional. It has a QualifiedComputerName that consists of ComputerName, a period and a domain.
    """
    qualified_names: list[str] = []
    for time in ("before the restart", "after the restart"):
        if qualified_names:
            sut.restart()
        queue_manager = sut.inspect_queue_manager()
        for name, attributes in ATTRIBUTES_OF_SYSTEM_QUEUES.items():
            shown = {one: queue_manager[name][one] for one in attributes}
            judge("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12", expected=attributes, observed=shown, case=f"{name} {time}")
        qualified_names.append(str(queue_manager["QualifiedComputerName"]).lower())
        computer, _, domain = qualified_names[-1].partition(".")
        named = str(queue_manager["ComputerName"]).lower()
        judge("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D03", expected=computer, observed=named, case=f"ComputerName {time}")
        has_domain = holds(f"the name has a domain {time}")
        judge("MQDMPR-3.1.3-D03", expected=has_domain, observed=bool(domain) or qualified_names[-1])


@needs("qm2qm")
@covers("MQDMPR-3.1.3-27")
def test_remote_reader_cannot_open_internal_queues(remote, sut, judge):
    """A remote reader can open an ordinary queue. It can open neither the queue for order acknowledgments nor the queue
    for notifications, whichever access it requests and however it spells the name.
    """
    association = remote.associate()
    reader = remote.open_remote(association)
    others = {
        f"{name} with access {access}": remote.open_remote(
            association, form=queue_format(DIRECT, rf"TCP:{sut.address}\{name}"), access=access
        )
        for name in (*INTERNAL_QUEUE_NAMES, *map(str.upper, INTERNAL_QUEUE_NAMES))
        for access in (RECEIVE_ACCESS, PEEK_ACCESS)
    }
    refused = {name: one.failed or one.outcome for name, one in others.items()}
    judge(
        "MQDMPR-3.1.3-27",
        expected={"open of an ordinary queue": "MQ_OK", "opens of internal queues": each(holds("refused"))},
        observed={"open of an ordinary queue": reader.outcome, "opens of internal queues": refused},
        evidence=[reader, *others.values()],
    )


@needs("open_to_send", "receive", "qm2qm")
@covers("MQDMPR-3.1.3-27")
def test_application_cannot_open_internal_queues(remote, sut, judge):
    """An application of the SUT can open an ordinary queue. It cannot open the queue for order acknowledgments or the
    queue for notifications, neither for sending nor for reading, whichever name of the local computer it uses.
    """
    ordinary = remote.open_remote(remote.associate())
    attempts: dict[str, str] = {}
    for name in (*INTERNAL_QUEUE_NAMES, *map(str.upper, INTERNAL_QUEUE_NAMES)):
        for access in ("receive", "peek"):
            attempts[f"{access} of {name}"] = sut.attempt("open_queue", queue=name, access=access)
        for host in ("OS:.", "OS:localhost", f"TCP:{sut.address}"):
            to = rf"DIRECT={host}\{name}"
            attempts[f"send to {to}"] = openings.open_to_send(sut, to)
    judge(
        "MQDMPR-3.1.3-27",
        expected=each(Outcome.REFUSED, "opening of an internal queue"),
        observed=attempts,
        evidence=ordinary,
    )
