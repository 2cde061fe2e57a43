"""MS-MQMQ 2.2.19.1 BaseHeader."""
