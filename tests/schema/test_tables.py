"""Tables have the columns that are stated where they are measured, with their types, units and meanings."""

import headgate
from headgate import _core
from headgate.analysis.metrics.catalogue import FLOWS, JAIN, LINK, MISALLOCATED
from headgate.files import tables


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
