/* The catalogs that are played, as constant data: `lamp` of fable-std/README.md, and `tau2` and `agent`. That they are the same as
 * in Rust is what their fingerprints say. */
#ifndef CATALOGS_H
#define CATALOGS_H

#include "fable.h"

static const fable_value lamp_light[] = {
    {"off", NULL, 0.0},
    {"warm", "Use warm light.", 0.02},
    {"cold", "Use cold light.", 0.02},
};
static const fable_value lamp_speech[] = {{"silent", NULL, 0.0}, {"spoken", "Say what you do.", 0.05}};
static const fable_component lamp_components[] = {
    {"light", lamp_light, FABLE_COUNT(lamp_light), FABLE_AT(0)},
    {"speech", lamp_speech, FABLE_COUNT(lamp_speech), 0},
};
static const char *const lamp_tasks[] = {"reading", "dinner"};
static const char *const lamp_signals[] = {"daylight"};
static const fable_block lamp_blocks[] = {
    {FABLE_BIT(0), 0, 0, 0},
    {FABLE_BIT(1), 0, 1, 0},
    {FABLE_BIT(0) | FABLE_BIT(1), 0, 0, 0},
};
static const uint8_t lamp_lit[] = {1, 2};
static const fable_part lamp_lights[] = {{lamp_lit, 2, 0}};
static const fable_term lamp_terms[] = {{-0.2, {NULL, 0.5f, 0, 0, FABLE_ABOVE}, lamp_lights, 1}};
static const uint8_t lamp_prefer[] = {1, 0}, lamp_over[] = {2, 0};
static const float lamp_dusk[] = {0.1f};
static const fable_contrast lamp_contrasts[] = {
    {"warm_over_cold_at_dinner", lamp_prefer, lamp_over, lamp_dusk, "The user likes warm light at dinner.", NULL, 1, FABLE_AT(1)},
};
static const uint8_t lamp_cold[] = {2}, lamp_spoken[] = {1}, lamp_dinner[] = {1};
static const fable_part lamp_noise[] = {{lamp_cold, 1, 0}, {lamp_spoken, 1, 1}};
static const fable_rule lamp_rules[] = {{"calm_dinner", lamp_noise, {lamp_dinner, 0.0f, 1, 0, FABLE_TASKS}, 2, FABLE_FORBID}};
static const fable_definition lamp = {
    "lamp", lamp_components, lamp_tasks, lamp_signals, lamp_blocks, lamp_terms, lamp_contrasts, lamp_rules,
    2, 2, 1, 3, 1, 1, 1,
};
#define LAMP_POLICY_SIZE FABLE_POLICY_SIZE(2, 5, 2, 1, 3, 1, 1, 1, 3)
#define LAMP_USER_SIZE FABLE_USER_SIZE(2, 2, 9, 5, 1)
#define LAMP_WORKSPACE_SIZE FABLE_WORKSPACE_SIZE(2, 9, 5, 2, 6)
#define LAMP_SNAPSHOT_SIZE FABLE_SNAPSHOT_SIZE(2, 2, 9, 5, 1, 1, 6)

