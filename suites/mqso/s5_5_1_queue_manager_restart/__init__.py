"""MS-MQSO 5.5.1 Queue Manager Restart."""
