"""Classify failures of language model calls, with messages that contain neither the prompt nor the key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from donna_tui.config.routes import Route
from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError, Reason

OK = "ok"
"""The outcome of a call with a valid answer."""

CANCELLED = "cancelled"
"""The outcome of a cancelled call."""


class FailureKind(StrEnum):
    NOT_CONFIGURED = "not_configured"
    AUTH = "auth"
    REJECTED = "rejected"
    """The server does not know the model or the URL, or does not accept such a request."""
    OVER_DAY_LIMIT = "over_day_limit"
    EGRESS_REFUSED = "egress_refused"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSED = "refused"
    EMPTY = "empty"
    INVALID = "invalid"


def address_of(route: Route) -> str:
    """Return host and port of a model's server, as in `localhost:11434`, without a default port."""
    parts = urlsplit(route.server)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    host = parts.hostname or ""
    return host if parts.port in (None, usual) else f"{host}:{parts.port}"


def kind_of(error: DonnaError) -> FailureKind:
    """Classify an error of `safety.egress`: a refused request, a redirect, or an answer that is too large."""
    return FailureKind.TOO_LARGE if error.reason is Reason.TOO_LARGE else FailureKind.EGRESS_REFUSED


_WORDS: dict[FailureKind, tuple[str, str | None]] = {
    FailureKind.NOT_CONFIGURED: ("no language model is configured for this", "name one in models.yaml"),
    FailureKind.AUTH: ("the model server at {host} refused the key{status}", "check api_key_env in models.yaml"),
    FailureKind.REJECTED: (
        "the model server at {host} rejected the request for model “{model}”{status}",
        "check model and base_url in models.yaml; donna model test tries them",
    ),
    FailureKind.OVER_DAY_LIMIT: (
        "this call could exceed what is left of today's limit",
        "raise day_limit_usd in models.yaml, or wait until tomorrow",
    ),
    FailureKind.EGRESS_REFUSED: (
        "the prompt must not be sent to {host}",
        "private notes are sent only to a model on this machine",
    ),
    FailureKind.UNREACHABLE: ("no model server answers at {host}", "check that it is running and that you are online"),
    FailureKind.RATE_LIMITED: ("the model server at {host} is over its rate limit{status}", "try again later"),
    FailureKind.UNAVAILABLE: ("the model server at {host} returned an error{status}", "try again later"),
    FailureKind.TIMEOUT: (
        "the model server at {host} did not answer in time",
        "raise deadline_seconds in models.yaml",
    ),
    FailureKind.TOO_LARGE: ("the prompt for {host} or its answer is too large", None),
    FailureKind.TRUNCATED: ("the answer of {host} was cut off", "raise max_output_tokens in models.yaml"),
    FailureKind.FILTERED: ("the content filter of {host} blocked the answer", None),
    FailureKind.REFUSED: ("the model declined to answer", None),
    FailureKind.EMPTY: ("the answer of {host} is empty", None),
    FailureKind.INVALID: (
        "the answer of {host} does not match the schema",
        "check dialect and base_url in models.yaml; if they are right, another model may do better",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionMetadata:
    """The usage of a call. `outcome` is `ok` or the kind of the failure; the cost is in US dollars.

    Token counts are those of the server, or an upper bound if it gave none and may have charged.
    """

    alias: str
    model: str
    latency_ms: float
    tokens_in: int
    tokens_out: int
    cost_usd: float
    outcome: str


class ModelCallError(DonnaError):
    """A language model gave no usable answer.

    `host` is that of the server with its port, `status` the HTTP status of its answer. `metadata` is None if no request
    was sent. `cause` is the error of `safety.egress`.
    """

    def __init__(
        self,
        kind: FailureKind,
        host: str = "",
        *,
        metadata: CompletionMetadata | None = None,
        model: str = "",
        status: int | None = None,
        message: str = "",
        hint: str | None = None,
        cause: DonnaError | None = None,
    ) -> None:
        words, usual_hint = (cause.message, cause.hint) if cause else _WORDS[kind]
        if kind is FailureKind.REJECTED and status == 404:
            words = "the model server at {host} has no model “{model}”{status}"
        refused = kind is FailureKind.EGRESS_REFUSED
        reason = Reason.EGRESS_REFUSED if refused else Reason.MODEL_CALL_FAILED
        filled = {"{host}": host, "{model}": clean_line(model), "{status}": f" ({status})" if status else ""}
        for placeholder, value in filled.items():
            words = words.replace(placeholder, value)
        super().__init__(reason, message or words, hint=hint or usual_hint)
        self.kind, self.metadata = kind, metadata


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of a call; None if the server reported none, or an invalid one."""

    tokens_in: int | None = None
    tokens_out: int | None = None


class CallError(Exception):
    """The failure of an attempt, for use within this package.

    `charged` means that the server may charge for it; `retries` is the highest number of retries.
    """

    def __init__(
        self,
        kind: FailureKind,
        *,
        charged: bool,
        usage: Usage | None = None,
        retries: int = 0,
        retry_after: float | None = None,
        status: int | None = None,
        cause: DonnaError | None = None,
    ) -> None:
        super().__init__(kind.value)
        self.status, self.retries = status, retries
        self.kind, self.charged, self.usage = kind, charged, usage or Usage()
        self.retry_after, self.cause = retry_after, cause
