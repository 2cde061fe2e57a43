"""MS-MQSO 6.6 Provisioning and Initialization Procedures."""
