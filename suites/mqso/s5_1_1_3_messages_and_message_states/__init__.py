"""MS-MQSO 5.1.1.3 Messages and Message States."""
