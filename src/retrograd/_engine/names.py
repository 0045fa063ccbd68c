"""How PyTorch's messages spell dtypes, by NumPy's name of each."""
from __future__ import annotations

from typing import Final

SCALAR: Final = {                               # ScalarType, as C++ prints it
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
    "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
TENSOR: Final = {                               # Tensor.type()
    "float32": "torch.FloatTensor", "float64": "torch.DoubleTensor", "float16": "torch.HalfTensor",
    "bfloat16": "torch.BFloat16Tensor", "int64": "torch.LongTensor", "int32": "torch.IntTensor",
    "int16": "torch.ShortTensor", "int8": "torch.CharTensor", "uint8": "torch.ByteTensor", "bool": "torch.BoolTensor",
    "complex64": "torch.ComplexFloatTensor", "complex128": "torch.ComplexDoubleTensor",
}
SHOWN: Final = TENSOR | {"bool": "CPUBoolType", "bfloat16": "CPUBFloat16Type", "complex64": "CPUComplexFloatType",
                         "complex128": "CPUComplexDoubleType"}       # as C++ prints it
C: Final = {                                    # the C++ element type
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
    "bool": "bool", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}
