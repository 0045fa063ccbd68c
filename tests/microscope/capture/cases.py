"""All models that capture is tested on."""
import cases_layers  # noqa: F401  each adds its own to the table
import cases_models  # noqa: F401
from case_table import CASES, ENGINES, Case

__all__ = ["CASES", "ENGINES", "Case"]
