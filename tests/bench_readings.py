"""Readings of six simulated load cells on a bench, as a table that a person would write."""

from pathlib import Path

import numpy as np

GAIN = np.array([1.02, 0.97, 1.1, 0.9, 1.0, 1.05])
BIAS = np.array([3.0, -4.0, 12.0, 0.5, -7.0, 1.0])
SIGN = np.array([1, -1, 1, 1, -1, 1])
MASSES = (0.0, 5.0, 10.0, 20.0, 10.0, 5.0, 0.0)


def write_table(path: Path, *, load: float = 1.0, drift: float = 0.0, bend: float = 0.0) -> None:
    """Readings of six simulated cells; `load` +1 compression, -1 tension, `bend` N at 100 N on cell 2."""
    random = np.random.default_rng(5)
    lines = ["cell,mass,reading,phase"]
    for cell in range(6):
        noise = random.normal(0.0, 0.05, 200)
        zero = BIAS[cell]
        lines += [f"{cell + 1},0,{zero + noise[n]},tare_before" for n in range(50)]
        for n, mass in enumerate(MASSES):
            force = load * mass * 9.80665
            force += bend * (force / 100.0) ** 2 * (cell == 1)
            lines.append(f"{cell + 1},{mass},{zero + SIGN[cell] * force / GAIN[cell] + noise[60 + n]},load")
        lines += [f"{cell + 1},0,{zero + drift * (cell == 2) + noise[100 + n]},tare_after" for n in range(50)]
    path.write_text("\n".join(lines) + "\n")
