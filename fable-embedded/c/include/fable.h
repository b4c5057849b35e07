/* Fable in C: a layer that learns, for one user at a time, which way of doing something that user likes best.
 *
 * C99, also C++. No allocation, no global state, no threads, no libc: all memory is the caller's.
 *
 *   catalog   what can be chosen: `fable_definition`, constant data, by hand or from `fable catalog c FILE.toml`
 *   policy    a checked catalog with settings; shared by all users; never changes
 *   user      what is known about one user; decides, learns, is asked
 *   snapshot  a user as bytes, with a checksum
 *
 * A round is `fable_decide`, then `fable_instruct` for the assistant, then `fable_feedback` with how it went. Numbers are
 * `float` inside, and the decisions are those of the Rust crate fable-core with `f32`, bit for bit.
 *
 * Every call that can fail returns a `fable_status`. On an error nothing has changed; what is written through pointers is then
 * the needed length after FABLE_ERR_TOO_SMALL, and nothing otherwise. Pointers may be null only where it says so.
 *
 * Positions count from 0. Where there may be none, 0 means none and FABLE_AT(position) is a position, so that whatever is left
 * out of an initializer means none.
 *
 * One user may be used by one thread at a time, and so may one workspace. A policy may be used by all at once. */
#ifndef FABLE_H
#define FABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; `fable_abi` says which one the library has. */
#define FABLE_ABI 1u

/* Decisions that can wait for their reward, and preferences that can be promoted, for each user. */
#define FABLE_ROOM 8u

#define FABLE_MAX_COMPONENTS 8u
#define FABLE_MAX_SIGNALS 16u
#define FABLE_MAX_ACTIONS 1024u
#define FABLE_MAX_USER_RULES 24u

/* What takes a position or none takes FABLE_AT(position) or 0. */
#define FABLE_AT(position) ((position) + 1)
/* Elements of an array. */
#define FABLE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Status ---------------------------------------------------------------------------------------------------------- */

typedef int32_t fable_status;

