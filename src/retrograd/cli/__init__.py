"""The command line: `retrograd run`, `doctor`, and the microscope's commands."""
