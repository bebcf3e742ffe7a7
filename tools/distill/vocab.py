"""Choose the model's own vocabulary and write it as a tokenizer.

Words come from two sources: the whole words of the teacher's vocabulary, and
counts over the fitting text. WordPiece pieces are trained on the same words,
so that any word of ASCII or Greek letters can be spelt. Writes
BUILD/tokenizer.json and BUILD/freq.npy (a probability for each entry).
"""
import collections
import heapq
import json
import re

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import common

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SIZE = 30_000
WHOLE = 26_000  # of them whole words or single characters; the rest are pieces
TEXT_SHARE = 0.3  # weight of the fitting text's counts against the teacher's words
WORD = re.compile(r"[a-z0-9]+")


def probabilities(counts, total_share):
    total = sum(counts.values())
    return {w: total_share * c / total for w, c in counts.items()}


def teacher_words():
    """Whole words of the teacher's vocabulary with counts by Zipf's law.

    Its file is in order of frequency from the first word, "the", on.
    """
    with open(common.build("minilm/tokenizer.json"), encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    first = vocab["the"]
    return {t: 1 / (i - first + 1) for t, i in vocab.items() if i >= first and WORD.fullmatch(t)}


def text_words():
    """Counts over the fitting text, of words of English and of common jargon.

    A word that no definition uses three times may still be a word (mutex, utf8),
    but most such are one program's names, so it must be far more frequent.
    """
    everywhere, defined = collections.Counter(), collections.Counter()
    for n, line in enumerate(common.fit_texts()):
        words = WORD.findall(common.clean(line))
        everywhere.update(words)
        if n >= common.GO_TEXTS:
            defined.update(words)
    return {w: c for w, c in everywhere.items() if defined[w] >= 3 or c >= 60}


def word_probabilities():
    p = collections.Counter(probabilities(teacher_words(), 1 - TEXT_SHARE))
    p.update(probabilities(text_words(), TEXT_SHARE))
    return p


def ranked(p):
    return sorted(p, key=lambda w: (-p[w], w))


def trained_pieces(words, merges):
    """WordPiece entries by merging the most frequent neighbours, each word once.

    Pieces should spell the many rare words, not the few frequent ones. Written
    out because the tokenizers library breaks ties in a different way each run.
    """
    spelt = [[w[0]] + ["##" + c for c in w[1:]] for w in sorted(words)]
    counts, where = collections.Counter(), collections.defaultdict(set)
    for i, parts in enumerate(spelt):
        for pair in zip(parts, parts[1:]):
            counts[pair] += 1
            where[pair].add(i)
    heap = [(-n, pair) for pair, n in counts.items()]
    heapq.heapify(heap)
    pieces = []
    while heap and len(pieces) < merges:
        n, pair = heapq.heappop(heap)
        if -n != counts[pair]:  # outdated: its true count was pushed later
            continue
        merged = pair[0] + pair[1].removeprefix("##")
        pieces.append(merged)
        changed = set()
        for i in where.pop(pair):
            old = spelt[i]
            new = []
            for part in old:
                if new and (new[-1], part) == pair:
                    new[-1] = merged
                else:
                    new.append(part)
            spelt[i] = new
            counts.subtract(zip(old, old[1:]))
            counts.update(zip(new, new[1:]))
            changed.update(zip(old, old[1:]), zip(new, new[1:]))
            for p in zip(new, new[1:]):
                where[p].add(i)
        for p in changed:
            if counts[p] > 0:
                heapq.heappush(heap, (-counts[p], p))
    return pieces


def choose(p):
    chars = list("0123456789abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρστυφχψω")
    vocab = dict.fromkeys(SPECIAL + chars + ["##" + c for c in chars])
    for w in ranked(p):
        if len(vocab) >= WHOLE:
            break
        vocab.setdefault(w)
    for t in trained_pieces(p, merges=12_000):
        if len(vocab) >= SIZE:
            break
        vocab.setdefault(t)
    return list(vocab)


def tokenizer(vocab):
    tk = Tokenizer(models.WordPiece({t: i for i, t in enumerate(vocab)}, unk_token="[UNK]", max_input_chars_per_word=100))
    # strip_accents stays unset: the pure-Go tokenizer panics on true. Callers
    # decompose and drop marks before (common.clean, and the Go embedder).
    tk.normalizer = normalizers.BertNormalizer(lowercase=True)
    tk.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tk


def main():
    p = word_probabilities()
    vocab = choose(p)
    assert len(vocab) == SIZE, len(vocab)
    tk = tokenizer(vocab)
    spec = json.loads(tk.to_str())
    # The usual [CLS] text [SEP], so that no text gives an empty sequence to a
    # stock pipeline; both rows are zero.
    spec["post_processor"] = {
        "type": "BertProcessing",
        "sep": ["[SEP]", SPECIAL.index("[SEP]")],
        "cls": ["[CLS]", SPECIAL.index("[CLS]")],
    }
    spec["truncation"] = spec["padding"] = None
    spec["added_tokens"] = []  # "[SEP]" in a user's text is text
    with open(common.build("tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump(spec, f, ensure_ascii=False, separators=(",", ":"))
    freq = np.array([0.0 if t in SPECIAL else p.get(t, 1e-6 if t.startswith("##") else 1e-8) for t in vocab])
    np.save(common.build("freq.npy"), freq)
    print(f"{len(vocab)} entries, SHA-256 {common.sha256(common.build('tokenizer.json'))}")


if __name__ == "__main__":
    main()
