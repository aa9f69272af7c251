"""Progress markers: the code that prints one, and reading them from the output of a run.

Marker lines carry the token of their run, so an ordinary print is no marker. They are no proof of progress: a script
can read its own source, find the token and print every marker. Rewards bound the credit of markers for this reason.
"""

import re
from secrets import token_hex

from sandmill.errors import InputError, Problem, shorten
from sandmill.models.rollout import Marker

_TOKEN = re.compile(r"[0-9a-zA-Z]{8,64}")


def new_token() -> str:
    """Return a random token. Make one for each run."""
    return token_hex(8)


def marker_code(marker: Marker, token: str) -> str:
    """Return a Python expression that prints a marker line, once in each process.

    The line lists all markers that the process has reached, because the sandbox keeps the end of long output only. The
    expression uses no name of the script and raises no exceptions. It writes to descriptor 1 at once, so that
    `read_markers` can restore the output exactly, also between the parts of a buffered line.
    """
    key = key_of(token)
    body = (
        f"import os,sys\\ns=sys.__dict__\\ns['{key}']=s.get('{key}','')+' {marker}'\\n"
        f"try:\\n n=sys.__stdout__.fileno()\\n t=os.fstat(n)[:3]\\n"
        f" if s.setdefault('{key}t',t)==t:os.write(n,('<{key}'+s['{key}']+'>\\\\n').encode())\\nexcept Exception:pass"
    )
    is_known = f"' {marker}' in __import__('sys').__dict__.get('{key}','')"
    return f"""{is_known} or __import__('builtins').exec("{body}",{{}})"""


def read_markers(stdout: str, token: str) -> tuple[tuple[Marker, ...], str]:
    """Return the markers in the output of a run, and the output without their lines.

    Each marker occurs once, in the order of `Marker`. Markers are lost if a script prints more than the sandbox keeps
    after the last one.
    """
    if key_of(token) not in stdout:
        # Each token has a pattern of its own, and compiling it takes longer than a short output is worth.
        return (), stdout
    line = re.compile(rf"<{key_of(token)}((?: [a-z_]{{1,32}})*)>\n")
    found = {name for names in line.findall(stdout) for name in names.split()}
    return tuple(marker for marker in Marker if marker.value in found), line.sub("", stdout)


def without_marker_code(stderr: str, token: str) -> str:
    """Return standard error without the marker expressions that tracebacks quote with the lines of the script."""
    if key_of(token) not in stderr:
        # Compiling the long pattern takes 30 ms, more than many scripts, and each token has its own.
        return stderr
    code = "(?:" + "|".join(re.escape(marker_code(marker, token)) for marker in Marker) + ")"
    pieces = re.split(rf"(?:, {code})+(\)\[0\])?", stderr)
    for place in range(1, len(pieces), 2):
        # `return x` was written as `return (x, code)[0]`.
        text = pieces[place - 1]
        opening = text.find("return (", text.rfind("\n") + 1)
        if pieces[place] and opening >= 0:
            pieces[place - 1 : place + 1] = text[:opening] + text[opening:].replace("(", "", 1), ""
    return re.sub(rf"; {code}|{code}; ", "", "".join(piece or "" for piece in pieces))


def key_of(token: str) -> str:
    """Return the word that begins the marker lines of a token.

    Raises:
        InputError: if the token cannot be part of Python code.
    """
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        problem = Problem("token", shorten(repr(token)), "8 to 64 letters and digits", "new_token() makes one.")
        raise InputError("markers", [problem], "")
    return f"sandmill_{token}"
