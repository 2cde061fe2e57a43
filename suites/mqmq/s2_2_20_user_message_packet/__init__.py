"""MS-MQMQ 2.2.20 UserMessage Packet, with 2.2.20.2, 2.2.20.3, 2.2.20.7, 2.2.20.8."""
