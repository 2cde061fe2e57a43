"""MS-MQSO 5.3.1 Member Protocol Roles."""
