"""MS-MQMQ 2.2.20.5 TransactionHeader."""
