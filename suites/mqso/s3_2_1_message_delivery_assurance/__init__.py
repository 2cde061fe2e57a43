"""MS-MQSO 3.2.1 Message Delivery Assurance."""
