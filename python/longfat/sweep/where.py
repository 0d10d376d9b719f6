"""Conditions on the values of axes: arithmetic, comparisons, and, or, not. They cannot run code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from longfat.errors import InputError
from longfat.units import in_si
from longfat.words import shown, suggestion

OPERATORS: dict[type[Any], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
LONGEST = 10_000
"""The most characters of a condition."""
ACCEPTED = "names of axes with _ for dots, numbers in SI units, texts, + - * / < <= > >= == != and or not ( )"


class Filter:
    """A condition such as "bottleneck_rate * flow_0_rtt < 1e8"; an empty one keeps every point."""

    def __init__(self, text: Any, keys: Sequence[str], source: str) -> None:
        """Checks the condition.

        Args:
            text: Python's syntax; quantities are numbers in SI units.
            keys: the keys of the axes; the condition writes _ for each dot and hyphen.
            source: for messages.
        """
        if not isinstance(text, str):
            raise InputError(f"{source}: where: this is not a string; accepted: a string")
        self.text = text
        self._tree: ast.expr | None = None
        if not text:
            return
        self._names = {key.replace(".", "_").replace("-", "_"): key for key in keys}
        self._at = f"{source}: where = {shown(text)}"
        if len(text) > LONGEST:
            raise InputError(f"{self._at}: it has {len(text)} characters; accepted: up to {LONGEST}")
        with self._told():
            self._tree = ast.parse(text, mode="eval").body
            self._check(self._tree)

    def __call__(self, values: Mapping[str, Any]) -> bool:
        """Whether the point with these values stays; raises InputError if they cannot be compared."""
        if self._tree is None:
            return True
        names = {name: in_si(values[key]) for name, key in self._names.items()}
        with self._told():
            kept = _value(self._tree, names)
        if not isinstance(kept, bool):
            raise InputError(
                f"{self._at}: gives {shown(kept)}, which is neither true nor false; accepted: {ACCEPTED}"
            )
        return kept

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turns what Python says of a condition that it cannot read or work out into one line."""
        try:
            yield
        except InputError:
            raise
        except SyntaxError as error:
            problem = error.msg
        except (TypeError, ArithmeticError, ValueError) as error:
            problem = str(error)
        except (RecursionError, MemoryError):
            problem = "it is nested too deeply"
        else:
            return
        raise InputError(f"{self._at}: {problem}; accepted: {ACCEPTED}") from None

    def _check(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name):
                if name not in self._names:
                    near = suggestion(name, list(self._names))
                    raise InputError(
                        f"{self._at}: {name}: there is no such axis{near}; accepted: {', '.join(self._names)}"
                    )
            case ast.Constant(value=bool() | int() | float() | str()):
                pass
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                self._check(left)
                self._check(right)
            case ast.Compare(left, ops, others) if all(type(op) in OPERATORS for op in ops):
                for part in (left, *others):
                    self._check(part)
            case ast.BoolOp(values=parts):
                for part in parts:
                    self._check(part)
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=part):
                self._check(part)
            case _:
                raise InputError(
                    f"{self._at}: {ast.unparse(node)} is not such an expression; accepted: {ACCEPTED}"
                )


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return names[name]
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left, op, right):
            pair = _value(left, names), _value(right, names)
            if any(isinstance(part, str) for part in pair):
                raise TypeError("texts can only be compared")
            return OPERATORS[type(op)](*pair)
        case ast.Compare(left, ops, others):
            parts = [_value(part, names) for part in (left, *others)]
            return all(OPERATORS[type(op)](a, b) for op, a, b in zip(ops, parts, parts[1:], strict=False))
        case ast.BoolOp(op, parts):
            return (all if isinstance(op, ast.And) else any)(_value(part, names) for part in parts)
        case ast.UnaryOp(ast.Not(), part):
            return not _value(part, names)
        case ast.UnaryOp(_, part):
            return -_value(part, names)
    raise AssertionError(node)
