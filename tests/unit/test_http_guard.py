"""Connections, host names and log lines of the local servers, without sockets."""

from __future__ import annotations

import pytest

from donna_tui.http.guard import LOG_SECONDS, ConnectionLimiter, Limits, OncePerMinute, TrackedConnection

LIMITS = Limits(connections=6, untrusted=4, per_address=2, head_seconds=10.0)


class Door:
    """A limiter with a clock, and the names of the connections that it closed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.closed: list[str] = []
        self.limiter = ConnectionLimiter(LIMITS, lambda: self.now)

    def enter(self, name: str, address: str) -> TrackedConnection:
        self.now += 1.0
        return self.limiter.enter(address, lambda: self.closed.append(name))


def test_longest_idle_connection_of_an_address_is_closed_first() -> None:
    here = Door()
    for name in "abc":
        here.enter(name, "10.0.0.1")
    assert here.closed == ["a"]
    for number in range(3):
        here.enter(f"v6-{number}", f"2001:db8::{number}")
    assert here.closed == ["a", "v6-0"]
    here.enter("other", "10.0.0.2")
    assert here.closed == ["a", "v6-0", "b"]
    assert len(here.limiter) == 4


def test_clients_over_ipv4_are_told_apart_on_a_socket_for_both_versions() -> None:
    here = Door()
    for number in range(4):
        here.enter(f"v4-{number}", f"::ffff:10.0.0.{number}")
    assert not here.closed


def test_authenticated_connections_are_not_evicted() -> None:
    here = Door()
    known = [here.enter(f"known{number}", f"10.0.0.{number}") for number in range(5)]
    for each in known:
        each.trusted = True
    assert here.closed == ["known0"]  # before it was trusted, it exceeded the limit
    here.enter("known5", "10.0.0.5").trusted = True
    here.enter("known6", "10.0.0.6").trusted = True
    assert here.closed == ["known0"]
    with here.limiter.answering(known[1]):
        here.enter("known7", "10.0.0.7").trusted = True
    assert here.closed == ["known0", "known2"]
    here.now += 1_000
    here.limiter.sweep()
    assert here.closed == ["known0", "known2"]


def test_a_connection_whose_secret_is_being_checked_is_not_the_first_to_go() -> None:
    here = Door()
    first = here.enter("first", "10.0.0.1")
    with here.limiter.answering(first):
        here.enter("second", "10.0.0.1")
        here.enter("third", "10.0.0.1")
    assert here.closed == ["second"]


def test_unauthenticated_connection_is_closed_after_a_timeout() -> None:
    here = Door()
    connection = here.enter("a", "10.0.0.1")
    here.limiter.leave(here.enter("b", "10.0.0.1"))
    here.limiter.sweep()
    here.now += 20
    here.limiter.sweep()
    here.limiter.leave(connection)
    assert here.closed == ["a"]
    assert len(here.limiter) == 0


@pytest.mark.slow
def test_repeated_log_lines_are_limited_to_one_a_minute() -> None:
    now, told = [0.0], list[str]()
    say = OncePerMinute(told.append, lambda: now[0])
    for port in range(1_000):
        say(f"client {port} is lost")
    say("something else")
    assert told == ["client 0 is lost", "something else"]
    now[0] = LOG_SECONDS
    say("client 7 is lost")
    assert told[2:] == ["client 7 is lost (and 999 times more)"]
    for number in range(10_000):
        say("x" * number)
    assert len(told) < 200
