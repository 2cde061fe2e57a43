"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body. MS-MQQB 3.1.7.1.5.1 errors, 3.1.7.1.5.2 keys, 3.1.1.3 preferences."""

from __future__ import annotations

import struct

import pytest

from harness.run.marks import covers, needs
from harness.sut.provisioning import BASE_ONLY, KEYLESS, peer_keys
from harness.wire.protection import (
    ADVANCED,
    AES_128,
    AES_192,
    AES_256,
    BASE,
    ENHANCED,
    RC2,
    RC4,
    decrypted,
    session_key,
)
from suites.mqmq.steps.outgoing import Outgoing
from suites.mqqb.steps.caching import SEND, cached, manager, moment, remaining_ms
from suites.mqqb.steps.opening import Between, direct_name, entry_text, history, pass_time, private_name
from suites.mqqb.steps.sender import Sender, eventually, tags

RULE, STATE, STEP = "MQQB-3.1.7.1.5-", "MQQB-3.1.1.3-", "MQQB-3.1.7.1-08"
BODY = "a body that is no whole number of blocks"
LATER_MS, SECOND_MS = 3_000, 1_100
WAYS = {
    "base, rc4": ("base", {"preferred_base": "rc4"}, (BASE, RC4, 40), "19"),
    "base, rc2": ("base", {"preferred_base": "rc2"}, (BASE, RC2, 40), "19"),
    "enhanced, rc4": ("enhanced", {"preferred_enhanced": "rc4"}, (ENHANCED, RC4, 128), "16"),
    "enhanced, rc2": ("enhanced", {"preferred_enhanced": "rc2"}, (ENHANCED, RC2, 128), "16"),
    "advanced, aes128": ("advanced", {"preferred_advanced": "aes128"}, (ADVANCED, AES_128, 128), "14 37"),
    "advanced, aes192": ("advanced", {"preferred_advanced": "aes192"}, (ADVANCED, AES_192, 192), "14 37"),
    "advanced, aes256": ("advanced", {"preferred_advanced": "aes256"}, (ADVANCED, AES_256, 256), "14 37"),
}
NEEDS = needs("security", "send", "configure", "private_names")
EVERY = "01 04 05 11 12 13 23 24 28 30 35 36 38 40 41 42"
CONVERTED = tuple(f"MQQB-3.1.7.1.5.2-{number}" for number in ("03", "04", "05"))


class Opened:
    """What an encrypted message holds, opened with the private key of the provider that it names."""

    def __init__(self, frame):
        self.frame = frame
        self.properties = frame["MessagePropertiesHeader"]
        security = frame["SecurityHeader"] if frame["UserHeader"].SH else None
        self.encrypted = bool(security and security.EB)
        info = bytes(security.ProviderInfo) if security else b""
        self.provider = info[4:].decode("utf-16-le", "replace") if info else "none"
        self.blob = bytes(security.EncryptionKey) if security else b""
        self.algorithm = int(self.properties.EncryptionAlgorithm)
        key = peer_keys().get(self.provider.rstrip("\0"))
        whole = len(self.blob) == 12 + 256 and self.blob[:2] == b"\1\2"
        self.key = session_key(self.blob, key) if key and whole else None

    @property
    def body(self):
        """The body in clear, None when it cannot be decrypted."""
        sizes = {RC2: (5, 16), RC4: (5, 16), AES_128: (16,), AES_192: (24,), AES_256: (32,)}
        if self.key is None or len(self.key) not in sizes.get(self.algorithm, ()):
            return None
        clear = decrypted(bytes(self.properties.MessageBody), self.algorithm, self.key)
        return None if clear is None else clear.decode(errors="replace")

    @property
    def choice(self):
        """Provider, algorithm, bits of the key."""
        return self.provider.rstrip("\0"), self.algorithm, 8 * len(self.key or b"")


