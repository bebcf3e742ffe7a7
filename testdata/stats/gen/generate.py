"""Generates the vectors of this folder's parent that no published set has.

Run once, with scipy, statsmodels and mpmath installed:

    python3 generate.py ..

Each value comes from a library or from exact arithmetic that is written from
the formula in the file, never from the code under test; where two references
exist they must agree before a case is written.
"""

import itertools
import json
import math
import pathlib
import sys
from fractions import Fraction

import mpmath
import numpy
import scipy
import scipy.optimize
import scipy.stats
import statsmodels
import statsmodels.stats.contingency_tables
import statsmodels.stats.weightstats

mpmath.mp.dps = 40
TOOLS = {
    "python": sys.version.split()[0],
    "scipy": scipy.__version__,
    "numpy": numpy.__version__,
    "statsmodels": statsmodels.__version__,
    "mpmath": mpmath.__version__,
}


def agree(a, b, tolerance=1e-9):
    assert abs(a - b) <= tolerance * max(1, abs(b)), (a, b)


def binomial_tail(k, n):
    """P(X <= k) for X ~ Bin(n, 1/2), exactly."""
    return Fraction(sum(math.comb(n, i) for i in range(k + 1)), 2**n)


def mcnemar():
    cases = []
    tables = [(10, 6, 26, 5), (0, 0, 0, 0), (7, 0, 0, 3), (20, 8, 0, 2), (3, 0, 8, 1), (14, 5, 0, 22), (50, 29, 15, 6),
              (1, 22, 21, 1), (100, 10, 10, 100), (400, 60, 19, 0), (1, 1, 7, 12), (59, 6, 16, 80)]
    for a, b, c, d in tables:
        n, k = b + c, min(b, c)
        exact = min(Fraction(1), 2 * binomial_tail(k, n))
        mid = min(Fraction(1), 2 * binomial_tail(k, n) - Fraction(math.comb(n, k), 2**n))
        if n:
            sm = statsmodels.stats.contingency_tables.mcnemar([[a, b], [c, d]], exact=True)
            agree(sm.pvalue, float(exact))
            # The mid-p value of both one-sided tests by scipy, the smaller one doubled.
            dist = scipy.stats.binom(n, 0.5)
            agree(min(1, 2 * (dist.cdf(k) - dist.pmf(k) / 2)), float(mid))
        cases.append({"table": [a, b, c, d], "p": float(exact), "mid_p": float(mid),
                      "odds_ratio": b / c if c else None})
    return {"test": "McNemar's test, exact and mid-p", "tolerance": 1e-12, "cases": cases,
            "formula": "p = min(1, 2 P(X <= min(b,c))), X ~ Bin(b+c, 1/2); mid-p = min(1, p - P(X = min(b,c))); b+c = 0: 1",
            "verified_with": "exact rationals; statsmodels mcnemar(exact=True); scipy.stats.binom"}


def wilson(k, n, confidence):
    z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(confidence))
    p = mpmath.mpf(k) / n
    lo, hi = scipy.stats.binomtest(k, n).proportion_ci(float(confidence), method="wilson")
    centre, half = p + z**2 / (2 * n), z * mpmath.sqrt(p * (1 - p) / n + z**2 / (4 * mpmath.mpf(n) ** 2))
    low, high = (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)
    agree(float(low), lo)
    agree(float(high), hi)
    return p, low, high


def newcombe():
    cases = []
    tables = [(14, 5, 0, 22), (1, 1, 7, 12), (59, 6, 16, 80), (36, 12, 2, 0), (36, 14, 0, 0), (0, 0, 0, 30), (30, 0, 0, 0),
              (0, 30, 0, 0), (0, 0, 30, 0), (1, 97, 1, 1), (98, 1, 1, 0), (2, 97, 1, 0), (29, 9, 3, 9), (100, 50, 40, 10),
              (3, 10, 9, 2), (0, 5, 6, 0), (12, 4, 4, 10), (1, 0, 0, 0)]
    for a, b, c, d in tables:
        for confidence in ("0.9", "0.95", "0.99"):
            n = a + b + c + d
            p1, l1, u1 = wilson(a + b, n, confidence)
            p2, l2, u2 = wilson(a + c, n, confidence)
            margins = (a + b) * (c + d) * (a + c) * (b + d)
            top = mpmath.mpf(a * d - b * c)
            if top > 0:
                top = max(top - mpmath.mpf(n) / 2, 0)
            phi = top / mpmath.sqrt(margins) if margins else mpmath.mpf(0)
            below = mpmath.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
            above = mpmath.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
            diff = p1 - p2
            cases.append({"table": [a, b, c, d], "confidence": float(confidence), "difference": float(diff),
                          "lo": float(diff - below), "hi": float(diff + above)})
    return {"test": "interval of the difference of paired proportions, Newcombe 1998, method 10", "tolerance": 1e-9, "cases": cases,
            "formula": "diff = (b-c)/n; lo = diff - sqrt((p1-l1)^2 - 2 phi (p1-l1)(u2-p2) + (u2-p2)^2), hi likewise with u1, l2; "
                       "l, u Wilson; phi = (ad-bc)/sqrt(product of margins), the numerator reduced by n/2 (not below 0) where positive",
            "verified_with": "40 digits; Wilson ends against scipy binomtest"}


