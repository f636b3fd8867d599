"""Classifiers behind an HTTP service."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request

from countergraph.errors import BlackBoxError, InputError, check_integers
from countergraph.graphs.pairs import Label, Values
from countergraph.oracle.json_lines import decode, encode


class Endpoint:
    """Query an HTTP service: each batch is one POST request with JSON lines; the response contains JSON lines.

    See `countergraph.oracle.json_lines` for the format of the lines.

    Parameters
    ----------
    url
        The address of the service, http or https.
    timeout
        The time limit of one request, in seconds.
    retries
        How often a request is repeated if the service cannot be reached, does not respond in time, or fails (status
        5xx).
    headers
        HTTP headers of each request, for example with an access token.
    """

    def __init__(
        self, url: str, *, timeout: float = 60.0, retries: int = 2, headers: dict[str, str] | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(f"url must start with http:// or https://, not {url!r}")
        check_integers(retries=(retries, 0))
        self.url = url
        self.timeout = timeout
        self.retries = retries
        self.headers = {"Content-Type": "application/x-ndjson", **(headers or {})}

    def predict(self, edges: Values) -> list[Label]:
        """Return the label of each graph (graphs, pairs)."""
        body = encode(edges).encode()
        for attempt in range(self.retries + 1):
            try:
                return decode(self._post(body).split("\n"), len(edges), f"the service {self.url}")
            except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                final = isinstance(error, urllib.error.HTTPError) and error.code < 500
                if final or attempt == self.retries:
                    raise BlackBoxError(
                        f"the service {self.url} {_reason(error, self.timeout)} (attempts: {attempt + 1})"
                    ) from error
                time.sleep(0.1 * 2**attempt)
        raise AssertionError("unreachable")

    def _post(self, body: bytes) -> str:
        request = urllib.request.Request(self.url, body, self.headers, method="POST")
        deadline, parts = time.monotonic() + self.timeout, []
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            while part := response.read1(65536):
                parts.append(part)
                if time.monotonic() > deadline:  # the time limit of urlopen is per read, not for the whole response
                    raise TimeoutError
            if response.length:
                raise http.client.IncompleteRead(b"".join(parts), response.length)
        return b"".join(parts).decode(errors="replace")


def _reason(error: Exception, timeout: float) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"returned status {error.code} ({error.reason})"
    if isinstance(error, http.client.HTTPException):
        return f"sent an incomplete response ({type(error).__name__})"
    reason = getattr(error, "reason", error)
    if isinstance(error, TimeoutError) or isinstance(reason, TimeoutError):
        return f"did not answer within {timeout:g} s"
    return f"cannot be reached ({reason})"
