"""The day's account: what asking a language model costs in a day of UTC, over all processes and restarts.

Every request is entered before it is sent, at its estimated size, in a transaction: whoever holds the store's lock sees
what all others have entered, so that two processes at once never go beyond the budget. What the reply says it took is
entered afterwards as a correction, with the next request or once nobody calls. A process that dies in between leaves
the estimate, which counts as spent: too much rather than too little. So what a day costs goes beyond its budget only by
what the estimates, which are rather too high, fall short of.

Where nothing can be entered, nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.spending import Reservation, Spending, day_of, shown_day
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineSpent, EngineUnavailable, StoreError
from mcp_memory.ports import Store
from mcp_memory.view.view import View


class DayLedger:
    """The account of this process; fulfils `ports.Ledger`.

    Args:
        store: where everything is entered.
        tokens: uncached input tokens that a day may cost; 0 for no bound.
        clock: milliseconds since 1970, UTC.
        later: called where there is something that `enter` has to do, some time.
    """

    def __init__(self, store: Store, tokens: int, clock: Callable[[], Millis], later: Callable[[], None]) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._later = later
        self._owed: dict[int, Spending] = {}  # corrections that are not entered yet, by their days
        self._entering = anyio.Lock()

    async def reserve(self, tokens: int) -> Reservation:
        """See `ports.Ledger`."""
        reserved = Reservation(day_of(self._clock()), Spending(1, tokens))
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
                self._entered(reserved.day, owed)
        except StoreError as error:
            raise EngineUnavailable(f"what it would cost could not be recorded ({str(error).rstrip('.')})") from None
        return reserved

    def settle(self, reserved: Reservation, took: Spending) -> None:
        """See `ports.Ledger`."""
        if took != reserved.what:
            self._owed[reserved.day] = self._owed.get(reserved.day, Spending()) + took - reserved.what
            self._later()

    async def enter(self) -> None:
        """Enter the corrections.

        Raises:
            StoreError: it could not be done; they are entered the next time.
        """
        async with self._entering:
            for day, owed in tuple(self._owed.items()):
                async with self._store.writing() as transaction:
                    await transaction.commit(Batch(outlays=(Reservation(day, owed),)))
                    self._entered(day, owed)

    def spent(self, view: View, day: int) -> Spending:
        """Return what a day has cost as far as a view shows, with what this process has not entered yet."""
        return view.spent(day) + self._owed.get(day, Spending())

    def _entered(self, day: int, owed: Spending) -> None:
        """Take what was entered off what is owed, to which more may have been added meanwhile."""
        left = self._owed.pop(day, Spending()) - owed
        if left != Spending():
            self._owed[day] = left
