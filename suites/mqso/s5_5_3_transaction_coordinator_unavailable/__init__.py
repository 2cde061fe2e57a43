"""MS-MQSO 5.5.3 Transaction Coordinator Unavailable."""
