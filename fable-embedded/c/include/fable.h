/* Fable in C: a layer that learns the preferences of each user.
 *
 * C99, also C++. No allocation, no global state, no threads, no libc. All memory belongs to the caller.
 *
 *   catalog   actions, contexts and features: a constant `fable_definition`, by hand or generated
 *   policy    a checked catalog with settings; shared by all users; never changes
 *   user      the posterior and profile of one user; decides, learns, explains
 *   snapshot  a user as bytes, with a checksum
 *
 * A round has three calls: `fable_decide`, `fable_instruct` for the assistant's instruction, and
 * `fable_feedback` for the reward. Numbers are `float` inside. Decisions equal those of the Rust crate
 * fable-core with `f32`, bit for bit.
 *
 * Functions that can fail return a `fable_status`. After an error the user is unchanged. Outputs are then not
 * written, except for the needed length after FABLE_ERR_TOO_SMALL. Pointers may be null only where noted.
 *
 * Positions count from 0. Optional positions are FABLE_AT(position), or 0 for none. Fields left out of an
 * initializer therefore mean none.
 *
 * Only one thread at a time may use a user or a workspace. All threads may use a policy at once. */
#ifndef FABLE_H
#define FABLE_H

#include <stddef.h>
#include <stdint.h>

/* ---- Sizes of memory --------------------------------------------------------------------------------- */

/* The caller reserves memory for a policy, each user, a workspace and a snapshot:
 *
 *   static FABLE_MEMORY(LAMP_USER_SIZE) user_memory;
 *
 * A header from `fable catalog c lamp.toml` defines the sizes of its catalog: LAMP_POLICY_SIZE,
 * LAMP_USER_SIZE, LAMP_WORKSPACE_SIZE and LAMP_SNAPSHOT_SIZE. For a catalog written by hand, the macros below
 * compute them from the shape of the catalog:
 *
 *   components  number of components
 *   values      number of values of all components together
 *   last        number of values of the last component
 *   actions     number of actions
 *   tasks       number of tasks; in user and snapshot sizes 0 if no block is per task
 *   leaf        coordinates of the blocks per task, for one task
 *   root        coordinates of the other blocks
 *   signals, blocks, terms, contrasts, rules: their numbers
 *   parts       number of parts of all terms and rules together
 *
 * A block has a coordinate for each combination of values of its components, without null values if it leaves
 * them out. The functions `fable_user_size`, `fable_workspace_size`, `fable_snapshot_size` and
 * `fable_policy_size` return exact sizes. FABLE_POLICY_SIZE exceeds them by at most 384 bytes, the other
 * macros by at most 128. */

/* Alignment of all memory, in bytes. */
#define FABLE_ALIGNMENT 8u
/* Aligned memory: `static FABLE_MEMORY(size) memory;`, used as memory.bytes and sizeof memory.bytes. */
#define FABLE_MEMORY(size)                                                                                   \
    union {                                                                                                  \
        uint64_t aligned;                                                                                    \
        unsigned char bytes[size];                                                                           \
    }

/* Numbers of a user. */
#define FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts)                                            \
    ((tasks) * (leaf) + (root) +                                                                             \
     (tasks) * ((leaf) * ((leaf) + (root)) - (leaf) * ((leaf)-1) / 2) +                                      \
     (root) * ((root) + 1) / 2 + (values) + 15 * (contrasts) + 24)
/* Bytes of a user. */
#define FABLE_USER_SIZE(tasks, leaf, root, values, contrasts)                                                \
    (1248u + 4u * (size_t)FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts))
#define FABLE_LARGER(a, b) ((a) > (b) ? (a) : (b))
/* Rows of the factor's inverse that are computed side by side: 1 with software floating point. */
#if defined(__ARM_PCS_VFP) || defined(__linux__) || defined(__unix__) || defined(__APPLE__) ||               \
    defined(_WIN32) || defined(__wasm__)
#define FABLE_ROWS 8u
#else
#define FABLE_ROWS 1u
#endif
/* Bytes of a workspace. */
#define FABLE_WORKSPACE_SIZE(leaf, root, values, last, actions)                                              \
    (4u * ((size_t)(actions) +                                                                               \
           FABLE_LARGER((size_t)(leaf) + (root) + 1 + (values) + (actions),                                  \
                        FABLE_ROWS * ((size_t)(leaf) + (root) + (values) + (last)))))
