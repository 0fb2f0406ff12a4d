"""Virtual twin of a load-cell amplifier: its cells, converted at a rate of its own."""

from collections.abc import Sequence

from actuators.codec import ReadingCodec
from actuators.errors import ConfigurationError
from actuators.profile import AmplifierProfile
from actuators.virtual.device import ILLEGAL_ADDRESS, ModbusDevice, RegisterError, Sensor
from actuators.virtual.framing import MBAP_FRAMING, Framing
from actuators.virtual.port import Cell


class VirtualAmplifier(ModbusDevice):
    """Channels over cells; one without a valid value sets its status bit and the invalid value.

    Every `1 / rate` s all channels are converted; registers hold the last conversion. Nothing can be written.
    """

    def __init__(
        self,
        profile: AmplifierProfile,
        cells: Sequence[Cell],
        *,
        unit: int = 1,
        serial: str = "VIRTUAL-A",
        rate: float = 4000.0,
        framing: Framing = MBAP_FRAMING,
    ) -> None:
        """cells: by channel. rate: conversions per second."""
        super().__init__(unit, profile.wrong_unit, framing)
        channels = len(profile.reading.forces)
        if len(cells) != channels:
            raise ConfigurationError(f"an amplifier by {profile.name} has {channels} cells, not {len(cells)}")
        self.profile = profile
        self._cells = tuple(cells)
        self._rate = rate
        self._sensors = [Sensor(register) for register in profile.reading.forces]
        self._sample = -1
        self.converting = True
        """whether channels are converted; if not, counter and values stand"""
        self.invalid = 0
        """bit n - 1: channel n is said to have no valid value, while its register goes on"""
        self._block = block = ReadingCodec(profile, unit).read_block
        self._data = b""
        self._add_identity(
            profile.identity,
            {"vendor": "stewart-rig", "product": "virtual amp", "serial": serial, "firmware": "1.0"},
        )
        self._readable.append((block.address, block.count, lambda: self._data))
        self.tick(0.0)

    def tick(self, now: float) -> None:
        """Let time pass; converts if a conversion is due. now: s; never goes back."""
        self.now = now
        sample = int(now * self._rate)
        if sample == self._sample or not self.converting:
            return
        self._sample = sample
        status = self.invalid
        forces = []
        for channel, (cell, sensor) in enumerate(zip(self._cells, self._sensors, strict=True)):
            raw, valid = sensor.encode(cell.cell)
            forces.append(raw)
            status |= 0 if valid else 1 << channel
        self._data = self._block.pack([status, sample & 0xFFFF, *forces])

    def _write(self, address: int, data: bytes) -> None:
        raise RegisterError(ILLEGAL_ADDRESS)
