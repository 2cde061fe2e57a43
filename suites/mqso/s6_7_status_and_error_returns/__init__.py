"""MS-MQSO 6.7 Status and Error Returns."""
