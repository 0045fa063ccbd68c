"""What torch.library and torch.ops share: schemas and registered operators."""
