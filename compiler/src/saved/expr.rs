//! Expressions as snapshots print them: `4*n*n + 32*n`, `max(0, n - 1)`, `(n // 2)`.

use haul_ir::expr::{Expr, Symbol};

use super::Amount;
use crate::render::values::Values;

/// Deepest nesting that is read.
const MOST_NESTED: usize = 100;

impl Amount {
    /// The amount that a text says, as it is printed, and its value at the planned sizes; nothing
    /// where it says none.
    pub(super) fn read(text: &str, values: &Values<'_>) -> Option<Amount> {
        let Some(expr) = parse(text) else {
            // What is nested too deep for the parser, or out of range, has no value.
            let is_told = text.matches('(').count() >= MOST_NESTED;
            let is_told = is_told || text == Expr::OVERFLOW.to_string();
            return is_told.then(|| Amount {
                exact: text.to_owned(),
                planned: None,
            });
        };
        let planned = values.eval(&expr);
        Some(Amount {
            exact: expr.to_string(),
            planned: planned.and_then(|value| u64::try_from(value).ok()),
        })
    }

    /// Changes the text of the expression, which is then written in its usual order.
    pub(crate) fn rewrite(&mut self, change: impl FnOnce(&str) -> String) {
        let text = change(&self.exact);
        self.exact = parse(&text).map_or(text, |expr| expr.to_string());
    }
}

/// A formula or types, with every size in its usual order: `f32[n*m, 8]` as `f32[m*n, 8]`.
pub(crate) fn in_order(text: &str) -> String {
    let ends = |c| matches!(c, ',' | '[' | ']' | ':' | '=');
    let piece = |piece: &str| {
        let text = piece.trim_end_matches(ends).trim();
        let size = match parse(text) {
            Some(_) => text,
            None => argument(text),
        };
        match parse(size).filter(|expr| !expr.is_overflow()) {
            Some(expr) => piece.replacen(size, &expr.to_string(), 1),
            None => piece.to_owned(),
        }
    };
    text.split_inclusive(ends).map(piece).collect()
}

/// The first or last argument of a call, of which the text is the beginning or the end.
fn argument(text: &str) -> &str {
    let text = match text.split_once('(') {
        Some((name, rest)) if !name.is_empty() => rest,
        _ => text,
    };
    text.strip_suffix(')').unwrap_or(text)
}

/// Flops per byte, in words: as they are at the planned sizes, where both expressions can be read.
pub(super) fn intensity(flops: &str, bytes: &str, values: &Values<'_>) -> Option<Option<String>> {
    Some(values.intensity(&parse(flops)?, &parse(bytes)?))
}

/// The expression of a text, where it is one.
pub(super) fn parse(text: &str) -> Option<Expr> {
    let mut parser = Parser {
        rest: text,
        nested: 0,
    };
    let expr = parser.sum()?;
    parser.rest.trim().is_empty().then_some(expr)
}

struct Parser<'a> {
    rest: &'a str,
    nested: usize,
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Option<Expr> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return None;
        }
        let mut sum = match self.take("-") {
            true => -self.product()?,
            false => self.product()?,
        };
        loop {
            sum = match () {
                () if self.take("+") => &sum + &self.product()?,
                () if self.take("-") => &sum - &self.product()?,
                () => break,
            };
        }
        self.nested -= 1;
        Some(sum)
    }

    fn product(&mut self) -> Option<Expr> {
        let mut product = self.factor()?;
        while self.take("*") {
            product = &product * &self.factor()?;
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Expr> {
        if self.take("(") {
            let left = self.sum()?;
            let value = match () {
                () if self.take("//") => left.floor_div(&self.sum()?),
                () if self.take("%") => left.modulo(&self.sum()?),
                () => left,
            };
            return self.take(")").then_some(value);
        }
        let word = self.word()?;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(word);
        }
        if !self.take("(") {
            return Some(Expr::symbol(Symbol::new(word)));
        }
        let first = self.sum()?;
        let value = match word {
            "log2" => first.log2(),
            "min" | "max" if self.take(",") => {
                let second = self.sum()?;
                match word {
                    "min" => first.smaller(&second),
                    _ => first.larger(&second),
                }
            }
            _ => return None,
        };
        self.take(")").then_some(value)
    }

    /// A whole number, or a fraction as `5/2`.
    fn number(&mut self, word: &str) -> Option<Expr> {
        let numerator: i128 = word.parse().ok()?;
        if self.rest.starts_with("//") || !self.take("/") {
            return Some(Expr::from(numerator));
        }
        let denominator: i128 = self.word()?.parse().ok()?;
        (denominator > 0).then(|| Expr::ONE.times_ratio(numerator, denominator))
    }

    /// Letters, digits and underscores.
    fn word(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        // A size that only the data tells is named after its line: `stage.line.size`.
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        let n = || Expr::symbol(Symbol::new("n"));
        let m = || Expr::symbol(Symbol::new("batch_2"));
        let exprs = [
            Expr::ZERO,
            Expr::from(-3i128),
            -n(),
            &n() * &m() * 4 + n() * 32 - 7,
            n().floor_div(&Expr::from(2u64)) * 3 + &m(),
            (&n() + &m()).modulo(&(n() * 2 + 1)),
            n().larger(&m().smaller(&Expr::from(9u64))),
            (n() * &n().log2()).times_ratio(5, 2),
            (n().floor_div(&(&m() + 1))).log2().times_ratio(-1, 3) + 2,
        ];
        for expr in exprs {
            assert_eq!(parse(&expr.to_string()), Some(expr.clone()), "{expr}");
        }
    }

    #[test]
    fn sizes_are_put_in_order() {
        for (text, expected) in [
            ("f32[n*m, 8], i64[2]", "f32[m*n, 8], i64[2]"),
            ("reshape(x, shape=[n*m, -1])", "reshape(x, shape=[m*n, -1])"),
            ("reshape(x, shape=n*m)", "reshape(x, shape=m*n)"),
            ("full(n*m, 2.5)", "full(m*n, 2.5)"),
            ("x[0:(n // 2), :]", "x[0:(n // 2), :]"),
            ("full(1.50, type='f32')", "full(1.50, type='f32')"),
            ("text", "text"),
        ] {
            assert_eq!(in_order(text), expected);
        }
    }

    #[test]
    fn what_is_no_expression_is_none() {
        let nested = "(".repeat(200_000);
        for text in [
            "",
            "too large",
            "3 4",
            "(n",
            "n +",
            "f(n)",
            "1/0",
            "min(n)",
            &nested,
        ] {
            assert_eq!(parse(text), None, "{}", &text[..text.len().min(20)]);
        }
    }
}
