"""Privacy accounts in Python, in the file that the command line writes."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.isolation import isolate
from matrixdp.mechanisms.release import Release
from matrixdp.release import durable, keys, ledger, storage, tables
from matrixdp.release.outputs import Output

#: Name in dp_accounting of each neighbouring relation, and the sensitivity of a sum of records of
#: norm 1: replacing a record changes the sum by 2, zeroing one by 1.
_RELATIONS = {
    "replace": ("REPLACE_ONE", 2.0),
    "zero_out": ("REPLACE_SPECIAL", 1.0),
    "add_or_remove": ("ADD_OR_REMOVE_ONE", 1.0),
}

#: Of replaced records an accountant of dp_accounting understates events, and why.
_UNSUITABLE = {
    "RdpAccountant": "reads a GaussianDpEvent under REPLACE_ONE as if a record changed the sum "
    "by 1, and states about half of epsilon"
}


@isolate
class Account:
    """The privacy spent on one data set, within a total that is fixed from the start.

    Approximate releases compose in squares of mu, pure ones additively (see own_matrix.md).
    Spend first, then sample: ``spend`` charges a release, ``room`` says how many more like it fit,
    ``spent`` and ``left`` are epsilon, and ``releases`` lists the charges: mu each, or
    the epsilon of a pure one. `matrixdp account FILE --json` has an epsilon of each.

    A copy of an account is the account itself, so that clones of an estimator share it. It counts
    the releases of all processes and of the command line; a pickle of it opens the same file.

    An account notices that its file vanished, or was replaced by an older one, since it was opened
    or pickled. It cannot notice what was restored before.

    Args:
        path: the file of records, as ``people.csv``, whose account is that of the command line,
            wherever it lies; or, where records are an array, the account itself, as
            ``survey.privacy.json``.
        epsilon, delta: total of all releases; an existing file states its own.
        pure: part of epsilon that is reserved for pure releases beside others. Without it one pure
            release, as of ``private_bounds`` without ``delta``, can leave no room for any with one.
        sampler: part of delta for the error of safe noise; None takes a hundredth, 1e-6 at most.
        adjacency: neighbouring relation: ``replace``, ``zero_out`` or ``add_or_remove``.
        person: name of what identifies people, as the column of a file, where neighbours differ in
            all records of one person (queries with ``per_person``); empty where they differ in one
            record.

    Raises:
        InputError: the total is missing or out of range, or the file has another one. The file of
            records is not there, or has several names (hard links) and no account yet. The system
            is neither Linux nor macOS.

    >>> account = mdp.Account("survey.privacy.json", epsilon=2, delta=1e-5)
    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> release = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    >>> account.room(release)
    4
    >>> account.spend(release)
    >>> f"{account.spent:.1f} of {account.total['epsilon']:g}"
    '0.9 of 2'
    """

    def __init__(
        self,
        path: str | bytes | os.PathLike,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        pure: float = 0,
        sampler: float | None = None,
        adjacency: str = "replace",
        person: str | None = "",
    ) -> None:
        checks.choice(_RELATIONS, adjacency=adjacency)
        person = "" if person is None else str(person)
        relation = ledger.Relation(adjacency, person and checks.text(person=person))
        if not isinstance(path, str | bytes | os.PathLike):
            raise InputError(
                f"path is a {type(path).__name__}; give that of the file of records, or of the "
                "account"
            )
        # Links are followed anew each time, but not from another working directory.
        self._path = Path(os.fsdecode(path)).absolute()
        self._stated: Path | None = None
        self._parts: tuple[str, ...] = ()
        terms = None
        if epsilon is not None or delta is not None:
            spec = {"epsilon": epsilon, "delta": delta, "pure": pure}
            terms = ledger.total(spec if sampler is None else {**spec, "sampler": sampler})
        self._begin(terms, relation)

    @classmethod
    def of(cls, spec: Output) -> Self:
        """Return the account of a specification's file, a new one for its total if none exists.

        Without a total it is an account for this release alone.

        Raises:
            InputError: as the class.
        """
        # An account beside them has what was paid for, whatever became of the parts.
        if tables.suffix(spec.file) not in tables.SUFFIXES and not storage.has_account(spec.file):
            tables.check(spec.file, spec.parts)
        account = cls.__new__(cls)
        account._path, account._stated = spec.file.absolute(), spec.account
        account._parts = spec.parts
        account._begin(
            spec.total, spec.relation, alone={"epsilon": spec.epsilon, "delta": spec.delta}
        )
        return account

    def _begin(
        self,
        terms: Mapping[str, float] | None,
        relation: ledger.Relation,
        alone: dict[str, float] | None = None,
    ) -> None:
        """Read the account, or begin a new one for the total in ``terms`` or ``alone``."""
        durable.check()
        location = self._location()
        stored = storage.read(location.path)
        if stored is None and location.file:
            tables.check(location.file, self._parts)
        if stored is not None:
            ledger.check_terms(location.path, stored, terms, relation)
            self._first = {**stored, "releases": []}
        elif terms is not None or alone is not None:
            self._first = ledger.begin(terms or ledger.total(alone or {}), relation)
        else:
            raise InputError(
                f"{location.path} is not there; state the epsilon and delta of all releases "
                'together, of a release as total={"epsilon": 2, "delta": 1e-5}'
            )
        # The charges that the file had, by their place, and whether it was there. Neither ever
        # shrinks, so that threads need no lock, which a forked process could wait for forever.
        self._seen: dict[int, dict[str, Any]] = {}
        self._exists = stored is not None
        if stored is not None:
            self._see(stored["releases"])

    def _location(self) -> storage.AccountFile:
        """Return where the account lies now."""
        return storage.find(self._path, self._stated)

    @contextlib.contextmanager
    def open(self) -> Iterator[tuple[ledger.Account, storage.AccountFile]]:
        """Yield the account and its file, locked meanwhile.

        Raises:
            InputError: as :meth:`_read`; or the account's location changes just now.
        """
        location = self._location()
        with storage.lock(location.path) as holds:
            if self._location() != location:
                raise InputError(
                    f"the account of {self._path} was begun elsewhere just now; try again"
                )
            yield self._read(location.path), location._replace(holds=holds)

    def _read(self, path: Path) -> ledger.Account:
        """Return the account in a file.

        Raises:
            InputError: the file has vanished, its total has changed, or it lacks releases.
        """
        # Before the file is read: meanwhile another thread may see more charges.
        seen, exists, stored = self._seen.copy(), self._exists, storage.read(path)
        if stored is None and exists:
            raise InputError(
                f"{path} is no longer there; restore it, as a new one would forget what is spent"
            )
        if stored is None:
            return self._first
        ledger.check_terms(path, stored, *ledger.terms(self._first))
        charges = stored["releases"]
        if charges[: len(seen)] != [*seen.values()]:
            raise InputError(
                f"{path} lacks releases that it had; restore its newest copy, as this one forgets "
                "what is spent"
            )
        self._see(charges)
        return stored

    def _see(self, charges: list[dict[str, Any]]) -> None:
        """Note the charges of the file; a thread that was overtaken forgets no later ones."""
        self._exists = True
        for place in range(len(self._seen), len(charges)):
            self._seen.setdefault(place, charges[place])

    @property
    def path(self) -> Path:
        """Path of the account's file now, without links."""
        return self._location().path

    def state(self) -> ledger.Account:
        """Return the current account, read anew from its file; raises as :meth:`_read`."""
        return self._read(self.path)

    @property
    def total(self) -> dict[str, Any]:
        """The account's epsilon, delta, their reserved parts, neighbouring relation and person."""
        return dict(self._first["total"])

    @property
    def spent(self) -> float:
        """An upper bound of the epsilon of all releases so far, at the total's delta.

        Beside a release with a delta, the part that is reserved for pure ones counts in full, spent
        or not: it is open to no other release.
        """
        return ledger.total_epsilon(self.state())

    @property
    def left(self) -> float:
        """The epsilon of the largest release that still fits, at the total's usable delta."""
        account = self.state()
        return ledger.left(account, pure=not ledger.usable_delta(account["total"]))

    @property
    def releases(self) -> list[dict[str, Any]]:
        """The charges of all releases: mu, epsilon of a pure one, how many numbers, the date."""
        return [dict(release) for release in self.state()["releases"]]

    def room(self, release: Release) -> int:
        """Return how many further copies of a release fit, 1000 at most."""
        return ledger.room(self.state(), self.entry(release, ""))

    def spend(self, release: Release, label: str = "") -> None:
        """Charge a release; sample it only then.

        Raises:
            InputError: the release does not fit or has another neighbouring relation; nothing is
                charged.
        """
        charge = self.entry(release, label)
        with self.open() as (account, location):
            self.charge(self.admit(account, location, charge), location)

    def admit(
        self, account: ledger.Account, location: storage.AccountFile, charge: Mapping[str, Any]
    ) -> ledger.Account:
        """Return the account after a charge, within :meth:`open`, which marks its place.

        Raises:
            InputError: the charge does not fit.
        """
        after = ledger.add(account, charge)
        if excess := ledger.excess(after):
            larger = 0.0 if account["releases"] else ledger.delta_for_numbers(after)
            remedy = (
                f"give in all a delta of at least {larger:.2g}"
                if larger
                else "calibrate it for less, or release nothing more"
            )
            raise InputError(
                f"the account allows {ledger.phrase(account['total'])} in all, and with this "
                f"release {excess}; {remedy}"
            )
        if location.file:
            storage.mark(location.file, location.path)
        return after

    def charge(self, after: ledger.Account, location: storage.AccountFile) -> None:
        """Write what :meth:`admit` returns to the disk; only then may noise be drawn.

        Raises:
            InputError: the lock of :meth:`open` was deleted, and others may spend meanwhile.
        """
        storage.charge(location, after)
        self._see(after["releases"])

    def events(self) -> dict[str, Any]:
        """Return all charges as events of dp_accounting, which need not be installed.

        Returns:
            ``neighboring_relation``: name of the relation in dp_accounting. ``events``: one
            dictionary per release, with the class name ``event``, ``exact`` (false: an upper
            bound), and the arguments of the class. ``sampler_delta``: add it to the accountant's
            delta, for the error of safe noise. ``unsuitable``: the accountants that must not read
            these events, each with the reason; empty where all may.

        A noise multiplier refers to a sum of records of norm 1. Replacing a record changes the sum
        by 2, so that the multiplier is 2 / mu. Zeroing one changes it by 1: the multiplier is 1 /
        mu. The PLDAccountant reads them so. The RdpAccountant does not under ``replace``: it would
        understate the releases, and must not be used. Where the account protects people,
        dp_accounting's "one" stands for one person.
        """
        account = self.state()
        name, apart = _RELATIONS[account["total"]["neighbours"]]
        events = []
        for release in account["releases"]:
            if release["pure_epsilon"] and name == "REPLACE_ONE":
                # Randomized response dominates every pure mechanism.
                wrong = float(2 / (1 + np.exp(release["pure_epsilon"])))
                event = {"event": "RandomizedResponseDpEvent", "noise_parameter": wrong}
                events.append({**event, "num_buckets": 2, "exact": False})
            else:
                event = {"event": "GaussianDpEvent", "noise_multiplier": apart / release["mu"]}
                events.append({**event, "exact": release["pure_epsilon"] is None})
        return {
            "neighboring_relation": name,
            "events": events,
            "sampler_delta": ledger.sampler_delta(account),
            "unsuitable": dict(_UNSUITABLE) if name == "REPLACE_ONE" else {},
        }

    def entry(self, release: Release, label: str) -> dict[str, Any]:
        """Return the charge of a release, after checks of its noise and of its neighbours."""
        ledger.check(release)
        query, relation = release.query, ledger.terms(self._first)[1]
        if query.adjacency != relation.adjacency:
            raise InputError(
                f"the release protects under {query.adjacency!r}, and the account was begun for "
                f"{relation.adjacency!r}; state adjacency = {relation.adjacency!r}"
            )
        if bool(query.per_person) != bool(relation.person):
            units = "whole people", "single records"
            mine, other = units if query.per_person else units[::-1]
            remedy = (
                "give it an account that is begun with person, beside whose total this one counts, "
                "or leave per_person out"
                if query.per_person
                else "calibrate it with per_person"
            )
            raise InputError(
                f"the release protects {mine}, and the account was begun for {other}; {remedy}"
            )
        # Unlike any request of the command line: the answer of this one is stored nowhere.
        request = f"{ledger.PYTHON}{secrets.token_hex(8)}"
        name = keys.name_of(query)
        label = checks.text(label=label) if label else ""
        charge = {"date": ledger.today(), "query": name, "label": label}
        return {**charge, "request": request, "answer": "", **ledger.entry(release)}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the file of a pickled account again.

        Raises:
            InputError: as the class, or the account's file has another total.
        """
        vars(self).update(state)
        # It begins with no charges seen, in a dictionary of its own.
        self._begin(*ledger.terms(self._first))
        # A pickle must not forget what the account had seen.
        self._exists |= state["_exists"]
        self._seen |= state["_seen"]

    def __repr__(self) -> str:
        total = ledger.phrase(self._first["total"])
        return f"Account(epsilon {self.spent:.4g} spent of {total})"
