//! The names that only clients use, bounded in number.

use std::collections::HashSet;

use super::rollup::Hour;

/// The product token that stands for names beyond a limit.
pub(super) const OTHER: &str = "other";
/// The most such names that an hour counts under their own names.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Names {
    hour: Hour,
    names: HashSet<Box<str>>,
}

impl Names {
    /// The name that counts for `name`: itself, or [`OTHER`] beyond the limit.
    pub(super) fn counted<'a>(&mut self, hour: Hour, name: &'a str) -> &'a str {
        if self.hour != hour {
            self.names.clear();
            self.hour = hour;
        }
        if self.names.contains(name) {
            return name;
        }
        if self.names.len() >= MOST {
            return OTHER;
        }
        self.names.insert(name.into());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hour_knows_a_limited_number_of_invented_names() {
        let mut names = Names::default();
        for hour in 0..3 {
            let hour = Hour::numbered(hour);
            for _ in 0..2 {
                for number in 0..MOST + 9 {
                    let name = format!("Bot{number}");
                    let counted = if number < MOST { name.as_str() } else { OTHER };
                    assert_eq!(names.counted(hour, &name), counted);
                }
            }
            assert_eq!(names.names.len(), MOST);
        }
    }
}
