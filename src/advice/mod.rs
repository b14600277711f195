//! Help with rules before they are in force. Pure.
//!
//! Look here for the findings of `check`, the changes that `diff` tells, imported and first policies.
//!
//! ```text
//! lint   comparison   import   starter   manual   fronts   edit     do not know each other
//! ```

pub mod comparison; // two policies or two files of rules: who may do what before and after, in words
pub mod edit; // entries added to the text of a policy, with every other byte kept
pub mod fronts; // what caches and other servers in front of Beadle make of its answers
pub mod import; // rules of other programs as a policy: nginx, Apache, Anubis, ai.robots.txt, robots.txt
pub mod lint; // faults of meaning: rules that others cover, keys without effect, risky settings
pub mod manual; // pages for man, made of arguments and keys
pub mod starter; // a first policy, made of a few answers
