"""The attempts of a search over choices, the best of them, and what bounds rule out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tiger.planning.attempt import Attempt, Candidate
from tiger.planning.choices import Choice, Family
from tiger.planning.pruning import PruningCounters, Reason
from tiger.run.incumbent import Incumbent
from tiger.run.progress import Progress
from tiger.run.stage import Detail
from tiger.training.costs.tolerances import MET


@dataclass(kw_only=True)
class PlanIncumbent(Incumbent[Attempt | None]):
    """Hold the best attempt, None before a plan fits, its seconds, and what is known of all choices.

    `candidates` are the choices that bounds leave, `attempts` those of which plans were simulated, `choices` how many
    there are in all, `roomy` the ways to hold layers for which there is room, by degrees, and `usual` is the plan that
    people write by hand. Activations go to the host where it `offloads`.
    """

    usual: Attempt | None = None
    candidates: list[Candidate] = field(default_factory=list)
    attempts: dict[Choice, Attempt] = field(default_factory=dict)
    pruned: PruningCounters = field(default_factory=PruningCounters)
    roomy: dict[Choice, list[Family]] = field(default_factory=dict)
    choices: int = 0
    offloads: bool = False

    def keep(self, attempt: Attempt) -> None:
        """Keep the attempt of a choice, which is the best if its seconds are lower.

        A quicker plan by the same choice that is known already stays.
        """
        known = self.attempts.get(attempt.choice)
        if known is not None and known.iteration_s < attempt.iteration_s:
            own_s = attempt.iteration_s
            attempt = replace(
                attempt, plan=known.plan, iteration_s=known.iteration_s, placed=known.placed, known_s=own_s
            )
        if known is not None and known.near is not None:
            attempt = replace(attempt, near=known.near, polls=known.polls)
        self.attempts[attempt.choice] = attempt
        if attempt.roomy:
            choice = attempt.choice
            self.roomy.setdefault(replace(choice, family=choice.family.degrees), []).append(choice.family)
        self.take(attempt, attempt.iteration_s)

    def add(self, candidate: Candidate) -> None:
        """Add a candidate, unless its bound rules it out."""
        if not self.rules_out(candidate):
            self.candidates.append(candidate)

    def rules_out(self, candidate: Candidate) -> bool:
        """Return whether the bound of a candidate shows that it is no better than the best, and count it then."""
        if not self.is_too_slow(candidate.bound_s):
            return False
        self.rule_out(candidate.bound, candidate.choice, candidate.bound_s)
        return True

    def rule_out(self, reason: Reason, choice: Choice, least: float) -> None:
        """Count a choice that a bound rules out, except for the usual one, whose plan is known to be as good as any."""
        attempt = self.attempts.get(choice)
        if attempt is None:
            self.pruned.add(reason, choice, least)
        else:
            candidate = Candidate(choice=choice, bound_s=min(least, attempt.iteration_s), bound=attempt.candidate.bound)
            self.attempts[choice] = replace(attempt, candidate=candidate)

    def has_lighter(self, choice: Choice) -> bool:
        """Return whether there is room for a choice that differs by sharing out or computing again less.

        Where activations go to the host, those that are computed again are not sent, so that less may take longer.
        """
        if self.offloads:
            return False
        family = choice.family
        alike = self.roomy.get(replace(choice, family=family.degrees), ())
        return any(other.is_lighter(family) for other in alike)

    def is_too_slow(self, bound_s: float) -> bool:
        """Return whether a lower bound on the seconds is no less than the best."""
        return bound_s >= self.value * (1 - MET)

    def report_step(self, stage: str, fraction: float, message: str = "") -> None:
        """Send a message of how far a stage is."""
        self.watch(replace(self.progress(stage, fraction), message=message))

    def progress(self, name: str, fraction: float | None) -> Progress:
        """Return the message that a stage begins or how far it is, without a bound, for this is known at the end."""
        return replace(super().progress(name, fraction), bound=None)

    def record(self, name: str, seconds: float, detail: Mapping[str, Detail]) -> None:
        """Add a stage with the numbers of choices that have been simulated and placed."""
        placed = sum(attempt.placed is not None for attempt in self.attempts.values())
        super().record(name, seconds, {**detail, "simulated": len(self.attempts), "placed": placed})