enum {
    FABLE_OK = 0,
    /* How a function was called. */
    FABLE_ERR_NULL = 1,          /* a pointer is null that must not be */
    FABLE_ERR_MISALIGNED = 2,    /* memory that does not begin at a multiple of FABLE_ALIGNMENT */
    FABLE_ERR_TOO_SMALL = 3,     /* memory or a buffer is too small; where there is a length, it says what is needed */
    FABLE_ERR_NOT_A_POLICY = 4,  /* the memory holds no policy, or it was moved */
    FABLE_ERR_NOT_A_USER = 5,    /* the memory holds no user, or it was moved */
    FABLE_ERR_NOT_STARTED = 6,   /* the user was neither started nor loaded */
    FABLE_ERR_BAD_TEXT = 7,      /* a text is not UTF-8 */
    FABLE_ERR_BAD_KIND = 8,      /* a kind is none of its constants */
    FABLE_ERR_UNSUPPORTED = 9,   /* the library was built without what this needs */
    FABLE_ERR_SINK = 10,         /* the caller's sink did not take the bytes */
    FABLE_ERR_INTERNAL = 11,     /* something that should not be possible */
    FABLE_ERR_OVERLAP = 12,      /* the memory of a user and its workspace overlap */
    /* What was asked of a user. */
    FABLE_ERR_FOREIGN_POLICY = 20,      /* the user belongs to another catalog or other settings */
    FABLE_ERR_UNKNOWN_TASK = 21,        /* the catalog has no such task */
    FABLE_ERR_UNKNOWN_SIGNAL = 22,      /* the catalog has no such signal */
    FABLE_ERR_SIGNAL_COUNT = 23,        /* a context needs each signal of the catalog once */
    FABLE_ERR_SIGNAL_RANGE = 24,        /* a signal is not a number from 0 to 1 */
    FABLE_ERR_UNKNOWN_ACTION = 25,      /* the catalog has no such action */
    FABLE_ERR_UNKNOWN_VALUE = 26,       /* the catalog has no such component or value, or one is named twice or not at all */
    FABLE_ERR_UNKNOWN_COORDINATE = 27,  /* the catalog has no such coordinate */
    FABLE_ERR_UNKNOWN_CONTRAST = 28,    /* the catalog has no such contrast */
    FABLE_ERR_NOTHING_FEASIBLE = 29,    /* the rules leave nothing to choose */
    FABLE_ERR_REWARD = 30,              /* a reward is not a number from -1 to 1 */
    FABLE_ERR_WEIGHT = 31,              /* a weight is not a number from 0.001 to 100 */
    FABLE_ERR_DEFAULT_COUNT = 32,       /* there must be one default score per action */
    FABLE_ERR_DEFAULT_RANGE = 33,       /* a default score is not a number from -100 to 100 */
    FABLE_ERR_UNKNOWN_DECISION = 34,    /* there is no such decision */
    FABLE_ERR_EXPIRED_DECISION = 35,    /* the decision waited too long for its reward */
    FABLE_ERR_DUPLICATE_FEEDBACK = 36,  /* the decision has had its reward */
    FABLE_ERR_DECIDED_ELSEWHERE = 37,   /* the decision was made at another place, and its reward is learned there */
    FABLE_ERR_STALE = 38,               /* the decision cannot be explained any more: something was learned since */
    FABLE_ERR_COMPARISON = 39,          /* the two actions compared must differ in exactly one component */
    FABLE_ERR_OFF = 40,                 /* the user has switched everything off */
    FABLE_ERR_UNKNOWN_RULE = 41,        /* the rule is not one that users of this catalog can have */
    FABLE_ERR_RULES_FULL = 42,          /* the user has the maximum number of rules */
    FABLE_ERR_EXHAUSTED = 43,           /* a counter has reached its end */
    FABLE_ERR_DIRECTION = 44,           /* a statement needs 1 to 24 different coordinates, and of one task at most */
    FABLE_ERR_COEFFICIENT = 45,         /* a coefficient is not a number from -100 to 100, or it is 0 */
    FABLE_ERR_RESPONSE = 46,            /* a response is not a number from -1 to 1 */
    FABLE_ERR_PRECISION = 47,           /* a precision is neither 0 nor a number from 0.000001 to 1000000 */
    FABLE_ERR_NO_COORDINATE = 48,       /* the dictionary has no coordinate for this combination of values */
    FABLE_ERR_RULE_EXISTS = 49,         /* the user has this rule */
    FABLE_ERR_RULE_MISSING = 50,        /* the user does not have this rule */
    /* What was loaded. */
    FABLE_ERR_RECORD_TRUNCATED = 60, /* the snapshot ends too early */
    FABLE_ERR_RECORD_TOO_LONG = 61,  /* there are bytes after the end of the snapshot */
    FABLE_ERR_RECORD_FOREIGN = 62,   /* this is not a snapshot */
    FABLE_ERR_RECORD_DAMAGED = 63,   /* the checksum of the snapshot is wrong */
    FABLE_ERR_RECORD_VERSION = 64,   /* the snapshot was written by another version */
    FABLE_ERR_RECORD_SCALAR = 65,    /* the snapshot is in f64, this library is in f32 */
    FABLE_ERR_RECORD_POLICY = 66,    /* the snapshot belongs to this catalog and other settings */
    FABLE_ERR_RECORD_CONTENT = 67,   /* the snapshot has a content that is not possible here */
    FABLE_ERR_RECORD_ROOM = 68,      /* the snapshot has more waiting decisions or promotions than FABLE_ROOM */
    FABLE_ERR_RECORD_CATALOG = 69,   /* the snapshot belongs to another catalog */
    /* What settings are out of their range. */
    FABLE_ERR_SETTING_NOISE_VARIANCE = 80,
    FABLE_ERR_SETTING_PRECISION_PER_FEATURE = 81,
    FABLE_ERR_SETTING_BASE_PRECISION = 82,
    FABLE_ERR_SETTING_COST_WEIGHT = 83,
    FABLE_ERR_SETTING_EXPLORATION = 84,
    FABLE_ERR_SETTING_ALPHA = 85,
    FABLE_ERR_SETTING_PRIOR_RADIUS = 86,
    FABLE_ERR_SETTING_NOISE_PROXY = 87,
    FABLE_ERR_SETTING_PROBE = 88,
    FABLE_ERR_SETTING_MIN_EVIDENCE = 89,
    FABLE_ERR_SETTING_HALF_LIFE = 90,
    FABLE_ERR_SETTING_EXPIRY = 91,
    FABLE_ERR_SETTING_RETAINED = 92,
    FABLE_ERR_SETTING_OTHER = 93,
    /* What is wrong with a catalog. */
    FABLE_ERR_CATALOG_COMPONENT_COUNT = 100,
    FABLE_ERR_CATALOG_VALUE_COUNT = 101,
    FABLE_ERR_CATALOG_ACTION_COUNT = 102,
    FABLE_ERR_CATALOG_TASK_COUNT = 103,
    FABLE_ERR_CATALOG_SIGNAL_COUNT = 104,
    FABLE_ERR_CATALOG_BLOCK_COUNT = 105,
    FABLE_ERR_CATALOG_TERM_COUNT = 106,
    FABLE_ERR_CATALOG_DIMENSION = 107,
    FABLE_ERR_CATALOG_BAD_NAME = 108,
    FABLE_ERR_CATALOG_DUPLICATE_NAME = 109,
    FABLE_ERR_CATALOG_RESERVED_NAME = 110,
    FABLE_ERR_CATALOG_UNKNOWN_NULL = 111,
    FABLE_ERR_CATALOG_BLOCK_COMPONENTS = 112,
    FABLE_ERR_CATALOG_BLOCK_SIGNAL = 113,
    FABLE_ERR_CATALOG_BLOCK_TASK = 114,
    FABLE_ERR_CATALOG_BLOCK_NULL = 115,
    FABLE_ERR_CATALOG_DUPLICATE_BLOCK = 116,
    FABLE_ERR_CATALOG_BAD_COST = 117,
    FABLE_ERR_CATALOG_BAD_WEIGHT = 118,
    FABLE_ERR_CATALOG_BAD_THRESHOLD = 119,
    FABLE_ERR_CATALOG_TERM_CONDITION = 120,
    FABLE_ERR_CATALOG_TERM_VALUES = 121,
    FABLE_ERR_CATALOG_CONTRAST_COUNT = 122,
    FABLE_ERR_CATALOG_CONTRAST_CONTEXT = 123,
    FABLE_ERR_CATALOG_CONTRAST_ACTIONS = 124,
    FABLE_ERR_CATALOG_RULE_COUNT = 125,
    FABLE_ERR_CATALOG_RULE_CONDITION = 126,
    FABLE_ERR_CATALOG_RULE_VALUES = 127,
    FABLE_ERR_CATALOG_RULE_LEAVES_NOTHING = 128,
    FABLE_ERR_CATALOG_RULE_UNENFORCED = 129,
    FABLE_ERR_CATALOG_OTHER = 130
};

