"""A game pad, read through SDL 2, and the jog request by it: an axis, a direction and a share of the speed."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

from rig.errors import HardwareError

_MOST = 1000
"""events of one reading; the rest follows with the next"""
_HINTS = {
    b"SDL_NO_SIGNAL_HANDLERS": b"1",  # Ctrl-C and SIGTERM stay whose they are
    b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": b"1",  # STOP works wherever the keyboard is
    b"SDL_JOYSTICK_HIDAPI": b"0",  # only the kernel's own pads: no other device on USB is touched
    b"SDL_GAMECONTROLLER_USE_BUTTON_LABELS": b"0",  # a button is where it is, whatever its maker prints on it
}


@dataclass(frozen=True, slots=True)
class PadReading:
    """State of a pad. Without one all is at rest.

    `pad`: its number, a new one whenever a pad is plugged in; None without one. `name`: its own; without a pad that
    of a device whose buttons SDL does not know, or empty. `left`, `right`: the sticks, to the right and away from the
    hand, −1 to 1. `dead_man`, `turning`: whether the left and the right shoulder button are down. `dead_man_came_up`,
    `stop`: whether the one came up, and the right one of the four buttons of any pad went down, since the last reading.
    """

    pad: int | None = None
    name: str = ""
    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    dead_man: bool = False
    turning: bool = False
    dead_man_came_up: bool = False
    stop: bool = False


class GamePad:
    """The first game pad, or the next one once it is unplugged; of the others only STOP is read.

    It is read by one thread, and must be closed.

    SDL cannot detect a hanging pad: its buttons stay down until it is unplugged or the system drops its connection.

    Raises:
        HardwareError: SDL cannot be loaded, or does not start.
    """

    def __init__(self) -> None:
        self._sdl = _load()
        for hint, value in _HINTS.items():
            self._sdl.SDL_SetHint(hint, value)
        if self._sdl.SDL_InitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER):
            raise HardwareError(f"game pads cannot be read: {self._fault()}")
        self._all: dict[int, Any] = {}
        """open pads by number, in the order in which they were plugged in"""
        self._open: Any = None
        self._pad: int | None = None
        self._name = ""
        self._search = True

    def read(self) -> PadReading:
        """The present state of the pad; never waits."""
        sdl, event = self._sdl, self._sdl.SDL_Event()
        stop = came_up = False
        for _ in range(_MOST):
            if not sdl.SDL_PollEvent(event):
                break
            own = self._pad is not None and event.cbutton.which == self._pad
            match event.type:
                case sdl.SDL_CONTROLLERBUTTONDOWN if event.cbutton.button == sdl.SDL_CONTROLLER_BUTTON_B:
                    stop = True  # whichever pad is at hand
                case sdl.SDL_CONTROLLERBUTTONUP if own:
                    came_up = came_up or event.cbutton.button == sdl.SDL_CONTROLLER_BUTTON_LEFTSHOULDER
                case sdl.SDL_JOYDEVICEADDED | sdl.SDL_JOYDEVICEREMOVED:
                    self._search = True
        for pad in [pad for pad, opened in self._all.items() if not sdl.SDL_GameControllerGetAttached(opened)]:
            self._let_go(pad)
        if self._search:
            self._find()
        self._search = False
        if self._open is None:
            return PadReading(name=self._name, stop=stop)
        return PadReading(
            pad=self._pad,
            name=self._name,
            left=(self._axis(sdl.SDL_CONTROLLER_AXIS_LEFTX), -self._axis(sdl.SDL_CONTROLLER_AXIS_LEFTY)),
            right=(self._axis(sdl.SDL_CONTROLLER_AXIS_RIGHTX), -self._axis(sdl.SDL_CONTROLLER_AXIS_RIGHTY)),
            dead_man=self._down(sdl.SDL_CONTROLLER_BUTTON_LEFTSHOULDER),
            turning=self._down(sdl.SDL_CONTROLLER_BUTTON_RIGHTSHOULDER),
            dead_man_came_up=came_up,
            stop=stop,
        )

    def close(self) -> None:
        """Close pad and SDL. May be called again; `read` must not be called afterwards."""
        if self._sdl is not None:
            for pad in [*self._all]:
                self._let_go(pad)
            self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)
            self._sdl = None

    def _find(self) -> None:
        """Open new pads; the first one is read."""
        sdl = self._sdl
        unknown = ""
        for index in range(sdl.SDL_NumJoysticks()):
            if not sdl.SDL_IsGameController(index):
                unknown = unknown or _text(sdl.SDL_JoystickNameForIndex(index))
            elif int(sdl.SDL_JoystickGetDeviceInstanceID(index)) not in self._all:
                opened = sdl.SDL_GameControllerOpen(index)
                if opened:  # else it is somebody else's, or gone again
                    self._all[int(sdl.SDL_JoystickInstanceID(sdl.SDL_GameControllerGetJoystick(opened)))] = opened
        if self._pad is None and self._all:
            sdl.SDL_GameControllerUpdate()  # or a button that is down already would look as if it were up
            self._pad, self._open = next(iter(self._all.items()))
        self._name = unknown if self._open is None else _text(sdl.SDL_GameControllerName(self._open))

    def _let_go(self, pad: int) -> None:
        self._sdl.SDL_GameControllerClose(self._all.pop(pad))
        self._search = True
        if pad == self._pad:
            self._open, self._pad, self._name = None, None, ""

    def _axis(self, axis: int) -> float:
        value = int(self._sdl.SDL_GameControllerGetAxis(self._open, axis))
        return value / (32768 if value < 0 else 32767)

    def _down(self, button: int) -> bool:
        return bool(self._sdl.SDL_GameControllerGetButton(self._open, button))

    def _fault(self) -> str:
        return _text(self._sdl.SDL_GetError()) or "SDL says no reason"


def _load() -> Any:
    """SDL's functions. Loading takes a quarter of a second and 12 MB, and is done only if there is a pad."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells by one where it has its library from
            import sdl2
    except (ImportError, OSError, RuntimeError) as error:
        raise HardwareError(f"game pads cannot be read: SDL 2 cannot be loaded: {error}") from error
    return sdl2


