"""Vowpal Wabbit by hand, with the interface of OBP's policies: arms by number, context features by number, their products, epsilon 0.05."""

import numpy as np
from vowpalwabbit import pyvw

from obp.policy.policy_type import PolicyType


class VowpalPolicy:
    """``--cb_explore_adf`` with ``-q xa``; a list is drawn without putting back."""

    policy_type = PolicyType.CONTEXTUAL

    def __init__(self, n_actions, len_list, random_state):
        self.n_actions, self.len_list, self.n_trial = n_actions, len_list, 0
        self._random = np.random.RandomState(random_state)
        self._vw = pyvw.Workspace(
            f"--cb_explore_adf --epsilon 0.05 -q xa --ignore_linear x --random_seed {random_state} --quiet"
        )
        self._last = None

    def _lines(self, context, label=None):
        shared = "shared |x " + " ".join(f"{place}:{value:g}" for place, value in enumerate(context[0]) if value)
        action, cost, probability = label or (None, None, None)
        marks = [f"0:{cost:g}:{probability:g} " if place == action else "" for place in range(self.n_actions)]
        return [shared] + [f"{mark}|a {place}" for place, mark in enumerate(marks)]

    def probabilities(self, context):
        made = np.array(self._vw.predict(self._lines(context)))
        return made / made.sum()

    def select_action(self, context):
        left = self._last = self.probabilities(context)
        chosen = []
        for _ in range(self.len_list):
            chosen.append(int(self._random.choice(self.n_actions, p=left / left.sum())))
            left = np.where(np.arange(self.n_actions) == chosen[-1], 0.0, left)
        return np.array(chosen)

    def update_params(self, action, reward, context):
        self.observe(action, reward, context, self._last[action])

    def observe(self, action, reward, context, probability):
        """Learns what something else chose, with the probability that it had there."""
        self._vw.learn(self._lines(context, (action, -reward, probability)))
        self.n_trial += 1

    def best(self, context):
        return int(self.probabilities(context).argmax())
