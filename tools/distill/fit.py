"""Fit the static embedding to the teacher.

Each entry's row is (x W + b + delta) * exp(s log(a / (a + p)) + u): x is the
teacher's vector of the entry alone, p its probability, a / (a + p) the smooth
inverse frequency of Arora et al. (2017). W, b, s are shared; delta and u are
the entry's own. A text is the normalised sum of its rows; the loss compares
it with the teacher's vector projected on DIM principal axes, and the cosines
within a batch with the teacher's. Writes BUILD/fitted.npy.
"""
import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import common

SEED = 7
SPECIAL = 4  # [PAD], [UNK], [CLS], [SEP]: zero rows


def parse(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=256)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--rate", type=float, default=2e-3)
    p.add_argument("--sif", type=float, default=1e-3)
    p.add_argument("--gram", type=float, default=20.0)
    p.add_argument("--l2", type=float, default=3.0)
    p.add_argument("--out", default="fitted.npy")
    return p.parse_args(argv)


def axes(entries, texts, dim):
    """Principal axes shared by single entries and texts, each of weight one."""

    def covariance(x):
        c = (x - x.mean(0)).T @ (x - x.mean(0)) / len(x)
        return c / np.trace(c)

    _, vectors = np.linalg.eigh((covariance(entries) + covariance(texts)).astype(np.float64))
    top = vectors[:, ::-1][:, :dim]
    # The sign of an eigenvector is arbitrary: fix it, so that runs agree.
    top = top * np.sign(top[np.abs(top).argmax(0), np.arange(dim)])
    return top.astype(np.float32)


def token_ids(texts):
    tk = Tokenizer.from_file(common.build("tokenizer.json"))
    encoded = tk.encode_batch([common.strip_marks(t) for t in texts], add_special_tokens=False)
    return [torch.tensor([i for i in e.ids[:200] if i >= SPECIAL] or [SPECIAL]) for e in encoded]


class Static(torch.nn.Module):
    def __init__(self, entries, freq, start, sif):
        super().__init__()
        vocab, dim = len(entries), start.shape[1]
        live = torch.arange(vocab) >= SPECIAL
        self.register_buffer("live", live.float()[:, None])
        self.register_buffer("x", torch.tensor(entries) * self.live)
        self.register_buffer("log_sif", torch.tensor(np.log(sif / (sif + freq)), dtype=torch.float32))
        self.W = torch.nn.Parameter(torch.tensor(start))
        self.b = torch.nn.Parameter(torch.zeros(dim))
        self.s = torch.nn.Parameter(torch.ones(1))
        self.delta = torch.nn.Parameter(torch.zeros(vocab, dim))
        self.u = torch.nn.Parameter(torch.zeros(vocab))

    def table(self):
        weight = torch.exp(self.s * self.log_sif + self.u).clamp(max=20)[:, None]
        return (self.x @ self.W + self.b + self.delta) * weight * self.live


def bag(table, sequences):
    offsets = np.cumsum([0] + [len(s) for s in sequences[:-1]])
    return F.normalize(F.embedding_bag(torch.cat(sequences), table, torch.tensor(offsets), mode="sum"), dim=1)


def main():
    args = parse()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    entries = np.load(common.build("entries.npy"))
    freq = np.maximum(np.load(common.build("freq.npy")), 1e-8)
    texts = np.load(common.build("texts.npy"))
    sequences = token_ids(common.fit_texts())
    assert len(sequences) == len(texts)

    start = axes(entries[SPECIAL:], texts, args.dim)
    model = Static(entries - entries[SPECIAL:].mean(0), freq, start, args.sif)
    if args.epochs == 0:
        np.save(common.build(args.out), model.table().detach().numpy())
        return

    goal, full = torch.tensor(texts @ start), torch.tensor(texts)
    r = args.rate
    optimiser = torch.optim.Adam([
        {"params": [model.W, model.b, model.s], "lr": r},
        {"params": [model.delta], "lr": r},
        {"params": [model.u], "lr": 3 * r},
    ])
    shuffle = np.random.RandomState(1)
    order = shuffle.permutation(len(texts))
    held, train = order[:2000], order[2000:]
    steps = args.epochs * (len(train) // args.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, [r, r, 3 * r], total_steps=steps + 1, pct_start=0.1)
    for epoch in range(args.epochs):
        shuffle.shuffle(train)
        for i in range(0, len(train) - args.batch + 1, args.batch):
            rows = train[i : i + args.batch]
            v = bag(model.table(), [sequences[j] for j in rows])
            cosine = (1 - F.cosine_similarity(v, goal[rows])).mean()
            gram = ((v @ v.T - full[rows] @ full[rows].T) ** 2).mean()
            ridge = (model.delta**2).sum(1).mean()
            loss = cosine + args.gram * gram + args.l2 * ridge + 1e-3 * (model.u**2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            v = bag(model.table(), [sequences[j] for j in held])
            print(f"epoch {epoch + 1}: held-out cosine {F.cosine_similarity(v, goal[held]).mean().item():.4f}", flush=True)
    table = model.table().detach().numpy()
    assert math.isfinite(float(np.abs(table).max()))
    np.save(common.build(args.out), table)


if __name__ == "__main__":
    main()
