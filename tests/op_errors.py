ERRORS = []
