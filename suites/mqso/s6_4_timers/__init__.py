"""MS-MQSO 6.4 Timers and its sections."""
