"""A search engine as one would put it together in Python, timed by benchengine.

    peer.py CORPUS QUESTIONS MODEL DIR DEPTH MAX_TOKENS THREADS OUT

CORPUS and QUESTIONS hold one JSON object a line. MODEL is the folder of
all-MiniLM-L6-v2, or empty: then BM25 is all there is. Indexes are written to
DIR, for their size. OUT becomes one JSON object.

BM25 is bm25s with its own defaults, English stop words and PyStemmer. Vectors
are mean pooled and of unit length, in batches of texts of like length; search
over them is one product with NumPy. The hybrid is reciprocal rank fusion.
"""

import json
import os
import sys
import time

import bm25s
import numpy as np
import Stemmer

BATCH = 32
RRF_K = 60
WARM = 20  # questions that are asked before the clock runs


def main(corpus, questions, model, folder, depth, max_tokens, threads, out):
    depth, max_tokens, threads = int(depth), int(max_tokens), int(threads)
    docs = read(corpus)
    asked = read(questions)
    texts = [d["title"] + "\n" + d["text"] for d in docs]
    ids = [d["id"] for d in docs]
    depth = min(depth, len(docs))
    found = {"versions": versions(["bm25s", "numpy"]), "systems": []}

    start = time.perf_counter()
    stemmer = Stemmer.Stemmer("english")
    bm25 = bm25s.BM25()
    bm25.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    lexical_seconds = time.perf_counter() - start
    bm25.save(os.path.join(folder, "bm25"))

    def lexical(question):
        tokens = bm25s.tokenize(question, stopwords="en", stemmer=stemmer, show_progress=False)
        rows, scores = bm25.retrieve(tokens, k=depth, show_progress=False)
        # bm25s fills up with documents that share no word with the question.
        return [int(r) for r, s in zip(rows[0], scores[0]) if s > 0]

    found["systems"].append(measure("BM25", lexical, asked, ids, lexical_seconds, size(os.path.join(folder, "bm25"))))
    if model:
        found["versions"] |= versions(["onnxruntime", "tokenizers"])
        embed = embedder(model, max_tokens, threads)
        start = time.perf_counter()
        matrix = embed(texts)
        dense_seconds = time.perf_counter() - start
        np.save(os.path.join(folder, "vectors.npy"), matrix)
        vector_bytes = os.path.getsize(os.path.join(folder, "vectors.npy"))

        def dense(question):
            scores = matrix @ embed([question])[0]
            top = np.argpartition(-scores, depth - 1)[:depth]
            return [int(r) for r in top[np.argsort(-scores[top], kind="stable")]]

        def hybrid(question):
            fused = {}
            for rows in (lexical(question), dense(question)):
                for place, row in enumerate(rows, 1):
                    fused[row] = fused.get(row, 0.0) + 1 / (RRF_K + place)
            return sorted(fused, key=lambda r: (-fused[r], r))[:depth]

        found["systems"].append(measure("dense", dense, asked, ids, dense_seconds, vector_bytes))
        both = found["systems"][0]["bytes"] + vector_bytes
        found["systems"].append(measure("hybrid", hybrid, asked, ids, lexical_seconds + dense_seconds, both))
    with open(out, "w") as f:
        json.dump(found, f)


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def versions(names):
    from importlib.metadata import version

    return {n: version(n) for n in names}


def size(path):
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(path) for f in files)


def embedder(model, max_tokens, threads):
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(os.path.join(model, "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}

    def embed(texts):
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = None
        for at in range(0, len(order), BATCH):
            rows = order[at : at + BATCH]
            encoded = tokenizer.encode_batch([texts[i] for i in rows])
            inputs = {
                "input_ids": np.array([e.ids for e in encoded], np.int64),
                "attention_mask": np.array([e.attention_mask for e in encoded], np.int64),
                "token_type_ids": np.array([e.type_ids for e in encoded], np.int64),
            }
            hidden = session.run(None, {k: v for k, v in inputs.items() if k in names})[0]
            mask = inputs["attention_mask"][..., None].astype(np.float32)
            pooled = (hidden * mask).sum(1) / mask.sum(1)
            if vectors is None:
                vectors = np.empty((len(texts), pooled.shape[1]), np.float32)
            vectors[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    return embed


def measure(mode, search, asked, ids, index_seconds, stored):
    for q in asked[:WARM]:
        search(q["text"])
    seconds, rankings = [], {}
    for q in asked:
        start = time.perf_counter()
        rows = search(q["text"])
        seconds.append(time.perf_counter() - start)
        rankings[q["id"]] = [ids[r] for r in rows]
    return {"mode": mode, "index_seconds": index_seconds, "bytes": stored, "search_seconds": seconds, "rankings": rankings}


main(*sys.argv[1:])
