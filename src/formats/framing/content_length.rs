//! The value of `Content-Length` (RFC 9110 §8.6), octet by octet.
//!
//! Several lines and lists must repeat one number.

/// The lines read so far.
#[derive(Debug, Default)]
pub(super) struct ContentLength {
    agreed: Option<u64>,
    place: Place,
}

#[derive(Debug, Default)]
enum Place {
    #[default]
    BeforeNumber,
    Number(u64),
    AfterNumber(u64),
}

impl ContentLength {
    /// The length; `None` without a line.
    pub(super) const fn value(&self) -> Option<u64> {
        self.agreed
    }

    /// Reads a piece of a value. `None` if it is no length.
    #[must_use]
    pub(super) fn read(&mut self, piece: &[u8]) -> Option<()> {
        piece.iter().try_for_each(|&octet| self.read_octet(octet))
    }

    fn read_octet(&mut self, octet: u8) -> Option<()> {
        self.place = match (&self.place, octet) {
            (Place::BeforeNumber, b' ' | b'\t') => Place::BeforeNumber,
            (Place::BeforeNumber, b'0'..=b'9') => Place::Number(u64::from(octet - b'0')),
            (Place::Number(number), b'0'..=b'9') => {
                Place::Number(number.checked_mul(10)?.checked_add(u64::from(octet - b'0'))?)
            }
            (Place::Number(number) | Place::AfterNumber(number), b' ' | b'\t') => {
                Place::AfterNumber(*number)
            }
            (Place::Number(_) | Place::AfterNumber(_), b',') => return self.end(),
            _ => return None,
        };
        Some(())
    }

    /// Ends a number at a comma or at the end of a line. `None` if there is none, or another one.
    #[must_use]
    pub(super) fn end(&mut self) -> Option<()> {
        let (Place::Number(number) | Place::AfterNumber(number)) = std::mem::take(&mut self.place)
        else {
            return None;
        };
        if self.agreed.is_some_and(|agreed| agreed != number) {
            return None;
        }
        self.agreed = Some(number);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_8_6_all_values_repeat_one_number() {
        for (lines, expected) in [
            (&["5"][..], Some(5)),
            (&[" 5\t "], Some(5)),
            (&["005"], Some(5)),
            (&["5, 5"], Some(5)),
            (&["5", "5 ,05"], Some(5)),
            (&["18446744073709551615"], Some(u64::MAX)),
            (&["18446744073709551616"], None),
            (&["5, 6"], None),
            (&["5", "6"], None),
            (&["5,"], None),
            (&[",5"], None),
            (&["5 5"], None),
            (&["+5"], None),
            (&["-1"], None),
            (&["0x5"], None),
            (&["5_0"], None),
            (&[""], None),
            (&[" "], None),
        ] {
            let mut length = ContentLength::default();
            let read = lines.iter().try_for_each(|line| {
                // In two pieces, as a slow client sends it.
                let (first, rest) = line.as_bytes().split_at(line.len() / 2);
                length.read(first).and_then(|()| length.read(rest)).and_then(|()| length.end())
            });
            assert_eq!(read.and_then(|()| length.value()), expected, "{lines:?}");
        }
    }
}
