/* Plays a fixed script with everything that the header has, and prints what it comes to. `src/main.rs` plays the same with the
 * Rust crate; on a host, on Cortex-M4F and on Cortex-M0 all lines have to be the same. SMALL leaves out the catalog `agent`, whose
 * user takes 105 KB. */
#include "fable.h"
#include "catalogs.h"
#include "say.h"

#include <stdint.h>

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#ifdef SMALL
#define SIZE(what, rest) LARGER(LAMP_##what, rest)
#define OF_AGENT(what) TAU2_##what
#else
#define SIZE(what, rest) LARGER(LAMP_##what, rest)
#define OF_AGENT(what) AGENT_##what
#endif

static FABLE_MEMORY(SIZE(POLICY_SIZE, OF_AGENT(POLICY_SIZE))) policy_memory;
static FABLE_MEMORY(SIZE(USER_SIZE, OF_AGENT(USER_SIZE))) user_memory;
static FABLE_MEMORY(SIZE(WORKSPACE_SIZE, OF_AGENT(WORKSPACE_SIZE))) workspace;
static FABLE_MEMORY(SIZE(SNAPSHOT_SIZE, OF_AGENT(SNAPSHOT_SIZE))) snapshot;

/* ---- Saying ---- */

static void say_number(uint64_t number)
{
    char text[21], *at = text + 20;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    say(at);
}

static void say_hash(uint64_t hash)
{
    char text[17];
    for (int digit = 0; digit < 16; digit++) text[digit] = "0123456789abcdef"[hash >> (60 - 4 * digit) & 15];
    text[16] = 0;
    say(text);
}

static void check(fable_status status, const char *what)
{
    if (status == FABLE_OK) return;
    say("FAIL "), say(what), say(": "), say(fable_status_text(status)), say("\n");
    end(1);
}
#define CHECK(call) check(call, #call)

/* ---- A hash of everything ---- */

static uint64_t sum;

static void mix_bytes(const void *bytes, size_t length)
{
    for (size_t index = 0; index < length; index++) sum = (sum ^ ((const uint8_t *)bytes)[index]) * 0x100000001b3u;
}
static void mix(uint64_t number)
{
    uint8_t bytes[8];
    for (int index = 0; index < 8; index++) bytes[index] = (uint8_t)(number >> 8 * index);
    mix_bytes(bytes, 8);
}
static void mix_double(double number)
{
    union { double number; uint64_t bits; } same;
    same.number = number;
    mix(same.bits);
}
static void mix_text(const char *text)
{
    size_t length = 0;
    while (text[length] != 0) length++;
    mix_bytes(text, length);
}
static int mix_piece(void *count, const void *bytes, size_t length)
{
    *(size_t *)count += length;
    mix_bytes(bytes, length);
    return 0;
}

/* ---- The script ---- */

static const fable_definition *catalog;
static const fable_policy *policy;
static fable_user *user;
static fable_shape shape;

static fable_context context(unsigned round, float *signals)
{
    fable_context context = {0};
    for (unsigned signal = 0; signal < shape.signals; signal++) signals[signal] = (float)((round * 7 + signal * 3) % 5) / 4.0f;
    unsigned task = round % (shape.tasks + 1u); /* 0 is none */
    if (round % 4 != 0) {
        context.signals = signals, context.signal_count = shape.signals, context.task = (uint16_t)task;
        return context;
    }
    /* By name, in the other order. */
    fable_signal named[FABLE_MAX_SIGNALS];
    for (unsigned signal = 0; signal < shape.signals; signal++) {
        named[shape.signals - 1u - signal].name = catalog->signals[signal];
        named[shape.signals - 1u - signal].value = signals[signal];
    }
    CHECK(fable_context_named(policy, task == 0 ? NULL : catalog->tasks[task - 1], named, shape.signals, signals,
                              FABLE_MAX_SIGNALS, &context));
    return context;
}

static void explain(const fable_decision *decision)
{
    fable_explanation why;
    fable_share shares[FABLE_SHARES(32)];
    size_t count = 0;
    CHECK(fable_explain(user, &decision->id, 0, NULL, 0, &why, shares, FABLE_COUNT(shares), &count));
    mix(why.chosen), mix(why.intended), mix(why.other), mix(why.feasible), mix(why.explored);
    mix(why.probed[0]), mix(why.probed[1]), mix_double(why.chosen_score), mix_double(why.other_score);
    for (size_t index = 0; index < count; index++) {
        mix(shares[index].source), mix(shares[index].block);
        mix(shares[index].chosen_coordinate), mix(shares[index].other_coordinate);
        mix_double(shares[index].chosen), mix_double(shares[index].other);
    }
}

