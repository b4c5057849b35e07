/* Plays some rounds with a generated catalog and prints what is decided. Compiled once per catalog, as C and as C++, with
 *
 *   HEADER   the header, "lamp.h"
 *   LOWER    how names begin in it, lamp
 *   UPPER    the same for macros, LAMP
 *   BUILTIN  if the library was built for the catalog */
#include HEADER
#include <stdio.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define OWN(name) JOIN(UPPER, name)

static FABLE_MEMORY(OWN(_USER_SIZE)) user_memory;
static FABLE_MEMORY(OWN(_WORKSPACE_SIZE)) workspace;
static unsigned char snapshot[OWN(_SNAPSHOT_SIZE)];
#ifndef BUILTIN
static FABLE_MEMORY(OWN(_POLICY_SIZE)) policy_memory;
#endif

static int failed(const char *what, fable_status status)
{
    printf("%s: %s\n", what, fable_status_text(status));
    return 1;
}

/* Whether a size of the header is enough, and not much more than that. */
static int wrong(const char *what, size_t macro, size_t exact, size_t more)
{
    if (macro >= exact && macro <= exact + more) return 0;
    printf("%s: %lu of %lu\n", what, (unsigned long)macro, (unsigned long)exact);
    return 1;
}

int main(void)
{
    const fable_policy *policy = NULL;
    fable_user *user = NULL;
    fable_shape shape;
    uint64_t fingerprint = 0, hash = 0;
    fable_status status;
    size_t length = 0;
    unsigned round;
#ifdef BUILTIN
    policy = OWN(_POLICY);
#else
    status = JOIN(LOWER, _policy_init)(policy_memory.bytes, sizeof policy_memory.bytes, &policy);
    if (status != FABLE_OK) return failed("policy", status);
    if (wrong("policy", sizeof policy_memory.bytes, fable_policy_size(&JOIN(LOWER, _catalog)), 2048)) return 1;
#endif
    if (fable_fingerprint(policy, &fingerprint) != FABLE_OK || fingerprint != OWN(_FINGERPRINT)) return failed("fingerprint", 0);
    status = fable_user_init(user_memory.bytes, sizeof user_memory.bytes, policy, workspace.bytes, sizeof workspace.bytes, &user);
    if (status != FABLE_OK) return failed("user", status);
    if (fable_policy_shape(policy, &shape) != FABLE_OK || shape.actions != OWN(_ACTIONS) || shape.dimension != OWN(_DIMENSION) ||
        shape.signals != OWN(_SIGNALS))
        return failed("shape", 0);
    if (wrong("user", sizeof user_memory.bytes, fable_user_size(policy), 128)) return 1;
    if (wrong("workspace", sizeof workspace.bytes, fable_workspace_size(policy), 128)) return 1;
    if (wrong("snapshot", sizeof snapshot, fable_snapshot_size(policy), 128)) return 1;
    if (fable_user_hash("ana", &hash) != FABLE_OK || fable_start(user, hash) != FABLE_OK) return failed("start", 0);
    printf("%016llx %u %u\n", (unsigned long long)fingerprint, (unsigned)shape.actions, (unsigned)shape.dimension);
    for (round = 0; round < 24; round++) {
        float signals[FABLE_MAX_SIGNALS];
        fable_request request = {{NULL, 0, 0}, NULL, NULL, 0, 0};
        fable_decision decision;
        unsigned signal, component;
        for (signal = 0; signal < shape.signals; signal++) signals[signal] = (float)((signal * 7 + round * 3) % 11) / 10.0f;
        request.context.signals = signals;
        request.context.signal_count = shape.signals;
        request.context.task = (uint16_t)(shape.tasks == 0 || round % 5 == 4 ? 0 : FABLE_AT(round % shape.tasks));
        status = fable_decide(user, &request, &decision);
        printf("%d", (int)status);
        if (status == FABLE_OK) {
            double reward = (double)((decision.action * 7u + round * 3u) % 9u) / 4.0 - 1.0;
            uint64_t bits = 0;
            memcpy(&bits, &decision.baseline, sizeof bits);
            printf(" %u %016llx", (unsigned)decision.action, (unsigned long long)bits);
            for (component = 0; component < shape.components; component++) printf(" %u", (unsigned)decision.values[component]);
            printf(" %d", (int)fable_feedback(user, &decision.id, reward));
        }
        printf("\n");
    }
    status = fable_save(user, snapshot, sizeof snapshot, &length);
    if (status != FABLE_OK) return failed("save", status);
    fingerprint = UINT64_C(0xcbf29ce484222325);
    for (round = 0; round < length; round++) fingerprint = (fingerprint ^ snapshot[round]) * UINT64_C(0x100000001b3);
    printf("%lu %016llx\n", (unsigned long)length, (unsigned long long)fingerprint);
    for (round = 0; round < shape.actions; round++) {
        static char text[65536];
        size_t byte;
        if (fable_instruct(policy, (uint16_t)round, text, sizeof text, &length) != FABLE_OK) return failed("instruct", 0);
        for (byte = 0; byte < length; byte++) printf("%02x", (unsigned)(unsigned char)text[byte]);
        printf("\n");
    }
    return 0;
}
