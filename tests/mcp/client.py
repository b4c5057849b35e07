"""Talks to `fable mcp` with the official client in Python, unmodified: client.py FABLE FOLDER [ADDRESS]

With an address the tools ask the service there, whose token is in FABLE_TOKEN; otherwise a store in the folder."""

import asyncio
import sys

from mcp import Client, MCPError, StdioServerParameters

FABLE, FOLDER, *ADDRESS = sys.argv[1:]
TOOLS = ["profile", "decide", "recommend", "feedback", "why", "preferences", "forget"]
READS = {"profile", "recommend", "why"}


def server(user):
    import os

    place = ["--service", ADDRESS[0]] if ADDRESS else ["--store", f"{FOLDER}/users.fable"]
    env = {key: os.environ[key] for key in ["FABLE_TOKEN", "PATH"] if key in os.environ}
    return StdioServerParameters(command=FABLE, args=["mcp", "--user", user, *place], env=env)


async def told(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content)
    [content] = result.content
    assert content.type == "text" and content.text, result
    return result.structured_content, content.text


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, (tool, arguments, result)
    return result.content[0].text


async def introduce(mode):
    """Versions with and without `initialize`."""
    async with Client(server("somebody"), mode=mode) as client:
        assert client.server_info.name == "fable", client.server_info
        assert "feedback" in client.instructions
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == TOOLS
        for tool in listed:
            assert tool.input_schema["type"] == "object" and tool.input_schema["additionalProperties"] is False
            assert tool.annotations.read_only_hint == (tool.name in READS), tool
            assert tool.annotations.destructive_hint == (tool.name == "forget"), tool
        print(mode, client.protocol_version)
        return client.protocol_version


async def live():
    async with Client(server("ana")) as client:
        data, text = await told(client, "profile")
        assert data["decisions"] == 0 and "Nothing is certain yet" in text, text
        assert "no decision" in await refused(client, "why")
        assert "no decision" in await refused(client, "feedback", reward=1)

        said = "I like short answers. Never search the web. I love purple monkeys."
        data, text = await told(client, "preferences", say=said)
        assert "Would be taken as a rule" in text and "confirm: true" in text and not data["kept"], text
        assert "no rules" in (await told(client, "preferences"))[1]
        data, text = await told(client, "preferences", say=said, confirm=True)
        assert "style=concise" in text and "tool=web_search" in text and "Not understood" in text, text
        assert len(data["statements"]) == 1 and len(data["rules"]) == 1
        data, text = await told(client, "preferences")
        assert "never tool=web_search" in text or "web_search" in str(data), (data, text)

        data, text = await told(client, "recommend", request="What's the weather in Oslo today?")
        assert data["action"]["tool"] != "web_search" and "decision" not in data, data
        for _ in range(5):
            data, text = await told(client, "decide", request="What's the weather in Oslo today?")
            assert data["action"]["tool"] != "web_search" and data["context"]["task"] == "factual"
            assert data["instruction"] in text and data["decision"] in text
        decision = data["decision"]
        history = [{"request": "Translate 'good morning' into German", "answer": "Guten Morgen", "action": data["action"], "reward": 0.5}]
        data, text = await told(client, "recommend", request="and in French?", history=history)
        assert data["context"]["task"] == "translation", data
        assert data["context"] != (await told(client, "recommend", request="and in French?"))[0]["context"]
        data, text = await told(client, "why")
        assert data["decision"] == decision and data["chosen"] and "Chosen:" in text, text
        data, text = await told(client, "feedback", words="thanks, that's perfect")
        assert data["learned"] and data["decision"] == decision and data["reward"] > 0.8, data
        data, text = await told(client, "feedback", words="Now translate it into French")
        assert not data["learned"], data
        assert "duplicate_feedback" in await refused(client, "feedback", reward=0.5, decision=decision)
        data, _ = await told(client, "feedback", reward=-0.5)
        assert data["decision"] != decision and data["observations"] == 2, data

        data, text = await told(client, "preferences", take_back=["tool=web_search"])
        assert not data["lifted"] and "confirm: true" in text, text
        await told(client, "preferences", take_back=["tool=web_search"], confirm=True)
        data, text = await told(client, "preferences")
        assert "no rules" in text or "web_search" not in str(data), (data, text)

        for tool, arguments in [
            ("feedback", {}),
            ("feedback", {"reward": 2}),
            ("feedback", {"reward": 1, "words": "fine"}),
            ("feedback", {"reward": 1, "decision": "00000000000000ab-0-1"}),
            ("decide", {}),
            ("decide", {"request": "hi", "user": "ben"}),
            ("decide", {"context": {"task": "golf"}}),
            ("decide", {"request": "and in French?", "history": [{"answer": "Bonjour"}]}),
            ("preferences", {"say": 7}),
            ("forget", {}),
            ("forget", {"confirm": False}),
        ]:
            await refused(client, tool, **arguments)
        try:
            await client.call_tool("backup", {"file": "/tmp/stolen"})
            raise AssertionError("there is a tool that should not be")
        except MCPError as error:
            assert "no such tool" in str(error), error

    # Another session knows what this one learned, and somebody else's does not.
    async with Client(server("ana")) as client:
        data, _ = await told(client, "profile")
        assert (data["decisions"], data["rewards"]) == (5, 2), data
    async with Client(server("ben")) as client:
        data, _ = await told(client, "profile")
        assert (data["decisions"], data["rewards"]) == (0, 0), data
    async with Client(server("ana")) as client:
        data, text = await told(client, "forget", confirm=True)
        assert data == {"forgotten": True} and "forgotten" in text
        data, _ = await told(client, "profile")
        assert (data["decisions"], data["rewards"]) == (0, 0), data


async def main():
    versions = [await introduce(mode) for mode in ["auto", "legacy"]]
    assert versions[0] != versions[1], versions
    await live()
    print("every tool does what it says")


asyncio.run(main())
