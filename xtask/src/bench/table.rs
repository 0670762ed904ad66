//! The table of the results.

use crate::bench::measure::Pair;

/// What a measurement should reach.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// Our time over the peer's; and what is aimed at later, if that is less.
    Ratio { now: f64, later: Option<f64> },
    /// Our time.
    Milliseconds(f64),
}

/// One measurement.
pub(crate) struct Row {
    cells: [String; 6],
    met: bool,
}

impl Row {
    /// Two programs' times.
    pub(crate) fn times(name: &str, what: &str, pair: &Pair, target: Target) -> Self {
        let ratio = pair.ours_ms / pair.peer_ms;
        let (wanted, met) = match target {
            Target::Ratio { now, later: None } => (format!("≤ {now:.2} ×"), ratio <= now),
            Target::Ratio { now, later: Some(later) } => {
                (format!("≤ {now:.2} × (later {later:.2} ×)"), ratio <= now)
            }
            Target::Milliseconds(limit) => (format!("≤ {limit} ms"), pair.ours_ms <= limit),
        };
        let cells = [
            name.to_owned(),
            what.to_owned(),
            format!("{:.1} ms", pair.peer_ms),
            format!("{:.1} ms", pair.ours_ms),
            format!("{ratio:.2} ×"),
            wanted,
        ];
        Self { cells, met }
    }

    /// A time that is compared with nothing.
    pub(crate) fn time(name: &str, what: &str, ours_ms: f64, target: Target) -> Self {
        let pair = Pair { peer_ms: f64::NAN, ours_ms };
        let Self { cells: [name, what, _, ours, _, wanted], met } =
            Self::times(name, what, &pair, target);
        Self { cells: [name, what, "-".to_owned(), ours, "-".to_owned(), wanted], met }
    }

    /// A peak of memory above that of an idle process.
    pub(crate) fn memory(name: &str, what: &str, idle: u64, peak: u64, limit: u64) -> Self {
        let above = peak.saturating_sub(idle);
        let cells = [
            name.to_owned(),
            what.to_owned(),
            mebibytes(idle),
            mebibytes(peak),
            format!("+{}", mebibytes(above)),
            format!("≤ +{}", mebibytes(limit)),
        ];
        Self { cells, met: above <= limit }
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = (bytes * 10) >> 20;
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

/// All measurements of a run.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The table in Markdown.
    pub(crate) fn render(&self) -> String {
        let head = "| Name | Work | Peer | handhold | Ratio | Target | |\n\
                    |---|---|---:|---:|---:|---|---|\n";
        let rows = self.rows.iter().map(|row| {
            let verdict = if row.met { "met" } else { "**missed**" };
            // A bar in a cell would end it.
            let cells = row.cells.each_ref().map(|cell| cell.replace('|', r"\|"));
            format!("| {} | {verdict} |\n", cells.join(" | "))
        });
        head.to_owned() + &rows.collect::<String>()
    }

    /// How many targets were met.
    pub(crate) fn summary(&self) -> String {
        let met = self.rows.iter().filter(|row| row.met).count();
        format!("{met} of {} targets met", self.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Pair, Row, Table, Target};

    #[test]
    fn a_missed_target_is_marked_and_counted() {
        let mut table = Table::default();
        let target = Target::Ratio { now: 2.0, later: Some(1.25) };
        table.push(Row::times("a", "`x|y`", &Pair { peer_ms: 10.0, ours_ms: 15.0 }, target));
        table.push(Row::times("b", "y", &Pair { peer_ms: 10.0, ours_ms: 25.0 }, target));
        table.push(Row::time("c", "z", 30.0, Target::Milliseconds(20.0)));
        table.push(Row::memory("d", "m", 10 << 20, 50 << 20, 32 << 20));
        assert_eq!(
            table.render(),
            "| Name | Work | Peer | handhold | Ratio | Target | |\n\
             |---|---|---:|---:|---:|---|---|\n\
             | a | `x\\|y` | 10.0 ms | 15.0 ms | 1.50 × | ≤ 2.00 × (later 1.25 ×) | met |\n\
             | b | y | 10.0 ms | 25.0 ms | 2.50 × | ≤ 2.00 × (later 1.25 ×) | **missed** |\n\
             | c | z | - | 30.0 ms | - | ≤ 20 ms | **missed** |\n\
             | d | m | 10.0 MiB | 50.0 MiB | +40.0 MiB | ≤ +32.0 MiB | **missed** |\n"
        );
        assert_eq!(table.summary(), "1 of 4 targets met");
    }
}
