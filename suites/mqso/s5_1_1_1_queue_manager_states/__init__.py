"""MS-MQSO 5.1.1.1 Queue Manager States, with 5.1.1."""
