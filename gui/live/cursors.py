"""The two cursors of the plots."""

from gui.texts import tr


class Cursors:
    """A stays where somebody clicked; B follows the mouse until a second click; a third one takes both away.

    Values are taken at `at`; with both there, they are what B is more than A.
    """

    def __init__(self) -> None:
        self.a: float | None = None
        """s"""
        self.b: float | None = None
        """s; without A it is the only cursor"""
        self._held = False

    @property
    def held(self) -> bool:
        """Whether both stay where they are."""
        return self._held

    @property
    def at(self) -> float | None:
        """Time of the values, s; None where there is no cursor."""
        return self.a if self.b is None else self.b

    @property
    def apart(self) -> float | None:
        """B − A, s; None unless both are there."""
        return None if self.a is None or self.b is None else self.b - self.a

    def point(self, t: float | None) -> bool:
        """The mouse is over a time, s, or has left; whether that moved a cursor."""
        moved = not self._held and t != self.b
        if moved:
            self.b = t
        return moved

    def click(self, t: float) -> None:
        """Somebody clicked at a time, s."""
        if self.a is None:
            self.a, self.b = t, None
        elif not self._held:
            self.b, self._held = t, True
        else:
            self.a, self.b, self._held = None, t, False

    def place(self, a: float | None, b: float | None) -> None:
        """Put both there, s, where they stay; or take them away."""
        self.a, self.b, self._held = a, b, a is not None and b is not None

    def words(self, t: float | None) -> str:
        """What the values of the row at t, s, are those of; without a row there is none at the cursor's time."""
        if self.at is None:
            return f"{t:.3f} s" if t is not None else tr("No data")
        which = "" if self.a is None else " A" if self.b is None else " B"
        text = (
            tr("{t:.3f} s, cursor{which}").format(t=t, which=which)
            if t is not None
            else tr("No data at {at:.3f} s, cursor{which}").format(at=self.at, which=which)
        )
        if self.apart is not None:
            text += f"\nΔt = B − A = {self.apart:+.3f} s"
        return text.replace("-", "−")
