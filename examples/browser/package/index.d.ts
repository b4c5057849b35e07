// Types of the package. A test compares them with what the package has, and checks a program that uses them with `tsc --strict`.
// They need no types of a browser or of node.
/// <reference lib="esnext.disposable" />

/**
 * Loads the module, or another one: its address (a text or a URL), a Response, its bytes, or what `Fable.compiled` is. Each call gives an
 * instance with a memory of its own; the package's module is compiled once.
 */
export function load(source?: string | object): Promise<Fable>;

/** The codes of `fable serve` that the package uses. */
export type FableErrorCode =
  | "bad_request"
  | "unknown_op"
  | "unknown_name"
  | "out_of_range"
  | "incomplete_action"
  | "bad_context"
  | "bad_pattern"
  | "infeasible"
  | "off"
  | "bad_direction"
  | "no_coordinate"
  | "bad_contrast"
  | "unknown_decision"
  | "expired"
  | "duplicate_feedback"
  | "stale"
  | "damaged"
  | "exhausted"
  | "internal";

/** Why something was not done. Nothing has changed, except after `internal`: see `Fable.stopped`. */
export class FableError extends Error {
  constructor(code: FableErrorCode, message: string, options?: { cause?: unknown });
  readonly code: FableErrorCode;
}

/** One instance of the module. A program needs one; a trap in one does not touch the others. */
export class Fable {
  private constructor();
  /** The compiled module, a WebAssembly.Module: send it to a worker and `load` it there, and it is not compiled again. */
  readonly compiled: object;
  /** The border, for modules that add exports of their own. */
  readonly module: Module;
  /** Whether a trap has ended this instance: everything is refused with `internal` from then on. */
  readonly stopped: boolean;
  /** A catalog that ships, or an object of the shape of a catalog's TOML file. It lives as long as the instance. */
  catalog(definition: "agent" | "tau2" | "rubric" | Definition): Catalog;
}

export interface Module {
  readonly stopped: boolean;
  call<A>(name: string, read: (reader: any) => A, numbers?: readonly number[], asked?: Uint8Array | null): A;
}

/** A value of each component. */
export type Action = Record<string, string>;
/** Every signal of the catalog, from 0 to 1, and `task`, which may be null or left out. */
export type Context = { task?: string | null } & { [signal: string]: number | string | null | undefined };
/** A conjunction of components; a list of values means any of them. */
export type Pattern = Record<string, string | readonly string[]>;

/** What may be chosen: nothing that matches `forbid`, what matches every `require`, and one of `only` if it is given. */
export interface Permissions {
  forbid?: readonly Pattern[];
  require?: readonly Pattern[];
  only?: readonly Pattern[];
}

export interface Recommend extends Permissions {
  context: Context;
  /** Default scores of all actions for this round, in catalog order. */
  defaults?: readonly number[] | Float64Array;
}

export interface Request extends Recommend {
  /** Estimates the probability of every action from so many draws, at most 10,000. Exact under optimism. */
  propensities?: number;
  /** The caller's time, in any unit. */
  at?: number;
}

/** A coin, and how it fell. */
export interface Probe {
  contrast: string;
  preferred: boolean;
  expected: number;
}

export interface Recommendation {
  action: Action;
  /** What the assistant is told. */
  instruction: string;
  /** The mean score. */
  score: number;
  /** How many actions there were to choose from. */
  feasible: number;
}

export interface Decision extends Recommendation {
  /** Its name, for `feedback` and `explain`. */
  decision: string;
  /** Whether another feasible action has a higher mean score. */
  explored: boolean;
  /** What optimism, or the draw, made of the score. */
  sampled_score: number;
  /** What the reward is compared with. */
  baseline: number;
  /** The coins that were tossed, if any were. */
  probes?: Probe[];
  /** How probable the action was, if coins can be tossed. */
  propensity?: number;
  /** How probable every action was, if that was asked for. */
  propensities?: number[];
}

export interface Learned {
  /** Rewards learned. */
  observations: number;
  /** Whether this reward is the one by which the user seems to have changed. */
  changed: boolean;
  /** Preferences that it has promoted. */
  promoted: number;
}