@NEEDS
@covers(
    *(f"{RULE}{number}" for number in EVERY.split()),
    *(f"{RULE}{number}" for number in ("14", "16", "19", "37")),
    *CONVERTED,
    f"{STATE}16",
    f"{STATE}17",
    STEP,
)
def test_bodies_are_encrypted_as_asked(peer, sut, judge):
    """Every level with every algorithm that can be preferred; what comes opens with the peer's private keys."""
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    plain = Opened(outgoing.send(body=BODY))
    observed = "encrypted" if plain.encrypted or bytes(plain.properties.MessageBody) != BODY.encode() else "in clear"
    judge(f"{RULE}01", expected="in clear", observed=observed, evidence=plain.frame)
    blobs = set()
    for name, (level, preference, choice, numbers) in WAYS.items():
        sut.configure(**preference)
        found = Opened(outgoing.send(body=BODY, privacy_level=level))
        size = len(bytes(found.properties.MessageBody))
        hidden = found.encrypted and BODY.encode() not in found.frame.data
        new = found.blob not in blobs and bool(found.blob)
        blobs.add(found.blob)
        sizes = found.properties.MessageSize, found.properties.AllocationBodySize
        block = {RC2: 8, RC4: 1}.get(choice[1], 16)
        whole = size if block == 1 else (len(BODY) // block + 1) * block
        facts = {
            "01": ("encrypted", "encrypted" if hidden else "in clear"),
            **dict.fromkeys((*["12", "13", "28"], *numbers.replace("37", "").split()), (choice, found.choice)),
            **dict.fromkeys(("04", "05", "11", "35", "36"), (BODY, found.body)),
            **({"37": (BODY, found.body)} if "37" in numbers else {}),
            **dict.fromkeys(("23", "24"), ("a new key", "a new key" if new else "no new key")),
            "30": ("a SIMPLEBLOB for the key", "a SIMPLEBLOB for the key" if found.key else found.blob.hex()[:32]),
            "38": ((whole, whole), sizes),
            "40": (choice[1], found.algorithm),
            "41": (choice[0] + "\0", found.provider),
            "42": ((268, choice[1]), (len(found.blob), struct.unpack("<I", found.blob[4:8].ljust(4, b"\0"))[0])),
        }
        judge(STEP, expected="encrypted", observed=facts["01"][1], evidence=found.frame)
        for number, (expected, observed) in facts.items():
            judge(
                f"{RULE}{number}", expected=f"{name}: {expected}", observed=f"{name}: {observed}", evidence=found.frame
            )
        for rule in CONVERTED:
            observed = "opens" if found.key else "does not open"
            judge(rule, expected="opens", observed=observed, evidence=found.frame)
        if level == "advanced":
            for rule in (f"{STATE}16", f"{STATE}17"):
                judge(rule, expected=choice, observed=found.choice, evidence=found.frame)
    outgoing.end()


@NEEDS
@covers(f"{RULE}04", f"{RULE}05")
def test_the_keys_of_the_remote_queue_manager_are_found(peer, sut, judge):
    """A message that is to be encrypted comes, and so does the one behind it."""
    sender = Sender(peer, sut, private_name(peer.identifier))
    sender.send(1, privacy_level="base")
    sender.send(2)
    session = sender.session()
    frames = sender.collect(session, 2)
    for number in ("04", "05"):
        judge(f"{RULE}{number}", expected=[1, 2], observed=tags(frames), evidence=frames)
    sender.acknowledge_all(session)


@NEEDS
@covers(f"{RULE}17", f"{RULE}29", f"{STATE}18")
def test_enhanced_rc2_keys_are_cut_when_configured(peer, sut, judge):
    """With SendEnhancedRC2Using40BitKeys 88 of the 128 bits are zero, and only for RC2 of level Enhanced."""
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    found = {}
    for cut, preferred in ((True, "rc2"), (True, "rc4"), (False, "rc2")):
        sut.configure(send_enhanced_rc2_using_40_bit_keys=cut, preferred_enhanced=preferred)
        sut.configure(send_symmetric_key_cache_size=1)
        opened = Opened(outgoing.send(body=BODY, privacy_level="enhanced"))
        key = opened.key or b""
        found[f"{cut}, {preferred}"] = (len(key) == 16 and not any(key[5:]), opened)
        outgoing.send(body=BODY, privacy_level="base")
    expected = "True, rc2: 88 zero bits; True, rc4: none; False, rc2: none"
    observed = "; ".join(f"{name}: {'88 zero bits' if zeros else 'none'}" for name, (zeros, _) in found.items())
    for rule in (f"{RULE}17", f"{RULE}29", f"{STATE}18"):
        judge(rule, expected=expected, observed=observed, evidence=[one.frame for _, one in found.values()])
    outgoing.end()


@needs("security", "send", "configure", "private_names", "inspect")
@covers(
    *(f"{RULE}{number}" for number in ["21", "22", "25", "26", "27", "31", "32", "33", "34"]),
    *(f"{STATE}{number}" for number in ("10", "11", "13", "14")),
)
def test_keys_that_were_made_are_cached(peer, sut, judge):
    """One entry for a provider and an algorithm, used again; the oldest half leaves a full cache of four."""
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    sut.configure(send_symmetric_key_cache_size=4, preferred_base="rc4", preferred_enhanced="rc4")
    outgoing.send(body=BODY)
    before = len(cached(sut, SEND))
    first = Opened(outgoing.send(body=BODY, privacy_level="base"))
    entries, now_s = cached(sut, SEND), peer.environment.now().utc_s
    for rule in (f"{RULE}32", f"{STATE}10", f"{STATE}11"):
        judge(rule, expected="0, then 1", observed=f"{before}, then {len(entries)}", evidence=first.frame)
    entry = entries[0] if entries else {"CachedTime": 0}
    for number, element, expected in (
        ("25", "RemoteQMGuid", str(peer.identifier)),
        ("26", "CryptoServiceProvider", BASE),
        ("27", "CryptoAlgorithm", RC4),
    ):
        judge(f"{RULE}{number}", expected=expected, observed=entry.get(element), evidence=first.frame)
    judge(f"{RULE}31", expected="now", observed=moment(entry, now_s), evidence=first.frame)
    due = sut.duration_ms(manager(sut)["SymmetricKeyShortLifetime"])
    started = remaining_ms(sut, SEND)
    outgoing.end()
    pass_time(peer, LATER_MS)
    again = Opened(outgoing.send(body=BODY, privacy_level="base"))
    later = remaining_ms(sut, SEND)
    for number in ("21", "22"):
        observed = "the same key" if again.blob == first.blob and again.body == BODY else "another key"
        judge(f"{RULE}{number}", expected="the same key", observed=observed, evidence=[first.frame, again.frame])
    running = later is not None and started is not None and later <= started - LATER_MS // 2
    allowed = Between(due - sut.slack_ms(due) - sut.response_timeout_ms, due)
    for rule in (f"{RULE}34", f"{STATE}14"):
        observed = started if running else f"{started}, then {later}"
        judge(rule, expected=allowed, observed=observed, evidence=[first.frame, again.frame])
    frames = []
    for level, preference in (
        ("base", {"preferred_base": "rc2"}),
        ("enhanced", {}),
        ("enhanced", {"preferred_enhanced": "rc2"}),
    ):
        sut.configure(**preference)
        frames.append(outgoing.send(body=BODY, privacy_level=level))
    outgoing.end()
    pass_time(peer, SECOND_MS)
    full = [entry["CryptoAlgorithm"] for entry in cached(sut, SEND)]
    frames.append(outgoing.send(body=BODY, privacy_level="advanced"))
    left = [(entry["CryptoServiceProvider"], entry["CryptoAlgorithm"]) for entry in cached(sut, SEND)]
    for rule in (f"{RULE}33", f"{STATE}13"):
        judge(
            rule,
            expected=([RC4, RC2, RC4, RC2], [(ENHANCED, RC4), (ENHANCED, RC2), (ADVANCED, AES_256)]),
            observed=(full, left),
            evidence=frames,
        )
    outgoing.end()


def _refused(**cases):
    return [
        pytest.param(*case, id=name, marks=covers(*(f"{RULE}{number}" for number in case[2].split())))
        for name, case in cases.items()
    ]


ERRORS = "MQQB-3.1.7.1.5.1-"


@needs("security", "send", "configure", "private_names", "inspect", "receive")
@covers(*(f"{ERRORS}{number}" for number in ("01", "02", "03")))
@pytest.mark.parametrize(
    ("level", "guid", "numbers"),
    _refused(
        direct=("advanced", None, "03 39"),
        keyless=("advanced", KEYLESS, "09 39"),
        advanced=("advanced", BASE_ONLY, "15 20"),
        enhanced=("enhanced", BASE_ONLY, "18 20"),
    ),
)
def test_what_cannot_be_encrypted_is_not_sent(peer, sut, judge, level, guid, numbers):
    """Two messages that cannot be encrypted, one with JN, between two that need not be: those two come, alone."""
    if guid is not None:
        peer.configure(identifier=guid)
    to = direct_name(peer) if guid is None else private_name(guid)
    sender = Sender(peer, sut, to)
    sender.send(1)
    lost = sender.send(2, privacy_level=level)
    kept = sender.send(3, privacy_level=level, journal=["negative"])
    sender.send(4)
    session = sender.session()
    frames = sender.collect_all(session, 2)
    for rule in (*(f"{RULE}{number}" for number in numbers.split()), f"{ERRORS}01"):
        judge(rule, expected=[1, 4], observed=tags(frames), evidence=frames)

    def logged():
        found = sut.control.call("peek", queue="system$;deadletter", limit=10_000)["messages"]
        names = {lost[0]: "without JN", kept[0]: "with JN"}
        return ", ".join(names[one["message_id"]] for one in found if one["message_id"] in names) or "none"

    eventually(peer, lambda: logged() != "none")
    judge(f"{ERRORS}02", expected="with JN", observed=logged(), evidence=frames)
    entries = [one for one in history(sut, to) if one["Status"] == "CertificateValidationFailure"]
    observed = entry_text(entries[-1] if entries else None, peer.environment.now().utc_s)
    expected = f"CertificateValidationFailure, now, an error, {peer.address}"
    judge(f"{ERRORS}03", expected=expected, observed=observed, evidence=frames)
    sender.acknowledge_all(session)


@needs("security", "send", "configure", "receive")
@covers(f"{ERRORS}01", f"{ERRORS}02")
def test_a_transactional_message_that_cannot_be_encrypted(peer, sut, judge):
    """With JN it is kept in the transactional dead-letter queue."""
    sender = Sender(peer, sut)
    (lost,) = sender.send(1, privacy_level="advanced", journal=["negative"], delivery="transactional")
    sender.send(2)
    session = sender.session()
    frames = sender.collect_all(session, 1)
    judge(f"{ERRORS}01", expected=[2], observed=tags(frames), evidence=frames)

    def logged(queue):
        found = sut.control.call("peek", queue=queue, limit=10_000)["messages"]
        return any(one["message_id"] == lost for one in found)

    where = {"system$;deadxact": "transactional", "system$;deadletter": "plain"}
    eventually(peer, lambda: any(logged(queue) for queue in where))
    observed = ", ".join(name for queue, name in where.items() if logged(queue)) or "none"
    judge(f"{ERRORS}02", expected="transactional", observed=observed, evidence=frames)
    sender.acknowledge_all(session)
