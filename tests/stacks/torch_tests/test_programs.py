# SPDX-License-Identifier: MIT
"""Programs on PyTorch's own kernels, compared with the CPU: training, sorting, random numbers, streams, pinned memory."""
import math

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def own_kernels():
    torch.manual_seed(7)
    with torch.backends.cudnn.flags(enabled=False):
        yield


class Attention(nn.Module):
    """Causal self-attention of several heads, with its residual and a small perceptron: a layer of GPT."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.before, self.after = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.perceptron = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in self.qkv(self.before(x)).chunk(3, 2))
        scores = q @ k.transpose(2, 3) / math.sqrt(width / self.heads)
        future = torch.ones(length, length, device=x.device).triu(1) > 0
        mixed = torch.softmax(scores.masked_fill(future, float("-inf")), 3) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.perceptron(self.after(x))


class Gpt(nn.Module):
    def __init__(self, symbols=17, width=32, length=12):
        super().__init__()
        self.symbols, self.places = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(Attention(width, 4), Attention(width, 4))
        self.head = nn.Linear(width, symbols)

    def forward(self, text):
        return self.head(self.layers(self.symbols(text) + self.places(torch.arange(text.shape[1], device=text.device))))


def convolutions():
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 5))


def perceptron():
    return nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 5))


def train(model, device, optimizer, x, y, steps=6):
    """The losses of the steps."""
    torch.manual_seed(3)
    model = model().to(device)
    x, y = x.to(device), y.to(device)
    update = optimizer(model.parameters())
    losses = []
    for _ in range(steps):
        update.zero_grad()
        scores = model(x)
        loss = nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), y.reshape(-1))
        loss.backward()
        update.step()
        losses.append(loss.item())
    return losses


OPTIMIZERS = {"sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9), "adam": lambda p: torch.optim.Adam(p, 1e-3),
              "rmsprop": lambda p: torch.optim.RMSprop(p, 1e-3)}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", [perceptron, convolutions, Gpt])
def test_training(model, optimizer):
    if model is Gpt:
        x, y = torch.randint(17, (4, 12)), torch.randint(17, (4, 12))
    else:
        x, y = torch.randn(8, 20) if model is perceptron else torch.randn(8, 1, 12, 12), torch.randint(5, (8,))
    right = train(model, "cpu", OPTIMIZERS[optimizer], x, y)
    assert train(model, "cuda", OPTIMIZERS[optimizer], x, y) == pytest.approx(right, rel=1e-4)
    assert right[-1] < right[0]


def test_transformer_layer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0)
    x = torch.randn(6, 3, 32)
    assert torch.allclose(layer.cuda()(x.cuda()).cpu(), layer.cpu()(x), atol=1e-5)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent(kind):
    layer, x = kind(10, 12, num_layers=2), torch.randn(5, 3, 10)
    right = layer(x)[0]
    assert torch.allclose(layer.cuda()(x.cuda())[0].cpu(), right, atol=1e-5)


@pytest.mark.parametrize("count", [1, 1000, 5000, 100000])
@pytest.mark.parametrize("kind", [torch.float, torch.half, torch.int, torch.long, torch.uint8])
def test_sort(count, kind):
    x = (torch.rand(count) * 200).to(kind)
    keys, places = x.cuda().sort(descending=True)
    right = x.double().sort(descending=True)[0]
    assert torch.equal(keys.cpu().double(), right) and torch.equal(x[places.cpu()].double(), right)


def test_distributions():
    for make, mean, deviation in ((torch.rand, 0.5, 12 ** -0.5), (torch.randn, 0, 1)):
        x = make(200000, device="cuda")
        assert abs(x.mean().item() - mean) < 0.01 and abs(x.std().item() - deviation) < 0.01
    drawn = torch.multinomial(torch.tensor([1.0, 0, 3], device="cuda"), 20000, replacement=True)
    assert abs(drawn.eq(2).float().mean().item() - 0.75) < 0.02 and not drawn.eq(1).any()
    assert torch.equal(torch.randperm(1000, device="cuda").sort()[0].cpu(), torch.arange(1000))
    torch.cuda.manual_seed(5)
    first = torch.rand(10, device="cuda")
    torch.cuda.manual_seed(5)
    assert torch.equal(first, torch.rand(10, device="cuda"))


def test_streams_events_and_pinned_memory():
    host = torch.randn(1 << 16).pin_memory()
    side, begun, over = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(side):
        begun.record()
        x = host.to("cuda", non_blocking=True)
        y = x * 2 + 1
        over.record()
    torch.cuda.current_stream().wait_event(over)
    z = y.cumsum(0)
    over.synchronize()
    assert begun.elapsed_time(over) >= 0 and side.query()
    assert torch.allclose(z.cpu(), (host * 2 + 1).cumsum(0), rtol=1e-3, atol=1e-1)


def test_loader_pins():
    data = torch.utils.data.TensorDataset(torch.arange(10.0))
    parts = [part[0].cuda(non_blocking=True) for part in torch.utils.data.DataLoader(data, 4, pin_memory=True)]
    assert torch.equal(torch.cat(parts).cpu(), torch.arange(10.0))


def test_memory_is_counted():
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4 << 20
    del x
    assert torch.cuda.memory_allocated() == before


def test_one_line_for_machine_code(capfd):
    """MAGMA's kernels are machine code: one line for each, and an error of Python."""
    with pytest.raises(RuntimeError):
        torch.inverse(torch.eye(64, device="cuda"))
    assert "embeds no PTX" in capfd.readouterr().err
