"""MS-MQSO 7 Security."""
