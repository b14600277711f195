//! What a file says, read by a parser of Rust: its names, calls and macros. What is for tests only is
//! left out.

use std::mem;

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use syn::{
    Attribute, ExprAsync, ExprAwait, ExprClosure, ExprMethodCall, ImplItemFn, Item, ItemMod,
    ItemType, ItemUse, Macro, Meta, MetaList, MetaNameValue, Path, Signature, Type, UseTree,
    VisRestricted, Visibility,
    visit::{self, Visit},
};

/// A name as it is written: a path, or one of `.unwrap(`, `println!`, `async` and `.await`.
pub(crate) struct Name {
    pub(crate) line: usize,
    pub(crate) path: String,
    /// The module that it is written in.
    pub(crate) module: String,
    /// The name by which the module knows it from here on.
    pub(crate) alias: Option<String>,
    /// Whether other modules may know it by the alias, too.
    pub(crate) is_handed_on: bool,
    /// From the absolute path to that of the definition, over the modules that hand it on.
    pub(crate) way: Vec<String>,
}

/// What the code of one file says.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) names: Vec<Name>,
    /// The modules for tests only.
    pub(crate) test_modules: Vec<String>,
    module: String,
}

impl Name {
    /// The path of the definition, as far as it is known.
    pub(crate) fn meant(&self) -> &str {
        self.way.last().unwrap_or(&self.path)
    }
}

impl Code {
    /// Reads the text of a module.
    pub(crate) fn of(module: &str, text: &str) -> syn::Result<Self> {
        let mut code = Self { module: module.to_owned(), ..Self::default() };
        code.visit_file(&syn::parse_file(text)?);
        Ok(code)
    }

    fn name(&mut self, line: usize, path: impl Into<String>) -> &mut Name {
        self.names.push(Name {
            line,
            path: path.into(),
            module: self.module.clone(),
            alias: None,
            is_handed_on: false,
            way: Vec::new(),
        });
        self.names.last_mut().expect("it was added")
    }

    fn alias(&mut self, path: &str, alias: &Ident, seen: &Visibility) {
        let name = self.name(line(alias), path);
        name.alias = Some(alias.to_string());
        name.is_handed_on = !matches!(seen, Visibility::Inherited);
    }

    /// The imports of a tree, one for each name.
    fn import(&mut self, before: &[&Ident], tree: &UseTree, seen: &Visibility) {
        let (ident, alias) = match tree {
            UseTree::Path(one) => {
                return self.import(&[before, &[&one.ident]].concat(), &one.tree, seen);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|one| self.import(before, one, seen));
            }
            UseTree::Glob(star) => {
                let path = joined(before) + "::*";
                self.name(star.star_token.span.start().line, path);
                return;
            }
            UseTree::Name(one) => (&one.ident, &one.ident),
            UseTree::Rename(one) => (&one.ident, &one.rename),
        };
        match before.last().filter(|_| ident == "self") {
            Some(last) => {
                self.alias(&joined(before), if alias == ident { last } else { alias }, seen)
            }
            None => self.alias(&joined(&[before, &[ident]].concat()), alias, seen),
        }
    }

    /// The paths, calls and keywords in the tokens of a macro or an attribute, which no syntax describes.
    fn scan(&mut self, tokens: TokenStream) {
        let (mut start, mut piece) = (0, String::new());
        for token in tokens {
            let goes_on = match &token {
                TokenTree::Ident(_) => piece.ends_with([':', '.']),
                TokenTree::Punct(mark) => match mark.as_char() {
                    ':' => mark.spacing() == Spacing::Joint || piece.ends_with(':'),
                    mark => mark == '.' || mark == '!',
                },
                TokenTree::Group(_) => true,
                TokenTree::Literal(_) => false,
            };
            if !goes_on {
                self.piece(start, mem::take(&mut piece).trim_end_matches('!'));
            }
            if piece.is_empty() {
                start = token.span().start().line;
            }
            match token {
                TokenTree::Group(group) => {
                    let call = if group.delimiter() == Delimiter::Parenthesis { "(" } else { "" };
                    self.piece(start, &(mem::take(&mut piece) + call));
                    self.scan(group.stream());
                }
                // Attributes name functions in quotation marks.
                TokenTree::Literal(text) => self.path(start, text.to_string().trim_matches('"')),
                token => piece += &token.to_string(),
            }
        }
        self.piece(start, &piece);
    }

    /// A piece of tokens, such as `crate::a::f(`, `x.await` or `println!(`.
    fn piece(&mut self, line: usize, piece: &str) {
        let mut parts = piece.split('.');
        let first = parts.next().unwrap_or_default().trim_end_matches('(');
        for part in parts {
            self.name(line, format!(".{part}"));
        }
        if first.ends_with('!') || first == "async" {
            self.name(line, first);
        }
        self.path(line, first.trim_matches(':'));
    }

    fn path(&mut self, line: usize, text: &str) {
        if text.contains("::") && text.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)) {
            self.name(line, text);
        }
    }
}