/* A sentence for people about a status; of a number that is not a status, "unknown status". Never null. */
const char *fable_status_text(fable_status status);

/* FABLE_ABI of the library. */
uint32_t fable_abi(void);

/* ---- Catalog: constant data ------------------------------------------------------------------------------------------- */

/* One setting of a component. */
typedef struct fable_value {
    const char *name;        /* letters, digits, `_` and `-` */
    const char *instruction; /* what the assistant is told when it is chosen; null or empty for nothing */
    double cost;             /* from 0 to 100 */
} fable_value;

/* One part of an action. */
typedef struct fable_component {
    const char *name;
    const fable_value *values;
    uint16_t value_count; /* 1 to 256 */
    uint16_t null_value;  /* FABLE_AT(the value that means "nothing done"), or 0 */
} fable_component;

/* All components as factors of a block: the flat model. */
#define FABLE_COMPLETE 0xffffu
/* The bit of a component in a block. */
#define FABLE_BIT(component) (1u << (component))

/* One block of the dictionary: a coordinate for each combination of values of its components. */
typedef struct fable_block {
    uint16_t components; /* FABLE_BIT of each component, or FABLE_COMPLETE */
    uint16_t scaled_by;  /* FABLE_AT(signal): the block's entry is the signal in place of 1; or 0 */
    uint8_t per_task;    /* 1: each task has its copy */
    uint8_t without_null; /* 1: no coordinates for null values */
} fable_block;

/* Any of some values of a component. */
typedef struct fable_part {
    const uint8_t *values;
    uint16_t value_count;
    uint8_t component;
} fable_part;

/* Kinds of conditions. */
enum {
    FABLE_ALWAYS = 0,
    FABLE_ABOVE = 1,    /* the signal is above the threshold */
    FABLE_AT_LEAST = 2, /* the signal is the threshold or above */
    FABLE_AT_MOST = 3,  /* the signal is the threshold or below */
    FABLE_BELOW = 4,    /* the signal is below the threshold */
    FABLE_TASKS = 5     /* the task is one of `tasks` */
};

/* The contexts in which a term counts or a rule holds. */
typedef struct fable_condition {
    const uint8_t *tasks;
    float threshold; /* from 0 to 1 */
    uint16_t task_count;
    uint8_t signal;
    uint8_t kind;
} fable_condition;

/* A term of the default score: its weight counts if the condition holds and the action has a value of any part. */
typedef struct fable_term {
    double weight; /* from -100 to 100 */
    fable_condition when;
    const fable_part *parts;
    uint16_t part_count;
} fable_term;

/* A preference to look out for: one action over another one that differs in one component. */
typedef struct fable_contrast {
    const char *name;
    const uint8_t *prefer; /* a value for each component */
    const uint8_t *over;
    const float *signals;  /* each signal of the reference context; null in a catalog without signals */
    const char *positive;  /* what the assistant is told once `prefer` is promoted; null for a plain sentence */
    const char *negative;  /* the same for `over` */
    uint16_t signal_count;
    uint16_t task; /* FABLE_AT(task) of the reference context, or 0 */
} fable_contrast;

/* What a rule does with the actions that match all of its parts. */
enum {
    FABLE_FORBID = 0,  /* they cannot be chosen */
    FABLE_REQUIRE = 1, /* only they can be chosen */
    FABLE_ONLY = 2     /* only what matches this or another such rule can be chosen */
};

/* A hard constraint that stands. */
typedef struct fable_rule {
    const char *name;
    const fable_part *parts;
    fable_condition when;
    uint16_t part_count;
    uint8_t effect;
} fable_rule;

/* A catalog. `name` and `components` and `blocks` are needed; the rest may be left out. What it points to must stay as it is for
 * as long as a policy made of it is used. */
typedef struct fable_definition {
    const char *name;
    const fable_component *components;
    const char *const *tasks;
    const char *const *signals;
    const fable_block *blocks;
    const fable_term *terms;
    const fable_contrast *contrasts;
    const fable_rule *rules;
    uint16_t component_count; /* 1 to 8 */
    uint16_t task_count;      /* up to 64 */
    uint16_t signal_count;    /* up to 16 */
    uint16_t block_count;     /* 1 to 128 */
    uint16_t term_count;      /* up to 64 */
    uint16_t contrast_count;  /* up to 64 */
    uint16_t rule_count;      /* up to 32 */
} fable_definition;