static const fable_value tau2_values_0[] = {
    {"current_turn", "Consider only the customer's current message.", 0.0},
    {"conversation", "Consider the whole conversation.", 0.02},
};
static const fable_value tau2_values_1[] = {
    {"standard", "Use the tools as you usually would.", 0.0},
    {"verify", "Verify facts with a tool before you act on them.", 0.08},
    {"ask_if_missing", "Ask the customer when a needed fact is missing.", 0.12},
};
static const fable_value tau2_values_2[] = {
    {"direct", "Answer directly.", 0.0},
    {"concise", "Answer briefly, the outcome first.", 0.0},
    {"guided", "Explain what you do, without excessive detail.", 0.06},
};
static const fable_component tau2_components[] = {
    {"memory", tau2_values_0, 2, 0},
    {"tool", tau2_values_1, 3, 0},
    {"style", tau2_values_2, 3, 0},
};
static const fable_block tau2_blocks[] = {
    {FABLE_BIT(0), 0, 0, 0},
    {FABLE_BIT(1), 0, 0, 0},
    {FABLE_BIT(2), 0, 0, 0},
    {FABLE_BIT(0) | FABLE_BIT(1), 0, 0, 0},
    {FABLE_BIT(0) | FABLE_BIT(2), 0, 0, 0},
    {FABLE_BIT(1) | FABLE_BIT(2), 0, 0, 0},
};
static const uint8_t tau2_prefer_0[] = {1, 0, 0}, tau2_over_0[] = {0, 0, 0};
static const uint8_t tau2_prefer_1[] = {0, 1, 0}, tau2_over_1[] = {0, 0, 0};
static const uint8_t tau2_prefer_2[] = {0, 2, 0}, tau2_over_2[] = {0, 0, 0};
static const uint8_t tau2_prefer_3[] = {0, 0, 1}, tau2_over_3[] = {0, 0, 0};
static const uint8_t tau2_prefer_4[] = {0, 0, 2}, tau2_over_4[] = {0, 0, 0};
static const uint8_t tau2_prefer_5[] = {0, 0, 1}, tau2_over_5[] = {0, 0, 2};
static const fable_contrast tau2_contrasts[] = {
    {"conversation_over_current_turn", tau2_prefer_0, tau2_over_0, NULL, "The customer wants the whole conversation to be considered.", "The customer wants only the current message to be considered.", 0, 0},
    {"verify_over_standard", tau2_prefer_1, tau2_over_1, NULL, "The customer wants facts to be verified before anything is done.", "The customer does not want facts to be verified again.", 0, 0},
    {"ask_over_standard", tau2_prefer_2, tau2_over_2, NULL, "The customer prefers to be asked when a fact is missing.", "The customer does not want to be asked for missing facts.", 0, 0},
    {"concise_over_direct", tau2_prefer_3, tau2_over_3, NULL, "The customer prefers brief answers.", "The customer prefers plain answers to the briefest ones.", 0, 0},
    {"guided_over_direct", tau2_prefer_4, tau2_over_4, NULL, "The customer prefers to be guided through each step.", "The customer prefers plain answers to being guided.", 0, 0},
    {"concise_over_guided", tau2_prefer_5, tau2_over_5, NULL, "The customer prefers brief answers to being guided.", "The customer prefers to be guided rather than brief answers.", 0, 0},
};
static const fable_definition tau2 = {
    "tau2", tau2_components, NULL, NULL, tau2_blocks, NULL, tau2_contrasts, NULL,
    3, 0, 0, 6, 0, 6, 0,
};
#define TAU2_POLICY_SIZE FABLE_POLICY_SIZE(3, 8, 0, 0, 6, 0, 6, 0, 0)
#define TAU2_USER_SIZE FABLE_USER_SIZE(0, 0, 29, 8, 6)
#define TAU2_WORKSPACE_SIZE FABLE_WORKSPACE_SIZE(0, 29, 8, 3, 18)
#define TAU2_SNAPSHOT_SIZE FABLE_SNAPSHOT_SIZE(0, 0, 29, 8, 6, 0, 18)

