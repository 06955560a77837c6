"""First passage of a Brownian motion with drift between two absorbing bounds."""

import math

FAR = 30.0
"""Deviations from which on a normal tail is taken by its asymptote: erfc underflows at 38."""


def chance_above(
    *, drift: float, deviation: float, lower: float, upper: float, time: float
) -> float:
    """The chance to be absorbed at the upper bound, and before a time.

    By the method of images (Cox and Miller, The Theory of Stochastic Processes, 1965, section
    5.7): each image of the upper bound adds an inverse Gaussian distribution.

    Args:
        drift: In one unit of time.
        deviation: Its standard deviation in one unit of time, above 0.
        lower: Below 0, where the motion starts.
        upper: Above 0.
        time: Since the start.
    """
    width, variance, spread = upper - lower, deviation**2, deviation * math.sqrt(time)
    chance = 0.0
    for image in range(int(6 * spread / width) + 2):
        near, far = upper + 2 * image * width, 2 * (image + 1) * width - upper
        for distance, sign in ((near, 1), (far, -1)):
            for side in (-1, 1):
                pull = drift * upper + side * abs(drift) * distance
                tail = _log_tail((distance + side * abs(drift) * time) / spread)
                chance += sign * math.exp(pull / variance + tail)
    return min(max(chance, 0.0), 1.0)


def _log_tail(deviations: float) -> float:
    """The logarithm of the chance that a standard normal variable is above this."""
    if deviations > FAR:
        return -(deviations**2) / 2 - math.log(deviations * math.sqrt(2 * math.pi))
    return math.log(math.erfc(deviations / math.sqrt(2)) / 2)
