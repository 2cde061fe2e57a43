"""MS-MQSO 4 System Context."""
