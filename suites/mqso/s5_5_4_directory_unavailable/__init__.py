"""MS-MQSO 5.5.4 Directory Unavailable."""
