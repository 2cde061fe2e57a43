"""MS-MQMQ 2.2.18.1 Packet data types, with 2.2.18.1.3 to 2.2.18.1.7.2."""
