// Shows: a lamp that learns if a user prefers warm or cold light. Two buttons give the feedback.
//
// `fable catalog c lamp.toml --output lamp.h` generates lamp.h.

#include <fable.h>

#include "lamp.h"

static const int WARM_PIN = 9, COLD_PIN = 10, LIKE_PIN = 2, DISLIKE_PIN = 3;

static FABLE_MEMORY(LAMP_POLICY_SIZE) policyMemory;
static FABLE_MEMORY(LAMP_USER_SIZE) userMemory;
static FABLE_MEMORY(LAMP_WORKSPACE_SIZE) workspace;
static const fable_policy *policy;
static fable_user *user;
static fable_decision decision;

static bool succeeded(fable_status status)
{
    if (status != FABLE_OK) Serial.println(fable_status_text(status));
    return status == FABLE_OK;
}

static void decide()
{
    const float signals[LAMP_SIGNALS] = {(float)analogRead(A0) / 1023.0f};
    fable_request request = fable_request();
    request.context.signals = signals;
    request.context.signal_count = LAMP_SIGNALS;
    request.context.task = FABLE_AT(LAMP_TASK_READING);
    if (!succeeded(fable_decide(user, &request, &decision))) return;
    const uint8_t light = decision.values[LAMP_COMPONENT_LIGHT];
    digitalWrite(WARM_PIN, light == LAMP_LIGHT_WARM ? HIGH : LOW);
    digitalWrite(COLD_PIN, light == LAMP_LIGHT_COLD ? HIGH : LOW);
}

void setup()
{
    Serial.begin(115200);
    pinMode(WARM_PIN, OUTPUT);
    pinMode(COLD_PIN, OUTPUT);
    pinMode(LIKE_PIN, INPUT_PULLUP);
    pinMode(DISLIKE_PIN, INPUT_PULLUP);
    if (succeeded(lamp_policy_init(policyMemory.bytes, sizeof policyMemory.bytes, &policy)) &&
        succeeded(fable_user_init(userMemory.bytes, sizeof userMemory.bytes, policy, workspace.bytes,
                                  sizeof workspace.bytes, &user)) &&
        succeeded(fable_start(user, 1)))
        decide();
}

void loop()
{
    const bool liked = digitalRead(LIKE_PIN) == LOW, disliked = digitalRead(DISLIKE_PIN) == LOW;
    if (user == NULL || liked == disliked) return;
    if (succeeded(fable_feedback(user, &decision.id, liked ? 1.0 : -1.0))) decide();
    while (digitalRead(LIKE_PIN) == LOW || digitalRead(DISLIKE_PIN) == LOW) delay(10);
}
