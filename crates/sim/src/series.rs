//! Samples on a grid, column by column, and the event log.

/// Columns of f64 samples with their names.
#[derive(Clone, Debug, Default)]
pub struct Series {
    columns: Vec<(&'static str, Vec<f64>)>,
}

impl Series {
    /// Empty columns of these names.
    pub fn new(names: &[&'static str]) -> Self {
        Series { columns: names.iter().map(|&n| (n, Vec::new())).collect() }
    }

    /// Adds one row; as many values as there are columns.
    pub fn push(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.columns.len());
        for ((_, column), &value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
    }

    /// The columns.
    pub fn columns(&self) -> &[(&'static str, Vec<f64>)] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, c)| c.as_slice())
    }
}

/// One line of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// When, seconds.
    pub time_s: f64,
    /// The flow's name.
    pub flow: String,
    /// What happened, in a word.
    pub what: &'static str,
    /// The window then, segments.
    pub cwnd: f64,
}
