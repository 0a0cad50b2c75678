"""As whom PostgreSQL's programs run. An ordinary user runs them directly; PostgreSQL refuses root, so root runs them
in a user namespace in which root is called nobody, or, where the kernel forbids that, as the real nobody."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome

_NAMESPACE = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"]


@dataclass(frozen=True)
class PostgresAccount:
    prefix: tuple[str, ...] = ()  # goes before every command
    user: int | None = None  # None: the user of this process
    group: int | None = None

    def run(
        self, command: list[str], *, folder: Path, environment: Mapping[str, str], output: IO[bytes], timeout: float
    ) -> int:
        """The exit status. No pipes: a server started by the command would keep them open."""
        return subprocess.run(
            [*self.prefix, *command],
            cwd=folder,
            env=dict(environment),
            user=self.user,
            group=self.group,
            extra_groups=None if self.user is None else [],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        ).returncode


def choose_account(home: OrchaHome, binaries: Path) -> PostgresAccount:
    """The first way that works here. Root gives the database's folders to whom it chose."""
    if os.geteuid() != 0:
        return PostgresAccount()
    if _can_use_namespace():
        _hand_over(home, 0, 0)
        return PostgresAccount(prefix=tuple(_NAMESPACE))
    nobody = pwd.getpwnam("nobody")
    account = PostgresAccount(user=nobody.pw_uid, group=nobody.pw_gid)
    home.root.chmod(home.root.stat().st_mode | 0o011)  # to pass through, not to read
    _hand_over(home, nobody.pw_uid, nobody.pw_gid)
    _refuse_unreachable(account, home.postgres_data.parent, binaries)
    return account


def _can_use_namespace() -> bool:
    if shutil.which(_NAMESPACE[0]) is None:
        return False
    probe = subprocess.run([*_NAMESPACE, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return probe.returncode == 0


def _hand_over(home: OrchaHome, user: int, group: int) -> None:
    """The home may have been used the other way before. The top comes last, because it says whether all is done."""
    for top in (home.postgres_socket, home.postgres_data.parent):
        if top.stat().st_uid != user:
            for path in [*top.rglob("*"), top]:
                os.chown(path, user, group, follow_symlinks=False)


def _refuse_unreachable(account: PostgresAccount, folder: Path, binaries: Path) -> None:
    for path, question in ((folder, "-w"), (binaries / "postgres", "-x")):
        probe = subprocess.run(
            ["test", question, str(path)],  # noqa: S607
            cwd="/",
            user=account.user,
            group=account.group,
            extra_groups=[],
            check=False,
        )
        if probe.returncode != 0:
            raise ConfigurationError(
                f"PostgreSQL does not run as root, and the user nobody cannot reach {path}.",
                remedy="Run Orcha as an ordinary user, or put the checkout and ORCHA_HOME where others may enter, "
                "for example below /srv.",
            )
