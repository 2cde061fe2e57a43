"""MS-MQSO 6.4 Timers."""
