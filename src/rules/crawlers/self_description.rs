//! The description that an unlisted client gives of itself: a browser's, or a bot's with a name.
//!
//! The rule is narrow. `*` binds a bot with a name, and it must never bind a person: `CUBOT`, `XBot
//! Junior` and `Spider 8` are phones. A word counts as a bot's name in two cases:
//!
//! - It ends in `bot`, `crawler` or `spider`, or has such a part (`SomeBot-Images`), and stands as a
//!   product: `SomethingBot/1.0`, alone in a comment behind `compatible;`, or last behind a browser's
//!   products. Only a phone or an in-app browser may have such a name.
//! - It has a link as bots write it: it is the client's first product, not a browser's, or the link
//!   has a `+` and stands right behind the name.
//!
//! A product's name may have several words: `Some Crawler/1.0`.

use memchr::memchr;

use super::{
    claim::Class,
    product_name,
    words::{Device, Word, meaning},
};

/// Notes of a scan that distinguish a browser from a bot that names itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SelfDescription {
    pub(super) words: u32,
    form: Form,
    /// A word that reads like a bot's name and stands like a product.
    bot: Option<Word>,
    first: Option<Word>,
    /// The first word behind `compatible;`.
    compatible: Option<Word>,
    /// The word before is `compatible` with a `;`.
    expects_name: bool,
    says_compatible: bool,
    /// The first word inside the first comment.
    comment: Option<Word>,
    /// The text names the engine or system of a browser.
    engine: bool,
    /// The text names the engine of a browser.
    renderer: bool,
    /// The text has the product of a browser: `Safari/537.36`.
    browser: bool,
    /// The bot's name stands behind the product of a browser.
    behind_browser: bool,
    /// Behind the first word, the text names the HTTP stack of apps.
    app_stack: bool,
    /// The text contains a product such as `Name/1`.
    product: bool,
    link: Option<usize>,
    /// The text contains a link with a `+` before it.
    plus_link: bool,
    /// The first product with a link right behind it that has a `+`.
    linked: Option<Word>,
    /// The text contains a `-`, so that one of its words may have a bot's name as a part.
    hyphens: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// `Mozilla/`, as in all browsers and many other clients.
    Mozilla,
    /// Any other beginning.
    #[default]
    Own,
}

