"""MS-MQSO 5.5.2 Transient Network Failure."""