static void assess(void)
{
    fable_assessment known;
    for (unsigned contrast = 0; contrast < shape.contrasts; contrast++) {
        CHECK(fable_assess(user, (uint16_t)contrast, &known));
        mix_double(known.mean), mix_double(known.sd), mix_double(known.probability), mix_double(known.beta);
        mix_double(known.lower), mix_double(known.upper), mix_double(known.threshold), mix_double(known.distance);
        mix(known.evidence), mix(known.rounds), mix((uint64_t)(int64_t)known.verdict), mix(known.valid);
    }
}

static void profile(void)
{
    fable_promotion promotions[FABLE_CAPACITY];
    size_t count = 0;
    CHECK(fable_profile(user, promotions, FABLE_CAPACITY, &count));
    for (size_t index = 0; index < count; index++) {
        mix(promotions[index].contrast), mix((uint64_t)(int64_t)promotions[index].verdict), mix(promotions[index].by);
        mix(promotions[index].round), mix(promotions[index].evidence), mix(promotions[index].standing);
        mix_double(promotions[index].lower), mix_double(promotions[index].upper);
    }
    char text[512];
    size_t length = 0;
    CHECK(fable_profile_text(user, text, sizeof text, &length));
    mix(length), mix_text(text);
}

static void states(void)
{
    /* The second value of the first component over the first one, by position; the same of the second component, by name. */
    static const fable_pair prefer = {0, 1}, over = {0, 0};
    fable_preference preference = {&prefer, &over, 1, 1, {FABLE_EVERYWHERE, 0}, 1.0, 4.0};
    CHECK(fable_prefer(user, &preference));
    const fable_component *second = &catalog->components[1];
    fable_named names[2] = {{second->name, second->values[1].name}, {second->name, second->values[0].name}};
    fable_where where = {0, 0};
    if (catalog == &lamp) CHECK(fable_where_named(policy, "dinner", NULL, &where));
    CHECK(fable_prefer_named(user, policy, names[0], names[1], where, 2.0));
    uint16_t coordinate = 0;
    CHECK(fable_find_coordinate(policy, catalog == &lamp ? "light=warm" : "style=concise", &coordinate));
    fable_entry entry = {1.0, coordinate};
    CHECK(fable_state(user, &entry, 1, 0.5, 1.0));
}

static void round_of(unsigned round)
{
    float signals[FABLE_MAX_SIGNALS];
    fable_request request = {0};
    fable_set set;
    request.context = context(round, signals);
    request.now = round;
    if (round % 3 == 0) {
        fable_pair pair = {0, (uint8_t)(round % catalog->components[0].value_count)};
        fable_named named = {catalog->components[0].name, catalog->components[0].values[pair.value].name};
        CHECK(fable_allow_all(policy, &set));
        if (round % 2 == 0) CHECK(fable_forbid(policy, &set, &pair, 1));
        else CHECK(fable_require_named(policy, &set, &named, 1));
        request.feasible = &set;
    }
    uint16_t best;
    float score;
    CHECK(fable_recommend(user, &request, &best, &score));
    mix(best), mix_double(score);
    fable_decision decision;
    CHECK(fable_decide(user, &request, &decision));
    say(" "), say_number(decision.action);
    mix(decision.action), mix_double(decision.baseline), mix(decision.id.round), mix(decision.id.user);
    if (round % 7 == 0) explain(&decision);
    double reward = (double)((decision.action * 7u + round * 3u) % 9u) / 4.0 - 1.0;
    if (round % 11 == 0) return; /* it never comes */
    if (round % 5 == 0) CHECK(fable_feedback_with(user, &decision.id, reward, 0.5f, round));
    else CHECK(fable_feedback(user, &decision.id, reward));
    if (round % 13 == 0) CHECK(fable_observe(user, &request.context, (uint16_t)(shape.actions - 1u), 0.25));
}

