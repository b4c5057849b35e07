#!/usr/bin/env python3
"""The package `langchain` 1.x, unmodified: real agents with a tool loop around a chat model that records what it is given."""

import asyncio
import doctest
import logging
import tempfile
import threading
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

import fable
import fable.assistant
import fable.text
from fable.langchain import FableMiddleware
from parts import check, done, raises

SIGNALS = {"risk": 0.1, "ambiguity": 0.1, "memory_need": 0.1, "tool_need": 0.1}
CONTEXT = {"task": "coding", **SIGNALS}
MARK = "For this answer: "


@tool
def look_up(what: str) -> str:
    """Looks something up."""
    return f"{what} is 42"


@dataclass
class Caller:
    user_id: str


class Recorder(BaseChatModel):
    """Calls the tool as often as the last words of the user say, then answers; and keeps what it was given."""

    given: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "recorder"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.given.append(list(messages))
        last = max(place for place, message in enumerate(messages) if message.type == "human" and not message.content.startswith(MARK))
        used = sum(message.type == "tool" for message in messages[last:])
        if used < messages[last].content.count("look"):
            call = {"name": "look_up", "args": {"what": "it"}, "id": f"call {len(self.given)}"}
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])
        return ChatResult(generations=[ChatGeneration(message=AIMessage("It is 42."))])


def agent(layer, *more):
    model = Recorder(given=[])
    made = create_agent(model, [look_up], system_prompt="Be kind.", middleware=[layer, *more], context_schema=Caller)
    return made, model


def layer(**options):
    policy = fable.Policy(fable.Catalog("agent"), seed=3)
    return FableMiddleware(policy, **{"context": CONTEXT, **options})


def invoke(made, words, user="ana", before=()):
    return made.invoke({"messages": [*before, HumanMessage(words)]}, context=Caller(user))


def told(messages):
    """The instruction, which is the last message and the only one of its kind."""
    check([MARK in str(message.content) for message in messages].count(True) == 1, "there is one instruction", messages)
    check(messages[-1].content.startswith(MARK), "the instruction is the last message", messages[-1])
    return messages[-1].content


def tool_loop(asynchronous):
    fabled = layer()
    made, model = agent(fabled)
    if asynchronous:
        state = asyncio.run(made.ainvoke({"messages": [HumanMessage("look and look")]}, context=Caller("ana")))
    else:
        state = invoke(made, "look and look")
    check(len(model.given) == 3, "the model was called three times", len(model.given))
    check(len({told(messages) for messages in model.given}) == 1, "all calls of a turn have the same instruction")
    check(fabled.assistant.user("ana").rounds == 1, "one decision was made", fabled.assistant.user("ana").rounds)
    bare = create_agent(Recorder(given=[]), [look_up], system_prompt="Be kind.").invoke({"messages": [HumanMessage("look and look")]})
    check(list(map(plain, state["messages"])) == list(map(plain, bare["messages"])), "nothing of it is left in the agent's state", state["messages"])
    check(isinstance(model.given[0][0], SystemMessage) and model.given[0][0].content == "Be kind.", "the system prompt is untouched")
    for earlier, later in zip(model.given, model.given[1:]):
        check(later[: len(earlier) - 1] == earlier[:-1], "what a call has before the instruction begins the next call")
    fabled.feedback(fabled.last("ana"), 0.5)
    check(fabled.assistant.user("ana").observations == 1, "the reward was learned")
    raises(fable.DuplicateFeedback, lambda: fabled.feedback(fabled.last("ana"), 0.5), "a second reward")
    raises(fable.UnknownDecision, lambda: fabled.feedback("nothing", 0.5), "a decision of nobody")
    invoke(made, "And now?", before=state["messages"])
    check(fabled.assistant.user("ana").rounds == 2, "the next turn has a decision of its own")
    invoke(made, "look and look")
    check(fabled.assistant.user("ana").rounds == 3, "and so has a new turn with the words of an old one, which was answered")


def learns():
    """A user who likes concise answers gets them; another one is not affected."""
    fabled = layer()
    made, model = agent(fabled)
    for number in range(60):
        invoke(made, f"Question {number}")
        decision = fabled.last("ana")
        style = next(turn for turn in fabled.assistant._turns.values() if turn.decision == decision).action["style"]
        fabled.feedback(decision, 0.9 if style == "concise" else -0.3)
    styles = [turn.action["style"] for turn in list(fabled.assistant._turns.values())[-20:]]
    check(styles.count("concise") >= 16, "she gets them", styles)
    check(fabled.assistant.user("ben").observations == 0, "nothing was learned about anybody else")


def rules():
    fabled = layer(rules=lambda user, said: {"forbid": [{"style": "concise"}]} if user == "ana" else {})
    made, _ = agent(fabled)
    for number in range(40):
        invoke(made, f"Question {number}")
        turn = list(fabled.assistant._turns.values())[-1]
        check(turn.action["style"] != "concise", "nothing forbidden is chosen, however well it would be liked")
        fabled.feedback(turn.decision, -1.0)


def reactions():
    """What a user says about an answer is its reward, if the application can read it."""
    fabled = layer(reaction=lambda words: 1.0 if words.startswith("Thanks") else None)
    made, _ = agent(fabled)
    state = invoke(made, "What is it?")
    state = invoke(made, "Thanks! And the other one?", before=state["messages"])
    check(fabled.assistant.user("ana").observations == 1, "thanks are a reward")
    invoke(made, "And the third one?", before=state["messages"])
    check(fabled.assistant.user("ana").observations == 1, "a question is none")


