"""Read the question packs that the model is judged on: (docs, questions, qrels).

docs maps an id to its text, questions an id to its text, qrels a question's id
to {document: grade}. The packs are not part of this repository: EVAL_PACKS
names the folder that holds them.
"""
import ast
import collections
import csv
import json
import os
import re

csv.field_size_limit(10**8)
LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S)


def path(*parts):
    return os.path.join(os.environ["EVAL_PACKS"], *parts)


def rows(*parts):
    with open(path(*parts), encoding="utf-8", newline="") as f:
        yield from csv.DictReader(f)


def load(*parts):
    with open(path(*parts), encoding="utf-8") as f:
        return json.load(f)


def scifact(split="validation"):
    # The abstract is a printed array of Python strings.
    docs = {
        r["doc_id"]: r["title"] + " " + " ".join(ast.literal_eval(s) for s in LITERAL.findall(r["abstract"]))
        for r in rows("scifact", "corpus_train.csv")
    }
    questions, qrels = {}, collections.defaultdict(dict)
    for r in rows("scifact", f"claims_{split}.csv"):
        for doc in re.findall(r"\d+", r["cited_doc_ids"]):
            questions[r["id"]] = r["claim"]
            qrels[r["id"]][doc] = 1
    return docs, questions, dict(qrels)


def scifact_train():
    return scifact("train")


def clapnq():
    docs, questions, qrels = {}, {}, {}
    for kind in ("answerable", "unanswerable"):
        with open(path("clapnq-dev", f"clapnq_dev_{kind}.jsonl"), encoding="utf-8") as f:
            for r in map(json.loads, f):
                p = r["passages"][0]
                docs[p["text"]] = p["title"] + " " + p["text"]
                if kind == "answerable":
                    questions[r["id"]] = r["input"]
                    qrels[r["id"]] = {p["text"]: 1}
    return docs, questions, qrels


def squad2():
    queries = load("squad2-sample500", "queries.json")["queries"]
    gold = load("squad2-sample500", "ground_truth.json")
    docs = {q["context"]: q["context"] for q in queries}
    kept = [q for q in queries if not gold[q["id"]]["is_impossible"]]
    return docs, {q["id"]: q["question"] for q in kept}, {q["id"]: {q["context"]: 1} for q in kept}


def multihop():
    queries = load("multihoprag-500-facts", "queries.json")["queries"]
    gold = load("multihoprag-500-facts", "ground_truth.json")
    docs, questions, qrels = {}, {}, {}
    for q in queries:
        evidence = gold[q["id"]]["evidence_list"]
        ids = [e["url"] + "\t" + e["fact"] for e in evidence]
        for i, e in zip(ids, evidence):
            docs[i] = " ".join([e["title"], e["source"], e["published_at"][:10], e["fact"]])
        if ids:
            questions[q["id"]] = q["question"]
            qrels[q["id"]] = dict.fromkeys(ids, 1)
    return docs, questions, qrels


def hotpot():
    docs, questions, qrels = {}, {}, {}
    for q in load("hotpotqa-100", "hotpotqa_100.json"):
        for title, sentences in q["context"]:
            docs[title] = title + " " + "".join(sentences)
        questions[q["_id"]] = q["question"]
        qrels[q["_id"]] = {title: 1 for title, _ in q["supporting_facts"]}
    return docs, questions, qrels


def cranfield():
    def smart(name):
        with open(path("cranfield", name), encoding="latin1") as f:
            for block in re.split(r"^\.I\s+", f.read(), flags=re.M)[1:]:
                number, rest = block.split("\n", 1)
                fields, current = collections.defaultdict(str), None
                for line in rest.split("\n"):
                    if m := re.fullmatch(r"\.([A-Z])\s*", line):
                        current = m.group(1)
                    elif current:
                        fields[current] += line + "\n"
                yield str(int(number)), fields

    docs = {i: f["T"] + " " + f["W"] for i, f in smart("cran.all.1400")}
    # Judgments number the questions by position, not by their own id.
    questions = {str(n): f["W"] for n, (_, f) in enumerate(smart("cran.qry"), 1)}
    qrels = collections.defaultdict(dict)
    with open(path("cranfield", "cranqrel")) as f:
        for fields in map(str.split, f):
            if len(fields) == 3 and fields[2] in "1234":
                qrels[fields[0]][fields[1]] = 1
    return docs, {q: questions[q] for q in qrels}, dict(qrels)


DEV = {"scifact-train": scifact_train}
TEST = {"scifact": scifact, "clapnq": clapnq, "squad2": squad2, "multihop": multihop, "hotpot": hotpot, "cranfield": cranfield}
