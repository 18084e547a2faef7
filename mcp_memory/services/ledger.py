"""The day's account: the costs of a language model in a day (UTC), over all processes and restarts.

Every request is recorded before it is sent, at its estimated size, in a transaction. The process that holds the store's
lock sees all earlier records, so two processes at once never exceed the budget. What it took is recorded afterwards as
a correction. Where that fails, or the process dies in between, the estimate counts as spent, which is rather too much
than too little. So a day exceeds its budget only as far as estimates are too low, and they tend to be too high.

If a request cannot be recorded, it is not sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Reservation, Spending, day_number
from mcp_memory.domain.times import DAY, Millis
from mcp_memory.errors import EngineSpent, EngineUnavailable, StoreError
from mcp_memory.language import iso
from mcp_memory.ports import Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DayLedger:
    """The account of all processes on a store; implements `ports.Ledger`.

    A day may cost so many uncached input ``tokens``; 0 for no bound.
    """

    store: Store
    tokens: int
    clock: Callable[[], Millis]

    async def reserve(self, tokens: int) -> Reservation:
        """See `ports.Ledger`."""
        reserved = Reservation(day_number(self.clock()), Spending(1, tokens))
        try:
            async with self.store.writing() as transaction:
                spent = transaction.view.spent(reserved.day).input_tokens
                if self.tokens and spent + tokens > self.tokens:
                    raise EngineSpent(
                        f"the budget of the day is spent ({spent:,} of {self.tokens:,} input tokens); "
                        f"the next begins on {iso.show((reserved.day + 1) * DAY)} at 00:00 UTC"
                    )
                await transaction.commit(Batch(outlays=(reserved,)))
        except StoreError as error:
            raise EngineUnavailable(f"what it would cost could not be recorded ({str(error).rstrip('.')})") from None
        return reserved

    async def settle(self, reserved: Reservation, took: Spending) -> None:
        """See `ports.Ledger`."""
        if took != reserved.what:
            try:
                async with self.store.writing() as transaction:
                    await transaction.commit(Batch(outlays=(Reservation(reserved.day, took - reserved.what),)))
            except StoreError as error:
                _log.warning("What a request to Claude took could not be recorded, so its estimate counts: %s", error)
