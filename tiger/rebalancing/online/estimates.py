"""Estimates of the costs of layers and devices from measured stages."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.rebalancing.online.costs import DeviceCuts, LayerCosts

# Layers below this share of all seconds, such as 0 FLOPs, are of unknown cost.
SLIGHT = 1e-5
# The smallest share of the longest stage that a measured time is taken for, so that its logarithm is finite.
LEAST_TIME = 1e-6
# The smallest factor by which a draw changes a layer or a slowdown: to first order it could be negative.
LEAST_FACTOR = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateParams:
    """Set priors, and which measurements count.

    Standard deviations are of logarithms: of guessed costs of layers, those of layers of unknown cost, of slowdowns of
    devices, and of the scale. A measurement surprises that is off by more than `surprise` standard deviations. Of one
    stage the `recent` last measurements are averaged, and the `kept` last stages fitted by at most `rounds` steps of
    Gauss-Newton, none longer than `stride`, until the longest is below `close`. Short stages are measured less well: an
    error of `grain` times the longest one is added.
    """

    layer_spread: float = 0.4
    unknown_spread: float = 3.0
    device_spread: float = 0.7
    scale_spread: float = 1.0
    surprise: float = 4.0
    recent: int = 8
    kept: int = 160
    rounds: int = 8
    close: float = 1e-4
    stride: float = 1.0
    grain: float = 0.01


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold the seconds of a run of layers at a slowdown: mean of the logarithm, its error, and their number."""

    run: tuple[int, int]
    slowdown: int
    message_s: float
    log_s: float
    error: float
    count: int = 1

    @property
    def key(self) -> tuple[tuple[int, int], int]:
        """Return the key that readings of the same stage share."""
        return self.run, self.slowdown


