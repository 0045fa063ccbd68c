"""to_pandas, to_arrow, to_parquet: what the microscope found, as a table for other programs."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..arguments import FilePath, checked
from ..capture.coverage import Coverage
from ..capture.store import FactorStore, Record, wide
from ..record.recording import Recording
from .ledger import Ledger
from .side_by_side import told_of, total
from .watching import COLUMNS, Watch

EVENTS = 10_000         # of a recording, in one block
EVENT = {"event": "int64", "kind": "string", "what": "string", "module": "string", "where": "string", "pass": "int64",
         "thread": "int64", "t": "int64", "dt": "int64", "norm": "float64"}
TERM = {"pass": "int64", "kind": "string", "what": "string", "path": "string", "where": "string", "norm": "float64"}
COVERED = {"name": "string", "shape": "list of int64", "status": "string", "how": "string", "calls": "int64",
           "error": "float64", "where": "string"}
WATCHED = {"step": "int64", "name": "string"} | dict.fromkeys(COLUMNS[2:], "float64")
STORED = {"rank": "int64", "step": "int64", "sample": "int64", "layer": "string", "module": "string", "kind": "string",
          "shape": "list of int64", "tokens": "int64", "ids": "list of int64", "mask": "list of float64"}
FACTORS = ("a", "delta", "gradient")
Row = dict[str, Any]


@checked
def to_pandas(found: Recording | Coverage | Ledger | Watch | FactorStore) -> Any:
    """A pandas.DataFrame with the columns of `to_arrow`.  ImportError without pandas.

    found   a result of the microscope: see to_arrow
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs the package pandas: pip install pandas") from None
    return pandas.DataFrame([row for block in blocks_of(found) for row in block], columns=list(columns_of(found)))


@checked
def to_arrow(found: Recording | Coverage | Ledger | Watch | FactorStore) -> Any:
    """A pyarrow.Table.  ImportError without pyarrow.

    found          a result of the microscope, which becomes rows:
    Recording      a row per event: what, where, t and dt in ns, norm of its result (ops: of their outputs; nodes: of the
                   gradients of their inputs; accumulations: of the gradient that arrived), null if not measured
    Ledger         a row per term
    Coverage       a row per parameter
    Watch          a row per look at a name
    FactorStore    a row per sample of a weight.  `a` and `delta` are flat lists in C order, of `tokens` rows each; a weight
                   without factors has `gradient`, in C order, of the weight's `shape`; an embedding has `ids`, not `a`
    """
    arrow, schema = schema_of(found)
    return arrow.Table.from_batches([batch(arrow, block, schema) for block in blocks_of(found)], schema)


@checked
def to_parquet(found: Recording | Coverage | Ledger | Watch | FactorStore, path: FilePath) -> None:
    """Write the table of `to_arrow` as a Parquet file, block by block: a store may be larger than memory.

    found   a result of the microscope: see to_arrow
    path    of the file, which is replaced when complete
    ImportError without pyarrow.
    """
    arrow, schema = schema_of(found)
    from pyarrow import parquet

    from ...io.beside import write_beside

    def write(file: Any) -> None:
        with parquet.ParquetWriter(file, schema) as table:
            for block in blocks_of(found):
                table.write_batch(batch(arrow, block, schema))

    write_beside(os.fsdecode(path), write)


def schema_of(found: Any) -> tuple[Any, Any]:
    """(pyarrow, the columns' types)"""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("to_arrow and to_parquet need the package pyarrow: pip install pyarrow") from None

    def typed(kind: str) -> Any:
        one = getattr(pyarrow, kind.removeprefix("list of "))()
        return pyarrow.list_(one) if kind.startswith("list of ") else one

    return pyarrow, pyarrow.schema([(name, typed(kind)) for name, kind in columns_of(found).items()])


def batch(arrow: Any, block: list[Row], schema: Any) -> Any:
    return arrow.RecordBatch.from_pylist(block, schema)


def columns_of(found: Any) -> dict[str, str]:
    """{column: its type}"""
    if isinstance(found, FactorStore):
        double = any("float64" in dtype for record in found.records() for dtype in record.about["dtype"])
        return STORED | dict.fromkeys(FACTORS, "list of float64" if double else "list of float32")
    return next(columns for kind, columns in ((Recording, EVENT), (Coverage, COVERED), (Ledger, TERM), (Watch, WATCHED))
                if isinstance(found, kind))


def blocks_of(found: Any) -> Iterator[list[Row]]:
    if isinstance(found, FactorStore):
        yield from map(rows_of_record, found.records())
    elif isinstance(found, Recording):
        yield from events_of(found)
    else:
        yield [row._asdict() for row in found] if isinstance(found, Coverage) else (
            found.rows() if isinstance(found, Ledger) else found.rows)


def events_of(rec: Recording) -> Iterator[list[Row]]:
    values = {i: numbers for _, i, numbers in told_of(rec, 0, len(rec.rows), True, {})}
    for begin in range(0, len(rec.rows), EVENTS):
        yield [{
            "event": event.number, "kind": event.kind, "what": event.label, "module": event.path, "where": event.where,
            "pass": event.get("pass"), "thread": event._row[3], "t": event.t, "dt": event.dt,
            "norm": total([rec.value(v) for v in values.get(event.number, [])]),
        } for event in rec.events[begin:begin + EVENTS]]


def rows_of_record(record: Record) -> list[Row]:
    arrays = {name: wide(record.array(name)) for name in record.about["tensors"]}
    tokens = arrays["delta"].shape[1] if "delta" in arrays else None
    return [{
        "rank": record.rank, "step": record.step, "sample": sample, "layer": record.layer, "module": record.module,
        "kind": record.kind, "shape": list(record.shape), "tokens": tokens,
        **{name: t[i].reshape(-1).numpy() for name, t in arrays.items()},
    } for i, sample in enumerate(record.samples)]
