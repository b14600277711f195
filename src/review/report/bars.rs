//! Small bars of block characters.

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of a share of `width` columns. Something is never an empty bar.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = (part as f64 / whole as f64 * width as f64 * 8.0).round() as usize;
    let eighths = eighths.clamp(1, width * 8);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// One column for each number, as high as its share of the largest; a space for nothing.
pub(super) fn spark(numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or(0);
    let level = |number: u64| {
        let level = (number as f64 / most as f64 * 8.0).ceil() as usize;
        LEVELS[level.clamp(1, 8) - 1]
    };
    numbers.iter().map(|&number| if number == 0 { ' ' } else { level(number) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (part, whole, bar_of_four) in [
            (0, 0, ""),
            (0, 9, ""),
            (9, 9, "████"),
            (1, 2, "██"),
            (1, u64::MAX, "▏"),
            (5, 32, "▋"),
            (99, 9, "████"),
        ] {
            assert_eq!(bar(part, whole, 4), bar_of_four);
        }
        assert_eq!(spark(&[0, 1, 4, 8, 2]), " ▁▄█▂");
        assert_eq!(spark(&[0, 0]), "  ");
    }
}
