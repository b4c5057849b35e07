"""What the tests of the adapters share: checks that say what they check, and count."""

import sys

passed = 0


def check(holds, what, seen=None):
    """Ends the test with what was seen unless something holds."""
    global passed
    if not holds:
        sys.exit(f"FAILED: {what}" + ("" if seen is None else f"\n  seen: {seen!r}"))
    passed += 1


def raises(kind, call, what, words=""):
    """Checks that a call raises an error of that kind with these words in it; gives it back."""
    try:
        seen = call()
    except kind as error:
        check(words in str(error), f"{what}: the error says '{words}'", str(error))
        return error
    return check(False, f"{what}: {kind} is raised", seen)


def done():
    print(f"   {passed} checks")
