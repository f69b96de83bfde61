"""Writes the worked example: a federated-learning run that must go on after a refactor.

    python testdata/fl/gen.py

old.pt was saved in the middle of round 3: client 0 has trained one of its two
epochs, client 1 is pending. new.pt is what the refactored program saves when it
starts: the encoder has moved from `enc` to `backbone.encoder`, there is a second
head, the buffer `freq_table` is gone, and the optimizer is fresh, so its state is
empty. rules.textproto takes the one to the other; rules-incomplete.textproto is
the same with mistakes in it, to show the report.

The committed files come from Python 3.11.2, torch 1.13.0, numpy 1.24.2, so that every
later version loads them. --check OUT loads a migrated file into the new program and goes on.
"""
import argparse
import os

import numpy as np
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


def encoder():
    return nn.Sequential(nn.Linear(8, 12), nn.BatchNorm1d(12), nn.ReLU())


class OldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = encoder()
        self.head = nn.Linear(12, 3)
        self.register_buffer("freq_table", torch.linspace(0, 1, 5))

    def forward(self, x):
        return self.head(self.enc(x))


class NewModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.ModuleDict({"encoder": encoder()})
        self.head = nn.Linear(12, 3)
        self.aux_head = nn.Linear(12, 2)

    def forward(self, x):
        h = self.backbone["encoder"](x)
        return self.head(h), self.aux_head(h)


def optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)


def train(model, opt, steps):
    """Takes real steps on a fixed toy problem; returns the sum of the losses."""
    x = torch.randn(16, 8)
    y = (x.sum(1) > 0).long()
    total = 0.0
    for _ in range(steps):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    return total


def parameters(model):
    """As the server holds them: a list of arrays, positions instead of names."""
    return [t.detach().numpy().copy() for t in model.state_dict().values()]


def client(i, **given):
    state = {
        "client_id": i,
        "epoch": {"current": 0, "total": 2, "status": "pending"},
        "model_state": None,
        "optimizer_state": None,
        "partial_metrics": {"loss_sum": 0.0, "epochs_done": 0},
        "partial_privacy": {"epsilon": 0.0, "steps": 0},
        "final_parameters": None,
        "final_metrics": None,
        "num_samples": 40 + i,
    }
    state.update(given)
    return state


def checkpoint(timestamp, model, rnd, clients, **privacy):
    return {
        "version": "2.0",
        "timestamp": timestamp,
        "run_name": "toy_dp_run",
        "round": {"current": rnd, "total": 5, "status": "in_progress"},
        "server": {"parameters": parameters(model), "best_dice": 0.0, "metrics": {"dice": 0.0, "loss": 0.0}},
        "clients": clients,
        "privacy": dict({
            "target_delta": 1e-5,
            "sample_history": [],
            "user_history": [],
            "cumulative_sample_epsilon": 0.0,
            "cumulative_user_epsilon": 0.0,
            "partial_round_epsilon": 0.0,
        }, **privacy),
    }


def old():
    server = OldModel()
    train(server, optimizer(server), 4)
    model = OldModel()
    model.load_state_dict(server.state_dict())
    opt = optimizer(model)
    loss = train(model, opt, 5)
    ckpt = checkpoint(
        "2024-01-15T10:30:00.123456", server, 3,
        {
            0: client(
                0,
                epoch={"current": 1, "total": 2, "status": "in_progress"},
                model_state=model.state_dict(),
                optimizer_state=opt.state_dict(),
                partial_metrics={"loss_sum": loss, "epochs_done": 1},
                partial_privacy={"epsilon": 0.173, "steps": 5},
            ),
            1: client(1),
        },
        sample_history=[(1.1, 0.02, 50), (1.1, 0.02, 50)],
        user_history=[(0.8, 0.5, 2)],
        cumulative_sample_epsilon=0.412,
        cumulative_user_epsilon=1.37,
        partial_round_epsilon=0.173,
    )
    ckpt["server"].update(best_dice=0.81, metrics={"dice": 0.79, "loss": 0.42})
    return ckpt


def new():
    model = NewModel()
    return checkpoint(
        "2024-02-01T09:00:00.000000", model, 1,
        {
            0: client(0, model_state=model.state_dict(), optimizer_state=optimizer(model).state_dict()),
            1: client(1),
        },
    )


def check(path):
    """Resumes the run from a migrated checkpoint, and compares it with old.pt."""
    kw = {"weights_only": False} if torch.__version__ >= "2" else {}
    was = torch.load(os.path.join(HERE, "old.pt"), **kw)
    now = torch.load(path, **kw)
    state = now["clients"][0]
    model = NewModel()
    model.load_state_dict(state["model_state"])
    opt = optimizer(model)
    opt.load_state_dict(state["optimizer_state"])
    old_model = OldModel()
    old_model.load_state_dict(was["clients"][0]["model_state"])
    x = torch.randn(16, 8)
    model.eval()
    old_model.eval()
    assert torch.equal(model(x)[0], old_model(x)), "the migrated model computes something else"
    model.train()
    train(lambda x: model(x)[0], opt, 1)
    for got, want in zip(now["server"]["parameters"], was["server"]["parameters"][1:]):
        assert np.array_equal(got, want)
    assert now["privacy"] == was["privacy"] and now["round"] == was["round"]
    print("the run goes on: round %d, client 0 at epoch %d" % (
        now["round"]["current"], state["epoch"]["current"]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--check", metavar="OUT")
    args = ap.parse_args()
    torch.manual_seed(7)
    if args.check:
        return check(args.check)
    torch.save(old(), os.path.join(HERE, "old.pt"))
    torch.save(new(), os.path.join(HERE, "new.pt"))


if __name__ == "__main__":
    main()
