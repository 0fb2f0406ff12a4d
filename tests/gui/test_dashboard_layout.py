"""Dashboards without a screen: which signals there are, what can be put where, and the file that keeps it."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from live_rows import live_rows

from gui.dashboard import Dashboards
from gui.dashboard.layout import MOST_PLOTS, Dashboard, PlotOf, RefusedError, Row, Side, line_styles_of, plot_fault
from gui.dashboard.signals import QUANTITIES, SIGNALS, signal_of
from gui.live import Sources
from gui.models.timeline import Excerpt
from gui.widgets import DASHED, LEG_COLOURS
from rig.errors import InputError
from rig.telemetry import ROW

_A, _B, _C = "force_measured.1", "position.x", "lateness"
_THREE = Dashboard("d").with_plots([_A]).with_plots([_B]).with_plots([_C])


def test_every_column_of_telemetry_has_its_signals() -> None:
    assert {quantity.field for quantity in QUANTITIES} | {"t"} == set(ROW.names or ())
    rows = live_rows(20)
    for quantity in QUANTITIES:
        for values in (quantity.extract(rows), quantity.values(Excerpt(rows).segment(0.0, 99.0), Sources())):
            assert values.shape == (20, len(quantity.columns)), quantity.key
        assert len(quantity.columns) == len(quantity.colours)
        assert f"{quantity.field}: " in quantity.meaning
    groups = [quantity.group for quantity in QUANTITIES]
    assert len(list(dict.fromkeys(groups))) == 1 + sum(a != b for a, b in pairwise(groups))
    assert len(SIGNALS) == sum(len(quantity.columns) for quantity in QUANTITIES)


def test_signals_are_in_the_units_that_they_name() -> None:
    rows = live_rows(3)
    rows["pose"][:, 3:7] = [np.cos(0.1), np.sin(0.1), 0.0, 0.0]
    rows["reference"][:, 7:19] = np.arange(12)

    def value(key: str) -> float:
        signal = SIGNALS[key]
        return float(signal.quantity.extract(rows)[-1, signal.column])

    assert value("position.x") == pytest.approx(11.0) and SIGNALS["position.x"].label == "Position measured x, mm"
    assert value("angle.x") == pytest.approx(np.degrees(0.2)) and SIGNALS["angle.x"].quantity.unit == "°"
    assert value("speed_reference.y") == 1000.0 and value("turning_reference.z") == pytest.approx(np.degrees(5.0))
    assert value("acceleration.x") == 6.0 and value("turning_acceleration.z") == pytest.approx(np.degrees(11.0))
    assert value("length_error.6") == pytest.approx(6.0) and SIGNALS["length_error.6"].quantity.unit == "µm"
    assert value("exchange_time") == pytest.approx(200.0)
    assert SIGNALS["force_measured.3"].name == "Force measured leg 3" and SIGNALS["force_measured.3"].leg == 3


def test_a_leg_keeps_its_colour_and_its_lines_differ() -> None:
    keys = [f"{name}.{leg}" for name in ("force_measured", "force_model", "force_residual") for leg in (2, 5)]
    looks = line_styles_of(keys)
    assert [colours for _quantity, _columns, colours, _pattern in looks] == [(LEG_COLOURS[1], LEG_COLOURS[4])] * 3
    patterns = [pattern for *_others, pattern in looks]
    assert patterns[:2] == ["", DASHED] and len(set(patterns)) == 3
    alone = line_styles_of(["lateness", "period", "exchange_time", "compute_time"])
    assert len({(colours, pattern) for _quantity, _columns, colours, pattern in alone}) == 4
    forces = ["force_measured", "force_model", "force_residual", "force_command", "force_feedforward", "term_gravity"]
    assert plot_fault([f"{name}.1" for name in forces]).endswith(
        "more than 5 lines of one colour, which nobody could tell apart"
    )
    assert plot_fault([*(f"{name}.1" for name in forces[:5]), "term_gravity.2"]) == ""  # of another leg


def test_one_axis_has_one_unit() -> None:
    with pytest.raises(RefusedError, match="Position measured x is in mm and the plot in N: an axis has one unit"):
        _THREE.with_signals((0, 0), ["force_measured.2", _B])
    assert [row.plots[0].signals for row in Dashboard("d").with_plots([_A, _B, "force_model.1"]).rows] == [
        (_A, "force_model.1"),
        (_B,),
    ]
    grown = _THREE.with_signals((0, 0), [_A, "force_model.1"])
    assert grown.plot((0, 0)).signals == (_A, "force_model.1")
    assert grown.without_signal((0, 0), _A).plot((0, 0)).signals == ("force_model.1",)
    assert _THREE.without_signal((0, 0), _A) == _THREE.without((0, 0))


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("imu.base.rate.z", "base: angular rate z, °/s"),
        ("pose.tracker.position.x", "tracker: position x, mm"),
        ("scalar.cabinet.supply [V]", "cabinet: supply, V"),
        ("scalar.cabinet.load [N/[m]]", "cabinet: load, N/[m]"),
        ("scalar.cabinet.count", "cabinet: count"),
    ],
)
def test_a_key_of_an_external_sensor_says_its_signal(key: str, label: str) -> None:
    signal = signal_of(key)
    assert (signal.key, signal.label) == (key, label)
    assert np.isnan(signal.quantity.values(Excerpt(live_rows(20)).segment(0.0, 99.0), Sources())).all()


@pytest.mark.parametrize(
    "key", ["imu.base.rate.w", "imu.base.rate", "pose.base.rate.x", "scalar.Base.a", "scalar.base"]
)
def test_a_key_that_no_sensor_can_have_is_unknown(key: str) -> None:
    assert plot_fault([key]) == f"signal {key!r}: unknown"


def _shape(dashboard: Dashboard) -> list[list[str]]:
    return [[plot.signals[0] for plot in row.plots] for row in dashboard.rows]


@pytest.mark.parametrize(
    ("place", "side", "target", "shape"),
    [
        ((0, 0), Side.RIGHT, (1, 0), [[_B, _A], [_C]]),
        ((2, 0), Side.LEFT, (1, 0), [[_A], [_C, _B]]),
        ((2, 0), Side.ABOVE, (0, 0), [[_C], [_A], [_B]]),
        ((0, 0), Side.BELOW, (2, 0), [[_B], [_C], [_A]]),
        ((1, 0), Side.BELOW, (1, 0), [[_A], [_B], [_C]]),
    ],
)
def test_a_plot_is_put_beside_another(
    place: tuple[int, int], side: Side, target: tuple[int, int], shape: list[list[str]]
) -> None:
    assert _shape(_THREE.put(place, side, target)) == shape


def test_steps_lead_everywhere() -> None:
    board, place = _THREE, (2, 0)
    steps = [
        (Side.ABOVE, [[_A], [_B, _C]], (1, 1)),
        (Side.LEFT, [[_A], [_C, _B]], (1, 0)),
        (Side.LEFT, [[_A], [_C, _B]], (1, 0)),
        (Side.RIGHT, [[_A], [_B, _C]], (1, 1)),
        (Side.ABOVE, [[_A], [_C], [_B]], (1, 0)),
        (Side.ABOVE, [[_A, _C], [_B]], (0, 1)),
        (Side.BELOW, [[_A], [_C], [_B]], (1, 0)),
        (Side.BELOW, [[_A], [_B, _C]], (1, 1)),
        (Side.BELOW, [[_A], [_B], [_C]], (2, 0)),
        (Side.BELOW, [[_A], [_B], [_C]], (2, 0)),
    ]
    for number, (side, shape, expected) in enumerate(steps):
        board, place = board.moved(place, side)
        assert (_shape(board), place) == (shape, expected), number
        assert board.plot(place).signals == (_C,)


def test_there_are_not_more_plots_than_can_be_drawn() -> None:
    full = Dashboard("d", (Row((PlotOf((_A,)),) * MOST_PLOTS),))
    with pytest.raises(RefusedError, match=f"{MOST_PLOTS + 1} plots, must be at most {MOST_PLOTS} on a dashboard"):
        full.with_plots([_B])


def test_dashboards_are_kept_renamed_and_deleted(tmp_path: Path) -> None:
    kept = Dashboards(tmp_path / "deep" / "dashboards.toml")
    assert kept.all() == {}
    shared = _THREE.put((0, 0), Side.LEFT, (1, 0)).shared([0.25, 0.75], [[0.5, 0.5], [1.0]])
    kept.add(shared)
    kept.add(Dashboard('a "second"'))
    assert list(Dashboards(kept.file.path).all().values()) == [shared, Dashboard('a "second"')]
    kept.replace("d", Dashboard("e", shared.rows))
    assert list(kept.all()) == ["e", 'a "second"']
    kept.delete('a "second"')
    assert list(kept.all()) == ["e"]
    for act, words in (
        (lambda: kept.add(Dashboard("e")), "there is a dashboard 'e' already"),
        (lambda: kept.add(Dashboard(" f")), "must be printable text without spaces around it"),
        (lambda: kept.add(Dashboard("f" * 61)), "61 characters, must be at most 60"),
        (lambda: kept.replace("d", Dashboard("g")), "there is no dashboard 'd'; existing ones: 'e'"),
        (lambda: kept.delete("d"), "there is no dashboard 'd'"),
    ):
        with pytest.raises(InputError, match=words):
            act()
    assert list(kept.all()) == ["e"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dashboard = 3\n", "dashboard: "),
        ("dashboard = [", "dashboards "),
        ('[[dashboard]]\nname = "a"\nrows = [{plots = []}]\n', "dashboard[1].rows[1].plots"),
        (
            '[[dashboard]]\nname = "a"\nrows = [{plots = [{signals = ["force.1"]}]}]\n',
            "'a': signal 'force.1': unknown",
        ),
        (
            '[[dashboard]]\nname = "a"\nrows = [{plots = [{signals = ["lateness", "cycle"]}]}]\n',
            "an axis has one unit",
        ),
        ('[[dashboard]]\nname = "a"\nrows = [{plots = [{signals = []}]}]\n', "'a': a plot without signals"),
        ('[[dashboard]]\nname = "a"\nrows = [{share = nan, plots = [{signals = ["cycle"]}]}]\n', "share"),
        ('[[dashboard]]\nname = "a"\nrows = [{share = 0.0, plots = [{signals = ["cycle"]}]}]\n', "share"),
        ('[[dashboard]]\nname = "a"\n[[dashboard]]\nname = "a"\n', "'a': there are 2 of this name"),
        ('[[dashboard]]\nname = ""\n', "must be printable text"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_left_as_it_is(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "dashboards.toml"
    path.write_text(text)
    kept = Dashboards(path)
    for act in (kept.all, lambda: kept.add(Dashboard("b")), lambda: kept.delete("a")):
        with pytest.raises(InputError) as caught:
            act()
        assert str(path) in str(caught.value) and words in str(caught.value)
    assert path.read_text() == text


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Dashboards(tmp_path / "file" / "dashboards.toml")
    with pytest.raises(InputError, match=str(kept.file.path)):
        kept.add(Dashboard("a"))
