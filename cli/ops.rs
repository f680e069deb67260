//! `haul ops`: the catalogue.

use haul_compiler::render::{Cell, Column, Table, example, signature, wrapped};
use haul_ir::op::{Example, Family, GpuKernel, Op};

use crate::exit::{Exit, Trouble};
use crate::terminal;

/// Lists the ops that formulas can use, or tells all about one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The op to tell about, or words to find ops by: those that have all of them in their names
    /// and docs.
    words: Vec<String>,
    /// Print the example of the op as a pipeline that `haul run` runs.
    #[arg(long, requires = "words")]
    example: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let catalogue = haul_kernels::catalogue();
    let words = args.words.join(" ");
    let named = catalogue.find(&words);
    let unknown = || Trouble::unknown("op", &words, catalogue.names(), "`haul ops` lists them");
    let text = match named {
        Some(op) if args.example => op.examples().first().map_or_else(String::new, example),
        Some(op) => page(op),
        None if args.example => return Err(unknown()),
        None => match found(catalogue.0, &args.words) {
            ops if ops.is_empty() => return Err(unknown()),
            ops => list(&ops),
        },
    };
    terminal::print(&text)?;
    Ok(Exit::Fine)
}

/// The ops that have all of the words in their names and docs.
fn found(ops: &[&'static dyn Op], words: &[String]) -> Vec<&'static dyn Op> {
    let has = |op: &&&'static dyn Op| {
        let text = format!("{} {}", op.name(), op.doc()).to_lowercase();
        words.iter().all(|word| text.contains(&word.to_lowercase()))
    };
    ops.iter().filter(has).copied().collect()
}

/// A table for each family.
fn list(ops: &[&'static dyn Op]) -> String {
    let tables = Family::ALL.into_iter().filter_map(|family| {
        let ops: Vec<_> = ops.iter().filter(|op| op.family() == family).collect();
        (!ops.is_empty()).then(|| format!("{}\n{}", family.name(), table(&ops)))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn table(ops: &[&&'static dyn Op]) -> String {
    let mut table = Table::new([
        Column::text("op"),
        Column::text("shapes"),
        Column::text("work"),
        Column::word("gpu"),
    ]);
    for op in ops {
        table.row([
            Cell::from(signature(**op)),
            op.rule().into(),
            op.work_formula().into(),
            match op.gpu() {
                GpuKernel::None(_) => "no".into(),
                _ => "yes".into(),
            },
        ]);
    }
    table.indented(2).print(terminal::colour())
}

fn page(op: &dyn Op) -> String {
    let mut page = format!("{}\n\n{}\n", signature(op), wrapped(0, 0, op.doc()));
    let facts = [
        ("shapes", op.rule().to_owned()),
        ("work", op.work_formula().to_owned()),
        ("family", op.family().name().to_owned()),
        ("cpu", op.cpu().name().to_owned()),
        ("gpu", gpu(op.gpu())),
    ];
    for (label, fact) in facts {
        page += &wrapped(0, 8, &format!("{label:<8}{fact}"));
    }
    if let Some(example) = op.examples().first() {
        page += &shown(example);
    }
    page
}

fn gpu(kernel: GpuKernel) -> String {
    match kernel {
        GpuKernel::Generated => "generated for the fused group that it is in".to_owned(),
        GpuKernel::Library(routine) => routine.to_owned(),
        GpuKernel::Own => "a kernel of its own".to_owned(),
        GpuKernel::View => "a change of layout".to_owned(),
        GpuKernel::None(why) => format!("none: {why}"),
    }
}

fn shown(example: &Example) -> String {
    let mut text = "\nexample\n".to_owned();
    for (name, ty, elements) in example.given {
        text += &format!("  {name} = {ty} {elements}\n");
    }
    let (ty, elements) = example.result;
    let (_, first) = example.call();
    let first = first.map_or_else(String::new, |name| format!("{name} = "));
    text + &format!("  {}\n  gives {first}{ty} {elements}\n", example.formula)
}
