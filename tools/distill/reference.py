"""Write engine/embed/testdata/reference.json: tokens and vectors of a few texts
computed without any Go, by the tokenizers library and ONNX Runtime."""
import json
import os

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

import common

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = os.path.join(HERE, "..", "..", "engine", "embed")
TEXTS = [
    "",
    "Hello, World!",
    "The handler closes the file descriptor before it returns.",
    "TNF-α and β-catenin levels (p<0.05) fell by 12.5% in 1999.",
    "naïve café résumé Ångström",
    "e\u0301te\u0301 İstanbul",
    "don't re-use ubuntu 20.04 C++ a@b.org \"quoted\" [SEP] ##ing",
    "unquantifiability xylographers pneumonoultramicroscopicsilicovolcanoconiosis",
    "日本語のテキスト and Russian текст",
    "emoji 👩‍👩‍👧 fox\u200b AND \t\n\u00a0 -fox",
    "x" * 101 + " " + "y" * 100,
    " ".join(f"word{i} of {i * 37} documents, ranked." for i in range(150)),
]


def main():
    tk = Tokenizer.from_file(os.path.join(ENGINE, "model", "tokenizer.json"))
    session = ort.InferenceSession(os.path.join(ENGINE, "model", "model.onnx"), providers=["CPUExecutionProvider"])
    cases = []
    for text in TEXTS:
        ids = tk.encode(common.strip_marks(text), add_special_tokens=False).ids
        vector = np.zeros(session.get_outputs()[0].shape[-1])
        if ids:
            row = np.array([ids], np.int64)
            hidden = session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})[0]
            vector = hidden[0].astype(np.float64).sum(0)
        vector /= max(np.linalg.norm(vector), 1e-12)
        cases.append({"text": text, "ids": ids, "vector": [round(float(v), 7) for v in vector]})
    os.makedirs(os.path.join(ENGINE, "testdata"), exist_ok=True)
    with open(os.path.join(ENGINE, "testdata", "reference.json"), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
