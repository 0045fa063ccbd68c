"""torch.utils.data.datapipes: names that programs ask isinstance of; none can be made."""
