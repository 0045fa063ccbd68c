"""What programs use of torch.fx.experimental."""
from retrograd._missing import late_names

late_names(__name__, lazy=("optimization", "proxy_tensor"))