/* Bytes of the longest snapshot of a user. */
#define FABLE_SNAPSHOT_SIZE(tasks, leaf, root, values, contrasts, signals, actions)                          \
    (360u + 25u * (size_t)((contrasts) < 8 ? (contrasts) : 8) + 32u * (size_t)(signals) +                    \
     ((size_t)(actions) + 31u) / 32u * 4u +                                                                  \
     4u * (size_t)FABLE_STATE_NUMBERS(tasks, leaf, root, values, contrasts))
/* Bytes of a policy that is made at run time. */
#define FABLE_POLICY_SIZE(components, values, tasks, signals, blocks, terms, contrasts, rules, parts)        \
    (1872u +                                                                                                 \
     sizeof(void *) * (5u * (size_t)(components) + 4u * (size_t)(values) +                                   \
                       2u * ((size_t)(tasks) + (signals)) + 6u * (size_t)(terms) +                           \
                       13u * (size_t)(contrasts) + 8u * (size_t)(rules) + 3u * (size_t)(parts)) +            \
     8u * ((size_t)(values) + (blocks) + (terms)))

/* ---- Limits ------------------------------------------------------------------------------------------ */

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; `fable_abi` returns the version of the library. */
#define FABLE_ABI 1u

/* Capacity of each user: decisions that can wait for their reward, and promoted preferences. */
#define FABLE_CAPACITY 8u

#define FABLE_MAX_COMPONENTS 8u
#define FABLE_MAX_SIGNALS 16u
#define FABLE_MAX_ACTIONS 1024u
#define FABLE_MAX_USER_RULES 24u

/* An optional position: FABLE_AT(position), or 0 for none. */
#define FABLE_AT(position) ((position) + 1)
/* Number of elements of an array. */
#define FABLE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Status ------------------------------------------------------------------------------------------ */

typedef int32_t fable_status;