static void save(const char *what)
{
    size_t length = 0, pieces = 0;
    CHECK(fable_save(user, snapshot.bytes, sizeof snapshot.bytes, &length));
    sum = 0xcbf29ce484222325u;
    CHECK(fable_save_to(user, mix_piece, &pieces));
    uint64_t streamed = sum;
    sum = 0xcbf29ce484222325u;
    mix_bytes(snapshot.bytes, length);
    say(what), say(" "), say_number(length), say(" "), say_hash(sum), say(streamed == sum && pieces == length ? "\n" : " and streamed another\n");
}

/* What a macro says is enough, and not much too much. */
static void fits(const char *what, size_t said, size_t exact, size_t more)
{
    if (exact != 0 && said >= exact && said - exact <= more) return;
    say("FAIL "), say(what), say(": "), say_number(said), say(" for "), say_number(exact), say("\n");
    end(1);
}
#define FITS(catalog)                                                                                                        \
    fits(#catalog "_POLICY_SIZE", catalog##_POLICY_SIZE, fable_policy_size(definition), 384),                                \
        fits(#catalog "_USER_SIZE", catalog##_USER_SIZE, fable_user_size(policy), 128),                                      \
        fits(#catalog "_WORKSPACE_SIZE", catalog##_WORKSPACE_SIZE, fable_workspace_size(policy), 0),                         \
        fits(#catalog "_SNAPSHOT_SIZE", catalog##_SNAPSHOT_SIZE, fable_snapshot_size(policy), 128)

static void sizes(const fable_definition *definition)
{
    if (definition == &lamp) FITS(LAMP);
    if (definition == &tau2) FITS(TAU2);
#ifndef SMALL
    if (definition == &agent) FITS(AGENT);
#endif
}

static void scene(const char *name, const fable_definition *definition, const fable_settings *settings)
{
    uint64_t fingerprint, hash;
    catalog = definition;
    CHECK(fable_policy_init(policy_memory.bytes, sizeof policy_memory.bytes, definition, settings, &policy));
    CHECK(fable_fingerprint(policy, &fingerprint));
    CHECK(fable_policy_shape(policy, &shape));
    sizes(definition);
    CHECK(fable_user_init(user_memory.bytes, sizeof user_memory.bytes, policy, workspace.bytes, sizeof workspace.bytes, &user));
    CHECK(fable_user_hash("ana", &hash));
    CHECK(fable_start(user, hash));
    say(name), say(" "), say_hash(fingerprint), say("\n");
    sum = 0xcbf29ce484222325u;
    states();
    static const fable_user_rule never = {FABLE_USER_RULE_NEVER, {1, 0}, {FABLE_EVERYWHERE, 0}};
    for (unsigned round = 1; round <= 60; round++) {
        if (round == 20) CHECK(fable_user_rule_add(user, &never));
        if (round == 40) CHECK(fable_user_rule_remove(user, &never));
        round_of(round);
        uint32_t promoted = 0;
        if (round % 16 == 0) CHECK(fable_promote(user, round, &promoted));
        mix(promoted);
    }
    assess();
    profile();
    char text[256];
    size_t length = 0;
    CHECK(fable_instruct(policy, (uint16_t)(shape.actions - 1u), text, sizeof text, &length));
    mix(length), mix_text(text);
    say("\nsum "), say_hash(sum), say("\n");
    save("snapshot");
    /* What happens after the snapshot is undone by it. */
    size_t saved = 0;
    CHECK(fable_save(user, snapshot.bytes, sizeof snapshot.bytes, &saved));
    say("after"), round_of(61), say("\n");
    CHECK(fable_load(user, snapshot.bytes, saved));
    save("loaded");
    CHECK(fable_forget(user));
    save("forgotten");
    say("anew"), round_of(1), say("\n");
    save("last");
}

int play(void)
{
    fable_settings settings = FABLE_SETTINGS_DEFAULT;
    settings.exploration = FABLE_DRAW, settings.explore = 0.5;
    scene("lamp", &lamp, &settings);
    static const fable_settings paper = FABLE_SETTINGS_PAPER;
    scene("tau2-paper", &tau2, &paper);
    fable_settings probing = FABLE_SETTINGS_DEFAULT;
    probing.probe = 0.5, probing.seed = 7, probing.half_life = 40;
    scene("tau2", &tau2, &probing);
#ifndef SMALL
    scene("agent", &agent, NULL);
#endif
    return 0;
}
