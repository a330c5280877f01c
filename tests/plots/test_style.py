"""Colors, names and numbers."""

import pytest

from headgate import style


def test_a_discipline_keeps_its_color_whatever_else_is_drawn():
    alone = style.looks(["faba"])["faba"]
    among = style.looks(["droptail", "red", "sfb:bins=46,levels=1", "faba"])["faba"]
    assert alone == among


def test_one_discipline_with_two_settings_differs_in_dashes_and_label_but_not_in_color():
    plain, gentle = style.looks(["red", "red:gentle=true,wq=0.01"]).values()
    assert plain.color == gentle.color
    assert plain.dashes != gentle.dashes
    assert (plain.label, gentle.label) == ("RED", "RED (gentle=true, wq=0.01)")
    assert style.looks(["red:gentle=true", "faba"])["red:gentle=true"].label == "RED"


def test_every_discipline_of_the_registry_has_a_look_of_its_own():
    import headgate

    looks = style.looks([entry.name for entry in headgate.disciplines()])
    assert len({(look.color, look.dashes) for look in looks.values()}) == len(looks)
    unknown = style.looks(["no_such_discipline"])["no_such_discipline"].color
    assert unknown not in {look.color for look in looks.values()}


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0, 3, "0"),
        (0.9312, 2, "0.93"),
        (4.849, 2, "4.8"),
        (312.4, 3, "312"),
        (1234567, 3, "1\u202f234\u202f567"),
        (0.000012, 2, "0.000012"),
        (-2.5, 2, "-2.5"),
    ],
)
def test_numbers_are_written_without_exponent(value, digits, shown):
    assert style.number(value, digits) == shown


@pytest.mark.parametrize(
    ("bps", "shown"), [(10e6, "10 Mbit/s"), (2.5e9, "2.5 Gbit/s"), (64e3, "64 kbit/s"), (9, "9 bit/s")]
)
def test_rates_take_the_unit_that_suits_them(bps, shown):
    assert style.rate(bps) == shown


def test_numbers_on_bars_are_legible_on_every_shade():
    assert style.ink(style.TCP) == "white"
    assert style.ink("#A6D5D0") != "white"


def test_long_names_end_in_an_ellipsis_instead_of_leaving_their_place():
    folded = style.fold("a discipline with many many settings " * 9, 24)
    assert folded.count("\n") == 1
    assert folded.endswith("…")


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (236.12, 4.3, "236.1 ± 4.3"),
        (58.2, 33.0, "58 ± 33"),
        (0.981, 0.16, "0.98 ± 0.16"),
        (9.9712, 0.0048, "9.971 ± 0.005"),
        (2499.4, 7.5, "2\N{NARROW NO-BREAK SPACE}499 ± 8"),
        (5.0, 1e-9, "5.00"),
        (-0.004, 0.3, "0.00 ± 0.30"),
        (0.0, 0.0, "0"),
        (1e-9, 0.0, "<0.000001"),
    ],
)
def test_a_margin_of_error_decides_the_digits_and_is_never_zero(mean: float, half: float, shown: str):
    assert str(style.estimated(mean, half)) == shown
