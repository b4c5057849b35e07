//! The structures of the header. A test compares sizes and offsets with those of a C compiler.

use core::ffi::c_char;
use core::mem::{align_of, offset_of, size_of};

/// A structure as C sees it: name, size, alignment, and the names and offsets of the fields.
#[derive(Debug)]
pub struct Layout {
    /// Name in the header.
    pub name: &'static str,
    /// `sizeof` the structure.
    pub size: usize,
    /// Alignment of the structure.
    pub align: usize,
    /// The fields, each with its `offsetof`.
    pub fields: &'static [(&'static str, usize)],
}

macro_rules! structures {
    ($($rust:ident = $c:literal { $($field:ident: $type:ty,)+ })+) => {
        $(
            #[doc = concat!("`", $c, "` of the header.")]
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $rust {
                $(#[doc = "See the header."] pub $field: $type,)+
            }
        )+

        /// Every structure of the header.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            name: $c,
            size: size_of::<$rust>(),
            align: align_of::<$rust>(),
            fields: &[$((stringify!($field), offset_of!($rust, $field))),+],
        }),+];
    };
}

structures! {
    Value = "fable_value" {
        name: *const c_char,
        instruction: *const c_char,
        cost: f64,
    }
    Component = "fable_component" {
        name: *const c_char,
        values: *const Value,
        value_count: u16,
        null_value: u16,
    }
    Block = "fable_block" {
        components: u16,
        scaled_by: u16,
        per_task: u8,
        without_null: u8,
    }
    Part = "fable_part" {
        values: *const u8,
        value_count: u16,
        component: u8,
    }
    Condition = "fable_condition" {
        tasks: *const u8,
        threshold: f32,
        task_count: u16,
        signal: u8,
        kind: u8,
    }
    Term = "fable_term" {
        weight: f64,
        when: Condition,
        parts: *const Part,
        part_count: u16,
    }
    Contrast = "fable_contrast" {
        name: *const c_char,
        prefer: *const u8,
        over: *const u8,
        signals: *const f32,
        positive: *const c_char,
        negative: *const c_char,
        signal_count: u16,
        task: u16,
    }
    Rule = "fable_rule" {
        name: *const c_char,
        parts: *const Part,
        when: Condition,
        part_count: u16,
        effect: u8,
    }
    Definition = "fable_definition" {
        name: *const c_char,
        components: *const Component,
        tasks: *const *const c_char,
        signals: *const *const c_char,
        blocks: *const Block,
        terms: *const Term,
        contrasts: *const Contrast,
        rules: *const Rule,
        component_count: u16,
        task_count: u16,
        signal_count: u16,
        block_count: u16,
        term_count: u16,
        contrast_count: u16,
        rule_count: u16,
    }
    Settings = "fable_settings" {
        noise_variance: f64,
        precision_per_feature: f64,
        base_precision: f64,
        cost_weight: f64,
        explore: f64,
        alpha: f64,
        prior_radius: f64,
        noise_proxy: f64,
        probe: f64,
        imputed: f64,
        seed: u64,
        context_adapter: *const c_char,
        feedback_adapter: *const c_char,
        retained: [u32; 4],
        half_life: u32,
        min_evidence: u32,
        deadline: u32,
        site: u32,
        exploration: u8,
        scale: u8,
        on_change: u8,
        deadline_kind: u8,
        expiry: u8,
    }
    Shape = "fable_shape" {
        actions: u16,
        dimension: u16,
        leaves: u16,
        leaf: u16,
        root: u16,
        values: u16,
        components: u16,
        tasks: u16,
        signals: u16,
        blocks: u16,
        contrasts: u16,
    }
    Pair = "fable_pair" {
        component: u8,
        value: u8,
    }
    Named = "fable_named" {
        component: *const c_char,
        value: *const c_char,
    }
    Set = "fable_set" {
        words: [u32; 32],
    }
    Context = "fable_context" {
        signals: *const f32,
        signal_count: u16,
        task: u16,
    }
    Request = "fable_request" {
        context: Context,
        feasible: *const Set,
        defaults: *const f64,
        default_count: u16,
        now: u32,
    }
    DecisionId = "fable_decision_id" {
        user: u64,
        incarnation: u32,
        site: u32,
        round: u32,
    }
    Decision = "fable_decision" {
        id: DecisionId,
        baseline: f64,
        action: u16,
        values: [u8; 8],
    }
    Progress = "fable_progress" {
        user: u64,
        incarnation: u32,
        rounds: u32,
        observations: u32,
        voided: u8,
    }
    Share = "fable_share" {
        chosen: f64,
        other: f64,
        chosen_coordinate: u16,
        other_coordinate: u16,
        source: u8,
        block: u8,
    }
    Explanation = "fable_explanation" {
        chosen_score: f64,
        other_score: f64,
        probed: [u32; 2],
        chosen: u16,
        intended: u16,
        other: u16,
        feasible: u8,
        explored: u8,
    }
    Where = "fable_where" {
        kind: u8,
        position: u8,
    }
    Preference = "fable_preference" {
        prefer: *const Pair,
        over: *const Pair,
        prefer_count: u8,
        over_count: u8,
        r#where: Where,
        response: f64,
        precision: f64,
    }
    Entry = "fable_entry" {
        coefficient: f64,
        coordinate: u16,
    }
    UserRule = "fable_user_rule" {
        kind: u8,
        pair: Pair,
        r#where: Where,
    }
    Assessment = "fable_assessment" {
        mean: f64,
        sd: f64,
        probability: f64,
        beta: f64,
        radius: f64,
        lower: f64,
        upper: f64,
        threshold: f64,
        distance: f64,
        evidence: u32,
        rounds: u32,
        verdict: i8,
        valid: u8,
    }
    Promotion = "fable_promotion" {
        round: u32,
        now: u32,
        evidence: u32,
        lower: f32,
        upper: f32,
        contrast: u8,
        verdict: i8,
        valid: u8,
        by: u8,
        standing: u8,
    }
    Signal = "fable_signal" {
        name: *const c_char,
        value: f32,
    }
}
