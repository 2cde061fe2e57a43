"""MS-MQSO 6.6 Provisioning and Initialization Procedures, with 6.6.1 and 6.6.2."""