enum {
    FABLE_OK = 0,
    /* Arguments of a call. */
    FABLE_ERR_NULL = 1,          /* a required pointer is null */
    FABLE_ERR_MISALIGNED = 2,    /* memory does not begin at a multiple of FABLE_ALIGNMENT */
    FABLE_ERR_TOO_SMALL = 3,     /* memory or a buffer is too small; an output length is the needed one */
    FABLE_ERR_NOT_A_POLICY = 4,  /* the memory holds no policy, or it was moved */
    FABLE_ERR_NOT_A_USER = 5,    /* the memory holds no user, or it was moved */
    FABLE_ERR_NOT_STARTED = 6,   /* the user was neither started nor loaded */
    FABLE_ERR_BAD_TEXT = 7,      /* a text is not UTF-8 */
    FABLE_ERR_BAD_KIND = 8,      /* a kind is not one of its constants */
    FABLE_ERR_UNSUPPORTED = 9,   /* this build lacks the feature that the call needs */
    FABLE_ERR_SINK = 10,         /* the caller's sink did not take the bytes */
    FABLE_ERR_INTERNAL = 11,     /* an internal error of the library */
    FABLE_ERR_OVERLAP = 12,      /* the memory of a user and its workspace overlap */
    /* Requests to a user. */
    FABLE_ERR_FOREIGN_POLICY = 20,      /* the user belongs to another catalog or other settings */
    FABLE_ERR_UNKNOWN_TASK = 21,        /* the catalog has no such task */
    FABLE_ERR_UNKNOWN_SIGNAL = 22,      /* the catalog has no such signal */
    FABLE_ERR_SIGNAL_COUNT = 23,        /* a context needs each signal of the catalog once */
    FABLE_ERR_SIGNAL_RANGE = 24,        /* a signal is not a number from 0 to 1 */
    FABLE_ERR_UNKNOWN_ACTION = 25,      /* the catalog has no such action */
    FABLE_ERR_UNKNOWN_VALUE = 26,       /* unknown component or value; a missing or repeated component */
    FABLE_ERR_UNKNOWN_COORDINATE = 27,  /* the catalog has no such coordinate */
    FABLE_ERR_UNKNOWN_CONTRAST = 28,    /* the catalog has no such contrast */
    FABLE_ERR_NOTHING_FEASIBLE = 29,    /* the rules leave nothing to choose */
    FABLE_ERR_REWARD = 30,              /* a reward is not a number from -1 to 1 */
    FABLE_ERR_WEIGHT = 31,              /* a weight is not a number from 0.001 to 100 */
    FABLE_ERR_DEFAULT_COUNT = 32,       /* there must be one default score per action */
    FABLE_ERR_DEFAULT_RANGE = 33,       /* a default score is not a number from -100 to 100 */
    FABLE_ERR_UNKNOWN_DECISION = 34,    /* there is no such decision */
    FABLE_ERR_EXPIRED_DECISION = 35,    /* the decision has expired */
    FABLE_ERR_DUPLICATE_FEEDBACK = 36,  /* the decision has had its feedback */
    FABLE_ERR_DECIDED_ELSEWHERE = 37,   /* the decision was made at another site, which learns its reward */
    FABLE_ERR_STALE = 38,               /* the decision can no longer be explained: the state has changed */
    FABLE_ERR_COMPARISON = 39,          /* the two actions compared must differ in exactly one component */
    FABLE_ERR_OFF = 40,                 /* the user has switched this off */
    FABLE_ERR_UNKNOWN_RULE = 41,        /* users of this catalog cannot have this rule */
    FABLE_ERR_RULES_FULL = 42,          /* the user has the maximum number of rules */
    FABLE_ERR_EXHAUSTED = 43,           /* a counter has reached its maximum */
    FABLE_ERR_DIRECTION = 44,           /* a statement needs 1 to 24 different coordinates of at most one task */
    FABLE_ERR_COEFFICIENT = 45,         /* a coefficient is not a number from -100 to 100, or it is 0 */
    FABLE_ERR_RESPONSE = 46,            /* a response is not a number from -1 to 1 */
    FABLE_ERR_PRECISION = 47,           /* a precision is neither 0 nor a number from 0.000001 to 1000000 */
    FABLE_ERR_NO_COORDINATE = 48,       /* the dictionary has no coordinate for this combination of values */
    FABLE_ERR_RULE_EXISTS = 49,         /* the user has this rule */
    FABLE_ERR_RULE_MISSING = 50,        /* the user does not have this rule */
    /* Snapshots. */
    FABLE_ERR_RECORD_TRUNCATED = 60, /* the snapshot ends too early */
    FABLE_ERR_RECORD_TOO_LONG = 61,  /* there are bytes after the end of the snapshot */
    FABLE_ERR_RECORD_FOREIGN = 62,   /* the bytes are not a snapshot */
    FABLE_ERR_RECORD_DAMAGED = 63,   /* the checksum of the snapshot is wrong */
    FABLE_ERR_RECORD_VERSION = 64,   /* the snapshot was written by another version */
    FABLE_ERR_RECORD_SCALAR = 65,    /* the snapshot is in f64, this library is in f32 */
    FABLE_ERR_RECORD_POLICY = 66,    /* the snapshot belongs to this catalog with other settings */
    FABLE_ERR_RECORD_CONTENT = 67,   /* the snapshot is intact, but its content is not valid here */
    FABLE_ERR_RECORD_CAPACITY = 68,  /* more waiting decisions or promotions than FABLE_CAPACITY */
    FABLE_ERR_RECORD_CATALOG = 69,   /* the snapshot belongs to another catalog */
    /* Settings out of their range. */
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
    /* Errors in a catalog. */
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

/* Text of a status in English; "unknown status" for other numbers. Never null. */
const char *fable_status_text(fable_status status);

/* FABLE_ABI of the library. */
uint32_t fable_abi(void);

/* ---- Catalog: constant data -------------------------------------------------------------------------- */

/* A value of a component. */
typedef struct fable_value {
    const char *name;        /* letters, digits, `_` and `-` */
    const char *instruction; /* text for the assistant if this value is chosen; null or empty for none */
    double cost;             /* from 0 to 100 */
} fable_value;

/* A component of an action. */
typedef struct fable_component {
    const char *name;
    const fable_value *values;
    uint16_t value_count; /* 1 to 256 */
    uint16_t null_value;  /* FABLE_AT(null value), which means "nothing done"; or 0 */
} fable_component;

/* All components as factors of a block: the flat model. */
#define FABLE_COMPLETE 0xffffu
/* The bit of a component in a block. */
#define FABLE_BIT(component) (1u << (component))

/* A block of the dictionary: a coordinate for each combination of values of its components. */
typedef struct fable_block {
    uint16_t components; /* FABLE_BIT of each component, or FABLE_COMPLETE */
    uint16_t scaled_by;  /* FABLE_AT(signal): the block's feature is the signal instead of 1; or 0 */
    uint8_t per_task;    /* 1: each task has its own copy */
    uint8_t without_null; /* 1: null values have no coordinates */
} fable_block;

/* A set of values of a component. */
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

/* The contexts of a term or of a rule. */
typedef struct fable_condition {
    const uint8_t *tasks;
    float threshold; /* from 0 to 1 */
    uint16_t task_count;
    uint8_t signal;
    uint8_t kind;
} fable_condition;

/* A term of the default score: the weight is added if the condition holds and the action matches any part. */
typedef struct fable_term {
    double weight; /* from -100 to 100 */
    fable_condition when;
    const fable_part *parts;
    uint16_t part_count;
} fable_term;

/* A declared contrast: two actions that differ in one component. */
typedef struct fable_contrast {
    const char *name;
    const uint8_t *prefer; /* preferred action: a value for each component */
    const uint8_t *over;   /* other action */
    const float *signals;  /* each signal of the reference context; null in a catalog without signals */
    const char *positive;  /* text for the assistant after `prefer` is promoted; null for a plain sentence */
    const char *negative;  /* text after `over` is promoted */
    uint16_t signal_count;
    uint16_t task; /* FABLE_AT(task) of the reference context, or 0 */
} fable_contrast;

/* Effect of a rule on actions that match all of its parts. */
enum {
    FABLE_FORBID = 0,  /* matching actions are forbidden */
    FABLE_REQUIRE = 1, /* only matching actions are allowed */
    FABLE_ONLY = 2     /* only actions that match this or another such rule are allowed */
};

/* A standing rule: a hard constraint with its contexts. */
typedef struct fable_rule {
    const char *name;
    const fable_part *parts;
    fable_condition when;
    uint16_t part_count;
    uint8_t effect;
} fable_rule;

/* A catalog. `name`, `components` and `blocks` are required; all other fields are optional. The data behind
 * its pointers must not change while a policy of the catalog is in use. */
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

/* ---- Settings ---------------------------------------------------------------------------------------- */

/* Rules of exploration, and the meaning of `explore`. */
enum {
    FABLE_DRAW = 0,      /* scores from a draw; `explore` is nu, the factor of standard deviations */
    FABLE_THEOREM = 1,   /* the schedule of the regret theorem; `explore` is delta */
    FABLE_OPTIMISTIC = 2 /* adds `explore` standard deviations; needs the feature `adapt` */
};
/* Scale of exploration: fixed, or learned from the surprise of rewards. */
enum { FABLE_SCALE_FIXED = 0, FABLE_SCALE_LEARNED = 1 };
/* Reaction to a detected change of the user. */
enum { FABLE_CHANGE_TELL = 0, FABLE_CHANGE_HALVE = 1, FABLE_CHANGE_RESET = 2 };
/* Unit of `deadline`, the time that a decision waits for its reward. */
enum { FABLE_DEADLINE_NONE = 0, FABLE_DEADLINE_ROUNDS = 1, FABLE_DEADLINE_TIME = 2 };
/* Effect of an expired decision. */
enum { FABLE_EXPIRY_NOTHING = 0, FABLE_EXPIRY_IMPUTE = 1 };

/* Settings of a policy. `Settings` in fable-core documents ranges and meanings. */
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
    uint32_t retained[4]; /* a bit for each block in use, block 0 lowest; all ones for all blocks */
    uint32_t half_life;   /* 0: no fading */
    uint32_t min_evidence;
    uint32_t deadline;
    uint32_t site;        /* number of the deciding site; 0 for the only or first site */
    uint8_t exploration; /* FABLE_DRAW, FABLE_THEOREM, FABLE_OPTIMISTIC */
    uint8_t scale;
    uint8_t on_change;
    uint8_t deadline_kind;
    uint8_t expiry;
} fable_settings;

