"""Checks what a script's pieces of Python state of `tcp_info`, without running them as Python.

Only assertions, assignments, expressions and `print` are understood. An assertion that needs a field that the
model does not have is left out and counted.
"""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FIELD = "tcpi_"
CONSTANTS = {"TCP_CA_Open": 0, "TCP_CA_Disorder": 1, "TCP_CA_CWR": 2, "TCP_CA_Recovery": 3, "TCP_CA_Loss": 4}
"""Linux, include/uapi/linux/tcp.h, enum tcp_ca_state."""
STATES = {value: name for name, value in CONSTANTS.items()}

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "int": int, "max": max, "min": min, "round": round}


class CodeError(Exception):
    """A piece of Python has something in it that is not understood."""


class UnknownError(Exception):
    """A statement needs this name, which has no value here."""


@dataclass(frozen=True)
class Failed:
    """An assertion that does not hold."""

    stated: str
    found: str


@dataclass
class Statements:
    """The statements of one script, and the variables that it sets."""

    variables: dict[str, Any] = field(default_factory=dict)
    held: int = 0
    """Assertions that hold."""
    unknown: list[str] = field(default_factory=list)
    """The names for whose sake an assertion was left out."""

    def check(self, text: str, info: Mapping[str, Any]) -> list[Failed]:
        """Checks a piece of Python against the values of `tcp_info`; returns the assertions that fail."""
        failed = []
        for statement in _parsed(text).body:
            try:
                if isinstance(statement, ast.Assert):
                    if self._value(statement.test, info):
                        self.held += 1
                    else:
                        failed.append(self._failed(statement.test, info))
                else:
                    self._do(statement, info)
            except UnknownError as unknown:
                if isinstance(statement, ast.Assert):
                    self.unknown.append(str(unknown))
        return failed

    def _do(self, statement: ast.stmt, info: Mapping[str, Any]) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = self._value(value, info)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value) if type(op) in _BINARY:
                self.variables[name] = _BINARY[type(op)](self._named(name, info), self._value(value, info))
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) | ast.Pass():
                pass
            case _:
                raise CodeError(ast.unparse(statement))

    def _named(self, name: str, info: Mapping[str, Any]) -> Any:
        for values in (self.variables, info, CONSTANTS):
            if name in values:
                return values[name]
        raise UnknownError(name)

    def _value(self, node: ast.expr, info: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(name, info)
            case ast.Tuple(elts=parts):
                return tuple(self._value(part, info) for part in parts)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](self._value(left, info), self._value(right, info))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](self._value(operand, info))
            case ast.BoolOp(op=op, values=values):
                whole = all if isinstance(op, ast.And) else any
                return whole(self._value(value, info) for value in values)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                type(op) in _COMPARE for op in ops
            ):
                found = [self._value(each, info) for each in (left, *others)]
                pairs = zip(ops, found, found[1:], strict=False)
                return all(_COMPARE[type(op)](a, b) for op, a, b in pairs)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self._value(arg, info) for arg in args))
            case _:
                raise CodeError(ast.unparse(node))

    def _failed(self, test: ast.expr, info: Mapping[str, Any]) -> Failed:
        names = dict.fromkeys(each.id for each in ast.walk(test) if isinstance(each, ast.Name))
        values = {name: self._named(name, info) for name in names if name not in CONSTANTS}
        shown = [f"{name} = {_shown(name, value)}" for name, value in values.items()]
        return Failed(ast.unparse(test), ", ".join(shown))


def fields(text: str) -> set[str]:
    """Returns the fields of `tcp_info` that the assertions in a piece of Python have."""
    asserted = [each.test for each in _parsed(text).body if isinstance(each, ast.Assert)]
    names = (node.id for test in asserted for node in ast.walk(test) if isinstance(node, ast.Name))
    return {name for name in names if name.startswith(FIELD)}


def _shown(name: str, value: Any) -> str:
    return STATES.get(value, str(value)) if name == "tcpi_ca_state" else str(value)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(text).replace("\\\n", " ").strip())
    except SyntaxError as error:
        raise CodeError(f"{error.msg} in {text.strip()!r}") from error
