//! Rows of the table: one edition and ten editions, in turns.

use crate::turns::{Case, ROUNDS};

/// A row: the verdict and the whole decision.
pub(crate) struct Row<'a> {
    name: String,
    pairs: [Pair<'a>; 2],
}

struct Pair<'a> {
    one: Case<'a>,
    ten: Case<'a>,
}

type Call<'a> = Box<dyn Fn(usize) + 'a>;

impl<'a> Row<'a> {
    pub(crate) fn new(name: String, verdict: [Call<'a>; 2], whole: [Call<'a>; 2]) -> Self {
        let pair = |[one, ten]: [Call<'a>; 2]| Pair {
            one: Case::new("one edition", one),
            ten: Case::new("ten editions", ten),
        };
        Self { name, pairs: [verdict, whole].map(pair) }
    }
}

impl Pair<'_> {
    /// `one, ten, ratio (min..max)`, as columns.
    fn columns(&self) -> String {
        let (one, ten) = (&self.one.nanoseconds, &self.ten.nanoseconds);
        let ratios = one.iter().zip(ten).map(|(one, ten)| ten / one).collect();
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            (values[0], values[values.len() / 2], values[values.len() - 1])
        };
        let (_, one, _) = middle(one.clone());
        let (_, ten, _) = middle(ten.clone());
        let (least, ratio, greatest) = middle(ratios);
        format!("{one:.0} | {ten:.0} | **{ratio:.2}** ({least:.2}..{greatest:.2})")
    }
}

/// Measures and prints the table.
pub(crate) fn measure(mut rows: Vec<Row<'_>>) {
    for round in 0..ROUNDS {
        for pair in rows.iter_mut().flat_map(|row| &mut row.pairs) {
            let mut order = [&mut pair.one, &mut pair.ten];
            order.rotate_left(round % 2);
            order.into_iter().for_each(Case::take_a_turn);
        }
    }
    println!(
        "| | verdict, ns: one edition | ten | ratio (min..max) | whole decision, ns: one | ten | \
         ratio (min..max) |\n|---|---|---|---|---|---|---|"
    );
    for Row { name, pairs: [verdict, whole] } in &rows {
        println!("| {name} | {} | {} |", verdict.columns(), whole.columns());
    }
}