#define FABLE_ALL_BLOCKS {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}
/* The defaults. They need the feature `adapt`, which is on by default. */
#define FABLE_SETTINGS_DEFAULT                                                                               \
    {0.25, 4.0, 0.0, 1.0, 1.5, 0.05, -1.0, 0.0, 0.0, 0.0, 0u, NULL, NULL, FABLE_ALL_BLOCKS, 0u, 10u, 0u, 0u, \
     FABLE_OPTIMISTIC, FABLE_SCALE_LEARNED, FABLE_CHANGE_TELL, FABLE_DEADLINE_NONE, FABLE_EXPIRY_NOTHING}
/* The paper's learner. */
#define FABLE_SETTINGS_PAPER                                                                                 \
    {0.25, 4.0, 16.0, 1.0, 0.3, 0.05, -1.0, 0.0, 0.0, 0.0, 0u, NULL, NULL, FABLE_ALL_BLOCKS, 0u, 10u, 0u,    \
     0u, FABLE_DRAW, FABLE_SCALE_FIXED, FABLE_CHANGE_TELL, FABLE_DEADLINE_NONE, FABLE_EXPIRY_NOTHING}

/* ---- Policy ------------------------------------------------------------------------------------------ */

/* A checked catalog with settings. */
typedef struct fable_policy fable_policy;

