"""Valid forms of `[sweep]`, and errors for invalid ones."""

import math
from typing import Any

import pytest

from headgate import UsageError
from headgate.sweeps.quantity import column, number, toml
from headgate.sweeps.spec import SweepSpec, read, spec


def settings(text: str) -> list[dict[str, Any]]:
    return [dict(each) for each in read(text, "a.toml").settings()]


def test_a_grid_is_every_combination_and_the_first_key_changes_slowest():
    runs = settings("[sweep.grid]\nlink.rate = ['1Mbit/s', '2Mbit/s']\ntcp = { flows = [3, 4] }")
    assert [tuple(each.values()) for each in runs] == [
        ("1Mbit/s", 3),
        ("1Mbit/s", 4),
        ("2Mbit/s", 3),
        ("2Mbit/s", 4),
    ]
    assert list(runs[0]) == ["link.rate", "tcp.flows"]


def test_a_list_is_read_row_by_row_and_crossed_with_the_grid():
    runs = settings("[sweep]\ngrid = { a = [1, 2] }\nlist = { b = ['x', 'y'], c.d = [true, false] }")
    assert [tuple(each.values()) for each in runs] == [
        (a, b, c) for a in (1, 2) for b, c in (("x", True), ("y", False))
    ]


def test_a_range_in_steps_is_even_on_its_scale_and_keeps_its_unit():
    (line, log, whole) = (
        [each["k"] for each in settings(f"[sweep.grid]\nk = {{ {text} }}")]
        for text in (
            'from = "10ms", to = "0.03s", steps = 3',
            'from = 0.01, to = 1, steps = 3, scale = "log"',
            "from = 1, to = 4, steps = 4",
        )
    )
    assert (line, log, whole) == (["10ms", "20ms", "30ms"], [0.01, 0.1, 1.0], [1, 2, 3, 4])


def test_a_table_of_two_lists_called_from_and_to_is_two_keys():
    assert settings("[sweep.list]\nlink.from = ['A', 'B']\nlink.to = ['B', 'A']")[0] == {
        "link.from": "A",
        "link.to": "B",
    }


def test_a_latin_hypercube_has_one_sample_in_each_part_of_each_range():
    made = spec({}, {}, {"a": {"from": 0.0, "to": 1.0}, "b": {"from": "1ms", "to": "1s", "scale": "log"}}, 10)
    runs = [dict(each) for each in made.settings()]
    for key, share in (("a", lambda value: value), ("b", lambda value: math.log(number(value).amount) / math.log(1e3))):
        # Values have six digits, parts are a tenth wide.
        assert sorted(int(10 * share(each[key])) for each in runs) == list(range(10)), key
    assert runs == [dict(each) for each in made.settings()]


def test_a_further_key_does_not_change_samples_of_the_others_but_another_seed_does():
    one, both = ({"a": {"from": 0, "to": 1.0}}, {"b": {"from": 0, "to": 1.0}, "a": {"from": 0, "to": 1.0}})

    def samples(keys: dict[str, Any], seed: int = 1) -> list[Any]:
        return [dict(each)["a"] for each in spec({}, {}, keys, 7, seed).settings()]

    assert samples(one) == samples(both)
    assert samples(one) != samples(one, seed=2)


def test_a_hypercube_over_a_list_has_each_value_equally_often():
    runs = [dict(each)["cc"] for each in spec({}, {}, {"cc": ["reno", "cubic"]}, 8).settings()]
    assert sorted(map(str, runs)) == ["cubic"] * 4 + ["reno"] * 4


#: An invalid `[sweep]`, and a part of the message.
BAD = [
    ("", "no [sweep]"),
    ("[sweep]", "names no key"),
    ("[sweep.gird]\na = [1]", "did you mean 'grid'?"),
    ("[sweep]\ngrid = 5", "expected a list of values"),
    ("[sweep.grid]\na = 5", "`a`"),
    ("[sweep.grid]\na = []", "empty"),
    ("[sweep.grid]\nseeds = [1, 2]", "`seeds`"),
    ("[sweep]\ngrid.a = [1]\nlist.a = [1]", "twice"),
    ("[sweep.list]\na = [1]\nb = [1, 2]", "`a` has 1, `b` has 2"),
    ("[sweep.grid]\na = { from = 1, to = 5 }", "`steps`"),
    ("[sweep.grid]\na = { from = 1, to = 5, stpes = 2 }", "did you mean 'steps'?"),
    ("[sweep.grid]\na = { from = 1, to = '5ms', steps = 2 }", "one kind"),
    ("[sweep.grid]\na = { from = 1, steps = 2 }", "one kind"),
    ("[sweep.grid]\na = { from = 5, to = 1, steps = 2 }", "less than"),
    ("[sweep.grid]\na = { from = 0, to = 1, steps = 2, scale = 'log' }", "above 0"),
    ("[sweep.grid]\na = { from = 1, to = 5, steps = 2, scale = 'lin' }", "'lin'"),
    ("[sweep.grid]\na = { from = 1, to = inf, steps = 2 }", "must be numbers of one kind"),
    ("[sweep.grid]\na = { from = nan, to = nan, steps = 2 }", "must be numbers of one kind"),
    ("[sweep.latin]\na = { from = 1, to = 5 }", "samples"),
    ("[sweep]\nsamples = 3\ngrid.a = [1]", "latin"),
    ("[sweep]\ntables = 'links'\ngrid.a = [1]", "a list of names"),
    ("[sweep]\nsamples = 0\nlatin.a = [1]", "samples"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[repr(row[0]) for row in BAD])
def test_invalid_sweeps_are_refused(text: str, message: str):
    with pytest.raises(UsageError, match=r"sweep") as raised:
        read(text, "a.toml")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1s", "10ms"], ([1000.0, 10.0], "ms")),
        (["1Mbit/s", "5kbit/s"], ([1e6, 5e3], "bit/s")),
        (["50p", "100p"], ([50.0, 100.0], "packets")),
        (["50p", "10KB"], (["50p", "10KB"], "")),
        (["25%", "50%"], ([25.0, 50.0], "%")),
        ([1, 2], ([1, 2], "")),
        ([1, 0.5], ([1.0, 0.5], "")),
        (["cubic", "reno"], (["cubic", "reno"], "")),
        ([True, False], ([True, False], "")),
        (["off", 5], (["off", "5"], "")),
        ([{"at": "1s"}], (['{ "at" = "1s" }'], "")),
    ],
)
def test_a_column_is_numbers_in_one_unit_where_all_values_are_of_one_kind(values: list[Any], expected: Any):
    assert column(values) == expected


def test_values_are_written_as_toml_reads_them():
    import tomllib

    for value in ('a "b" \\ \n é', True, 5, 0.1, 1e-9, [1, "x"], {"a b": [True, {"c": 1.5}]}):
        assert tomllib.loads(f"x = {toml(value)}")["x"] == value


def test_an_empty_spec_of_python_is_none():
    with pytest.raises(UsageError, match="names no key"):
        spec({}, {}, {})
    assert SweepSpec({"a": [1]}, {}, {}).keys == ["a"]
