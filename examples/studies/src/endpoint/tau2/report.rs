//! What came of it, beside the paper's numbers, which are those of the environment.

use super::tasks::Domain;
use super::{Episode, METRICS, ROWS, Shard, Tau2};
use crate::endpoint::of;
use crate::report::{Report, Table, plus_minus, with_interval};
use crate::statistics::{cluster_bootstrap, deviation, mean};

/// The mean of a metric over episodes.
fn average<'e>(episodes: impl Iterator<Item = &'e Option<Episode>>, metric: usize) -> f64 {
    mean(&episodes.flatten().map(|episode| episode.metrics()[metric]).collect::<Vec<_>>())
}

impl Tau2 {
    pub(super) fn report(&self, rows: &[Vec<&Shard>]) -> Report {
        let mut report =
            Report::new("customer service on tasks of tau2-bench, a real model, one answer each");
        let tasks = |of: fn(&Domain) -> usize| self.domains.iter().map(of).sum::<usize>();
        report.text(
            "**This is not the tau2 environment and not its task success.** Tasks, policy documents and expected solutions are those of
             tau2-bench (github.com/sierra-research/tau2-bench, MIT), but there are no tools, no database and no customer who answers:
             a model writes the customer's one message, the model that is measured answers once, with the domain's policy as system
             prompt and the action as its suffix, and a judge says whether the answer decides the case as the task's solution does.
             The documents of `banking_knowledge`, which an agent would search, are not there.",
        );
        report.text(&format!(
            "Otherwise the paper's protocol: {} domains, two profiles, {} seeds, {} tasks to learn from and {} for evaluation, ten of each
             domain left out, 18 actions (d = 29), y = clip(2 [0.75 R + 0.25 A] - 1 - 0.2 c), evaluation without draws and learning.
             Alignment is a function of the number of words and the profile, and the onboarding statement, settings and costs are those of the
             study without a model: the paper prints none of them. Policies that cannot learn skip the rounds of learning.",
            self.domains.len(),
            self.seeds,
            tasks(|domain| domain.learning.len()),
            tasks(|domain| domain.evaluation.len())
        ));
        report.table(self.policies(rows));
        report.text("Frozen rounds: mean and standard deviation over the means of the seeds. The paper's success is that of the environment.");
        self.contrasts(&mut report, rows);
        self.by_domain(&mut report, rows);
        for ((method, _), shards) in ROWS.iter().zip(rows) {
            for (metric, name) in METRICS.into_iter().enumerate() {
                let value = average(shards.iter().flat_map(|shard| &shard.episodes), metric);
                report.number(format!("{}: {name}", method.name), value);
            }
        }
        report
    }

    fn policies(&self, rows: &[Vec<&Shard>]) -> Table {
        let heads = [
            "",
            "reward, paper",
            "here",
            "alignment, paper",
            "here",
            "success, paper",
            "judged here",
            "words",
            "facts told",
            "promoted",
            "not judged",
        ];
        let mut table = Table::new("policies", &heads);
        for ((method, paper), shards) in ROWS.iter().zip(rows) {
            let mut cells = vec![method.name.to_owned()];
            for (metric, theirs) in paper.iter().enumerate() {
                let by_seed = shards.chunks(self.domains.len());
                let means: Vec<f64> = by_seed
                    .map(|seed| average(seed.iter().flat_map(|shard| &shard.episodes), metric))
                    .collect();
                cells.extend([format!("{theirs:.3}"), plus_minus(mean(&means), deviation(&means))]);
            }
            let episodes: Vec<&Episode> =
                shards.iter().flat_map(|shard| shard.episodes.iter().flatten()).collect();
            let words = mean(&episodes.iter().map(|episode| episode.words as f64).collect::<Vec<_>>());
            let facts: Vec<bool> = episodes.iter().filter_map(|episode| episode.told).collect();
            cells.push(format!("{words:.0}"));
            cells.push(of(facts.iter().filter(|told| **told).count(), facts.len()));
            cells.push(shards.iter().map(|shard| shard.promoted).sum::<usize>().to_string());
            cells.push(shards.iter().map(|shard| shard.unjudged).sum::<usize>().to_string());
            table.row(cells);
        }
        table
    }

    /// Full minus the others, paired by domain, task and seed; clusters are tasks.
    fn contrasts(&self, report: &mut Report, rows: &[Vec<&Shard>]) {
        let mut table =
            Table::new("contrasts", &["Fable (full) minus", "reward", "alignment", "judged success"]);
        let (Some(full), others) = (rows.last(), rows.len().saturating_sub(1)) else { return };
        for ((method, _), other) in ROWS.iter().zip(rows).take(others) {
            let mut cells = vec![method.name.to_owned()];
            for metric in 0..METRICS.len() {
                let tasks =
                    self.domains.iter().map(|domain| domain.evaluation.len()).max().unwrap_or_default();
                let mut clusters = vec![(0.0, 0.0); self.domains.len() * tasks];
                for (index, (full, other)) in full.iter().zip(other).enumerate() {
                    let pairs = full.episodes.iter().zip(&other.episodes).enumerate();
                    for (task, (full, other)) in pairs {
                        let cluster = clusters.get_mut(index % self.domains.len() * tasks + task);
                        let (Some(full), Some(other), Some(cluster)) = (full, other, cluster) else {
                            continue;
                        };
                        *cluster =
                            (cluster.0 + full.metrics()[metric] - other.metrics()[metric], cluster.1 + 1.0);
                    }
                }
                clusters.retain(|(_, number)| *number > 0.0);
                let (sum, number) =
                    clusters.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
                let interval = if clusters.is_empty() {
                    (0.0, 0.0)
                } else {
                    cluster_bootstrap(&clusters, 10_000, metric as u64)
                };
                cells.push(with_interval(if number > 0.0 { sum / number } else { 0.0 }, interval));
            }
            table.row(cells);
        }
        report.table(table);
        report.text("95% intervals of a paired bootstrap over clusters of domain, task and profile, 10,000 resamples.");
    }

    fn by_domain(&self, report: &mut Report, rows: &[Vec<&Shard>]) {
        let (Some(host), Some(full)) = (rows.first(), rows.last()) else { return };
        let mut table = Table::new("domains", &["judged success", "host", "full"]);
        for (index, domain) in self.domains.iter().enumerate() {
            let success = |shards: &[&Shard]| {
                let shards = shards.iter().skip(index).step_by(self.domains.len());
                format!("{:.3}", average(shards.flat_map(|shard| &shard.episodes), 2))
            };
            table.row([domain.name.to_owned(), success(host), success(full)]);
        }
        report.table(table);
    }
}
