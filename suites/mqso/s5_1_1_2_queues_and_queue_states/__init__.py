"""MS-MQSO 5.1.1.2 Queues and Queue States."""
