"""A second, deliberately naive RSVP-TE peer.

Written from the RFCs (2205, 2210, 2747, 2961, 3097, 3209, 3477, 4090, 4875, 4884, 4950; of OSPF
2328 and 3630) by someone who has not read the router that it is put up against. Everything here
is explicit and slow: dictionaries, a list of timers, no cleverness. Where this peer and the router
disagree, the RFC decides.
"""
