"""Small networks of known architectures, inference and a training step; tests/python/torch_networks.py has the published sizes too."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

import torch_networks as networks  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_networks_are_those_of_torch(name, device):
    measured = networks.measure(name, device)
    assert not networks.is_far(measured), measured
    assert not measured["others"]  # only products are left to torch
    assert measured["native"] + measured["products"] == measured["operations"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["GPT-2", "ResNet", "UNet"])
def test_networks_under_autocast(name, device):
    measured = networks.measure(name, device, autocast=True)
    assert not networks.is_far(measured), measured
