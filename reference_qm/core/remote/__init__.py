"""Remote reading, the server's side: the interfaces qm2qm and qmcomm. Spec: MS-MQQP 3.1, MS-MQMP 3.1.4."""
