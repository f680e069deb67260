//! The inputs of a pipeline file.

use haul_ir::format::{FORMATS, Format, Typing};

use super::ast::{File, Input, Literal, Number, Settings, Source, SourceKind, Spanned, SplitOf};
use super::reader::{Fields, Reader};
use super::tree::{Node, NodeKind};

/// The kinds of sources that are no format.
const SOURCES: [&str; 5] = ["Files", "Split", "Random", "Constant", "Linspace"];

impl Reader<'_> {
    pub(super) fn inputs(&mut self, node: Option<&Node>) -> Vec<Input> {
        let entries = self.named_entries(node, "a map from names to sources");
        let input = |(name, node)| Input {
            name,
            source: self.source(node),
        };
        entries.into_iter().map(input).collect()
    }

    fn source(&mut self, node: &Node) -> Option<Source> {
        let formats = FORMATS.iter().filter(|format| format.input.is_some());
        let kinds: Vec<_> = formats.map(|format| format.name).chain(SOURCES).collect();
        let (kind, mut fields) = self.kind(node, "source", &kinds)?;
        let format = Format::find(kind);
        let ty = match (kind, format.map(|format| format.typing)) {
            ("Split" | "Linspace", _) | (_, Some(Typing::Text)) => None,
            ("Random", _) | (_, Some(Typing::Declared)) => self.required(&mut fields, "type"),
            _ => self.optional(&mut fields, "type"),
        };
        let kind = match format {
            Some(format) => self.file(format, fields),
            None => self.source_kind(kind, fields),
        };
        let declared = ty.map(|ty| self.declared_type(ty));
        let ty = match declared {
            Some(ty) => Some(ty?),
            None => None,
        };
        Some(Source {
            kind: kind?,
            ty,
            span: node.span,
        })
    }

    fn source_kind(&mut self, kind: &str, fields: Fields<'_>) -> Option<SourceKind> {
        match kind {
            "Files" => self.files(fields),
            "Split" => self.split(fields),
            "Random" => self.random(fields),
            "Constant" => self.constant(fields),
            _ => self.linspace(fields),
        }
    }

    fn file(&mut self, format: &'static Format, mut fields: Fields<'_>) -> Option<SourceKind> {
        let path = self.required(&mut fields, "path");
        let settings = self.settings(&mut fields, format.input);
        self.finish(fields);
        let path = path.and_then(|path| self.string(path));
        Some(SourceKind::File(File {
            format,
            path: path?,
            settings: settings?,
        }))
    }

    fn files(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let glob = self.required(&mut fields, "glob");
        let plan = self.optional(&mut fields, "plan");
        let format = self.optional(&mut fields, "format");
        self.finish(fields);
        let glob = glob.and_then(|glob| self.string(glob));
        let plan = plan.and_then(|plan| self.count(plan));
        let (format, settings) = match format {
            Some(format) => self.format(format)?,
            None => (None, Settings::default()),
        };
        Some(SourceKind::Files {
            glob: glob?,
            format,
            settings,
            plan,
        })
    }

    /// `Csv(header: false)`: how each of several files is read.
    fn format(&mut self, node: &Node) -> Option<(Option<&'static Format>, Settings)> {
        let formats = FORMATS.iter().filter(|format| format.input.is_some());
        let names: Vec<_> = formats.map(|format| format.name).collect();
        let (name, mut fields) = self.kind(node, "format", &names)?;
        let format = Format::find(name)?;
        let settings = self.settings(&mut fields, format.input);
        self.finish(fields);
        Some((Some(format), settings?))
    }

    fn split(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let of = self.required(&mut fields, "of");
        let axis = self.optional(&mut fields, "axis");
        let size = self.required(&mut fields, "size");
        let head = fields.head();
        self.finish(fields);
        let of = of.and_then(|of| match of.kind {
            NodeKind::String => Some(SplitOf::Input(self.string(of)?)),
            _ => Some(SplitOf::Source(Box::new(self.source(of)?))),
        });
        let axis = match axis {
            Some(axis) => self.number(axis, "a whole number"),
            None => Some(Spanned::new(0, head)),
        };
        let size = size.and_then(|size| self.count(size));
        Some(SourceKind::Split {
            of: of?,
            axis: axis?,
            size: size?,
        })
    }

    fn random(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let seed = self.required(&mut fields, "seed");
        self.finish(fields);
        Some(SourceKind::Random {
            seed: self.count(seed?)?,
        })
    }

    fn constant(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let value = self.required(&mut fields, "value");
        self.finish(fields);
        Some(SourceKind::Constant {
            value: self.literal(value?)?,
        })
    }

    fn literal(&mut self, node: &Node) -> Option<Literal> {
        if let NodeKind::List(items) = &node.kind {
            let items = self.all(items, Self::literal)?;
            return Some(Literal::List(Spanned::new(items, node.span)));
        }
        if let NodeKind::String = &node.kind {
            let text = self.content(node, "a text")?;
            let text = Spanned::new(text.text().to_owned(), text.span());
            return Some(Literal::Text(text));
        }
        let float = |value| Literal::Number(Spanned::new(Number::Float(value), node.span));
        Some(match self.written(node.span) {
            "true" => Literal::Bool(Spanned::new(true, node.span)),
            "false" => Literal::Bool(Spanned::new(false, node.span)),
            "inf" => float(f64::INFINITY),
            "-inf" => float(f64::NEG_INFINITY),
            "NaN" => float(f64::NAN),
            _ => Literal::Number(self.exact(node)?),
        })
    }

    fn linspace(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let start = self.required(&mut fields, "start");
        let stop = self.required(&mut fields, "stop");
        let num = self.required(&mut fields, "num");
        self.finish(fields);
        let start = start.and_then(|start| self.float(start));
        let stop = stop.and_then(|stop| self.float(stop));
        let num = num.and_then(|num| self.count(num));
        Some(SourceKind::Linspace {
            start: start?,
            stop: stop?,
            num: num?,
        })
    }
}