/* ---- Settings --------------------------------------------------------------------------------------------------------- */

/* How to explore, and what `explore` means then. */
enum {
    FABLE_DRAW = 0,      /* scores from a draw with `explore` times the standard deviation: nu */
    FABLE_THEOREM = 1,   /* the schedule of the regret theorem, which may fail with probability `explore`: delta */
    FABLE_OPTIMISTIC = 2 /* `explore` standard deviations are added; needs the feature `adapt` */
};
/* Whether exploration is scaled by how much rewards surprise. */
enum { FABLE_SCALE_FIXED = 0, FABLE_SCALE_LEARNED = 1 };
/* What is done when a user seems to have changed. */
enum { FABLE_CHANGE_TELL = 0, FABLE_CHANGE_HALVE = 1, FABLE_CHANGE_RESET = 2 };
/* How long a decision waits for its reward: what `deadline` counts. */
enum { FABLE_DEADLINE_NONE = 0, FABLE_DEADLINE_ROUNDS = 1, FABLE_DEADLINE_TIME = 2 };
/* What an expired decision teaches. */
enum { FABLE_EXPIRY_NOTHING = 0, FABLE_EXPIRY_IMPUTE = 1 };

/* What a person sets. Ranges and meanings are those of `Settings` in fable-core. */
typedef struct fable_settings {
    double noise_variance;
    double precision_per_feature;
    double base_precision; /* 0: precision_per_feature times the number of blocks */
    double cost_weight;
    double explore;
    double alpha;
    double prior_radius; /* negative: the square root of the base precision */
    double noise_proxy;  /* 0: noise_variance */
    double probe;
    double imputed;      /* the reward of FABLE_EXPIRY_IMPUTE */
    uint64_t seed;
    const char *context_adapter;  /* null for none */
    const char *feedback_adapter; /* null for none */
    uint32_t retained[4]; /* a bit for each block that counts, block 0 lowest; all ones for all */
    uint32_t half_life;   /* 0: nothing fades */
    uint32_t min_evidence;
    uint32_t deadline;
    uint32_t site;
    uint8_t exploration; /* FABLE_DRAW, FABLE_THEOREM, FABLE_OPTIMISTIC */
    uint8_t scale;
    uint8_t on_change;
    uint8_t deadline_kind;
    uint8_t expiry;
} fable_settings;

#define FABLE_ALL_BLOCKS {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}
/* The defaults. They need the feature `adapt`, which is on unless it is turned off. */
#define FABLE_SETTINGS_DEFAULT                                                                                               \
    {0.25, 4.0, 0.0, 1.0, 1.5, 0.05, -1.0, 0.0, 0.0, 0.0, 0u, NULL, NULL, FABLE_ALL_BLOCKS, 0u, 10u, 0u, 0u,                 \
     FABLE_OPTIMISTIC, FABLE_SCALE_LEARNED, FABLE_CHANGE_TELL, FABLE_DEADLINE_NONE, FABLE_EXPIRY_NOTHING}
/* The paper's learner. */
#define FABLE_SETTINGS_PAPER                                                                                                 \
    {0.25, 4.0, 16.0, 1.0, 0.3, 0.05, -1.0, 0.0, 0.0, 0.0, 0u, NULL, NULL, FABLE_ALL_BLOCKS, 0u, 10u, 0u, 0u,                \
     FABLE_DRAW, FABLE_SCALE_FIXED, FABLE_CHANGE_TELL, FABLE_DEADLINE_NONE, FABLE_EXPIRY_NOTHING}

/* ---- Memory ----------------------------------------------------------------------------------------------------------- */

/* All memory begins at a multiple of this. */
#define FABLE_ALIGNMENT 8u
/* Memory of a size: `static FABLE_MEMORY(size) memory;`, then memory.bytes and sizeof memory.bytes. */
#define FABLE_MEMORY(size)                                                                                                   \
    union {                                                                                                                  \
        uint64_t aligned;                                                                                                    \
        unsigned char bytes[size];                                                                                           \
    }

/* The sizes below follow from the shape of a catalog. `values` are those of all components together. `leaf` are the coordinates
 * of all blocks per task, for one task; `root` are those of the other blocks; a block has as many as there are combinations of
 * its components' values, without null values if it says so. `tasks` is 0 in a catalog without a block per task. The functions of
 * the same name give the exact size, of which these are at most 128 bytes more, and FABLE_POLICY_SIZE at most 384. */

/* Numbers that are known about a user. */
#define FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts)                                                            \
    ((tasks) * (leaf) + (root) + (tasks) * ((leaf) * ((leaf) + (root)) - (leaf) * ((leaf)-1) / 2) +                          \
     (root) * ((root) + 1) / 2 + (values) + 15 * (contrasts) + 24)
/* Bytes of a user. */
#define FABLE_USER_SIZE(tasks, leaf, root, values, contrasts)                                                                \
    (1184u + 4u * (size_t)FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts))
