//! Bots that no list knows and that say themselves what they are.
//!
//! The rule is narrow, because whoever it takes in is judged by `*`, and a person must never be:
//! `CUBOT`, `XBot Junior` and `Spider 8` are phones. A name counts where it ends in `bot`,
//! `crawler` or `spider` and stands as a product (`SomethingBot/1.0`, or alone in a comment behind
//! `compatible;`), or where the client's first product is no browser's and brings a link.

use super::{claim::Class, words::Word};

/// What is kept of a scan to tell a browser from a bot that names itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelfNamed {
    /// How many words have been seen.
    pub(super) words: u32,
    form: Form,
    /// A word that reads like a bot's name and stands like a product.
    bot: Option<Word>,
    first: Option<Word>,
    /// The first word behind `compatible;`.
    compatible: Option<Word>,
    /// The word before was `compatible` with a `;`.
    expects_name: bool,
    /// The word `compatible` stands somewhere.
    says_compatible: bool,
    /// The first word inside the first comment.
    comment: Option<Word>,
    /// A browser's engine or system has been named.
    engine: bool,
    /// Behind the bot's name, a system that runs on people's devices.
    device: bool,
    /// Something like `Name/1` has been seen.
    product: bool,
    /// A link stands in the text, and a `+` before it.
    link: bool,
    plus_link: bool,
}

/// How a User-Agent begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `Mozilla/`, as all browsers and many others do.
    Mozilla,
    /// In another way.
    Own,
}

impl SelfNamed {
    pub(super) fn new(text: &[u8]) -> Self {
        let text = text.trim_ascii_start();
        let is_mozilla = text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"Mozilla/"));
        Self {
            words: 0,
            form: if is_mozilla { Form::Mozilla } else { Form::Own },
            bot: None,
            first: None,
            compatible: None,
            expects_name: false,
            says_compatible: false,
            comment: None,
            engine: false,
            device: false,
            product: false,
            link: false,
            plus_link: false,
        }
    }

    /// Whether the text begins as a browser's does and has named an engine or a system so far.
    pub(super) fn is_browser_form(&self) -> bool {
        self.form == Form::Mozilla && self.engine
    }

    /// Whether a word is the first behind `compatible;`.
    pub(super) fn is_behind_compatible(&self, word: &Word) -> bool {
        self.expects_name && self.words == word.ordinal
    }

    /// Takes note of a word.
    #[inline]
    pub(super) fn see(&mut self, word: &Word, text: &[u8]) {
        let bytes = word.bytes(text);
        if self.words == 0 {
            self.first = Some(*word);
        }
        if self.expects_name {
            self.compatible.get_or_insert(*word);
            self.expects_name = false;
        }
        if self.comment.is_none() && word.before(text) == Some(b'(') {
            self.comment = Some(*word);
        }
        self.product |= word.after(text) == Some(b'/');
        self.words += 1;
        match bytes.last().map(u8::to_ascii_lowercase) {
            Some(b't' | b'r')
                if self.bot.is_none()
                    && is_bot_name(bytes)
                    && self.stands_as_product(word, text) =>
            {
                self.bot = Some(*word);
            }
            Some(b'e') if bytes.len() == 10 && bytes.eq_ignore_ascii_case(b"compatible") => {
                self.says_compatible = true;
                self.expects_name = word.after(text) == Some(b';');
            }
            _ => {}
        }
        if !self.engine {
            self.engine = is_engine(bytes);
        }
        self.device |= self.bot.is_some() && is_device(bytes);
    }

    /// Takes note of a link.
    pub(super) fn see_link(&mut self, word: &Word, text: &[u8]) {
        self.expects_name = false;
        self.link = true;
        let is_web = text.get(word.end + 1..).is_some_and(|rest| rest.starts_with(b"//"));
        self.plus_link |= is_web && word.before(text) == Some(b'+');
        self.words += 1;
    }

    /// The name that the client gives itself, if it is one, and the class.
    pub(super) fn settle<'a>(&self, text: &'a [u8]) -> (Option<&'a str>, Class) {
        let bot = self.bot.filter(|_| self.is_no_app());
        let name = bot.or_else(|| self.linked_name(text));
        let name = name.and_then(|word| std::str::from_utf8(word.bytes(text)).ok());
        if name.is_some() {
            return (name, Class::Automation);
        }
        (None, self.class_without_name())
    }

    /// Whether a bot's name is more than that of an app in somebody's hands: `iRobot/7.1 CFNetwork/…`
    /// and `Mozilla/5.0 (iPhone; …) … Chatbot/3.1` are no bots, unless they bring a link.
    fn is_no_app(&self) -> bool {
        let dressed_as_browser = self.form == Form::Mozilla && self.engine;
        self.link || self.says_compatible || !(dressed_as_browser || self.device)
    }

    /// The product that a link explains: the one behind `compatible;`, else the first.
    fn linked_name(&self, text: &[u8]) -> Option<Word> {
        let name = match self.form {
            Form::Mozilla if self.plus_link && !self.engine => {
                let is_product = |word: &Word| word.after(text) == Some(b'/');
                self.compatible.or_else(|| self.comment.filter(is_product))?
            }
            Form::Own if self.link => self.first.filter(|first| is_linked_product(first, text))?,
            _ => return None,
        };
        let bytes = name.bytes(text);
        let is_name =
            bytes.len() >= 3 && bytes.len() <= 64 && bytes.iter().any(u8::is_ascii_alphabetic);
        (is_name && !self.engine).then_some(name)
    }

    fn class_without_name(&self) -> Class {
        if self.first.is_none() {
            return Class::None;
        }
        match self.form {
            // `Mozilla/5.0` alone, or with an unknown thing that calls itself compatible, is the
            // dress that programs wear; browsers name an engine or a system.
            Form::Mozilla if self.engine => Class::Browser,
            Form::Mozilla if self.words <= 2 || self.says_compatible => Class::None,
            Form::Mozilla => Class::Browser,
            Form::Own if self.engine => Class::Browser,
            // An app or an old phone: `Name/1.0 …`, `Some Radio/27.5.0`.
            Form::Own if self.product => Class::Browser,
            Form::Own => Class::None,
        }
    }

    fn stands_as_product(&self, word: &Word, text: &[u8]) -> bool {
        let after = word.after(text);
        if matches!(word.before(text), Some(b'/' | b'@' | b'=' | b'?' | b'&' | b'#' | b'.'))
            || after == Some(b'@')
        {
            return false;
        }
        // A version begins with a digit, perhaps behind a `v`.
        let has_version = after == Some(b'/')
            && text
                .get(word.end + 1)
                .is_some_and(|b| b.is_ascii_digit() || b.eq_ignore_ascii_case(&b'v'));
        let is_whole = word.ordinal == 0 && matches!(after, None | Some(b'/' | b' ' | b';' | b'('));
        let is_compatible = self.compatible.is_some_and(|c| c.start == word.start)
            && matches!(after, None | Some(b';' | b')' | b'/' | b' '));
        let is_comment = word.before(text) == Some(b'(') && after == Some(b')');
        has_version || is_comment || (is_whole && self.form == Form::Own) || is_compatible
    }
}

