/* Everything that can be done wrong gets a status, and afterwards the user is what it was, bit for bit. Run with the sanitizers. */
#include "fable.h"
#include "catalogs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FABLE_MEMORY(LAMP_POLICY_SIZE + 8) policy_memory;
static FABLE_MEMORY(TAU2_POLICY_SIZE) other_memory;
static FABLE_MEMORY(LAMP_USER_SIZE + 8) user_memory;
static FABLE_MEMORY(LAMP_USER_SIZE + 8) moved_memory;
static FABLE_MEMORY(LAMP_WORKSPACE_SIZE + 8) workspace;
static FABLE_MEMORY(TAU2_USER_SIZE) tau2_memory;
static FABLE_MEMORY(TAU2_WORKSPACE_SIZE) tau2_workspace;

static const fable_policy *policy;
static fable_user *user;
static int failures, checks;
static unsigned char before[LAMP_SNAPSHOT_SIZE];

static void expect(const char *what, int line, fable_status found, fable_status expected)
{
    checks++;
    if (found != expected) {
        printf("FAIL line %d: %s is %d (%s), not %d (%s)\n", line, what, (int)found, fable_status_text(found), (int)expected,
               fable_status_text(expected));
        failures++;
    }
    size_t length = 0;
    if (user == NULL || fable_save(user, before, sizeof before, &length) != FABLE_OK) return;
    static size_t kept;
    static unsigned char known[LAMP_SNAPSHOT_SIZE];
    if (found != FABLE_OK && kept != 0 && (length != kept || memcmp(known, before, length) != 0)) {
        printf("FAIL line %d: %s has changed the user\n", line, what);
        failures++;
    }
    memcpy(known, before, length), kept = length;

}
#define EXPECT(call, status) expect(#call, __LINE__, call, status)

static void policies(void)
{
    const fable_policy *made = NULL;
    fable_settings settings = FABLE_SETTINGS_DEFAULT;
    fable_definition bad = lamp;
    unsigned char *memory = policy_memory.bytes;
    size_t size = sizeof policy_memory.bytes;
    EXPECT(fable_policy_init(NULL, size, &lamp, NULL, &made), FABLE_ERR_NULL);
    EXPECT(fable_policy_init(memory, size, NULL, NULL, &made), FABLE_ERR_NULL);
    EXPECT(fable_policy_init(memory, size, &lamp, NULL, NULL), FABLE_ERR_NULL);
    EXPECT(fable_policy_init(memory + 4, size - 4, &lamp, NULL, &made), FABLE_ERR_MISALIGNED);
    EXPECT(fable_policy_init(memory, fable_policy_size(&lamp) - 1, &lamp, NULL, &made), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_policy_init(memory, 0, &lamp, NULL, &made), FABLE_ERR_TOO_SMALL);
    bad.components = NULL;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_NULL);
    bad = lamp, bad.name = NULL;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_NULL);
    bad = lamp, bad.name = "";
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_BAD_NAME);
    bad = lamp, bad.name = "\xff";
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_BAD_TEXT);
    bad = lamp, bad.component_count = 9;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_COMPONENT_COUNT);
    bad = lamp, bad.component_count = 0;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_COMPONENT_COUNT);
    bad = lamp, bad.task_count = 65535;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_TASK_COUNT);
    bad = lamp, bad.block_count = 65535;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_BLOCK_COUNT);
    static const fable_block blocks[] = {{FABLE_BIT(9), 0, 0, 0}, {FABLE_BIT(0), FABLE_AT(300), 0, 0}, {FABLE_BIT(0), 0, 2, 0}};
    bad = lamp, bad.blocks = blocks, bad.block_count = 1;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_BLOCK_COMPONENTS);
    bad.blocks = blocks + 1;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_BLOCK_SIGNAL);
    bad.blocks = blocks + 2;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_BAD_KIND);
    fable_term term = lamp_terms[0];
    bad = lamp, bad.terms = &term;
    term.part_count = 65535;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_TERM_VALUES);
    term.part_count = 1, term.when.kind = 6;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_BAD_KIND);
    term.when.kind = FABLE_ABOVE, term.weight = NAN;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_CATALOG_BAD_WEIGHT);
    fable_rule rule = lamp_rules[0];
    bad = lamp, bad.rules = &rule, rule.effect = 3;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_BAD_KIND);
    fable_contrast contrast = lamp_contrasts[0];
    bad = lamp, bad.contrasts = &contrast, contrast.prefer = NULL;
    EXPECT(fable_policy_init(memory, size, &bad, NULL, &made), FABLE_ERR_NULL);
    settings.alpha = 0.9;
    EXPECT(fable_policy_init(memory, size, &lamp, &settings, &made), FABLE_ERR_SETTING_ALPHA);
    settings.alpha = 0.05, settings.noise_variance = NAN;
    EXPECT(fable_policy_init(memory, size, &lamp, &settings, &made), FABLE_ERR_SETTING_NOISE_VARIANCE);
    settings.noise_variance = 0.25, settings.exploration = 3;
    EXPECT(fable_policy_init(memory, size, &lamp, &settings, &made), FABLE_ERR_BAD_KIND);
    settings.exploration = FABLE_DRAW, settings.explore = -1.0;
    EXPECT(fable_policy_init(memory, size, &lamp, &settings, &made), FABLE_ERR_SETTING_EXPLORATION);
    settings.explore = 0.3, settings.retained[0] = 0x10, settings.retained[1] = settings.retained[2] = settings.retained[3] = 0;
    EXPECT(fable_policy_init(memory, size, &lamp, &settings, &made), FABLE_ERR_SETTING_RETAINED);
    /* After an error that is found late there is no policy. */
    uint64_t fingerprint;
    EXPECT(fable_fingerprint((const fable_policy *)(const void *)memory, &fingerprint), FABLE_ERR_NOT_A_POLICY);
    EXPECT(made == NULL ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_policy_init(memory, fable_policy_size(&lamp), &lamp, NULL, &policy), FABLE_OK);
    EXPECT(fable_fingerprint(policy, NULL), FABLE_ERR_NULL);
    EXPECT(fable_fingerprint(NULL, &fingerprint), FABLE_ERR_NULL);
    EXPECT(fable_policy_shape(policy, NULL), FABLE_ERR_NULL);
    EXPECT(fable_user_size(NULL) == 0 && fable_policy_size(NULL) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
}

