"""MS-MQSO 5.1.2 Directory Abstract Data Model."""