/* Bytes of a policy of this catalog; 0 if the pointer is null. */
size_t fable_policy_size(const fable_definition *catalog);

/* Makes a policy in `memory`, which must not move or change afterwards. `settings` are copied except for
 * their texts, and may be null for the defaults. The memory must not hold a policy in use: an error can
 * destroy it. */
fable_status fable_policy_init(void *memory, size_t size, const fable_definition *catalog,
                               const fable_settings *settings, const fable_policy **policy);

/* A catalog that is compiled into the library (FABLE_CATALOG at its build) is a policy already. The header
 * from `fable catalog c --builtin FILE.toml` declares its symbol. The symbol contains the fingerprint, so a
 * header and a library of different catalogs do not link:
 *
 *   extern const fable_policy fable_catalog_0123456789abcdef;
 *   #define LAMP_POLICY (&fable_catalog_0123456789abcdef)
 * / */

/* Fingerprint of catalog and settings. A snapshot must have the same fingerprint. */
fable_status fable_fingerprint(const fable_policy *policy, uint64_t *fingerprint);
/* Fingerprint of the catalog alone, with costs and default scores, without texts. Snapshots do not depend on
 * it. */
fable_status fable_catalog_fingerprint(const fable_policy *policy, uint64_t *fingerprint);

/* Shape of a catalog. */
typedef struct fable_shape {
    uint16_t actions;
    uint16_t dimension; /* coordinates */
    uint16_t leaves;    /* number of tasks; 0 if no block is per task */
    uint16_t leaf;      /* coordinates of each task */
    uint16_t root;      /* other coordinates */
    uint16_t values;    /* values of all components together */
    uint16_t components, tasks, signals, blocks, contrasts;
} fable_shape;

fable_status fable_policy_shape(const fable_policy *policy, fable_shape *shape);

/* Exact sizes of memory for a policy; 0 if the pointer is not to a policy. */
size_t fable_user_size(const fable_policy *policy);
size_t fable_workspace_size(const fable_policy *policy);
size_t fable_snapshot_size(const fable_policy *policy);

/* Positions by name. */
fable_status fable_find_task(const fable_policy *policy, const char *name, uint16_t *task);
fable_status fable_find_signal(const fable_policy *policy, const char *name, uint16_t *signal);
fable_status fable_find_contrast(const fable_policy *policy, const char *name, uint16_t *contrast);
/* A coordinate's name is, for example, `task=reading*light=warm`. */
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

/* Positions of values by name. */
fable_status fable_find_values(const fable_policy *policy, const fable_named *names, size_t count,
                               fable_pair *pairs);

/* The action with these values, one for each component, and the values of an action. `values` needs an
 * element for each component. */
fable_status fable_action_of(const fable_policy *policy, const uint8_t *values, size_t count,
                             uint16_t *action);
fable_status fable_values_of(const fable_policy *policy, uint16_t action, uint8_t *values, size_t count);

/* Writes the instruction for the assistant: the texts of the action's values, with a zero byte at the end.
 * The zero byte does not count in `length`. After FABLE_ERR_TOO_SMALL `length` is that of the whole text.
 * `length` may be null. */
fable_status fable_instruct(const fable_policy *policy, uint16_t action, char *buffer, size_t size,
                            size_t *length);

/* ---- Sets of actions --------------------------------------------------------------------------------- */

/* A set of actions, one bit each. */
typedef struct fable_set {
    uint32_t words[FABLE_MAX_ACTIONS / 32u];
} fable_set;

/* Sets all actions of the catalog. */
fable_status fable_allow_all(const fable_policy *policy, fable_set *set);
/* Removes the actions that have all of these values. */
fable_status fable_forbid(const fable_policy *policy, fable_set *set, const fable_pair *pairs, size_t count);
/* Removes the actions that do not have all of these values. */
fable_status fable_require(const fable_policy *policy, fable_set *set, const fable_pair *pairs, size_t count);

/* ---- User -------------------------------------------------------------------------------------------- */

/* The posterior, profile and counters of one user. */
typedef struct fable_user fable_user;

/* Makes a user in `memory`, which must not move afterwards, with a policy and a workspace. The user must then
 * be started or loaded. Users can share a workspace if they are not used at the same time; its content is not
 * kept between calls. */