def _text(name: bytes | None) -> str:
    return (name or b"").decode(errors="replace")


DEAD_ZONE = 0.25
"""part of a stick's travel: dead zone about its middle"""
SHARES = 4
"""number of equal steps of speed over the rest of the travel; a motion keeps its initial speed"""
_PLAY = 0.06
"""part of a stick's travel: hysteresis of the steps, against a trembling hand"""
_RESTING = 10
"""successive readings in which the dead-man's button must be up first: a pad may report late that it is down"""


@dataclass(frozen=True, slots=True)
class JogRequest:
    """`way`: direction and axis, as "+z" or "-rx"; `share`: of the speed at which it may be moved, above 0, up to 1."""

    way: str
    share: float


class GamepadMapping:
    """Derives jog requests from successive readings of a pad.

    The left stick moves along x and y, the right one along z; with the other shoulder button down they turn about these
    axes. Only the axis with the greatest deflection counts. Requests need the dead-man's button down, and it must have
    been up since the pad was plugged in.
    """

    def __init__(self) -> None:
        self._pad: int | None = None
        self._up = 0
        self.ready = False
        """whether the dead-man's button was up since the pad was plugged in"""
        self._axis = ""
        self._step = 0

    def take(self, reading: PadReading) -> JogRequest | None:
        """The jog request of a reading; None: no motion, a present one must stop."""
        if reading.pad is None or reading.pad != self._pad:
            self._pad, self._up, self.ready = reading.pad, 0, False
        self._up = 0 if reading.pad is None or reading.dead_man else self._up + 1
        self.ready = self.ready or self._up >= _RESTING
        if not (self.ready and reading.dead_man) or reading.dead_man_came_up:
            self._axis, self._step = "", 0
            return None
        depths = {"x": reading.left[0], "y": reading.left[1], "z": reading.right[1]}
        axis = max(depths, key=lambda each: abs(depths[each]) + (_PLAY if each == self._axis else 0.0))
        self._step = _step(abs(depths[axis]), self._step if axis == self._axis else 0)
        self._axis = axis if self._step else ""
        if not self._step:
            return None
        return JogRequest(
            f"{'+' if depths[axis] > 0 else '-'}{'r' if reading.turning else ''}{axis}", self._step / SHARES
        )


def _step(depth: float, before: int) -> int:
    """The step of speed of a stick at deflection `depth` (0 to 1), 0 at rest; `before`: the last step."""
    width = (1.0 - DEAD_ZONE) / SHARES
    if before:
        low, high = DEAD_ZONE + (before - 1) * width, DEAD_ZONE + before * width
        if low - _PLAY <= depth and (before == SHARES or depth <= high + _PLAY):
            return before
    return min(SHARES, math.floor((depth - DEAD_ZONE) / width) + 1) if depth >= DEAD_ZONE else 0
