//! Tables of keys: each key is defined once, as a field with its documentation, its form and its default.

use crate::at::At;
use crate::form::{Form, Key, TableDoc, View, table_schema};
use crate::problem::{Problem, Refusal, Refused, refuse};
use crate::text::{nearest, shown, suggestion};
use crate::tree::{Item, Table, Value};
use serde_json::Value as Json;
use std::marker::PhantomData;

/// What else is known of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// In a live run, the kernel decides it.
    Kernel,
    /// It means something to transports over UDP, too.
    Udp,
    /// It means something also to those whose receivers never answer.
    Datagrams,
}

/// The names of the keys that a table was given. All are equal: how a value came does not matter.
#[derive(Clone, Debug, Default)]
pub struct Given(Vec<String>);

impl Given {
    /// All keys of a table.
    pub fn of(table: &Table) -> Given {
        Given(table.keys().map(str::to_owned).collect())
    }

    /// Whether a key was given.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|known| known == key)
    }
}

impl PartialEq for Given {
    fn eq(&self, _: &Given) -> bool {
        true
    }
}

/// A table whose keys are fields; `table!` makes one.
pub trait Keys: Sized {
    /// Its name, such as "Flow".
    const TITLE: &'static str;

    /// What it is.
    fn about() -> String;

    /// The names of its keys in files, in order.
    fn names(out: &mut Vec<&'static str>);

    /// The marks of its keys, in order.
    fn marks(out: &mut Vec<(&'static str, &'static [Mark])>);

    /// Describes its keys, in order.
    fn describe(out: &mut Vec<Key>);

    /// Reads the keys of a table; `None` if any of them is refused.
    fn take(table: &Table, at: &At<'_>, problems: &mut Vec<Problem>) -> Option<Self>;

    /// Writes its keys that have a value as a file has them.
    fn put(&self, out: &mut Table);

    /// Its values in SI numbers.
    fn view(&self, out: &mut Vec<(&'static str, View)>);

    /// The documentation of the table.
    fn doc() -> TableDoc {
        let mut keys = Vec::new();
        Self::describe(&mut keys);
        TableDoc { title: Self::TITLE, about: Self::about(), keys }
    }
}

/// What a table does beside holding its keys.
pub trait Checked: Keys {
    /// Keys that stand for others.
    const SHORTHANDS: &'static [&'static str] = &[];

    /// The table with the keys that shorthands stand for.
    fn spelled_out(_table: &Table, _at: &At<'_>) -> Result<Option<Table>, Refusal> {
        Ok(None)
    }

    /// Refuses values that do not fit together.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Values that follow from the keys, in SI numbers.
    fn derived(&self, _out: &mut Vec<(&'static str, View)>) {}

    /// Takes out keys that files do not write.
    fn tidy(&self, _written: &mut Table) {}
}

/// Reads a table. All problems of its keys come together.
pub fn read<T: Checked>(item: &Item, at: &At<'_>) -> Result<T, Refused> {
    let Some(given) = item.value.table() else {
        let path = at.to_string();
        let (value, accepted) = if path.is_empty() {
            (None, "tables, as in a file".to_owned())
        } else {
            let header = match path.rsplit_once('.') {
                Some((list, number)) if number.parse::<usize>().is_ok() => format!("[[{list}]]"),
                _ => format!("[{path}]"),
            };
            (Some(shown(&item.value)), format!("a table, {header}"))
        };
        let refusal = Refusal::new("this is not a table", accepted);
        return Err(Refused::Keys(vec![Problem { key: path, value, refusal, span: item.span.clone() }]));
    };
    let misfit = |refusal| Refused::Keys(vec![placed(refusal, item, at)]);
    let spelled = T::spelled_out(given, at).map_err(misfit)?;
    let table = spelled.as_ref().unwrap_or(given);
    let mut problems = Vec::new();
    let part = T::take(table, at, &mut problems);
    // a value without a place was set from outside: the text has another one, or none
    for missing in problems.iter_mut().filter(|problem| problem.span.is_none() && problem.value.is_none()) {
        missing.span.clone_from(&item.span);
    }
    let mut known: Vec<&str> = Vec::new();
    T::names(&mut known);
    known.extend(T::SHORTHANDS);
    for (word, item) in table.iter().filter(|(word, _)| !known.contains(word)) {
        let near = suggestion(word, known.iter().copied());
        problems.push(Problem {
            key: at.below(word).to_string(),
            value: None,
            refusal: Refusal::new(format!("there is no such key{near}"), keys_like(word, &known)),
            span: item.key.clone().or_else(|| item.span.clone()),
        });
    }
    match part {
        Some(part) if problems.is_empty() => match part.check() {
            Ok(()) => Ok(part),
            Err(refusal) => Err(misfit(refusal)),
        },
        _ => Err(Refused::Keys(problems)),
    }
}

/// The most keys of a table that a message lists.
const MOST_LISTED: usize = 12;

/// What a message lists in place of a word that is no key of a table: all keys if they are few, else the
/// nearest.
fn keys_like(word: &str, known: &[&str]) -> String {
    if known.len() <= MOST_LISTED {
        return known.join(", ");
    }
    let near = match &*nearest(word, known) {
        [] => "one".to_owned(),
        near => format!("{} or another", near.join(", ")),
    };
    format!("{near} of the {} keys that `longfat schema` lists", known.len())
}

/// The item at dotted keys below another, or the last one on the way to it; and whether it is there.
fn below<'a>(item: &'a Item, keys: &str) -> (&'a Item, bool) {
    let mut here = item;
    for part in keys.split('.').filter(|part| !part.is_empty()) {
        let below = match &here.value {
            Value::Table(table) => table.get(part),
            Value::List(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        match below {
            Some(below) => here = below,
            None => return (here, false),
        }
    }
    (here, true)
}

/// The problem of a table whose values do not fit together, at the key that it is about.
pub fn placed(refusal: Refusal, item: &Item, at: &At<'_>) -> Problem {
    let (here, is_there) = below(item, &refusal.key);
    let has_tables = match &here.value {
        Value::Table(_) => true,
        Value::List(items) => items.iter().any(|item| item.value.table().is_some()),
        _ => false,
    };
    Problem {
        key: if refusal.key.is_empty() { at.to_string() } else { at.below(&refusal.key).to_string() },
        value: (is_there && !has_tables).then(|| shown(&here.value)),
        span: here.span.clone(),
        refusal,
    }
}

/// Writes a table.
pub fn write<T: Checked>(part: &T) -> Table {
    let mut out = Table::default();
    part.put(&mut out);
    part.tidy(&mut out);
    out
}

/// The values of a table, and those that follow from them, in SI numbers.
pub fn view<T: Checked>(part: &T) -> View {
    let mut out = Vec::new();
    part.view(&mut out);
    part.derived(&mut out);
    View::Fields(out)
}

/// Reads one key.
pub fn take_key<F: Form>(
    table: &Table,
    name: &str,
    form: &F,
    default: impl FnOnce() -> Option<F::Value>,
    at: &At<'_>,
    problems: &mut Vec<Problem>,
) -> Option<F::Value> {
    let here = at.below(name);
    let Some(item) = table.get(name) else {
        let default = default();
        if default.is_none() {
            let refusal = Refusal::new("this key is missing", form.accepts());
            problems.push(Problem { key: here.to_string(), value: None, refusal, span: None });
        }
        return default;
    };
    read_or_report(form, item, &here, problems)
}

/// Reads a value; `None` if it is refused.
fn read_or_report<F: Form>(
    form: &F,
    item: &Item,
    at: &At<'_>,
    problems: &mut Vec<Problem>,
) -> Option<F::Value> {
    match form.read(item, at) {
        Ok(value) => return Some(value),
        Err(Refused::Keys(more)) => problems.extend(more),
        Err(Refused::Value(refusal)) => {
            let (here, is_there) = below(item, &refusal.part);
            // a part without a place was set from outside: the text has another one, or none
            let span = if is_there { here.span.clone() } else { item.span.clone() };
            problems.push(Problem { key: at.to_string(), value: Some(shown(&item.value)), refusal, span });
        }
    }
    None
}

/// Writes one key, unless it has no value.
pub fn put_key<F: Form>(out: &mut Table, name: &'static str, form: &F, value: &F::Value) {
    let written = form.write(value);
    if written != Value::Null {
        out.push(name, written);
    }
}

/// Describes one key.
pub fn describe_key<F: Form>(name: &'static str, doc: &str, form: &F, default: Option<F::Value>) -> Key {
    Key {
        name,
        doc: doc.trim().to_owned(),
        accepts: form.accepts(),
        schema: form.schema(),
        required: default.is_none(),
        default: default.map_or(Value::Null, |value| form.write(&value)),
        tables: form.tables(),
    }
}

/// The form of a table.
pub struct OneTable<T>(PhantomData<T>);

/// A table.
pub const fn one_table<T>() -> OneTable<T> {
    OneTable(PhantomData)
}

impl<T: Checked> Form for OneTable<T> {
    type Value = T;

    fn accepts(&self) -> String {
        "a table".to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<T, Refused> {
        read(item, at)
    }

    fn write(&self, value: &T) -> Value {
        write(value).into()
    }

    fn schema(&self) -> Json {
        serde_json::json!({"$ref": format!("#/$defs/{}", T::TITLE)})
    }

    fn view(&self, value: &T) -> View {
        view(value)
    }

    fn tables(&self) -> Vec<TableDoc> {
        vec![T::doc()]
    }
}

/// The form of a table within a value: what is wrong with its keys is wrong with the value.
pub struct Inline<T> {
    example: &'static str,
    table: PhantomData<T>,
}

/// A table within a value; `example` is what messages show of it.
pub const fn inline<T>(example: &'static str) -> Inline<T> {
    Inline { example, table: PhantomData }
}

impl<T: Checked> Inline<T> {
    /// Reads it.
    pub fn parse(&self, value: &Value, at: &At<'_>) -> Result<T, Refusal> {
        let Some(table) = value.table() else { return refuse("this is not a table", self.example) };
        let mut problems = Vec::new();
        // its messages name keys from here
        let found = T::take(table, &At::top(at.context), &mut problems);
        if let Some(missing) = problems.iter().map(|one| &one.key).find(|key| !table.has(key)) {
            return refuse(format!("{missing} is missing"), self.example);
        }
        let mut known = Vec::new();
        T::names(&mut known);
        if let Some(word) = table.keys().find(|word| !known.contains(word)) {
            let near = suggestion(word, known.iter().copied());
            return Err(Refusal::new(format!("there is no key {word}{near}"), self.example).at_part(word));
        }
        match (found, problems.into_iter().next()) {
            (_, Some(Problem { key, refusal, .. })) => Err(refusal.under(&key)),
            (Some(found), None) => found.check().map(|()| found),
            (None, None) => refuse("this is not a table", self.example),
        }
    }
}

impl<T: Checked> Form for Inline<T> {
    type Value = T;

    fn accepts(&self) -> String {
        self.example.to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<T, Refused> {
        Ok(self.parse(&item.value, at)?)
    }

    fn write(&self, value: &T) -> Value {
        write(value).into()
    }

    fn schema(&self) -> Json {
        let mut keys = T::doc().keys;
        keys.sort_by_key(|key| !key.required);
        let schemas: Vec<(&str, Json)> =
            keys.iter().map(|key| (key.name, key.documented(key.schema.clone()))).collect();
        table_schema(&schemas, keys.iter().filter(|key| key.required).count())
    }

    fn view(&self, value: &T) -> View {
        view(value)
    }
}

/// A list of what a form reads.
pub struct Tables<F>(pub F);

impl<F: Form> Form for Tables<F> {
    type Value = Vec<F::Value>;

    fn accepts(&self) -> String {
        "a list of tables".to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Self::Value, Refused> {
        let Some(items) = item.value.list() else {
            return Err(Refusal::new("this is not a list", format!("a list of tables, [[{at}]]")).into());
        };
        let mut problems = Vec::new();
        let each = items.iter().enumerate();
        let found = each
            .filter_map(|(index, item)| read_or_report(&self.0, item, &at.item(index), &mut problems))
            .collect();
        if problems.is_empty() { Ok(found) } else { Err(Refused::Keys(problems)) }
    }

    fn write(&self, value: &Self::Value) -> Value {
        Value::List(value.iter().map(|one| Item::new(self.0.write(one))).collect())
    }

    fn schema(&self) -> Json {
        serde_json::json!({"items": self.0.schema(), "type": "array"})
    }

    fn view(&self, value: &Self::Value) -> View {
        View::List(value.iter().map(|one| self.0.view(one)).collect())
    }

    fn tables(&self) -> Vec<TableDoc> {
        self.0.tables()
    }
}

/// Defines a table. Each key is a field: its documentation, its name, its type, perhaps
/// [marks](crate::keys::Mark), its form, and its default unless it has to be given. A first line
/// `..base: Type` takes the keys of another table in. A table that plans hold derives serde's traits; in JSON
/// its own keys may be missing.
///
/// `pub inline Name` in place of `pub struct Name` defines a table that stands [within a
/// value](crate::keys::Inline): it is plain data, and Python has its values by the names of its keys.
macro_rules! table {
    ($(#[doc = $about:literal])+ pub struct $($rest:tt)+) => {
        $crate::keys::table!(@define named [] [] [given] $(#[doc = $about])+ $($rest)+);
    };
    ($(#[doc = $about:literal])+ #[derive($($Derived:path),+)] pub struct $($rest:tt)+) => {
        $crate::keys::table!(
            @define named [$($Derived),+] [serde(default, deny_unknown_fields)] [given skip]
            $(#[doc = $about])+ $($rest)+
        );
        $crate::keys::table!(@defaults $($rest)+);
    };
    ($(#[doc = $about:literal])+ pub inline $($rest:tt)+) => {
        $crate::keys::table!(
            @define inline [Copy, serde::Serialize, serde::Deserialize] [serde(deny_unknown_fields)] []
            $(#[doc = $about])+ $($rest)+
        );
    };
    (@defaults $Name:ident { $(
        $(#[doc = $doc:literal])+
        $field:ident $(as $alias:literal)?: $Type:ty $(, $mark:ident)* = $form:expr, else $default:expr;
    )* }) => {
        impl Default for $Name {
            fn default() -> Self {
                $Name { $($field: $default,)* given: Default::default() }
            }
        }
    };
    (
        @define $kind:ident [$($Derived:path),*] [$($attribute:meta)?] [$($given:ident $($skip:ident)?)?]
        $(#[doc = $about:literal])+
        $Name:ident {
            $(..$base:ident: $Base:ty,)?
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $alias:literal)?: $Type:ty $(, $mark:ident)* = $form:expr $(, else $default:expr)?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, $($Derived),*)]
        $(#[$attribute])?
        pub struct $Name {
            $(
                /// Keys that other tables have too.
                pub $base: $Base,
            )?
            $($(#[doc = $doc])+ pub $field: $Type,)*
            $(
                /// The keys that were given.
                $(#[serde($skip)])?
                pub $given: $crate::keys::Given,
            )?
        }

        impl $crate::keys::Keys for $Name {
            const TITLE: &'static str = stringify!($Name);

            fn about() -> String {
                concat!($($about, "\n"),+).trim().to_owned()
            }

            fn names(out: &mut Vec<&'static str>) {
                $(<$Base as $crate::keys::Keys>::names(out);)?
                $(out.push($crate::keys::table!(@name $field $($alias)?));)*
            }

            fn marks(out: &mut Vec<(&'static str, &'static [$crate::keys::Mark])>) {
                $(<$Base as $crate::keys::Keys>::marks(out);)?
                $(out.push((
                    $crate::keys::table!(@name $field $($alias)?),
                    &[$($crate::keys::Mark::$mark),*],
                ));)*
            }

            fn describe(out: &mut Vec<$crate::form::Key>) {
                $(<$Base as $crate::keys::Keys>::describe(out);)?
                $(out.push($crate::keys::describe_key(
                    $crate::keys::table!(@name $field $($alias)?),
                    concat!($($doc),+),
                    &$form,
                    $crate::keys::table!(@default $($default)?),
                ));)*
            }

            fn take(
                table: &$crate::tree::Table,
                at: &$crate::at::At<'_>,
                problems: &mut Vec<$crate::problem::Problem>,
            ) -> Option<Self> {
                $(let $base = <$Base as $crate::keys::Keys>::take(table, at, problems);)?
                $(let $field: Option<$Type> = $crate::keys::take_key(
                    table,
                    $crate::keys::table!(@name $field $($alias)?),
                    &$form,
                    || $crate::keys::table!(@default $($default)?),
                    at,
                    problems,
                );)*
                Some($Name {
                    $($base: $base?,)?
                    $($field: $field?,)*
                    $($given: $crate::keys::Given::of(table),)?
                })
            }

            fn put(&self, out: &mut $crate::tree::Table) {
                $($crate::keys::Keys::put(&self.$base, out);)?
                $($crate::keys::put_key(
                    out,
                    $crate::keys::table!(@name $field $($alias)?),
                    &$form,
                    &self.$field,
                );)*
            }

            fn view(&self, out: &mut Vec<(&'static str, $crate::form::View)>) {
                $($crate::keys::Keys::view(&self.$base, out);)?
                $(out.push((
                    $crate::keys::table!(@view $kind $field $($alias)?),
                    $crate::form::Form::view(&$form, &self.$field),
                ));)*
            }
        }

        $(
            impl std::ops::Deref for $Name {
                type Target = $Base;

                fn deref(&self) -> &$Base {
                    &self.$base
                }
            }
        )?
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $alias:literal) => { $alias };
    (@view named $field:ident $($alias:literal)?) => { stringify!($field) };
    (@view inline $($name:tt)+) => { $crate::keys::table!(@name $($name)+) };
    (@default) => { None };
    (@default $default:expr) => { Some($default) };
}

pub(crate) use table;