#define FABLE_LARGER(a, b) ((a) > (b) ? (a) : (b))
/* Rows of the factor's inverse that are computed side by side: one where numbers are computed in software. */
#if defined(__ARM_PCS_VFP) || defined(__linux__) || defined(__unix__) || defined(__APPLE__) || defined(_WIN32) || defined(__wasm__)
#define FABLE_ROWS 8u
#else
#define FABLE_ROWS 1u
#endif
/* Bytes of a workspace. `last` are the values of the last component. */
#define FABLE_WORKSPACE_SIZE(leaf, root, values, last, actions)                                                              \
    (4u * ((size_t)(actions) +                                                                                               \
           FABLE_LARGER((size_t)(leaf) + (root) + 1 + (values) + (actions), FABLE_ROWS * ((size_t)(leaf) + (root) + (values) + (last)))))
/* Bytes of the longest snapshot of a user. */
#define FABLE_SNAPSHOT_SIZE(tasks, leaf, root, values, contrasts, signals, actions)                                          \
    (360u + 25u * (size_t)((contrasts) < 8 ? (contrasts) : 8) + 32u * (size_t)(signals) + ((size_t)(actions) + 31u) / 32u * 4u + \
     4u * (size_t)FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts))
/* Bytes of a policy that is made at run time. `parts` are those of all terms and rules together. */
#define FABLE_POLICY_SIZE(components, values, tasks, signals, blocks, terms, contrasts, rules, parts)                        \
    (1872u + sizeof(void *) * (5u * (size_t)(components) + 4u * (size_t)(values) + 2u * ((size_t)(tasks) + (signals)) +      \
                               6u * (size_t)(terms) + 13u * (size_t)(contrasts) + 8u * (size_t)(rules) + 3u * (size_t)(parts)) + \
     8u * ((size_t)(values) + (blocks) + (terms)))

/* ---- Policy ----------------------------------------------------------------------------------------------------------- */

/* A checked catalog with settings. */
typedef struct fable_policy fable_policy;

/* Bytes that a policy of this catalog takes; 0 if the pointer is null. */
size_t fable_policy_size(const fable_definition *catalog);

/* Makes a policy in `memory`, which must not move or change afterwards. `settings` may be null for the defaults; they are
 * copied, but for their texts. Nothing else may be in the memory, in particular not a policy that is used: after an error that is
 * found late there is none any more. */
fable_status fable_policy_init(void *memory, size_t size, const fable_definition *catalog, const fable_settings *settings,
                               const fable_policy **policy);

/* A catalog that is compiled into the library (FABLE_CATALOG at its build) is a policy already. Its header, from
 * `fable catalog c --builtin FILE.toml`, declares it under a name with its fingerprint in it, so that a header and a library of different
 * catalogs do not link:
 *
 *   extern const fable_policy fable_catalog_0123456789abcdef;
 *   #define LAMP_POLICY (&fable_catalog_0123456789abcdef)
 */

/* The fingerprint of catalog and settings: what a snapshot is checked against. */
fable_status fable_fingerprint(const fable_policy *policy, uint64_t *fingerprint);
/* The fingerprint of the catalog alone, with the costs and default scores, on which no snapshot depends. Texts are not part of it. */
fable_status fable_catalog_fingerprint(const fable_policy *policy, uint64_t *fingerprint);

/* Numbers of a catalog. */
typedef struct fable_shape {
    uint16_t actions;
    uint16_t dimension; /* coordinates */
    uint16_t leaves;    /* tasks with coordinates of their own */
    uint16_t leaf;
    uint16_t root;
    uint16_t values;
    uint16_t components, tasks, signals, blocks, contrasts;
} fable_shape;

fable_status fable_policy_shape(const fable_policy *policy, fable_shape *shape);

/* Exact sizes of memory for a policy; 0 if it is not one. */
size_t fable_user_size(const fable_policy *policy);
size_t fable_workspace_size(const fable_policy *policy);
size_t fable_snapshot_size(const fable_policy *policy);

/* Positions by name. */
fable_status fable_find_task(const fable_policy *policy, const char *name, uint16_t *task);
fable_status fable_find_signal(const fable_policy *policy, const char *name, uint16_t *signal);
fable_status fable_find_contrast(const fable_policy *policy, const char *name, uint16_t *contrast);
/* As in `task=reading*light=warm`. */
fable_status fable_find_coordinate(const fable_policy *policy, const char *name, uint16_t *coordinate);

/* A value of a component, by position and by name. */
typedef struct fable_pair {
    uint8_t component;
    uint8_t value;
} fable_pair;
typedef struct fable_named {
    const char *component;
    const char *value;
} fable_named;

/* Positions of some values by name. */
fable_status fable_find_values(const fable_policy *policy, const fable_named *names, size_t count, fable_pair *pairs);

/* The action with these values, one for each component, and the values of an action; `values` has a place for each component. */
fable_status fable_action_of(const fable_policy *policy, const uint8_t *values, size_t count, uint16_t *action);
fable_status fable_values_of(const fable_policy *policy, uint16_t action, uint8_t *values, size_t count);