impl<'a> Visit<'a> for Code {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Const(one) => &one.attrs,
            Item::Fn(one) => &one.attrs,
            Item::Impl(one) => &one.attrs,
            Item::Use(one) => &one.attrs,
            Item::Mod(one) if is_for_tests(&one.attrs) => {
                return self.test_modules.push(format!("{}::{}", self.module, one.ident));
            }
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let within = format!("{}::{}", self.module, module.ident);
        let outer = mem::replace(&mut self.module, within);
        visit::visit_item_mod(self, module);
        self.module = outer;
    }

    fn visit_item_use(&mut self, import: &'a ItemUse) {
        self.import(&[], &import.tree, &import.vis);
    }

    fn visit_item_type(&mut self, item: &'a ItemType) {
        if let Type::Path(meant) = &*item.ty {
            self.alias(&written(&meant.path), &item.ident, &item.vis);
        }
        visit::visit_item_type(self, item);
    }

    fn visit_path(&mut self, path: &'a Path) {
        self.name(line(&path.segments[0].ident), written(path));
        visit::visit_path(self, path);
    }

    /// `pub(in crate::room)` says who may use a name, and uses none.
    fn visit_vis_restricted(&mut self, _: &'a VisRestricted) {}

    fn visit_meta_list(&mut self, list: &'a MetaList) {
        self.scan(list.tokens.clone());
        visit::visit_meta_list(self, list);
    }

    /// `doc = "…"` names nothing.
    fn visit_meta_name_value(&mut self, _: &'a MetaNameValue) {}

    fn visit_macro(&mut self, call: &'a Macro) {
        self.name(line(&call.path.segments[0].ident), written(&call.path) + "!");
        self.scan(call.tokens.clone());
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        self.name(line(&call.method), format!(".{}(", call.method));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_await(&mut self, waiting: &'a ExprAwait) {
        self.name(waiting.await_token.span.start().line, ".await");
        visit::visit_expr_await(self, waiting);
    }

    fn visit_expr_async(&mut self, block: &'a ExprAsync) {
        self.name(block.async_token.span.start().line, "async");
        visit::visit_expr_async(self, block);
    }

    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        if let Some(token) = closure.asyncness {
            self.name(token.span.start().line, "async");
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_signature(&mut self, signature: &'a Signature) {
        if let Some(token) = signature.asyncness {
            self.name(token.span.start().line, "async");
        }
        visit::visit_signature(self, signature);
    }
}

fn line(ident: &Ident) -> usize {
    ident.span().start().line
}

fn written(path: &Path) -> String {
    joined(&path.segments.iter().map(|one| &one.ident).collect::<Vec<_>>())
}

fn joined(names: &[&Ident]) -> String {
    names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join("::")
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| match &one.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}