def equivalence():
    rng = numpy.random.default_rng(5)
    cases = []
    for n, mean, sd, margin in [(2, 0, 1, 1), (5, .1, .2, .3), (10, 0, .1, .05), (10, 0, .1, .2), (30, .02, .1, .05), (30, -.04, .1, .05),
                                (30, .2, .1, .05), (100, 0, .3, .05), (100, .01, .1, .05), (500, -.002, .2, .03)]:
        d = [round(float(x), 4) for x in rng.normal(mean, sd, n)]
        for alpha in (.05, .01):
            p, lower, upper = statsmodels.stats.weightstats.ttost_paired(numpy.array(d), numpy.zeros(n), -margin, margin)
            m, se = float(numpy.mean(d)), float(scipy.stats.sem(d))
            half = scipy.stats.t.ppf(1 - alpha, n - 1) * se
            agree(float(lower[1]), float(scipy.stats.t.sf((m + margin) / se, n - 1)))
            cases.append({"d": d, "margin": margin, "alpha": alpha, "p": float(p), "p_lower": float(lower[1]), "p_upper": float(upper[1]),
                          "ci": [m - half, m + half], "equivalent": bool(p < alpha)})
    return {"test": "equivalence of paired means, two one-sided t tests", "tolerance": 1e-9, "cases": cases,
            "formula": "p = max(P(T > (mean+margin)/se), P(T > (margin-mean)/se)), df n-1; interval at 1 - 2 alpha",
            "verified_with": "statsmodels ttost_paired; scipy.stats.t"}


def sign_rejects(m, alpha):
    """Largest k with 2 P(X <= k) <= alpha, X ~ Bin(m, 1/2); -1 if none."""
    k = -1
    while k + 1 <= m // 2 and 2 * binomial_tail(k + 1, m) <= Fraction(str(alpha)):
        k += 1
    return k


def power():
    cases = []
    z = lambda q: float(scipy.stats.norm.ppf(q))
    for n, p, rho, alpha, target in [(30, .6, .7, .05, .8), (60, .6, .7, .05, .8), (150, .6, .7, .05, .8), (479, .6, .7, .05, .8),
                                     (30, .5, 0, .05, .8), (10, .6, .7, .05, .8), (100, .9, .5, .05, .9), (100, .6, -.2, .01, .8),
                                     (200, .75, .6, .1, .95), (5, .5, 0, .05, .8)]:
        discordance = 2 * p * (1 - p) * (1 - rho)
        critical = [sign_rejects(m, alpha) for m in range(n + 1)]
        share = scipy.stats.binom.pmf(numpy.arange(n + 1), n, discordance)

        def at(difference):
            q = min(1.0, (1 + difference / discordance) / 2)
            total = 0.0
            for m in range(n + 1):
                if critical[m] >= 0:
                    total += share[m] * (scipy.stats.binom.cdf(critical[m], m, q) + scipy.stats.binom.sf(m - critical[m] - 1, m, q))
            return float(total)

        case = {"n": n, "p": p, "rho": rho, "alpha": alpha, "power": target, "discordance": discordance,
                "mde_normal": (z(1 - alpha / 2) + z(target)) * math.sqrt(discordance / n),
                "power_at": [[share_of * discordance, at(share_of * discordance)] for share_of in (0, .25, .5, .75, 1)],
                "mde_exact": None, "smallest_attainable": None}
        if at(discordance) >= target:
            case["mde_exact"] = float(scipy.optimize.brentq(lambda x: at(x) - target, 0, discordance, xtol=1e-14))
        fewest = next(m for m in itertools.count(1) if 2 * Fraction(1, 2**m) <= Fraction(str(alpha)))
        if fewest <= n:
            case["smallest_attainable"] = fewest / n
        cases.append(case)
    return {"test": "power of the comparison of paired proportions", "tolerance": 1e-8, "cases": cases,
            "formula": "discordance = 2p(1-p)(1-rho); normal: (z_{1-a/2}+z_power) sqrt(discordance/n); exact: sum over m of Bin(n, discordance) "
                       "times the power of the exact two-sided sign test of m with win probability (1 + difference/discordance)/2; "
                       "smallest attainable: fewest m with 2^(1-m) <= alpha, over n",
            "verified_with": "exact rationals for the critical values; scipy.stats.binom, scipy.optimize.brentq"}


def pratt():
    rng = numpy.random.default_rng(9)
    cases = []
    fixed = [[0, 0, 0], [0, 1], [0, -1, 2, 0], [0, 0, 1, 1, 1, -1], [.5, -.5, 0, .25, .25, -1, 0, .75]]
    drawn = [[float(x) / 4 for x in rng.integers(-4, 6, n)] for n in (4, 6, 8, 10, 12, 14)]
    for d in fixed + drawn:
        ranks = scipy.stats.rankdata([abs(x) for x in d])
        kept = [Fraction(float(r)) for r, x in zip(ranks, d) if x != 0]
        plus = sum((Fraction(float(r)) for r, x in zip(ranks, d) if x > 0), Fraction(0))
        sums = [sum(r for r, s in zip(kept, signs) if s) for signs in itertools.product((0, 1), repeat=len(kept))]
        less = Fraction(sum(s <= plus for s in sums), len(sums))
        greater = Fraction(sum(s >= plus for s in sums), len(sums))
        cases.append({"d": d, "W_plus": float(plus), "p_two_sided": float(min(Fraction(1), 2 * min(less, greater))),
                      "p_greater": float(greater), "p_less": float(less)})
    return {"test": "Wilcoxon signed-rank, Pratt's treatment of zeros, exact given ties and zeros", "tolerance": 1e-12, "cases": cases,
            "formula": "rank |d| with zeros in, drop the ranks of zeros, then all signs of the others equally likely",
            "verified_with": "enumeration of all signs in exact rationals; ranks by scipy.stats.rankdata"}


def main():
    to = pathlib.Path(sys.argv[1])
    for name, make in {"mcnemar": mcnemar, "newcombe": newcombe, "equivalence": equivalence, "paired_proportion_power": power,
                       "wilcoxon_pratt_exact": pratt}.items():
        (to / f"{name}.json").write_text(json.dumps({"tools": TOOLS, **make()}, indent=1) + "\n")


main()
