"""MS-MQMQ 2.2.19.2 UserHeader."""
