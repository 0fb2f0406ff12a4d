"""For the server of processes, which loads this first: it searches nothing of what it loads for garbage.

There is none, and a quarter of the time goes into looking for it. Its children search again (`spawning.enter_child`).
"""

import gc

gc.disable()
