"""Recognise host names and addresses of this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

THIS_MACHINE = "localhost"
"""The only host name accepted for this machine; any other may resolve elsewhere later."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def address_of(text: str) -> Address | None:
    """Parse an IP address, or return None for a name. An IPv4-mapped IPv6 address is converted to IPv4."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_this_machine(host: str) -> bool:
    address = address_of(host)
    return address.is_loopback if address else host == THIS_MACHINE


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""
