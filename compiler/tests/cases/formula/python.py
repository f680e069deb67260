"""Writes python.txt: formulas, and how Python's own parser groups them."""

import ast
import pathlib

FORMULAS = """
a + b * c
a - b - c
a / b / c
a * b @ c // d % e
-a ** b
-a ** -b ** c
2 ** -1
a ** b ** c
~a & b
-a + +b
--a
a | b ^ c & d + e
a & b == c
a < b + c
(a < b) | (c >= d)
x.T @ x
-x.T
x.T ** 2
s.t.T[0]
f(x) ** 2
f(x, axis=0, keepdims=true)[1:]
f(a + b, c < d, n=-1)
f(g(x,), [1, 2], (1, 2))
x[1]
x[-1, 2:5, ::2, ..., newaxis]
x[:, 0]
x[a:b + 1:-1]
x[:-1] - x[1:]
x[[0, 2]]
x[1][2]
(a)
((a + b)) * c
(a, b)
(a,)
()
[]
[[1, 2.5], [3, 4]]
1_000 + 1e3 + 1.5e-3 + .5 + 1.
18446744073709551615
'same'
a, b = f(x)
y = x != z
max(x, axis=(0, 1)) @ w
""".strip()

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip


def show(node):
    symbol = lambda op: OPERATORS[type(op)]
    commas = lambda nodes: ", ".join(map(show, nodes))
    match node:
        case ast.Assign([ast.Tuple(targets)], value):
            return f"{commas(targets)} = {show(value)}"
        case ast.Assign([target], value):
            return f"{show(target)} = {show(value)}"
        case ast.Expr(value):
            return show(value)
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
            return f"({show(left)} {symbol(op)} {show(right)})"
        case ast.UnaryOp(op, operand):
            return f"({symbol(op)}{show(operand)})"
        case ast.Attribute(value, name):
            return f"{show(value)}.{name}"
        case ast.Subscript(value, ast.Tuple(items)):
            return f"{show(value)}[{commas(items)}]"
        case ast.Subscript(value, item):
            return f"{show(value)}[{show(item)}]"
        case ast.Slice(lower, upper, step):
            part = lambda part: show(part) if part else ""
            return f"{part(lower)}:{part(upper)}" + (f":{part(step)}" if step else "")
        case ast.Call(function, arguments, keywords):
            return f"{show(function)}({commas(arguments + keywords)})"
        case ast.keyword(name, value):
            return f"{name}={show(value)}"
        case ast.Tuple(items) | ast.List(items):
            return f"[{commas(items)}]"
        case ast.Constant(value):
            return "..." if value is ... else repr(value)
        case ast.Name(name):
            return name
    raise ValueError(ast.dump(node))


lines = [f"{formula}  =>  {show(ast.parse(formula).body[0])}" for formula in FORMULAS.split("\n")]
pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")
