"""Programs that read or change graphs."""
from retrograd._missing import late_names

late_names(__name__, lazy=("param_fetch", "shape_prop", "split_module", "utils"))
