"""A game pad that SDL makes itself: what reads pads cannot tell it from one that is plugged in."""

from types import TracebackType
from typing import Literal

from rig.client.game_pad import _HINTS, _load

Stick = Literal["left x", "left y", "right x", "right y"]
Button = Literal["dead-man", "turning", "stop", "start"]


class VirtualPad:
    """Plugged in when it is made, until `unplug` or the end of its `with` block; `known`: SDL knows its buttons."""

    def __init__(self, *, known: bool = True) -> None:
        self._sdl = sdl = _load()
        for hint, value in _HINTS.items():
            sdl.SDL_SetHint(hint, value)
        assert sdl.SDL_InitSubSystem(sdl.SDL_INIT_JOYSTICK) == 0, sdl.SDL_GetError()
        kind = sdl.SDL_JOYSTICK_TYPE_GAMECONTROLLER if known else sdl.SDL_JOYSTICK_TYPE_WHEEL
        index = sdl.SDL_JoystickAttachVirtual(kind, 6, 15, 0)
        assert index >= 0, sdl.SDL_GetError()
        self._stick = sdl.SDL_JoystickOpen(index)
        self._number = sdl.SDL_JoystickInstanceID(self._stick)
        self._plugged = True
        self._buttons = {
            "stop": sdl.SDL_CONTROLLER_BUTTON_B,
            "start": sdl.SDL_CONTROLLER_BUTTON_START,
            "dead-man": sdl.SDL_CONTROLLER_BUTTON_LEFTSHOULDER,
            "turning": sdl.SDL_CONTROLLER_BUTTON_RIGHTSHOULDER,
        }

    def move(self, stick: Stick, part: float) -> None:
        """Deflect a stick, −1 to 1, to the right or away from the hand."""
        axis = ("left x", "left y", "right x", "right y").index(stick)
        value = round(32767 * (-part if stick.endswith("y") else part))
        assert self._sdl.SDL_JoystickSetVirtualAxis(self._stick, axis, value) == 0

    def press(self, button: Button) -> None:
        """Put a button down."""
        self._set(button, 1)

    def release(self, button: Button) -> None:
        """Let a button up."""
        self._set(button, 0)

    def tap(self, button: Button) -> None:
        """Down and up again before anybody looks."""
        self._set(button, 1)
        self._sdl.SDL_JoystickUpdate()  # the device's own report
        self._set(button, 0)
        self._sdl.SDL_JoystickUpdate()

    def unplug(self) -> None:
        """Pull it out."""
        if self._plugged:
            numbers = [self._sdl.SDL_JoystickGetDeviceInstanceID(i) for i in range(self._sdl.SDL_NumJoysticks())]
            assert self._sdl.SDL_JoystickDetachVirtual(numbers.index(self._number)) == 0
            self._plugged = False

    def close(self) -> None:
        """Pull it out, and give SDL back."""
        self.unplug()
        self._sdl.SDL_JoystickClose(self._stick)
        self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_JOYSTICK)

    def _set(self, button: Button, down: int) -> None:
        assert self._sdl.SDL_JoystickSetVirtualButton(self._stick, self._buttons[button], down) == 0

    def __enter__(self) -> "VirtualPad":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
