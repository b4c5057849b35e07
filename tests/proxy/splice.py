"""Whether a request that went through the proxy is, byte for byte, the one of the client with an instruction spliced in."""

import json

DECODER = json.JSONDecoder()
WHITE = " \t\r\n"


class Changed(AssertionError):
    """Something is different that has to be the same."""


def same(before, after, what):
    if before != after:
        if isinstance(before, dict) or isinstance(after, dict):
            before, after = repr(before), repr(after)
        at = next((n for n, (one, other) in enumerate(zip(before, after)) if one != other), min(len(before), len(after)))
        around = slice(max(0, at - 40), at + 40)
        raise Changed(f"{what} is not the same at {at}: {before[around]!r} became {after[around]!r}")


def spans(text, at):
    """Name, beginning and end of each value in the object or list at a place, and the place of its closing bracket."""
    found, is_object = [], text[at] == "{"
    at += 1
    while True:
        while text[at] in WHITE + ",":
            at += 1
        if text[at] in "]}":
            return found, at
        begin, name = at, None
        if is_object:
            name, at = DECODER.raw_decode(text, at)
            while text[at] in WHITE + ":":
                at += 1
        value = at
        _, at = DECODER.raw_decode(text, at)
        found.append((name, begin, value, at))


def last_end(elements, at):
    """Where the last of some elements ends, or their list begins."""
    return elements[-1][3] if elements else at + 1


def inserted(before, at, after, place, what):
    """What was appended to the list at `at` in `before`, which is at `place` in `after`: exactly one element."""
    old, _ = spans(before, at)
    new, end = spans(after, place)
    same(before[at : last_end(old, at)], after[place : last_end(new[: len(old)], place)], what)
    if len(new) != len(old) + 1:
        raise Changed(f"{what}: {len(new) - len(old)} elements were appended instead of one")
    begin = last_end(new[:-1], place)
    if old:  # white space before the comma was there
        begin = after.index(",", begin)
    return json.loads(after[new[-1][2] : new[-1][3]]), (begin, new[-1][3])


def instruction(path, before, after, old, new):
    """The instruction in `after`, and the span that it takes there, if it is an insertion and nothing else."""
    name = "input" if path == "/v1/responses" else "messages"
    (_, _, at, end), (_, _, place, close) = old[name], new[name]
    if before[at] == '"':  # a text becomes a list of a message with it, and the instruction
        made = json.loads(after[place:close])
        if len(made) != 2 or before[at:end] not in after[place:close]:
            raise Changed(f"input {before[at:end]} became {after[place:close]}")
        same([made[0].get("role"), made[0]["content"]], ["user", json.loads(before[at:end])], "the message")
        return check_role(made[1]), None
    if path != "/v1/messages":
        message, span = inserted(before, at, after, place, name)
        return check_role(message), span
    elements, _ = spans(before, at)
    others, _ = spans(after, place)
    if len(elements) != len(others):
        raise Changed(f"{len(elements)} messages became {len(others)}")
    _, _, at, end = elements[-1]
    _, _, place, close = others[-1]
    same(before[:at], after[:place], "what is before the last message")
    old, new = ({part[0]: part for part in spans(text, where)[0]} for text, where in ((before, at), (after, place)))
    same(list(old), list(new), "the last message")
    content, grown = old["content"], new["content"]
    if before[content[2]] == '"':
        parts = json.loads(after[grown[2] : grown[3]])
        same(parts[:-1], [{"type": "text", "text": json.loads(before[content[2] : content[3]])}], "the content")
        if before[content[2] : content[3]] not in after[grown[2] : grown[3]]:
            raise Changed("the text of the last message was written anew")
        part, span = parts[-1], None
    else:
        part, span = inserted(before, content[2], after, grown[2], "the content")
    same([part.get("type"), sorted(part)], ["text", ["text", "type"]], "the block")
    return part["text"], span


def check_role(message):
    if message.get("role") not in ("system", "developer"):
        raise Changed(f"the instruction has the role {message.get('role')!r}")
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def compare(path, before, after):
    """The instruction and the choice of tools (or None) that the proxy has put into the body `before`.

    Everything else has to be in `after` as it was, byte for byte and in the same order.
    """
    before, after = before.decode(), after.decode()
    old, new = ({part[0]: part for part in spans(text, text.index("{"))[0]} for text in (before, after))
    names = [name for name in new if name != "tool_choice" or name in old]
    same(list(old), names, "the order of members")
    told, span = instruction(path, before, after, old, new)
    if not told.strip():
        raise Changed("the instruction is empty")
    for name, (_, begin, _, end) in old.items():
        if name not in ("input", "messages", "tool_choice"):
            same(before[begin:end], after[new[name][1] : new[name][3]], name)
    choice = None
    if "tool_choice" in new:
        _, begin, value, end = new["tool_choice"]
        choice = json.loads(after[value:end])
    if "tool_choice" in old:
        own = json.loads(before[old["tool_choice"][2] : old["tool_choice"][3]])
        if own != "auto":
            same(own, choice, "the client's own tool_choice")
        return told, choice if choice != own else None
    if span is not None:  # without what was put in, nothing is left that was not there
        rest, gone = after, [span]
        if choice is not None:
            gone.append((begin, end))
        for start, stop in sorted(gone, reverse=True):
            rest = rest[:start] + rest[stop:]
        if choice is not None:  # the comma of the member that was put in
            at = begin - sum(stop - start for start, stop in gone if stop <= begin)
            left, right = rest[:at].rstrip(WHITE), rest[at:]
            rest = left[:-1] + right if left.endswith(",") else left + right.lstrip(WHITE + ",")
        same(before, rest, "what is left without the instruction")
    return told, choice