fable_status fable_user_init(void *memory, size_t size, const fable_policy *policy, void *workspace,
                             size_t workspace_size, fable_user **user);

/* Hash of a user's name. Any other numbers that differ between users work too. */
fable_status fable_user_hash(const char *name, uint64_t *hash);

/* Starts from the prior and discards the present state. */
fable_status fable_start(fable_user *user, uint64_t hash);
/* Returns to the prior in the next incarnation. Earlier decisions are unknown from then on. */
fable_status fable_forget(fable_user *user);

/* The context of a request. */
typedef struct fable_context {
    const float *signals; /* each signal of the catalog, from 0 to 1; null in a catalog without signals */
    uint16_t signal_count;
    uint16_t task; /* FABLE_AT(task), or 0 */
} fable_context;

typedef struct fable_request {
    fable_context context;
    const fable_set *feasible; /* feasible actions, which rules reduce further; null for all actions */
    const double *defaults;    /* default scores, one per action; null for those of the catalog */
    uint16_t default_count;
    uint32_t now; /* the caller's time, in any unit, never decreasing; 0 without a clock */
} fable_request;

/* Identifies one decision. */
typedef struct fable_decision_id {
    uint64_t user;
    uint32_t incarnation;
    uint32_t site; /* number of the site that decided */
    uint32_t round;
} fable_decision_id;

typedef struct fable_decision {
    fable_decision_id id;
    double baseline; /* reference score of the action; learning uses the difference of the reward to it */
    uint16_t action;
    uint8_t values[FABLE_MAX_COMPONENTS]; /* of the action; 0 past the catalog's components */
} fable_decision;

/* Chooses an action and stores the decision until its reward. */
fable_status fable_decide(fable_user *user, const fable_request *request, fable_decision *decision);

/* The action with the highest mean score, without exploration. Nothing is stored. `score` may be null. */
fable_status fable_recommend(fable_user *user, const fable_request *request, uint16_t *action, float *score);

/* Learns the reward of a decision, from -1 to 1, with weight 1 and at time 0. */
fable_status fable_feedback(fable_user *user, const fable_decision_id *id, double reward);
/* Learns a reward with a weight and a time. A weight other than 1 ends the guarantee of promotions. */
fable_status fable_feedback_with(fable_user *user, const fable_decision_id *id, double reward, float weight,
                                 uint32_t now);
/* Learns the reward of an action that was not decided here. */
fable_status fable_observe(fable_user *user, const fable_context *context, uint16_t action, double reward);
/* Expires decisions whose deadline has passed. `expired`, their number, may be null. */
fable_status fable_expire(fable_user *user, uint32_t now, uint32_t *expired);

/* Counters of a user. */
typedef struct fable_progress {
    uint64_t user;
    uint32_t incarnation;
    uint32_t rounds;       /* decisions made */
    uint32_t observations; /* rewards learned */
    uint8_t voided;        /* 1: an event ended the guarantee of promotions */
} fable_progress;

fable_status fable_progress_of(fable_user *user, fable_progress *progress);

/* ---- Snapshots --------------------------------------------------------------------------------------- */

/* Writes a snapshot of the user into a buffer. After FABLE_ERR_TOO_SMALL `length` is the needed length. */
fable_status fable_save(fable_user *user, void *buffer, size_t size, size_t *length);

/* Takes the next bytes of a snapshot, at most 64. A result other than 0 stops the snapshot. */
typedef int (*fable_sink)(void *context, const void *bytes, size_t length);
/* Writes a snapshot in pieces, without memory for a second copy. The sink gets `context` in each call. */
fable_status fable_save_to(fable_user *user, fable_sink sink, void *context);

/* Restores the user from a snapshot and discards the present state. All bytes are checked first; after an
 * error the user is unchanged. */
fable_status fable_load(fable_user *user, const void *bytes, size_t length);

/* ---- Explanations ------------------------------------------------------------------------------------ */

/* Source of a share of a score. */
enum {
    FABLE_FROM_DEFAULT = 0, /* the default score */
    FABLE_FROM_COST = 1,    /* the cost */
    FABLE_FROM_BLOCK = 2,   /* the posterior mean of a block */
    FABLE_FROM_DRAW = 3,    /* exploration by a draw */
    FABLE_FROM_BONUS = 4    /* exploration by a bonus */
};

/* A share of the scores of two actions. */
typedef struct fable_share {
    double chosen;
    double other;
    uint16_t chosen_coordinate; /* FABLE_AT(coordinate) of the chosen action, or 0 */
    uint16_t other_coordinate;  /* FABLE_AT(coordinate) of the other action, or 0 */
    uint8_t source;
    uint8_t block; /* of FABLE_FROM_BLOCK */
} fable_share;