static void users(void)
{
    size_t size = fable_user_size(policy), scratch = fable_workspace_size(policy);
    unsigned char *memory = user_memory.bytes, *work = workspace.bytes;
    fable_user *made = NULL;
    fable_decision decision;
    fable_request request = {0};
    EXPECT(fable_user_init(NULL, size, policy, work, scratch, &made), FABLE_ERR_NULL);
    EXPECT(fable_user_init(memory, size, NULL, work, scratch, &made), FABLE_ERR_NULL);
    EXPECT(fable_user_init(memory, size, policy, NULL, scratch, &made), FABLE_ERR_NULL);
    EXPECT(fable_user_init(memory, size, policy, work, scratch, NULL), FABLE_ERR_NULL);
    EXPECT(fable_user_init(memory + 1, size, policy, work, scratch, &made), FABLE_ERR_MISALIGNED);
    EXPECT(fable_user_init(memory, size, policy, work + 4, scratch, &made), FABLE_ERR_MISALIGNED);
    EXPECT(fable_user_init(memory, size - 1, policy, work, scratch, &made), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_user_init(memory, size, policy, work, scratch - 1, &made), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_user_init(memory, size, (const fable_policy *)(const void *)memory, work, scratch, &made), FABLE_ERR_NOT_A_POLICY);
    EXPECT(fable_start((fable_user *)(void *)memory, 1), FABLE_ERR_NOT_A_USER);
    /* One memory for both, or a part of it; what is beside it will do. */
    static FABLE_MEMORY(LAMP_USER_SIZE + 2 * LAMP_WORKSPACE_SIZE + 16) both;
    size_t even = (size + 7) / 8 * 8, part = (scratch + 7) / 8 * 8;
    unsigned char *middle = both.bytes + part;
    EXPECT(fable_user_init(middle, size, policy, middle, scratch, &made), FABLE_ERR_OVERLAP);
    EXPECT(fable_user_init(middle, size, policy, middle + 8, scratch, &made), FABLE_ERR_OVERLAP);
    EXPECT(fable_user_init(middle, size, policy, middle + even - 8, scratch, &made), FABLE_ERR_OVERLAP);
    EXPECT(fable_user_init(middle, size, policy, middle - part + 8, scratch, &made), FABLE_ERR_OVERLAP);
    EXPECT(made == NULL ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_user_init(middle, size, policy, middle + even, scratch, &made), FABLE_OK);
    EXPECT(fable_user_init(middle, size, policy, middle - part, scratch, &made), FABLE_OK);
    EXPECT(fable_user_init(memory, size, policy, work, scratch, &user), FABLE_OK);
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_NOT_STARTED);
    EXPECT(fable_forget(user), FABLE_ERR_NOT_STARTED);
    size_t length;
    EXPECT(fable_save(user, before, sizeof before, &length), FABLE_ERR_NOT_STARTED);
    EXPECT(fable_start(NULL, 1), FABLE_ERR_NULL);
    EXPECT(fable_start((fable_user *)(void *)(memory + 1), 1), FABLE_ERR_NOT_A_USER);
    EXPECT(fable_start(user, 1), FABLE_OK);
    memcpy(moved_memory.bytes, memory, size);
    EXPECT(fable_start((fable_user *)(void *)moved_memory.bytes, 1), FABLE_ERR_NOT_A_USER);
    uint64_t hash;
    EXPECT(fable_user_hash("\x80", &hash), FABLE_ERR_BAD_TEXT);
    EXPECT(fable_user_hash(NULL, &hash), FABLE_ERR_NULL);
}

