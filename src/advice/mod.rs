//! Help with rules before they are in force. Pure.
//!
//! Look here for what `check`, `diff`, `import`, `init` and the manual say.
//!
//! ```text
//! lint   comparison   import   starter   manual   fronts   edit     do not know each other
//! ```

pub mod comparison; // two policies or two files of rules, by their meaning
pub mod edit; // changes of a policy that keep every other byte of its text
pub mod fronts; // what servers in front make of the answers
pub mod import; // rules of other programs as a policy
pub mod lint; // faults of meaning in policies and robots.txt files
pub mod manual; // pages for man, made of arguments and keys
pub mod starter; // a first policy, made of a few answers