typedef struct fable_explanation {
    double chosen_score; /* score of the choice: the sum of its shares, up to rounding */
    double other_score;
    uint32_t probed[2]; /* a bit for each contrast with a probe in this decision */
    uint16_t chosen;
    uint16_t intended; /* the choice before probes */
    uint16_t other;    /* the compared action */
    uint8_t feasible;  /* 1: the other action was feasible */
    uint8_t explored;  /* 1: another feasible action has a higher mean score */
} fable_explanation;

/* Most shares of an explanation. */
#define FABLE_SHARES(blocks) ((blocks) + 3)

/* Explains a decision against `other`, which is FABLE_AT(action), or 0 for the runner-up.
 *
 * Call before the decision's reward and before the next decision, with the defaults of its request, if any.
 * `count` is the number of shares. `shares` may be null if `size` is 0. */
fable_status fable_explain(fable_user *user, const fable_decision_id *id, uint16_t other,
                           const double *defaults, size_t default_count, fable_explanation *explanation,
                           fable_share *shares, size_t size, size_t *count);

/* ---- Stated preferences ------------------------------------------------------------------------------ */

/* Contexts of a statement or of a user's rule. */
enum { FABLE_EVERYWHERE = 0, FABLE_IN_TASK = 1, FABLE_WITH_SIGNAL = 2 };
typedef struct fable_where {
    uint8_t kind;
    uint8_t position; /* of the task or signal; a user's rule for a signal holds above 1/2 */
} fable_where;

/* "Prefer these values over those": values of one component, or of several together. */
typedef struct fable_preference {
    const fable_pair *prefer;
    const fable_pair *over; /* may be null */
    uint8_t prefer_count;
    uint8_t over_count;
    fable_where where;
    double response;  /* from -1 to 1 */
    double precision; /* weight of the statement; 1 equals a reward with variance 1 */
} fable_preference;

fable_status fable_prefer(fable_user *user, const fable_preference *preference);

/* A statement in coordinates. */
typedef struct fable_entry {
    double coefficient;
    uint16_t coordinate;
} fable_entry;
fable_status fable_state(fable_user *user, const fable_entry *entries, size_t count, double response,
                         double precision);

/* ---- Rules of a user --------------------------------------------------------------------------------- */

enum {
    FABLE_USER_RULE_NEVER = 1,          /* the value is never chosen in these contexts */
    FABLE_USER_RULE_ALWAYS = 2,         /* the value, or another with such a rule, is always chosen there */
    FABLE_USER_RULE_OFF = 3,            /* no decisions and no learning */
    FABLE_USER_RULE_REMEMBER = 4,       /* the caller may store the user's words; the caller obeys this */
    FABLE_USER_RULE_DO_NOT_REMEMBER = 5 /* the caller must not store the user's words */
};
typedef struct fable_user_rule {
    uint8_t kind;
    fable_pair pair;   /* of NEVER and ALWAYS */
    fable_where where; /* of NEVER and ALWAYS */
} fable_user_rule;

fable_status fable_user_rule_add(fable_user *user, const fable_user_rule *rule);
fable_status fable_user_rule_remove(fable_user *user, const fable_user_rule *rule);
/* The user's rules. `rules` may be null if `size` is 0. After FABLE_ERR_TOO_SMALL `count` is the needed size.
 */
fable_status fable_user_rules(fable_user *user, fable_user_rule *rules, size_t size, size_t *count);

/* ---- Assessments and promotions ---------------------------------------------------------------------- */

enum { FABLE_AGAINST = -1, FABLE_OPEN = 0, FABLE_FOR = 1 };

/* Assessment of a contrast, on the scale of rewards. */
typedef struct fable_assessment {
    double mean;
    double sd;
    double probability; /* that the contrast is positive */
    double beta;
    double radius;
    double lower; /* of the interval */
    double upper;
    double threshold;
    double distance;   /* of the interval from one side of zero; negative after the interval is there */
    uint32_t evidence; /* rewards that bear on the contrast */
    uint32_t rounds;   /* estimated further rounds; UINT32_MAX if there is no estimate */
    int8_t verdict;
    uint8_t valid; /* 1: the guarantee holds, as far as known */
} fable_assessment;

fable_status fable_assess(fable_user *user, uint16_t contrast, fable_assessment *assessment);
/* Assesses two actions that differ in one component. With `total` 1, the difference of their reference scores
 * is included. */
