"""The body of an answer: bounded in bytes before and after unpacking, and in time, however slowly it drips."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from donna_tui.errors import DonnaError, Reason

_UNPACKED = ("gzip", "x-gzip", "deflate")
_EITHER_FORMAT = zlib.MAX_WBITS | 32


class BoundedBody(httpx2.AsyncByteStream):
    """Hands on a body until `until` (in the loop's time) and up to `max_bytes`, unpacked if it came packed.

    Iterating raises DonnaError (`too_large`), ReadTimeout, DecodingError or what the network raises.
    """

    def __init__(self, response: httpx2.Response, *, host: str, until: float, max_bytes: int) -> None:
        self._response, self._host, self._until, self._max_bytes = response, host, until, max_bytes
        self._unpacker = _unpacker(response.headers.get("content-encoding", ""))
        if _stated_length(response) > max_bytes:
            raise self._too_large()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = given = 0
        source = aiter(self._source())
        while chunk := await self._next(source):
            came += len(chunk)
            plain = self._unpacked(chunk, self._max_bytes - given)
            given += len(plain)
            if max(came, given) > self._max_bytes:
                raise self._too_large()
            if plain:
                yield plain
        if self._unpacker and came and not self._unpacker.eof:
            raise httpx2.DecodingError("the packed answer ends too early")

    async def aclose(self) -> None:
        """Drop the connection."""
        await self._response.aclose()

    async def _source(self) -> AsyncIterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        async for chunk in stream:
            if chunk:
                yield chunk

    async def _next(self, source: AsyncIterator[bytes]) -> bytes:
        try:
            async with asyncio.timeout_at(self._until):
                return await anext(source, b"")
        except TimeoutError:
            raise httpx2.ReadTimeout("the answer took too long") from None

    def _unpacked(self, chunk: bytes, room: int) -> bytes:
        if self._unpacker is None:
            return chunk
        try:
            plain: bytes = self._unpacker.decompress(chunk, room + 1)
        except zlib.error:
            raise httpx2.DecodingError("the packed answer is damaged") from None
        if self._unpacker.unused_data:
            raise httpx2.DecodingError("the packed answer goes on after its end")
        return plain

    def _too_large(self) -> DonnaError:
        return DonnaError(Reason.TOO_LARGE, f"{self._host} answered with more than {self._max_bytes:,} bytes")


def _unpacker(encoding: str) -> Any:
    """What unpacks this encoding; None for plain bytes. Raises DecodingError for one that was never asked for."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _UNPACKED:
        raise httpx2.DecodingError("the answer is packed in an unknown way")
    return zlib.decompressobj(_EITHER_FORMAT)


def _stated_length(response: httpx2.Response) -> int:
    stated = response.headers.get("content-length", "")
    return int(stated) if stated.isascii() and stated.isdigit() else 0