export interface Observation {
  context: Context;
  action: Action;
  reward: number;
  weight?: number;
  defaults?: readonly number[] | Float64Array;
  at?: number;
}

/** A stated preference: values preferred over others, somewhere or everywhere, or a direction by names of coordinates. */
export type Statement = { response: number; precision: number } & (
  | { prefer: Action; over?: Action; when?: { task: string } | { signal: string }; direction?: undefined }
  | { direction: Record<string, number>; prefer?: undefined; over?: undefined; when?: undefined }
);

export interface Share {
  part: "default" | "cost" | "block" | "draw" | "bonus";
  chosen: number;
  other: number;
  chosen_coordinate: string | null;
  other_coordinate: string | null;
}

export interface Explanation {
  chosen: Action;
  other: Action;
  feasible: boolean;
  explored: boolean;
  chosen_score: number;
  other_score: number;
  /** What the scores are made of; the shares add up to them. */
  shares: Share[];
  /** The contrasts that coins were tossed for, and what would have been chosen without them. */
  probed?: string[];
  intended?: Action;
  /** The rule of the catalog that removed the other action. */
  rule?: string;
}

/** What coins have shown about a declared contrast. */
export interface Trial {
  trials: number;
  e_value: number;
  needed: number;
  average: { mean: number; lower: number; upper: number };
  certified: -1 | 0 | 1;
}

export interface Contrast {
  mean: number;
  sd: number;
  probability: number;
  lower: number;
  upper: number;
  beta: number;
  evidence: number;
  valid: boolean;
  promoted: -1 | 0 | 1;
  /** About how many more rewards it takes to be sure, if an end is in sight. */
  missing: number | null;
}

export interface Promotion extends Trial {
  contrast: string;
  verdict: -1 | 1;
  standing: "holds" | "doubtful" | "revoked";
  sentence: string;
  by: "coins" | "ellipsoid";
  valid: boolean;
  round: number;
  at: number;
  evidence: number;
  lower: number;
  upper: number;
}

/** Settings with the names and texts of a file's table `[settings]`; what is left out is the default. */
export interface Settings {
  noise_variance?: number;
  precision_per_feature?: number;
  base_precision?: number;
  cost_weight?: number;
  optimism?: number;
  nu?: number;
  delta?: number;
  scale?: "fixed" | "learned";
  half_life?: number | "none";
  on_change?: "tell" | "halve" | "reset";
  alpha?: number;
  prior_radius?: number;
  noise_proxy?: number;
  /** How often a fair coin is tossed; 0, the default, tosses none. */
  probe?: number;
  min_evidence?: number;
  deadline?: "none" | `rounds=${number}` | `time=${number}`;
  expiry?: "nothing" | `impute=${number}`;
  /** Names of `Catalog.blocks`. */
  retained?: readonly string[];
  seed?: number | bigint;
  site?: number;
  context_adapter?: string;
  feedback_adapter?: string;
}

type Condition = Record<string, string | readonly string[] | { above: number } | { at_least: number } | { at_most: number } | { below: number }>;

/** A catalog of one's own: what a TOML parser makes of a catalog's file. */
export interface Definition {
  name: string;
  tasks?: readonly string[];
  signals?: readonly string[];
  components: readonly {
    name: string;
    null?: string;
    values: readonly { name: string; cost?: number; instruction?: string }[];
  }[];
  dictionary: {
    blocks: readonly { of: string | readonly string[]; per_task?: boolean; scaled_by?: string; without_null?: boolean }[];
  };
  terms?: readonly { weight: number; when?: Condition; any_of: Pattern }[];
  contrasts?: readonly {
    name: string;
    prefer: Action;
    over: Action;
    with?: Action;
    context?: Context;
    positive?: string;
    negative?: string;
  }[];
  rules?: readonly { name: string; when?: Condition; forbid?: Pattern; require?: Pattern; only?: Pattern }[];
  /** For `fable proxy`; the package does not look at it. */
  tools?: Record<string, string | readonly string[]>;
  settings?: Settings;
}

