"""What a method is: anything with a name, a plan, features and a fit; registered ones say what they suit."""

from pointillist.methods import METHODS
from pointillist.methods.base import CopiesRows, ImageMethod, Method, TableMethod


def test_every_registered_method_is_one_and_suits_one_kind_of_data() -> None:
    for _, kind in METHODS.entries:
        assert isinstance(kind(), Method)
        assert issubclass(kind, TableMethod) != issubclass(kind, ImageMethod)


def test_landmarks_and_galleries_copy_rows() -> None:
    assert [name for name, kind in METHODS.entries if isinstance(kind(), CopiesRows)] == [
        "landmarks",
        "gallery",
    ]