class Estimates:
    r"""Estimate costs of L layers on n devices from measured stages.

    .. math:: \log t_s = \log\Bigl(e^{g + a_d} \sum_{l \in s} e^{u_l} + c_s\Bigr) + \varepsilon

    for stage s on device d with messages c: normal priors around guesses on logarithms of layers' costs u, of
    slowdowns a, which multiply them, and of a scale g, which the first measurement sets; the most probable values by
    Gauss-Newton. A device that surprises twice in a row begins a new slowdown, and earlier measurements still count for
    layers. Values are u, g, a, and each device's slowdown before. O(readings x L^2) a measurement.
    """

    def __init__(
        self, layer_s: FloatArray, slowdown: FloatArray, noise: float, params: EstimateParams = EstimateParams()
    ) -> None:
        self._size, self._count, self._noise, self._params = len(layer_s), len(slowdown), noise, params
        least = SLIGHT * float(layer_s.sum()) or 1.0
        self._guess = np.concatenate([np.log(np.maximum(layer_s, least)), [0.0], np.log(slowdown), np.log(slowdown)])
        layers = np.where(layer_s >= least, params.layer_spread, params.unknown_spread)
        self._spread = np.concatenate([layers, [params.scale_spread], np.full(2 * self._count, params.device_spread)])
        self._value = self._guess.copy()
        self._root: FloatArray = np.diag(1 / self._spread)
        self._readings: dict[tuple[tuple[int, int], int], Reading] = {}
        self._doubted: set[int] = set()

    @property
    def costs(self) -> LayerCosts:
        """Return the most probable costs."""
        values = np.exp(self._value)
        return LayerCosts.of(
            values[: self._size] * values[self._size], values[self._slowdown(0) : self._slowdown(self._count)]
        )

    @property
    def doubtful(self) -> bool:
        """Return whether the last measurement surprised, and has to be taken again before it counts."""
        return bool(self._doubted)

    def draw(self, count: int, rng: np.random.Generator) -> LayerCosts:
        """Return so many draws of costs from their posterior distribution.

        To first order (Laplace), but so that draws agree with each other on stages that have been measured: layers
        change by 1 + x, and slowdowns by 1 / (1 - x).
        """
        normal = rng.standard_normal((len(self._value), count))
        change = np.linalg.solve(self._root.T, normal).T
        layers, scale = change[:, : self._size], change[:, [self._size]]
        slowdowns = change[:, self._slowdown(0) : self._slowdown(self._count)]
        costs = self.costs
        return LayerCosts.of(
            np.diff(costs.ahead_s) * np.maximum(1 + layers, LEAST_FACTOR),
            costs.slowdown / np.maximum(1 - scale - slowdowns, LEAST_FACTOR),
        )

    def measure(self, line: DeviceCuts, message_s: FloatArray, times_s: FloatArray) -> None:
        """Take in the measured seconds [p] of the stages of a line, messages included, at least one above 0."""
        share = np.maximum(times_s / times_s.max(), LEAST_TIME)
        logs, errors = np.log(share * times_s.max()), self._noise * (1 + self._params.grain / share)
        rows = zip(pairwise(line.cuts), line.devices, message_s.tolist(), logs.tolist(), errors.tolist(), strict=True)
        fresh = [Reading(run, self._slowdown(device), *rest) for run, device, *rest in rows]
        if not self._readings:
            self._rescale(fresh)
        surprises = self._surprises(fresh)
        for slowdown in surprises.keys() & self._doubted:
            self._renew(slowdown, surprises[slowdown])
        self._doubted = surprises.keys() - self._doubted
        for reading in fresh:
            if reading.slowdown not in self._doubted:
                self._keep(reading)
        self._fit()

    def _slowdown(self, device: int) -> int:
        """Return where the slowdown of a device is among the values; the one before is n values on."""
        return self._size + 1 + device

    def _rescale(self, fresh: list[Reading]) -> None:
        """Set the scale by the first measurement: guesses of layers may be no more than relative."""
        _, known = self._linear([replace(reading, message_s=0.0) for reading in fresh])
        seconds = np.exp([reading.log_s for reading in fresh])
        passed = np.maximum(seconds - [reading.message_s for reading in fresh], seconds / 16)
        self._guess[self._size] = self._value[self._size] = np.log(passed.sum() / np.exp(known).sum())

    def _surprises(self, fresh: list[Reading]) -> dict[int, float]:
        """Return by how much readings are off the estimates of their stages, by slowdowns, where that is a surprise."""
        slope, known = self._linear(fresh)
        variance = (np.linalg.solve(self._root, slope.T) ** 2).sum(axis=0) + np.array(
            [reading.error**2 for reading in fresh]
        )
        off = np.array([reading.log_s for reading in fresh]) - known
        much = np.flatnonzero(np.abs(off) > self._params.surprise * np.sqrt(variance)).tolist()
        return {fresh[j].slowdown: float(off[j]) for j in much}

    def _renew(self, slowdown: int, change: float) -> None:
        """Begin a new slowdown, off the old one by a change, and let that be the one before."""
        before = slowdown + self._count
        kept = [reading for reading in self._readings.values() if reading.slowdown != before]
        moved = (replace(reading, slowdown=before) if reading.slowdown == slowdown else reading for reading in kept)
        self._readings = {reading.key: reading for reading in moved}
        self._guess[before], self._value[before] = self._guess[slowdown], self._value[slowdown]
        self._guess[slowdown] = self._value[slowdown] = self._value[slowdown] + change

    def _keep(self, fresh: Reading) -> None:
        """Keep a reading as the last one, together with recent ones of the same stage."""
        old = self._readings.pop(fresh.key, None)
        if old is not None:
            count = min(old.count + 1, self._params.recent)
            mean = old.log_s + (fresh.log_s - old.log_s) / count
            fresh = replace(fresh, log_s=mean, count=count)
        self._readings[fresh.key] = fresh
        if len(self._readings) > self._params.kept:
            del self._readings[next(iter(self._readings))]

    def _fit(self) -> None:
        """Move to the most probable values."""
        rows = list(self._readings.values())
        weight = np.array([row.count**0.5 / row.error for row in rows])
        logs = np.array([row.log_s for row in rows])
        prior = self._spread**-2.0
        # Gauss-Newton on the log posterior: rows are weighted residuals, the prior adds a diagonal.
        for _ in range(self._params.rounds):
            slope, known = self._linear(rows)
            slope *= weight[:, None]
            precision = slope.T @ slope + np.diag(prior)
            pull = slope.T @ (weight * (logs - known)) - (self._value - self._guess) * prior
            change = np.linalg.solve(precision, pull)
            largest = float(np.abs(change).max())
            self._value = self._value + change * min(1.0, self._params.stride / max(largest, self._params.close))
            self._root = np.asarray(np.linalg.cholesky(precision), np.float64)
            if largest < self._params.close:
                break

    def _linear(self, rows: list[Reading]) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian [m, values] and the predicted logarithms [m] of m readings."""
        first, end, slowdown = np.array([(*row.run, row.slowdown) for row in rows], np.int64).reshape(-1, 3).T
        message_s = np.array([row.message_s for row in rows])
        layer_s = np.exp(self._value[: self._size])
        held = _is_within(first, end, self._size) * layer_s
        passed = held.sum(axis=1)
        compute_s = passed * np.exp(self._value[self._size] + self._value[slowdown])
        share = compute_s / (compute_s + message_s)
        slope = np.zeros((len(rows), len(self._value)))
        slope[:, : self._size] = held * (share / passed)[:, None]
        slope[:, self._size] = slope[np.arange(len(rows)), slowdown] = share
        return slope, np.log(compute_s + message_s)


def _is_within(first: IntArray, end: IntArray, size: int) -> BoolArray:
    """Return which layers [m, L] are in runs."""
    layer = np.arange(size)
    return np.asarray((layer >= first[:, None]) & (layer < end[:, None]))