/* Writes the instruction for the assistant: the texts of the action's values. It ends with a zero byte, which `length` does not
 * count; after FABLE_ERR_TOO_SMALL `length` is that of the whole text. `length` may be null. */
fable_status fable_instruct(const fable_policy *policy, uint16_t action, char *buffer, size_t size, size_t *length);

/* ---- Sets of actions -------------------------------------------------------------------------------------------------- */

/* A set of actions, a bit for each. */
typedef struct fable_set {
    uint32_t words[FABLE_MAX_ACTIONS / 32u];
} fable_set;

/* Every action of the catalog. */
fable_status fable_allow_all(const fable_policy *policy, fable_set *set);
/* Removes the actions that have all of these values. */
fable_status fable_forbid(const fable_policy *policy, fable_set *set, const fable_pair *pairs, size_t count);
/* Removes the actions that do not have all of these values. */
fable_status fable_require(const fable_policy *policy, fable_set *set, const fable_pair *pairs, size_t count);

/* ---- User ------------------------------------------------------------------------------------------------------------- */

/* What is known about one user. */
typedef struct fable_user fable_user;

/* Makes a user in `memory`, which must not move afterwards, and joins it with a policy and a workspace. Users that are not used
 * at the same time can share a workspace; its content means nothing between calls. The user then has to be started or loaded. */
fable_status fable_user_init(void *memory, size_t size, const fable_policy *policy, void *workspace, size_t workspace_size,
                             fable_user **user);

/* A number for a user's name; any other number that differs between users will do, too. */
fable_status fable_user_hash(const char *name, uint64_t *hash);

/* Begins at the prior, whatever was known before. */
fable_status fable_start(fable_user *user, uint64_t hash);
/* Goes back to the prior in the next incarnation: earlier decisions are unknown from then on. */
fable_status fable_forget(fable_user *user);

/* What is known about one request before anything is chosen. */
typedef struct fable_context {
    const float *signals; /* each signal of the catalog, from 0 to 1; null in a catalog without signals */
    uint16_t signal_count;
    uint16_t task; /* FABLE_AT(task), or 0 */
} fable_context;

typedef struct fable_request {
    fable_context context;
    const fable_set *feasible; /* what may be chosen, as far as rules leave it; null for everything */
    const double *defaults;    /* replaces the default score, a number per action; null for the catalog's */
    uint16_t default_count;
    uint32_t now; /* the caller's time, in a unit of its choice that never runs backwards; 0 without a clock */
} fable_request;

/* Names one decision. */
typedef struct fable_decision_id {
    uint64_t user;
    uint32_t incarnation;
    uint32_t site;
    uint32_t round;
} fable_decision_id;

typedef struct fable_decision {
    fable_decision_id id;
    double baseline; /* the known score of the action, which rewards are compared with */
    uint16_t action;
    uint8_t values[FABLE_MAX_COMPONENTS]; /* of the action; those past the catalog's components are 0 */
} fable_decision;

/* Chooses an action and remembers it. */
fable_status fable_decide(fable_user *user, const fable_request *request, fable_decision *decision);

/* The action that is best as far as is known: nothing is explored and nothing remembered. `score` may be null. */
fable_status fable_recommend(fable_user *user, const fable_request *request, uint16_t *action, float *score);

/* Learns how a decision went, from -1 to 1. It comes at time 0 and counts as much as others. */
fable_status fable_feedback(fable_user *user, const fable_decision_id *id, double reward);
/* The same at a time, for who has a clock, and with a weight; one other than 1 ends the guarantee of promotions. */
fable_status fable_feedback_with(fable_user *user, const fable_decision_id *id, double reward, float weight, uint32_t now);
/* Learns how an action went that was chosen elsewhere. */
fable_status fable_observe(fable_user *user, const fable_context *context, uint16_t action, double reward);
/* Ends the wait of decisions whose deadline has passed. `expired`, how many, may be null. */
fable_status fable_expire(fable_user *user, uint32_t now, uint32_t *expired);

/* Where a user is. */
typedef struct fable_progress {
    uint64_t user;
    uint32_t incarnation;
    uint32_t rounds;       /* decisions made */
    uint32_t observations; /* rewards learned */
    uint8_t voided;        /* 1: something happened that the guarantee of promotions does not cover */
} fable_progress;

fable_status fable_progress_of(fable_user *user, fable_progress *progress);

/* ---- Snapshots -------------------------------------------------------------------------------------------------------- */

/* Writes everything that is known into a buffer. After FABLE_ERR_TOO_SMALL `length` is what is needed. */
fable_status fable_save(fable_user *user, void *buffer, size_t size, size_t *length);

/* Takes the next bytes of a snapshot, at most 64; other than 0 to give up. */
typedef int (*fable_sink)(void *context, const void *bytes, size_t length);
/* The same piece by piece, for who has no memory for a second copy. `context` is handed to the sink. */
fable_status fable_save_to(fable_user *user, fable_sink sink, void *context);

/* Makes the user what it was when the snapshot was written, whatever it is now. The bytes are looked at first: if anything is
 * wrong with them, nothing has changed. */
fable_status fable_load(fable_user *user, const void *bytes, size_t length);

