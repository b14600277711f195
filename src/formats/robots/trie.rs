//! The rules that their prefix alone decides, as one tree over their octets.
//!
//! The way from the root along a path meets exactly the rules whose literal begins the path. So one
//! walk finds the best of any number of rules. All nodes are in one vector; the children of a node
//! are adjacent and ordered by the first octet of their label. Labels are ranges of one text. The
//! tree is built and walked without recursion.

use std::{collections::VecDeque, ops::Range};

/// The rank that stands for no rule: worse than any other.
pub(super) const NONE: u32 = u32::MAX;

/// A tree of literals, each with the rank of its rule; a lower rank is better.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    /// The first octet of each node's label.
    firsts: Vec<u8>,
    text: Vec<u8>,
}

#[derive(Debug)]
struct Node {
    label: Range<u32>,
    children: Range<u32>,
    /// The best rule for all paths through this node.
    prefix: u32,
    /// The best rule for the path that ends here.
    exact: u32,
}

pub(super) struct Literal<'a> {
    /// In normal form.
    pub(super) octets: &'a [u8],
    /// Whether the path has to end with it.
    pub(super) exact: bool,
    pub(super) rank: u32,
}

impl Trie {
    pub(super) fn new(mut literals: Vec<Literal<'_>>) -> Self {
        literals.sort_unstable_by_key(|literal| literal.octets);
        let mut tree = Self {
            nodes: vec![Node::new(0..0)],
            firsts: vec![0],
            text: Vec::with_capacity(literals.iter().map(|literal| literal.octets.len()).sum()),
        };
        // Each entry: a node, the number of octets that lead to it, and the literals below it. The
        // first in is the first out, so the children of a node are adjacent.
        let mut open = VecDeque::from([(0, 0, &literals[..])]);
        while let Some((node, depth, below)) = open.pop_front() {
            let ends = below.partition_point(|literal| literal.octets.len() == depth);
            let (ending, mut rest) = below.split_at(ends);
            for literal in ending {
                tree.nodes[node].add(literal);
            }
            let first_child = tree.nodes.len();
            while let Some(literal) = rest.first() {
                let first = literal.octets[depth];
                let count = rest.partition_point(|literal| literal.octets[depth] == first);
                let (branch, others) = rest.split_at(count);
                rest = others;
                // The literals are sorted, so all share the octets that the first and last share.
                let last = branch.last().map_or(literal.octets, |last| last.octets);
                let shared = shared_length(literal.octets, last);
                let start = tree.text.len();
                tree.text.extend_from_slice(&literal.octets[depth..shared]);
                open.push_back((tree.nodes.len(), shared, branch));
                tree.nodes.push(Node::new(index(start)..index(tree.text.len())));
                tree.firsts.push(first);
            }
            tree.nodes[node].children = index(first_child)..index(tree.nodes.len());
        }
        tree.nodes.shrink_to_fit();
        tree.firsts.shrink_to_fit();
        tree.text.shrink_to_fit();
        tree
    }

    /// The rank of the best rule that matches `path`, or [`NONE`].
    pub(super) fn best(&self, path: &[u8]) -> u32 {
        let mut rest = path;
        let mut best = NONE;
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            best = best.min(node.prefix);
            let Some(&first) = rest.first() else { return best.min(node.exact) };
            let children = node.children.start as usize..node.children.end as usize;
            let start = children.start;
            let Some(found) = self.firsts.get(children).and_then(|firsts| position(firsts, first))
            else {
                return best;
            };
            at = start + found;
            let label = self
                .nodes
                .get(at)
                .and_then(|node| self.text.get(node.label.start as usize..node.label.end as usize));
            match label.and_then(|label| rest.strip_prefix(label)) {
                Some(behind) => rest = behind,
                None => return best,
            }
        }
        best
    }
}

impl Node {
    fn new(label: Range<u32>) -> Self {
        Self { label, children: 0..0, prefix: NONE, exact: NONE }
    }

    fn add(&mut self, literal: &Literal<'_>) {
        let rank = if literal.exact { &mut self.exact } else { &mut self.prefix };
        *rank = literal.rank.min(*rank);
    }
}

/// A place in the tree. The text of a tree is part of a file, whose limit is far lower.
fn index(place: usize) -> u32 {
    u32::try_from(place).expect("a robots.txt has less than 4 GiB of rules")
}

fn position(firsts: &[u8], first: u8) -> Option<usize> {
    // Most nodes have a handful of children, for which a vector search costs more than it saves.
    if firsts.len() <= 8 {
        firsts.iter().position(|&octet| octet == first)
    } else {
        memchr::memchr(first, firsts)
    }
}

fn shared_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_meets_every_literal_that_begins_the_path() {
        let table = [("/", false), ("/ab", false), ("/abc", true), ("/abcd", false), ("/x", true)];
        let literals = table.iter().zip((0..5).rev()).map(|((text, exact), rank)| Literal {
            octets: text.as_bytes(),
            exact: *exact,
            rank,
        });
        let trie = Trie::new(literals.collect());
        for (path, rank) in [
            ("", NONE),
            ("/", 4),
            ("/a", 4),
            ("/abz", 3),
            ("/abc", 2),
            ("/abce", 3),
            ("/abcde", 1),
            ("/x", 0),
            ("/xy", 4),
        ] {
            assert_eq!(trie.best(path.as_bytes()), rank, "{path}");
        }
        assert_eq!(Trie::new(Vec::new()).best(b"/"), NONE);
    }
}
