"""MS-MQMQ 2.2.12 PROPVARIANT Type Constants."""