/* ---- Why: a decision taken apart -------------------------------------------------------------------------------------- */

/* What a share of a score comes from. */
enum {
    FABLE_FROM_DEFAULT = 0, /* the known default score */
    FABLE_FROM_COST = 1,    /* the known cost */
    FABLE_FROM_BLOCK = 2,   /* what was learned in a block */
    FABLE_FROM_DRAW = 3,    /* exploration by a draw */
    FABLE_FROM_BONUS = 4    /* exploration by a bonus */
};

/* What one part adds to the scores of two actions. */
typedef struct fable_share {
    double chosen;
    double other;
    uint16_t chosen_coordinate; /* FABLE_AT(coordinate) of the action chosen, or 0 */
    uint16_t other_coordinate;  /* the same of the other one */
    uint8_t source;
    uint8_t block; /* of FABLE_FROM_BLOCK */
} fable_share;

typedef struct fable_explanation {
    double chosen_score; /* what it was chosen for; the shares add up to it, to rounding */
    double other_score;
    uint32_t probed[2]; /* a bit for each contrast that a coin was tossed for */
    uint16_t chosen;
    uint16_t intended; /* what was chosen before coins were tossed */
    uint16_t other;    /* the action it is compared with */
    uint8_t feasible;  /* 1: the other action was feasible */
    uint8_t explored;  /* 1: another feasible action has a higher mean score */
} fable_explanation;

/* Shares that an explanation can have in a catalog. */
#define FABLE_SHARES(blocks) ((blocks) + 3)

/* Explains a decision against `other`, FABLE_AT(action), or against the runner-up, 0. Ask before its reward and before the next
 * decision, with the defaults of the request, if it had some. `shares` may be null if `size` is 0; `count` is how many there are. */
fable_status fable_explain(fable_user *user, const fable_decision_id *id, uint16_t other, const double *defaults,
                           size_t default_count, fable_explanation *explanation, fable_share *shares, size_t size,
                           size_t *count);

/* ---- Stated preferences ----------------------------------------------------------------------------------------------- */

/* Where a statement or a wish holds. */
enum { FABLE_EVERYWHERE = 0, FABLE_IN_TASK = 1, FABLE_WITH_SIGNAL = 2 };
typedef struct fable_where {
    uint8_t kind;
    uint8_t position; /* of the task or the signal; a wish about a signal holds while it is above 1/2 */
} fable_where;

/* "Prefer these values, over those": of one component, or of several together. */
typedef struct fable_preference {
    const fable_pair *prefer;
    const fable_pair *over; /* may be null */
    uint8_t prefer_count;
    uint8_t over_count;
    fable_where where;
    double response;  /* from -1 to 1 */
    double precision; /* how much it weighs: 1 is as much as a reward of variance 1 */
} fable_preference;

fable_status fable_prefer(fable_user *user, const fable_preference *preference);

/* The same in coordinates. */
typedef struct fable_entry {
    double coefficient;
    uint16_t coordinate;
} fable_entry;
fable_status fable_state(fable_user *user, const fable_entry *entries, size_t count, double response, double precision);

/* ---- A user's own rules ----------------------------------------------------------------------------------------------- */

enum {
    FABLE_USER_RULE_NEVER = 1,          /* the value is not chosen there */
    FABLE_USER_RULE_ALWAYS = 2,         /* the value is chosen there, or another one that is wished so */
    FABLE_USER_RULE_OFF = 3,            /* nothing is decided and nothing is learned */
    FABLE_USER_RULE_REMEMBER = 4,       /* what is said may be remembered; for the caller to obey */
    FABLE_USER_RULE_DO_NOT_REMEMBER = 5 /* it may not */
};
typedef struct fable_user_rule {
    uint8_t kind;
    fable_pair pair; /* of the first two kinds, as is the next */
    fable_where where;
} fable_user_rule;

fable_status fable_user_rule_add(fable_user *user, const fable_user_rule *wish);
fable_status fable_user_rule_remove(fable_user *user, const fable_user_rule *wish);
/* What the user wishes; `wishes` may be null if `size` is 0. After FABLE_ERR_TOO_SMALL `count` is what is needed. */
fable_status fable_user_rules(fable_user *user, fable_user_rule *wishes, size_t size, size_t *count);

/* ---- What is certain -------------------------------------------------------------------------------------------------- */

enum { FABLE_AGAINST = -1, FABLE_OPEN = 0, FABLE_FOR = 1 };

/* What is known about a contrast, on the scale of rewards. */
typedef struct fable_assessment {
    double mean;
    double sd;
    double probability; /* that the contrast is positive */
    double beta;
    double radius;
    double lower; /* of the interval */
    double upper;
    double threshold;
    double distance;   /* how far the interval is from one side of zero; negative once it is there */
    uint32_t evidence; /* rewards that bear on it */
    uint32_t rounds;   /* about how many more it takes; UINT32_MAX if no end is in sight */
    int8_t verdict;
    uint8_t valid; /* 1: the guarantee holds, as far as can be known */
} fable_assessment;

