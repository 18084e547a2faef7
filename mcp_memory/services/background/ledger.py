"""The day's account: the costs of a language model in a day (UTC), over all processes and restarts.

Every request is recorded before it is sent, at its estimated size, in a transaction. The process that holds the store's
lock sees all earlier records, so two processes at once never exceed the budget. The actual costs are recorded
afterwards as a correction, with the next request or when no call is running. If a process dies in between, the estimate
counts as spent, which is rather too much than too little. So a day exceeds its budget only as far as estimates are too
low, and they tend to be too high.

If a request cannot be recorded, it is not sent.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Reservation, Spending, day_number, shown_day
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineSpent, EngineUnavailable, StoreError
from mcp_memory.ports import Store
from mcp_memory.view.view import View


class DayLedger:
    """The account of this process; implements `ports.Ledger`.

    Args:
        store: the store where requests and corrections are recorded.
        tokens: uncached input tokens that a day may cost; 0 for no bound.
        clock: milliseconds since 1970, UTC.
        later: called when there are corrections for `enter` to record.
    """

    def __init__(self, store: Store, tokens: int, clock: Callable[[], Millis], later: Callable[[], None]) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._later = later
        self._owed: dict[int, Spending] = {}  # corrections that are not recorded yet, by day
        self._entering = anyio.Lock()

    async def reserve(self, tokens: int) -> Reservation:
        """See `ports.Ledger`."""
        reserved = Reservation(day_number(self._clock()), Spending(1, tokens))
        try:
            async with self._entering, self._store.writing() as transaction:
                spent = self.spent(transaction.view, reserved.day).input_tokens
                if self._tokens and spent + tokens > self._tokens:
                    raise EngineSpent(
                        f"the budget of the day is spent ({spent:,} of {self._tokens:,} input tokens); "
                        f"the next begins on {shown_day(reserved.day + 1)} at 00:00 UTC"
                    )
                owed = self._owed.get(reserved.day, Spending())
                await transaction.commit(Batch(outlays=(Reservation(reserved.day, owed + reserved.what),)))
                self._without_recorded(reserved.day, owed)
        except StoreError as error:
            raise EngineUnavailable(f"what it would cost could not be recorded ({str(error).rstrip('.')})") from None
        return reserved

    def settle(self, reserved: Reservation, took: Spending) -> None:
        """See `ports.Ledger`."""
        if took != reserved.what:
            self._owed[reserved.day] = self._owed.get(reserved.day, Spending()) + took - reserved.what
            self._later()

    async def enter(self) -> None:
        """Record the corrections.

        Raises:
            StoreError: they could not be recorded; the next call tries again.
        """
        async with self._entering:
            for day, owed in tuple(self._owed.items()):
                async with self._store.writing() as transaction:
                    await transaction.commit(Batch(outlays=(Reservation(day, owed),)))
                    self._without_recorded(day, owed)

    def spent(self, view: View, day: int) -> Spending:
        """Return the costs of a day by a view, with the corrections that this process has not recorded yet."""
        return view.spent(day) + self._owed.get(day, Spending())

    def _without_recorded(self, day: int, owed: Spending) -> None:
        """Subtract the recorded corrections from those to record; more may have been added meanwhile."""
        left = self._owed.pop(day, Spending()) - owed
        if left != Spending():
            self._owed[day] = left
