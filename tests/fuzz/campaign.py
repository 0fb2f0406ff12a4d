"""A campaign of mutants of one kind of file, in this process: what was accepted, refused, slow, large, or failed.

    python tests/fuzz/campaign.py KIND COUNT FIRST_SEED

prints the result as one JSON object and bounds the process' own memory.
"""

import gc
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path

SLOWEST = 5.0
"""s of this thread's own time, for one file."""
LARGEST = 500.0
"""MB, resident, of the process that reads them all."""
LONGEST_MESSAGE = 20_000


@dataclass(slots=True)
class Result:
    """What a campaign found; `failures` by seed."""

    kind: str
    first: int
    count: int
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    slowest_seed: int = -1
    peak_mb: float = 0.0
    failures: dict[int, str] = field(default_factory=dict)


def campaign(kind: str, count: int, first: int, folder: Path) -> Result:
    """Read `count` mutants, seeds `first` and on."""
    from readers import KINDS

    chosen, result = KINDS[kind](), Result(kind, first, count)
    path = folder / f"{kind}.toml"
    for text in chosen.mutator.texts:  # compiles what has to be, which takes its time
        path.write_text(text, encoding="utf-8")
        chosen.hold(chosen.read(path))
    for seed in range(first, first + count):
        path.write_bytes(chosen.mutator.mutant(seed))
        begun = time.thread_time()
        try:
            found = chosen.read(path)
        except chosen.refusals as error:
            message = str(error)
            if not message or len(message) > LONGEST_MESSAGE or kind not in message:
                result.failures[seed] = f"refused by a message of {len(message)} characters: {message[:300]}"
            result.refused += 1
        except Exception:
            result.failures[seed] = traceback.format_exc()[-1500:]
        else:
            result.accepted += 1
            try:
                chosen.hold(found)
            except Exception:
                result.failures[seed] = traceback.format_exc()[-1500:]
        spent = time.thread_time() - begun
        if spent > result.slowest:
            result.slowest, result.slowest_seed = spent, seed
    result.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return result


def main(kind: str, count: int, first: int) -> None:
    """Run a campaign with the memory bounded, and print what it found."""
    with tempfile.TemporaryDirectory() as folder:
        campaign(kind, 20, first, Path(folder))  # loads what is needed
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        bound = pages * resource.getpagesize() + int(LARGEST * 1e6)
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
        print(json.dumps(asdict(campaign(kind, count, first, Path(folder)))))


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other would count as time spent
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
