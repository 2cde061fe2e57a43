"""MS-MQMQ 2.2.20.6 SecurityHeader."""
