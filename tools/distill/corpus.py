"""Collect the text that the model is fitted on, into BUILD/fit.txt.

Sentences and paragraphs of the Go standard library's comments, and WordNet's
definitions as "word, word: definition". No pack and no benchmark is read.
Usage: corpus.py GOROOT WORDNET, the second being the folder with data.noun.
"""
import hashlib
import os
import re
import sys

import common

SENTENCES, PARAGRAPHS = 50_000, 12_000
SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+(?=[A-Z\"(\[])")
WORD = re.compile(r"[A-Za-z]{2,}")


def comments(source):
    """Blocks of comment lines, without the marks and without directives."""
    block = []
    for line in source.split("\n"):
        line = line.strip()
        if line.startswith("//") and not line.startswith(("//go:", "//line")):
            block.append(line[2:].strip(" \t"))
        elif block:
            yield block
            block = []
    for m in re.finditer(r"/\*(.*?)\*/", source, re.S):
        yield [line.strip() for line in m.group(1).split("\n")]


def is_prose(text):
    if len(WORD.findall(text)) < 4 or len(text) < 20:
        return False
    return sum(c.isalpha() or c == " " for c in text) / len(text) >= 0.7


def go_files(goroot):
    for folder, folders, files in os.walk(os.path.join(goroot, "src")):
        folders[:] = sorted(f for f in folders if f not in ("vendor", "testdata"))
        for name in sorted(files):
            if name.endswith(".go"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="ignore") as f:
                    source = f.read()
                if len(source) <= 200_000 or not re.search(r"^// Code generated", source, re.M):
                    yield source


def go_texts(goroot):
    sentences, paragraphs = set(), set()
    for source in go_files(goroot):
        for block in comments(source):
            if any("Copyright" in line for line in block[:2]):
                continue
            for paragraph in re.split(r"\n\s*\n", "\n".join(block)):
                text = " ".join(paragraph.split())
                if not is_prose(text):
                    continue
                paragraphs.add(text[:1500])
                sentences.update(s for s in SENTENCE_END.split(text) if len(s) < 400 and len(WORD.findall(s)) >= 4)
    texts = sample(sentences, SENTENCES) + sample((p for p in paragraphs if len(p) > 200), PARAGRAPHS)
    assert len(texts) == common.GO_TEXTS
    return texts


def sample(texts, n=None):
    """n texts in an order that depends on nothing but their words."""
    return sorted(texts, key=lambda t: hashlib.sha1(t.encode()).digest())[:n]


def wordnet_texts(folder):
    texts = set()
    for part in ("noun", "verb", "adj", "adv"):
        with open(os.path.join(folder, "data." + part), encoding="utf-8") as f:
            for line in f:
                if line.startswith("  "):  # the licence at the top
                    continue
                head, gloss = line.split(" | ", 1)
                fields = head.split()
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                words = [re.sub(r"\((a|p|ip)\)$", "", w).replace("_", " ") for w in words]
                texts.add(", ".join(words) + ": " + " ".join(gloss.split()))
    return sample(texts)


def main():
    goroot, wordnet = sys.argv[1:]
    texts = go_texts(goroot) + wordnet_texts(wordnet)
    with open(common.build("fit.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(texts) + "\n")
    print(f"{len(texts)} texts, SHA-256 {common.sha256(common.build('fit.txt'))}")


if __name__ == "__main__":
    main()
