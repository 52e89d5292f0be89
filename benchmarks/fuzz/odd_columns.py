"""Odd columns: four rows of every type that Arrow knows, for whoever has to cope with them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

_NUMBERS, _TEXTS = (1, 2, None, 3), ("a", "b", None, "1")
_CODES = pa.array([0, 1, None, 0], pa.int8())


def odd_columns() -> dict[str, pa.Array]:
    """Columns by a name for their type."""
    return {**_nested(), **_plain(), **_coded(), **_extended()}


def _nested() -> dict[str, pa.Array]:
    return {
        "list": pa.array([[1], [2], None, [3]]),
        "large list": pa.array([["a"], ["b"], None, []], pa.large_list(pa.string())),
        "fixed list": pa.array([[1, 2], [2, 2], None, [1, 1]], pa.list_(pa.int8(), 2)),
        "list view": pa.array([[1], [2], None, [3]], pa.list_view(pa.int32())),
        "list of structs": pa.array([[{"a": 1}], [], None, [{"a": None}]]),
        "struct": pa.array([{"a": 1}, {"a": 2}, None, {"a": 3}]),
        "struct without fields": pa.array([{}, {}, None, {}], pa.struct([])),
        "map": pa.array([[("a", 1)], [], None, [("b", 2)]], pa.map_(pa.string(), pa.int8())),
        "sparse union": pa.UnionArray.from_sparse(
            pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(["a", "b", "c", "d"])]
        ),
        "dense union": pa.UnionArray.from_dense(
            pa.array([0, 1, 0, 1], pa.int8()),
            pa.array([0, 0, 1, 1], pa.int32()),
            [pa.array([1, 2]), pa.array(["a", "b"])],
        ),
    }


def _plain() -> dict[str, pa.Array]:
    ticks: dict[str, Any] = {
        "duration": pa.duration("s"),
        "time32": pa.time32("s"),
        "time64": pa.time64("ns"),
        "timestamp ns": pa.timestamp("ns"),
        "timestamp in a zone": pa.timestamp("us", "Europe/Berlin"),
        "timestamp nowhere": pa.timestamp("us", "Nowhere/Bad"),
    }
    decimals: dict[str, Any] = {
        "decimal32": pa.decimal32(5, 2),
        "decimal64": pa.decimal64(5, 2),
        "decimal128": pa.decimal128(38, 2),
        "decimal256": pa.decimal256(76, 2),
        "decimal of hundreds": pa.decimal128(5, -2),
    }
    bytes_of: dict[str, Any] = {
        "binary": pa.binary(),
        "large binary": pa.large_binary(),
        "fixed binary": pa.binary(1),
        "binary view": pa.binary_view(),
    }
    return {
        **{name: pa.array(_NUMBERS, kind) for name, kind in ticks.items()},
        **{name: pa.array([Decimal(100), Decimal(200), None, Decimal(0)], kind) for name, kind in decimals.items()},
        **{name: pa.array([b"a", b"\xff", None, b"b"], kind) for name, kind in bytes_of.items()},
        "string view": pa.array(_TEXTS, pa.string_view()),
        "large string": pa.array(_TEXTS, pa.large_string()),
        "interval": pa.array([(1, 2, 3), (1, 2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
        "date64": pa.array([86_400_000, 0, None, 0], pa.date64()),
        "far timestamps": pa.array([2**63 - 1, 1 - 2**63, None, 3], pa.timestamp("s")),
        "far dates": pa.array([2**31 - 1, 1 - 2**31, None, 3], pa.date32()),
        "null": pa.nulls(4),
        "float16": pa.array(np.array([1, 2, np.nan, 3], np.float16)),
        "uint64": pa.array([2**64 - 1, 1, None, 2], pa.uint64()),
        "boolean": pa.array([True, False, None, True]),
        "not finite": pa.array([float("nan"), float("inf"), -float("inf"), None]),
    }


def _coded() -> dict[str, pa.Array]:
    inside: dict[str, pa.Array] = {
        "lists": pa.array([[1], [2]]),
        "structs": pa.array([{"a": 1}, {"a": 2}]),
        "numbers": pa.array([1, 2]),
        "timestamps": pa.array([1, 2], pa.timestamp("s")),
        "booleans": pa.array([True, False]),
        "nulls": pa.array(["a", None]),
        "codes": pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["a", "b"])),
    }
    ends = pa.array([2, 4], pa.int32())
    return {
        **{f"dictionary of {name}": pa.DictionaryArray.from_arrays(_CODES, values) for name, values in inside.items()},
        "dictionary by uint64": pa.DictionaryArray.from_arrays(_CODES.cast(pa.uint64()), pa.array(["a", "b"])),
        "empty dictionary": pa.DictionaryArray.from_arrays(pa.nulls(4, pa.int8()), pa.array([], pa.string())),
        "runs of texts": pa.RunEndEncodedArray.from_arrays(ends, pa.array(["a", "b"])),
        "runs of numbers": pa.RunEndEncodedArray.from_arrays(ends, pa.array([1, 2])),
    }


def _extended() -> dict[str, pa.Array]:
    stored = pa.ExtensionArray.from_storage
    return {
        "uuid": stored(pa.uuid(), pa.array([b"0123456789abcdef"] * 4, pa.binary(16))),
        "json": pa.array(["{}", "[1]", None, "3"], pa.json_(pa.string())),
        "bool8": stored(pa.bool8(), pa.array([0, 1, None, 1], pa.int8())),
        "opaque": stored(pa.opaque(pa.int32(), "x", "y"), pa.array([0, 1, None, 1], pa.int32())),
        "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((4, 2, 2), np.uint8)),
    }