fable_status fable_assess(fable_user *user, uint16_t contrast, fable_assessment *assessment);
/* The same of two actions that differ in one component. With `total` 1 the known difference of their scores counts, too. */
fable_status fable_compare(fable_user *user, const fable_context *context, uint16_t prefer, uint16_t over, uint8_t total,
                           fable_assessment *assessment);

enum { FABLE_BY_ELLIPSOID = 0, FABLE_BY_COINS = 1 };
enum { FABLE_HOLDS = 0, FABLE_DOUBTFUL = 1, FABLE_REVOKED = 2 };

/* A preference that was promoted, and how it stands now. */
typedef struct fable_promotion {
    uint32_t round;
    uint32_t now; /* the time of its promotion */
    uint32_t evidence;
    float lower;
    float upper;
    uint8_t contrast;
    int8_t verdict;
    uint8_t valid;
    uint8_t by;
    uint8_t standing;
} fable_promotion;

/* Promotes everything that is certain now, between the checks that `fable_feedback` and `fable_observe` make. `promoted`, the number
 * of promotions, may be null. */
fable_status fable_promote(fable_user *user, uint32_t now, uint32_t *promoted);
/* The promoted preferences; `promotions` may be null if `size` is 0. */
fable_status fable_profile(fable_user *user, fable_promotion *promotions, size_t size, size_t *count);
/* Those that hold, as sentences for the assistant, as `fable_instruct` writes. */
fable_status fable_profile_text(fable_user *user, char *buffer, size_t size, size_t *length);

/* ---- By name ---------------------------------------------------------------------------------------------------------- */

/* A signal by its name. */
typedef struct fable_signal {
    const char *name;
    float value;
} fable_signal;

/* A context by names: a task or null, and each signal once, in any order. `room` has a place for each signal of the catalog and
 * stays in use as long as the context. */
fable_status fable_context_named(const fable_policy *policy, const char *task, const fable_signal *signals, size_t count,
                                 float *room, size_t size, fable_context *context);

static inline fable_status fable_forbid_named(const fable_policy *policy, fable_set *set, const fable_named *names, size_t count)
{
    fable_pair pairs[FABLE_MAX_COMPONENTS];
    fable_status status = count > FABLE_MAX_COMPONENTS ? (fable_status)FABLE_ERR_UNKNOWN_VALUE : fable_find_values(policy, names, count, pairs);
    return status != FABLE_OK ? status : fable_forbid(policy, set, pairs, count);
}

static inline fable_status fable_require_named(const fable_policy *policy, fable_set *set, const fable_named *names, size_t count)
{
    fable_pair pairs[FABLE_MAX_COMPONENTS];
    fable_status status = count > FABLE_MAX_COMPONENTS ? (fable_status)FABLE_ERR_UNKNOWN_VALUE : fable_find_values(policy, names, count, pairs);
    return status != FABLE_OK ? status : fable_require(policy, set, pairs, count);
}

/* A place by name: at most one of task and signal is not null. */
static inline fable_status fable_where_named(const fable_policy *policy, const char *task, const char *signal, fable_where *where)
{
    uint16_t position = 0;
    fable_status status = FABLE_OK;
    if (where == NULL) return FABLE_ERR_NULL;
    if (task != NULL && signal != NULL) return FABLE_ERR_BAD_KIND;
    if (task != NULL) status = fable_find_task(policy, task, &position);
    if (signal != NULL) status = fable_find_signal(policy, signal, &position);
    if (status != FABLE_OK) return status;
    where->kind = (uint8_t)(task != NULL ? FABLE_IN_TASK : signal != NULL ? FABLE_WITH_SIGNAL : FABLE_EVERYWHERE);
    where->position = (uint8_t)position;
    return FABLE_OK;
}

/* "Prefer this value over that one", by name; `over` may have null names. */
static inline fable_status fable_prefer_named(fable_user *user, const fable_policy *policy, fable_named prefer, fable_named over,
                                              fable_where where, double precision)
{
    fable_pair pairs[2] = {{0, 0}, {0, 0}};
    fable_preference preference = {NULL, NULL, 1, 0, {0, 0}, 1.0, 0.0};
    fable_status status = fable_find_values(policy, &prefer, 1, pairs);
    if (status == FABLE_OK && over.value != NULL) status = fable_find_values(policy, &over, 1, pairs + 1);
    if (status != FABLE_OK) return status;
    preference.prefer = pairs;
    preference.over = over.value != NULL ? pairs + 1 : NULL;
    preference.over_count = (uint8_t)(over.value != NULL);
    preference.where = where;
    preference.precision = precision;
    return fable_prefer(user, &preference);
}

/* A wish about a value, by name. */
static inline fable_status fable_user_rule_named(const fable_policy *policy, uint8_t kind, fable_named value, fable_where where,
                                            fable_user_rule *wish)
{
    fable_pair pair = {0, 0};
    fable_status status = fable_find_values(policy, &value, 1, &pair);
    if (status != FABLE_OK) return status;
    if (wish == NULL) return FABLE_ERR_NULL;
    wish->kind = kind;
    wish->pair = pair;
    wish->where = where;
    return FABLE_OK;
}

#ifdef __cplusplus
}
#endif

#endif
