"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader."""
