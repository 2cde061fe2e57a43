"""MS-MQQB 3.1.7.1.4 Signing the Packet."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import SIG10, SIG20, SIG30, is_signature
from suites.mqmq.steps.outgoing import Outgoing

IN_LIST = "MQMQ-2.2.20.3-05"
RULE, STEP = "MQQB-3.1.7.1.4-", "MQQB-3.1.7.1-07"
PRINTED = {"sig10": "MQMQ-2.2.20.6-25", "sig20": "MQMQ-2.2.20.6-26", "sig30": "MQMQ-2.2.20.6-27"}
KINDS = {"sig10": SIG10, "sig20": SIG20, "sig30": SIG30}


def _signatures(frame):
    several = frame["MultiQueueFormatHeader"].Signature.Signature if frame["UserHeader"].MQ else b""
    return bytes(frame["SecurityHeader"].Signature) if frame["UserHeader"].SH else b"", bytes(several)


def _kind(value, frame):
    """Name what a signature is made of, by the key of the user's certificate."""
    found = [name for name, kind in KINDS.items() if is_signature(value, frame.data, kind, ALICE.certificate)]
    return found[0] if found else "no signature of the user's key"


@needs("security", "send")
@covers(*(f"{RULE}{number}" for number in ("01", "04", "05", "07", "08")), *PRINTED.values(), STEP, IN_LIST)
def test_messages_are_signed_as_asked(peer, sut, judge):
    """Each kind of signature in its place, by the key of the user; and a message without."""
    outgoing = Outgoing(peer, sut)
    plain = outgoing.send(body="not signed", label="a label")
    observed = "not signed" if _signatures(plain) == (b"", b"") else "signed"
    judge(f"{RULE}01", expected="not signed", observed=observed, evidence=plain)
    for level in KINDS:
        frame = outgoing.send(
            body="signed",
            label="a label",
            application_tag=7,
            priority=5,
            journal=["negative"],
            response_queue=f"DIRECT=TCP:{peer.address}\\private$\\mqc-answers",
            authentication_level=level,
            sender=ALICE.name,
        )
        single, several = _signatures(frame)
        observed = "signed" if single or several else "not signed"
        for rule in (f"{RULE}01", STEP):
            judge(rule, expected="signed", observed=observed, evidence=frame)
        value, rules = (several, ("04", "05")) if level == "sig30" else (single, ("07", "08"))
        for rule in (*(f"{RULE}{number}" for number in rules), PRINTED[level]):
            judge(rule, expected=level, observed=_kind(value, frame), evidence=frame)
        if level == "sig30":
            judge(IN_LIST, expected=level, observed=_kind(several, frame), evidence=frame)
    outgoing.end()
