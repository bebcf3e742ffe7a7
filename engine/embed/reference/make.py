"""Writes the reference vectors of a model folder, for embed.Probe.

    python make.py FOLDER NAME MAX_TOKENS > NAME.json

FOLDER holds model.onnx and tokenizer.json; MAX_TOKENS 0 means that nothing is
cut and no special tokens are added (a static embedding). Needs tokenizers,
onnxruntime and numpy. The tokenizer is Hugging Face's own with two changes:
no truncation or padding of the file's, and no special tokens in texts.
"""

import hashlib
import json
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

TEXTS = [
    ("question", "Where is the configuration file?", 1),
    ("sentence", "The otter crosses the river at dusk, and the falcon circles above it.", 1),
    ("one word", "retrieval", 1),
    ("accents", "Le café d’Ångström: naïve façade, São Paulo, Übergröße, crème brûlée.", 1),
    ("decomposed accents", "re\u0301sume\u0301 of the jalapen\u0303o", 1),
    ("other scripts", "東京 is in 日本; Москва; αβγ; שלום", 1),
    ("emoji and symbols", "ship it 🚀 ± 5 € → done", 1),
    ("identifiers", "func (e *Engine) Search(ctx context.Context, q Query) (*Result, error) // C++ a@b.org POL-358 don't", 1),
    ("special tokens", "the end [SEP] of [CLS] it [MASK] [PAD]", 1),
    ("control characters", "tab\there\u0000null\u200bjoin\r\nline", 1),
    ("long", "The lighthouse keeper wrote down the height of every wave that reached the third step. ", 40),
    ("long with accents", "Über die Brücke gingen zwölf müde Kühe; ", 60),
    ("just at the limit", "word ", 254),
    ("one above the limit", "word ", 255),
    ("long word", "x" * 150 + " end", 1),
    ("empty", "", 1),
    ("white space", " \n\t ", 1),
]


def main(folder, name, limit):
    limit = int(limit)
    with open(f"{folder}/tokenizer.json", encoding="utf-8") as f:
        config = json.load(f)
    config["truncation"] = config["padding"] = None
    stock = Tokenizer.from_str(json.dumps(config))
    config["added_tokens"] = []
    tokenizer = Tokenizer.from_str(json.dumps(config))
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
    inputs = {i.name for i in session.get_inputs()}
    unknown = tokenizer.token_to_id("[UNK]")
    out = []
    for label, text, repeat in TEXTS:
        full = text * repeat
        ids = tokenizer.encode(full, add_special_tokens=False).ids
        if "[" not in full:
            assert ids == stock.encode(full, add_special_tokens=False).ids, label
        tokens = len(ids)
        known = any(i != unknown for i in ids)
        if limit:
            tokens += 2
            ids = [tokenizer.token_to_id("[CLS]")] + ids[: limit - 2] + [tokenizer.token_to_id("[SEP]")]
        if known:
            row = np.array([ids], dtype=np.int64)
            feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
            states = session.run(["last_hidden_state"], {k: v for k, v in feed.items() if k in inputs})[0][0]
            vector = states.astype(np.float64).mean(axis=0)
            vector /= np.linalg.norm(vector)
        else:
            vector = np.zeros(session.get_outputs()[0].shape[-1])
        entry = {"name": label, "text": text, "tokens": tokens, "vector": [float(f"{x:.7g}") for x in vector]}
        if repeat > 1:
            entry["repeat"] = repeat
        out.append(entry)
    lines = ""
    for file in ("model.onnx", "tokenizer.json"):
        with open(f"{folder}/{file}", "rb") as f:
            lines += hashlib.sha256(f.read()).hexdigest() + f"  {file}\n"
    info = {"Name": name, "Digest": hashlib.sha256(lines.encode()).hexdigest(), "Pooling": "mean",
            "Dim": len(out[0]["vector"]), "MaxTokens": limit}
    print('{"model": %s, "texts": [' % json.dumps(info))
    print(",\n".join(json.dumps(e) for e in out))
    print("]}")


main(*sys.argv[1:])
