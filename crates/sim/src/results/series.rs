//! Columns of samples.

use std::marker::PhantomData;

/// One row of a series: numbers with the names of their columns.
pub trait Sample {
    /// The names of the columns, in order.
    const COLUMNS: &'static [&'static str];

    /// The numbers, in the order of the columns.
    fn values(&self) -> impl Iterator<Item = f64>;
}

/// Declares a sample: a struct of f64 fields, each of which is a column of the same name.
macro_rules! sample {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meaning:meta])* $column:ident),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$meaning])* pub $column: f64,)+
        }

        impl $crate::results::series::Sample for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];

            fn values(&self) -> impl Iterator<Item = f64> {
                [$(self.$column),+].into_iter()
            }
        }
    };
}
pub(crate) use sample;

/// Samples of one kind, column by column.
#[derive(Clone, Debug)]
pub struct Series<S> {
    columns: Vec<(&'static str, Vec<f64>)>,
    sample: PhantomData<S>,
}

impl<S: Sample> Default for Series<S> {
    fn default() -> Self {
        Series { columns: S::COLUMNS.iter().map(|&name| (name, Vec::new())).collect(), sample: PhantomData }
    }
}

impl<S: Sample> FromIterator<S> for Series<S> {
    fn from_iter<I: IntoIterator<Item = S>>(samples: I) -> Self {
        let (mut series, samples) = (Series::default(), samples.into_iter());
        series.columns.iter_mut().for_each(|(_, column)| column.reserve(samples.size_hint().0));
        samples.for_each(|sample| series.push(&sample));
        series
    }
}

impl<S: Sample> Series<S> {
    /// Adds one row.
    pub fn push(&mut self, sample: &S) {
        for ((_, column), value) in self.columns.iter_mut().zip(sample.values()) {
            column.push(value);
        }
    }

    /// The columns with their names.
    pub fn columns(&self) -> &[(&'static str, Vec<f64>)] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, c)| c.as_slice())
    }
}
