"""Columns of words: numbers into a dictionary. The text of all rows together may exceed the 2 GiB of an Arrow array."""

import pyarrow as pa


def renumbered(column: pa.ChunkedArray) -> pa.DictionaryArray | pa.ChunkedArray:
    """The column with one dictionary, whose words are numbered by their first appearance in the rows."""
    import pyarrow.compute as pc  # loads slowly: reading a result does without it

    parts = column.unify_dictionaries().chunks
    if not parts:
        return column
    # The parts now have one dictionary. To combine them as words would import pandas, where it is installed.
    indices = pa.concat_arrays([part.indices for part in parts])
    used = pc.unique(indices).drop_null()
    return pa.DictionaryArray.from_arrays(pc.index_in(indices, used), parts[0].dictionary.take(used))


def equal(column: pa.ChunkedArray, word: str) -> pa.ChunkedArray:
    """Whether each row has this word; null where the word is missing.

    `pyarrow.compute.equal` would write the text of every row if words are numbered.
    """
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return pc.equal(column, word)
    found = [pc.equal(part.indices, pc.index(part.dictionary, word).cast(pa.int32())) for part in column.chunks]
    return pa.chunked_array(found, pa.bool_())
