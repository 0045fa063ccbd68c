"""On PYTHONPATH of the Pythons that a program starts under `retrograd run`: inherit() in ../run.py puts this folder there."""
