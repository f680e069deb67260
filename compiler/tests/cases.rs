//! Pipelines as cases. `// error: E0103 some text` (in a formula `# error: …`) at the end of a
//! line says that exactly this is reported on that line: the code, and the text somewhere in
//! the message, the labels or the help. Several may follow each other on a line. A case
//! without any must be accepted.

use std::fs;
use std::path::Path;

use crate::support::plans::try_plan;
use haul_ir::diagnostic::{Diagnostic, Severity};

/// What is reported about a pipeline of a folder of cases.
type Check = fn(&str) -> Vec<Diagnostic>;

#[test]
fn syntax() {
    check_folder("syntax", |text| haul_compiler::syntax::parse(text).1);
}

#[test]
fn resolve() {
    check_folder("resolve", checked);
}

#[test]
fn infer() {
    check_folder("infer", checked);
}

#[test]
fn plan() {
    check_folder("plan", planned);
}

/// What does not fit the target that the first line names: `// target: a100`.
fn planned(text: &str) -> Vec<Diagnostic> {
    let first = text.lines().next().unwrap_or_default();
    let target = first
        .strip_prefix("// target: ")
        .expect("the first line names a target");
    match try_plan(target, text) {
        Ok(planned) => planned.warnings,
        Err(errors) => errors,
    }
}

fn checked(text: &str) -> Vec<Diagnostic> {
    haul_compiler::check(
        text,
        haul_kernels::catalogue(),
        &haul_compiler::Facts::default(),
    )
    .diagnostics
}

fn check_folder(folder: &str, check: Check) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(folder);
    let entries = fs::read_dir(&folder).expect("the folder of cases is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it lists").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    paths.sort();
    assert!(!paths.is_empty(), "no case in {}", folder.display());
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| check_case(path, check))
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// What differs from what the case says.
fn check_case(path: &Path, check: Check) -> Option<String> {
    let text = fs::read_to_string(path).expect("a case is a text");
    let mut expected = expectations(&text);
    let mut failures = Vec::new();
    for diagnostic in check(&text) {
        let line = 1 + text[..diagnostic.primary.span.start].matches('\n').count();
        let found = expected
            .iter()
            .position(|expectation| expectation.fits(&diagnostic, line));
        match found {
            Some(at) => drop(expected.remove(at)),
            None => failures.push(format!(
                "  line {line} is not expected:\n{}",
                said(&diagnostic)
            )),
        }
    }
    let silent = expected.iter().map(
        |Expectation {
             line, code, text, ..
         }| { format!("  line {line} is not reported: {code} {text}") },
    );
    failures.extend(silent);
    (!failures.is_empty()).then(|| format!("{}\n{}", path.display(), failures.join("\n")))
}

struct Expectation<'t> {
    line: usize,
    severity: Severity,
    code: &'t str,
    text: &'t str,
}

impl Expectation<'_> {
    fn fits(&self, diagnostic: &Diagnostic, line: usize) -> bool {
        (line, diagnostic.severity, diagnostic.code.0) == (self.line, self.severity, self.code)
            && said(diagnostic).contains(self.text)
    }
}

fn expectations(text: &str) -> Vec<Expectation<'_>> {
    let mut expectations = Vec::new();
    for (line, written) in text.lines().enumerate() {
        for (mark, severity) in [
            (" error: ", Severity::Error),
            (" warning: ", Severity::Warning),
        ] {
            for expectation in written.split(mark).skip(1) {
                let said = expectation.trim_end_matches([' ', '/', '#']).trim();
                let (code, text) = said.split_once(' ').unwrap_or((said, ""));
                expectations.push(Expectation {
                    line: line + 1,
                    severity,
                    code,
                    text,
                });
            }
        }
    }
    expectations
}

fn said(diagnostic: &Diagnostic) -> String {
    let mut said = format!("    {} {}", diagnostic.code, diagnostic.message);
    for label in diagnostic.labels.iter().chain([&diagnostic.primary]) {
        said += &format!("\n    {}", label.text);
    }
    said + &format!("\n    {}", diagnostic.help.as_deref().unwrap_or(""))
}
