"""Serves a model on AWS Lambda, with the layer that tools/lambda_layer.py makes.  Handler: handler.handler

The function's folder holds this file and model.pth, the state dict that training saved.  A request's body is a JSON list of
rows of four numbers; the answer's is the list of their classes.
"""
import json
from pathlib import Path

import retrograd as torch
from retrograd import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))      # as in training
model.load_state_dict(torch.load(Path(__file__).with_name("model.pth")))    # once per instance
model.eval()


def handler(event, context):
    try:
        x = torch.tensor(json.loads(event["body"]), dtype=torch.float32)
        with torch.inference_mode():
            classes = model(x).argmax(1).tolist()
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as e:
        return {"statusCode": 400, "body": json.dumps({"error": f"{type(e).__name__}: {e}"})}
    return {"statusCode": 200, "body": json.dumps(classes)}
