"""What differs between systems: locks of files, who owns them, how many may be open.

POSIX systems are tested. The branches for Windows are written by its documentation and have not run yet.
"""

from __future__ import annotations

import getpass
import os
import sys


def lock_exclusively(descriptor: int) -> None:
    """Lock an open file until it is closed; BlockingIOError if another process has it."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(*error.args) from None
    else:
        import fcntl  # noqa: PLC0415

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def user_name() -> str:
    """Return what tells this user from the others of the machine."""
    if sys.platform == "win32":
        return getpass.getuser()
    return str(os.getuid())


def fault_of_owner(status: os.stat_result) -> str | None:
    """Return why others could write to a folder, None if they cannot."""
    if sys.platform == "win32":  # a user's temporary folder is the user's own
        return None
    if status.st_uid != os.getuid():
        return "belongs to another user"
    open_to = status.st_mode & 0o777
    return f"has mode {open_to:o}" if open_to & 0o077 else None


def allow_open_files(number: int) -> int:
    """Raise the process's limit of open files, as far as it may; return it."""
    if sys.platform == "win32":  # sockets are not counted among files
        return number
    import resource  # noqa: PLC0415

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        soft = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
