"""nDCG@10 and recall@100 of exact cosine search, on the packs of EVAL_PACKS.

    measure.py --table embedding.npy          a fitted table, quantised as exported
    measure.py --go                           the committed model, as the engine runs it

Only the SciFact train claims are read unless --test is given: every setting is
chosen on them, and the test packs are looked at once, at the end.
"""
import argparse
import json
import math
import os
import subprocess

import numpy as np
from tokenizers import Tokenizer

import common
import export
import packs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def with_go(texts):
    lines = "".join(json.dumps(t) + "\n" for t in texts)
    run = subprocess.run(["go", "run", "./tools/distill/vectors"], cwd=ROOT, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(run.stdout, "<f4").reshape(len(texts), -1)


def with_table(name):
    q, scale = export.quantise(np.load(common.build(name)))
    table = q.astype(np.float32) * scale
    tk = Tokenizer.from_file(common.build("tokenizer.json"))

    def embed(texts):
        out = np.zeros((len(texts), table.shape[1]), np.float32)
        for i, e in enumerate(tk.encode_batch([common.strip_marks(t) for t in texts], add_special_tokens=False)):
            v = table[e.ids].sum(0, dtype=np.float64)
            out[i] = v / max(np.linalg.norm(v), 1e-12)
        return out

    return embed


def judge(embed, docs, questions, qrels):
    ids, names = list(docs), list(qrels)
    scores = embed([questions[q] for q in names]) @ embed(list(docs.values())).T
    ndcg = recall = 0.0
    for row, q in zip(scores, names):
        ranked = [ids[i] for i in np.argsort(-row, kind="stable")[:100]]
        grades = sorted(qrels[q].values(), reverse=True)
        ideal = sum(g / math.log2(i + 2) for i, g in enumerate(grades[:10]))
        ndcg += sum(qrels[q].get(d, 0) / math.log2(i + 2) for i, d in enumerate(ranked[:10])) / ideal
        recall += len(set(ranked) & set(qrels[q])) / len(qrels[q])
    return ndcg / len(names), recall / len(names)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--table", action="append", default=[])
    p.add_argument("--go", action="store_true")
    p.add_argument("--test", action="store_true")
    args = p.parse_args()
    ways = {name: with_table(name) for name in args.table}
    if args.go:
        ways["committed model in Go"] = with_go
    for pack, load in (packs.TEST if args.test else packs.DEV).items():
        docs, questions, qrels = load()
        for name, embed in ways.items():
            ndcg, recall = judge(embed, docs, questions, qrels)
            print(f"{pack}\t{len(qrels)} questions\t{len(docs)} documents\t{name}\tnDCG@10 {ndcg:.4f}\trecall@100 {recall:.4f}", flush=True)


if __name__ == "__main__":
    main()
