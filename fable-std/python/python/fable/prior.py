"""What users have in common, fitted from those who were there, for those who come.

>>> import fable
>>> policy = fable.Policy(fable.Catalog("tau2"), seed=1)
>>> likes = lambda n: [({}, action, (0.6 if action % 3 == 1 else -0.1) + 0.01 * n) for action in range(18)]
>>> prior = fable.prior.fit([likes(n) for n in range(12)], policy)
>>> newcomers = fable.Policy(fable.Catalog("tau2"), seed=1, prior=prior)
>>> newcomers.fingerprint != policy.fingerprint
True
"""

from __future__ import annotations

from ._fable import Policy, Prior, fit_prior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    from .types import Found, Users


def fit(
    users: Users,
    policy: Optional[Policy] = None,
    *,
    shrinkage: Optional[float] = None,
    choose_noise: bool = False,
    steps: Optional[int] = None,
) -> Prior:
    """A prior from what was learned of many users.

    ``users`` is a store, a list of exported users (``store.export(name)``), or a list with the observations of each user:
    ``(context, action, reward)``, or with a weight after them. Without a store the policy has to be given. Five users with
    something learned are the fewest. ``shrinkage`` keeps the whole mean with so many imagined users; users who are left out decide
    if it is not given. With ``choose_noise`` the prior is one for the noise variance that :func:`fit_telling` tells.

    Raises ``Unfit`` when there is nothing to fit from.
    """
    return fit_telling(users, policy, shrinkage=shrinkage, choose_noise=choose_noise, steps=steps)[0]


def fit_telling(
    users: Users,
    policy: Optional[Policy] = None,
    *,
    shrinkage: Optional[float] = None,
    choose_noise: bool = False,
    steps: Optional[int] = None,
) -> tuple[Prior, Found]:
    """The same, with what was found: how much of the mean is kept, what users left out gain, the noise variance."""
    return fit_prior(users, policy, shrinkage=shrinkage, choose_noise=choose_noise, steps=steps)
