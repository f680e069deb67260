//! The settings of a file, as its format lists them.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::format::{Column, Setting, SettingKind, SettingValue};

use super::ast::{Settings, Spanned};
use super::reader::{Fields, Reader};
use super::tree::{Node, NodeKind};
use crate::diagnostics::codes::{UNKNOWN_FIELD, WRONG_KIND};
use crate::diagnostics::suggest::did_you_mean;

impl Reader<'_> {
    /// Those of the settings that are given; nothing where one cannot be read.
    pub(super) fn settings(
        &mut self,
        fields: &mut Fields<'_>,
        known: Option<&'static [Setting]>,
    ) -> Option<Settings> {
        let mut settings = Vec::new();
        let mut is_fine = true;
        for setting in known.unwrap_or_default() {
            let node = match setting.required {
                true => self.required(fields, setting.name),
                false => self.optional(fields, setting.name),
            };
            let Some(node) = node else {
                is_fine &= !setting.required;
                continue;
            };
            match self.setting(node, setting.kind) {
                Some(value) => settings.push((setting.name, Spanned::new(value, node.span))),
                None => is_fine = false,
            }
        }
        is_fine.then_some(Settings(settings))
    }

    fn setting(&mut self, node: &Node, kind: SettingKind) -> Option<SettingValue> {
        Some(match kind {
            SettingKind::Bool => SettingValue::Bool(self.boolean(node)?),
            SettingKind::Count => SettingValue::Count(self.count(node)?.value),
            SettingKind::Number => {
                self.exact(node)?;
                SettingValue::Text(self.written(node.span).to_owned())
            }
            SettingKind::Char => SettingValue::Text(self.char(node)?),
            SettingKind::Text => SettingValue::Text(self.string(node)?.value),
            SettingKind::Word(words) => SettingValue::Word(self.word(node, words)?),
            SettingKind::Columns => {
                let items = self.items(node, "a list of names or positions")?;
                SettingValue::Columns(self.all(items, Self::column)?)
            }
        })
    }

    fn char(&mut self, node: &Node) -> Option<String> {
        let text = self.string(node)?.value;
        if text.len() != 1 {
            let message = "this has to be one ASCII character";
            self.report(WRONG_KIND, node.span, message);
            return None;
        }
        Some(text)
    }

    fn word(&mut self, node: &Node, words: &'static [&'static str]) -> Option<&'static str> {
        let written = self.written(node.span);
        if let Some(word) = words.iter().find(|word| **word == written) {
            return Some(word);
        }
        if !matches!(node.kind, NodeKind::Scalar) {
            return self.wrong(node, &format!("a word such as `{}`", words[0]));
        }
        let message = format!("there is no `{written}` here");
        let mistake = Diagnostic::error(UNKNOWN_FIELD, node.span, message);
        let mistake = did_you_mean(mistake, node.span, written, words.iter().copied());
        self.mistakes.push(mistake);
        None
    }

    fn column(&mut self, node: &Node) -> Option<Column> {
        Some(match node.kind {
            NodeKind::String => Column::Name(self.string(node)?.value),
            NodeKind::Scalar => Column::Position(self.count(node)?.value),
            _ => return self.wrong(node, "a name or a position"),
        })
    }
}
