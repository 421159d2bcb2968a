"""Recognise host names and addresses of this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

THIS_MACHINE = "localhost"
"""The only name that may stand for this machine; any other may lead elsewhere tomorrow."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def address_of(text: str) -> Address | None:
    """An IP address, None for a name; one of version 4 that is dressed as version 6 becomes itself again."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_this_machine(host: str) -> bool:
    """Whether a host is `localhost` or a loopback address."""
    address = address_of(host)
    return address.is_loopback if address else host == THIS_MACHINE


def host_of(url: str) -> str:
    """The host in the address of a server; empty if there is none."""
    return urlsplit(url).hostname or ""
