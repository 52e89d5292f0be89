"""Purchase: what the facts of a schema cost, where a draft found them with noise."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Purchase(BaseModel):
    """What a draft by budget cost. The ledger has it under the same id."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    delta: Annotated[float, Field(gt=0, lt=1)]
    id: str
    """Of the spend in the ledger."""
    seen_from: Annotated[int, Field(ge=1)]
    """About how many rows must share a value for it to be seen."""

    def sentence(self) -> str:
        """What was paid, for whoever sees a release with these facts."""
        return (
            f"Facts of the schema were found with noise before the release, at (ε = {self.epsilon:g}, δ = {self.delta:g}) "
            "of their own, which comes on top of the release's."
        )
