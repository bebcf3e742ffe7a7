"""Ask the teacher for one vector of each vocabulary entry or fitting text.

    teach.py texts      BUILD/texts.npy, unit length (needs fit.txt)
    teach.py entries    BUILD/entries.npy, unit length (needs tokenizer.json)
"""
import json
import sys

import numpy as np

import common


def entries():
    with open(common.build("tokenizer.json"), encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    return common.Teacher(16)([t.removeprefix("##") for t in sorted(vocab, key=vocab.get)], batch=512)


def texts():
    return common.Teacher(160)(common.fit_texts())


def main():
    what = sys.argv[1]
    vectors = {"entries": entries, "texts": texts}[what]()
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    np.save(common.build(what + ".npy"), vectors)


if __name__ == "__main__":
    main()
