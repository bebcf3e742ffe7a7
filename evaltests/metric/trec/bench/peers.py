"""What bench runs beside Touchstone: one task in a process of its own.

    peers.py has MODULE ...              ends with 0 if all can be imported
    peers.py terrier|ranx QRELS RUN OUT  lines of question, AP, nDCG@10
    peers.py numpy VALUES RESAMPLES ROUNDS SEED   one JSON object
"""

import importlib.util
import json
import sys
import time


def terrier(qrels, run, out):
    import pytrec_eval

    with open(qrels) as f:
        gold = pytrec_eval.parse_qrel(f)
    with open(run) as f:
        hits = pytrec_eval.parse_run(f)
    found = pytrec_eval.RelevanceEvaluator(gold, {"map", "ndcg_cut.10"}).evaluate(hits)
    write(out, ((q, v["map"], v["ndcg_cut_10"]) for q, v in found.items()))


def ranx(qrels, run, out):
    from ranx import Qrels, Run, evaluate

    gold = Qrels.from_file(qrels, kind="trec")
    hits = Run.from_file(run, kind="trec")
    evaluate(gold, hits, ["map", "ndcg@10"], make_comparable=True)
    scores = hits.scores
    write(out, ((q, scores["map"][q], scores["ndcg@10"][q]) for q in scores["map"]))


def write(out, rows):
    with open(out, "w") as f:
        for question, ap, ndcg in rows:
            f.write(f"{question}\t{float(ap)!r}\t{float(ndcg)!r}\n")


def numpy(path, resamples, rounds, seed):
    import numpy as np

    values = np.loadtxt(path)
    n, block = len(values), 200
    rng = np.random.default_rng(seed)

    def blocks():
        for start in range(0, resamples, block):
            yield start, min(start + block, resamples)

    def bootstrap():
        means = np.empty(resamples)
        for lo, hi in blocks():
            means[lo:hi] = values.take(rng.integers(0, n, (hi - lo, n))).mean(1)
        return means

    def flips():
        sums = np.empty(resamples)
        for lo, hi in blocks():
            sums[lo:hi] = rng.choice([-1.0, 1.0], (hi - lo, n)) @ values
        return sums

    def fastest(f):
        least = None
        for _ in range(rounds):
            start = time.perf_counter()
            result = f()
            took = time.perf_counter() - start
            least = took if least is None else min(least, took)
        return least, result

    bootstrap_seconds, means = fastest(bootstrap)
    flip_seconds, sums = fastest(flips)
    lo, hi = np.quantile(means, [0.025, 0.975])
    far = int((np.abs(sums) >= abs(values.sum()) - 1e-12 * np.abs(values).sum()).sum())
    print(json.dumps({
        "version": np.__version__,
        "bootstrap_seconds": bootstrap_seconds, "lo": lo, "hi": hi, "se": means.std(),
        "flip_seconds": flip_seconds, "p": (far + 1) / (resamples + 1),
    }))


def main(task, *args):
    if task == "has":
        sys.exit(any(importlib.util.find_spec(m) is None for m in args))
    if task == "numpy":
        return numpy(args[0], int(args[1]), int(args[2]), int(args[3]))
    return {"terrier": terrier, "ranx": ranx}[task](*args)


if __name__ == "__main__":
    main(*sys.argv[1:])
