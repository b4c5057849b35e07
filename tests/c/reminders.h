/* The catalog of reminders.rs as constant data. */
#ifndef REMINDERS_H
#define REMINDERS_H

#include "fable.h"

static const fable_value minimal_time[] = {{"later", NULL, 0.0}, {"now", NULL, 0.05}, {"twice", NULL, 0.1}};
static const fable_value minimal_channel[] = {{"light", NULL, 0.0}, {"sound", NULL, 0.05}, {"voice", NULL, 0.1}};
static const fable_value minimal_style[] = {{"brief", NULL, 0.0}, {"plain", NULL, 0.0}, {"kind", NULL, 0.02}};
static const fable_component minimal_components[] = {
    {"time", minimal_time, 3, FABLE_AT(0)},
    {"channel", minimal_channel, 3, 0},
    {"style", minimal_style, 3, 0},
};
static const char *const minimal_tasks[] = {"morning", "day", "evening"};
static const char *const minimal_signals[] = {"urgency", "noise"};
static const fable_block minimal_blocks[] = {
    {FABLE_BIT(0), 0, 0, 0},
    {FABLE_BIT(1), 0, 0, 0},
    {FABLE_BIT(2), 0, 0, 0},
    {FABLE_BIT(1), 0, 1, 0},
    {FABLE_BIT(0), FABLE_AT(0), 0, 1},
    {FABLE_BIT(2), FABLE_AT(0), 0, 0},
    {FABLE_BIT(1), FABLE_AT(1), 0, 0},
    {FABLE_BIT(0) | FABLE_BIT(1), 0, 0, 0},
};
static const uint8_t minimal_soon[] = {1, 2}, minimal_voice[] = {2};
static const fable_part minimal_urgent[] = {{minimal_soon, 2, 0}}, minimal_noisy[] = {{minimal_voice, 1, 1}};
static const fable_term minimal_terms[] = {
    {0.2, {NULL, 0.5f, 0, 0, FABLE_ABOVE}, minimal_urgent, 1},
    {-0.1, {NULL, 0.5f, 0, 1, FABLE_ABOVE}, minimal_noisy, 1},
};
static const fable_definition minimal = {
    "minimal", minimal_components, minimal_tasks, minimal_signals, minimal_blocks, minimal_terms, NULL, NULL,
    3, 3, 2, 8, 2, 0, 0,
};

#endif
