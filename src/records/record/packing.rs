//! Numbers and texts packed into bytes: numbers with seven bits in a byte, sorted texts without what
//! they share with the one before.

#[derive(Debug, Default)]
pub(crate) struct Packer(Vec<u8>);

/// Reads packed values back. Its methods return `None` at the end, and for bytes that nothing packed.
#[derive(Debug)]
pub(crate) struct Unpacker<'a>(&'a [u8]);

impl Packer {
    #[inline]
    pub(crate) fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.number(text.len());
        self.0.extend_from_slice(text);
    }

    /// A text of a sorted list, behind this one.
    pub(crate) fn next_text(&mut self, before: &[u8], text: &[u8]) {
        let shared = before.iter().zip(text).take_while(|(a, b)| a == b).count();
        self.number(shared);
        self.text(&text[shared..]);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Unpacker<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    /// The next text of a sorted list: the number of bytes that it shares with the one before, and
    /// the rest.
    pub(crate) fn next_text(&mut self) -> Option<(usize, &'a [u8])> {
        Some((self.number()?, self.text()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(
            numbers in prop::collection::vec(any::<usize>(), 0..9),
            texts in prop::collection::btree_set("[ab/]{0,5}", 0..9),
        ) {
            let (mut packer, mut before) = (Packer::default(), "");
            for text in &texts {
                packer.next_text(before.as_bytes(), text.as_bytes());
                packer.text(text.as_bytes());
                before = text;
            }
            numbers.iter().for_each(|&number| packer.number(number));
            let bytes = packer.into_bytes();
            let mut unpacker = Unpacker::new(&bytes);
            for text in &texts {
                let (shared, rest) = unpacker.next_text().expect("packed above");
                prop_assert_eq!(&text.as_bytes()[shared..], rest);
                prop_assert_eq!(unpacker.text(), Some(text.as_bytes()));
            }
            for &number in &numbers {
                prop_assert_eq!(unpacker.number(), Some(number));
            }
            prop_assert!(unpacker.is_at_end() && unpacker.number().is_none());
        }

        #[test]
        fn foreign_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut unpacker = Unpacker::new(&bytes);
            while unpacker.next_text().is_some() {}
            prop_assert!(unpacker.0.len() <= bytes.len());
        }
    }
}
