"""A stand-in for torch, for tests and the study only: Open Bandit Pipeline 0.4.1 imports it even where nothing of it is used.

Names can be imported and written in annotations; whoever makes an object of one is told that this is not torch.
"""
import sys
import types


class _Absent:
    def __init__(self, *_, **__):
        raise RuntimeError("this is a stub of torch, which is not installed")


class _Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (_Absent,), {})
        setattr(self, name, made)
        return made


for _name in ("nn", "nn.functional", "optim", "utils", "utils.data"):
    _whole = f"{__name__}.{_name}"
    sys.modules[_whole] = _Module(_whole)
    _parent, _, _leaf = _whole.rpartition(".")
    setattr(sys.modules[_parent], _leaf, sys.modules[_whole])
sys.modules[__name__].__class__ = _Module
