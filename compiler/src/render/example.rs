//! The worked example of an op as a pipeline, to run and to change.

use haul_ir::op::Example;

/// A pipeline whose one result is the example's.
pub fn example(example: &Example) -> String {
    let (mut inputs, mut stages) = (String::new(), String::new());
    for (name, ty, elements) in example.given {
        match ty.strip_prefix("each ") {
            None if is_rows(ty) => {
                inputs += &entry(&format!("{name}_csv"), &csv(name, ty, elements));
                stages += &entry(name, &read_csv(name, ty));
            }
            None => inputs += &entry(name, &constant(ty, elements)),
            // The slices of a constant are the items; each has a first axis of one.
            Some(item) => {
                let all = constant(&collected(item, elements), elements);
                let items = format!("{name}_items");
                inputs += &entry(&items, &format!("Split(of: {all}, axis: 0, size: 1)"));
                stages += &entry(name, &format!("(each: \"{items}\", do: \"{items}[0]\")"));
            }
        }
    }
    stages += &entry("result", &format!("(do: {})", body(example)));
    let inputs = match inputs.as_str() {
        "" => inputs,
        _ => format!("    inputs: {{\n{inputs}    }},\n"),
    };
    format!("Pipeline(\n    version: 1,\n{inputs}    stages: {{\n{stages}    }},\n)\n")
}

fn body(example: &Example) -> String {
    let formula = example.formula;
    match example.call() {
        (_, None) => format!("\"{formula}\""),
        (_, Some(first)) => {
            format!("\"\n            {formula}\n            {first}\n        \"")
        }
    }
}

fn entry(name: &str, value: &str) -> String {
    format!("        \"{name}\": {value},\n")
}

/// Whether a type is a table's, or that of a column that is no constant.
fn is_rows(ty: &str) -> bool {
    ty.contains(['{', '?'])
}

/// A table as text, or a column as the only one of a table.
fn csv(name: &str, ty: &str, elements: &str) -> String {
    let names = match ty.split_once('{') {
        None => vec![name],
        Some((_, columns)) => {
            let columns = columns.trim_end_matches('}').split(", ");
            columns
                .filter_map(|column| column.split(':').next())
                .collect()
        }
    };
    let columns: Vec<Vec<_>> = elements.split(';').map(words).collect();
    let mut text = names.join(",");
    for row in 0..columns.first().map_or(0, Vec::len) {
        let cells = columns.iter().filter_map(|column| column.get(row));
        let cells: Vec<_> = cells.map(|word| field(word)).collect();
        text += &format!("\n{}", cells.join(","));
    }
    format!("Constant(value: {text:?}, type: \"text\")")
}

fn field(word: &str) -> String {
    match word
        .strip_prefix('\'')
        .and_then(|word| word.strip_suffix('\''))
    {
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        None => word.to_owned(),
    }
}

fn read_csv(name: &str, ty: &str) -> String {
    let read = |ty: &str| format!("parse_csv({name}_csv, type='{ty}', na='missing')");
    match ty.split_once('[') {
        Some((cell, rows)) if !ty.contains('{') => {
            let rows = rows.trim_end_matches(']');
            let table = read(&format!("table[{rows}]{{{name}: {cell}}}"));
            format!("(do: \"{table}.{name}\")")
        }
        _ => format!("(do: \"{}\")", read(ty)),
    }
}

/// The words of elements, where those in quotes may hold blanks.
fn words(elements: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let words = elements.split(move |letter: char| {
        is_quoted ^= letter == '\'';
        letter == ' ' && !is_quoted
    });
    words.filter(|word| !word.is_empty()).collect()
}

fn constant(ty: &str, elements: &str) -> String {
    if ty == "text" {
        return format!("Constant(value: {elements:?}, type: \"text\")");
    }
    let (dtype, shape) = parts(ty);
    let elements = words(elements).into_iter();
    let elements: Vec<_> = elements.map(|e| literal(dtype, e)).collect();
    let value = match elements.is_empty() && dtype != "text" {
        // Without elements any number fills the shape.
        true => literal(dtype, "0"),
        false => nested(&shape, &elements),
    };
    format!("Constant(value: {value}, type: \"{ty}\")")
}

/// The type of all items together.
fn collected(item: &str, elements: &str) -> String {
    let (dtype, mut shape) = parts(item);
    let each: usize = shape.iter().product();
    shape.insert(0, elements.split_whitespace().count() / each.max(1));
    format!("{dtype}{shape:?}")
}

/// The dtype and the sizes of `f32[2, 3]`.
fn parts(ty: &str) -> (&str, Vec<usize>) {
    let (dtype, sizes) = ty.split_once('[').unwrap_or((ty, "]"));
    let sizes = sizes.trim_end_matches(']').split(", ");
    (dtype, sizes.filter_map(|size| size.parse().ok()).collect())
}

fn literal(dtype: &str, element: &str) -> String {
    match (dtype, element) {
        ("c64" | "c128", _) => format!("\"{element}\""),
        ("text", _) => format!("{:?}", element.trim_matches('\'')),
        ("bool", "0") => "false".to_owned(),
        (_, "nan") => "NaN".to_owned(),
        _ => element.to_owned(),
    }
}

fn nested(shape: &[usize], elements: &[String]) -> String {
    let Some((size, inner)) = shape.split_first() else {
        return elements.concat();
    };
    let rows = elements.chunks((elements.len() / size).max(1));
    let rows: Vec<_> = rows.map(|row| nested(inner, row)).collect();
    format!("[{}]", rows.join(", "))
}
