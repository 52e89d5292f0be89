import socket

import pytest

from pointillist.errors import UsageError
from pointillist.studio.server import listening


def test_a_port_that_is_taken_is_told() -> None:
    with listening("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1 cannot be used"):
            listening("127.0.0.1", port)


def test_it_listens_on_this_machine_alone() -> None:
    with listening("127.0.0.1", 0) as listener:
        assert listener.family is socket.AF_INET
        assert listener.getsockname()[0] == "127.0.0.1"
