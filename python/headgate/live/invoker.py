"""The user who called `sudo headgate link`: COMMAND and the server run as this user, not as root (sudo(8))."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from headgate.errors import UsageError

#: Users and groups have numbers of 32 bits, and the highest means none (setresuid(2)).
NUMBERS = range((1 << 32) - 1)


class CommandUser(NamedTuple):
    """A user: its number, its group's, those of all its groups, and variables of its environment."""

    uid: int
    gid: int
    groups: list[int]
    variables: list[tuple[str, str]]


def invoker(environment: Mapping[str, str]) -> CommandUser | None:
    """The user who called this process by sudo; None if it is not root's, or nobody but root called it.

    Raises `UsageError` if the variables of sudo are no numbers of a user and a group.
    """
    if os.geteuid() != 0 or "SUDO_UID" not in environment:
        return None
    uid, gid = (_number(name, environment) for name in ("SUDO_UID", "SUDO_GID"))
    if uid == 0:
        return None
    name, home = environment.get("SUDO_USER", str(uid)), "/"
    with suppress(KeyError):  # a user of another machine's directory may be unknown here
        entry = pwd.getpwuid(uid)
        name, home = entry.pw_name, entry.pw_dir
    groups = os.getgrouplist(name, gid)
    return CommandUser(uid, gid, groups, [("HOME", home), ("USER", name), ("LOGNAME", name)])


def _number(name: str, environment: Mapping[str, str]) -> int:
    text = environment.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) in NUMBERS):
        raise UsageError(f"{name}={text}: expected a number, as sudo sets it; to run COMMAND as root, give --as-root")
    return int(text)