static void rounds(void)
{
    float signals[2] = {0.1f, 0.0f};
    fable_request request = {0};
    fable_decision decision, kept;
    memset(&kept, 0x55, sizeof kept);
    memcpy(&decision, &kept, sizeof decision);
    EXPECT(fable_decide(user, NULL, &decision), FABLE_ERR_NULL);
    EXPECT(fable_decide(user, &request, NULL), FABLE_ERR_NULL);
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_SIGNAL_COUNT);
    request.context.signal_count = 1;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_NULL);
    request.context.signals = signals, request.context.signal_count = 2;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_SIGNAL_COUNT);
    request.context.signal_count = 1, signals[0] = 1.5f;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_SIGNAL_RANGE);
    signals[0] = NAN;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_SIGNAL_RANGE);
    signals[0] = 0.1f, request.context.task = FABLE_AT(2);
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_UNKNOWN_TASK);
    request.context.task = FABLE_AT(1);
    double defaults[6] = {0};
    request.defaults = defaults, request.default_count = 5;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_DEFAULT_COUNT);
    request.default_count = 6, defaults[3] = 1e9;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_DEFAULT_RANGE);
    request.defaults = NULL;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_NULL);
    request.default_count = 0;
    fable_set set = {{0}};
    request.feasible = &set;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_NOTHING_FEASIBLE);
    set.words[31] = 1;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_UNKNOWN_ACTION);
    set.words[31] = 0, set.words[0] = 1u << 5; /* cold and spoken, which the catalog forbids at dinner */
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_NOTHING_FEASIBLE);
    request.feasible = NULL;
    EXPECT(memcmp(&decision, &kept, sizeof decision) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_decide(user, &request, &decision), FABLE_OK);

    fable_decision_id id = decision.id;
    EXPECT(fable_feedback(user, NULL, 0.5), FABLE_ERR_NULL);
    EXPECT(fable_feedback(user, &id, NAN), FABLE_ERR_REWARD);
    EXPECT(fable_feedback(user, &id, 1.5), FABLE_ERR_REWARD);
    EXPECT(fable_feedback_with(user, &id, 0.5, 0.0f, 0), FABLE_ERR_WEIGHT);
    id.user++;
    EXPECT(fable_feedback(user, &id, 0.5), FABLE_ERR_UNKNOWN_DECISION);
    id = decision.id, id.round = 2;
    EXPECT(fable_feedback(user, &id, 0.5), FABLE_ERR_UNKNOWN_DECISION);
    id = decision.id, id.site = 3;
    EXPECT(fable_feedback(user, &id, 0.5), FABLE_ERR_DECIDED_ELSEWHERE);

    fable_explanation why;
    fable_share shares[FABLE_SHARES(3)];
    size_t count = 0;
    EXPECT(fable_explain(user, &decision.id, 0, NULL, 0, &why, NULL, 6, &count), FABLE_ERR_NULL);
    EXPECT(fable_explain(user, &decision.id, 0, NULL, 0, NULL, shares, 6, &count), FABLE_ERR_NULL);
    EXPECT(fable_explain(user, &decision.id, 0, NULL, 0, &why, shares, 1, &count), FABLE_ERR_TOO_SMALL);
    EXPECT(count == 6 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_explain(user, &decision.id, FABLE_AT(6), NULL, 0, &why, shares, 6, &count), FABLE_ERR_UNKNOWN_ACTION);
    EXPECT(fable_explain(user, &decision.id, 0, NULL, 0, &why, shares, 6, &count), FABLE_OK);
    EXPECT(fable_feedback(user, &decision.id, 0.5), FABLE_OK);
    EXPECT(fable_feedback(user, &decision.id, 0.5), FABLE_ERR_DUPLICATE_FEEDBACK);
    EXPECT(fable_observe(user, &request.context, 6, 0.5), FABLE_ERR_UNKNOWN_ACTION);
    EXPECT(fable_observe(user, &request.context, 0, -2.0), FABLE_ERR_REWARD);
    for (int round = 0; round < 9; round++) EXPECT(fable_decide(user, &request, &kept), FABLE_OK);
    EXPECT(fable_feedback(user, &decision.id, 0.5), FABLE_ERR_EXPIRED_DECISION);
    uint16_t action = 77;
    EXPECT(fable_recommend(user, &request, NULL, NULL), FABLE_ERR_NULL);
    uint32_t told[2] = {0, 0};
    void *odd = (unsigned char *)told + 1;
    EXPECT(fable_recommend(user, &request, &action, (float *)odd), FABLE_ERR_MISALIGNED);
    EXPECT(action == 77 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_recommend(user, &request, &action, NULL), FABLE_OK);
}

