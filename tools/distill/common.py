"""Paths, text normalisation and the teacher: what every step shares."""
import hashlib
import os
import unicodedata

import numpy as np

GO_TEXTS = 62_000  # of fit.txt's lines, these come first

BUILD = os.environ.get("DISTILL_BUILD", "build")


def build(name):
    os.makedirs(BUILD, exist_ok=True)
    return os.path.join(BUILD, name)


def strip_marks(text):
    """NFD without nonspacing marks; the Go embedder does the same."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def clean(text):
    return strip_marks(text).lower()


def fit_texts():
    with open(build("fit.txt"), encoding="utf-8") as f:
        return f.read().removesuffix("\n").split("\n")


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


class Teacher:
    """all-MiniLM-L6-v2: mean pooled over all tokens, [CLS] and [SEP] included."""

    def __init__(self, max_tokens):
        import onnxruntime as ort
        from tokenizers import Tokenizer

        options = ort.SessionOptions()
        options.intra_op_num_threads = 2
        self.session = ort.InferenceSession(build("minilm/model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(build("minilm/tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_tokens)

    def __call__(self, texts, batch=64):
        encoded = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        out = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            width = max(len(encoded[i]) for i in rows)
            ids = np.zeros((len(rows), width), np.int64)
            mask = np.zeros_like(ids)
            for r, i in enumerate(rows):
                ids[r, : len(encoded[i])] = encoded[i]
                mask[r, : len(encoded[i])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self.session.run(None, feed)[0]
            out[rows] = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return out
