"""Short names of dtypes: f32, i64, b8."""
from .._tensor import dtypes

dtype_abbrs = {getattr(dtypes, name): short for name, short in {
    "bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "bool": "b8", "uint8": "u8"}.items()}