fable_status fable_compare(fable_user *user, const fable_context *context, uint16_t prefer, uint16_t over,
                           uint8_t total, fable_assessment *assessment);

enum { FABLE_BY_ELLIPSOID = 0, FABLE_BY_PROBES = 1 };
enum { FABLE_HOLDS = 0, FABLE_DOUBTFUL = 1, FABLE_REVOKED = 2 };

/* A promoted preference and its present standing. */
typedef struct fable_promotion {
    uint32_t round;
    uint32_t now; /* time of the promotion */
    uint32_t evidence;
    float lower;
    float upper;
    uint8_t contrast;
    int8_t verdict;
    uint8_t valid;
    uint8_t by;
    uint8_t standing;
} fable_promotion;

/* Promotes all certain preferences now, in addition to the checks of `fable_feedback` and `fable_observe`.
 * `promoted`, their number, may be null. */
fable_status fable_promote(fable_user *user, uint32_t now, uint32_t *promoted);
/* The promoted preferences. `promotions` may be null if `size` is 0. */
fable_status fable_profile(fable_user *user, fable_promotion *promotions, size_t size, size_t *count);
/* The preferences that hold, as sentences for the assistant. See `fable_instruct` for buffer and length. */
fable_status fable_profile_text(fable_user *user, char *buffer, size_t size, size_t *length);

/* ---- By name ----------------------------------------------------------------------------------------- */

/* A signal by name. */
typedef struct fable_signal {
    const char *name;
    float value;
} fable_signal;

/* A context by names: a task or null, and each signal once, in any order. `buffer` needs an element for each
 * signal of the catalog, and must stay valid as long as the context. */
fable_status fable_context_named(const fable_policy *policy, const char *task, const fable_signal *signals,
                                 size_t count, float *buffer, size_t size, fable_context *context);

static inline fable_status fable_forbid_named(const fable_policy *policy, fable_set *set,
                                              const fable_named *names, size_t count)
{
    fable_pair pairs[FABLE_MAX_COMPONENTS];
    fable_status status = FABLE_ERR_UNKNOWN_VALUE;
    if (count <= FABLE_MAX_COMPONENTS) status = fable_find_values(policy, names, count, pairs);
    return status != FABLE_OK ? status : fable_forbid(policy, set, pairs, count);
}

static inline fable_status fable_require_named(const fable_policy *policy, fable_set *set,
                                               const fable_named *names, size_t count)
{
    fable_pair pairs[FABLE_MAX_COMPONENTS];
    fable_status status = FABLE_ERR_UNKNOWN_VALUE;
    if (count <= FABLE_MAX_COMPONENTS) status = fable_find_values(policy, names, count, pairs);
    return status != FABLE_OK ? status : fable_require(policy, set, pairs, count);
}

/* Contexts by name: a task, or a signal, or neither; at most one of them is not null. */
static inline fable_status fable_where_named(const fable_policy *policy, const char *task, const char *signal,
                                             fable_where *where)
{
    uint16_t position = 0;
    fable_status status = FABLE_OK;
    if (where == NULL) return FABLE_ERR_NULL;
    if (task != NULL && signal != NULL) return FABLE_ERR_BAD_KIND;
    if (task != NULL) status = fable_find_task(policy, task, &position);
    if (signal != NULL) status = fable_find_signal(policy, signal, &position);
    if (status != FABLE_OK) return status;
    where->kind = FABLE_EVERYWHERE;
    if (task != NULL) where->kind = FABLE_IN_TASK;
    if (signal != NULL) where->kind = FABLE_WITH_SIGNAL;
    where->position = (uint8_t)position;
    return FABLE_OK;
}

/* A stated preference of one value over another, by name. `over` may have null names. */
static inline fable_status fable_prefer_named(fable_user *user, const fable_policy *policy,
                                              fable_named prefer, fable_named over, fable_where where,
                                              double precision)
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

/* A user's rule for a value, by name. */
static inline fable_status fable_user_rule_named(const fable_policy *policy, uint8_t kind, fable_named value,
                                                 fable_where where, fable_user_rule *rule)
{
    fable_pair pair = {0, 0};
    fable_status status = fable_find_values(policy, &value, 1, &pair);
    if (status != FABLE_OK) return status;
    if (rule == NULL) return FABLE_ERR_NULL;
    rule->kind = kind;
    rule->pair = pair;
    rule->where = where;
    return FABLE_OK;
}

#ifdef __cplusplus
}
#endif

#endif
