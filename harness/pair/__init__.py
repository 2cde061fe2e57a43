"""Lets two systems, neither of which is the reference, exchange messages through the tester's relays.

``systems`` opens both and relays their traffic, ``scenarios`` has their actions, ``outcomes`` the results, ``running``
runs all scenarios in both directions, ``grid`` shows the result.
"""
