"""Write the embedding as ONNX: int4 rows, each with a float32 scale.

Two nibbles share a byte; the graph unpacks them with Floor, Mul, Sub and
Concat, all of which a pure-Go runtime has. Inputs input_ids and attention_mask,
output last_hidden_state [batch, sequence, DIM]; the caller pools by the mask.
"""
import argparse
import os
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import common


def quantise(table):
    """Rows as integers in -7..7 and a scale: the best of several clippings."""
    peak = np.abs(table).max(1, keepdims=True) / 7
    peak[peak == 0] = 1
    best = None
    for clip in (1, 0.9, 0.8, 0.7, 0.6, 0.5):
        q = np.rint(table / (peak * clip)).clip(-7, 7)
        scale = (q * table).sum(1, keepdims=True) / np.maximum((q * q).sum(1, keepdims=True), 1e-12)
        error = ((q * scale - table) ** 2).sum(1, keepdims=True)
        if best is None:
            best = q, scale, error
        else:
            better = error < best[2]
            best = tuple(np.where(better, new, old) for new, old in zip((q, scale, error), best))
    return best[0].astype(np.int8), best[1].astype(np.float32)


def graph(table):
    q, scale = quantise(table)
    vocab, dim = q.shape
    nibbles = (q + 8).astype(np.uint8)
    packed = nibbles[:, : dim // 2] | (nibbles[:, dim // 2 :] << 4)
    constants = [("table", packed), ("scale", scale), ("sixteenth", np.float32(1 / 16)),
                 ("sixteen", np.float32(16)), ("eight", np.float32(8))]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["bytes"]),
        helper.make_node("Cast", ["bytes"], ["pair"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["pair", "sixteenth"], ["shifted"]),
        helper.make_node("Floor", ["shifted"], ["high"]),
        helper.make_node("Mul", ["high", "sixteen"], ["high16"]),
        helper.make_node("Sub", ["pair", "high16"], ["low"]),
        helper.make_node("Concat", ["low", "high"], ["nibbles"], axis=-1),
        helper.make_node("Sub", ["nibbles", "eight"], ["centred"]),
        helper.make_node("Gather", ["scale", "input_ids"], ["row_scale"]),
        helper.make_node("Mul", ["centred", "row_scale"], ["last_hidden_state"]),
    ]
    shape = ["batch_size", "sequence_length"]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape + [dim])
    g = helper.make_graph(nodes, "static", inputs, [output], [numpy_helper.from_array(v, n) for n, v in constants])
    model = helper.make_model(g, opset_imports=[helper.make_opsetid("", 13)], producer_name="touchstone-distill")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--table", default="embedding.npy")
    p.add_argument("--out", default=common.build("model"))
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    onnx.save(graph(np.load(common.build(args.table))), os.path.join(args.out, "model.onnx"))
    shutil.copyfile(common.build("tokenizer.json"), os.path.join(args.out, "tokenizer.json"))
    for name in ("model.onnx", "tokenizer.json"):
        path = os.path.join(args.out, name)
        print(f"{common.sha256(path)}  {name}  {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