/// Whether a word ends as bots' names do, with something of its own before that.
fn is_bot_name(word: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 3] = [b"bot", b"crawler", b"spider"];
    const NO_BOTS: [&[u8]; 2] = [b"cubot", b"robot"];
    let ends_in = |ending: &&[u8]| {
        word.len() > ending.len()
            && word
                .get(word.len() - ending.len()..)
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    word.len() >= 5
        && word.len() <= 64
        && ENDINGS.iter().any(ends_in)
        && !NO_BOTS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// `Name/1.0 (+http`, `Name (http`, `Name; http`: the first product with a link close behind.
fn is_linked_product(first: &Word, text: &[u8]) -> bool {
    let rest = text.get(first.end..).unwrap_or_default();
    let window = rest.get(..64).unwrap_or(rest);
    matches!(first.after(text), Some(b'/' | b' ' | b';' | b'('))
        && window.windows(5).any(|at| at.eq_ignore_ascii_case(b"+http"))
}

/// Systems of phones and tablets, and the libraries by which apps on them fetch.
fn is_device(word: &[u8]) -> bool {
    matches!(word, b"CFNetwork" | b"Darwin" | b"Dalvik" | b"iPhone" | b"iPad" | b"iOS" | b"Android")
}

/// Words that browsers and apps on people's devices say of their engine or system.
#[inline]
fn is_engine(word: &[u8]) -> bool {
    matches!(
        word,
        b"MSIE"
            | b"iPad"
            | b"X11"
            | b"iOS"
            | b"KHTML"
            | b"Gecko"
            | b"Linux"
            | b"Opera"
            | b"UCWEB"
            | b"Dalvik"
            | b"Darwin"
            | b"Presto"
            | b"WebKit"
            | b"iPhone"
            | b"Android"
            | b"Profile"
            | b"Symbian"
            | b"Trident"
            | b"Windows"
            | b"MIDP-1.0"
            | b"MIDP-2.0"
            | b"NetFront"
            | b"CFNetwork"
            | b"Macintosh"
            | b"BlackBerry"
            | b"AppleWebKit"
    )
}