#ifndef SMALL
static const fable_value agent_values_0[] = {
    {"no_memory", "Do not use stored memory.", 0.0},
    {"recent_memory", "Use the recent conversation.", 0.02},
    {"semantic_memory", "Look up related memories.", 0.04},
    {"preference_memory", "Look up the user's stored preferences.", 0.04},
    {"profile_summary", "Use the summary of the user's profile.", 0.05},
};
static const fable_value agent_values_1[] = {
    {"no_tool", "Use no tool.", 0.0},
    {"web_search", "Search the web before answering.", 0.08},
    {"file_search", "Search the user's files before answering.", 0.06},
    {"code_execution", "Run code to work out the answer.", 0.1},
    {"preference_checker", "Check the answer against the user's preferences.", 0.04},
    {"ask_user", "Ask the user for missing information first.", 0.12},
};
static const fable_value agent_values_2[] = {
    {"direct", "Answer directly.", 0.0},
    {"concise", "Answer briefly.", 0.0},
    {"detailed", "Answer in detail.", 0.05},
    {"step_by_step", "Answer step by step.", 0.06},
    {"ask_clarification", "Answer with a question that clarifies the request.", 0.1},
    {"confirm_first", "Say what you are about to do and wait for confirmation.", 0.08},
};
static const fable_component agent_components[] = {
    {"memory", agent_values_0, 5, FABLE_AT(0)},
    {"tool", agent_values_1, 6, FABLE_AT(0)},
    {"style", agent_values_2, 6, 0},
};
static const char *const agent_tasks[] = {"coding", "analysis", "factual", "simple_preference", "writing", "planning", "summarization", "translation", "recommendation", "troubleshooting"};
static const char *const agent_signals[] = {"risk", "ambiguity", "memory_need", "tool_need"};
static const fable_block agent_blocks[] = {
    {FABLE_BIT(0), 0, 0, 0},
    {FABLE_BIT(1), 0, 0, 0},
    {FABLE_BIT(2), 0, 0, 0},
    {FABLE_BIT(2), 0, 1, 0},
    {FABLE_BIT(1), 0, 1, 0},
    {FABLE_BIT(0), FABLE_AT(2), 0, 1},
    {FABLE_BIT(1), FABLE_AT(3), 0, 1},
    {FABLE_BIT(2), FABLE_AT(0), 0, 0},
    {FABLE_BIT(2), FABLE_AT(1), 0, 0},
    {FABLE_BIT(0) | FABLE_BIT(1), 0, 0, 0},
    {FABLE_BIT(0) | FABLE_BIT(2), 0, 0, 0},
    {FABLE_BIT(1) | FABLE_BIT(2), 0, 0, 0},
};
static const uint8_t agent_term_0_0[] = {1, 2, 3, 4};
static const fable_part agent_term_0[] = {{agent_term_0_0, 4, 0}};
static const uint8_t agent_term_1_0[] = {1, 2, 3, 4};
static const fable_part agent_term_1[] = {{agent_term_1_0, 4, 0}};
static const uint8_t agent_term_2_0[] = {1, 2, 3, 4, 5};
static const fable_part agent_term_2[] = {{agent_term_2_0, 5, 1}};
static const uint8_t agent_term_3_0[] = {1, 2, 3, 4, 5};
static const fable_part agent_term_3[] = {{agent_term_3_0, 5, 1}};
static const uint8_t agent_term_4_0[] = {5};
static const uint8_t agent_term_4_1[] = {4};
static const fable_part agent_term_4[] = {{agent_term_4_0, 1, 1}, {agent_term_4_1, 1, 2}};
static const uint8_t agent_term_5_0[] = {0};
static const fable_part agent_term_5[] = {{agent_term_5_0, 1, 2}};
static const uint8_t agent_term_6_0[] = {5};
static const fable_part agent_term_6[] = {{agent_term_6_0, 1, 2}};
static const uint8_t agent_term_7_0[] = {0, 1};
static const fable_part agent_term_7[] = {{agent_term_7_0, 2, 2}};
static const uint8_t agent_term_8_0[] = {3};
static const fable_part agent_term_8[] = {{agent_term_8_0, 1, 2}};
static const uint8_t agent_term_tasks_8[] = {0, 1};
static const uint8_t agent_term_9_0[] = {1};
static const fable_part agent_term_9[] = {{agent_term_9_0, 1, 2}};
static const uint8_t agent_term_tasks_9[] = {2, 3};
static const fable_term agent_terms[] = {
    {0.18, {NULL, 0.5f, 0, 2, FABLE_ABOVE}, agent_term_0, 1},
    {-0.04, {NULL, 0.2f, 0, 2, FABLE_AT_MOST}, agent_term_1, 1},
    {0.18, {NULL, 0.5f, 0, 3, FABLE_ABOVE}, agent_term_2, 1},
    {-0.12, {NULL, 0.2f, 0, 3, FABLE_BELOW}, agent_term_3, 1},
    {0.16, {NULL, 0.6f, 0, 1, FABLE_ABOVE}, agent_term_4, 2},
    {-0.08, {NULL, 0.6f, 0, 1, FABLE_ABOVE}, agent_term_5, 1},
    {0.2, {NULL, 0.65f, 0, 0, FABLE_ABOVE}, agent_term_6, 1},
    {-0.12, {NULL, 0.65f, 0, 0, FABLE_ABOVE}, agent_term_7, 1},
    {0.08, {agent_term_tasks_8, 0.0f, 2, 0, FABLE_TASKS}, agent_term_8, 1},
    {0.06, {agent_term_tasks_9, 0.0f, 2, 0, FABLE_TASKS}, agent_term_9, 1},
};
static const uint8_t agent_prefer_0[] = {0, 0, 1}, agent_over_0[] = {0, 0, 2};
static const float agent_context_0[] = {0.1f, 0.1f, 0.1f, 0.1f};
static const uint8_t agent_prefer_1[] = {0, 0, 3}, agent_over_1[] = {0, 0, 0};
static const float agent_context_1[] = {0.1f, 0.1f, 0.1f, 0.1f};
static const uint8_t agent_prefer_2[] = {0, 0, 4}, agent_over_2[] = {0, 0, 0};
static const float agent_context_2[] = {0.1f, 0.8f, 0.1f, 0.1f};
static const uint8_t agent_prefer_3[] = {0, 0, 5}, agent_over_3[] = {0, 0, 0};
static const float agent_context_3[] = {0.8f, 0.1f, 0.1f, 0.1f};
static const uint8_t agent_prefer_4[] = {0, 1, 0}, agent_over_4[] = {0, 0, 0};
static const float agent_context_4[] = {0.1f, 0.1f, 0.1f, 0.8f};
static const uint8_t agent_prefer_5[] = {0, 5, 0}, agent_over_5[] = {0, 0, 0};
static const float agent_context_5[] = {0.1f, 0.1f, 0.1f, 0.8f};
static const uint8_t agent_prefer_6[] = {1, 0, 0}, agent_over_6[] = {0, 0, 0};
static const float agent_context_6[] = {0.1f, 0.1f, 0.8f, 0.1f};
static const uint8_t agent_prefer_7[] = {4, 0, 0}, agent_over_7[] = {0, 0, 0};
static const float agent_context_7[] = {0.1f, 0.1f, 0.8f, 0.1f};
static const fable_contrast agent_contrasts[] = {
    {"concise_over_detailed", agent_prefer_0, agent_over_0, agent_context_0, "The user prefers brief answers to detailed ones.", "The user prefers detailed answers to brief ones.", 4, 0},
    {"steps_over_direct_in_coding", agent_prefer_1, agent_over_1, agent_context_1, "For code the user prefers step-by-step answers to direct ones.", "For code the user prefers direct answers to step-by-step ones.", 4, FABLE_AT(0)},
    {"clarify_over_direct_when_unclear", agent_prefer_2, agent_over_2, agent_context_2, "When a request is unclear the user wants to be asked what is meant.", "When a request is unclear the user prefers a direct answer to a question.", 4, 0},
    {"confirm_over_direct_at_risk", agent_prefer_3, agent_over_3, agent_context_3, "When much is at stake the user wants to confirm first.", "Even when much is at stake the user does not want to confirm first.", 4, 0},
    {"search_over_no_tool", agent_prefer_4, agent_over_4, agent_context_4, "When information is needed the user wants the web to be searched.", "Even when information is needed the user does not want the web to be searched.", 4, 0},
    {"ask_over_no_tool", agent_prefer_5, agent_over_5, agent_context_5, "When information is missing the user wants to be asked for it.", "When information is missing the user does not want to be asked for it.", 4, 0},
    {"recent_memory_over_none", agent_prefer_6, agent_over_6, agent_context_6, "The user wants the recent conversation to be used.", "The user does not want the recent conversation to be used.", 4, 0},
    {"profile_over_none", agent_prefer_7, agent_over_7, agent_context_7, "The user wants the profile summary to be used.", "The user does not want the profile summary to be used.", 4, 0},
};
static const fable_definition agent = {
    "agent", agent_components, agent_tasks, agent_signals, agent_blocks, agent_terms, agent_contrasts, NULL,
    3, 10, 4, 12, 10, 8, 0,
};
#define AGENT_POLICY_SIZE FABLE_POLICY_SIZE(3, 17, 10, 4, 12, 10, 8, 0, 11)
#define AGENT_USER_SIZE FABLE_USER_SIZE(10, 12, 134, 17, 8)
#define AGENT_WORKSPACE_SIZE FABLE_WORKSPACE_SIZE(12, 134, 17, 6, 180)
#define AGENT_SNAPSHOT_SIZE FABLE_SNAPSHOT_SIZE(10, 12, 134, 17, 8, 4, 180)
#endif

#endif
