"""What passes share."""
from retrograd._missing import late_names

late_names(__name__, lazy=("matcher_utils",))