/** What can be chosen, and in which contexts. */
export class Catalog {
  private constructor();
  readonly name: string;
  readonly components: readonly { name: string; values: readonly { name: string; instruction: string; cost: number }[] }[];
  readonly tasks: readonly string[];
  readonly signals: readonly string[];
  readonly contrasts: readonly { name: string; positive: string; negative: string }[];
  /** Names of the rules. */
  readonly rules: readonly string[];
  /** Names of the dictionary's blocks. */
  readonly blocks: readonly string[];
  /** Coordinates of the dictionary. */
  readonly dimension: number;
  /** Complete actions. */
  readonly size: number;
  /** The action at a position in catalog order, in which the last component varies fastest. */
  action(index: number): Action;
  /** The position of an action. */
  index(action: Action): number;
  /** How users of this catalog are decided for. */
  policy(settings?: Settings, options?: { prior?: Uint8Array }): Policy;
}

/** A catalog with settings: makes users. */
export class Policy {
  private constructor();
  readonly catalog: Catalog;
  readonly settings: Readonly<Settings>;
  /** What a snapshot must have been made under, in hexadecimal. */
  readonly fingerprint: string;
  /** A new user, at the prior. With `journal` every event is kept, as `fable replay` reads it. */
  user(name: string, options?: { journal?: boolean }): User;
  /** A user who goes on from a snapshot, whoever made it: this package, a host, a device. */
  restore(snapshot: Uint8Array, options?: { journal?: boolean }): User;
}

/** One user. Free it when it is not needed any more; one that is dropped is freed some time later. */
export class User {
  private constructor();
  readonly policy: Policy;
  /** The hash of the name, as it stands in ids of decisions. */
  readonly id: string;
  /** The user's number in the module, for exports that a module adds. */
  readonly number: number;
  /** Decisions made. */
  readonly rounds: number;
  /** Rewards learned. */
  readonly observations: number;
  /** Times forgotten. */
  readonly incarnation: number;
  /** Chooses an action. */
  decide(request: Request): Decision;
  /** The feasible action with the highest mean score: no exploring, and nothing is kept. */
  recommend(request: Recommend): Recommendation;
  /** The actions that a request leaves, by position, with the rules of the catalog and of the user. */
  feasible(request: Permissions & { context: Context }): number[];
  /** Learns the reward of a decision, from -1 to 1. */
  feedback(decision: string, reward: number, options?: { weight?: number; at?: number }): Learned;
  /** Learns the reward of an action that was chosen elsewhere. */
  observe(observation: Observation): Learned;
  /** Takes stated preferences, all of them or none; says how many. */
  onboard(statements: Statement | readonly Statement[]): number;
  /** Takes the score of a decision apart, against another action or the runner-up. Ask before its reward. */
  explain(decision: string, options?: { against?: Action; defaults?: readonly number[] | Float64Array }): Explanation;
  /** What is known about a declared contrast, with what coins have shown. */
  contrast(name: string): Contrast & Trial;
  /** What is known about two actions that differ in one component. */
  contrast(actions: { context: Context; prefer: Action; over: Action; total?: boolean }): Contrast;
  /** The promoted preferences, and what they say, for a prompt. */
  profile(): { profile: Promotion[]; text: string };
  /** Promotes what is certain now; says how much that was. Feedback does so by itself at times. */
  promote(at?: number): number;
  /** The decisions that wait for their reward, oldest first. */
  waiting(at?: number): string[];
  /** Goes back to the prior; ids of earlier decisions are unknown from then on. */
  forget(): void;
  /** Goes on under other settings of the same catalog, of those that may be changed at any time; a journal begins anew. */
  adopt(policy: Policy): void;
  /** The state as bytes: a record that every host and device reads. */
  snapshot(): Uint8Array;
  /** What `fable replay --snapshot S --journal J` takes. */
  journal(): { start: Uint8Array; events: Uint8Array };
  /** Gives the memory back. Everything else is refused from then on; freeing again does nothing. */
  free(): void;
  /** As `free`, where the language has `using`. */
  [Symbol.dispose](): void;
}
