"""What the inputs and outputs of an exported graph are."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from retrograd._missing import late_names

__all__ = ["ConstantArgument", "ExportGraphSignature", "InputKind", "InputSpec", "OutputKind", "OutputSpec", "TensorArgument"]
late_names(__name__)


@dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is no tensor."""

    name: str
    value: Any


class InputKind(Enum):
    """What an input of the graph is."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


@dataclass
class InputSpec:
    """An input; target is the path of a parameter, buffer or constant."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


class OutputKind(Enum):
    """What an output of the graph is."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


@dataclass
class OutputSpec:
    """An output."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass
class ExportGraphSignature:
    """The inputs of an exported graph in order, and its outputs."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> list[tuple[str, str]]:
        return [(s.arg.name, s.target) for s in self.input_specs if s.kind is kind and s.target is not None]

    @property
    def parameters(self) -> Collection[str]:
        """Their paths."""
        return tuple(path for _, path in self._targets(InputKind.PARAMETER))

    @property
    def buffers(self) -> Collection[str]:
        """Their paths."""
        return tuple(path for _, path in self._targets(InputKind.BUFFER))

    @property
    def non_persistent_buffers(self) -> Collection[str]:
        """The paths of those that state dicts leave out."""
        return tuple(s.target for s in self.input_specs if s.kind is InputKind.BUFFER and s.target and not s.persistent)

    @property
    def lifted_tensor_constants(self) -> Collection[str]:
        """Their names."""
        return tuple(path for _, path in self._targets(InputKind.CONSTANT_TENSOR))

    @property
    def user_inputs(self) -> Collection[Any]:
        """Names of nodes; of what is no tensor, the value."""
        return tuple(s.arg.name if isinstance(s.arg, TensorArgument) else s.arg.value
                     for s in self.input_specs if s.kind is InputKind.USER_INPUT)

    def _edits(self, kind: OutputKind) -> Mapping[str, str]:
        return {s.arg.name: s.target for s in self.output_specs if s.kind is kind and s.target is not None}

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """{name of an output: path}: none, since graphs edit buffers in place"""
        return self._edits(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Likewise, of parameters."""
        return self._edits(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Likewise, of inputs."""
        return self._edits(OutputKind.USER_INPUT_MUTATION)

    @property
    def user_outputs(self) -> Collection[Any]:
        """Names of nodes; of what is no tensor, the value."""
        return tuple(s.arg.name if isinstance(s.arg, TensorArgument) else s.arg.value for s in self.output_specs)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """{name of an input: path}"""
        return dict(self._targets(InputKind.PARAMETER))

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """{name of an input: path}"""
        return dict(self._targets(InputKind.BUFFER))

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """{name of an input: name of the constant}"""
        return dict(self._targets(InputKind.CONSTANT_TENSOR))

    def __str__(self) -> str:
        return "\n".join(["", "# inputs", *map(str, self.input_specs), "", "# outputs", *map(str, self.output_specs), ""])
