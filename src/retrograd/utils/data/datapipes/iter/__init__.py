"""torch.utils.data.datapipes.iter: names that programs ask isinstance of; none can be made."""
