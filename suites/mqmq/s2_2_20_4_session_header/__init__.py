"""MS-MQMQ 2.2.20.4 SessionHeader."""
