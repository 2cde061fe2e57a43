"""MS-MQMQ 2.1.2 to 2.1.7: format names as text."""

from uuid import UUID

import pytest

from reference_qm.codec import (
    ConnectorName,
    DistributionListName,
    FormatError,
    MachineName,
    MachineQueuePath,
    MulticastName,
    MultipleElementName,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    PublicQueuePath,
    parse_format_name,
)

TEXT = "33221100-5544-7766-8899-AABBCCDDEEFF"
GUID = UUID(TEXT)
NAMES = [
    (r"DIRECT=OS:host.example\PRIVATE$\orders", PrivateQueuePath("OS", "host.example", "orders")),
    (r"DIRECT=TCP:192.0.2.1\PRIVATE$\order_queue$", PrivateQueuePath("TCP", "192.0.2.1", "order_queue$")),
    (r"DIRECT=TCP:2001:db8::1\q", PublicQueuePath("TCP", "2001:db8::1", "q")),
    (r"DIRECT=OS:h\q;JOURNAL", PublicQueuePath("OS", "h", "q", Journal=True)),
    (r"DIRECT=OS:h\PRIVATE$\q;sub", PrivateQueuePath("OS", "h", "q", "sub")),
    (r"DIRECT=OS:h\PRIVATE$\q;sub;JOURNAL", PrivateQueuePath("OS", "h", "q", "sub", True)),
    (r"DIRECT=OS:h\SYSTEM$;DEADXACT", MachineQueuePath("OS", "h", "DEADXACT")),
    (r"DIRECT=HTTP://h:8080/MSMQ\PRIVATE$\q", PrivateQueuePath("HTTP", "//h:8080/MSMQ", "q")),
    (r"DIRECT=HTTPS://192.0.2.1/msmq\q", PublicQueuePath("HTTPS", "//192.0.2.1/msmq", "q")),
    (r"DIRECT=IPX:00000012:00a0234f7500\q", PublicQueuePath("IPX", "00000012:00a0234f7500", "q")),
    (f"PUBLIC={TEXT}", PublicName(GUID)),
    (rf"PRIVATE={TEXT}\0000000F", PrivateName(GUID, 15)),
    (rf"PRIVATE={TEXT}\FFFFFFFF;JOURNAL", PrivateName(GUID, 0xFFFFFFFF, True)),
    (f"DL={TEXT}", DistributionListName(GUID)),
    (f"DL={TEXT}@example.com", DistributionListName(GUID, "example.com")),
    (f"MACHINE={TEXT}", MachineName(GUID)),
    (f"CONNECTOR={TEXT}", ConnectorName(GUID)),
    ("MULTICAST=224.0.0.255:0", MulticastName("224.0.0.255", 0)),
    ("MULTICAST=239.255.1.20:65535", MulticastName("239.255.1.20", 65535)),
    (
        rf"DIRECT=OS:h\q,PUBLIC={TEXT},DL={TEXT}@d,MULTICAST=224.1.1.1:99",
        MultipleElementName(
            (
                PublicQueuePath("OS", "h", "q"),
                PublicName(GUID),
                DistributionListName(GUID, "d"),
                MulticastName("224.1.1.1", 99),
            )
        ),
    ),
]


@pytest.mark.parametrize(("text", "name"), NAMES)
def test_format_name_parses_and_prints_as_in_document(text, name):
    assert parse_format_name(text) == name
    assert str(name) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (r"direct=os:H\private$\Q;journal", r"DIRECT=OS:H\PRIVATE$\Q;JOURNAL"),
        (f"public={TEXT.lower()}", f"PUBLIC={TEXT}"),
        (rf"private={TEXT}\f", rf"PRIVATE={TEXT}\0000000F"),
        (r"Direct=Tcp:192.0.2.1\System$;DeadLetter", r"DIRECT=TCP:192.0.2.1\SYSTEM$;DEADLETTER"),
    ],
)
def test_keywords_are_read_in_any_case(text, printed):
    assert str(parse_format_name(text)) == printed


