"""Guard all egress: every byte that Donna sends over the network passes through a client of `open_client`.

Private text is sent to this machine only. That is decided on the IP address, and the connection is made to the same
address that was checked, so that a name cannot resolve to another host between check and use.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import httpx2

from donna_tui.platform.addresses import Address, address_of, is_this_machine
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import carried
from donna_tui.types.errors import DonnaError, Reason

_UNPACKED = ("gzip", "x-gzip", "deflate")
_EITHER_FORMAT = zlib.MAX_WBITS | 32


class BoundedBody(httpx2.AsyncByteStream):
    """Stream a body until `until` (in the loop's time) and up to `max_bytes`, decompressed if necessary.

    Iterating raises DonnaError (`too_large`), ReadTimeout, DecodingError or the errors of the network.
    """

    def __init__(self, response: httpx2.Response, *, host: str, until: float, max_bytes: int) -> None:
        self._response, self._host, self._until, self._max_bytes = response, host, until, max_bytes
        self._unpacker = _unpacker(response.headers.get("content-encoding", ""))
        stated = response.headers.get("content-length", "")
        if stated.isascii() and stated.isdigit() and int(stated) > max_bytes:
            raise self._too_large()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        received = unpacked = 0
        source = aiter(stream)
        while (chunk := await self._next(source)) is not None:
            received += len(chunk)
            plain = self._unpacked(chunk, self._max_bytes - unpacked)
            unpacked += len(plain)
            if max(received, unpacked) > self._max_bytes:
                raise self._too_large()
            if plain:
                yield plain
        if self._unpacker and received and not self._unpacker.eof:
            raise httpx2.DecodingError("the compressed answer is truncated")

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _next(self, source: AsyncIterator[bytes]) -> bytes | None:
        try:
            async with asyncio.timeout_at(self._until):
                return await anext(source, None)
        except TimeoutError:
            raise httpx2.ReadTimeout("the answer took too long") from None

    def _unpacked(self, chunk: bytes, room: int) -> bytes:
        if self._unpacker is None:
            return chunk
        try:
            plain: bytes = self._unpacker.decompress(chunk, room + 1)
        except zlib.error:
            raise httpx2.DecodingError("the compressed answer is damaged") from None
        if self._unpacker.unused_data:
            raise httpx2.DecodingError("the compressed answer has data after its end")
        return plain

    def _too_large(self) -> DonnaError:
        return DonnaError(Reason.TOO_LARGE, f"{self._host} answered with more than {self._max_bytes:,} bytes")


def _unpacker(encoding: str) -> Any:
    """Return the decompressor of an encoding, or None for plain bytes. Raises DecodingError for an unrequested one."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _UNPACKED:
        raise httpx2.DecodingError("the answer has an unknown compression")
    return zlib.decompressobj(_EITHER_FORMAT)


CONNECT_SECONDS = 10.0
MAX_ADDRESSES = 4
MAX_REDIRECTS = 5

_PORTS = {"http": 80, "https": 443}

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolve a host name and port to IP addresses. Raises OSError if there are none."""


def key_in(environ: Mapping[str, str], variable: str | None) -> str:
    """Return the key of a server in an environment variable; empty without one. Raises ValueError, without the key."""
    if variable is None:
        return ""
    key = environ.get(variable, "").strip()
    if not key:
        raise ValueError(f"the environment variable {variable}, which holds the key, is not set")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError(f"the environment variable {variable} does not hold a valid key")
    return key


async def system_addresses(host: str, port: int) -> Sequence[str]:
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


def open_client(
    *,
    timeout_seconds: float,
    max_bytes: int,
    resolve: Resolver = system_addresses,
    hosts: Collection[str] | None = None,
    any_origin: bool = False,
) -> httpx2.AsyncClient:
    """Open a client whose requests end after `timeout_seconds` in all, and whose responses have at most `max_bytes`.

    If `hosts` is given, every other host is refused. No proxy, certificate or password is taken from the environment.
    Plain http is allowed to this machine only. A request to any other host must be inside
    `carrying(Sensitivity.PUBLIC)`. Redirects are followed only if a request asks for it, and to another origin only
    with `any_origin`, for public files whose hash is known. Requests raise DonnaError (`egress_refused`, `too_large`)
    in addition to the errors of httpx2.
    """
    for library in ("httpx2", "httpcore2"):  # they log addresses, which may be secrets themselves
        logging.getLogger(library).setLevel(logging.WARNING)
    return httpx2.AsyncClient(
        transport=_CheckedTransport(timeout_seconds, max_bytes, resolve, hosts, any_origin),
        timeout=httpx2.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_SECONDS)),
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        max_redirects=MAX_REDIRECTS,
        trust_env=False,
    )


class _CheckedTransport(httpx2.AsyncBaseTransport):
    def __init__(
        self, seconds: float, max_bytes: int, resolve: Resolver, hosts: Collection[str] | None, any_origin: bool
    ) -> None:
        self._seconds, self._max_bytes, self._resolve, self._hosts = seconds, max_bytes, resolve, hosts
        self._any_origin = any_origin
        # Connections are never reused: the next request may have other contents, or the name another address.
        limits = httpx2.Limits(max_connections=8, max_keepalive_connections=0)
        self._network = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        until = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(until):
                addresses = await self._checked(request.url)
                response = await self._send(request, addresses)
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no answer from {request.url.host} in time", request=request) from None
        try:
            _check_redirect(request.url, response, self._any_origin)
            body = BoundedBody(response, host=request.url.host, until=until, max_bytes=self._max_bytes)
            unpacked = ("content-encoding", "content-length")
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in unpacked]
            return httpx2.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)
        except BaseException:
            await response.aclose()
            raise

    async def aclose(self) -> None:
        await self._network.aclose()

    async def _checked(self, url: httpx2.URL) -> list[Address]:
        """Return the addresses to which this request may be sent. Raises DonnaError if there are none."""
        if self._hosts is not None and url.host not in self._hosts:
            raise _refused(f"{url.host} is not the host that is configured", "check its address in your settings")
        if is_this_machine(url.host):
            local = [address for address in await self._addresses(url) if address.is_loopback]
            if not local:
                raise _refused(f"{url.host} does not resolve to this machine", "check /etc/hosts")
            return local
        _check_leaving(url)
        addresses = await self._addresses(url)
        if any(address.is_loopback for address in addresses):
            raise _refused(f"the name {url.host} resolves to this machine", "write localhost if that is what you mean")
        usable = [each for each in addresses if not (each.is_link_local or each.is_multicast or each.is_unspecified)]
        if not usable:
            raise _refused(f"{url.host} is not the address of a server", "check its address")
        return usable

    async def _addresses(self, url: httpx2.URL) -> list[Address]:
        if literal := address_of(url.host):
            return [literal]
        try:
            names = await self._resolve(url.host, url.port or _PORTS.get(url.scheme, 0))
        except (OSError, UnicodeError):
            raise httpx2.ConnectError(f"unknown host {url.host}") from None
        addresses = [address for name in names if (address := address_of(name))]
        if not addresses:
            raise httpx2.ConnectError(f"the host {url.host} has no address")
        return addresses

    async def _send(self, request: httpx2.Request, addresses: list[Address]) -> httpx2.Response:
        *others, last = addresses[:MAX_ADDRESSES]
        for address in others:
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._network.handle_async_request(_addressed(request, address))
        return await self._network.handle_async_request(_addressed(request, last))


def _check_leaving(url: httpx2.URL) -> None:
    if url.scheme != "https":
        raise _refused(f"{url.host} would be reached over plain {url.scheme}", "use https, or a server on this machine")
    sensitivity = carried()
    if sensitivity is None:
        raise _refused(f"it is not declared whether what is sent to {url.host} is private", None)
    if sensitivity is not Sensitivity.PUBLIC:
        hint = "private notes are sent only to a model on this machine"
        raise _refused(f"private text would be sent to {url.host}", hint)


def _addressed(request: httpx2.Request, address: Address) -> httpx2.Request:
    """Copy the request with an address instead of a name; its headers and its certificate remain those of the name."""
    named = address_of(request.url.host) is None
    extensions = {**request.extensions, "sni_hostname": request.url.host} if named else request.extensions
    method, url = request.method, request.url.copy_with(host=str(address))
    return httpx2.Request(method, url, headers=request.headers, stream=request.stream, extensions=extensions)


def _check_redirect(url: httpx2.URL, response: httpx2.Response, any_origin: bool) -> None:
    if not response.has_redirect_location:
        return
    try:
        target = url.join(response.headers["location"])
    except httpx2.InvalidURL:
        raise _refused(f"{url.host} redirects to an invalid address", None) from None
    inwards = is_this_machine(target.host) and not is_this_machine(url.host)
    if origin(target) != origin(url) and (inwards or not any_origin):
        raise _refused(f"{url.host} redirects to another address", "check its address")


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL, which identify its server."""
    return url.scheme, url.host, url.port or _PORTS.get(url.scheme)


def _refused(message: str, hint: str | None) -> DonnaError:
    return DonnaError(Reason.EGRESS_REFUSED, message, hint=hint)


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)
