"""Record and replay: any schema, any rows, any neighbours."""

import pytest
from hypothesis import assume, given, settings
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import room
from recording.schemas import cases
from recording.verdict import verify

from pointillist.errors import PointillistError


@pytest.mark.parametrize("loudness", [0, 1])
@settings(settings.get_profile("replay"))
@given(drawn=cases())
def test_neighbours_differ_by_one_persons_features_and_nothing_else(loudness: int, drawn: tuple[Case, Pair]) -> None:
    """`REPLAY_EXAMPLES=2000 pytest tests/replay/test_any_table.py` looks further."""
    case, pair = drawn
    try:
        case.plan()
    except PointillistError:  # the method does not take this schema, whatever the rows are
        assume(False)
    with room() as place:
        verify(case.works(pair), place, FrozenNoise(loudness), watched=case.schema.person is None)