@pytest.mark.parametrize(
    ("text", "field", "offset", "section"),
    [
        ("", "FormatName", 0, "MS-MQMQ 2.1"),
        ("DIRECT", "FormatName", 0, "MS-MQMQ 2.1"),
        (r"OS:host\q", "FormatName", 0, "MS-MQMQ 2.1"),
        ("d\u0131rect=OS:h\\q", "FormatName", 1, "MS-MQMQ 2.1"),
        ("DIRECT=OS:h\\\u0437", "FormatName", 12, "MS-MQMQ 2.1"),
        ("x" * 65536, "FormatName", 0, "MS-MQMQ 2.1"),
        ("DIRECT=OS:h", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:\\q", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\a b", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\a+b", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\q\n", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\a\\b", "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\" + "q" * 125, "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:h\\q;" + "s" * 33, "DirectName", 7, "MS-MQMQ 2.1.2"),
        ("DIRECT=OS:" + "h" * 257 + "\\q", "DirectName", 7, "MS-MQMQ 2.1.2"),
        (r"DIRECT=SPX:00000012.00a0234f7500\q", "Protocol", 7, "MS-MQMQ 2.1.2"),
        (r"DIRECT=TCP:host\q", "ProtocolAddressSpecification", 11, "MS-MQMQ 2.1.2"),
        (r"DIRECT=TCP:fe80::1%eth0\q", "ProtocolAddressSpecification", 11, "MS-MQMQ 2.1.2"),
        (r"DIRECT=HTTP://h/other\q", "ProtocolAddressSpecification", 12, "MS-MQMQ 2.1.2"),
        (r"DIRECT=IPX:12\q", "ProtocolAddressSpecification", 11, "MS-MQMQ 2.1.2"),
        (f"PUBLIC={{{TEXT}}}", "PublicName", 7, "MS-MQMQ 2.1.3"),
        (f"PUBLIC={TEXT.replace('-', '')}", "PublicName", 7, "MS-MQMQ 2.1.3"),
        (rf"PRIVATE={TEXT}\123456789", "PrivateName", 8, "MS-MQMQ 2.1.4"),
        (f"PRIVATE={TEXT}", "PrivateName", 8, "MS-MQMQ 2.1.4"),
        (f"DL={TEXT}@", "DistributionListName", 3, "MS-MQMQ 2.1.5"),
        ("MACHINE=host", "MachineName", 8, "MS-MQMQ 2.1.6"),
        ("MULTICAST=223.1.1.1:1", "Multicast", 10, "MS-MQMQ 2.1.6"),
        ("MULTICAST=240.1.1.1:1", "Multicast", 10, "MS-MQMQ 2.1.6"),
        ("MULTICAST=224.1.1.256:1", "Multicast", 10, "MS-MQMQ 2.1.6"),
        ("MULTICAST=224.1.1.1:65536", "Multicast", 10, "MS-MQMQ 2.1.6"),
        ("MULTICAST=224.1.1.1:01", "Multicast", 10, "MS-MQMQ 2.1.6"),
        ("MULTICAST=224.1.1.1", "Multicast", 10, "MS-MQMQ 2.1.6"),
        (r"DIRECT=OS:h\q,", "FormatName", 14, "MS-MQMQ 2.1"),
        (r"DIRECT=OS:h\q,DIRECT=OS:h\q;JOURNAL", "MultipleElementName", 14, "MS-MQMQ 2.1.7"),
        (rf"DIRECT=OS:h\q,MACHINE={TEXT}", "MultipleElementName", 14, "MS-MQMQ 2.1.7"),
        (r"DIRECT=OS:h\SYSTEM$;JOURNAL,DIRECT=OS:h\q", "MultipleElementName", 0, "MS-MQMQ 2.1.7"),
    ],
)
def test_invalid_format_name_is_refused(text, field, offset, section):
    with pytest.raises(FormatError) as caught:
        parse_format_name(text)
    assert (caught.value.field, caught.value.offset, caught.value.section) == (field, offset, section)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
