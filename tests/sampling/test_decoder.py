"""Decoders: a schema's records become rows or images, and the schema alone decides which."""

import pytest

import pointillist as pt
from pointillist.sampling.decoder import decoder_of
from pointillist.sampling.image_decoder import ImageDecoder
from pointillist.sampling.table_decoder import TableDecoder

IMAGES = pt.Schema(name="images", columns={"image": pt.Image(height=2, width=2)})


def test_the_schema_decides(schema: pt.Schema) -> None:
    assert isinstance(decoder_of(schema, "pandas"), TableDecoder)
    assert isinstance(decoder_of(IMAGES, "pandas"), ImageDecoder)


@pytest.mark.parametrize("count", [-1, 10**12])
def test_counts_are_refused_by_either(schema: pt.Schema, count: int) -> None:
    for each in (schema, IMAGES):
        decoder = decoder_of(each, "pyarrow")
        decoder.require_count(0)
        decoder.require_count(decoder.most)
        with pytest.raises(pt.PointillistError, match=r"number of (rows|images)|too many"):
            decoder.require_count(count)
