"""Log-linear Bradley-Terry models for preference judgments, with ties, order effects and judge covariates.

>>> import llbt
>>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
>>> res.params.round(4).to_dict()
{'object[+]': 0.2778, 'tie': -0.6551}
"""

import sys

__version__ = "0.2.0"
TYPE_CHECKING = False  # what type checkers take as True; the module typing takes longer to import than this one

if TYPE_CHECKING:
    from .surface import *  # noqa: F403  # its __all__ says what
    from .surface import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        """Import a public name when it is asked for, and no other: help and completion in a shell need none of them."""
        import importlib

        surface = importlib.import_module(".surface", __name__)
        if name == "__all__":
            return surface.__all__
        if name not in surface.HOMES:
            raise importlib.import_module(".errors", __name__).unknown_name(__name__, name)
        home = importlib.import_module(f".{surface.HOMES[name]}", __name__)
        globals()[name] = home if surface.HOMES[name] == name else getattr(home, name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted(sys.modules[__name__].__all__)  # the rooms are attributes too, and no names to use
