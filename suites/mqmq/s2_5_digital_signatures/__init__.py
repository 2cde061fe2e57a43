"""MS-MQMQ 2.5 Digital signatures, with 2.5.1, 2.5.2, 2.5.3."""
