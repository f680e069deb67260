//! The inputs of a pipeline file.

use super::ast::{Input, Literal, Source, SourceKind, Spanned, SplitOf};
use super::reader::{Fields, Reader};
use super::tree::{Node, NodeKind};

/// The kinds of sources.
const SOURCES: [&str; 10] = [
    "Npy", "Npz", "Csv", "Image", "Text", "Files", "Split", "Random", "Constant", "Linspace",
];

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
        let (kind, mut fields) = self.kind(node, "source", &SOURCES)?;
        let ty = match kind {
            "Text" | "Split" | "Linspace" => None,
            "Random" => self.required(&mut fields, "type"),
            _ => self.optional(&mut fields, "type"),
        };
        let kind = self.source_kind(kind, fields);
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
            "Npz" => self.npz(fields),
            "Csv" => self.csv(fields),
            "Files" => self.files(fields),
            "Split" => self.split(fields),
            "Random" => self.random(fields),
            "Constant" => self.constant(fields),
            "Linspace" => self.linspace(fields),
            _ => self.single_file(kind, fields),
        }
    }

    fn single_file(&mut self, kind: &str, mut fields: Fields<'_>) -> Option<SourceKind> {
        let path = self.required(&mut fields, "path");
        self.finish(fields);
        let path = self.string(path?)?;
        Some(match kind {
            "Npy" => SourceKind::Npy { path },
            "Image" => SourceKind::Image { path },
            _ => SourceKind::Text { path },
        })
    }

    fn npz(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let path = self.required(&mut fields, "path");
        let array = self.required(&mut fields, "array");
        self.finish(fields);
        let path = path.and_then(|path| self.string(path));
        let array = array.and_then(|array| self.string(array));
        Some(SourceKind::Npz {
            path: path?,
            array: array?,
        })
    }

    fn csv(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let path = self.required(&mut fields, "path");
        let columns = self.optional(&mut fields, "columns");
        let header = self.optional(&mut fields, "header");
        self.finish(fields);
        let path = path.and_then(|path| self.string(path));
        let columns = columns.map(|columns| self.strings(columns));
        let header = header.map_or(Some(true), |header| self.boolean(header));
        let columns = match columns {
            Some(columns) => Some(columns?),
            None => None,
        };
        Some(SourceKind::Csv {
            path: path?,
            columns,
            header: header?,
        })
    }

    fn files(&mut self, mut fields: Fields<'_>) -> Option<SourceKind> {
        let glob = self.required(&mut fields, "glob");
        let plan = self.optional(&mut fields, "plan");
        self.finish(fields);
        let glob = glob.and_then(|glob| self.string(glob));
        let plan = plan.and_then(|plan| self.count(plan));
        Some(SourceKind::Files { glob: glob?, plan })
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
        match self.written(node.span) {
            "true" => Some(Literal::Bool(Spanned::new(true, node.span))),
            "false" => Some(Literal::Bool(Spanned::new(false, node.span))),
            _ => self.exact(node).map(Literal::Number),
        }
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
