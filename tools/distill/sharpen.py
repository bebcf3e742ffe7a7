"""Spread the fitted embedding: flatter weights, partly whitened axes.

The fit copies the teacher's cosines, in which a few directions and a few rare
words have a large share. For ranking, less of that is better: each row's length
is raised to the power 1 - FLATTEN, then the principal axes of the fitting
texts' vectors are scaled by eigenvalue ** -WHITEN. Both are one more linear or
per-row step, so the result is still a plain table. Reads BUILD/fitted.npy,
writes BUILD/embedding.npy.
"""
import numpy as np
from tokenizers import Tokenizer

import common

FLATTEN, WHITEN = 0.4, 0.4
EVERY = 6  # one text in so many is enough for 256 axes


def vectors(table, texts):
    tk = Tokenizer.from_file(common.build("tokenizer.json"))
    encoded = tk.encode_batch([common.strip_marks(t) for t in texts], add_special_tokens=False)
    out = np.stack([table[e.ids].sum(0, dtype=np.float64) for e in encoded])
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)


def sharpen(table, texts):
    length = np.linalg.norm(table, axis=1, keepdims=True)
    table = np.where(length > 0, table * np.maximum(length, 1e-9) ** -FLATTEN, 0)
    v = vectors(table, texts)
    values, axes = np.linalg.eigh(v.T @ v / len(v))
    return (table @ (axes * values**-WHITEN)).astype(np.float32)


def main():
    table = np.load(common.build("fitted.npy")).astype(np.float64)
    np.save(common.build("embedding.npy"), sharpen(table, common.fit_texts()[::EVERY]))


if __name__ == "__main__":
    main()
