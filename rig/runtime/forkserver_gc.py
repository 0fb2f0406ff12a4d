"""Switches garbage collection off in the server of processes, which loads this first.

Its imports leave no garbage, and collection takes a quarter of their time. Its children switch it on again
(`spawning.enter_child`).
"""

import gc

gc.disable()
