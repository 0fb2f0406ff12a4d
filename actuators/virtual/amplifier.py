"""Virtual twin of a load-cell amplifier: its cells, converted at a rate of its own."""

from collections.abc import Sequence

from actuators.amplifier_profile import AmplifierProfile
from actuators.codec import ReadingCodec
from actuators.errors import ConfigurationError
from actuators.virtual.device import ILLEGAL_ADDRESS, MBAP_FRAMING, Framing, ModbusDevice, RegisterError, Sensor
from actuators.virtual.drive import Cell


class VirtualAmplifier(ModbusDevice):
    """Channels over cells; one without a valid value sets its first status bit and the invalid value.

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
        reading = profile.reading
        self._given = [register is not None for register in reading.registers]
        self._invalid_bits = [mask & -mask for mask in reading.invalid_masks()]
        self._negative_bits = reading.negative_masks()
        self._block = block = ReadingCodec(profile, unit).read_block
        self._data = b""
        if profile.identity is not None:
            texts = {"vendor": "stewart-rig", "product": "virtual amp", "serial": serial, "firmware": "1.0"}
            self._add_identity(profile.identity, profile.word_order, texts)
        self._readable.append((block.address, block.count, lambda: self._data))
        self.tick(0.0)

    def tick(self, now: float) -> None:
        """Let time pass; converts if a conversion is due. now: s; never goes back."""
        self.now = now
        sample = int(now * self._rate)
        if sample == self._sample or not self.converting:
            return
        self._sample = sample
        status = 0
        values: list[int | float] = [0, sample & 0xFFFF]
        for channel, (cell, sensor) in enumerate(zip(self._cells, self._sensors, strict=True)):
            sign = self._negative_bits[channel]
            raw, valid = sensor.encode(abs(cell.cell) if sign else cell.cell)
            values.append(raw)
            status |= sign if cell.cell < 0.0 else 0
            status |= 0 if valid and not self.invalid >> channel & 1 else self._invalid_bits[channel]
        values[0] = status
        self._data = self._block.pack([value for value, given in zip(values, self._given, strict=True) if given])

    def _write(self, address: int, data: bytes) -> None:
        raise RegisterError(ILLEGAL_ADDRESS)