impl SelfDescription {
    pub(super) fn new(text: &[u8]) -> Self {
        let text = text.trim_ascii_start();
        let is_mozilla = text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"Mozilla/"));
        Self {
            form: if is_mozilla { Form::Mozilla } else { Form::Own },
            hyphens: memchr(b'-', text).is_some(),
            ..Self::default()
        }
    }

    /// Whether the text begins like a browser's and has named an engine or a system so far.
    pub(super) fn is_browser_form(&self) -> bool {
        self.form == Form::Mozilla && self.engine
    }

    pub(super) fn is_behind_compatible(&self, word: &Word) -> bool {
        self.expects_name && self.words == word.ordinal
    }

    #[inline]
    pub(super) fn note(&mut self, word: &Word, text: &[u8]) {
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
            Some(b'e') if bytes.len() == 10 && bytes.eq_ignore_ascii_case(b"compatible") => {
                self.says_compatible = true;
                self.expects_name = word.after(text) == Some(b';');
            }
            Some(b'i' | b'x') if matches!(bytes, b"Safari" | b"Firefox") => self.browser = true,
            Some(last)
                if bytes.len() >= MIN_BOT_NAME
                    && self.bot.is_none()
                    && (matches!(last, b't' | b'r') || (self.hyphens && bytes.contains(&b'-')))
                    && is_bot_name(bytes)
                    && self.stands_as_product(word, text)
                    && !word.is_compared(text)
                    && !word.is_part(text) =>
            {
                self.bot = Some(*word);
                self.behind_browser = self.browser;
            }
            _ => {}
        }
        // A text that begins like a browser's needs no more than its engine.
        if self.form == Form::Own || !self.engine {
            let meaning = meaning(bytes);
            self.renderer |= meaning.renderer;
            self.engine |= meaning.engine;
            self.app_stack |= self.words > 1 && meaning.app_stack;
        }
    }

    /// Notes the words of [`ENGINE`] at once, if they say nothing but the engine. Whether they do.
    ///
    /// [`ENGINE`]: super::words::ENGINE
    #[inline]
    pub(super) fn note_engine(&mut self) -> bool {
        if self.comment.is_none() || self.expects_name {
            return false;
        }
        (self.engine, self.renderer, self.product) = (true, true, true);
        self.words += 5; // its version, too
        true
    }

    /// Notes a link. A client with a known name needs no other.
    pub(super) fn note_link(&mut self, word: &Word, text: &[u8], is_nameless: bool) {
        self.expects_name = false;
        self.link.get_or_insert(word.start);
        let is_web = text.get(word.end + 1..).is_some_and(|rest| rest.starts_with(b"//"));
        if is_web && word.before(text) == Some(b'+') {
            self.plus_link = true;
            if is_nameless && self.linked.is_none() {
                let linked = product_name::linked_at(word.start, text);
                self.linked = linked.filter(|product| !product.is_compared(text));
            }
        }
        self.words += 1;
    }

    /// The name that the client gives itself as a bot.
    pub(super) fn bot_name<'a>(&self, text: &'a [u8]) -> Option<&'a str> {
        let bot = self.bot.filter(|_| !self.is_app(text));
        bot.map(|word| word.bytes(text))
            .or_else(|| self.bot_of_words(text))
            .or_else(|| self.linked_name(text))
            .or_else(|| self.name_at_link(text))
            .map(product_name::bounded)
            .and_then(|name| str::from_utf8(name).ok())
    }

    /// Whether a bot's name is that of an app on a person's device, or of the device. `iRobot/7.1
    /// CFNetwork/…` and `Mozilla/5.0 (iPhone; …) … Chatbot/3.1` are apps, unless they have a link.
    fn is_app(&self, text: &[u8]) -> bool {
        let is_of_device = || match Device::of(text) {
            Device::Unnamed => false,
            Device::Android => self.form == Form::Own || !self.behind_browser,
            Device::OfApps => true,
        };
        self.link.is_none() && !self.says_compatible && is_of_device()
    }

    /// Whether the client is an app that sends its own name before that of its HTTP stack, and does not
    /// describe itself as a bot.
    pub(super) fn is_behind_app_stack(&self, text: &[u8]) -> bool {
        let is_bot = || self.plus_link || (self.bot.is_some() && !self.is_app(text));
        self.form == Form::Own && self.app_stack && !is_bot()
    }

    /// The product where a client names itself: the one behind `compatible;`, else the first.
    fn own_product(&self) -> Option<Word> {
        match self.form {
            Form::Mozilla => self.compatible,
            Form::Own => self.first,
        }
    }

    /// The name of several words whose last word says what it is: `Some Crawler/1.0`.
    fn bot_of_words<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let first = self.own_product().filter(|_| !self.engine)?;
        let name = product_name::beginning_at(&first, text)?;
        product_name::says_bot(name).then_some(name)
    }

    /// The product that a link belongs to: the one behind `compatible;`, else the first.
    fn linked_name<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        if self.engine {
            return None;
        }
        let name = match self.form {
            Form::Mozilla if self.plus_link => {
                let is_product = |word: &Word| word.after(text) == Some(b'/');
                self.compatible.or_else(|| self.comment.filter(is_product))?
            }
            Form::Mozilla => self.compatible.filter(|first| product_name::has_link(first, text))?,
            Form::Own => {
                let is_linked =
                    |first: &Word| self.link.is_some() && is_linked_product(first, text);
                self.first.filter(is_linked)?
            }
        };
        product_name::beginning_at(&name, text)
    }

    /// The product right before a link with a `+`, in a browser's User-Agent or any other. An app's
    /// `Name/1 (+https://…; Android …)` is no bot.
    fn name_at_link<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let product = self.linked.filter(|_| self.form == Form::Mozilla || !self.engine)?;
        product_name::ending_at(product, text)
    }

    pub(super) fn host<'a>(&self, text: &'a [u8]) -> Option<&'a str> {
        product_name::host_at(self.link?, text)
    }

    /// The class of a client that gives no bot's name.
    pub(super) fn class_without_name(&self) -> Class {
        if self.first.is_none() {
            return Class::None;
        }
        match self.form {
            // Programs send `Mozilla/5.0` alone, or with an unknown `compatible` product. Browsers
            // name an engine or a system.
            Form::Mozilla if self.engine => Class::Browser,
            Form::Mozilla if self.words <= 2 || self.says_compatible => Class::None,
            Form::Mozilla => Class::Browser,
            // An old phone or a browser of its own: `Nokia6820/2.0 … Profile/MIDP-1.0`, `Opera/9.80 …`.
            Form::Own if self.renderer => Class::Browser,
            // An app: `Name/1.0 CFNetwork/…`, `Some Radio/27.5.0`.
            Form::Own if self.engine || self.product => Class::App,
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
        let is_last = self.browser && matches!(after, None | Some(b';' | b')'));
        has_version
            || is_comment
            || (is_whole && self.form == Form::Own)
            || is_compatible
            || is_last
    }
}

const MIN_BOT_NAME: usize = 5;

/// Whether a word, or a part of it before a hyphen, ends like the name of a bot and has letters before
/// the ending.
fn is_bot_name(word: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 3] = [b"bot", b"crawler", b"spider"];
    const PARTS: [&[u8]; 6] = [b"Bot", b"Crawler", b"Spider", b"-bot", b"-crawler", b"-spider"];
    const EXCEPTIONS: [&[u8]; 2] = [b"cubot", b"robot"];
    let ends_in = |ending: &&[u8]| {
        word.len() > ending.len()
            && word
                .get(word.len() - ending.len()..)
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    let has_part = |part: &&[u8]| {
        let before_hyphen = |at: &[u8]| at.strip_suffix(b"-").is_some_and(|at| at == *part);
        word.get(1..).is_some_and(|rest| rest.windows(part.len() + 1).any(before_hyphen))
    };
    word.len() >= MIN_BOT_NAME
        && (ENDINGS.iter().any(ends_in) || PARTS.iter().any(has_part))
        && !EXCEPTIONS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Whether the first product has a link close behind it: `Name/1.0 (+http`, `Name; +http`.
fn is_linked_product(first: &Word, text: &[u8]) -> bool {
    let rest = text.get(first.end..).unwrap_or_default();
    let window = rest.get(..64).unwrap_or(rest);
    matches!(first.after(text), Some(b'/' | b' ' | b';' | b'('))
        && window.windows(5).any(|at| at.eq_ignore_ascii_case(b"+http"))
}
