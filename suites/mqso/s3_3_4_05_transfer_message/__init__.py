"""MS-MQSO 3.3.4.5 Transfer Message."""
