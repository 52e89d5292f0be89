"""Buckets: files in the object stores of Amazon, Google and Microsoft, or behind an https:// address.

Whoever may reach them stands in the environment, where the stores' own tools look: AWS_ACCESS_KEY_ID and its kin, or a
profile; Google's application default credentials; AZURE_STORAGE_ACCOUNT and a key. An address carries none of it.
"""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from pyarrow import fs

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.http_files import HttpFiles
from pointillist.files.urls import Url

_PATIENCE = timedelta(seconds=30)


def filesystem(url: Url) -> tuple[fs.FileSystem, str]:
    """The store that a URL names, and the path in it."""
    return BUCKETS[url.scheme](url, os.environ)


def _s3(url: Url, environment: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    endpoint = endpoint_of(environment)
    options: dict[str, Any] = {"region": url.parameter("region") or environment.get("AWS_REGION")}
    options["region"] = options["region"] or environment.get("AWS_DEFAULT_REGION")
    if endpoint:
        scheme, _, place = endpoint.rpartition("://")
        options |= {"endpoint_override": place, "scheme": scheme or "https", "region": options["region"] or "us-east-1"}
    given = {name: value for name, value in options.items() if value}
    return fs.S3FileSystem(connect_timeout=15, request_timeout=60, **given), _path(url)


def endpoint_of(environment: Mapping[str, str]) -> str | None:
    """An S3 store other than Amazon's, by the variables that Amazon's own tools read."""
    return environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")


def _gs(url: Url, environment: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    return fs.GcsFileSystem(retry_time_limit=_PATIENCE), _path(url)


def _az(url: Url, environment: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    """az://container/path with the account in the environment, or abfss://container@account.dfs.core.windows.net/path."""
    account = url.host.partition(".")[0] if url.user else None
    account = account or environment.get("AZURE_STORAGE_ACCOUNT") or environment.get("AZURE_STORAGE_ACCOUNT_NAME")
    if not account:
        raise UsageError(f"{url}: name the storage account in AZURE_STORAGE_ACCOUNT.")
    key = environment.get("AZURE_STORAGE_KEY") or environment.get("AZURE_STORAGE_ACCOUNT_KEY")
    token = environment.get("AZURE_STORAGE_SAS_TOKEN")
    path = f"{url.user}{unquote(url.path)}" if url.user else f"{url.host}{unquote(url.path)}"
    store = fs.AzureFileSystem(account, account_key=key, sas_token=None if key else token)
    return store, path.rstrip("/")


def _http(url: Url, environment: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    return fs.PyFileSystem(HttpFiles(url)), unquote(url.path).lstrip("/")


def _path(url: Url) -> str:
    if url.user or ":" in url.host:
        raise UsageError(
            f"the {url.scheme}:// address has more than a bucket before the path. Leave credentials out of it."
        )
    return f"{url.host}{unquote(url.path)}".rstrip("/")


BUCKETS: Mapping[str, Callable[[Url, Mapping[str, str]], tuple[fs.FileSystem, str]]] = {
    "s3": _s3,
    "gs": _gs,
    "az": _az,
    "abfs": _az,
    "abfss": _az,
    "https": _http,
    "http": _http,
}


def check(url: Url, *, overwrite: bool) -> None:
    """Refuse an object that could not be written, as far as it can be told without writing it."""
    if url.scheme in ("http", "https"):
        raise UsageError(f"{url}: files are read from https:// addresses, and not written there.")
    store, path = filesystem(url)
    try:
        there = store.get_file_info(path)
    except OSError:
        raise ArtefactError(f"{url}: cannot be written: the store cannot be reached, or lets nobody in.") from None
    if there.type is fs.FileType.File and not overwrite:
        raise UsageError(f"{url}: is there already. Name another output, or pass --overwrite.")


def write(url: Url, content: bytes) -> None:
    """Write an object: it is there once all of it is."""
    store, path = filesystem(url)
    try:
        with store.open_output_stream(path, compression=None) as stream:  # the content is what it is
            stream.write(content)
    except OSError:
        raise ArtefactError(f"{url}: cannot be written. Is there such a bucket, and may you write to it?") from None
