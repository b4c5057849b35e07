/* A program over the README's lamp, for every way to get the library: five rounds, and what was chosen. On a board without libc it is
 * only linked. */
#include "lamp.h"

static FABLE_MEMORY(LAMP_USER_SIZE) user_memory;
static FABLE_MEMORY(LAMP_WORKSPACE_SIZE) workspace;
#ifndef LAMP_POLICY
static FABLE_MEMORY(LAMP_POLICY_SIZE) policy_memory;
#endif

static fable_user *user;
static fable_request request;
static fable_decision decision;
static uint16_t chosen[5];

static fable_status play(void)
{
    static const float daylight[LAMP_SIGNALS] = {0.25f};
    const fable_policy *policy = NULL;
    unsigned round;
#ifdef LAMP_POLICY
    fable_status status = FABLE_OK;
    policy = LAMP_POLICY;
#else
    fable_status status = lamp_policy_init(policy_memory.bytes, sizeof policy_memory.bytes, &policy);
#endif
    if (status == FABLE_OK)
        status = fable_user_init(user_memory.bytes, sizeof user_memory.bytes, policy, workspace.bytes, sizeof workspace.bytes, &user);
    if (status == FABLE_OK) status = fable_start(user, 7);
    request.context.signals = daylight;
    request.context.signal_count = LAMP_SIGNALS;
    request.context.task = FABLE_AT(LAMP_TASK_DINNER);
    for (round = 0; round < FABLE_COUNT(chosen) && status == FABLE_OK; round++) {
        status = fable_decide(user, &request, &decision);
        if (status != FABLE_OK) break;
        chosen[round] = decision.action;
        status = fable_feedback(user, &decision.id, decision.values[LAMP_COMPONENT_LIGHT] == LAMP_LIGHT_WARM ? 1.0 : -0.5);
    }
    return status;
}

#if __STDC_HOSTED__
#include <stdio.h>

int main(void)
{
    fable_status status = play();
    unsigned round;
    if (status != FABLE_OK) {
        printf("%s\n", fable_status_text(status));
        return 1;
    }
    for (round = 0; round < FABLE_COUNT(chosen); round++) printf("%u ", (unsigned)chosen[round]);
    printf("\n");
    return 0;
}
#else
void start(void);
void start(void)
{
    (void)play();
    for (;;) {
    }
}
#endif
