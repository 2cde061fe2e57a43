"""Remote reading, the client's side: queues of other queue managers are read. Spec: MS-MQQP 3.2, MS-MQMP 3.2.4.7."""