def words():
    """Without functions of the application's the rules of fable.text read what was said: what it is about, and how it was taken."""
    fabled = FableMiddleware(fable.Policy(fable.Catalog("agent"), seed=3))
    read = []
    original, fabled.assistant._context = fabled.assistant._context, lambda said: read.append(original(said)) or read[-1]
    made, _ = agent(fabled)
    state = invoke(made, "Fix the bug in parser.rs")
    check(read[-1]["task"] == "coding" and set(read[-1]) == {"task", *SIGNALS}, "a task is read", read)
    state = invoke(made, "Thanks, that's perfect! Now translate it into French", before=state["messages"])
    check(read[-1]["task"] == "translation", "and the next one, after the thanks", read)
    check(fabled.assistant.user("ana").observations == 1, "which are a reward")
    invoke(made, "Who wrote Emma?", before=state["messages"])
    check(fabled.assistant.user("ana").observations == 1, "a question is none")
    quiet = FableMiddleware(fable.Policy(fable.Catalog("agent")), reaction=False)
    made, _ = agent(quiet)
    state = invoke(made, "Fix the bug in parser.rs")
    invoke(made, "Thanks, that's perfect!", before=state["messages"])
    check((quiet.assistant.user("ana").rounds, quiet.assistant.user("ana").observations) == (2, 0), "unless nobody is to read it")


def stored():
    """Users in a store are there in the next process, and their decisions too."""
    with tempfile.TemporaryDirectory() as folder:
        policy = fable.Policy(fable.Catalog("agent"))
        with fable.Store(f"{folder}/users.fable", policy) as store:
            fabled = FableMiddleware(store, context=CONTEXT)
            invoke(agent(fabled)[0], "Hello")
            fabled.feedback(fabled.last("ana"), 0.5)
        check(fabled.assistant.turn("ana", [("user", "Hello again")]) is None, "a closed store: the request goes on as it came")
        raises(fable.Closed, lambda: fabled.assistant.user("ana"), "but whoever asks is told")
        with fable.Store(f"{folder}/users.fable", policy) as store:
            check((store.users(), store.user("ana").observations) == (["ana"], 1), "what was learned is there", store.users())


def steps_aside():
    """Without a user, and whatever is wrong with Fable, the model gets what it would get without Fable."""

    def broken(*_):
        raise RuntimeError("broken")

    logging.getLogger("fable").setLevel(logging.CRITICAL)
    alone = Recorder(given=[])
    create_agent(alone, [look_up], system_prompt="Be kind.").invoke({"messages": [HumanMessage("look")]})
    for what, options, user in (
        ("no user", {}, ""),
        ("a context that fails", {"context": broken}, "ana"),
        ("a context of another catalog", {"context": {"task": "golf"}}, "ana"),
        ("rules that leave nothing", {"rules": lambda *_: {"only": []}}, "ana"),
        ("rules that fail", {"rules": broken}, "ana"),
        ("a user function that fails", {"user": broken}, "ana"),
        ("a reaction that fails", {"reaction": broken}, "ana"),
    ):
        fabled = layer(**options)
        made, model = agent(fabled)
        state = invoke(made, "look", user=user)
        if what == "a reaction that fails":
            model.given.clear()
            state = {"messages": invoke(made, "More", user=user, before=state["messages"])["messages"]}
            check(not any(MARK in message.content for message in model.given[-1]), f"{what}: no instruction")
        else:
            check([list(map(plain, call)) for call in model.given] == [list(map(plain, call)) for call in alone.given], f"{what}: as without Fable")
        check(state["messages"][-1].content == "It is 42." and fabled.assistant.bypassed > 0, f"{what}: there is an answer")
    raises(ValueError, lambda: layer(role="tool"), "a role that is none")


def plain(message):
    return message.type, message.content


def many_at_once():
    """Threads share the middleware; every turn has a decision and every reward arrives."""
    fabled = layer(role="human")
    made, model = agent(fabled)

    def talk(name):
        for number in range(10):
            invoke(made, f"{name} {number}", user=f"user {number % 3}")

    threads = [threading.Thread(target=talk, args=(f"thread {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rounds = sum(fabled.assistant.user(f"user {number}").rounds for number in range(3))
    check((rounds, fabled.assistant.bypassed) == (80, 0), "80 turns, 80 decisions", (rounds, fabled.assistant.bypassed))
    check(all(isinstance(messages[-1], HumanMessage) for messages in model.given), "the role is the one that was asked for")


class Nothing(AgentMiddleware):
    """Another middleware in the chain."""

    def wrap_model_call(self, request, handler):
        return handler(request)


def chained():
    fabled = layer()
    made, model = agent(fabled, Nothing())
    invoke(made, "Hello")
    told(model.given[0])


if __name__ == "__main__":
    logging.getLogger("fable").setLevel(logging.ERROR)
    for module, least in ((fable.assistant, 8), (fable.text, 6)):
        found = doctest.testmod(module)
        check(found.attempted > least and found.failed == 0, f"the examples of {module.__name__} run", found)
    tool_loop(asynchronous=False)
    tool_loop(asynchronous=True)
    learns()
    rules()
    reactions()
    words()
    stored()
    steps_aside()
    many_at_once()
    chained()
    done()
