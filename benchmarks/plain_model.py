"""Bradley and Terry's model with Rao and Kupper's draws, as plain as it can be: a yardstick.

Strengths, the first-move advantage and the draws are fitted at once by Newton's method, and
intervals are those of the model's own information. A weak normal prior keeps apart from infinity
those who have won everything.
"""

from collections.abc import Iterable

import numpy as np
from scenarios import Floats

from meijin.store.ladders.games import FinishedGame

NAT = 400 / np.log(10)
"""In Elo."""
PRIOR = 600.0
"""The deviation of strengths, in Elo."""
STEPS, SMALL = 50, 1e-9


def plain_fit(games: Iterable[FinishedGame], bots: int) -> tuple[Floats, Floats]:
    """The strengths of the versions 1, 2, ... and the covariance of their errors, in Elo."""
    results = np.zeros((3, bots, bots))
    played = [(game.points, game.black_id - 1, game.white_id - 1) for game in games]
    np.add.at(results, tuple(np.array(played).T), 1.0)
    losses, draws, wins = results
    found = np.concatenate((np.zeros(bots), [0.1, 0.1]))
    for _ in range(STEPS):
        gradient, information = _derivatives(found, wins + draws, losses + draws, draws.sum())
        step = np.linalg.solve(information, gradient)
        longest = max(float(np.abs(step).max()), 1.0)
        found[-1] = max(found[-1] + step[-1] / longest, found[-1] / 2)
        found[:-1] += step[:-1] / longest
        if np.abs(step).max() < SMALL:
            break
    matrix: Floats = NAT**2 * np.linalg.inv(information)[:bots, :bots]
    return NAT * found[:bots], matrix


def _derivatives(
    at: Floats, not_lost: Floats, not_won: Floats, draws: float
) -> tuple[Floats, Floats]:
    """The gradient of the posterior, and minus its second derivatives.

    With leads x, draws d and the logistic function s, wins have the chance s(x - d), losses
    s(-x - d), and draws (e^2d - 1) times both.

    Args:
        at: The strengths, the advantage and the draws.
        not_lost: Of who moves first (rows) against who moves second; shape (n, n).
        not_won: Likewise.
        draws: Of all games.
    """
    bots = len(at) - 2
    strengths, advantage, width = at[:bots], at[-2], at[-1]
    lead = strengths[:, None] - strengths + advantage
    win, loss = 1 / (1 + np.exp(width - lead)), 1 / (1 + np.exp(width + lead))
    up, down = not_lost * (1 - win), not_won * (1 - loss)
    bent_up, bent_down = up * win, down * loss
    precision, growth = (NAT / PRIOR) ** 2, np.expm1(2 * width)
    some = max(draws, 0.5)
    slope, curve, cross = up - down, bent_up + bent_down, bent_down - bent_up
    gradient = np.concatenate(
        (
            _net(slope) - precision * strengths,
            [slope.sum(), some * 2 * (growth + 1) / growth - (up + down).sum()],
        )
    )
    information = np.empty((bots + 2, bots + 2))
    information[:bots, :bots] = np.diag(curve.sum(1) + curve.sum(0) + precision) - curve - curve.T
    information[:bots, -2] = information[-2, :bots] = _net(curve)
    information[:bots, -1] = information[-1, :bots] = _net(cross)
    information[-2, -1] = information[-1, -2] = cross.sum()
    information[-2, -2] = curve.sum()
    information[-1, -1] = curve.sum() + some * 4 * (growth + 1) / growth**2
    return gradient, information


def _net(table: Floats) -> Floats:
    """Of each player: what it has moving first, less what it has moving second."""
    net: Floats = table.sum(axis=1) - table.sum(axis=0)
    return net
