/* The least program for each capability, with a catalog that is part of the library: `tests/c/run size` builds it for a Cortex-M0 and
 * a Cortex-M4F, and the same in Rust (bare/), and compares. FINGERPRINT is that of reminders.rs. */
#include "fable.h"
#include "say.h"

#include <stdint.h>

#ifdef FINGERPRINT
#define JOIN(a, b) a##b
#define NAMED(fingerprint) JOIN(fable_catalog_, fingerprint)
extern const fable_policy NAMED(FINGERPRINT);
#endif

static FABLE_MEMORY(FABLE_USER_SIZE(3, 3, 26, 9, 0)) user_memory;
static FABLE_MEMORY(FABLE_WORKSPACE_SIZE(3, 26, 9, 3, 27)) workspace;

#ifndef FINGERPRINT
#include "reminders.h"
static FABLE_MEMORY(FABLE_POLICY_SIZE(3, 9, 3, 2, 8, 2, 0, 0, 2)) policy_memory;
#endif
#ifdef RECORD
static FABLE_MEMORY(FABLE_SNAPSHOT_SIZE(3, 3, 26, 9, 0, 2, 27)) snapshot;
#endif

static int play_round(fable_user *user, const fable_policy *policy, unsigned round)
{
    /* No arithmetic in floating point and no division: a compiler would bring its own for that, beside that of the library. */
    static const float levels[4] = {0.0f, 0.25f, 0.75f, 1.0f};
    static const double rewards[8] = {-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0};
    float signals[2];
    signals[0] = levels[round & 3];
    signals[1] = levels[round >> 2 & 3];
    fable_request request = {0};
    request.context.signals = signals;
    request.context.signal_count = 2;
    request.context.task = (uint16_t)FABLE_AT(round & 1);
    fable_decision decision;
    if (fable_decide(user, &request, &decision) != FABLE_OK) return 1;
#ifdef INSTRUCT
    char text[64];
    if (fable_instruct(policy, decision.action, text, sizeof text, NULL) != FABLE_OK) return 1;
#endif
    (void)policy;
#ifdef EXPLAIN
    fable_explanation why;
    fable_share shares[FABLE_SHARES(8)];
    size_t count;
    if (fable_explain(user, &decision.id, 0, NULL, 0, &why, shares, FABLE_COUNT(shares), &count) != FABLE_OK) return 1;
#endif
    return fable_feedback(user, &decision.id, rewards[(decision.action + round) & 7u]) != FABLE_OK;
}

int play(void)
{
    fable_user *user;
#ifdef FINGERPRINT
    const fable_policy *policy = &NAMED(FINGERPRINT);
#else
    static const fable_settings settings = FABLE_SETTINGS_PAPER;
    const fable_policy *policy;
    if (fable_policy_init(policy_memory.bytes, sizeof policy_memory.bytes, &minimal, &settings, &policy) != FABLE_OK) return 1;
#endif
    if (fable_user_init(user_memory.bytes, sizeof user_memory.bytes, policy, workspace.bytes, sizeof workspace.bytes, &user) != FABLE_OK)
        return 1;
    if (fable_start(user, 1) != FABLE_OK) return 1;
#ifdef ONBOARD
    static const fable_pair brief = {2, 0}, plain = {2, 1};
    static const fable_preference preference = {&brief, &plain, 1, 1, {FABLE_EVERYWHERE, 0}, 1.0, 1.0};
    if (fable_prefer(user, &preference) != FABLE_OK) return 1;
#endif
    for (unsigned round = 0; round < 120; round++) {
        if (play_round(user, policy, round) != 0) return 1;
    }
#ifdef PROMOTE
    if (fable_promote(user, 0, NULL) != FABLE_OK) return 1;
#endif
#ifdef RECORD
    size_t length;
    if (fable_save(user, snapshot.bytes, sizeof snapshot.bytes, &length) != FABLE_OK) return 1;
    if (fable_load(user, snapshot.bytes, length) != FABLE_OK) return 1;
#endif
    return 0;
}
