//! Families of metrics declared as a table.

use std::collections::HashMap;

use prometheus::core::{Collector, MetricVec, MetricVecBuilder};

/// Declares families: the name of each, its labels if it has any, and its help text. A counter under
/// `counted` is known by the method that adds one to it, a family under `kept` by the method that finds a
/// series of it; the others are fields with a type.
macro_rules! families {
    (
        $(#[$about:meta])*
        $vis:vis $families:ident
        $(counted {
            $($method:ident($($of:ident),+) = $counter:literal $counter_help:literal,)*
        })?
        $(kept {
            $($handle:ident: $handles:ty => $series:ty = $handle_name:literal ($($by:ident),+) $handle_help:literal,)*
        })?
        labelled { $($field:ident: $vec:ty = $name:literal ($($label:ident),*) $help:literal,)* }
        single { $($one:ident: $metric:ty = $one_name:literal $one_help:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        $vis struct $families {
            $($(#[doc = $counter_help] $vis $method: Counters,)*)?
            $($(#[doc = $handle_help] $vis $handle: $handles,)*)?
            $(#[doc = $help] $vis $field: $vec,)*
            $(#[doc = $one_help] $vis $one: $metric,)*
        }

        impl $families {
            pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
                let families = Self {
                    $($($method: Counters::new(
                        Opts::new($counter, $counter_help),
                        &[$(stringify!($of)),+],
                    )?,)*)?
                    $($($handle: <$handles>::new(
                        Opts::new($handle_name, $handle_help),
                        &[$(stringify!($by)),+],
                    )?,)*)?
                    $($field: <$vec>::new(Opts::new($name, $help), &[$(stringify!($label)),*])?,)*
                    $($one: <$metric>::new($one_name, $one_help)?,)*
                };
                $($(registry.register(Box::new(families.$method.clone()))?;)*)?
                $($(registry.register(Box::new(families.$handle.clone()))?;)*)?
                $(registry.register(Box::new(families.$field.clone()))?;)*
                $(registry.register(Box::new(families.$one.clone()))?;)*
                Ok(families)
            }

            /// Removes the series of a site.
            #[allow(dead_code, reason = "not every family has sites")]
            pub(super) fn forget_site(&self, site: &str) {
                $($(forget(&self.$method, site);)*)?
                $($(forget(&self.$handle, site);)*)?
                $(forget(&self.$field, site);)*
            }
        }

        $(
            impl Metrics {
                $(
                    #[doc = concat!("Counts one. ", $counter_help)]
                    pub fn $method(&self, $($of: &str),+) {
                        self.families.$method.with_label_values(&[$($of),+]).inc();
                    }
                )*
            }
        )?
        $(
            impl Metrics {
                $(
                    #[doc = concat!("Finds a series. Keep it: a look-up is slow. ", $handle_help)]
                    pub fn $handle(&self, $($by: &str),+) -> $series {
                        self.families.$handle.with_label_values(&[$($by),+])
                    }
                )*
            }
        )?
    };
}
pub(super) use families;

/// Removes each series of a site from a family.
pub(super) fn forget<B: MetricVecBuilder>(family: &MetricVec<B>, site: &str) {
    for found in family.collect() {
        for series in found.get_metric() {
            let labels: HashMap<&str, &str> =
                series.get_label().iter().map(|pair| (pair.name(), pair.value())).collect();
            if labels.get("site") == Some(&site) {
                // A missing series needs no removal.
                let _ = family.remove(&labels);
            }
        }
    }
}
