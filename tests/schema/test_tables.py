"""Tables have the columns that are stated where they are measured, with their types, units and meanings."""

import pyarrow as pa

import headgate
from headgate import _core
from headgate.analysis.metrics.catalogue import FLOWS, JAIN, LINK, MISALLOCATED
from headgate.files import tables
from headgate.results import Result
from headgate.scenario import RunKey

#: A word of a mebibyte. The text of 2048 rows with it exceeds the 2 GiB of an Arrow array.
LONG = "x" * (1 << 20)


def test_every_table_has_the_columns_that_are_stated(in_memory: headgate.Result):
    by_reason = {f"{what}_{reason}" for what in ("dropped", "marked") for reason, _ in _core.reasons()}
    for name in tables.NAMES:
        given = list(getattr(in_memory, name).schema)[2:]
        stated = [column.field for column in tables.COLUMNS[name].values()]
        assert given == [field for field in stated if field in given or field.name not in by_reason], name


def test_reasons_that_no_discipline_of_the_scenario_gives_have_no_column(in_memory: headgate.Result):
    names = in_memory.flows.column_names
    assert {"dropped_overflow", "dropped_bucket"} <= set(names)  # DropTail's and FABA's
    assert "dropped_sojourn" not in names


def test_every_column_has_a_meaning():
    for name, columns in tables.COLUMNS.items():
        assert all(column.meaning.endswith(".") for column in columns.values()), name


def test_the_unit_of_a_column_is_the_one_its_name_ends_with():
    endings = {"bps": "bit/s", "ms": "ms", "ns": "ns"}
    for columns in tables.COLUMNS.values():
        for column in columns.values():
            for word in column.name.split("_"):
                assert endings.get(word, column.unit) == column.unit, column.name


def test_keys_and_names_of_measures_are_theirs_alone():
    flows, link = ([measure.key for measure in measures] for measures in ((*FLOWS, JAIN, MISALLOCATED), LINK))
    assert len(flows) == len(set(flows))
    assert len(link) == len(set(link))
    names = {measure.name: measure.key for measure in (*FLOWS, JAIN, MISALLOCATED, *LINK) if measure.name}
    assert len(set(names.values())) == len(names)


def table_of(words: list[str], numbers: list[int | None]) -> pa.Table:
    """A table whose column `qdisc` has these words, by their numbers, and whose column `seed` counts from 0."""
    column = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(words, pa.string()))
    return pa.table({"qdisc": column, "seed": pa.array(range(len(numbers)), pa.uint64())})


def test_words_are_numbered_by_their_first_appearance_in_all_parts():
    parts = [table_of(["unused", "red", "faba"], [2, None, 2]), table_of(["red", "blue"], [1, 0, None])]
    column = tables.concat([*parts, table_of([], [])]).column("qdisc").combine_chunks()
    assert column.to_pylist() == ["faba", None, "faba", "blue", "red", None]
    assert column.dictionary.to_pylist() == ["faba", "blue", "red"]
    assert column.type == tables.TEXT


def test_a_table_may_have_more_text_than_an_arrow_array_holds():
    whole = tables.concat([table_of([LONG, "red"], [0] * 1050), table_of(["red", LONG], [1] * 1050 + [0])])
    assert len(whole) == 2101
    assert set(whole.column("qdisc").combine_chunks().indices[:2100].to_pylist()) == {0}
    assert whole.column("qdisc")[2100].as_py() == "red"


def test_a_run_is_found_in_a_table_with_more_text_than_an_arrow_array_holds(in_memory: headgate.Result):
    whole = tables.concat([table_of([LONG, "red"], [0] * 2099 + [1, None])])
    result = Result(in_memory.scenario, {}, [], {"flows": whole})
    assert result.run("flows", RunKey(1, "red", 2099)).num_rows == 1
    assert result.run("flows", RunKey(1, "red", 2098)).num_rows == 0
    assert result.run("flows", RunKey(2, "blue", 2100)).num_rows == 0