static void names(void)
{
    uint16_t position = 77;
    fable_pair pairs[2];
    fable_context context;
    float room[1];
    EXPECT(fable_find_task(policy, "golf", &position), FABLE_ERR_UNKNOWN_TASK);
    EXPECT(fable_find_task(policy, "\xc3", &position), FABLE_ERR_BAD_TEXT);
    EXPECT(fable_find_signal(policy, "risk", &position), FABLE_ERR_UNKNOWN_SIGNAL);
    EXPECT(fable_find_contrast(policy, "no", &position), FABLE_ERR_UNKNOWN_CONTRAST);
    EXPECT(fable_find_coordinate(policy, "light=blue", &position), FABLE_ERR_UNKNOWN_COORDINATE);
    EXPECT(fable_find_task(policy, "dinner", NULL), FABLE_ERR_NULL);
    EXPECT(position == 77 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_find_task(policy, "dinner", &position), FABLE_OK);
    static const fable_named unknown[] = {{"light", "warm"}, {"light", "blue"}};
    EXPECT(fable_find_values(policy, unknown, 2, pairs), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_find_values(policy, NULL, 2, pairs), FABLE_ERR_NULL);
    static const fable_named nobody[] = {{NULL, "warm"}};
    EXPECT(fable_find_values(policy, nobody, 1, pairs), FABLE_ERR_NULL);
    static const fable_signal signals[] = {{"daylight", 0.1f}, {"daylight", 0.2f}};
    EXPECT(fable_context_named(policy, "golf", signals, 1, room, 1, &context), FABLE_ERR_UNKNOWN_TASK);
    EXPECT(fable_context_named(policy, NULL, signals, 2, room, 1, &context), FABLE_ERR_SIGNAL_COUNT);
    EXPECT(fable_context_named(policy, NULL, signals, 0, room, 1, &context), FABLE_ERR_SIGNAL_COUNT);
    EXPECT(fable_context_named(policy, NULL, signals, 1, room, 0, &context), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_context_named(policy, NULL, signals, 1, room, 1, &context), FABLE_OK);

    fable_set set, all;
    static const fable_pair twice[] = {{0, 1}, {0, 2}}, far[] = {{2, 0}}, high[] = {{0, 3}}, warm[] = {{0, 1}}, cold[] = {{0, 2}};
    EXPECT(fable_allow_all(policy, NULL), FABLE_ERR_NULL);
    EXPECT(fable_allow_all(policy, &set), FABLE_OK);
    all = set;
    EXPECT(fable_forbid(policy, &set, twice, 2), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_forbid(policy, &set, far, 1), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_forbid(policy, &set, high, 1), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_forbid(policy, &set, NULL, 0), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_require(policy, &set, warm, 1), FABLE_OK);
    all = set;
    EXPECT(fable_require(policy, &set, cold, 1), FABLE_ERR_NOTHING_FEASIBLE);
    EXPECT(memcmp(&set, &all, sizeof set) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);

    uint8_t values[2] = {2, 2};
    uint16_t action = 0;
    char text[64];
    size_t length = 0;
    EXPECT(fable_action_of(policy, values, 2, &action), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_action_of(policy, values, 1, &action), FABLE_ERR_UNKNOWN_VALUE);
    EXPECT(fable_values_of(policy, 6, values, 2), FABLE_ERR_UNKNOWN_ACTION);
    EXPECT(fable_values_of(policy, 5, values, 1), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_instruct(policy, 6, text, sizeof text, &length), FABLE_ERR_UNKNOWN_ACTION);
    char untouched[sizeof text];
    memset(text, 'x', sizeof text), memset(untouched, 'x', sizeof untouched);
    size_t lengths[2] = {7, 7};
    EXPECT(fable_instruct(policy, 5, text, sizeof text, (size_t *)(void *)((unsigned char *)lengths + 1)), FABLE_ERR_MISALIGNED);
    EXPECT(fable_instruct(policy, 5, text, 32, &length), FABLE_ERR_TOO_SMALL); /* no room for the zero */
    EXPECT(length == 32 && memcmp(text, untouched, sizeof text) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_instruct(policy, 5, text, 4, &length), FABLE_ERR_TOO_SMALL);
    EXPECT(length == 32 && memcmp(text, untouched, sizeof text) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_instruct(policy, 5, NULL, 4, &length), FABLE_ERR_NULL);
    EXPECT(fable_instruct(policy, 5, NULL, 0, &length), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_instruct(policy, 5, text, length, NULL), FABLE_ERR_TOO_SMALL); /* no room for the zero */
    EXPECT(fable_instruct(policy, 5, text, length + 1, NULL), FABLE_OK);
    EXPECT(strcmp(text, "Use cold light. Say what you do.") == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
}

static void statements(void)
{
    static const fable_pair warm = {0, 1}, blue = {0, 9};
    fable_preference preference = {&warm, NULL, 1, 0, {FABLE_EVERYWHERE, 0}, 1.0, 1.0};
    EXPECT(fable_prefer(user, NULL), FABLE_ERR_NULL);
    preference.where.kind = 3;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_BAD_KIND);
    preference.where.kind = FABLE_IN_TASK, preference.where.position = 2;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_UNKNOWN_TASK);
    preference.where.position = 1; /* the dictionary has no light per task */
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_NO_COORDINATE);
    preference.where.kind = FABLE_EVERYWHERE, preference.prefer = &blue;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_UNKNOWN_VALUE);
    preference.prefer = &warm, preference.response = 2.0;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_RESPONSE);
    preference.response = 1.0, preference.precision = -1.0;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_PRECISION);
    preference.precision = 1.0, preference.over_count = 1;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_NULL);
    preference.prefer_count = 200;
    preference.over_count = 0;
    static fable_pair many[200];
    preference.prefer = many;
    EXPECT(fable_prefer(user, &preference), FABLE_ERR_UNKNOWN_VALUE);
    fable_entry entries[25] = {{1.0, 999}};
    EXPECT(fable_state(user, entries, 0, 1.0, 1.0), FABLE_ERR_DIRECTION);
    EXPECT(fable_state(user, entries, 1, 1.0, 1.0), FABLE_ERR_UNKNOWN_COORDINATE);
    entries[0].coordinate = 0, entries[0].coefficient = 0.0;
    EXPECT(fable_state(user, entries, 1, 1.0, 1.0), FABLE_ERR_COEFFICIENT);
    for (uint16_t index = 0; index < 25; index++) entries[index].coordinate = index, entries[index].coefficient = 1.0;
    EXPECT(fable_state(user, entries, 25, 1.0, 1.0), FABLE_ERR_DIRECTION);

    fable_user_rule wish = {0, {0, 1}, {FABLE_EVERYWHERE, 0}};
    EXPECT(fable_user_rule_add(user, &wish), FABLE_ERR_BAD_KIND);
    wish.kind = FABLE_USER_RULE_NEVER, wish.pair.component = 200;
    EXPECT(fable_user_rule_add(user, &wish), FABLE_ERR_UNKNOWN_RULE);
    wish.pair.component = 0, wish.where.kind = FABLE_IN_TASK, wish.where.position = 200;
    EXPECT(fable_user_rule_add(user, &wish), FABLE_ERR_UNKNOWN_RULE);
    wish.where.position = 1;
    EXPECT(fable_user_rule_remove(user, &wish), FABLE_ERR_RULE_MISSING);
    EXPECT(fable_user_rule_add(user, &wish), FABLE_OK);
    EXPECT(fable_user_rule_add(user, &wish), FABLE_ERR_RULE_EXISTS);
    size_t count = 0;
    fable_user_rule told[1];
    EXPECT(fable_user_rules(user, told, 1, &count), FABLE_OK);
    EXPECT(count == 1 && memcmp(told, &wish, sizeof wish) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    static const fable_user_rule off = {FABLE_USER_RULE_OFF, {0, 0}, {0, 0}};
    EXPECT(fable_user_rule_add(user, &off), FABLE_OK);
    EXPECT(fable_user_rules(user, told, 1, &count), FABLE_ERR_TOO_SMALL);
    EXPECT(count == 2 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    float signals[1] = {0.1f};
    fable_request request = {{signals, 1, 0}, NULL, NULL, 0, 0};
    fable_decision decision;
    EXPECT(fable_decide(user, &request, &decision), FABLE_ERR_OFF);
    EXPECT(fable_user_rule_remove(user, &off), FABLE_OK);
    fable_assessment known;
    EXPECT(fable_assess(user, 1, &known), FABLE_ERR_UNKNOWN_CONTRAST);
    EXPECT(fable_assess(user, 0, NULL), FABLE_ERR_NULL);
    EXPECT(fable_compare(user, &request.context, 0, 5, 0, &known), FABLE_ERR_COMPARISON);
    EXPECT(fable_compare(user, &request.context, 0, 99, 0, &known), FABLE_ERR_UNKNOWN_ACTION);
    EXPECT(fable_promote(NULL, 0, NULL), FABLE_ERR_NULL);
    EXPECT(fable_profile(user, NULL, 0, NULL), FABLE_ERR_NULL);
}

static int refuse(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return 1;
}

static void snapshots(void)
{
    static unsigned char saved[LAMP_SNAPSHOT_SIZE + 1];
    size_t length = 0, needed = 0;
    memset(saved, 0x55, sizeof saved);
    EXPECT(fable_save(user, saved, 10, &needed), FABLE_ERR_TOO_SMALL);
    EXPECT(fable_save(user, saved, needed - 1, &needed), FABLE_ERR_TOO_SMALL);
    for (size_t at = 0; at < sizeof saved; at++) EXPECT(saved[at] == 0x55 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_save(user, NULL, 10, &needed), FABLE_ERR_NULL);
    EXPECT(fable_save(user, saved, sizeof saved, NULL), FABLE_ERR_NULL);
    EXPECT(fable_save(user, saved, needed, &length), FABLE_OK);
    EXPECT(length == needed ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_save_to(user, NULL, NULL), FABLE_ERR_NULL);
    EXPECT(fable_save_to(user, refuse, NULL), FABLE_ERR_SINK);
    EXPECT(fable_load(user, NULL, length), FABLE_ERR_NULL);
    EXPECT(fable_load(user, saved, 0), FABLE_ERR_RECORD_TRUNCATED);
    for (size_t cut = 0; cut < length; cut += 7) EXPECT(fable_load(user, saved, cut), FABLE_ERR_RECORD_TRUNCATED);
    EXPECT(fable_load(user, saved, length + 1), FABLE_ERR_RECORD_TOO_LONG);
    /* Every byte damaged once: whatever the status is, it is one, and nothing has changed. */
    for (size_t at = 0; at < length; at++) {
        saved[at] ^= 0x41;
        fable_status status = fable_load(user, saved, length);
        EXPECT(status == FABLE_OK ? FABLE_ERR_INTERNAL : FABLE_ERR_UNKNOWN_RULE, FABLE_ERR_UNKNOWN_RULE);
        saved[at] ^= 0x41;
    }
    saved[0] = 'X';
    EXPECT(fable_load(user, saved, length), FABLE_ERR_RECORD_FOREIGN);
    saved[0] = 'F', saved[length - 1] ^= 1;
    EXPECT(fable_load(user, saved, length), FABLE_ERR_RECORD_DAMAGED);
    saved[length - 1] ^= 1;
    /* A snapshot of another catalog. */
    const fable_policy *other;
    fable_user *stranger;
    static unsigned char foreign[TAU2_SNAPSHOT_SIZE];
    EXPECT(fable_policy_init(other_memory.bytes, sizeof other_memory.bytes, &tau2, NULL, &other), FABLE_OK);
    EXPECT(fable_user_init(tau2_memory.bytes, sizeof tau2_memory.bytes, other, tau2_workspace.bytes, sizeof tau2_workspace.bytes,
                           &stranger), FABLE_OK);
    EXPECT(fable_start(stranger, 1), FABLE_OK);
    EXPECT(fable_save(stranger, foreign, sizeof foreign, &needed), FABLE_OK);
    EXPECT(fable_load(user, foreign, needed), FABLE_ERR_RECORD_CATALOG);
    EXPECT(fable_load(user, saved, length), FABLE_OK);
    /* The memory of a policy becomes another one under a user. */
    EXPECT(fable_policy_init(other_memory.bytes, sizeof other_memory.bytes, &lamp, NULL, &other), FABLE_OK);
    float signals[1] = {0.1f};
    fable_request request = {{signals, 1, 0}, NULL, NULL, 0, 0};
    fable_decision decision;
    EXPECT(fable_decide(stranger, &request, &decision), FABLE_ERR_FOREIGN_POLICY);
}

/* A place that cannot be written to is found before anything is done: of a user with a decision that is due, and with a contrast that is
 * certain. */
static void places(void)
{
    static FABLE_MEMORY(LAMP_POLICY_SIZE) own;
    static FABLE_MEMORY(LAMP_USER_SIZE) memory;
    static FABLE_MEMORY(LAMP_WORKSPACE_SIZE) work;
    static unsigned char was[LAMP_SNAPSHOT_SIZE], is[LAMP_SNAPSHOT_SIZE];
    const fable_policy *timed;
    fable_user *ben;
    fable_settings settings = FABLE_SETTINGS_DEFAULT;
    settings.deadline_kind = FABLE_DEADLINE_TIME, settings.deadline = 10;
    EXPECT(fable_policy_init(own.bytes, sizeof own.bytes, &lamp, &settings, &timed), FABLE_OK);
    EXPECT(fable_user_init(memory.bytes, sizeof memory.bytes, timed, work.bytes, sizeof work.bytes, &ben), FABLE_OK);
    EXPECT(fable_start(ben, 2), FABLE_OK);
    float dusk[1] = {0.1f};
    fable_request request = {{dusk, 1, FABLE_AT(1)}, NULL, NULL, 0, 0};
    fable_decision decision;
    EXPECT(fable_decide(ben, &request, &decision), FABLE_OK);
    /* 14 rewards make the contrast certain; `fable_observe` promotes at the 16th. */
    for (int round = 0; round < 7; round++) {
        EXPECT(fable_observe(ben, &request.context, 2, 1.0), FABLE_OK);
        EXPECT(fable_observe(ben, &request.context, 4, -1.0), FABLE_OK);
    }
    size_t length = 0, after = 0;
    uint32_t told[2] = {0, 0};
    uint32_t *odd = (uint32_t *)(void *)((unsigned char *)told + 1);
    EXPECT(fable_save(ben, was, sizeof was, &length), FABLE_OK);
    EXPECT(fable_expire(ben, 1000, odd), FABLE_ERR_MISALIGNED);
    EXPECT(fable_promote(ben, 1000, odd), FABLE_ERR_MISALIGNED);
    EXPECT(fable_save(ben, is, sizeof is, &after), FABLE_OK);
    EXPECT(length == after && memcmp(was, is, length) == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_expire(ben, 1000, told), FABLE_OK);
    EXPECT(fable_promote(ben, 1000, told + 1), FABLE_OK);
    EXPECT(told[0] == 1 && told[1] == 1 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK); /* there was something to do */
}

int main(void)
{
    policies();
    users();
    rounds();
    names();
    statements();
    snapshots();
    places();
    EXPECT(strcmp(fable_status_text(12345), "unknown status") == 0 ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    EXPECT(fable_abi() == FABLE_ABI ? FABLE_OK : FABLE_ERR_INTERNAL, FABLE_OK);
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
